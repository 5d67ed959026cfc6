"""What services have told of the work: objects of batches and pages, capacity units, throttles."""

from collections.abc import Iterator
from statistics import median

from assay.analyse.usable import usable
from assay.model.result.result import Row, Sample
from assay.report import numbers
from assay.report.document import Cell, Column, Num, Table
from assay.report.measure import COUNTED
from assay.report.view import View

THROTTLES = frozenset(
    {
        "ProvisionedThroughputExceededException",
        "ThrottlingException",
        "RequestLimitExceeded",
        "SlowDown",
        "TooManyRequests",
    }
)
"""Names with which services refuse what is too much for them."""


def services_table(view: View) -> Table | None:
    """A line for each result of which a service told something; None without any."""
    lines = [line for row in view.analysis.rows for line in _lines(view, row)]
    if not lines:
        return None
    columns = (
        Column("Case"),
        Column("Target", facet=True),
        Column("Operation", facet=True),
        Column("At"),
        Column("Objects", "1/s", numeric=True),
        Column("Read units", "per request", numeric=True),
        Column("Write units", "per request", numeric=True),
        Column("Units", "1/s", numeric=True),
        Column("Throttled", "requests", numeric=True),
        Column("Left undone", "objects", numeric=True),
    )
    caption = (
        "Medians over the repeats that count; throttled requests, and objects of batches that the service left undone "
        "while it took others, of all repeats together. Units are the capacity units that the service says it has "
        "charged, of requests that went well."
    )
    return Table("services-table", columns, tuple(lines), caption, interactive=True)


def throttled(sample: Sample) -> int:
    """Requests that the service refused because it had too many."""
    return sum(tally.count for tally in sample.errors if tally.name in THROTTLES)


def objects_per_s(sample: Sample) -> float | None:
    """Objects of a phase per second; None where nobody told how long it took."""
    elapsed_ns = sample.known("elapsed_ns")
    if not elapsed_ns:
        return None
    objects = sample.service.objects if sample.service else 0
    return (objects or sample.ops) / (float(elapsed_ns) / 1e9)


def _lines(view: View, row: Row) -> Iterator[tuple[Cell, ...]]:
    told = [sample for sample in usable(row.samples) if sample.service is not None and sample.ops]
    if not told:
        return
    everything = [sample for sample in row.samples if sample.service is not None]
    seconds = [sample.elapsed_ns / 1e9 for sample in told]
    reads = [sample.service.read_units for sample in told if sample.service]
    writes = [sample.service.write_units for sample in told if sample.service]
    units = [(read + write) / time for read, write, time in zip(reads, writes, seconds, strict=True) if time]
    rates = [rate for rate in map(objects_per_s, told) if rate is not None]
    yield (
        row.case.id,
        row.case.target,
        numbers.operation_title(row.operation),
        view.point_of(row) or row.case.workload,
        _number(rates),
        _number([read / sample.ops for read, sample in zip(reads, told, strict=True)]),
        _number([write / sample.ops for write, sample in zip(writes, told, strict=True)]),
        _number(units),
        _count(sum(map(throttled, row.samples))),
        _count(sum(sample.service.unprocessed for sample in everything if sample.service)),
    )


def _number(values: list[float]) -> Num:
    value = median(values) if values else 0.0
    return Num(COUNTED.number(value), value)


def _count(count: int) -> Num:
    return Num(f"{count:,}", float(count))
