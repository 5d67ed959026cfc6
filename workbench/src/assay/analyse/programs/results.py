"""What a command took: wall clock, tasks, CPU and bytes, over the repeats that count."""

from collections.abc import Callable, Sequence
from statistics import median
from typing import Literal

from assay.analyse.estimate import estimate
from assay.analyse.programs.bound import Bound, bound_of, median_bound
from assay.analyse.usable import usable
from assay.model.frozen import Frozen
from assay.model.result.host_use import LOOPBACK, HostUse
from assay.model.result.result import Estimate, ResultRow
from assay.model.result.sample import Sample
from assay.model.result.tasks import TaskIo, TaskResult, all_io
from assay.model.result.verdict import Verdict


class MachineCounts(Frozen):
    """What the machines that ran the tasks counted during a repeat, whatever program it was for.

    Each is the median over the repeats, all hosts together; None if not counted in one of them.

    Attributes:
        received, sent: Bytes over their links to other hosts.
        loopback: Bytes between programs of one host, such as a task and a server on the same machine.
        nfs_read, nfs_written: Bytes between NFS file systems and their servers.
        device_read, device_written: Bytes of the block device below the target.
        io_some, io_full: Share of the time in which one thread, or all that were not idle, waited for I/O (PSI): the
            mean of the hosts.
    """

    received: float | None
    sent: float | None
    loopback: float | None
    nfs_read: float | None
    nfs_written: float | None
    device_read: float | None
    device_written: float | None
    io_some: float | None
    io_full: float | None


class ProgramResult(Frozen):
    """The results of one case of a command.

    Attributes:
        wall_s: Seconds from the start of the first task to the end of the last, over the repeats.
        task_s: Median of the tasks' own times in seconds, over all tasks of all repeats.
        longest_task_s: Time of the slowest task of all repeats in seconds.
        tasks: Tasks of each repeat.
        cpus_busy: CPU time of all tasks / wall clock: how many CPUs they kept busy.
        io: Bytes and calls of all tasks of a repeat, each the median over the repeats; None if not counted.
        machines: What the machines that ran the tasks counted.
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
    machines: MachineCounts
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
        machines=_machines(samples),
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


def _machines(samples: list[Sample]) -> MachineCounts:
    def links(way: Literal["received", "sent"]) -> float | None:
        return _moved(samples, lambda use: [getattr(link, way) for link in use.outer_links])

    def device(way: Literal["read_bytes", "write_bytes"]) -> float | None:
        return _median([None if sample.block is None else getattr(sample.block, way) for sample in samples])

    return MachineCounts(
        received=links("received"),
        sent=links("sent"),
        loopback=_moved(samples, lambda use: [link.received for link in use.links if link.name == LOOPBACK]),
        nfs_read=_moved(samples, lambda use: [mount.read for mount in use.mounts]),
        nfs_written=_moved(samples, lambda use: [mount.written for mount in use.mounts]),
        device_read=device("read_bytes"),
        device_written=device("write_bytes"),
        io_some=_median([_mean([use.io_some for use in _clients(sample)]) for sample in samples]),
        io_full=_median([_mean([use.io_full for use in _clients(sample)]) for sample in samples]),
    )


def _clients(sample: Sample) -> list[HostUse]:
    """Return the use of the hosts that ran the tasks: on this machine alone, all that was counted."""
    hosts = {host.host for host in sample.hosts}
    return [use for use in sample.uses if use.host in hosts or not hosts]


def _moved(samples: list[Sample], rates: Callable[[HostUse], list[float]]) -> float | None:
    """Return the bytes of a repeat by some rates of the hosts that ran the tasks; None without one in each repeat."""
    found = [[rate * use.seconds for use in _clients(sample) for rate in rates(use)] for sample in samples]
    return _median([sum(moved) if moved else None for moved in found])


def _median(values: Sequence[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return median(known) if known and len(known) == len(values) else None


def _mean(values: Sequence[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return sum(known) / len(known) if known and len(known) == len(values) else None


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
