"""Properties of results that authors name: target, operation, axes, parameters; their values, written and shown."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cache

from assay.model.result.result import ResultRow
from assay.model.study.axis import AxisValue
from assay.model.study.parameters import DEFINITIONS
from assay.model.units import UnitError, parse_duration, parse_size
from assay.report import numbers
from assay.report.view import RunView

OF_ROW = ("run", "target", "workload", "operation")
"""Properties that every result has, in the order in which references name them."""
_SIZES = ("file_size", "record_size", "object_size")
"""Axes whose values are known without the name of the axis."""
_MAX_CHOICES = 8


@dataclass(frozen=True, slots=True)
class RunResult:
    """A result with the run that it is of.

    Attributes:
        run: Name of the run in the document.
    """

    run: str
    view: RunView
    row: ResultRow

    def value(self, key: str) -> AxisValue:
        """Return the value of a property; None if it has none."""
        if key == "run":
            return self.run
        return host_of(self.view) if key == "host" else property_value(self.row, key)


def host_of(view: RunView) -> str | None:
    """Return the machines that made the load of a run, or the machine of an import; None if they are not known."""
    run = view.run
    if run.imports:
        return numbers.listing(list(dict.fromkeys(file.host for file in run.imports if file.host))) or None
    return numbers.listing(list(run.hosts)) or run.environment.get("host", {}).get("name") or None


def property_value(row: ResultRow, key: str) -> AxisValue:
    """Return the value of a property of a result; None for a parameter that does not affect its operations."""
    case = row.case
    if key in _OWN:
        return _OWN[key](row)
    if key in case.axes:
        return case.axes[key]
    value: AxisValue = case.parameters.get_value(key)
    return value if _affects(key, case.operations) else None


_OWN: dict[str, Callable[[ResultRow], AxisValue]] = {
    "target": lambda row: row.case.target,
    "workload": lambda row: row.case.workload,
    "operation": lambda row: row.operation,
    "verdict": lambda row: str(row.verdict),
    "case": lambda row: row.case.id,
}


@cache
def _affects(key: str, operations: tuple[str, ...]) -> bool:
    return key not in DEFINITIONS or DEFINITIONS[key].affects(operations)


def property_names(rows: Iterable[ResultRow]) -> list[str]:
    """Return the names of the properties in which results of a run may differ: target, workload, operation, axes."""
    return list(dict.fromkeys([*OF_ROW[1:], *(axis for row in rows for axis in row.case.axes)]))


def is_value(key: str, value: AxisValue, written: str) -> bool:
    """Whether a value is the written one: as it is stored, as tables show it, or as a quantity with another unit."""
    plain = written.replace(" ", "").casefold()
    if plain in (str(value).casefold(), value_words(key, value).replace(" ", "").casefold()):
        return True
    return isinstance(value, int | float) and not isinstance(value, bool) and _number(written) == value


def _number(written: str) -> float | None:
    """Return a size in bytes, a duration in nanoseconds, or a number; None if it is none of them."""
    for read in (parse_size, parse_duration, float):
        try:
            return read(written)
        except (UnitError, ValueError):
            continue
    return None


def number_of(key: str, written: str) -> float | None:
    """Return the number that is written for a property, in bytes or nanoseconds; None if it is no number."""
    if key in DEFINITIONS and DEFINITIONS[key].kind.unit == "ns":
        try:
            return parse_duration(written)
        except UnitError:
            return None
    return _number(written)


def value_words(key: str, value: AxisValue) -> str:
    """Return a value as tables show it."""
    if value is None:
        return numbers.NONE
    return (str(value) or numbers.NONE) if key in _OWN or key in OF_ROW else numbers.axis_value(key, value)


def heading_words(key: str, value: AxisValue) -> str:
    """Return a value for a heading, with the name of its axis unless it is known without it: `Hosts 4`, `64 KiB`."""
    if key == "operation":
        return numbers.operation_title(str(value))
    words = value_words(key, value)
    is_known = isinstance(value, str) or key in _SIZES
    return words if is_known else f"{property_title(key)} {words}"


def named_words(key: str, value: AxisValue) -> str:
    """Return a value within a sentence, with the name of its property unless that is clear: `file size 64 KiB`."""
    words = heading_words(key, value)
    if key in ("target", "run"):
        return words
    if key == "operation":
        return words[:1].lower() + words[1:]
    return f"{property_title(key).lower()} {value_words(key, value)}"


def property_title(key: str) -> str:
    """Return the title of a property, for people."""
    return numbers.axis_title(key)


def how_to_choose(rows: Sequence[ResultRow]) -> str:
    """Return the properties in which results differ, with their values."""
    texts = []
    for key in property_names(rows):
        values = distinct_words(key, (property_value(row, key) for row in rows))
        if len(values) > 1:
            texts.append(f"{key}={'|'.join(shortened_choices(values))}")
    return f"add {'; '.join(texts)}"


def distinct_words(key: str, values: Iterable[AxisValue]) -> list[str]:
    """Return values as tables show them, each once, without None."""
    return list(dict.fromkeys(value_words(key, value) for value in values if value is not None))


def shortened_choices(values: Sequence[str]) -> list[str]:
    """Return the first values as an author may write them, and how many more there are."""
    more = [f"and {len(values) - _MAX_CHOICES} more"] if len(values) > _MAX_CHOICES else []
    return [*(_quoted(value) for value in values[:_MAX_CHOICES]), *more]


def _quoted(value: str) -> str:
    compact = value.replace(" ", "")
    return compact if all(letter.isalnum() or letter in "_.:/+-" for letter in compact) else f'"{value}"'
