"""Commands on a leash: they end in time, when told to, and leave nothing behind."""

import signal
import sys
import time
from pathlib import Path

import pytest

from assay.launch.shell import NOT_FOUND, Shell, make_shell
from assay.model.site.host import THIS_HOST
from assay.wires.remote_command import RemoteCommand, RemoteCommands, StoppedError


def local() -> Shell:
    return make_shell(THIS_HOST)


def leashed(argv: list[str], seconds: float = 30) -> tuple[int, str, str]:
    with RemoteCommands().start(local(), argv, seconds) as leash:
        answer = leash.answer()
        return answer.code, answer.out, answer.err


def test_a_leash_passes_on_words_output_and_exit_code() -> None:
    program = "import sys; print(sys.argv[1:], len(sys.stdin.read())); print('x', file=sys.stderr); sys.exit(7)"
    code, out, err = leashed([sys.executable, "-c", program, "a b", "$x", "'"])
    assert (code, out, err) == (7, "['a b', '$x', \"'\"] 0\n", "x\n")
    assert leashed(["no-such-command-here"])[0] == NOT_FOUND


def test_a_leash_ends_what_takes_too_long_and_what_heeds_no_signal() -> None:
    code, _, _ = leashed(["sleep", "600"], 1)
    assert code == 128 + signal.SIGTERM
    code, _, _ = leashed(["sh", "-c", "trap '' TERM; while :; do sleep 0.1; done"], 1)
    assert code == 128 + signal.SIGKILL


def test_nothing_is_left_of_a_leashed_command_nor_of_what_watched_it() -> None:
    before = _descendants()
    assert leashed(["true"], 600)[0] == 0
    leash = RemoteCommand(local(), ["sh", "-c", "echo ready; exec sleep 300"], 600)
    assert leash.wait_for(b"ready", 600)
    assert not leash.wait_for(b"never", 0.1)
    leash.release()
    leash.release()
    leash.close()
    for _ in range(30_000):
        if _descendants() <= before:
            return
        time.sleep(0.02)
    assert _descendants() <= before


def test_leashes_are_let_go_together_and_start_nothing_more() -> None:
    leashes = RemoteCommands()
    with leashes.start(local(), ["sleep", "60"], 60) as first, leashes.start(local(), ["sleep", "60"], 60) as second:
        leashes.end_all()
        assert first.answer().code == second.answer().code == 128 + signal.SIGTERM
    with pytest.raises(StoppedError), leashes.start(local(), ["true"], 60):
        pass


def _descendants() -> set[str]:
    """Processes with our command lines: `sleep` of 60, 300 or 600 seconds that nobody else here would start."""
    found = set()
    for folder in Path("/proc").iterdir():
        if folder.name.isdigit():
            try:
                words = (folder / "cmdline").read_bytes().split(b"\0")
            except OSError:
                continue
            if words[:1] == [b"sleep"] and words[1:2] in ([b"300"], [b"600"]):
                found.add(folder.name)
    return found
