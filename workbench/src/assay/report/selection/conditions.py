"""Results that satisfy what an author orders: `where: {operation: write, record_size: ">256KiB"}`."""

import operator
import re
from collections.abc import Callable, Iterable, Mapping, Sequence

from assay.model.base import AssayError
from assay.model.study.axis import AxisValue
from assay.model.study.parameters import DEFINITIONS
from assay.model.units import choices_hint
from assay.report.selection.properties import (
    OF_ROW,
    RunResult,
    distinct_words,
    is_value,
    number_of,
    property_names,
    property_title,
    shortened_choices,
    value_words,
)

_COMPARISON = re.compile(r"\s*(<=|>=|!=|<|>)\s*(\S.*)")
_OPERATORS: dict[str, Callable[[float, float], bool]] = {
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}
_NEAR = "did you mean"
_MORE = ("host", "verdict", "case")
"""Properties that can be named, but in which results need not differ."""


def check_property(key: str, results: Sequence[RunResult]) -> None:
    """Refuse a property that no result has.

    Raises:
        AssayError: No result has it.
    """
    if key in (*OF_ROW, *_MORE) or any(result.value(key) is not None for result in results):
        return
    known = ["run", "host", *property_names(result.row for result in results)]
    if key in DEFINITIONS:
        raise AssayError(f"no result has a known `{key}`", f"results have {', '.join(known)}")
    near = choices_hint(key, [*known, *DEFINITIONS])
    hint = near if near.startswith(_NEAR) else choices_hint(key, known)
    raise AssayError(f"there is no property `{key}`", hint)


def is_comparison(written: str) -> bool:
    """Return whether a condition compares, as `>256KiB` does, in place of naming a value."""
    return _COMPARISON.fullmatch(written) is not None


def chosen_results(results: Sequence[RunResult], where: Mapping[str, tuple[str, ...]]) -> list[RunResult]:
    """Return the results that satisfy all conditions.

    Raises:
        AssayError: A property or value does not exist, or no result satisfies all conditions.
    """
    rest = list(results)
    for key, written in where.items():
        check_property(key, results)
        matches = [_condition(key, text, results) for text in written]
        compares = [is_comparison(text) for text in written]
        if any(compares) and not all(compares):
            raise AssayError(f"where.{key}: values and comparisons are mixed", "write only values, or only comparisons")
        combine = all if all(compares) else any
        before = rest
        rest = [one for one in rest if combine(match(one.value(key)) for match in matches)]
        if not rest:
            values = shortened_choices(distinct_words(key, (one.value(key) for one in before)))
            words = f"no result has {key} {', '.join(written)}"
            earlier = [f"{name} {', '.join(where[name])}" for name in list(where)[: list(where).index(key)]]
            words += f" together with {'; '.join(earlier)}" if earlier else ""
            raise AssayError(words, f"{key} is one of: {', '.join(values)}" if values else "leave one condition out")
    return rest


def _condition(key: str, written: str, results: Iterable[RunResult]) -> Callable[[AxisValue], bool]:
    """Return what checks a value of a property.

    Raises:
        AssayError: No result has the value, or the comparison has no number.
    """
    found = _COMPARISON.fullmatch(written)
    if found is not None and found[1] != "!=":
        return _comparison(key, found[1], found[2].strip(), results)
    wanted = found[2].strip() if found is not None else written
    values = dict.fromkeys(result.value(key) for result in results)
    if not any(_is(key, value, wanted) for value in values):
        words = distinct_words(key, values)
        hint = choices_hint(wanted, words)
        if any(map(_is_number, values)) or not hint.startswith(_NEAR):
            hint = f"one of: {', '.join(shortened_choices(words))}"
        raise AssayError(f"no result has {key} `{wanted}`", hint)
    if found is not None:
        return lambda value: not _is(key, value, wanted)
    return lambda value: _is(key, value, wanted)


def _is(key: str, value: AxisValue, wanted: str) -> bool:
    return wanted == "none" if value is None else is_value(key, value, wanted)


def _comparison(key: str, sign: str, written: str, results: Iterable[RunResult]) -> Callable[[AxisValue], bool]:
    limit = number_of(key, written)
    if limit is None:
        raise AssayError(f"where.{key}: `{written}` is not a number", "compare with a number or a size: `>256KiB`")
    values = [result.value(key) for result in results]
    sizes = [
        value for value in values if _is_number(value) and not value_words(key, value).replace(",", "").isdecimal()
    ]
    if sizes and written.isdecimal() and limit:
        raise AssayError(
            f"where.{key}: `{written}` has no unit", f"write one, as in `{sign}{value_words(key, sizes[0])}`"
        )
    if not any(map(_is_number, values)):
        raise AssayError(f"where.{key}: {property_title(key)} is no number", "write one of its values, or a list")
    compare, bound = _OPERATORS[sign], limit
    return lambda value: isinstance(value, int | float) and not isinstance(value, bool) and compare(value, bound)


def _is_number(value: AxisValue) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)
