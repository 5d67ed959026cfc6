"""What formulas give for the rows of a table."""

from collections.abc import Sequence
from decimal import Decimal
from functools import cache
from typing import NamedTuple

from assay.model.money.price import PriceBook
from assay.money.books.books import book_names, load_book
from assay.rooms.importers.audit.tables.cells import AuditedTable
from assay.rooms.importers.audit.tables.intervals import Interval, StatedBound, combined, exactly, over_many
from assay.rooms.importers.work.table_formula import (
    HOURS,
    OVER_ROWS,
    Call,
    FormulaNumber,
    Name,
    Node,
    Operation,
    Text,
    formula_text,
    headings_of,
)
from assay.rooms.importers.work.table_roles import ColumnRole


class CellPlace(NamedTuple):
    """Where a formula is computed.

    Attributes:
        table: The table.
        row: Index of the row.
        role: The derived column's role, which may name another table.
    """

    table: AuditedTable
    row: int
    role: ColumnRole


def value_of(node: Node, place: CellPlace) -> Interval | None:
    """Return what a formula gives in a row, within the rounding of what goes in; None if something is missing."""
    if isinstance(node, FormulaNumber):
        return Interval(node.value, node.value)
    if isinstance(node, Name):
        return _named(node.heading, place)
    if isinstance(node, Text):
        return None
    if isinstance(node, Call):
        return _called(node, place)
    one, two = value_of(node.left, place), value_of(node.right, place)
    found = combined(node.sign, one, two) if one is not None and two is not None else None
    return found if found is not None and found.is_finite else None


def _named(heading: str, place: CellPlace) -> Interval | None:
    if heading == HOURS and place.table.roles.book:
        book = _book(place.table.roles.book)
        return exactly(str(book.hours_per_month)) if book else None
    return place.table.number(heading, place.row) if heading in place.table.columns else None


def _called(node: Call, place: CellPlace) -> Interval | None:
    if node.function == "price":
        return _price(node.arguments, place)
    if node.function in OVER_ROWS and (node.table or place.role.table):
        return _over_rows(node, place)
    if node.function == "first":
        return value_of(node.arguments[0], place._replace(row=_first_row(place)))
    found = [value_of(each, place) for each in node.arguments]
    values = [each for each in found if each is not None]
    if node.function == "floor":
        if len(values) != 1 or len(found) != 1:
            return None
        return Interval(float(values[0].low // 1), float(values[0].high // 1))
    # A mean of runs is over those that there are; a sum needs all.
    if not values or (len(values) < len(found) and node.function in ("sum", "count")):
        return None
    return over_many(node.function, values)


def with_operands(node: Node, place: CellPlace) -> str:
    """Return a formula with the numbers that go in for a row in place of headings and functions: `78.75 / 85.31`."""
    if isinstance(node, FormulaNumber | Text):
        return formula_text(node)
    if not isinstance(node, Operation):
        value = value_of(node, place)
        return "?" if value is None else number_words(value.middle)
    sides = []
    for part, is_right in ((node.left, False), (node.right, True)):
        text = with_operands(part, place)
        is_weaker = isinstance(part, Operation) and (
            (part.sign in "+-" and node.sign in "*/") or (is_right and node.sign in "-/")
        )
        sides.append(f"({text})" if is_weaker else text)
    return f"{sides[0]} {node.sign} {sides[1]}"


def number_words(value: float) -> str:
    """Return a number with five digits at least, whole ones with groups of three: `78.75`, `125,829,120`."""
    return f"{value:,.0f}" if abs(value) >= 10_000 else f"{value:.5g}"


def _first_row(place: CellPlace) -> int:
    """Return the first row of the same target, workload and operation."""
    table = place.table
    names = tuple(name for name in table.columns if table.role(name) in ("target", "workload", "operation"))
    key = tuple(table.columns[name].texts[place.row] for name in names)
    return _index(table, names)[key][0]


def _over_rows(node: Call, place: CellPlace) -> Interval | None:
    """Return a function of a column over those rows of another table that belong to a row of this one."""
    role = place.role
    other = place.table.others.get(node.table or role.table)
    if other is None or len(node.arguments) != 1:
        return None
    wanted = {name: place.table.columns[name].texts[place.row] for name in role.by} | role.where | dict(node.where)
    bounds = {name: found for name, text in wanted.items() if (found := StatedBound.read(text)) is not None}
    texts = {name: text for name, text in wanted.items() if name not in bounds}
    rows = _index(other, tuple(texts)).get(tuple(texts.values()), [])
    rows = [row for row in rows if all(_is_within(other, name, row, bound) for name, bound in bounds.items())]
    inner = role.model_copy(update={"table": ""})
    values = [value_of(node.arguments[0], CellPlace(other, row, inner)) for row in rows]
    known = [each for each in values if each is not None]
    return over_many(node.function, known) if known else None


def _is_within(table: AuditedTable, heading: str, row: int, bound: StatedBound) -> bool:
    value = table.number(heading, row)
    return value is not None and bound.allows(value)


def _index(table: AuditedTable, names: tuple[str, ...]) -> dict[tuple[str, ...], list[int]]:
    """Return the rows of a table by the texts of some columns; computed once."""
    if names not in table.indexes:
        found: dict[tuple[str, ...], list[int]] = {}
        for row in table.rows():
            found.setdefault(tuple(table.columns[name].texts[row] for name in names), []).append(row)
        table.indexes[names] = found
    return table.indexes[names]


def _price(arguments: Sequence[Node], place: CellPlace) -> Interval | None:
    """Return a price of the book: `price(item)` of an instance's hour, or `price(dimension, item, term)`."""
    words = [_text(each, place) for each in arguments]
    if not 1 <= len(words) <= 3 or not all(words) or not place.table.roles.book:
        return None
    dimension, item = ("instance", words[0]) if len(words) == 1 else words[:2]
    found = price_in(place.table.roles.book, dimension, item, *words[2:])
    return None if found is None else Interval(float(found), float(found))


@cache
def price_in(book: str, dimension: str, item: str, term: str = "on-demand") -> Decimal | None:
    """Return a price of a book for one of its unit, or what is paid at the start of a term; None if it has none."""
    prices = _book(book)
    if prices is None or not prices.has_term(dimension, item, term):
        return None
    row = prices.row(dimension, item, term)
    return row.price if term == "on-demand" else row.upfront


@cache
def _book(name: str) -> PriceBook | None:
    # Only books that come with Assay: a run of somebody else must not make this machine read files.
    return load_book(name) if name in book_names() else None


def _text(node: Node, place: CellPlace) -> str:
    if isinstance(node, Text):
        return node.text
    if isinstance(node, Name) and node.heading in place.table.columns:
        return place.table.columns[node.heading].texts[place.row]
    return ""


def has_inputs(node: Node, place: CellPlace) -> bool:
    """Return whether all columns of its own table that a formula names have a number or text in a row."""
    table = place.table
    return all(table.columns[name].texts[place.row] for name in headings_of(node) if name in table.columns)
