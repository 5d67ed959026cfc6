"""Turns the events of several engines that did one job together into samples.

All times are first converted to the controller's clock. Counts and histograms are added up exactly. What a host had
done at a moment that another host marked, such as the end of its first lane, is interpolated within its own intervals.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from assay.analyse.samples import EventLog, ended_sample, failed_writes, merged_latency, phase_sample, replay_fields
from assay.contract.counts import group_by_kind, progress_counts, summed_fields
from assay.contract.messages import (
    HostConnections,
    HostCpu,
    IntervalEvent,
    LatencySummary,
    OpInterval,
    OpTotals,
    PhaseEndEvent,
    Resources,
    ServiceUse,
    Stonewall,
    Watch,
    Window,
)
from assay.model.result.objects import ExistingObjects
from assay.model.result.replays import ReplayResult
from assay.model.result.sample import ErrorTally, HostShare, Sample
from assay.model.result.tasks import TaskResult
from assay.model.study.names import DATA

_WORST = ("crashed", "failed", "stopped", "skipped", "time_limit", "done")


@dataclass(frozen=True)
class Rank:
    """One engine of a job.

    Attributes:
        host: Host on which it ran.
        offset_ns: Its monotonic clock minus the controller's.
        uncertainty_ns: Uncertainty of the offset; None if the clocks were never compared.
        log: Its events.
    """

    host: str
    offset_ns: int
    uncertainty_ns: int | None
    log: EventLog

    def started(self, number: int) -> int | None:
        """Return when a phase started, on the controller's clock in nanoseconds; None if it did not."""
        start = self.log.starts.get(number)
        return start.at_ns - self.offset_ns if start else None


def samples_from_ranks(case_id: str, repeat: int, ranks: Sequence[Rank]) -> tuple[Sample, ...]:
    """Return the measured phases of one repeat on several hosts, one sample each, in the order of the job.

    If a host did not end a phase like the others, the sample has the worst status of all hosts, and its failures name
    the host.

    Args:
        case_id: Case of the repeat.
        repeat: Its number.
        ranks: All ranks, in order; one without events counts as crashed.
    """
    hello = next((rank.log.hello for rank in ranks if rank.log.hello is not None), None)
    if hello is None:
        return ()
    numbers = [number for number, phase in enumerate(hello.job.phases) if phase.measured]
    return tuple(_sample(case_id, repeat, number, ranks) for number in numbers)


def _sample(case_id: str, repeat: int, number: int, ranks: Sequence[Rank]) -> Sample:
    singles = [_single(case_id, repeat, number, rank) for rank in ranks]
    errors = _errors(singles, ranks)
    status = min((single.status for single in singles), key=_WORST.index)
    ends = [rank.log.ends.get(number) for rank in ranks]
    whole = [end for end in ends if end is not None and end.lanes]
    if len(whole) < len(ranks):
        worst = next(single for single in singles if single.status == status)
        return worst.model_copy(update={"errors": errors, "hosts": _shares(singles, ranks, number, 0, 0)})
    origin = min(rank.started(number) or 0 for rank in ranks)
    shifts = [(rank.started(number) or 0) - origin for rank in ranks]
    merged = _merged_end(whole, ranks, number, shifts)
    first = next(rank for rank, shift in zip(ranks, shifts, strict=True) if not shift)
    log = EventLog(
        hello=first.log.hello,
        starts=first.log.starts,
        ends={number: merged},
        existing=_existing(ranks),
        intervals={number: _merged_intervals([rank.log.intervals.get(number, []) for rank in ranks])},
    )
    sample = ended_sample(case_id, repeat, merged, log, errors)
    stonewall = merged.first_finisher.end_ns
    more = {
        "status": status,
        "cpus": _cpus(ranks),
        "hosts": _shares(singles, ranks, number, stonewall, origin),
        "clock_uncertainty_ns": max((rank.uncertainty_ns or 0 for rank in ranks), default=0),
        "tasks": _tasks(singles, ranks, shifts),
        "failed_writes": sum(failed_writes(number, rank.log) for rank in ranks if rank.log.hello is not None),
    }
    return sample.model_copy(update={**more, **replay_fields(log, _replays(singles, ranks, shifts))})


def _replays(singles: Sequence[Sample], ranks: Sequence[Rank], shifts: Sequence[int]) -> tuple[ReplayResult, ...]:
    """Return the copies of all hosts, on the same time axis."""
    found = [
        replay.model_copy(update={"host": rank.host, "started_ns": replay.started_ns + shift})
        for single, rank, shift in zip(singles, ranks, shifts, strict=True)
        for replay in single.replays
    ]
    return tuple(sorted(found, key=lambda replay: replay.lane))


def _tasks(singles: Sequence[Sample], ranks: Sequence[Rank], shifts: Sequence[int]) -> tuple[TaskResult, ...]:
    """Return the tasks of all hosts, on a time axis that starts with the first host's phase."""
    found = [
        task.model_copy(update={"host": rank.host, "started_ns": task.started_ns + shift})
        for single, rank, shift in zip(singles, ranks, shifts, strict=True)
        for task in single.tasks
    ]
    return tuple(sorted(found, key=lambda task: (task.started_ns, task.lane)))


def _single(case_id: str, repeat: int, number: int, rank: Rank) -> Sample:
    log = rank.log
    if log.hello is None:
        return Sample(case=case_id, repeat=repeat, phase=number, operation="", status="crashed", started_at=0.0)
    return phase_sample(case_id, repeat, number, log)


def _errors(singles: Sequence[Sample], ranks: Sequence[Rank]) -> tuple[ErrorTally, ...]:
    """Return the failures of all hosts by kind; each example begins with the name of its host."""
    found: dict[tuple[str, str | None, int | None, str | None], ErrorTally] = {}
    for single, rank in zip(singles, ranks, strict=True):
        for tally in single.errors:
            known = found.get(tally.key)
            named = tally.model_copy(update={"example": f"{rank.host}: {tally.example}"})
            more = {"count": known.count + tally.count} if known else {}
            found[tally.key] = (known or named).model_copy(update=more)
    return tuple(found.values())


def _existing(ranks: Sequence[Rank]) -> ExistingObjects | None:
    """Return the objects that existed before; None if the hosts do not agree on them."""
    found = [rank.log.existing for rank in ranks]
    return found[0] if all(one == found[0] for one in found) else None


def _cpus(ranks: Sequence[Rank]) -> int:
    """Return the number of CPUs of all machines; hosts that are namespaces of one machine count once."""
    machines = {}
    for rank in ranks:
        hello = rank.log.hello
        if hello is not None:
            machines[hello.boot_id or rank.host] = hello.cpus
    return sum(machines.values())


def _merged_end(
    ends: Sequence[PhaseEndEvent], ranks: Sequence[Rank], number: int, shifts: Sequence[int]
) -> PhaseEndEvent:
    """Merge all hosts' end events into one, on a time axis that starts with the first host's phase."""
    lanes = [
        lane.model_copy(update={"start_ns": lane.start_ns + shift, "end_ns": lane.end_ns + shift})
        for end, shift in zip(ends, shifts, strict=True)
        for lane in end.lanes
    ]
    last = max(lane.end_ns for lane in lanes)
    first = min(lane.end_ns for lane in lanes)
    totals = _totals([of_kind for end in ends for of_kind in end.operations])
    steady = [_shifted(end.steady, shift) for end, shift in zip(ends, shifts, strict=True)]
    done = HostsProgress(ends, [rank.log.intervals.get(number, []) for rank in ranks], shifts)
    starts = [lane.start_ns for lane in lanes]
    return ends[0].model_copy(
        update={
            "operations": totals,
            "lanes": lanes,
            "last_finisher": Window(
                start_ns=0,
                end_ns=last,
                ops=sum(part.ops for part in totals),
                bytes=sum(part.bytes for part in totals),
            ),
            "first_finisher": done.window(0, first),
            "steady": _common_window(steady, done),
            "stonewall": _stonewall([end.stonewall for end in ends], shifts),
            "start_skew_ns": max(starts) - min(starts),
            "start_delay": _latency([end.start_delay for end in ends]),
            "target_per_s": ends[0].target_per_s,
            "unstarted_ops": sum(end.unstarted_ops for end in ends),
            "verified_bytes": sum(end.verified_bytes for end in ends),
            "cached_bytes": _known_sum(end.cached_bytes for end in ends),
            "wall_shift_ns": max((end.wall_shift_ns or 0 for end in ends), key=abs),
            "watch": _watch([end.watch for end in ends]),
            "service": _service([end.service for end in ends]),
            "connections": _connections([one for end in ends for one in end.connections or ()]),
            "resources": _resources([end.resources for end in ends]),
        }
    )


def _totals(parts: Sequence[OpTotals]) -> list[OpTotals]:
    """Return the totals of all hosts, one for each kind of operation."""
    return [
        OpTotals(
            **summed_fields(group),
            latency=_latency([part.latency for part in group]),
            first_byte=_latency([part.first_byte for part in group]),
            repeated=_latency([part.repeated for part in group]),
        )
        for group in group_by_kind(parts)
    ]


def _service(parts: Sequence[ServiceUse | None]) -> ServiceUse | None:
    """Return the sum of what the service reported to all hosts; None if it reported nothing."""
    known = [part for part in parts if part is not None]
    if not known:
        return None
    return ServiceUse(**{name: sum(getattr(part, name) for part in known) for name in ServiceUse.model_fields})


def _connections(parts: Sequence[HostConnections]) -> list[HostConnections]:
    """Return the connections of all hosts, by the host that they lead to."""
    groups: dict[str, list[HostConnections]] = {}
    for part in parts:
        groups.setdefault(part.host, []).append(part)
    return [
        HostConnections(
            host=host,
            **{
                name: sum(getattr(part, name) for part in group) for name in ("requests", "opened", "refused", "closed")
            },
            max_requests=max(part.max_requests for part in group),
            setup=_latency([part.setup for part in group]),
        )
        for host, group in groups.items()
    ]


def _known_sum(parts: Iterable[int | None]) -> int | None:
    listed = list(parts)
    known = [part for part in listed if part is not None]
    return sum(known) if len(known) == len(listed) else None


def _shifted(window: Window | None, shift: int) -> Window | None:
    if window is None:
        return None
    return window.model_copy(update={"start_ns": window.start_ns + shift, "end_ns": window.end_ns + shift})


class HostsProgress:
    """Operations and bytes that all hosts together had completed at a moment of the common axis."""

    def __init__(
        self, ends: Sequence[PhaseEndEvent], intervals: Sequence[Sequence[IntervalEvent]], shifts: Sequence[int]
    ) -> None:
        """Take ends, intervals and shifts of the same hosts in the same order."""
        self._hosts = list(zip(ends, intervals, shifts, strict=True))

    def done_at(self, moment_ns: int) -> tuple[int, int]:
        """Return (operations, bytes) completed by a moment."""
        parts = [host_done_at(intervals, end, moment_ns - shift) for end, intervals, shift in self._hosts]
        return sum(ops for ops, _ in parts), sum(amount for _, amount in parts)

    def window(self, start_ns: int, end_ns: int) -> Window:
        """Return what was completed between two moments."""
        (ops, amount), (ops_before, before) = self.done_at(end_ns), self.done_at(start_ns)
        return Window(start_ns=start_ns, end_ns=end_ns, ops=max(0, ops - ops_before), bytes=max(0, amount - before))


def host_done_at(intervals: Sequence[IntervalEvent], end: PhaseEndEvent, moment_ns: int) -> tuple[int, int]:
    """Return (operations, bytes) that one host had completed: linear in an interval, exact at its last lane's end.

    Args:
        intervals: Intervals of one phase of one host.
        end: End event of the phase.
        moment_ns: Nanoseconds after the phase's start on that host.
    """
    if moment_ns >= end.last_finisher.end_ns:
        return end.last_finisher.ops, end.last_finisher.bytes
    ops = amount = 0.0
    data = end.operation.value in DATA
    for event in intervals:
        stop = min(event.end_ns, end.last_finisher.end_ns)
        length = stop - event.start_ns
        share = min(1.0, max(0.0, (moment_ns - event.start_ns) / length)) if length > 0 else float(moment_ns >= stop)
        ops += share * sum(part.ops for part in progress_counts(event.operations, data))
        amount += share * sum(part.bytes for part in event.operations)
    return round(ops), round(amount)


def _stonewall(walls: Sequence[Stonewall | None], shifts: Sequence[int]) -> Stonewall | None:
    """Return the progress of all lanes at the time limit; None unless every engine reports it."""
    known = [wall for wall in walls if wall is not None]
    if not known or len(known) < len(walls):
        return None
    ends = [wall.window.end_ns + shift for wall, shift in zip(known, shifts, strict=True)]
    window = Window(
        start_ns=0,
        end_ns=max(ends),
        ops=sum(wall.window.ops for wall in known),
        bytes=sum(wall.window.bytes for wall in known),
    )
    least = min(wall.min_ops for wall in known)
    return Stonewall(window=window, min_ops=least, max_ops=max(wall.max_ops for wall in known))


def _common_window(windows: Sequence[Window | None], done: HostsProgress) -> Window | None:
    """Return the window in which every lane of every host worked."""
    known = [window for window in windows if window is not None]
    if len(known) < len(windows):
        return None
    start, end = max(window.start_ns for window in known), min(window.end_ns for window in known)
    return done.window(start, end) if start < end else None


def _latency(summaries: Sequence[LatencySummary | None]) -> LatencySummary | None:
    """Return the summary of all hosts' operations, from one merged histogram."""
    parts = [summary for summary in summaries if summary is not None]
    if len(parts) < 2:
        return parts[0] if parts else None
    values, histogram = merged_latency(parts)
    return LatencySummary(
        count=sum(part.count for part in parts),
        histogram=histogram or "",
        min_ns=int(values["min"]),
        mean_ns=values["mean"],
        max_ns=int(values["max"]),
        p50_ns=int(values["p50"]),
        p90_ns=int(values["p90"]),
        p99_ns=int(values["p99"]),
        p999_ns=int(values["p99.9"]),
        p9999_ns=int(values["p99.99"]),
    )


def _watch(parts: Sequence[Watch | None]) -> Watch | None:
    """Return the sum of all hosts' watches; None unless all hosts have one, with the same interval."""
    known = [part for part in parts if part is not None]
    lateness = _latency([part.lateness for part in known])
    if lateness is None or len(known) < len(parts) or len({part.interval_ns for part in known}) > 1:
        return None
    added = ("elapsed_ns", "stalls", "stalled_ns", "cpu_ns")
    return Watch(
        interval_ns=known[0].interval_ns,
        lateness=lateness,
        longest_ns=max(part.longest_ns for part in known),
        away_ns=_known_sum(part.away_ns for part in known),
        **{name: sum(getattr(part, name) for part in known) for name in added},
    )


def _resources(parts: Sequence[Resources]) -> Resources:
    """Return the sum of CPU times and bytes; without a block device, as none is common to several hosts."""
    hosts = [part.host for part in parts if part.host is not None]
    host = (
        HostCpu(
            busy_ns=sum(item.busy_ns for item in hosts),
            idle_ns=sum(item.idle_ns for item in hosts),
            stolen_ns=sum(item.stolen_ns for item in hosts),
        )
        if len(hosts) == len(parts)
        else None
    )
    return Resources(
        user_ns=sum(part.user_ns for part in parts),
        system_ns=sum(part.system_ns for part in parts),
        service_ns=_known_sum(part.service_ns for part in parts),
        read_bytes=_known_sum(part.read_bytes for part in parts),
        write_bytes=_known_sum(part.write_bytes for part in parts),
        host=host,
        device=parts[0].device if len(parts) == 1 else None,
    )


def _merged_intervals(hosts: Sequence[Sequence[IntervalEvent]]) -> list[IntervalEvent]:
    """Add up intervals of the same number: the hosts' phases start together, within far less than an interval.

    Latencies are left out.
    """
    found: dict[int, list[IntervalEvent]] = {}
    for event in (event for intervals in hosts for event in intervals):
        found.setdefault(event.index, []).append(event)
    merged = []
    for _, parts in sorted(found.items()):
        operations = [
            OpInterval(**summed_fields(group))
            for group in group_by_kind([one for part in parts for one in part.operations])
        ]
        end = max(part.end_ns for part in parts)
        earlier = [one for part in parts for one in part.earlier or ()]
        merged.append(parts[0].model_copy(update={"operations": operations, "end_ns": end, "earlier": earlier}))
    return merged


def _shares(
    singles: Sequence[Sample], ranks: Sequence[Rank], number: int, stonewall_ns: int, origin: int
) -> tuple[HostShare, ...]:
    """Return what each host contributed."""
    shares = []
    for single, rank in zip(singles, ranks, strict=True):
        end, start = rank.log.ends.get(number), rank.started(number)
        moved = 0
        if end is not None and start is not None and stonewall_ns:
            _, moved = host_done_at(rank.log.intervals.get(number, []), end, stonewall_ns - (start - origin))
        cpu = single.cpu_user_ns + single.cpu_system_ns
        shares.append(
            HostShare(
                host=rank.host,
                status=single.status,
                ops=single.ops,
                bytes=single.bytes,
                elapsed_ns=single.elapsed_ns,
                throughput=single.throughput,
                iops=single.iops,
                latency={name: single.latency[name] for name in ("p50", "p99", "max") if name in single.latency},
                stonewall_bytes=moved,
                cpu_ns=cpu,
                failed_operations=single.failed_operations,
                uncertainty_ns=rank.uncertainty_ns,
            )
        )
    return tuple(shares)
