"""Kinds of operation as a flat table: a record for each kind in each repeat of each operation."""

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from assay.model.result.percentile import MIN_OPS
from assay.model.result.result import RunAnalysis
from assay.model.result.sample import KindCounts, Sample
from assay.report.tables import LATENCIES, FlatColumn, FlatTable, Record, Value

_HEAD = (
    FlatColumn("case", "text", "Case"),
    FlatColumn("repeat", "integer", "Repeat"),
    FlatColumn("phase", "integer", "Number of the phase in the job"),
    FlatColumn("operation", "text", "Operation"),
    FlatColumn("kind", "text", "Kind of operation within the phase: read, write, sync, create, ..."),
    FlatColumn("ops", "integer", "Operations of this kind that succeeded"),
    FlatColumn("bytes", "integer", "Bytes moved by these operations"),
    FlatColumn("failed_ops", "integer", "Operations of this kind that failed"),
    FlatColumn(
        "throughput_bytes_per_s", "number", "Their throughput up to the last lane's end; empty if they move none"
    ),
    FlatColumn("per_s", "number", "Operations of this kind per second"),
)


def _times(prefix: str, title: str) -> tuple[FlatColumn, ...]:
    def least(name: str) -> str:
        return f", from {MIN_OPS[name]:,} operations on" if name in MIN_OPS else ""

    return tuple(
        FlatColumn(f"{prefix}_{name.replace('.', '_')}_ns", "number", f"{title}: {name}{least(name)}")
        for name in LATENCIES
    )


KIND_COLUMNS = (*_HEAD, *_times("latency", "Latency"), *_times("first_byte", "Until the first byte came"))
"""Columns of `kinds_table`."""


class KindRate(NamedTuple):
    """The rates of one kind of operation in a phase, per second of wall time, flush included.

    Attributes:
        throughput: Bytes per second; None if the kind moves no data.
        iops: Operations per second.
    """

    counts: KindCounts
    throughput: float | None
    iops: float


def kind_rates(sample: Sample) -> tuple[KindRate, ...]:
    """Return the rates of a phase's kinds of operation; none if they were not counted or its duration is unknown."""
    elapsed_ns = sample.get_value("elapsed_ns")
    if elapsed_ns is None:
        return ()
    seconds = elapsed_ns / 1e9
    return tuple(
        KindRate(
            counts,
            counts.bytes / seconds if counts.bytes and seconds else None,
            counts.ops / seconds if seconds else 0.0,
        )
        for counts in sample.kinds
    )


def has_kind_detail(sample: Sample) -> bool:
    """Return whether the kinds add information to the phase: there are several, or times to the first byte."""
    return sample.is_mixed or any(counts.first_byte for counts in sample.kinds)


def performed_kinds(sample: Sample) -> tuple[KindRate, ...]:
    """Return the kinds with at least one operation, for a phase that is `has_kind_detail`; none for any other phase."""
    return tuple(rate for rate in kind_rates(sample) if rate.counts.ops) if has_kind_detail(sample) else ()


def rates_by_kind(samples: Sequence[Sample]) -> dict[str, list[KindRate]]:
    """Return for each kind its rates in each repeat, for a case that is `has_kind_detail`; empty for any other case.

    A repeat without operations of a kind counts with 0.
    """
    if not any(has_kind_detail(sample) for sample in samples):
        return {}
    rates = [{rate.counts.kind: rate for rate in kind_rates(sample)} for sample in samples]
    done = dict.fromkeys(kind for kinds in rates for kind, rate in kinds.items() if rate.counts.ops)
    none = {kind: KindRate(KindCounts(kind=kind), None, 0.0) for kind in done}
    return {kind: [kinds.get(kind, none[kind]) for kinds in rates if kinds] for kind in done}


def kind_records(samples: Iterable[Sample]) -> Iterator[Record]:
    """Return a record for each kind of operation in each repeat; none for a phase that did not end."""
    return (_record(sample, rate) for sample in samples for rate in kind_rates(sample))


def kinds_table(analysis: RunAnalysis) -> FlatTable:
    """Return the table of all `kind_records` of a run."""
    return FlatTable(
        "kinds", KIND_COLUMNS, tuple(kind_records(sample for row in analysis.rows for sample in row.samples))
    )


def _record(sample: Sample, rate: KindRate) -> Record:
    counts = rate.counts
    head: tuple[Value, ...] = (
        *(sample.case, sample.repeat, sample.phase, sample.operation),
        *(counts.kind, counts.ops, counts.bytes, counts.errors),
        *(rate.throughput, rate.iops),
    )
    latency, first_byte = counts.reliable_latency, counts.reliable_first_byte
    times = (*(latency.get(name) for name in LATENCIES), *(first_byte.get(name) for name in LATENCIES))
    return dict(zip((column.name for column in KIND_COLUMNS), (*head, *times), strict=True))
