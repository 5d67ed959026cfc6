"""What tests with hostile engines share: the engine, short limits, and a run in this process."""

import re
import stat
from pathlib import Path

import pytest
from in_process import run_here
from paths import this_python
from run_tools import only_run

from assay.contract import bounds
from assay.launch import conversation, group
from assay.run import executor as execute
from assay.store import RunStore

CANNOT = r"the engine sent invalid events: (node1: )?"
WAYS = {
    "silence": "hung: no progress for",
    "exits": "the engine ended with exit code 0 before it was done",
    "closes-output": "hung: no progress for",
    "never-reads": "hung: no progress for",
    "bye-only": "the engine sent bye without hello",
    "endless-line": "the engine printed a line of more than",
    "garbage": "the engine printed more than 1000 lines that are not events",
    "stderr": "the engine ended with exit code 101 before it was done: ",
    "deaf": "hung: no progress for",
    "logs": "the engine printed more than 1000 log lines, the limit for this job",
    "slow-logs": "hung: no progress for",
    "pongs": "hung: no progress for",
    "phases": "the engine reported more than 14 steps, the limit for this job",
    "intervals": "hung: no progress for",
    "busy-intervals": "hung: not done after",
    "long-lines": "the engine printed (a line of )?more than",
    "bye-flood": "the engine printed more than 1000 log lines, the limit for this job|"
    + CANNOT
    + "it ended without an error, but phase 0 .* never ended",
    "child-floods": "(the engine ended with exit code 0 before it was done|the engine printed more than 1000 log lines,"
    " the limit for this job)",
    "edit-bomb": CANNOT + r"phase 0 \(write\): latencies of write: a latency histogram cannot be read",
    "edit-interval-bomb": CANNOT + r"phase 0 \(write\): interval 0: a latency histogram cannot be read",
    "edit-errno": CANNOT + r"phase 0 \(write\): there is no error number 1099511627776",
    "edit-bytes": CANNOT + r"phase 0 \(write\): \d+ bytes in \d+ write operations of \d+ bytes",
    "edit-giant": CANNOT + r"it ended without an error, but phase 0 \(write\) never ended",
    "edit-nan": CANNOT + r"it ended without an error, but phase 0 \(write\) never ended",
    "edit-time": CANNOT + r"phase 0 \(write\) took 4.612e\+09 s, longer than the whole job",
    "edit-backwards": CANNOT + r"phase 0 \(write\): window of the first lane ends before it begins",
    "edit-phase": CANNOT + "phase 1000 of a job with 2 phases",
    "edit-no-end": CANNOT + r"it ended without an error, but phase 0 \(write\) never ended",
    "edit-job": CANNOT + "its hello repeats another job than it was sent: file_size_bytes differ",
    "edit-forged": CANNOT + "it sent a line with a host header",
    "edit-zero": r"phase 0 \(write\) ended without an operation, and without a failure",
    "edit-escapes": r"\\x1b\]0;owned",
}
STATUS = {"edit-zero": "errors", "edit-escapes": "errors"}

QUICK = conversation.Grace(stop_s=0.2, terminate_s=0.2, kill_s=5.0, exit_s=0.5)
SILENCE = 1.0
LONGEST = 3.0
LONG = 100.0
"""For engines that come to an end by themselves, also on a machine that is busy."""
HUNG = ("silence", "closes-output", "never-reads", "deaf", "slow-logs", "pongs", "intervals")
"""Ways in which an engine is silent."""


def make_hostile(folder: Path, how: str, real: str) -> Path:
    """A hostile engine as an executable file; `how` is a way of `hostile_engine.py`."""
    text = Path(__file__).with_name("hostile_engine.py").read_text()
    text = text.replace("#!/usr/bin/env python3\n", this_python(), 1)
    text = text.replace('HOW = "silence"', f"HOW = {how!r}", 1).replace('REAL = "assay-engine"', f"REAL = {real!r}", 1)
    (folder / "hostile").mkdir()
    return make_script(folder / "hostile" / "assay-engine", text)


def make_script(path: Path, text: str) -> Path:
    """An executable file."""
    path.write_text(text)
    path.chmod(path.stat().st_mode | stat.S_IXUSR)
    return path


def shorten(monkeypatch: pytest.MonkeyPatch, engine: Path, how: str) -> None:
    """Have this engine used, and the limits of time that it runs into so short that a test does not take long."""
    monkeypatch.setenv("ASSAY_ENGINE", str(engine))
    monkeypatch.setattr(conversation, "Grace", lambda: QUICK)
    monkeypatch.setattr(execute, "silence_limit", lambda *_: SILENCE if how in HUNG else LONG)
    monkeypatch.setattr(execute, "REPORT_MARGIN_SECONDS", SILENCE if how in HUNG else LONG)
    monkeypatch.setattr(bounds, "MIN_TIMEOUT_SECONDS", LONGEST if how == "busy-intervals" else LONG)
    monkeypatch.setattr(bounds, "ESTIMATE_FACTOR", 1.0)
    monkeypatch.setattr(group, "HOST_TIMEOUT_SECONDS", LONG)


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
        assert done.returncode == 0, (label, words, done.stdout, done.stderr)
        assert "\x1b" not in done.stdout + done.stderr
    assert "incomplete" in run_here(folder, "show", "last").stdout
    assert "\x1b" not in (run / "report.html").read_text()
