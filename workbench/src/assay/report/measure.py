"""What a result is counted in: bytes or operations per second."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from assay.model.study.names import is_counted
from assay.report import numbers

if TYPE_CHECKING:
    from assay.model.result.result import Row


@dataclass(frozen=True, slots=True)
class Measure:
    """A quantity per second.

    Attributes:
        title: Its name for headings.
        unit: Printed after a number or under a heading.
        scale: How many of what is stored make one of the unit.
        counted: It is operations, not bytes.
    """

    title: str
    unit: str
    scale: float
    counted: bool

    @property
    def axis(self) -> str:
        """Title of an axis."""
        return f"{self.title} ({self.unit})"

    def number(self, per_second: float | None) -> str:
        """A value without its unit."""
        return numbers.NONE if per_second is None else numbers.significant(per_second / self.scale)

    def text(self, per_second: float | None) -> str:
        """A value with its unit."""
        return f"{self.number(per_second)} {self.unit}"


DATA = Measure("Throughput", "MB/s", 1e6, counted=False)
COUNTED = Measure("Rate", "operations/s", 1.0, counted=True)
IOPS = Measure("IOPS", "IOPS", 1.0, counted=True)
_SMALL = 16 * 1024
"""Up to this record size, in bytes, operations per second say more than MB/s."""


def is_small(row: "Row") -> bool:
    """It moved data in records so small that their number per second matters, not their bytes."""
    size = row.case.parameters.known("record_size")
    return not row.counted and row.iops is not None and isinstance(size, int) and size <= _SMALL


def measure_of(operation: str) -> Measure:
    """What an operation, or the label of a row, is counted in."""
    return COUNTED if is_counted(operation) else DATA


def measures_of(rows: "Iterable[Row]") -> list[Measure]:
    """What these rows are counted in: at most both, data first."""
    found = {row.counted for row in rows}
    return [measure for measure in (DATA, COUNTED) if measure.counted in found]
