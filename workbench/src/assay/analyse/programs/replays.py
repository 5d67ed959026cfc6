"""What replays of a trace took: the copies of a repeat from their events, and a case over its repeats."""

from collections.abc import Iterable, Sequence
from statistics import median

from assay.analyse import histograms
from assay.analyse.estimate import estimate
from assay.analyse.samples import merged_latency
from assay.analyse.usable import usable
from assay.contract._generated import ReplayedOps
from assay.contract.messages import ReplayEvent
from assay.model.escape import escape_line
from assay.model.frozen import Frozen
from assay.model.result.percentile import reliable_latencies
from assay.model.result.replays import ReplayDifference, ReplayedKind, ReplayResult
from assay.model.result.result import Estimate, ResultRow
from assay.model.study.commands import FAST, pace_factor


def replay_results(events: Iterable[ReplayEvent], begin_ns: int) -> tuple[ReplayResult, ...]:
    """Return the copies that one engine replayed, by lane.

    Args:
        events: Their events.
        begin_ns: Start of the phase, on the same clock as the events.
    """
    found = [
        ReplayResult(
            lane=event.lane,
            started_ns=max(0, event.at_ns - begin_ns),
            elapsed_ns=event.elapsed_ns,
            recorded_ns=event.recorded_ns,
            tasks=event.tasks,
            kinds={name: _kind(ops) for name, ops in event.operations.items()},
            differences=event.differences,
            first_differences=tuple(
                ReplayDifference(
                    line=one.line,
                    operation=one.operation,
                    file=escape_line(one.file),
                    message=escape_line(one.message),
                )
                for one in event.first_differences
            ),
            opened=event.opened,
            max_delay_ns=event.max_delay_ns,
        )
        for event in events
    ]
    return tuple(sorted(found, key=lambda replay: replay.lane))


def _kind(ops: ReplayedOps) -> ReplayedKind:
    service, histogram = merged_latency((ops.service,))
    latency, latency_histogram = merged_latency((ops.latency,))
    late = 0.0 if ops.latency is None else ops.latency.mean_ns * ops.latency.count - ops.replayed_ns
    return ReplayedKind(
        count=ops.count,
        failed=ops.failed,
        bytes=ops.bytes,
        recorded_ns=ops.recorded_ns,
        replayed_ns=ops.replayed_ns,
        service=service,
        histogram=histogram,
        late_ns=max(0, round(late)),
        latency=latency,
        latency_histogram=latency_histogram,
    )


class KindResult(Frozen):
    """The operations of one kind, over all copies and repeats of a case.

    Attributes:
        count, failed, bytes: Of one copy.
        recorded_s: Sum of their recorded times.
        replayed_s: Sum of their times from start to end, the mean of a repeat's copies, over the repeats.
        latency: Percentiles in nanoseconds for which there are enough operations: from when they were due to their end
            at recorded times, else from start to end.
    """

    count: int
    failed: int
    bytes: int
    recorded_s: float
    replayed_s: Estimate
    latency: dict[str, float]


class ReplayedTrace(Frozen):
    """The results of one case that replays a trace.

    Attributes:
        wall_s: Seconds from the start of the first copy to the end of the last one, over the repeats.
        due_s: What that would be at the pace of the case; None for the pace `fast`.
        recorded_s: Seconds that the recorded program took.
        io_s: Sum of the times of a copy's operations, the mean of a repeat's copies, over the repeats.
        recorded_io_s: The same of the recording.
        copies: Copies of each repeat.
        operations: Operations of one copy.
        kinds: Kind of operation -> its results.
        late_s: Mean time by which operations started after they were due; None for the pace `fast`.
        max_delay_s: The most of it.
        opened: Files of one copy that were opened without such an operation in the trace.
    """

    wall_s: Estimate
    due_s: float | None
    recorded_s: float
    io_s: Estimate
    recorded_io_s: float
    copies: int
    operations: int
    kinds: dict[str, KindResult]
    late_s: float | None
    max_delay_s: float
    opened: int

    @property
    def bytes(self) -> int:
        """Bytes that one copy reads and writes."""
        return sum(kind.bytes for kind in self.kinds.values())


def replay_result(row: ResultRow) -> ReplayedTrace | None:
    """Return the results of a case that replays a trace; None for other cases, and without a repeat that counts."""
    samples = [sample for sample in usable(row.samples) if sample.replays and sample.elapsed_ns]
    if not samples:
        return None
    repeats = [sample.replays for sample in samples]
    first, pace = repeats[0][0], row.case.parameters.pace or FAST
    is_timed = pace != FAST
    every = [replay for replays in repeats for replay in replays]
    return ReplayedTrace(
        wall_s=estimate([sample.elapsed_ns / 1e9 for sample in samples]),
        due_s=first.recorded_ns / 1e9 / pace_factor(pace) if is_timed else None,
        recorded_s=first.recorded_ns / 1e9,
        io_s=estimate([_mean([replay.io_ns for replay in replays]) for replays in repeats]),
        recorded_io_s=first.recorded_io_ns / 1e9,
        copies=len(repeats[0]),
        operations=first.operations,
        kinds={name: _kind_result(name, repeats, is_timed) for name in first.kinds},
        late_s=median(replay.late_ns / max(1, replay.operations) for replay in every) / 1e9 if is_timed else None,
        max_delay_s=max(replay.max_delay_ns for replay in every) / 1e9,
        opened=first.opened,
    )


def _mean(times_ns: Sequence[int]) -> float:
    return sum(times_ns) / len(times_ns) / 1e9


def _kind_result(name: str, repeats: Sequence[Sequence[ReplayResult]], is_timed: bool) -> KindResult:
    every = [[replay.kinds[name] for replay in replays if name in replay.kinds] for replays in repeats]
    kinds = [kind for repeat in every for kind in repeat]
    texts = [kind.latency_histogram if is_timed else kind.histogram for kind in kinds]
    merged = histograms.merge([histograms.decode(text) for text in texts if text is not None])
    return KindResult(
        count=kinds[0].count,
        failed=kinds[0].failed,
        bytes=kinds[0].bytes,
        recorded_s=kinds[0].recorded_ns / 1e9,
        replayed_s=estimate([_mean([kind.replayed_ns for kind in repeat]) for repeat in every if repeat]),
        latency=reliable_latencies(histograms.summary(merged), merged.total),
    )
