"""What the figures of one result of a table say of its rates, counts and latencies."""

from collections.abc import Mapping
from decimal import Decimal

from assay.model.result.percentile import PERCENTILES
from assay.model.study.axis import AxisValue
from assay.model.study.names import WORK, is_counted
from assay.rooms.importers.work.figure_units import convert
from assay.rooms.importers.work.results import Figure, Measurement, OutputError
from assay.rooms.importers.work.table_text import TextRow

_MAX_RATIO = 2
"""Most by which throughput and IOPS times record size may differ: rounded figures differ less, wrong units more."""
_NS = Decimal(10**9)
_STORED = ("min", "mean", *PERCENTILES, "max")
"""Latencies that a run has; others are figures only."""


def measurement_of(
    figures: Mapping[str, Figure], operation: str, parameters: Mapping[str, AxisValue], row: TextRow
) -> tuple[Measurement | None, str]:
    """Return what a run has of a result; or None, and why it is left out.

    Args:
        figures: Role -> figure, those that there are.
        operation: One of `WORK`.
        parameters: Its parameters.
        row: Where it is.

    Raises:
        OutputError: The figures contradict each other.
    """
    values = {role: convert(one.text, one.unit) if one.unit else Decimal(one.text) for role, one in figures.items()}
    record = parameters.get("record_size")
    throughput, iops = _rates(values, record if isinstance(record, int) else None, operation, row)
    counted = is_counted(operation)
    rate = iops if counted else throughput
    if rate is None:
        return None, _why_missing(values, counted)
    if not rate:
        return None, "its rate is 0"
    counts = _counts(values, record if isinstance(record, int) else None, operation)
    ops, size = counts or (0, 0)
    work = WORK[operation]
    return Measurement(
        status="done",
        has_counts=counts is not None,
        ops=ops,
        bytes=size,
        read_bytes=size if work.reads else 0,
        write_bytes=size if work.writes else 0,
        throughput=float(throughput or 0),
        iops=None if iops is None else float(iops),
        elapsed_ns=int(values["time"]) if values.get("time") else None,
        latency={name: float(values[f"latency_{name}"]) for name in _STORED if f"latency_{name}" in values},
    ), ""


def _why_missing(values: Mapping[str, Decimal], counted: bool) -> str:
    if not counted and "iops" in values:
        return "its throughput is not known: it has operations per second, and no record_size"
    return f"it has no {'operations per second' if counted else 'throughput'}"


def _rates(
    values: Mapping[str, Decimal], record: int | None, operation: str, row: TextRow
) -> tuple[Decimal | None, Decimal | None]:
    """Return bytes and operations per second; None for what is not known.

    Raises:
        OutputError: They contradict each other.
    """
    seconds = values.get("time", Decimal(0)) / _NS
    throughput, iops = values.get("throughput"), values.get("iops")
    if throughput is None and seconds and "bytes" in values:
        throughput = values["bytes"] / seconds
    if iops is None and seconds and "ops" in values:
        iops = values["ops"] / seconds
    if record is None or is_counted(operation):
        return throughput, iops
    if throughput is None:
        return None if iops is None else iops * record, iops
    if iops is None:
        return throughput, throughput / record
    if throughput and iops and not 1 / Decimal(_MAX_RATIO) <= iops * record / throughput <= _MAX_RATIO:
        message = f"throughput is {float(throughput):.4g} B/s, but iops x record_size is {float(iops * record):.4g} B/s"
        raise OutputError(row.line, message, "mend the units in the roles file, or the number")
    return throughput, iops


def _counts(values: Mapping[str, Decimal], record: int | None, operation: str) -> tuple[int, int] | None:
    """Return operations and bytes, if both are known exactly and are of one direction; else None."""
    ops, size, work = values.get("ops"), values.get("bytes"), WORK[operation]
    if work.reads and work.writes:
        return None
    if not work.reads and not work.writes:
        size = Decimal(0)
    elif record and size is not None and ops is None and not size % record:
        ops = size / record
    elif record and ops is not None and size is None:
        size = ops * record
    if ops is None or size is None or ops != int(ops) or size != int(size):
        return None
    return int(ops), int(size)
