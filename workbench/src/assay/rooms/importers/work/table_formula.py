"""Formulas of derived columns, as roles files state them: numbers, headings, `+ - * /`, and a few functions.

Headings that are no plain words stand between backticks: `` `Cost / TB` * 2 ``.
"""

import ast
import re
from collections.abc import Iterator
from typing import NamedTuple

from assay.model.units import choices_hint

OVER_ROWS = ("sum", "mean", "median", "min", "max", "count")
"""Functions of several numbers: of the columns that are named, or of one column over the rows of another table."""
FUNCTIONS = (*OVER_ROWS, "floor", "first", "price")
"""All functions. `first(column)` is its number in the first row of the same target, workload and operation;
`price(dimension, item)` is that of the roles file's price book; `price(item)` of an instance."""
HOURS = "hours_per_month"
"""Name of the hours of a month of the price book."""
TABLE = "table"
"""Name of the condition of a function that names another table."""
_QUOTED = re.compile(r"`([^`]*)`")
_MAX_NODES = 100
_HINT = 'write it like "a + b", "cost / rate" or "mean(run1, run2)", with headings of columns'
_OPERATORS = {ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.Div: "/"}


class FormulaError(Exception):
    """A formula that cannot be read.

    Attributes:
        message: What is wrong with it.
        hint: How to mend it.
    """

    def __init__(self, message: str, hint: str = _HINT) -> None:
        super().__init__(message)
        self.message, self.hint = message, hint


class FormulaNumber(NamedTuple):
    """A number of a formula, which is exact."""

    value: float


class Name(NamedTuple):
    """The heading of a column."""

    heading: str


class Text(NamedTuple):
    """A text between quotes, such as the name of an item of a price book."""

    text: str


class Operation(NamedTuple):
    """Two parts with one of `+ - * /` between them."""

    sign: str
    left: "Node"
    right: "Node"


class Call(NamedTuple):
    """One of `FUNCTIONS` with its arguments.

    Attributes:
        where: Headings of another table, each with the text, or the bound of numbers such as `>256`, that the rows have
            which the function is over.
        table: File name of that table; empty: the one of the column's role.
    """

    function: str
    arguments: "tuple[Node, ...]"
    where: tuple[tuple[str, str], ...] = ()
    table: str = ""


Node = FormulaNumber | Name | Text | Operation | Call


def parse_formula(written: str) -> Node:
    """Return a formula.

    Raises:
        FormulaError: It cannot be read.
    """
    headings: list[str] = []

    def placeholder(match: re.Match[str]) -> str:
        headings.append(match[1])
        return f" _{len(headings) - 1}_ "

    text = _QUOTED.sub(placeholder, written).strip()
    try:
        tree = ast.parse(text, mode="eval")
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        raise FormulaError(f"`{written[:60]}` is no formula") from None
    if sum(1 for _ in ast.walk(tree)) > _MAX_NODES:
        raise FormulaError("the formula is too long", "give the parts columns of their own")
    return _node(tree.body, headings)


def _node(found: ast.expr, headings: list[str]) -> Node:
    if isinstance(found, ast.Constant):
        if isinstance(found.value, str):
            return Text(found.value)
        if isinstance(found.value, int | float) and not isinstance(found.value, bool) and abs(found.value) < 1e18:
            return FormulaNumber(float(found.value))
    elif isinstance(found, ast.Name):
        quoted = re.fullmatch(r"_([0-9]+)_", found.id)
        return Name(headings[int(quoted[1])] if quoted and int(quoted[1]) < len(headings) else found.id)
    elif isinstance(found, ast.BinOp) and type(found.op) in _OPERATORS:
        return Operation(_OPERATORS[type(found.op)], _node(found.left, headings), _node(found.right, headings))
    elif isinstance(found, ast.Call) and isinstance(found.func, ast.Name) and found.args:
        return _call(found.func.id, found, headings)
    raise FormulaError("a formula has numbers, headings, + - * / and functions")


def _call(function: str, found: ast.Call, headings: list[str]) -> Call:
    """Return a call, with the conditions that its keywords are."""
    if function not in FUNCTIONS:
        raise FormulaError(f"there is no function `{function}`", choices_hint(function, FUNCTIONS))
    where = {}
    for keyword in found.keywords:
        value = keyword.value.value if isinstance(keyword.value, ast.Constant) else None
        if function not in OVER_ROWS or keyword.arg is None or not isinstance(value, str):
            raise FormulaError(
                f"`{function}` has a condition that is none",
                f'write it like max(rate, {TABLE}="rates.csv", type="ssd")',
            )
        where[keyword.arg] = value
    table = where.pop(TABLE, "")
    return Call(function, tuple(_node(each, headings) for each in found.args), tuple(where.items()), table)


def formula_text(node: Node) -> str:
    """Return a formula as a roles file states it."""
    if isinstance(node, FormulaNumber):
        return f"{node.value:.10g}"
    if isinstance(node, Name):
        return node.heading if node.heading.isidentifier() else f"`{node.heading}`"
    if isinstance(node, Text):
        return f'"{node.text}"'
    if isinstance(node, Call):
        table = [f'{TABLE}="{node.table}"'] if node.table else []
        conditions = [f'{heading}="{text}"' for heading, text in node.where]
        return f"{node.function}({', '.join([*map(formula_text, node.arguments), *table, *conditions])})"
    return f"{_side(node.left, node.sign, False)} {node.sign} {_side(node.right, node.sign, True)}"


def _side(node: Node, sign: str, is_right: bool) -> str:
    text = formula_text(node)
    if not isinstance(node, Operation):
        return text
    weaker = node.sign in "+-" and sign in "*/"
    return f"({text})" if weaker or (is_right and sign in "-/") else text


def headings_of(node: Node) -> Iterator[str]:
    """Yield the headings that a formula names."""
    if isinstance(node, Name):
        yield node.heading
    for part in parts_of(node):
        yield from headings_of(part)


def calls_of(node: Node) -> Iterator[Call]:
    """Yield the functions that a formula calls."""
    if isinstance(node, Call):
        yield node
    for part in parts_of(node):
        yield from calls_of(part)


def parts_of(node: Node) -> tuple[Node, ...]:
    """Return the formulas that a formula consists of."""
    if isinstance(node, Operation):
        return (node.left, node.right)
    return node.arguments if isinstance(node, Call) else ()
