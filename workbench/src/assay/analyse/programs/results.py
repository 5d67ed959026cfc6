"""What a command took: wall clock, tasks, CPU and bytes, over the repeats that count."""

from statistics import median
from typing import Literal

from assay.analyse.estimate import estimate
from assay.analyse.programs.bound import Bound, bound_of, median_bound
from assay.analyse.usable import usable
from assay.model.frozen import Frozen
from assay.model.result.result import Estimate, ResultRow
from assay.model.result.sample import Sample
from assay.model.result.tasks import TaskIo, TaskResult, all_io
from assay.model.result.verdict import Verdict


class ProgramResult(Frozen):
    """The results of one case of a command.

    Attributes:
        wall_s: Seconds from the start of the first task to the end of the last, over the repeats.
        task_s: Median of the tasks' own times in seconds, over all tasks of all repeats.
        longest_task_s: Time of the slowest task of all repeats in seconds.
        tasks: Tasks of each repeat.
        cpus_busy: CPU time of all tasks / wall clock: how many CPUs they kept busy.
        io: Bytes and calls of all tasks of a repeat, each the median over the repeats; None if not counted.
        received, sent: Bytes of a repeat over the links of the hosts that ran the tasks, whatever sent them, each the
            median over the repeats; None if not counted.
        bound: What bounds it: the shares are the medians over the repeats, and the kind follows from them; None with
            too few looks.
        figures: Name -> what each repeat's tasks printed, the mean of its tasks, over the repeats.
    """

    wall_s: Estimate
    task_s: float
    longest_task_s: float
    tasks: int
    cpus_busy: float
    io: TaskIo | None
    received: int | None
    sent: int | None
    bound: Bound | None
    figures: dict[str, Estimate]


def command_result(row: ResultRow) -> ProgramResult | None:
    """Return the results of a command's case; None for other cases, and without a repeat that counts."""
    samples = [sample for sample in usable(row.samples) if sample.tasks and sample.elapsed_ns]
    if not samples:
        return None
    tasks = [task for sample in samples for task in sample.tasks]
    return ProgramResult(
        wall_s=estimate([sample.elapsed_ns / 1e9 for sample in samples]),
        task_s=median(task.elapsed_ns for task in tasks) / 1e9,
        longest_task_s=max(task.elapsed_ns for task in tasks) / 1e9,
        tasks=len(samples[0].tasks),
        cpus_busy=median(sum(task.cpu_ns for task in sample.tasks) / sample.elapsed_ns for sample in samples),
        io=_io(samples),
        received=_over_links(samples, "received"),
        sent=_over_links(samples, "sent"),
        bound=_bound(row, samples),
        figures=_figures([sample.tasks for sample in samples]),
    )


def _bound(row: ResultRow, samples: list[Sample]) -> Bound | None:
    full = any(finding.verdict is Verdict.NETWORK_BOUND for finding in row.findings)
    found = [bound for sample in samples if (bound := bound_of(sample.tasks, full)) is not None]
    if not found:
        return None
    return median_bound(found, full)


def _io(samples: list[Sample]) -> TaskIo | None:
    counted = [io for sample in samples if (io := all_io(sample.tasks)) is not None]
    if len(counted) < len(samples):
        return None
    return TaskIo(**{name: round(median(getattr(io, name) for io in counted)) for name in TaskIo.model_fields})


def _over_links(samples: list[Sample], way: Literal["received", "sent"]) -> int | None:
    found: list[float] = []
    for sample in samples:
        hosts = {host.host for host in sample.hosts}
        links = [link for use in sample.uses if use.host in hosts for link in use.links if link.name != "lo"]
        if not links:
            return None
        found.append(sum(getattr(link, way) for link in links) * sample.elapsed_ns / 1e9)
    return round(median(found))


def _figures(repeats: list[tuple[TaskResult, ...]]) -> dict[str, Estimate]:
    names = dict.fromkeys(name for tasks in repeats for task in tasks for name in task.figures)
    found: dict[str, Estimate] = {}
    for name in names:
        means = [
            sum(values) / len(values)
            for tasks in repeats
            if (values := [task.figures[name] for task in tasks if name in task.figures])
        ]
        found[name] = estimate(means)
    return found
