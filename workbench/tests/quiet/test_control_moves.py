"""The control is moved by what else the machine does, and by nothing that is stored."""

import multiprocessing
import os
import time
from pathlib import Path
from statistics import median

from run_tools import ENGINE, needs_engine

from assay.launch.engine import run_job
from assay.launch.launcher import LocalLauncher
from assay.model.result.machine import ControlReading
from assay.plan.controls import WAITS, WORKS, control_jobs
from assay.run.control import MAX_LANES, combined_reading
from assay.run.read_events import read_repeat

pytestmark = needs_engine

TURNS = 5
LANES = min(MAX_LANES, len(os.sched_getaffinity(0)))


def measured() -> ControlReading:
    launcher, parts = LocalLauncher(Path(ENGINE)), {}
    for name, job in control_jobs(LANES).items():
        outcome = run_job(launcher, job.model_dump_json(), 60.0)
        _, samples = read_repeat("control", 1, job, outcome, hosts=False)
        parts[name] = samples[0]
    return combined_reading(parts, time.time(), 0.0, LANES)


def spin() -> None:
    # A session of its own: the scheduler may share the CPUs out by sessions (autogroup, sched(7)).
    os.setsid()
    while True:
        pass


def test_a_busy_neighbour_moves_the_control() -> None:
    """By turns, so that whatever else goes on goes on beside both."""
    alone, beside = [], []
    for _ in range(TURNS):
        alone.append(measured())
        others = [multiprocessing.Process(target=spin, daemon=True) for _ in range(8 * LANES)]
        for other in others:
            other.start()
        try:
            beside.append(measured())
        finally:
            for other in others:
                other.kill()
                other.join()
    for part in (WAITS, WORKS):
        rates = [median(one.rates[part] for one in several) for several in (alone, beside)]
        assert rates[1] < rates[0], (part, rates)
