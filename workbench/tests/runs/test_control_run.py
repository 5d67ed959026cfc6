"""Whole runs with a control beside the repeats, and an engine that was stopped meanwhile."""

import json
import os
import re
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest
from builders import make_case, make_run
from run_tools import ENGINE, assay, check_whole, needs_engine, only_run, study

from assay.analyse.rows import analyse
from assay.contract.messages import Event, IntervalEvent
from assay.judge.judge import judge
from assay.launch.engine import run_job
from assay.launch.launcher import LocalLauncher
from assay.model.result.machine import Controls, MachineFinding
from assay.plan.controls import WAITS, WORKS, control_jobs
from assay.run import control
from assay.run.analysis import analyse_store
from assay.run.read_events import read_repeat
from assay.store import RunStore

pytestmark = needs_engine

HELD = 0.3
OFTEN = 100.0
"""A control before each repeat."""


def run_often(folder: Path, monkeypatch: pytest.MonkeyPatch, *words: str, repeats: int = 4) -> Path:
    monkeypatch.setattr(control, "CONTROL_SHARE", OFTEN)
    file = study(folder, record="64KiB", repeats=repeats)
    assay(folder, "run", file, *words)
    return only_run(folder)


def test_controls_are_kept_beside_the_repeats_and_are_none(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = run_often(tmp_path, monkeypatch)
    check_whole(tmp_path, phases=2)
    with RunStore.open(folder) as store:
        readings, info, analysis = store.controls(), store.info(), analyse_store(store)
        attempts = store.attempts()
    # Before the first one no time had passed.
    assert 3 <= len(readings) <= 4
    assert all(reading.rates.keys() == {WAITS, WORKS} and min(reading.rates.values()) > 0 for reading in readings)
    # 200 us an operation: no machine makes more than 5,000 of them.
    assert all(reading.rates[WAITS] <= 5001 for reading in readings)
    assert all(reading.wait_ns is not None and reading.wait_ns >= 0 for reading in readings)
    assert all(0 <= (reading.away_ns or 0) <= reading.watched_ns > 0 for reading in readings)
    assert all(reading.seconds >= 0.12 for reading in readings), "two phases of 60 ms each"
    assert [reading.at for reading in readings] == sorted(reading.at for reading in readings)
    assert {attempt.case for attempt in attempts} == {"c0001"} and len(attempts) == 4
    assert info.controls is not None and info.controls.readings == readings
    assert analysis.run.controls == info.controls
    assert (analysis.machine is None) == (info.machine is None)
    assert {row.case.target for row in analysis.rows} == {"place"}


def test_a_resumed_run_goes_on_with_its_controls(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = run_often(tmp_path, monkeypatch)
    with RunStore.open(folder, write=True) as store:
        before = store.controls()
        store._db.execute("DELETE FROM samples WHERE repeat = 3")
        store._db.execute("DELETE FROM outcomes WHERE repeat = 3")
        store.set_status("interrupted")
    assay(tmp_path, "run", tmp_path / "study.yaml", "--resume")
    with RunStore.open(folder) as store:
        assert store.controls()[: len(before)] == before
        assert store.info().status == "complete"


def test_a_killed_run_keeps_the_controls_it_had(tmp_path: Path) -> None:
    file = study(tmp_path, record="64KiB", repeats=60)
    program = f"from assay.cli import main; from assay.run import control; control.CONTROL_SHARE = {OFTEN}; main.main()"
    command = [sys.executable, "-c", program, "run", str(file)]
    process = subprocess.Popen(command, cwd=tmp_path, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    kept: tuple[object, ...] = ()
    while len(kept) < 3:
        assert process.poll() is None, "it ended before it was killed"
        time.sleep(0.05)
        if (tmp_path / "assay-runs").is_dir() and any((tmp_path / "assay-runs").glob("2*")):
            with RunStore.open(only_run(tmp_path)) as store:
                kept = store.controls()
    process.kill()
    process.wait()
    assay(tmp_path, "run", file, "--resume")
    check_whole(tmp_path, phases=2)
    with RunStore.open(only_run(tmp_path)) as store:
        assert store.controls()[: len(kept)] == kept
        found = store.info().controls
    assert found is not None and len(found.readings) >= 3


def test_short_runs_have_no_control(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(control, "CONTROL_SHARE", 0.0)
    assay(tmp_path, "run", study(tmp_path, record="64KiB"))
    with RunStore.open(only_run(tmp_path)) as store:
        assert store.controls() == ()
        assert (store.info().controls, store.info().machine) == (None, None)


def test_a_control_that_cannot_be_measured_is_told_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(lanes: int) -> object:
        jobs = control_jobs(lanes)
        return {name: job.model_copy(update={"file_size_bytes": 1}) for name, job in jobs.items()}

    monkeypatch.setattr(control, "control_jobs", broken)
    monkeypatch.setattr(control, "CONTROL_SHARE", OFTEN)
    done = assay(tmp_path, "run", study(tmp_path, record="64KiB"))
    assert (done.stdout + done.stderr).count("the control between repeats cannot be measured") == 1
    check_whole(tmp_path, phases=2)


def test_the_verdict_on_the_machine_is_shown_and_exported(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = run_often(tmp_path, monkeypatch)
    with RunStore.open(folder, write=True) as store:
        found = store.info().controls
        assert found is not None
        told = Controls.model_validate(found.model_dump() | {"wait_share": 0.4})
        store.describe_machine(told, MachineFinding(text="It was busy.", remedy="Wait."))
    shown = assay(tmp_path, "show", "last").stdout
    assert len(re.findall(r"machine +It was busy\.", shown)) == 1
    assay(tmp_path, "export", "last", "--format", "json", "--output", "found.json")
    exported = json.loads((tmp_path / "found.json").read_text())
    assert exported["machine"]["text"] == "It was busy."
    assert exported["run"]["controls"]["wait_share"] == 0.4


def test_an_engine_that_was_stopped_is_seen(tmp_path: Path) -> None:
    """Stopped and continued from outside, as a hypervisor or a debugger would: no storage has a part in that."""
    pids: list[int] = []
    stopped = threading.Event()

    def hear(event: Event) -> None:
        if isinstance(event, IntervalEvent) and not stopped.is_set():
            stopped.set()
            os.kill(pids[0], signal.SIGSTOP)
            time.sleep(HELD)
            os.kill(pids[0], signal.SIGCONT)

    job = control_jobs(1)[WAITS]
    long = [phase.model_copy(update={"runtime_ns": 2_000_000_000}) for phase in job.phases]
    job = job.model_copy(update={"interval_ns": 20_000_000, "phases": long})
    outcome = run_job(LocalLauncher(Path(ENGINE)), job.model_dump_json(), 60.0, on_event=hear, on_start=pids.append)
    outcome, samples = read_repeat("c0001", 1, job, outcome, hosts=False)
    assert (outcome.status, outcome.reason, stopped.is_set()) == ("ok", "", True)
    watch = samples[0].watch
    assert watch is not None and watch.away_ns is not None
    least = HELD * 1e9 - 2 * watch.interval_ns
    assert watch.longest_ns >= least and watch.away_ns >= least and watch.lateness["max"] >= 0.99 * least
    case = make_case(operations=("random_read",), cache="keep", record_size=4096)
    row = analyse(make_run(repeats=1, places=()), [case], (), samples, (), judge).rows[0]
    assert "stopped_engine" in {finding.rule for finding in row.findings}
