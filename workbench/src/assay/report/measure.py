"""The quantity that a result is given in: bytes or operations per second."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from assay.model.study.commands import REPLAY
from assay.model.study.names import TIMED, group_of, is_counted
from assay.report import numbers

if TYPE_CHECKING:
    from assay.model.result.result import ResultRow


@dataclass(frozen=True, slots=True)
class Measure:
    """A quantity per second, or a time.

    Attributes:
        title: Name for headings.
        unit: Printed after a number or under a heading.
        scale: Divides a stored rate to give a number in `unit`.
        is_count: It counts operations, not bytes.
        time: The time that it is: `wall clock`, or another one (`assay.report.measure_time`); empty: it is a rate.
    """

    title: str
    unit: str
    scale: float
    is_count: bool
    time: str = ""

    @property
    def axis_title(self) -> str:
        """Title of an axis, with the unit."""
        return f"{self.title} ({self.unit})"

    @property
    def label(self) -> str:
        """The unit, for the end of a line's label: `MB/s`, `wall clock in s`."""
        return f"{self.time} in {self.unit}" if self.time else self.unit

    def number(self, per_second: float | None) -> str:
        """Return a rate in `unit`, without the unit."""
        return numbers.NONE if per_second is None else numbers.significant(per_second / self.scale)

    def text(self, per_second: float | None) -> str:
        """Return a rate with its unit."""
        return f"{self.number(per_second)} {self.unit}"


DATA = Measure("Throughput", "MB/s", 1e6, is_count=False)
COUNTED = Measure("Rate", "operations/s", 1.0, is_count=True)
TASKS = Measure("Rate", "tasks/s", 1.0, is_count=True)
REPLAYS = Measure("Rate", "replays/s", 1.0, is_count=True)
IOPS = Measure("IOPS", "IOPS", 1.0, is_count=True)
REPLAYS_NOTE = "Replays/s: at a recorded pace how often the I/O of a copy fits into a second, without its pauses"
"""What `REPLAYS` are, for the foot of a table."""
MEASURES = (DATA, COUNTED, TASKS, REPLAYS)
"""The measures of operations."""
_SMALL = 16 * 1024
"""Up to this record size, in bytes, rates are given in operations per second."""


def has_small_records(row: "ResultRow") -> bool:
    """Return whether a result moved data in records of at most 16 KiB, so that IOPS matter more than throughput."""
    size = row.case.parameters.get_value("record_size")
    return not row.is_counted and row.iops is not None and isinstance(size, int) and size <= _SMALL


def measure_of(operation: str) -> Measure:
    """Return the measure of an operation, or of the label of a row."""
    if group_of(operation) == "programs":
        return REPLAYS if operation.split(" ", 1)[0] == REPLAY else TASKS
    return COUNTED if is_counted(operation) else DATA


def works_without_storage(rows: "Iterable[ResultRow]") -> bool:
    """Return whether some results are of networks or applications, so that a report is not of storage alone."""
    return any(group_of(row.operation) == "other" for row in rows)


def mean_time(row: "ResultRow") -> float | None:
    """Return the median of the mean times of a result's repeats in ns; None where it is not shown."""
    if row.operation.split(" ", 1)[0] not in TIMED:
        return None
    means = [sample.latency["mean"] for sample in row.samples if "mean" in sample.latency]
    return numbers.median(means) if means else None


def measures_of(rows: "Iterable[ResultRow]") -> list[Measure]:
    """Return the measures that these rows need: `DATA`, `COUNTED` or both, in this order."""
    listed = list(rows)
    found = {row.is_counted for row in listed}
    measures = {measure_of(row.operation) for row in listed if row.is_counted}
    counted = measures.pop() if len(measures) == 1 else COUNTED
    return [measure for measure in (DATA, counted) if measure.is_count in found]
