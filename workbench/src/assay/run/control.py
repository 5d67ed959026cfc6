"""Measures the control between the repeats, and describes at the end what it shows of the machine."""

import os
import time
from collections.abc import Callable, Mapping

from assay.analyse.machine import machine_finding, machine_sample, summarise_controls
from assay.analyse.usable import usable
from assay.contract._generated import Job
from assay.launch.engine import REPORT_MARGIN_SECONDS, Outcome
from assay.model.base import AssayError, warning
from assay.model.result.machine import ControlReading
from assay.model.result.sample import Sample
from assay.plan.controls import WORKS, control_jobs
from assay.plan.estimate import CONTROL_SECONDS, CONTROL_SHARE
from assay.run.fleet import Fleet
from assay.run.read_events import read_repeat
from assay.store import RunStore

MAX_LANES = 8
"""Most lanes of the control; this many busy CPUs show how busy all are."""
MAX_DESCRIBED_CASES = 500
"""Most cases that describe the machine; more tell no more."""


class Control:
    """Measures CPU and waiting without storage, from time to time between two repeats."""

    def __init__(
        self,
        store: RunStore,
        fleet: Fleet,
        stop: Callable[[], int],
        print_line: Callable[[str], None],
    ) -> None:
        """Start nothing yet.

        Args:
            store: The run, open for writing.
            fleet: The machines that generate the load.
            stop: As for `run_job`.
            print_line: Prints one line if the control cannot be measured.
        """
        self._store, self._fleet = store, fleet
        self._stop, self._print_line = stop, print_line
        # Hosts may be one machine, and then their shares of its CPUs are unknown.
        self._lanes = min(MAX_LANES, len(os.sched_getaffinity(0))) if fleet.is_local else 1
        self._broken = False
        self._took = CONTROL_SECONDS
        self._last = time.monotonic()

    def measure_if_due(self) -> None:
        """Measure a control if it is short compared to the time since the last one."""
        began = time.monotonic()
        if self._broken or (began - self._last) * CONTROL_SHARE < self._took:
            return
        started_at = time.time()
        parts: dict[str, Sample] = {}
        for name, job in control_jobs(self._lanes).items():
            sample = self._sample(job)
            if sample is None:
                return
            parts[name] = sample
        self._last = time.monotonic()
        seconds = self._last - began
        self._took = max(CONTROL_SECONDS, seconds)
        self._store.add_control(combined_reading(parts, started_at, seconds, self._lanes))

    def _sample(self, job: Job) -> Sample | None:
        """Measure one part; None if the run is to stop, or the part cannot be measured."""
        job = self._fleet.joint_job(job, len(self._fleet.hosts))
        try:
            outcome = self._fleet.run(job, REPORT_MARGIN_SECONDS, lambda _host, _event: None, self._stop)
        except AssayError as error:
            outcome = Outcome("crashed", error.message, time.time(), 0.0, False)
        outcome, samples = read_repeat("control", 1, job, outcome, not self._fleet.is_local)
        with_rate = [sample for sample in usable(samples) if sample.rate > 0]
        if outcome.status == "ok" and with_rate:
            return with_rate[0]
        if not self._stop():
            # Later controls would fail in the same way, so this is printed once.
            self._broken = True
            reason = outcome.reason or outcome.status
            self._print_line(warning(f"the control between repeats cannot be measured: {reason}"))
        return None


def combined_reading(parts: Mapping[str, Sample], started_at: float, seconds: float, lanes: int) -> ControlReading:
    """Combine the parts of one control.

    Args:
        parts: Name -> sample.
        started_at: Seconds since 1970.
        seconds: How long it took.
        lanes: Lanes of the part that never waits, on each host.
    """
    busy_part = parts[WORKS]
    watches = [sample.watch for sample in parts.values() if sample.watch is not None]
    away = [watch.away_ns for watch in watches]
    all_lanes = lanes * max(1, len(busy_part.hosts))
    return ControlReading(
        at=started_at + seconds / 2,
        seconds=seconds,
        rates={name: sample.iops for name, sample in parts.items()},
        lane_ns=busy_part.elapsed_ns * all_lanes,
        # Hosts that are one machine may have more lanes than CPUs; then lanes wait for each other.
        wait_ns=busy_part.cpu_wait_ns if all_lanes <= busy_part.cpus else None,
        watched_ns=sum(watch.elapsed_ns for watch in watches),
        away_ns=None if None in away or not away else sum(one or 0 for one in away),
    )


def describe_machine(store: RunStore) -> None:
    """Record what the controls show, only from what is stored; for a large run from some of its cases."""
    readings = store.controls()
    cases = list(dict.fromkeys(case for case, _ in store.order())) if readings else []
    samples = (
        sample
        for case in cases[:: -(-len(cases) // MAX_DESCRIBED_CASES) or 1]
        for sample in usable(store.samples(case))
    )
    controls = summarise_controls(readings, [machine_sample(sample) for sample in samples if sample.rate > 0])
    store.describe_machine(controls, machine_finding(controls))
