"""Which other formula gives the printed cells that do not follow the stated one."""

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from assay.rooms.importers.audit.tables.cells import AuditedTable
from assay.rooms.importers.audit.tables.formulas import CellPlace, value_of
from assay.rooms.importers.audit.tables.intervals import Interval, combined, cut_off, rounded
from assay.rooms.importers.work.table_formula import (
    Call,
    FormulaNumber,
    Name,
    Node,
    Operation,
    calls_of,
    formula_text,
    headings_of,
)

CHANCE = 1e-3
"""Most expected number of formulas that fit by chance."""
CHANCE_OF_UNITS = 1e-2
"""The same for powers of 1000 and of 1024, which are taken for each other so often that less will do."""
_BINARY = 8
"""How many of the first of `FACTORS` are such."""
FACTORS = {
    1000 / 1024: "1000 for 1024",
    1024 / 1000: "1024 for 1000",
    1024**2 / 1000**2: "2^20 for 10^6",
    1000**2 / 1024**2: "10^6 for 2^20",
    1024**3 / 1000**3: "2^30 for 10^9",
    1000**3 / 1024**3: "10^9 for 2^30",
    1024**4 / 1000**4: "2^40 for 10^12",
    1000**4 / 1024**4: "10^12 for 2^40",
    1000.0: "1000 times it",
    0.001: "a thousandth of it",
    1024.0: "1024 times it",
    1 / 1024: "a 1024th of it",
    8.0: "bits for bytes",
    0.125: "bytes for bits",
    10.0: "ten times it",
    0.1: "a tenth of it",
    100.0: "in per cent",
    0.01: "not in per cent",
    60.0: "minutes for seconds",
    1 / 60: "seconds for minutes",
    12.0: "twelve times it",
    2.0: "twice",
    0.5: "half of it",
}
"""Factor -> the mistake that it is."""
_MONTHS = (720.0, 729.6, 730.0, 730.5, 744.0)
_AVERAGES = ("mean", "median")
_MANY = ("mean", "median", "sum", "min", "max")


class Alternative(NamedTuple):
    """Another formula that gives the printed cells.

    Attributes:
        words: What it is, with what it gives.
        factor: By which what the stated formula gives is multiplied; None for another formula.
    """

    words: str
    factor: float | None = None


def alternative(
    table: AuditedTable, heading: str, formula: Node, values: Mapping[int, Interval], wrong: Sequence[int]
) -> Alternative | None:
    """Return the simplest change that gives all cells that do not follow a formula; None if there is none.

    Args:
        table: The table.
        heading: The derived column.
        formula: Its formula.
        values: Row -> what the formula gives.
        wrong: The rows that it does not give.
    """
    digits = table.columns[heading].digits
    printed = {row: rounded(digits[row]) for row in wrong}
    attempts = 0
    for cells, cut in ((printed, ""), ({row: cut_off(digits[row]) for row in wrong}, ", and cut off")):
        fitting = []
        for place, factor in enumerate(FACTORS):
            attempts += 1
            most = CHANCE_OF_UNITS if place < _BINARY else CHANCE
            found = {row: combined("*", values[row], Interval(factor, factor)) for row in wrong}
            if _fits(cells, found, attempts, most):
                fitting.append((_distance(cells, found), factor))
        if fitting:
            factor = min(fitting)[1]
            which = "the printed ones are" if len(wrong) > 1 else "the printed one is"
            return Alternative(f"{which} as with {FACTORS[factor]}{cut}", factor)
    role = table.roles.columns[heading]
    for other in _with_functions(formula, _AVERAGES):
        # A mean for a median, or the other way round, is so common that it needs no further sign.
        if all(_is_within(cell, value_of(other, CellPlace(table, row, role))) for row, cell in printed.items()):
            return Alternative(f"{formula_text(other)} gives what is printed")
    for other, factor, words in _changes(table, heading, formula):
        attempts += 1
        plain = {row: value_of(other, CellPlace(table, row, role)) for row in wrong}
        by = Interval(factor, factor)
        found = {row: None if value is None else combined("*", value, by) for row, value in plain.items()}
        if _fits(printed, found, attempts):
            return Alternative(f"{formula_text(other)}{words} gives what is printed")
    return None


def _is_within(cell: Interval, value: Interval | None) -> bool:
    return value is not None and cell.overlaps(value)


def _fits(
    printed: Mapping[int, Interval], found: Mapping[int, Interval | None], attempts: int, most: float = CHANCE
) -> bool:
    """Return whether values are the printed ones, and so many formulas would not give them by chance."""
    chance = float(attempts)
    for row, cell in printed.items():
        value = found[row]
        if value is None or not cell.overlaps(value):
            return False
        chance *= chance_of(cell, value)
    return chance < most


def _distance(printed: Mapping[int, Interval], found: Mapping[int, Interval | None]) -> float:
    """Return how far values are from the printed ones, as a share of these: the nearest of several is meant."""
    pairs = [(cell.middle, value.middle) for row, cell in printed.items() if (value := found[row]) is not None]
    return sum(abs(one - two) / max(abs(one), abs(two), 1e-300) for one, two in pairs)


def chance_of(cell: Interval, value: Interval) -> float:
    """Return the chance that two independent numbers of one decade meet, by their ranges."""
    width = (cell.high - cell.low) + (value.high - value.low)
    size = max(abs(cell.middle), abs(value.middle))
    return 1.0 if not size else min(1.0, width / size / math.log(10))


def _changes(table: AuditedTable, heading: str, formula: Node) -> Iterator[tuple[Node, float, str]]:
    """Yield formulas with one part changed, a factor, and the factor in words; the simplest first."""
    changed = list(_with_functions(formula)) + list(_with_numbers(formula))
    yield from ((other, 1.0, "") for other in changed)
    named = dict.fromkeys(headings_of(formula))
    others = [column.heading for column in table.numeric if column.heading not in (heading, *named)]
    if table.roles.columns[heading].table or any(call.table for call in calls_of(formula)):
        others = []
    swapped = [_renamed(formula, old, new) for old in named for new in others]
    yield from ((other, 1.0, "") for other in swapped)
    for factor, words in ((1.024, "1024 for 1000"), (1 / 1.024, "1000 for 1024")):
        yield from ((other, factor, f", with {words},") for other in swapped)


def _with_functions(node: Node, among: Sequence[str] = _MANY) -> Iterator[Node]:
    """Yield a formula with one of its functions of many numbers changed."""
    if isinstance(node, Call) and node.function in among:
        yield from (node._replace(function=name) for name in among if name != node.function)
    elif isinstance(node, Operation):
        yield from (node._replace(left=left) for left in _with_functions(node.left, among))
        yield from (node._replace(right=right) for right in _with_functions(node.right, among))


def _with_numbers(node: Node) -> Iterator[Node]:
    """Yield a formula with another number of hours in a month, or 1024 for 1000."""
    if isinstance(node, FormulaNumber):
        for known in (_MONTHS, (1000.0, 1024.0)):
            if node.value in known:
                yield from (FormulaNumber(value) for value in known if value != node.value)
    elif isinstance(node, Operation):
        yield from (node._replace(left=left) for left in _with_numbers(node.left))
        yield from (node._replace(right=right) for right in _with_numbers(node.right))


def _renamed(node: Node, old: str, new: str) -> Node:
    """Return a formula with another column in place of one."""
    if isinstance(node, Name):
        return Name(new) if node.heading == old else node
    if isinstance(node, Operation):
        return node._replace(left=_renamed(node.left, old, new), right=_renamed(node.right, old, new))
    if isinstance(node, Call):
        return node._replace(arguments=tuple(_renamed(each, old, new) for each in node.arguments))
    return node
