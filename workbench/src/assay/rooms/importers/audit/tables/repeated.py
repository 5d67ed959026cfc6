"""Rules about figures that a table has several times: rows that sum up others, and figures that stand in two places."""

import re
from collections.abc import Iterator

from assay.rooms.importers.audit.tables.cells import AuditedTable, TableColumn, TableFinding
from assay.rooms.importers.audit.tables.intervals import Interval, over_many, rounded
from assay.rooms.importers.work.table_roles import DERIVED

MIN_ABOVE = 2
"""Fewest rows that a row sums up."""
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
_OTHERS = {"sum": ("mean", "max"), "mean": ("median", "sum"), "median": ("mean",), "min": ("max",), "max": ("min",)}


def summary_rows(table: AuditedTable) -> Iterator[TableFinding]:
    """Yield cells of rows called total, average and the like that are not what the rows above give."""
    above: list[int] = []
    was_summary = False
    for row in table.rows():
        function = summary_function(table, row)
        if function is None:
            above = [row] if was_summary else [*above, row]
        elif len(above) >= MIN_ABOVE:
            for column in table.numeric:
                yield from _summary_cell(table, column, row, above, function)
        was_summary = function is not None


def summary_function(table: AuditedTable, row: int) -> str | None:
    """Return what a row is of those above; None if it is a row of its own."""
    for column in table.columns.values():
        text = column.texts[row].casefold().strip(" :*")
        if text and not column.digits[row]:
            return next((name for name, words in _SUMS.items() if re.fullmatch(words, text)), None)
    return None


def _summary_cell(
    table: AuditedTable, column: TableColumn, row: int, above: list[int], function: str
) -> Iterator[TableFinding]:
    digits = column.digits
    values = [rounded(digits[each]) for each in above if digits[each]]
    if not digits[row] or len(values) < max(MIN_ABOVE, len(above)):
        return
    cell = rounded(digits[row])
    # A column of sizes or counts may have no sum, and what it has instead is not known.
    if cell.overlaps(over_many(function, values)):
        return
    other = next((name for name in _OTHERS[function] if cell.overlaps(over_many(name, values))), "")
    is_figure = column in table.figures or table.role(column.heading) == DERIVED
    if not other and not is_figure:
        return
    value = over_many(function, values).middle
    text = f"the {function} of the {len(values)} rows above is {value:.10g}, not {digits[row]}"
    text += f", which is their {other}" if other else ""
    yield TableFinding(table.lines[row], column.heading, text, {"computed": f"{value:.10g}", "printed": digits[row]})


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
            text = f"{what.texts[row]} is {value.texts[row]} in {place.texts[row]}, and {value.texts[first]} in "
            lines = (table.lines[first],)
            yield TableFinding(table.lines[row], value.heading, f"{text}{place.texts[first]}", {}, lines)


def _same(column: TableColumn, one: int, two: int) -> bool:
    if column.digits[one] and column.digits[two]:
        return _wide(column.digits[one]).overlaps(_wide(column.digits[two]))
    return column.texts[one] == column.texts[two]


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
