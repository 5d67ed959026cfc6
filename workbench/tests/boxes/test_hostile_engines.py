"""Engines that attack: each ends within its limit as a result with a reason, and the run's report opens."""

import contextlib
import os
import re
import resource
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest
from host_runs import INVENTORY, two_hosts
from host_runs import study as hosts_study
from hostile_tools import make_hostile, shorten
from in_process import run_here
from run_tools import ENGINE, needs_engine, only_run, study

from assay.store import RunStore

pytestmark = needs_engine

CANNOT = r"the engine said what cannot be: (node1: )?"
WAYS = {
    "silence": "hung: no progress for",
    "exits": "the engine ended with exit code 0 before it was done",
    "closes-output": "hung: no progress for",
    "never-reads": "hung: no progress for",
    "bye-only": "the engine took its leave and never said hello",
    "endless-line": "the engine printed a line of more than",
    "garbage": "the engine printed more than 1000 lines that are no events",
    "stderr": "the engine ended with exit code 101 before it was done: ",
    "deaf": "hung: no progress for",
    "logs": "the engine made more than 1000 remarks",
    "slow-logs": "hung: no progress for",
    "pongs": "hung: no progress for",
    "phases": "the engine told more than 12 steps of this job",
    "intervals": "hung: no progress for",
    "busy-intervals": "hung: not done after",
    "long-lines": "the engine (printed a line of|said) more than",
    "bye-flood": "the engine made more than 1000 remarks|" + CANNOT + "it ended well, but phase 0 .* never ended",
    "child-floods": "(the engine ended with exit code 0 before it was done|the engine made more than 1000 remarks)",
    "edit-bomb": CANNOT + r"phase 0 \(write\): latencies of writes: a latency histogram cannot be read",
    "edit-interval-bomb": CANNOT + r"phase 0 \(write\): interval 0: a latency histogram cannot be read",
    "edit-errno": CANNOT + r"phase 0 \(write\): there is no error number 1099511627776",
    "edit-bytes": CANNOT + r"phase 0 \(write\): \d+ bytes in \d+ operations of \d+ bytes",
    "edit-giant": CANNOT + r"it ended well, but phase 0 \(write\) never ended",
    "edit-nan": CANNOT + r"it ended well, but phase 0 \(write\) never ended",
    "edit-time": CANNOT + r"phase 0 \(write\) took 4.612e\+09 s, longer than the whole job",
    "edit-backwards": CANNOT + r"phase 0 \(write\): window of the first lane ends before it begins",
    "edit-phase": CANNOT + "phase 1000 of a job with 2 phases",
    "edit-no-end": CANNOT + r"it ended well, but phase 0 \(write\) never ended",
    "edit-job": CANNOT + "it was given another job than it says: file_size_bytes differ",
    "edit-forged": CANNOT + "it spoke in the name of a host",
    "edit-zero": r"phase 0 \(write\) ended without an operation, and without a failure",
    "edit-escapes": r"\\x1b\]0;owned",
}
STATUS = {"edit-zero": "errors", "edit-escapes": "errors"}
LEAST_RISE = 150 << 10
"""KiB that a process may grow by in a run with a flood: far less than what the engine would have it keep."""


def check(folder: Path, how: str, label: str) -> None:
    """The run in a folder has the result that this way leads to, with a line that can be printed; reports open."""
    run = only_run(folder)
    with RunStore.open(run) as store:
        info, (job, *_), samples = store.info(), store.jobs(), store.samples()
    assert info.status == "complete with errors"
    assert job.status == STATUS.get(how, "crashed"), (job.status, job.reason)
    assert re.search(WAYS[how], job.reason), job.reason
    assert job.reason.isprintable() and len(job.reason) < 1000
    assert all(text.isprintable() for sample in samples for text in (sample.method_reason, sample.cache_done))
    assert all(tally.example.isprintable() for sample in samples for tally in sample.errors)
    for words in (("show", "last"), ("report", "last"), ("export", "last", "--format", "json"), ("list",)):
        done = run_here(folder, *words)
        assert done.returncode == 0, (label, words, done.output)
        assert "\x1b" not in done.output
    assert "incomplete" in run_here(folder, "show", "last").stdout
    assert "\x1b" not in (run / "report.html").read_text()


@pytest.mark.parametrize("how", WAYS)
def test_a_hostile_engine_here_ends_as_a_result(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, how: str) -> None:
    folder = tmp_path / "work"
    folder.mkdir()
    shorten(monkeypatch, make_hostile(tmp_path, how, ENGINE), how)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    done = run_here(folder, "run", str(study(folder, record="64KiB", repeats=1)))
    assert done.returncode == 1, done.output
    assert "\x1b" not in done.output and "\x9b" not in done.output
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < LEAST_RISE
    check(folder, how, "here")


@contextlib.contextmanager
def nothing_running(folder: Path) -> Iterator[None]:
    """End what still runs of a program below a folder: an engine on another host may heed no end of its input."""
    try:
        yield
    finally:
        for process in Path("/proc").iterdir():
            with contextlib.suppress(OSError):
                words = (process / "cmdline").read_bytes() if process.name.isdigit() else b""
                if f"{folder}/".encode() in words and b"assay-engine" in words:
                    os.kill(int(process.name), signal.SIGKILL)


@pytest.mark.parametrize("how", WAYS)
def test_a_hostile_engine_over_ssh_ends_as_a_result(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, how: str) -> None:
    shorten(monkeypatch, make_hostile(tmp_path, how, ENGINE), how)
    with two_hosts(tmp_path, monkeypatch), nothing_running(tmp_path):
        folder = tmp_path / "work"
        file = hosts_study(folder, INVENTORY, hosts=2)
        text = Path(file).read_text().replace("operations: [read]", "operations: [write, read]")
        Path(file).write_text(text.replace("runtime: 200ms", ""))
        done = run_here(folder, "run", file)
        assert done.returncode == 1, done.output
        assert "\x1b" not in done.output
        check(folder, how, "ssh")
