"""`assay.run` from programs: in the main thread and in others, and interrupted."""

import signal
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import pytest
from run_tools import needs_engine, only_run

import assay.api  # What makes `assay.run` callable, if another test has loaded that package before.

pytestmark = needs_engine
INTERRUPTED = """
import signal, sys, assay
before = signal.getsignal(signal.SIGINT)
try:
    assay.run(sys.argv[1])
except KeyboardInterrupt as error:
    assert "--resume" in str(error)
    assert signal.getsignal(signal.SIGINT) is before
    sys.exit(7)
"""


def tiny(folder: Path, **changes: Any) -> dict[str, Any]:
    work = {"operations": ["write", "read"], "file_size": "1MiB", "record_size": ["64KiB", "128KiB"], "cache": "keep"}
    return {
        "study": "tiny",
        "question": "Does it hold?",
        "targets": {"place": {"kind": "file", "path": folder / "target"}},
        "workloads": {"grid": work},
        "repeats": 3,
        "ceilings": "none",
        **changes,
    }


def test_a_mapping_is_measured_and_its_results_are_there(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("pandas")
    before = signal.getsignal(signal.SIGINT)
    run = assay.run(tiny(tmp_path), out=tmp_path / "assay-runs", quiet=True)
    assert signal.getsignal(signal.SIGINT) is before
    assert capfd.readouterr() == ("", "")
    assert (run.status, run.folder) == ("complete", only_run(tmp_path))
    assert run.results["n"].tolist() == [3] * 4 and (run.results["throughput_median_bytes_per_s"] > 0).all()
    series, samples = run.series, run.samples
    assert len(series) >= len(samples) == 12
    # Intervals are those of the repeats: nothing is lost and nothing counted twice.
    assert series["read_bytes"].sum() + series["write_bytes"].sum() == samples["bytes"].sum()
    assert not (tmp_path / "target").exists()


def test_it_works_in_another_thread(tmp_path: Path) -> None:
    found: list[object] = []

    def work() -> None:
        try:
            found.append(assay.run(tiny(tmp_path), out=tmp_path / "assay-runs", quiet=True).status)
        except BaseException as error:
            found.append(error)

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert found == ["complete"]


def test_an_interrupt_removes_the_data_and_keeps_what_was_measured(tmp_path: Path) -> None:
    study = tmp_path / "study.yaml"
    study.write_text(
        str(tiny(tmp_path, repeats=200)).replace(f"PosixPath('{tmp_path}/target')", f"'{tmp_path}/target'")
    )
    command = [sys.executable, "-c", INTERRUPTED, str(study)]
    with subprocess.Popen(command, cwd=tmp_path, stderr=subprocess.PIPE, text=True) as program:
        assert program.stderr is not None
        for line in program.stderr:
            if line.startswith("["):
                program.send_signal(signal.SIGINT)
                break
        program.stderr.read()
    assert program.returncode == 7
    run = assay.load(only_run(tmp_path))
    assert run.status == "interrupted" and run.analysis.jobs
    assert not (tmp_path / "target").exists()
