"""Rules about figures that a table has several times: rows that sum up others, and figures that stand in two places."""

import re
from collections.abc import Iterator
from itertools import islice

from assay.rooms.importers.audit.tables.cells import AuditedTable, TableColumn, TableFinding
from assay.rooms.importers.audit.tables.intervals import Interval, over_many, rounded
from assay.rooms.importers.work.table_roles import DERIVED

MIN_ABOVE = 2
"""Fewest rows that a row sums up."""
MIN_RIGHT, NEAR = 3, 0.2
"""Fewest rows, and largest distance, of a sum that is mistaken for one."""
MIN_ALIKE = 3
"""Fewest results with the same figures."""
MIN_DIGITS = 3
_SUMS = {
    "sum": "total|totals|sum|subtotal",
    "mean": "average|avg|avg.|mean|arithmetic mean",
    "median": "median",
    "min": "min|minimum",
    "max": "max|maximum",
}
_TIMES = {
    **dict.fromkeys(("hour", "hours", "hr", "hrs", "h"), "h"),
    **dict.fromkeys(("minute", "minutes", "min", "mins", "m"), "min"),
    **dict.fromkeys(("second", "seconds", "sec", "secs", "s"), "s"),
    **dict.fromkeys(("day", "days", "d"), "d"),
}
"""Unit of time as people write it -> one form."""
_OTHERS = {"sum": ("mean", "max"), "mean": ("median", "sum"), "median": ("mean",), "min": ("max",), "max": ("min",)}


def summary_rows(table: AuditedTable) -> Iterator[TableFinding]:
    """Yield cells of rows called total, average and the like that are not what the rows above give."""
    found = list(_summaries(table))
    right = {(row, column.heading) for row, above, function in found for column in _summed(table, row, above, function)}
    for row, above, function in found:
        for column in table.numeric:
            if (row, column.heading) in right:
                continue
            # The same column elsewhere, or the same row in another column, shows what such a cell is.
            is_sum = any(heading == column.heading for _, heading in right)
            is_near = any(at == row for at, _ in right) and _is_near(column, row, above, function)
            yield from _summary_cell(table, column, row, above, function, is_known=is_sum or is_near)


def _summaries(table: AuditedTable) -> Iterator[tuple[int, list[int], str]]:
    """Yield each row that sums up rows above, those rows, and what it is of them."""
    above: list[int] = []
    before: str | None = None
    for row in table.rows():
        heading, function = _summary_place(table, row)
        if function is None:
            above = [row] if before is not None else [*above, row]
        elif len(above) >= MIN_ABOVE and before in (None, heading):
            # A total of totals stands in another column, and its rows are not only those right above.
            yield row, above, function
        before = heading if function is not None else None


def _summed(table: AuditedTable, row: int, above: list[int], function: str) -> Iterator[TableColumn]:
    """Yield the columns whose cell in a row is the function of the rows above, and of more than zeros."""
    for column in table.numeric:
        values = [rounded(column.digits[each]) for each in above if column.digits[each]]
        if not column.digits[row] or len(values) < max(MIN_ABOVE, len(above)):
            continue
        if any(value.middle for value in values) and rounded(column.digits[row]).overlaps(over_many(function, values)):
            yield column


def _is_near(column: TableColumn, row: int, above: list[int], function: str) -> bool:
    values = [rounded(column.digits[each]) for each in above if column.digits[each]]
    if not column.digits[row] or len(values) < max(MIN_RIGHT, len(above)):
        return False
    value = over_many(function, values).middle
    return abs(rounded(column.digits[row]).middle - value) <= NEAR * abs(value)


def summary_function(table: AuditedTable, row: int) -> str | None:
    """Return what a row is of those above; None if it is a row of its own."""
    return _summary_place(table, row)[1]


def _summary_place(table: AuditedTable, row: int) -> tuple[str, str | None]:
    """Return the column that says what a row is of those above, and what; one of the first two texts may."""
    texts = (column for column in table.columns.values() if column.texts[row] and not column.digits[row])
    for column in islice(texts, 2):
        text = column.texts[row].casefold().strip(" :*")
        function = next((name for name, words in _SUMS.items() if re.fullmatch(words, text)), None)
        if function is not None:
            return column.heading, function
    return "", None


def _summary_cell(
    table: AuditedTable, column: TableColumn, row: int, above: list[int], function: str, is_known: bool
) -> Iterator[TableFinding]:
    digits = column.digits
    values = [rounded(digits[each]) for each in above if digits[each]]
    if not digits[row] or len(values) < max(MIN_ABOVE, len(above)):
        return
    cell = rounded(digits[row])
    # A column of sizes or counts may have no sum, and what it has instead is not known.
    if cell.overlaps(over_many(function, values)) or _counts_pieces(table, column, row, above, function):
        return
    other = next((name for name in _OTHERS[function] if cell.overlaps(over_many(name, values))), "")
    is_figure = column in table.figures or table.role(column.heading) == DERIVED
    if not other and not is_figure and not is_known:
        return
    value = over_many(function, values).middle
    text = f"the {function} of the {len(values)} rows above is {value:.10g}, not {digits[row]}"
    text += f", which is their {other}" if other else ""
    yield TableFinding(table.lines[row], column.heading, text, {"computed": f"{value:.10g}", "printed": digits[row]})


def _counts_pieces(table: AuditedTable, column: TableColumn, row: int, above: list[int], function: str) -> bool:
    """Return whether a sum is right if lines print the price of one piece, and another column has the pieces."""
    counts = [each for each in table.numeric if each is not column and each.is_whole and function == "sum"]
    for pieces in counts:
        values = []
        for each in above:
            number = rounded(column.digits[each]) if column.digits[each] else Interval(0.0, 0.0)
            by = float(pieces.digits[each]) if pieces.digits[each] else 1.0
            values.append(Interval(number.low * by, number.high * by))
        if rounded(column.digits[row]).overlaps(over_many(function, values)):
            return True
    return False


def different_values(table: AuditedTable) -> Iterator[TableFinding]:
    """Yield figures that stand in two places with different values, in tables that say where each stands.

    Such a table has a column `place`, or one of that meaning, and the same `what` in several rows.
    """
    names = {heading.casefold(): heading for heading in table.columns}
    if "what" not in names or "place" not in names or "value" not in names:
        return
    what, place, value = (table.columns[names[name]] for name in ("what", "place", "value"))
    seen: dict[str, int] = {}
    for row in table.rows():
        if not what.texts[row] or not value.texts[row]:
            continue
        first = seen.setdefault(what.texts[row], row)
        if first != row and not _same(value, first, row):
            text = f"{what.texts[row]}: {value.texts[row]} in {place.texts[row]}, and {value.texts[first]} in "
            lines = (table.lines[first],)
            yield TableFinding(table.lines[row], value.heading, f"{text}{place.texts[first]}", {}, lines)


def _same(column: TableColumn, one: int, two: int) -> bool:
    if column.digits[one] and column.digits[two]:
        units = {unit for row in (one, two) if (unit := re.sub(r"[\d.,\s]", "", column.texts[row]))}
        return len(units) < 2 and _wide(column.digits[one]).overlaps(_wide(column.digits[two]))
    return _plain(column.texts[one]) == _plain(column.texts[two])


def _plain(text: str) -> str:
    """Return a text without what is the same however it is written: blanks, and words for units of time."""
    words = re.findall(r"[^\W\d_]+|[\d.,]+|[^\w\s]", text)
    return " ".join(_TIMES.get(word, word) for word in words)


def _wide(digits: str) -> Interval:
    """Return what a figure may be if it was rounded or cut off."""
    half = rounded(digits)
    return Interval(half.low, half.high + (half.high - half.low) / 2)


def figures_alike(table: AuditedTable) -> Iterator[TableFinding]:
    """Yield three and more results in a row that have the same figures of three digits or more."""
    figures = [column for column in table.columns.values() if column.is_numeric and not column.is_whole]
    measured = [column for column in figures if column in table.figures or table.role(column.heading) == DERIVED]
    if len(measured) < 2 or not any(column in table.figures for column in measured):
        return
    run: list[int] = []
    for row in [*table.rows(), -1]:
        if row >= 0 and run and all(column.digits[row] == column.digits[run[0]] for column in measured):
            run.append(row)
            continue
        digits = [column.digits[run[0]] for column in measured] if run else []
        if len(run) >= MIN_ALIKE and all(len(re.sub(r"\D", "", text).strip("0")) >= MIN_DIGITS for text in digits):
            text = f"{len(run)} results have the same figures, {' and '.join(digits)}: they may be one line, copied"
            lines = tuple(table.lines[each] for each in run[1:])
            yield TableFinding(table.lines[run[0]], measured[0].heading, text, {"results": len(run)}, lines)
        run = [row]
