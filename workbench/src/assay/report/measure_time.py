"""Times of commands: where a job takes seconds, its time says more than a rate."""

from collections.abc import Sequence
from statistics import mean

from assay.analyse.estimate import estimate
from assay.analyse.usable import usable
from assay.model.result.result import Estimate, ResultRow
from assay.model.result.sample import Sample
from assay.model.study.commands import FAST, REPLAY, RUN
from assay.model.study.replication_figures import COMMON, KEY_TIMES
from assay.report.measure import Measure

MIN_TASK_SECONDS = 1.0
"""From this mean time of a task on, the wall clock of a command says more than tasks per second."""
WALL_CLOCK, IO_TIME = "wall clock", "I/O time"
"""From the start of the first task to the end of the last; the times of all operations of a replay, added up."""


def time_measure(rows: Sequence[ResultRow]) -> Measure | None:
    """Return the time that is shown of some results; None where a rate says more, or where they differ in that.

    It is the wall clock of single tasks, of tasks that take a second and more, and of replays that leave pauses out;
    of replays that are all at a recorded pace the time of their I/O; of replications a time of their scenario.
    """
    times = {_time_of(row) for row in rows}
    if times == {WALL_CLOCK, IO_TIME}:
        # Replays at several paces: what they have in common.
        times = {WALL_CLOCK}
    if len(times) != 1 or not (name := times.pop()):
        return None
    found = [time_estimate(row, name) for row in rows]
    known = [one.median for one in found if one is not None]
    if not known or len(known) < len(found):
        return None
    unit, scale = ("s", 1.0) if max(known) >= 1 else ("ms", 1e-3)
    return Measure(name, unit, scale, is_count=True, time=name)


def time_estimate(row: ResultRow, time: str) -> Estimate | None:
    """Return a time of a result in seconds over its repeats; None if a repeat lacks it."""
    found = [sample_seconds(sample, time) for sample in usable(row.samples)]
    known = [seconds for seconds in found if seconds is not None]
    return estimate(known) if known and len(known) == len(found) else None


def sample_seconds(sample: Sample, time: str) -> float | None:
    """Return a time of a repeat in seconds; None if it has no such time."""
    if time == WALL_CLOCK:
        return sample.elapsed_ns / 1e9 if sample.elapsed_ns else None
    if time == IO_TIME:
        return mean(replay.io_ns for replay in sample.replays) / 1e9 if sample.replays else None
    return next((task.figures[time] for task in sample.tasks if time in task.figures), None)


def _time_of(row: ResultRow) -> str:
    """Return the time that is shown of a result; empty for a rate."""
    operation, samples = row.operation.split(" ", 1)[0], usable(row.samples)
    if operation not in (RUN, REPLAY) or not samples:
        return ""
    parameters = row.case.parameters
    if operation == REPLAY:
        return WALL_CLOCK if parameters.get_value("pace") == FAST else IO_TIME
    if printed := _replicated(samples):
        return next((name for name in KEY_TIMES if name in printed), "")
    tasks = parameters.get_value("tasks") or 1
    seconds = mean(sample.elapsed_ns for sample in samples) / 1e9
    is_long = tasks == 1 or seconds * min(tasks, parameters.all_lanes) / tasks >= MIN_TASK_SECONDS
    return WALL_CLOCK if is_long else ""


def _replicated(samples: Sequence[Sample]) -> frozenset[str]:
    """Return the figures of a replication; empty for other commands."""
    names = frozenset(name for sample in samples for task in sample.tasks for name in task.figures)
    return names if next(iter(COMMON)) in names else frozenset()
