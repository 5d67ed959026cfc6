"""What tests of whole runs share: a study, the `assay` program, and the look at what a run left."""

import signal
import subprocess
import sys
from pathlib import Path

import pytest
from in_process import run_here

from assay.launch.binary import find_engine
from assay.model.base import AssayError
from assay.store import RunStore, list_runs, run_is_alive

if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    # A shell that starts the tests in the background has them ignore Ctrl-C, and Assay would go on doing so.
    signal.signal(signal.SIGINT, signal.default_int_handler)
ASSAY = str(Path(sys.executable).with_name("assay"))
try:
    ENGINE = str(find_engine())
except AssayError:
    ENGINE = ""
needs_engine = pytest.mark.skipif(not ENGINE, reason="assay-engine is not built: run `make engine`")

STUDY = """
study: tiny
question: Does it hold?
targets:
  place: {{kind: {kind}{more}}}
workloads:
  grid:
    operations: [{operations}]
    file_size: {size}
    record_size: {record}
    cache: {cache}
    {extra}
repeats: {repeats}
ceilings: {ceilings}
"""


def study(folder: Path, **changes: object) -> Path:
    """A study file; the target is `<folder>/target` unless it says otherwise."""
    values = {
        "kind": "file",
        "more": f", path: {folder}/target",
        "operations": "write, read",
        "size": "1MiB",
        "record": "[64KiB, 128KiB]",
        "cache": "keep",
        "extra": "",
        "repeats": 3,
        "ceilings": "none",
        **changes,
    }
    path = folder / "study.yaml"
    path.write_text(STUDY.format(**values))
    return path


def assay(folder: Path, *words: object, expect: int = 0) -> subprocess.CompletedProcess[str]:
    """What `assay WORDS` prints, run in a folder, in this process; it ends with the exit code that is expected."""
    done = run_here(folder, *words)
    assert done.returncode == expect, (done.returncode, done.stdout, done.stderr)
    assert "Traceback" not in done.stderr
    return done


def only_run(folder: Path) -> Path:
    (summary,) = list_runs(folder / "assay-runs")
    return Path(summary.folder)


def check_whole(folder: Path, phases: int) -> None:
    """Exactly the planned repeats, each once and well, with all their samples; nothing left behind."""
    run = only_run(folder)
    with RunStore.open(run) as store:
        order = store.order()
        keys = [(job.case, job.repeat) for job in store.jobs()]
        assert sorted(keys) == sorted(order)
        assert len(keys) == len(set(keys))
        assert store.outcome_counts() == {"ok": len(order)}
        samples = [(sample.case, sample.repeat, sample.phase) for sample in store.samples()]
        assert len(samples) == len(set(samples)) == phases * len(order)
        assert store.info().status == "complete"
        assert store.pending() == []
        assert store.entries() == []
        assert store.verdict_counts().total
    assert (run / "intervals.csv.gz").is_file()
    assert not run_is_alive(run)
    check_nothing_left(folder)


def check_nothing_left(folder: Path) -> None:
    assert {path.name for path in folder.iterdir()} <= {"study.yaml", "assay-runs"}


SLOW: dict[str, object] = {
    "size": "4MiB",
    "extra": "runtime: 120ms",
    "record": "[16KiB, 32KiB, 64KiB, 128KiB]",
    "repeats": 3,
}
"""Twelve repeats of two phases of 0.12 s each."""
