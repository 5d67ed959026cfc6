"""Finds what a column follows from, where its heading says that it follows from others: a sum, a mean, a ratio."""

import re
from collections.abc import Iterator, Sequence
from itertools import chain, permutations
from typing import NamedTuple

from assay.rooms.importers.audit.tables.alternatives import CHANCE, chance_of
from assay.rooms.importers.audit.tables.cells import AuditedTable, TableColumn
from assay.rooms.importers.audit.tables.formulas import CellPlace, value_of
from assay.rooms.importers.audit.tables.intervals import rounded
from assay.rooms.importers.audit.tables.repeated import summary_function
from assay.rooms.importers.audit.tables.scaled import scaled_columns
from assay.rooms.importers.work.table_formula import Call, FormulaNumber, Name, Node, Operation, headings_of
from assay.rooms.importers.work.table_roles import DERIVED

MIN_ROWS = 3
"""Fewest rows of which a formula can be found."""
MAX_WRONG = 0.2
"""Largest share of cells that do not follow a formula which the others follow; of four cells, one may."""
MAX_NEAR = 12
"""Most columns of numbers that are tried, the nearest first."""
MAX_RUN = 12
"""Most columns side by side that a sum or mean is of."""
MAX_CELLS = 200
"""Most cells of a column from which its formula is found."""
MAX_SEARCHED = 20
"""Most columns whose formula is searched for: a wide table has many more pairs than tests of chance allow."""
_WORDS = {
    "sum": ("total", "totals", "sum", "subtotal", "overall", "combined"),
    "mean": ("average", "avg", "mean"),
    "median": ("median",),
    "min": ("min", "minimum", "lowest", "least", "worst"),
    "max": ("max", "maximum", "highest", "best", "peak"),
    "ratio": ("ratio", "speedup", "factor", "per", "efficiency", "relative", "normalised", "normalized", "scaling"),
    "percent": ("percent", "percentage", "pct", "share", "efficiency", "utilisation", "utilization", "change"),
    "difference": ("difference", "diff", "delta", "overhead", "gain", "change"),
}
"""What a heading says -> words that say it; `%` says per cent, too."""
_TIMES = {"s", "sec", "second", "seconds"}
"""After `per`: a unit of rates, not a column."""
_FACTORS = (1.0, 1000.0, 0.001, 1.024, 1 / 1.024, 1024.0, 1 / 1024, 60.0, 1 / 60, 8.0, 0.125)
_MISTAKEN = {1.024: "1000 in place of 1024", 1 / 1.024: "1024 in place of 1000"}
_TOKEN = re.compile(r"[a-z]+|[0-9]+|%")


class Found(NamedTuple):
    """The formula of a column.

    Attributes:
        heading: Its heading.
        formula: The formula.
        cells: How many cells have been compared.
        instead: What the heading says in place of it; empty if it says the same.
    """

    heading: str
    formula: Node
    cells: int
    instead: str


def words_of(heading: str) -> tuple[str, ...]:
    """Return the words of a heading, in lower case."""
    parted = re.sub(r"(?<=[a-z])(?=[A-Z])", " ", heading)
    return tuple(_TOKEN.findall(parted.lower()))


def kinds_of_heading(heading: str) -> tuple[str, ...]:
    """Return what a heading says that its column is: keys of `_WORDS`."""
    words = words_of(heading)
    kinds = [kind for kind, known in _WORDS.items() if set(words) & set(known)]
    kinds += ["percent"] if "%" in words and "percent" not in kinds else []
    after = words[words.index("per") + 1 : words.index("per") + 2] if "per" in words else ()
    if kinds == ["ratio"] and "per" in words and (not after or after[0] in _TIMES):
        return ()
    return tuple(kinds)


def found_formulas(table: AuditedTable) -> Iterator[Found]:
    """Yield the formula of each column whose heading says one, if its cells follow it."""
    if table.found is None:
        table.found = tuple(_all(table))
    yield from table.found


def _all(table: AuditedTable) -> Iterator[Found]:
    keys = {column.heading for column in table.keys}
    searched = 0
    for column in table.numeric:
        role = table.roles.columns.get(column.heading)
        kinds = kinds_of_heading(column.heading)
        scaled = list(scaled_columns(table, column))
        if role is None or role.formula or not (kinds or scaled) or column.heading in keys:
            continue
        searched += 1
        if searched > MAX_SEARCHED:
            return
        best: tuple[int, Node] | None = None
        rows = [row for row in table.rows() if column.digits[row] and not summary_function(table, row)][:MAX_CELLS]
        for attempts, formula in enumerate(chain(scaled, _candidates(table, column, kinds)), start=1):
            wrong = _wrong_cells(table, column, rows, formula, attempts)
            # The greatest of some columns is that of all in most rows: headings or all cells must say which they are.
            if wrong and isinstance(formula, Call) and formula.function in ("min", "max") and not _is_numbered(formula):
                continue
            if wrong is not None and (best is None or wrong < best[0]):
                best = (wrong, formula)
                if not wrong:
                    break
        if best is not None:
            cells = sum(map(bool, column.digits))
            yield Found(column.heading, best[1], cells, _instead(table, column, best[1], kinds))


def _wrong_cells(
    table: AuditedTable, column: TableColumn, rows: Sequence[int], formula: Node, attempts: int
) -> int | None:
    """Return how many cells a formula does not give; None if these are too many, or it may be chance."""
    role = table.roles.columns[column.heading]
    most = max(int(len(rows) * MAX_WRONG), 1 if len(rows) > MIN_ROWS else 0)
    wrong, chance, right, missing = 0, float(attempts), 0, 0
    seen: set[tuple[str, float]] = set()
    for row in rows:
        value = value_of(formula, CellPlace(table, row, role))
        if value is None:
            missing += 1
            if 2 * missing > len(rows):
                return None
            continue
        cell = rounded(column.digits[row])
        if not cell.overlaps(value):
            wrong += 1
            if wrong > most:
                return None
            continue
        right += 1
        if (column.digits[row], value.middle) not in seen:
            seen.add((column.digits[row], value.middle))
            chance *= chance_of(cell, value)
    return wrong if right >= MIN_ROWS and len(seen) > 1 and chance < CHANCE else None


def _candidates(table: AuditedTable, column: TableColumn, kinds: Sequence[str]) -> Iterator[Node]:
    """Yield formulas that a heading may mean, what it says first."""
    near = _near(table, column)
    names = [Name(other.heading) for other in near]
    runs = list(_runs(table, column))
    many = [kind for kind in kinds if kind in ("sum", "mean", "median", "min", "max")]
    if many:
        if set(many) & {"mean", "median"}:
            # A mean that is a median is found, too.
            many += [kind for kind in ("mean", "median") if kind not in many]
        for kind in many:
            yield from (Call(kind, run) for run in runs)
            yield from (Call(kind, pair) for pair in permutations(names, 2) if pair[0].heading < pair[1].heading)
    if "sum" in kinds:
        yield from (Operation("*", *pair) for pair in permutations(names, 2) if pair[0].heading < pair[1].heading)
    if set(kinds) & {"ratio", "mean"}:
        yield from _ratios(names, column)
    if "percent" in kinds:
        yield from (_percent(Operation("/", one, two)) for one, two in permutations(names, 2))
        yield from (_percent(Operation("/", Operation("-", one, two), two)) for one, two in permutations(names, 2))
    if "difference" in kinds:
        yield from (Operation("-", one, two) for one, two in permutations(names, 2))


def _ratios(names: Sequence[Name], column: TableColumn) -> Iterator[Node]:
    """Yield quotients of two columns, those of the heading's words first; then with factors of units."""
    wanted = set(words_of(column.heading))
    pairs = sorted(
        permutations(names, 2), key=lambda pair: -sum(len(wanted & set(words_of(name.heading))) for name in pair)
    )
    yield from (Operation("/", Name(one.heading), Call("first", (one,))) for one in names)
    # A speedup of times.
    yield from (Operation("/", Call("first", (one,)), Name(one.heading)) for one in names)
    for factor in _FACTORS:
        for one, two in pairs:
            ratio = Operation("/", one, two)
            yield ratio if factor == 1 else Operation("*", ratio, FormulaNumber(factor))


def _percent(node: Node) -> Node:
    return Operation("*", node, FormulaNumber(100.0))


def _near(table: AuditedTable, column: TableColumn) -> list[TableColumn]:
    """Return columns of numbers beside one, the nearest first."""
    numeric = list(table.numeric)
    place = numeric.index(column)
    others = [other for other in numeric if other is not column and table.role(other.heading) != DERIVED]
    return sorted(others, key=lambda other: abs(numeric.index(other) - place))[:MAX_NEAR]


def _stem(heading: str) -> tuple[str, ...]:
    return tuple(word for word in words_of(heading) if not word.isdigit())


def _is_numbered(formula: Node) -> bool:
    """Return whether a formula is of columns that differ in a number only, such as `run 1`."""
    return len({_stem(heading) for heading in headings_of(formula)}) == 1


def _runs(table: AuditedTable, column: TableColumn) -> Iterator[tuple[Node, ...]]:
    """Yield columns that differ in a number, such as `run 1`, and those side by side near one; the most first."""
    numeric = list(table.numeric)
    alike: dict[tuple[str, ...], list[Node]] = {}
    for other in numeric:
        if other is not column:
            alike.setdefault(_stem(other.heading), []).append(Name(other.heading))
    yield from (tuple(names) for names in alike.values() if len(names) > 1)
    place = numeric.index(column)
    for count in range(min(MAX_RUN, len(numeric) - 1), 1, -1):
        for skipped in range(3):
            before = numeric[max(0, place - skipped - count) : max(0, place - skipped)]
            if len(before) == count:
                yield tuple(Name(each.heading) for each in before)
        after = numeric[place + 1 : place + 1 + count]
        if len(after) == count:
            yield tuple(Name(each.heading) for each in after)


def _instead(table: AuditedTable, column: TableColumn, formula: Node, kinds: Sequence[str]) -> str:
    """Return what a heading says in place of the formula that its cells follow; empty if it says the same."""
    if isinstance(formula, Call) and formula.function not in kinds and formula.function in ("mean", "median"):
        return f"a {next(kind for kind in kinds if kind in ('mean', 'median'))}"
    if isinstance(formula, Operation) and formula.sign == "*" and isinstance(formula.right, FormulaNumber):
        words = _MISTAKEN.get(formula.right.value, "")
        return _meant(table, column, formula.left) or (f"no {words}" if words else "")
    return _meant(table, column, formula)


def _meant(table: AuditedTable, column: TableColumn, formula: Node) -> str:
    """Return the formula with the column that the heading's words name; empty if it is the one that is found."""
    wanted = set(words_of(column.heading))
    for used in headings_of(formula):
        mine = set(words_of(used))
        for other in table.numeric:
            theirs = set(words_of(other.heading))
            # All that tells the other column from this one stands in the heading, and nothing that tells this one.
            is_named = mine & theirs and theirs - mine and theirs - mine <= wanted and not (mine - theirs) & wanted
            if other.heading not in (used, column.heading) and is_named:
                return f"`{other.heading}` in place of `{used}`"
    return ""
