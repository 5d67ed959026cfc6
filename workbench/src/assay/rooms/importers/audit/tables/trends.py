"""Rules about single numbers that do not fit their column: factors of ten, and prices of a book."""

import re
from collections import defaultdict
from collections.abc import Iterator
from itertools import pairwise

from assay.rooms.importers.audit.tables.cells import AuditedTable, TableColumn, TableFinding
from assay.rooms.importers.audit.tables.formulas import price_in
from assay.rooms.importers.audit.tables.grids import SIZES
from assay.rooms.importers.audit.tables.intervals import exactly, rounded
from assay.rooms.importers.audit.tables.search import words_of

MIN_POINTS = 5
"""Fewest points of a trend."""
SMOOTH = 5
"""Most by which points next to each other may differ, those of the suspect excepted."""
NEAR = 0.15
"""Share by which the factor may miss 10, 100 or 1000."""
FACTORS = (10.0, 100.0, 1000.0)
"""1024 is near enough to 1000."""
_RUN = re.compile(r"(run|repeat|iteration|trial)s?[ _-]*(?:#[ _-]*)?[0-9]+", re.IGNORECASE)
_OF_RUNS = re.compile(r"([0-9]{1,3}) (?:run|repeat|iteration|trial)s?")
MIN_RUNS = 2


def factor_of_trend(table: AuditedTable) -> Iterator[TableFinding]:
    """Yield figures that are 10, 100 or 1000 times what the points before and after give, or a part of it.

    Tables over two sizes are left to `grids.cell_among_neighbours`.
    """
    if sum(table.role(column.heading) in SIZES for column in table.keys) > 1:
        return
    axes = [column for column in table.keys if column.is_numeric and len(set(column.digits)) >= MIN_POINTS]
    for axis in axes:
        others = [column for column in table.keys if column is not axis]
        for figures in table.figures:
            lines: dict[tuple[str, ...], list[tuple[float, int]]] = defaultdict(list)
            for row in table.rows():
                place = table.number(axis.heading, row)
                if place is not None and figures.digits[row] and exactly(figures.digits[row]).low > 0:
                    lines[tuple(column.texts[row] for column in others)].append((place.middle, row))
            for points in lines.values():
                yield from _off_trend(table, figures, [row for _, row in sorted(points)])


def _off_trend(table: AuditedTable, figures: TableColumn, rows: list[int]) -> Iterator[TableFinding]:
    values = [exactly(figures.digits[row]).low for row in rows]
    if len(values) < MIN_POINTS:
        return
    for at in range(1, len(values) - 1):
        rest = values[:at] + values[at + 1 :]
        if any(max(pair) > SMOOTH * min(pair) for pair in pairwise(rest)):
            continue
        between = float((values[at - 1] * values[at + 1]) ** 0.5)
        ratio = max(values[at] / between, between / values[at])
        factor = next((known for known in FACTORS if abs(ratio / known - 1) <= NEAR), None)
        if factor is not None:
            which = "times" if values[at] > between else "times less than"
            text = f"{figures.digits[rows[at]]} is about {factor:g} {which} what the points before and after give, "
            text += f"{between:.4g}"
            yield TableFinding(table.lines[rows[at]], figures.heading, text, {"factor": f"{ratio:.4g}"})


def count_of_columns(table: AuditedTable) -> Iterator[TableFinding]:
    """Yield headings such as `mean of 5 runs` in tables that have another number of columns of runs."""
    runs = sum(_RUN.fullmatch(heading) is not None for heading in table.columns)
    for heading in table.columns:
        found = _OF_RUNS.search(heading.casefold())
        if found is not None and runs >= MIN_RUNS and int(found[1]) != runs and not _RUN.fullmatch(heading):
            text = f"the heading says {found[0]}, and the table has {runs} columns of them"
            yield TableFinding(table.source.line, heading, text, {"columns": runs})


def price_of_book(table: AuditedTable) -> Iterator[TableFinding]:
    """Yield prices of an instance's hour that are not those of the price book which the roles file names."""
    book = table.roles.book
    for column in table.numeric if book else ():
        words = set(words_of(column.heading))
        role = table.roles.columns.get(column.heading)
        if "price" not in words or not words & {"hour", "hourly", "h", "hr"} or (role and role.formula):
            continue
        for row in table.rows():
            items = [
                (other.texts[row], price_in(book, "instance", other.texts[row])) for other in table.columns.values()
            ]
            known = next(((item, price) for item, price in items if price is not None), None)
            if known is None or not column.digits[row]:
                continue
            item, price = known
            if not rounded(column.digits[row]).overlaps(exactly(str(price))):
                text = f"an hour of {item} is {price} in the price book {book}, not {column.digits[row]}"
                yield TableFinding(table.lines[row], column.heading, text, {"price": price})
