"""Rules about columns that follow from others: recomputed within the printed rounding."""

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from assay.model.units import about_number, format_size
from assay.rooms.importers.audit.tables.alternatives import FACTORS, Alternative, alternative
from assay.rooms.importers.audit.tables.cells import AuditedTable, TableColumn, TableFinding
from assay.rooms.importers.audit.tables.formulas import CellPlace, has_inputs, value_of, with_operands
from assay.rooms.importers.audit.tables.intervals import Interval, StatedBound, combined, cut_off, last_place, rounded
from assay.rooms.importers.audit.tables.repeated import summary_function
from assay.rooms.importers.audit.tables.search import found_formulas
from assay.rooms.importers.work.table_formula import Node, formula_text, parse_formula
from assay.rooms.importers.work.table_roles import COMMENT, POINT, ColumnRole

MAX_FORMULA = 90
"""Most letters of a formula that a finding on a bound has."""
MAX_POINTS = 4
"""Most points that a finding on a bound names."""
UNIT_MISTAKES = ("1000 for 1024", "1024 for 1000", "2^20 for 10^6", "10^6 for 2^20", "2^30 for 10^9", "10^9 for 2^30")
"""Words for factors that are units taken for each other."""
FACTOR_OF_SIZES = {"bytes": 1, "KiB": 1024, "MiB": 1024**2, "GiB": 1024**3}
"""Unit of points that are sizes -> bytes."""
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
        if _is_convention(other, column, wrong):
            continue
        for rows in [wrong] if other and wrong else [[row] for row in wrong]:
            yield _finding(table, column, rows, other)


def unit_conventions(table: AuditedTable) -> Iterator[TableFinding]:
    """Yield derived columns whose cells follow with 1000 for 1024, or the other way round."""
    for column in recomputed(table):
        wrong, _, other = _explained(table, column)
        if wrong and _is_convention(other, column, wrong):
            yield _finding(table, column, wrong, other)


def _is_convention(other: Alternative | None, column: Recomputed, wrong: Sequence[int]) -> bool:
    """Return whether half of a column or more is in another unit: a few such cells among others are mistakes."""
    is_unit = other is not None and other.factor is not None and FACTORS[other.factor] in UNIT_MISTAKES
    return is_unit and 2 * len(wrong) >= len(column.values)


def _finding(table: AuditedTable, column: Recomputed, rows: Sequence[int], other: Alternative | None) -> TableFinding:
    text = f"{_cells(table, column, rows)}{f': {other.words}' if other else ''}"
    numbers = {"formula": formula_text(column.formula), "cells": len(rows)}
    lines = tuple(table.lines[row] for row in rows[1:])
    words = f"; {_without_signs(other.words)}" if other else ""
    plain = f"{_plain_cells(table, column, rows)}{words}"
    return TableFinding(table.lines[rows[0]], column.heading, text, numbers, lines, plain)


def _without_signs(text: str) -> str:
    """Return words with blanks in place of the signs that join the words of headings."""
    return re.sub(r"(?<=\w)_(?=\w)", " ", text)


def _plain_cells(table: AuditedTable, column: Recomputed, rows: Sequence[int]) -> str:
    """Return the claim, and of each cell what goes in, what it gives, and what is printed."""
    digits, role = table.columns[column.heading].digits, table.roles.columns[column.heading]
    parts = []
    for row in rows[:MAX_SHOWN]:
        how = with_operands(column.formula, CellPlace(table, row, role))
        of = f"{table.shortly_described(row)}: " if table.shortly_described(row) else ""
        parts.append(f"{of}{how} = {_result(column.values[row].middle, digits[row])}, printed {digits[row]}")
    more = f"; and {len(rows) - MAX_SHOWN} more" if len(rows) > MAX_SHOWN else ""
    return f"{_claim(role, column.heading)}: {'; '.join(parts)}{more}"


def _result(value: float, printed: str) -> str:
    """Return a value with one place more than the printed number has, and four digits at least."""
    text = f"{value:,.{max(0, _places(last_place(printed) / 10))}f}"
    return text if value == 0 or abs(value) >= 1 else f"{value:.4g}"


def _claim(role: ColumnRole, heading: str) -> str:
    return role.claim or _without_signs(heading)


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
            plain = f"{_plain_cells(table, column, cut)}: cut off instead of rounded"
            yield TableFinding(table.lines[cut[0]], column.heading, text, {"cells": len(cut)}, lines, plain)


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
    """Yield bounds that what their formula gives is not within, at most of the points that they are stated for."""
    return (found for is_most, found in _exceeded_bounds(table, of_words=False) if is_most)


def bounds_at_most_points(table: AuditedTable) -> Iterator[TableFinding]:
    """Yield bounds that hold at half of the points or more that they are stated for, and not at all of them."""
    return (found for is_most, found in _exceeded_bounds(table, of_words=False) if not is_most)


def bounds_of_words(table: AuditedTable) -> Iterator[TableFinding]:
    """Yield the same for bounds that a reader has put for words of a text, such as `<1.5?`."""
    return (found for _, found in _exceeded_bounds(table, of_words=True))


def _exceeded_bounds(table: AuditedTable, of_words: bool) -> Iterator[tuple[bool, TableFinding]]:
    """Yield whether a bound fails at most of its points, and what is to be said of it."""
    points = [each for each in table.columns.values() if table.role(each.heading) == POINT]
    notes = [each for each in table.columns.values() if table.role(each.heading) == COMMENT]
    groups: dict[tuple[str, ...], list[BoundedCell]] = {}
    for cell in bounded_cells(table):
        if cell.bound.is_of_words is of_words:
            text = table.columns[cell.heading].texts[cell.row]
            own = tuple(each.texts[cell.row] for each in notes) if points else (str(cell.row),)
            groups.setdefault((cell.heading, text, *own), []).append(cell)
    for cells in groups.values():
        outside = [cell for cell in cells if not cell.bound.allows(cell.value)]
        if outside:
            yield 2 * len(outside) > len(cells), _exceeded(table, cells, outside)


def _exceeded(table: AuditedTable, cells: Sequence[BoundedCell], outside: Sequence[BoundedCell]) -> TableFinding:
    """Return what is to be said of cells with one bound: the first value that is not within, or at how many points."""
    cell = outside[0]
    text = table.columns[cell.heading].texts[cell.row].rstrip(" ?")
    shown = f"{cell.value.middle:#.3g}".rstrip(".")
    how = formula_text(cell.formula)
    how = how if len(how) <= MAX_FORMULA else "what follows from other cells"
    words = f"{how} is {shown} in `{table.described(cell.row)}`, not {text}"
    role = table.roles.columns[cell.heading]
    operands = with_operands(cell.formula, CellPlace(table, cell.row, role))
    of = table.shortly_described(cell.row)
    plain = f"{_claim(role, cell.heading)}: {f'{of}: ' if of else ''}{operands} = {shown}, not {text}"
    if len(cells) > 1:
        held = f"{text} holds at {len(cells) - len(outside)} of {len(cells)} points"
        not_at = [f"{_point(table, each.row)} ({about_number(each.value.middle)})" for each in outside[:MAX_POINTS]]
        more = f" and {len(outside) - MAX_POINTS} more" if len(outside) > MAX_POINTS else ""
        words = f"{words}; {held}"
        of = " ".join(dict.fromkeys(each.texts[cell.row] for each in _notes(table)))
        plain = f"{_claim(role, cell.heading)}: {f'{of}: ' if of else ''}{held}, not at {', '.join(not_at)}{more}"
    numbers = {"computed": shown, "stated": text, "points": len(cells), "outside": len(outside)}
    lines = tuple(table.lines[each.row] for each in outside[1:])
    return TableFinding(table.lines[cell.row], cell.heading, words, numbers, lines, plain)


def _notes(table: AuditedTable) -> list[TableColumn]:
    """Return the columns of notes that say of what a bound is, without those of places."""
    places = ("place", "section", "where")
    return [each for name, each in table.columns.items() if table.role(name) == COMMENT and name not in places]


def _point(table: AuditedTable, row: int) -> str:
    """Return the point of a row in words: `128 MiB`."""
    words = []
    for name, column in table.columns.items():
        role = table.roles.columns.get(name)
        if role is not None and role.role == POINT:
            unit = FACTOR_OF_SIZES.get(role.unit)
            digits = column.digits[row]
            size = format_size(int(float(digits) * unit)) if unit and digits else ""
            words.append(re.sub(r"(?<=\d)(?=[A-Z])", " ", size) or column.texts[row])
    return " against ".join(words)


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
