"""Short questions: what is answered has bounds, and nothing is waited for without one."""

import os
import re
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from hostile_tools import make_script
from paths import REPOSITORY

from assay.launch import binary, commands, engine_commands
from assay.launch.binary import load_engine
from assay.launch.commands import MAX_STDOUT_BYTES, STDERR_TAIL_BYTES, collect, run_program
from assay.launch.engine_commands import probe_target
from assay.launch.launcher import LocalLauncher
from assay.launch.shell import LocalShell
from assay.launch.ssh_faults import explain_failure
from assay.model.base import EXIT_REFUSED, AssayError
from assay.model.site.host import Host
from assay.rooms.slurm.work.programs import SlurmError
from assay.rooms.slurm.work.slurm import Job, job_state
from assay.rooms.slurm.work.submission import submit

HERE = LocalShell(Host(name="here", kind="local"))
NONE = '{"kind": "null"}'


def python(text: str) -> subprocess.Popen[bytes]:
    pipe = subprocess.PIPE
    return subprocess.Popen([sys.executable, "-c", text], stdin=pipe, stdout=pipe, stderr=pipe, bufsize=0)


def test_an_answer_is_collected_whole() -> None:
    text = "import sys; sys.stdout.write(sys.stdin.read() * 2); sys.stderr.write('e' * 100000 + 'end'); sys.exit(3)"
    heard = collect(python(text), b"x" * 300_000, 600)
    assert (heard.code, len(heard.out), heard.timed_out, heard.overflowed) == (3, 600_000, False, False)
    assert heard.err.endswith(b"end") and len(heard.err) == commands.STDERR_TAIL_BYTES


def test_an_answer_without_end_is_cut_off() -> None:
    heard = collect(python("while True: print('x' * 1000)"), None, 600, max_bytes=1 << 20)
    assert heard.overflowed and len(heard.out) <= (1 << 20) + commands.READ_BYTES


def test_silence_and_output_held_open_end_in_time() -> None:
    """The child would hold its output open until the time is up, and make the answer late."""
    assert collect(python("import time; time.sleep(600)"), None, 0.5).timed_out
    child = "import os, time\nif (pid := os.fork()) == 0: time.sleep(600)\nelse: print(pid, flush=True)"
    heard = collect(python(child), None, 300)
    os.kill(int(heard.out), signal.SIGKILL)
    assert (heard.code, heard.timed_out) == (0, False)


def test_a_process_that_nothing_ends_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    """As one that waits for storage in the kernel."""
    monkeypatch.setattr(commands, "KILL_WAIT_SECONDS", 0.2)
    process = python("import time; time.sleep(600)")
    kill = process.kill
    monkeypatch.setattr(process, "kill", lambda: None)
    heard = collect(process, None, 0.2)
    assert heard.code is None and heard.timed_out
    kill()
    process.wait()


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("while true; do echo xxxxxxxxxxxxxxxxxxxxxxxxxxxxxx; done", "printed more than 16.8 MB"),
        ("sleep 600", "did not end within 2 s"),
    ],
)
def test_a_command_on_a_host_is_bounded(text: str, message: str) -> None:
    with pytest.raises(AssayError, match=message) as told:
        HERE.run(["sh", "-c", text], 2.0 if "sleep" in text else 100.0)
    assert told.value.exit_code == EXIT_REFUSED


def test_what_a_command_complains_can_be_printed() -> None:
    answer = HERE.run(["sh", "-c", r"printf '\033[2Jgone\n' >&2; exit 1"], 10.0)
    assert answer.last_line == r"\x1b[2Jgone"


ODD = [
    "",
    "nonsense \x1b[31m",
    "[" * 100_000,
    "7",
    '{"spec_version": 2, "engine_version": "x", "backends": [{"kind": 7}]}',
    '{"spec_version": 2, "engine_version": "x", "backends": {"a\\u001b": 1}}',
    '{"spec_version": 2, "engine_version": "x", "backends": [null]}',
    '{"spec_version": 2' + "0" * 5000 + "}",
]


@pytest.mark.parametrize("odd", ODD)
def test_an_odd_answer_is_one_line(tmp_path: Path, odd: str) -> None:
    (tmp_path / "answer").write_text(odd)
    engine = make_script(tmp_path / "assay-engine", f"#!/bin/sh\nexec cat {tmp_path}/answer\n")
    for ask in (lambda: load_engine(engine), lambda: probe_target(LocalLauncher(engine), NONE)):
        with pytest.raises(AssayError) as told:
            ask()
        assert told.value.message.isprintable() and len(told.value.message) < 2000


@pytest.mark.parametrize(
    ("script", "message"),
    [("yes", "longer than"), ("sleep 60", "no answer in 1 s"), ("echo '\033[2J' >&2; exit 1", "x1b")],
)
def test_an_engine_that_does_not_answer_as_it_should(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, script: str, message: str
) -> None:
    engine = make_script(tmp_path / "assay-engine", f"#!/bin/sh\n{script}\n")
    seconds = 1.0 if "sleep" in script else 600.0
    monkeypatch.setattr(binary, "CAPABILITIES_SECONDS", seconds)
    monkeypatch.setattr(engine_commands, "ANSWER_SECONDS", seconds)
    for ask in (lambda: load_engine(engine), lambda: probe_target(LocalLauncher(engine), NONE)):
        with pytest.raises(AssayError, match=message):
            ask()


def test_texts_of_capabilities_can_be_printed() -> None:
    text = '{"spec_version": 2, "engine_version": "1\\u001b[2J", "backends": []}'
    assert binary.parse_capabilities("e", text).engine_version == r"1\x1b[2J"


def test_what_ssh_complains_can_be_printed() -> None:
    told = explain_failure(HERE.host, "ssh: \x1b]0;owned\x07 Connection refused\x9b31m")
    assert told.message.isprintable() and r"\x1b]0;owned" in told.message


READS = re.compile(
    r"capture_output|check_output|\.communicate\(|getoutput|os\.popen|stdout=((subprocess\.)?PIPE|pipe)\b"
)
BOUNDED = {
    "analyse/programs/patterns.py": "a program of ours, by the texts that it gets and the length of a number",
    "launch/commands.py": "the bound itself",
    "launch/attach_disks.py": "a line, by the time that it may take",
    "launch/binary.py": "by `collect`",
    "launch/install.py": "by `collect` and `Conversation`",
    "launch/launcher.py": "by `collect` and `Conversation`",
    "launch/parallel/step.py": "by `Conversation`",
    "launch/shell.py": "by `collect`",
    "model/user_files.py": "as many bytes as a file may have",
    "site/inventory/machines/programs.py": "by `collect`",
    "store/lock.py": "a word of 64 bytes",
    "rooms/importers/work/spreadsheet.py": "a program of ours, by the memory that it may take",
    "rooms/replication/driver/channel.py": "by the longest answer of a program of ours; its errors by the pipe",
    "rooms/replication/driver/processes.py": "not read: another process of the sync reads it",
    "rooms/testbed/work/up.py": "a line of so many bytes, of a program of ours",
    "wires/remote_command.py": "by `collect`",
}
"""File that opens a pipe from a program -> how what comes out of it is bounded."""


def test_all_that_is_read_of_programs_is_bounded() -> None:
    source = REPOSITORY / "workbench" / "src" / "assay"
    reads = {path.relative_to(source).as_posix() for path in source.rglob("*.py") if READS.search(path.read_text())}
    assert reads == set(BOUNDED)


def test_a_program_that_never_stops_talking_is_ended() -> None:
    heard = run_program(["sh", "-c", "exec yes"], 60.0)
    assert heard.overflowed and heard.code == -9
    assert len(heard.out) < MAX_STDOUT_BYTES + (1 << 20)
    loud = run_program(["sh", "-c", "yes | head -c 20000000 >&2; exit 3"], 60.0)
    assert (loud.code, loud.overflowed) == (3, False) and len(loud.err) <= STDERR_TAIL_BYTES


@pytest.mark.parametrize("name", ["sbatch", "squeue"])
def test_endless_words_of_slurm_are_an_error(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / name).write_text("#!/bin/sh\nexec /usr/bin/yes\n")
    (tmp_path / name).chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    with pytest.raises(SlurmError, match=f"{name} printed more than 16.8 MB"):
        submit("", (), "/", "assay-r") if name == "sbatch" else job_state(Job("1"))
