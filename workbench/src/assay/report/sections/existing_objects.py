"""Data sets that existed before the run, and the objects in them that were read."""

from collections.abc import Callable, Iterable

from assay.analyse.usable import usable
from assay.model.result.objects import ExistingObjects
from assay.report import numbers
from assay.report.document import Cell, Column, Num, Table
from assay.report.view import RunView

_CAPTION = (
    "Objects that existed before the run; the run only reads them. Each repeat drew a new uniform random sample from "
    "the list, as many objects as its lanes use. Two numbers: the least and the greatest of all repeats that count."
)


def existing_objects_table(view: RunView) -> Table | None:
    """Return a table with a row for each target and workload with existing objects; None without any."""
    found: dict[tuple[str, str], list[ExistingObjects]] = {}
    for row in view.analysis.rows:
        data_sets = [sample.existing for sample in usable(row.samples) if sample.existing is not None]
        if data_sets:
            found.setdefault((row.case.target, row.case.workload), []).extend(data_sets)
    if not found:
        return None
    columns = (
        Column("Target"),
        Column("Workload"),
        Column("In the list", "objects", is_numeric=True),
        Column("In the list", "bytes", is_numeric=True),
        Column("Drawn", "objects", is_numeric=True),
        Column("Drawn", "bytes", is_numeric=True),
        Column("Smallest", is_numeric=True),
        Column("Median", is_numeric=True),
        Column("Largest", is_numeric=True),
    )
    lines = tuple((target, workload, *_cells(data_sets)) for (target, workload), data_sets in found.items())
    return Table("existing-table", columns, lines, _CAPTION)


def _cells(data_sets: list[ExistingObjects]) -> tuple[Cell, ...]:
    return (
        _span((one.listed for one in data_sets), _count),
        _span((one.listed_bytes for one in data_sets), numbers.size),
        _span((one.objects for one in data_sets), _count),
        _span((one.bytes for one in data_sets), numbers.size),
        _span((one.smallest_bytes for one in data_sets), numbers.size),
        _span((one.median_bytes for one in data_sets), numbers.size),
        _span((one.largest_bytes for one in data_sets), numbers.size),
    )


def _count(value: float) -> str:
    return f"{value:,.0f}"


def _span(values: Iterable[int], words: Callable[[float], str]) -> Num:
    """Return the number if all are equal, else the least and the greatest."""
    known = sorted(set(values))
    least, greatest = words(known[0]), words(known[-1])
    return Num(least if least == greatest else f"{least} to {greatest}", float(known[-1]))
