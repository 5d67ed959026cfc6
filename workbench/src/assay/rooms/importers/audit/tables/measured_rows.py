"""Rules about the figures of rows: latencies in order, and rows with the figures of others."""

import re
from collections.abc import Iterator

from assay.model.units import about_number
from assay.rooms.importers.audit.tables.cells import AuditedTable, TableColumn, TableFinding
from assay.rooms.importers.audit.tables.intervals import rounded
from assay.rooms.importers.audit.tables.repeated import summary_function
from assay.rooms.importers.work.table_roles import FIGURES

_ORDER = ("min", "p50", "p90", "p95", "p99", "p99.9", "p99.99", "max")
_HEADING = re.compile(
    r"(?P<name>min|median|p50|p90|p95|p99|p99\.9|p99\.99|max)(?: latency)? ?[(\[]?(?P<unit>ns|us|µs|ms|s)[)\]]?", re.I
)
MIN_FIGURES, MIN_DIGITS = 3, 12
"""Fewest figures of a row, and digits of them together, that another row has by no chance."""
MIN_REPEATS = 3
"""Fewest repeats whose spread is looked at."""
WIDE = 1.5
"""Least factor between the greatest and the least of repeats that are far apart."""
_RATE = re.compile(r"/ ?s(?:ec)?\b|\b[Ii][Oo][Pp][Ss]\b|\b(?:ops|[kMGT]i?[Bb])ps\b")


def latencies_in_order(table: AuditedTable) -> Iterator[TableFinding]:
    """Yield rows whose higher percentile, or greatest latency, is below a lower one."""
    groups: dict[tuple[object, ...], dict[str, TableColumn]] = {}
    for heading, column in table.columns.items():
        role = table.roles.columns.get(heading)
        found = _HEADING.fullmatch(heading)
        if role is not None and role.role.startswith("latency_"):
            key = (role.unit, *sorted((one, str(value)) for one, value in role.constants.items()))
            groups.setdefault(key, {})[role.role.removeprefix("latency_")] = column
        elif found is not None:
            name = found["name"].casefold()
            groups.setdefault((found["unit"],), {})["p50" if name == "median" else name] = column
    for columns in groups.values():
        known = [columns[name] for name in _ORDER if name in columns]
        for row in table.rows():
            yield from _out_of_order(table, known, row)


def _out_of_order(table: AuditedTable, columns: list[TableColumn], row: int) -> Iterator[TableFinding]:
    last: TableColumn | None = None
    for column in columns:
        if not column.digits[row] or column.texts[row] != column.digits[row]:
            # Cells may have units of their own.
            continue
        if last is not None and rounded(column.digits[row]).high < rounded(last.digits[row]).low:
            text = f"{column.digits[row]} in `{table.described(row)}` is below `{last.heading}`, {last.digits[row]}"
            yield TableFinding(table.lines[row], column.heading, text, {"printed": column.digits[row]})
            return
        last = column


def rows_alike(table: AuditedTable) -> Iterator[TableFinding]:
    """Yield rows of which all rates are those of an earlier row of something else."""
    measured = [
        column
        for column in table.numeric
        if table.role(column.heading) in FIGURES or (_RATE.search(column.heading) and "$" not in column.heading)
    ]
    seen: dict[tuple[str, ...], int] = {}
    for row in table.rows():
        key = tuple(column.digits[row] for column in measured)
        digits = [re.sub(r"\D", "", text).strip("0") for text in key]
        if summary_function(table, row) or len(set(filter(None, digits))) < MIN_FIGURES:
            continue
        first = seen.setdefault(key, row)
        if first != row and sum(map(len, digits)) >= MIN_DIGITS and table.described(first) != table.described(row):
            text = f"all {len(key)} figures of `{table.described(row)}` are those of `{table.described(first)}`"
            yield TableFinding(
                table.lines[row], measured[0].heading, text, {"figures": len(key)}, (table.lines[first],)
            )


def spread_of_repeats(table: AuditedTable) -> Iterator[TableFinding]:
    """Yield columns of figures whose repeats of one result are far apart, with the farthest."""
    keys = [column for column in table.keys if table.role(column.heading) != "repeat"]
    if len(keys) == len(table.keys):
        return
    for figures in table.figures:
        groups: dict[tuple[str, ...], list[int]] = {}
        for row in table.rows():
            if _is_short_trip(table, figures, row):
                continue
            if figures.digits[row] and rounded(figures.digits[row]).low > 0 and not summary_function(table, row):
                groups.setdefault(tuple(column.texts[row] for column in keys), []).append(row)
        repeated = {key: rows for key, rows in groups.items() if len(rows) >= MIN_REPEATS}
        ratios = {key: _ratio(figures, rows) for key, rows in repeated.items()}
        wide = sorted((key for key in ratios if ratios[key] >= WIDE), key=lambda key: -ratios[key])
        if wide:
            rows = sorted(repeated[wide[0]], key=lambda row: float(figures.digits[row]))
            which = "the result" if len(repeated) == 1 else f"{len(wide)} of {len(repeated)} results"
            text = f"repeats of {which} differ by a factor of {WIDE} or more: "
            text += f"`{' / '.join(filter(None, wide[0]))}` is {figures.digits[rows[0]]} to {figures.digits[rows[-1]]}"
            numbers = {"factor": about_number(ratios[wide[0]], 3)}
            lines = tuple(table.lines[row] for row in rows[1:])
            yield TableFinding(table.lines[rows[0]], figures.heading, text, {**numbers}, lines)


def _is_short_trip(table: AuditedTable, column: TableColumn, row: int) -> bool:
    """Return whether a figure is a latency below a millisecond, of which the first of a series looks up addresses."""
    role = table.roles.columns.get(column.heading)
    if role is None or not role.role.startswith("latency_") or not column.digits[row]:
        return False
    return role.unit in ("ns", "us") or (role.unit == "ms" and rounded(column.digits[row]).high < 1)


def _ratio(column: TableColumn, rows: list[int]) -> float:
    """Return the greatest number of rows over the least, at least, by their printed rounding."""
    numbers = [rounded(column.digits[row]) for row in rows]
    return max(each.low for each in numbers) / min(each.high for each in numbers)
