"""Programs are recorded as they are: a trace has what strace says when counted by itself, and nothing is left."""

import os
import re
import shutil
import signal
import subprocess
import time
from collections import Counter
from pathlib import Path

import pytest
from in_process import run_here
from run_tools import ASSAY

from assay.model.trace.reader import open_trace
from assay.model.trace.records import End, File, Task, TraceOperation, Wait


def _strace_works() -> bool:
    """Whether strace may trace here, which some containers forbid."""
    words = ["strace", "-f", "-o", "/dev/null", "true"]
    return bool(shutil.which("strace")) and subprocess.run(words, capture_output=True, check=False).returncode == 0


needs = pytest.mark.skipif(not _strace_works(), reason="strace is missing or may not trace: apt-get install strace")

_LINE = re.compile(r"\d+ +(\w+)\(\d+<(/[^>]*)>.*= (-?\d+)")
_KINDS = {"pread64": "read", "pwrite64": "write", "getdents64": "list"}
_COUNTED = {"read", "write", "list", "fsync", "close"}


def counted_by_strace(words: list[str], folder: Path) -> Counter[tuple[str, str]]:
    """Calls below a folder and bytes that they moved, from a plain log of strace; only of programs of one task."""
    log = folder.parent / "plain.log"
    subprocess.run(["strace", "-f", "-y", "-o", str(log), *words], cwd=folder, check=True, capture_output=True)
    found: Counter[tuple[str, str]] = Counter()
    for line in log.read_text(errors="replace").splitlines():
        match = _LINE.match(line)
        if match and (match[2] == str(folder) or match[2].startswith(f"{folder}/")):
            op = _KINDS.get(match[1], match[1])
            if op in _COUNTED:
                found[op, "calls"] += 1
                found[op, "bytes"] += int(match[3]) * (op in ("read", "write"))
    return +found


def operations(path: Path) -> tuple[list[TraceOperation], dict[int, File], list[object]]:
    """The operations, the files and the other records of a trace."""
    with open_trace(path) as trace:
        records = list(trace.records)
    files = {one.id: one for one in records if isinstance(one, File)}
    return [one for one in records if isinstance(one, TraceOperation)], files, records


@needs
def test_a_trace_has_the_calls_bytes_and_offsets_of_a_program(tmp_path: Path) -> None:
    folder = tmp_path / "w"
    (folder / "src").mkdir(parents=True)
    for number, size in enumerate((0, 10, 10_240, 70_000, 300_000)):
        (folder / "src" / f"f{number}").write_bytes(os.urandom(size))
    words = ["tar", "-cf", "x.tar", "src"]
    wanted = counted_by_strace(words, folder)
    (folder / "x.tar").unlink()
    done = run_here(folder, "record", "--below", ".", "--names", "-o", "../t.trace.gz", "--", *words)
    assert done.returncode == 0, done.stderr
    assert (
        re.search(r"tracing(?: cost about|:) .*\d+ calls at", done.stderr)
        and "next: assay trace show ../t.trace.gz" in done.stderr
    )
    found, files, _ = operations(tmp_path / "t.trace.gz")
    counts: Counter[tuple[str, str]] = Counter()
    for one in found:
        if one.op in _COUNTED:
            counts[one.op, "calls"] += 1
            counts[one.op, "bytes"] += one.moved
    assert +counts == wanted
    names = {one.name: one for one in files.values()}
    assert names["x.tar"].size is None and names["src/f4"].size == 300_000 and names["src"].kind == "d"
    for name in ("src/f3", "src/f4", "x.tar"):
        end = 0
        for one in found:
            if one.file == names[name].id and one.op in ("read", "write"):
                assert one.offset == end
                end += one.moved
        assert end == (folder / name).stat().st_size


@needs
def test_children_waits_exit_code_and_times_of_both_runs_are_kept(tmp_path: Path) -> None:
    script = "cat in > out; cat in >> out; exit 7"
    (tmp_path / "in").write_text("abc")
    done = run_here(tmp_path, "record", "--below", ".", "--names", "--twice", "--", "sh", "-c", script)
    assert done.returncode == 7 and "with tracing and " in done.stderr
    found, files, records = operations(tmp_path / "sh.trace.gz")
    out = next(one.id for one in files.values() if one.name == "out")
    writes = [one for one in found if one.file == out and one.op == "write"]
    assert [(one.offset, one.moved) for one in writes] == [(0, 3), (3, 3)]
    assert sum(isinstance(one, Task) for one in records) == sum(isinstance(one, End) for one in records) == 3
    assert [(one.task, one.on) for one in records if isinstance(one, Wait)] == [(1, 2), (1, 3)]


@needs
def test_a_command_that_is_stopped_leaves_a_whole_trace(tmp_path: Path) -> None:
    script = "echo begun > mark; exec sleep 60"
    process = subprocess.Popen(
        [ASSAY, "record", "--below", ".", "-o", "t.trace.gz", "--", "sh", "-c", script], cwd=tmp_path
    )
    try:
        while not (tmp_path / "mark").exists() or not (tmp_path / "mark").read_text():
            assert process.poll() is None
            time.sleep(0.05)
        process.send_signal(signal.SIGTERM)
        assert process.wait(60) == 128 + signal.SIGTERM
    finally:
        process.kill()
        process.wait()
    assert any(one.op == "write" for one in operations(tmp_path / "t.trace.gz")[0])
    assert sorted(path.name for path in tmp_path.iterdir()) == ["mark", "t.trace.gz"]


@needs
def test_a_recorder_that_is_killed_harms_neither_the_program_nor_the_disk(tmp_path: Path) -> None:
    scratch, work = tmp_path / "scratch", tmp_path / "work"
    scratch.mkdir()
    work.mkdir()
    script = "echo begun > mark; while [ ! -e go ]; do sleep 0.1; done; cat mark > copy; mv copy done"
    process = subprocess.Popen(
        [ASSAY, "record", "--twice", "--below", ".", "-o", "t.trace.gz", "--", "sh", "-c", script],
        cwd=work, env={**os.environ, "TMPDIR": str(scratch)}, stderr=subprocess.DEVNULL,
    )  # fmt: skip
    try:
        while not (work / "mark").exists():
            assert process.poll() is None
            time.sleep(0.05)
    finally:
        process.kill()
        process.wait()
    (work / "go").touch()
    while not (work / "done").exists():
        time.sleep(0.05)
    assert (work / "done").read_text() == "begun\n"
    assert sorted(path.name for path in work.iterdir()) == ["done", "go", "mark"] and not list(scratch.iterdir())


@needs
def test_a_trace_that_cannot_be_written_keeps_the_exit_code_of_a_script_without_interpreter(tmp_path: Path) -> None:
    script = tmp_path / "script"
    script.write_text("echo x > made\nexit $1\n")
    script.chmod(0o755)
    done = run_here(tmp_path, "record", "--twice", "-o", "/dev/full", "--", "./script", "5")
    assert (done.returncode, (tmp_path / "made").read_text()) == (5, "x\n")
    line = (
        "error: the trace is lost: cannot write /dev/full: No space left on device; the command ended with exit code 5"
    )
    assert done.stderr.splitlines() == [line]


@needs
def test_the_time_of_a_second_run_that_fails_is_left_out(tmp_path: Path) -> None:
    done = run_here(tmp_path, "record", "--twice", "--", "mkdir", "once")
    assert done.returncode == 0 and "ended with exit code 1, so its time is left out" in done.stderr
    with open_trace(tmp_path / "mkdir.trace.gz") as trace:
        assert trace.header.untraced_ns is None
