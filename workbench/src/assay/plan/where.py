"""Expressions of `where` and `exclude`: comparisons, and/or/not and arithmetic over the fields of a case.

They are parsed, checked against a short list of allowed forms, and evaluated by the functions here; they cannot reach
anything else in Python.
"""

import ast
import itertools
import operator
import re
import textwrap
from collections.abc import Callable, Mapping
from typing import Any

from assay.model import units
from assay.model.study.axis import AxisValue
from assay.model.study.study import VALUE_KINDS

Values = Mapping[str, AxisValue]
Evaluator = Callable[[Values], Any]

MAX_CHARACTERS = 1000
MAX_DEPTH = 50
"""Most levels of nesting; each takes a few levels of Python's recursion limit of 1000."""
EXAMPLE = "write a comparison such as `record_size <= file_size and target == 'disk'`"

_LEXEME = re.compile(
    r"""(?P<text>'[^']*'|"[^"]*")
    |(?P<rate>\b[0-9]+(?:\.[0-9]+)?/s\b)
    |(?P<quantity>\b[0-9]+(?:\.[0-9]+)?[A-Za-z]+\b)""",
    re.VERBOSE,
)
_WORDS = {"true": True, "false": False, "null": None, "none": None, "True": True, "False": False, "None": None}
_ARITHMETIC: dict[type[ast.operator], Callable[[Any, Any], Any]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod,
}
_COMPARISONS: dict[type[ast.cmpop], Callable[[Any, Any], bool]] = {
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
    ast.In: lambda item, group: item in group,
    ast.NotIn: lambda item, group: item not in group,
}


class ExpressionError(Exception):
    """An expression that cannot be parsed or evaluated; has a one-line message and a hint."""

    def __init__(self, message: str, hint: str = EXAMPLE) -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint


class Condition:
    """A checked expression.

    Attributes:
        text: The expression as written, shortened.
        fields: Fields that it reads.
    """

    def __init__(self, text: str, targets: tuple[str, ...] = (), workloads: tuple[str, ...] = ()) -> None:
        """Parse and check an expression.

        Args:
            text: The expression.
            targets: Names that `target` may be compared with.
            workloads: Names that `workload` may be compared with.

        Raises:
            ExpressionError: It is not an allowed expression over known fields.
        """
        self.text = textwrap.shorten(text, 80, placeholder=" ...")
        self.fields: set[str] = set()
        self._choices = {field: kind.choices for field, kind in VALUE_KINDS.items() if kind.choices}
        self._choices |= {"target": targets, "workload": workloads}
        self._evaluate = self._build(_parse(text))

    def holds(self, values: Values) -> bool:
        """Return whether it is true for a case.

        Raises:
            ExpressionError: It compares different types, divides by zero, or is neither true nor false.
        """
        try:
            result = self._evaluate(values)
        except TypeError:
            raise ExpressionError(
                f"`{self.text}` cannot be evaluated{self._unset(values)}", self._unset_hint(values)
            ) from None
        except (ZeroDivisionError, OverflowError):
            raise ExpressionError(f"`{self.text}` divides by zero or overflows", EXAMPLE) from None
        if not isinstance(result, bool):
            raise ExpressionError(f"`{self.text}` is neither true nor false", EXAMPLE)
        return result

    def _missing(self, values: Values) -> list[str]:
        return sorted(field for field in self.fields if values[field] is None)

    def _unset(self, values: Values) -> str:
        missing = self._missing(values)
        return f": {', '.join(missing)} is not set in some cases" if missing else ": it mixes text and numbers"

    def _unset_hint(self, values: Values) -> str:
        missing = self._missing(values)
        return (
            f"ask first: `{missing[0]} != null and ...`" if missing else "compare numbers with numbers, text with text"
        )

    def _build(self, node: ast.AST) -> Evaluator:
        if isinstance(node, ast.BoolOp):
            return self._logic(node)
        if isinstance(node, ast.UnaryOp):
            return self._unary(node)
        if isinstance(node, ast.BinOp):
            return self._arithmetic(node)
        if isinstance(node, ast.Compare):
            return self._compare(node)
        if isinstance(node, ast.Constant) and isinstance(node.value, str | int | float):
            value = node.value
            return lambda _values: value
        if isinstance(node, ast.Name):
            return self._name(node.id)
        if isinstance(node, ast.List | ast.Tuple):
            items = [self._build(item) for item in node.elts]
            return lambda values: [item(values) for item in items]
        raise ExpressionError(f"`{self.text}` has {_form_name(node)}, which is not allowed")

    def _logic(self, node: ast.BoolOp) -> Evaluator:
        parts = [self._build(part) for part in node.values]
        if isinstance(node.op, ast.And):
            return lambda values: all(_truth(part(values)) for part in parts)
        return lambda values: any(_truth(part(values)) for part in parts)

    def _unary(self, node: ast.UnaryOp) -> Evaluator:
        inner = self._build(node.operand)
        if isinstance(node.op, ast.Not):
            return lambda values: not _truth(inner(values))
        if isinstance(node.op, ast.USub):
            return lambda values: -_number(inner(values))
        raise ExpressionError(f"`{self.text}` has an operator that is not allowed")

    def _arithmetic(self, node: ast.BinOp) -> Evaluator:
        action = _ARITHMETIC.get(type(node.op))
        if action is None:
            raise ExpressionError(f"`{self.text}` has an operator that is not allowed", "use + - * / // %")
        left, right = self._build(node.left), self._build(node.right)
        return lambda values: action(_number(left(values)), _number(right(values)))

    def _compare(self, node: ast.Compare) -> Evaluator:
        sides = [node.left, *node.comparators]
        for left, right in itertools.pairwise(sides):
            self._check_words(left, right)
            self._check_words(right, left)
        if not all(type(sign) in _COMPARISONS for sign in node.ops):
            raise ExpressionError(f"`{self.text}` has `is`, which is not allowed", "use == and !=")
        signs = [_COMPARISONS[type(sign)] for sign in node.ops]
        parts = [self._build(side) for side in sides]

        def evaluate(values: Values) -> bool:
            results = [part(values) for part in parts]
            return all(sign(results[i], results[i + 1]) for i, sign in enumerate(signs))

        return evaluate

    def _check_words(self, name: ast.AST, other: ast.AST) -> None:
        """Refuse a word that the field never has: such a comparison would silently always be false."""
        if not isinstance(name, ast.Name) or name.id not in self._choices:
            return
        for item in other.elts if isinstance(other, ast.List | ast.Tuple) else [other]:
            if not isinstance(item, ast.Constant):
                continue
            allowed = self._choices[name.id]
            if item.value not in allowed:
                message = f"`{self.text}`: {name.id} is never {units.display_value(item.value)}"
                raise ExpressionError(message, units.choices_hint(item.value, allowed))

    def _name(self, name: str) -> Evaluator:
        if name in _WORDS:
            value = _WORDS[name]
            return lambda _values: value
        if name not in VALUE_KINDS and name not in ("target", "workload"):
            known = [*VALUE_KINDS, "target", "workload"]
            hint = units.choices_hint(name, known)
            words = [word for group in self._choices.values() for word in group]
            raise ExpressionError(
                f"`{self.text}`: there is no field `{name}`", f"write it in quotes: '{name}'" if name in words else hint
            )
        self.fields.add(name)
        return lambda values: values[name]


def _parse(text: str) -> ast.expr:
    text = " ".join(text.split())
    if len(text) > MAX_CHARACTERS:
        raise ExpressionError(
            f"the expression has {len(text)} characters, more than {MAX_CHARACTERS}", "make it shorter"
        )
    try:
        tree = ast.parse(_LEXEME.sub(_lexeme, text), mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        raise ExpressionError(f"`{textwrap.shorten(text, 80)}` is not an expression") from None
    if _is_deeper(tree, MAX_DEPTH):
        raise ExpressionError(
            f"the expression is nested more than {MAX_DEPTH} levels deep",
            "split it: `where` and several `exclude` rules work together",
        )
    return tree


def _is_deeper(tree: ast.AST, most: int) -> bool:
    """Return whether a tree has more than `most` levels; not recursive, since the tree may be too deep for that."""
    level: list[ast.AST] = [tree]
    for _ in range(most):
        level = [child for node in level for child in ast.iter_child_nodes(node)]
    return bool(level)


def _lexeme(match: re.Match[str]) -> str:
    written = match[0]
    if match["text"]:
        return written
    try:
        if match["rate"]:
            return repr(units.parse_rate(written))
        unit = written.lstrip("0123456789.")
        return str(units.parse_duration(written) if unit in units.DURATION_UNITS else units.parse_size(written))
    except units.UnitError as error:
        raise ExpressionError(error.message, error.hint) from None


def _truth(value: object) -> bool:
    if not isinstance(value, bool):
        raise TypeError
    return value


def _number(value: Any) -> int | float:
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise TypeError
    return value


def _form_name(node: ast.AST) -> str:
    names = {ast.Call: "a call", ast.Attribute: "an attribute", ast.Subscript: "an index", ast.Lambda: "a lambda"}
    return names.get(type(node), "a form")
