"""Tables of results that an author orders: rows, columns, and one value in each cell."""

from collections.abc import Mapping, Sequence
from itertools import product
from typing import Annotated, Literal

from pydantic import Field

from assay.model.base import AssayError
from assay.model.study.axis import AxisValue
from assay.report import numbers
from assay.report.document import Cell as TableCell
from assay.report.document import Column, Num, Table
from assay.report.selection import facts
from assay.report.selection.captions import part_words, selection_words
from assay.report.selection.cells import Key, ResultCell, Selection
from assay.report.selection.options import SelectionOptions, Words
from assay.report.selection.properties import heading_words, property_title, value_words
from assay.report.selection.quantities import DisplayUnit, shown_unit
from assay.report.view import RunView

MAX_CELLS = 400
"""Most cells of one table."""
MAX_ROWS = 60
"""With more rows, a page lets the reader sort and filter the table."""
MAX_TABLES = 60
"""Most tables of one part."""
_MAX_UNITS = 8
"""With more columns of values, the unit that all have stands in the caption."""


class TableOptions(SelectionOptions):
    """Options of a table.

    Attributes:
        rows: Properties whose values are the rows.
        columns: Properties whose values are the columns; empty: one column.
        sort: Rows in the order of their names, or of the first column's values, the greatest first.
        decimals: Decimals of all values; None: three significant digits.
    """

    rows: Words = Field(min_length=1)
    columns: Words = ()
    sort: Literal["name", "value"] = "name"
    decimals: Annotated[int | None, Field(ge=0, le=9)] = None


def table_blocks(
    options: TableOptions, views: Mapping[str, RunView], max_cells: int = MAX_CELLS, has_origins: bool = True
) -> list[Table]:
    """Return the tables that are ordered, each with what its marks mean below it.

    Args:
        options: The order.
        views: The chosen runs by name.
        max_cells: Most cells of one table.
        has_origins: Captions state where and when the runs were measured, if that differs.

    Raises:
        AssayError: The order names something that does not exist, chooses nothing, or too much.
    """
    keys = (*options.split, *options.rows, *options.columns)
    if doubled := [key for key in keys if keys.count(key) > 1]:
        raise AssayError(f"`{doubled[0]}` stands there twice", "leave it out of rows, columns or split")
    selection = Selection(options, views)
    cells = selection.cells(keys)
    if all(cell.figure is None for cell in cells.values()):
        raise AssayError(f"no chosen result has this value: {selection.quantity.missing}", "choose another value")
    parts = split_cells(selection, cells)
    if len(parts) > MAX_TABLES:
        raise AssayError(f"there would be {len(parts)} tables", f"at most {MAX_TABLES}; choose some with where")
    columns = ordered_keys(selection, options.columns, [key[len(keys) - len(options.columns) :] for key in cells])
    writers = [_TableWriter(selection, options, part, found, max_cells, columns) for part, found in parts.items()]
    return [writer.table(has_origins) for writer in writers]


def split_cells(selection: Selection, cells: Mapping[Key, ResultCell]) -> dict[Key, dict[Key, ResultCell]]:
    """Return the cells of each table or picture, in order, by its values of `split` and by the other properties."""
    count = len(selection.options.split)
    found: dict[Key, dict[Key, ResultCell]] = {}
    for part in ordered_keys(selection, selection.options.split, [key[:count] for key in cells]):
        found[part] = {key[count:]: cell for key, cell in cells.items() if key[:count] == part}
    return found


def ordered_keys(selection: Selection, names: Sequence[str], keys: Sequence[Key]) -> list[Key]:
    """Return keys in the order of their values, each once."""
    orders = [selection.sorted_values(name, selection.results) for name in names]
    places = [{value: place for place, value in enumerate(order)} for order in orders]
    return sorted(set(keys), key=lambda key: [place[value] for place, value in zip(places, key, strict=True)])


class _TableWriter:
    """Writes one table."""

    def __init__(
        self,
        selection: Selection,
        options: TableOptions,
        part: Key,
        cells: Mapping[Key, ResultCell],
        max_cells: int,
        every_column: Sequence[Key],
    ) -> None:
        self._selection, self._options, self._part, self._cells = selection, options, part, cells
        count = len(options.rows)
        self._columns = ordered_keys(selection, options.columns, [key[count:] for key in cells])
        self._without = [column for column in every_column if column and column not in self._columns]
        rows = ordered_keys(selection, options.rows, [key[:count] for key in cells])
        if len(rows) * len(self._columns) > max_cells:
            raise AssayError(
                f"the table would have {len(rows)} rows and {len(self._columns)} columns of values",
                f"at most {max_cells} cells; choose some with where, or make several tables with split",
            )
        self._units = {column: self._unit(column) for column in self._columns}
        self._rows = self._sorted(rows) if options.sort == "value" else rows
        self._marks = facts.Marks(selection, cells.values())
        self._lacking = facts.lacking_points(selection, (*options.rows, *options.columns), cells)
        for key, words in self._lacking.items():
            self._marks.add_lacking(cells[key], words)

    def table(self, has_origins: bool) -> Table:
        """Return the table; `has_origins`: its caption states where and when runs were measured."""
        counts = self._counts()
        heads = [Column(property_title(name)) for name in self._options.rows]
        shared = self._shared_unit
        values = [
            Column(self._column_title(column), "" if shared else self._units[column].name, is_numeric=True)
            for column in self._columns
        ]
        last = [Column("Number of values", is_numeric=True)] if counts else []
        rows = [
            (
                *self._row_heads(row),
                *(self._cell(row, column) for column in self._columns),
                *([counts[row]] if counts else []),
            )
            for row in self._rows
        ]
        notes, more = self._marks.notes(), self._marks.common_sentences()
        origins = facts.mixture_sentence(self._cells.values()) if has_origins else ""
        caption = self._caption(bool(counts), origins, "" if notes else " ".join(more))
        below = " ".join([*notes, *more]) if notes else ""
        return Table("table", (*heads, *values, *last), tuple(rows), caption, len(rows) > MAX_ROWS, below)

    @property
    def _shared_unit(self) -> str:
        """The unit for the caption, if all of many columns have it; else empty."""
        texts = {unit.name for unit in self._units.values()}
        return texts.pop() if len(texts) == 1 and len(self._columns) > _MAX_UNITS else ""

    def _unit(self, column: Key) -> DisplayUnit:
        """Return the unit of a column."""
        count = len(self._options.rows)
        cells = [cell for key, cell in self._cells.items() if key[count:] == column]
        results = [one for cell in cells for one in cell.results] or self._selection.results
        values = [cell.figure.value for cell in cells if cell.figure is not None]
        return shown_unit(self._selection.quantity, results, self._options.unit, values)

    def _sorted(self, rows: list[Key]) -> list[Key]:
        def value(row: Key) -> float:
            cell = self._cells.get((*row, *self._columns[0]))
            return float("-inf") if cell is None or cell.figure is None else cell.figure.value

        return sorted(rows, key=value, reverse=True)

    def _column_title(self, column: Key) -> str:
        if not column:
            return self._selection.quantity.title_of(self._selection.results[0])
        words = [heading_words(key, value) for key, value in zip(self._options.columns, column, strict=True)]
        return ", ".join(words)

    def _row_heads(self, row: Key) -> list[TableCell]:
        return [_head(key, value) for key, value in zip(self._options.rows, row, strict=True)]

    def _cell(self, row: Key, column: Key) -> Num:
        cell = self._cells.get((*row, *column))
        if cell is None or cell.figure is None:
            return Num(numbers.NONE, None)
        text = figure_words(cell, self._units[column], self._options.decimals, self._selection.quantity.has_interval)
        return Num(f"{text}{self._marks.of(cell)}", cell.figure.value)

    def _counts(self) -> dict[Key, Num]:
        """Return for each row of how many values its cells are; empty if all are of equally many, or of one."""
        if not self._selection.summary:
            return {}
        found = {len(cell.points) for cell in self._cells.values() if cell.points}
        if len(found) == 1:
            return {}
        counts = {}
        for row in self._rows:
            cells = [self._cells.get((*row, *column)) for column in self._columns]
            each = [len(cell.points) if cell is not None else 0 for cell in cells]
            text = f"{each[0]}" if len(set(each)) == 1 else ", ".join(map(str, each))
            counts[row] = Num(text, float(max(each)))
        return counts

    def _caption(self, has_counts: bool, origins: str, verdicts: str) -> str:
        quantity, cells = self._selection.quantity, self._cells.values()
        title = self._options.caption or selection_words(
            self._selection, self._part, (*self._options.rows, *self._options.columns), self._shared_unit
        )
        if self._options.caption and self._part:
            title = f"{part_words(self._selection, self._part, is_title=True)}. {title}"
        unit = f"In {self._shared_unit}." if self._shared_unit and self._options.caption else ""
        texts = [
            title if title.endswith((".", "!", "?")) else f"{title}.",
            unit,
            "In brackets: 95 % interval." if quantity.has_interval and self._has_intervals else "",
            facts.summary_sentence(self._selection, cells, has_counts),
            facts.repeats_sentence(self._selection, cells),
            origins,
            quantity.remark(self._selection.results),
            f"{numbers.NONE}: {quantity.missing}." if self._has_gaps else "",
            f"No value: {numbers.listing([self._column_title(one) for one in self._without])}."
            if self._without
            else "",
            verdicts,
        ]
        return " ".join(text for text in texts if text)

    @property
    def _has_intervals(self) -> bool:
        return any(cell.figure is not None and cell.figure.low is not None for cell in self._cells.values())

    @property
    def _has_gaps(self) -> bool:
        cells = [self._cells.get((*row, *column)) for row, column in product(self._rows, self._columns)]
        return any(cell is None or cell.figure is None for cell in cells)


def figure_words(cell: ResultCell, unit: DisplayUnit, decimals: int | None = None, has_interval: bool = False) -> str:
    """Return the value of a cell in its unit, without the unit."""
    if cell.figure is None:
        return numbers.NONE
    if unit.dimension == "count" and cell.figure.value == round(cell.figure.value):
        decimals = decimals or 0
    words = _number(cell.figure.value / unit.scale, decimals)
    if has_interval and cell.figure.low is not None and cell.figure.high is not None:
        low, high = (_number(end / unit.scale, decimals) for end in (cell.figure.low, cell.figure.high))
        words += f" ({low} to {high})"
    return words


def _number(value: float, decimals: int | None) -> str:
    if decimals is not None:
        return f"{value:,.{decimals}f}"
    return numbers.significant(value)


def _head(key: str, value: AxisValue) -> TableCell:
    """Return the first cell of a row; numbers sort by value."""
    words = heading_words(key, value) if key == "operation" else value_words(key, value)
    return words if isinstance(value, str | bool | None) else Num(words, float(value))
