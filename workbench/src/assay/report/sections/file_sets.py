"""Operations on sets of files: how many files there were, were opened and closed, and how much data was moved."""

from collections.abc import Iterator
from statistics import median

from assay.analyse.usable import usable
from assay.model.partial import MissingValue
from assay.model.result.result import ResultRow
from assay.model.result.sample import Sample
from assay.report import numbers
from assay.report.document import Cell, Column, Num, Table
from assay.report.sections.leading_columns import LEADING_COLUMNS, leading_cells
from assay.report.view import RunView

_MAX_ROWS = 500


def file_sets_table(view: RunView) -> Table | None:
    """Return a table with a row for each result on a set of files; None without any."""
    mixed = any(row.operation == "file_mix" for row in view.analysis.rows)
    lines = [(*line, *(_turns(row) if mixed else ())) for row in view.analysis.rows for line in _line(view, row)]
    if not lines:
        return None
    columns = (
        *LEADING_COLUMNS,
        Column("Files", "in the set", is_numeric=True),
        Column("Data", "in the set", is_numeric=True),
        Column("Opened", "files, created ones included", is_numeric=True),
        Column("Records", is_numeric=True),
        Column("Moved", is_numeric=True),
        Column("Flushed", "files", is_numeric=True),
        Column("Closed", "files", is_numeric=True),
        *((Column("Created / removed", "files"), Column("Stat calls", "files", is_numeric=True)) if mixed else ()),
        *((Column("File rate", "files/s", is_numeric=True),) if mixed else ()),
    )
    caption = (
        "Counts of one repeat, medians over the repeats that count. Throughput, operations and latencies of a result "
        "are those of its records alone; opening, flushing and closing files has rates and latencies of its own, in "
        "the table of kinds. The time of a result includes all of these."
    )
    return Table("file-sets-table", columns, tuple(lines[:_MAX_ROWS]), caption, is_interactive=True)


def _line(view: RunView, row: ResultRow) -> Iterator[tuple[Cell, ...]]:
    parameters, samples = row.case.parameters, usable(row.samples)
    if not parameters.is_on_set or not samples:
        return
    try:
        all_files, size = parameters.all_files, parameters.data_set_bytes
    except MissingValue:
        # Another tool's output need not say how many files there were; its own figures are under Imported.
        return
    yield (
        *leading_cells(view, row),
        Num(numbers.count(all_files), all_files),
        Num(numbers.size(size), size),
        _count([_of(sample, "open") + _of(sample, "create") for sample in samples]),
        _count([sample.ops for sample in samples]),
        _size([sample.bytes for sample in samples]),
        _count([_of(sample, "sync") for sample in samples]),
        _count([_of(sample, "close") for sample in samples]),
    )


def _turns(row: ResultRow) -> tuple[Cell, ...]:
    """Return the cells of a file mix: files made, removed and looked at, and files per second; empty for other rows."""
    samples = usable(row.samples)
    if row.operation != "file_mix":
        return ("", Num("", 0.0), Num("", 0.0))
    made, removed = (median([_of(sample, kind) for sample in samples]) for kind in ("create", "unlink"))
    turns = [sum(_of(sample, kind) for kind in ("open", "create", "stat", "unlink")) for sample in samples]
    rates = [count * 1e9 / sample.elapsed_ns for count, sample in zip(turns, samples, strict=True) if sample.elapsed_ns]
    rate = median(rates) if rates else 0.0
    stat_count = _count([_of(sample, "stat") for sample in samples])
    return (f"{made:,.0f} / {removed:,.0f}", stat_count, Num(numbers.significant(rate), rate))


def _of(sample: Sample, kind: str) -> int:
    return sum(counts.ops for counts in sample.kinds if counts.kind == kind)


def _count(values: list[int]) -> Num:
    return Num(f"{median(values):,.0f}", median(values))


def _size(values: list[int]) -> Num:
    return Num(numbers.size(median(values)), median(values))
