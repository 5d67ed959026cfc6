"""Rules about columns that follow from others: recomputed within the printed rounding."""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from assay.rooms.importers.audit.tables.alternatives import Alternative, alternative
from assay.rooms.importers.audit.tables.cells import AuditedTable, TableFinding
from assay.rooms.importers.audit.tables.formulas import CellPlace, has_inputs, value_of
from assay.rooms.importers.audit.tables.intervals import Interval, StatedBound, combined, cut_off, last_place, rounded
from assay.rooms.importers.audit.tables.repeated import summary_function
from assay.rooms.importers.audit.tables.search import found_formulas
from assay.rooms.importers.work.table_formula import Node, formula_text, parse_formula
from assay.rooms.importers.work.table_roles import ColumnRole

MAX_FORMULA = 90
"""Most letters of a formula that a finding on a bound has."""
MAX_SHOWN = 3
"""Most cells of a column whose numbers a finding has."""


class Recomputed(NamedTuple):
    """A column that was recomputed.

    Attributes:
        heading: Its heading.
        formula: What its cells should follow from.
        is_stated: The roles file states the formula; else it was found by the heading.
        values: Row -> what the formula gives, for each row that has a printed number and all inputs.
        unknown: Rows with a printed number for which the formula gives nothing.
        factor: By which what the formula gives is multiplied in `values`.
    """

    heading: str
    formula: Node
    is_stated: bool
    values: dict[int, Interval]
    unknown: tuple[int, ...]
    factor: float = 1.0

    def wrong(self, table: AuditedTable) -> list[int]:
        """Return the rows whose printed number is not what the formula gives."""
        digits = table.columns[self.heading].digits
        return [row for row, value in self.values.items() if not rounded(digits[row]).overlaps(value)]

    def is_cut(self, table: AuditedTable, rows: Sequence[int]) -> bool:
        """Return whether the numbers of these rows are cut off instead of rounded."""
        digits = table.columns[self.heading].digits
        return all(cut_off(digits[row]).overlaps(self.values[row]) for row in rows)


def recomputed(table: AuditedTable) -> Iterator[Recomputed]:
    """Yield each column whose formula is stated, and each whose heading says one that is found."""
    for heading, role in table.roles.columns.items():
        if role.formula and heading in table.columns:
            yield _computed(table, heading, parse_formula(role.formula), role, is_stated=True)
    for found in found_formulas(table):
        yield _computed(table, found.heading, found.formula, table.roles.columns[found.heading], is_stated=False)


def _computed(table: AuditedTable, heading: str, formula: Node, role: ColumnRole, is_stated: bool) -> Recomputed:
    values, unknown = {}, []
    for row in table.rows():
        # A row that sums up others may follow its column, or its row: `summary_rows` has it.
        if not table.columns[heading].digits[row] or summary_function(table, row):
            continue
        place = CellPlace(table, row, role)
        value = value_of(formula, place) if has_inputs(formula, place) else None
        if value is None:
            unknown.append(row)
        else:
            values[row] = value
    return Recomputed(heading, formula, is_stated, values, tuple(unknown))


def derived_cells(table: AuditedTable) -> Iterator[TableFinding]:
    """Yield derived columns with cells that are not what their formula gives, and which formula does give them."""
    for column in recomputed(table):
        wrong, _, other = _explained(table, column)
        for rows in [wrong] if other and wrong else [[row] for row in wrong]:
            text = f"{_cells(table, column, rows)}{f': {other.words}' if other else ''}"
            numbers = {"formula": formula_text(column.formula), "cells": len(rows)}
            lines = tuple(table.lines[row] for row in rows[1:])
            yield TableFinding(table.lines[rows[0]], column.heading, text, numbers, lines)


def cut_cells(table: AuditedTable) -> Iterator[TableFinding]:
    """Yield derived columns with cells that are cut off where rounding gives another last digit.

    If all cells follow with a factor, such as 1000 for 1024, they are compared with what that gives.
    """
    for column in recomputed(table):
        wrong, cut, other = _explained(table, column)
        if other is not None and other.factor is not None and len(wrong) == len(column.values):
            by = Interval(other.factor, other.factor)
            values = {row: combined("*", value, by) or value for row, value in column.values.items()}
            column = column._replace(values=values, factor=other.factor)
            _, cut = _wrong_and_cut(table, column)
        if cut:
            text = f"{_cells(table, column, cut)}: cut off instead of rounded"
            lines = tuple(table.lines[row] for row in cut[1:])
            yield TableFinding(table.lines[cut[0]], column.heading, text, {"cells": len(cut)}, lines)


class BoundedCell(NamedTuple):
    """A cell of a derived column that is a bound, such as `<1`, with what its formula gives."""

    heading: str
    row: int
    bound: StatedBound
    formula: Node
    value: Interval


def bounded_cells(table: AuditedTable) -> Iterator[BoundedCell]:
    """Yield the cells of derived columns that are bounds, of which the formula gives something."""
    for heading, role in table.roles.columns.items():
        if not role.formula or heading not in table.columns:
            continue
        formula = parse_formula(role.formula)
        for row in table.rows():
            bound = StatedBound.read(table.columns[heading].texts[row])
            value = None if bound is None else value_of(formula, CellPlace(table, row, role))
            if bound is not None and value is not None:
                yield BoundedCell(heading, row, bound, formula, value)


def stated_bounds(table: AuditedTable) -> Iterator[TableFinding]:
    """Yield cells that are bounds which what their formula gives is not within."""
    yield from _exceeded_bounds(table, of_words=False)


def bounds_of_words(table: AuditedTable) -> Iterator[TableFinding]:
    """Yield the same for bounds that a reader has put for words of a text, such as `<1.5?`."""
    yield from _exceeded_bounds(table, of_words=True)


def _exceeded_bounds(table: AuditedTable, of_words: bool) -> Iterator[TableFinding]:
    for cell in bounded_cells(table):
        if cell.bound.is_of_words is not of_words or cell.bound.allows(cell.value):
            continue
        text = table.columns[cell.heading].texts[cell.row].rstrip(" ?")
        shown = f"{cell.value.middle:#.3g}".rstrip(".")
        how = formula_text(cell.formula)
        how = how if len(how) <= MAX_FORMULA else "what follows from other cells"
        words = f"{how} is {shown} in `{table.described(cell.row)}`, not {text}"
        yield TableFinding(table.lines[cell.row], cell.heading, words, {"computed": shown, "stated": text})


def other_formula(table: AuditedTable) -> Iterator[TableFinding]:
    """Yield columns whose heading says another formula than the one that all their cells follow."""
    for found in found_formulas(table):
        if found.instead:
            text = f"all {found.cells} cells are {formula_text(found.formula)}, and the heading says {found.instead}"
            yield TableFinding(table.source.line, found.heading, text, {"formula": formula_text(found.formula)})


def _explained(table: AuditedTable, column: Recomputed) -> tuple[list[int], list[int], Alternative | None]:
    """Return the wrong rows, those that are cut off, and what gives the wrong ones.

    Rows that follow if they were cut off are wrong, too, if one other formula gives both kinds.
    """
    wrong, cut = _wrong_and_cut(table, column)
    if not wrong:
        return [], cut, None
    both = sorted([*wrong, *cut])
    other = alternative(table, column.heading, column.formula, column.values, both)
    if other is not None:
        return both, [], other
    return wrong, cut, alternative(table, column.heading, column.formula, column.values, wrong) if cut else None


def _wrong_and_cut(table: AuditedTable, column: Recomputed) -> tuple[list[int], list[int]]:
    """Return the rows whose numbers do not follow from the formula, and those that do if they were cut off."""
    found = column.wrong(table)
    cut = [row for row in found if column.is_cut(table, [row])]
    return [row for row in found if row not in set(cut)], cut


def _cells(table: AuditedTable, column: Recomputed, rows: Sequence[int]) -> str:
    """Return the formula, and what it gives beside what is printed: `a / b is 2.263 in Option 1, not 2.06`."""
    digits = table.columns[column.heading].digits
    parts = []
    for row in rows[:MAX_SHOWN]:
        value = column.values[row].middle
        places = last_place(digits[row]) / 10
        shown = f"{value:.10g}" if value == int(value) else f"{value:.{max(0, _places(places))}f}"
        parts.append(f"{shown} in `{table.described(row)}`, not {digits[row]}")
    more = f", and {len(rows) - MAX_SHOWN} more" if len(rows) > MAX_SHOWN else ""
    times = f" x {column.factor:.6g}" if column.factor != 1 else ""
    return f"{formula_text(column.formula)}{times} is {'; '.join(parts)}{more}"


def _places(place: float) -> int:
    count = 0
    while place < 0.99 and count < 12:
        place, count = place * 10, count + 1
    return count
