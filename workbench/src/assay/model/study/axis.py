"""Values of a workload's fields: a single value, or an axis written as a list or a range."""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from pydantic_core import CoreSchema, PydanticCustomError, core_schema

from assay.model import units
from assay.model.frozen import Frozen
from assay.model.site.cpus import CPUS_PATTERN, parse_cpus

AxisValue = int | float | str | bool | None
ColumnKind = Literal["text", "integer", "number", "boolean"]
Unit = Literal["", "bytes", "ns"]


def fault(message: str, hint: str, *inner: str | int) -> PydanticCustomError:
    """Return a validation error with a hint; `inner` is the path from the field to the faulty part."""
    return PydanticCustomError("study", "{message}", {"message": message, "hint": hint, "inner": inner})


def parse_validator(parse: Callable[[object], Any], ready: type | tuple[type, ...] = ()) -> Callable[[object], Any]:
    """Return a validator that reads text with a parser of `assay.model.units`.

    Args:
        parse: The parser; raises units.UnitError.
        ready: Values of these types are not parsed: they come from a model, not from a file.
    """

    def read(written: object) -> Any:
        if isinstance(written, ready):
            return written
        try:
            return parse(written)
        except units.UnitError as error:
            raise fault(error.message, error.hint) from None

    return read


class ValueRange(Frozen):
    """A range that is not expanded yet, so that a huge one costs nothing. Either `step` or `factor` is set."""

    start: int | float
    stop: int | float
    step: int | float | None = None
    factor: int | float | None = None

    def count(self) -> int:
        """Return the number of values."""
        if self.step is not None:
            width = self.stop - self.start
            # The small tolerance includes a last value that rounding has moved past the end.
            return int(width // self.step if isinstance(width, int) else width / self.step + 1e-9) + 1
        count, value = 0, self.start
        while value <= self.stop * (1 + 1e-12 if isinstance(value, float) else 1):
            count, value = count + 1, value * (self.factor or 2)
        return count

    def values(self) -> tuple[int | float, ...]:
        """Return all values in order."""
        if self.step is not None:
            return tuple(self.start + place * self.step for place in range(self.count()))
        return tuple(self.start * (self.factor or 2) ** place for place in range(self.count()))


class Axis(Frozen):
    """The values of one field.

    Attributes:
        listed: The values; empty if `span` defines them.
        span: A range.
        swept: Written as a list or range, so that it is an axis of the study even with a single value.
    """

    listed: tuple[AxisValue, ...] = ()
    span: ValueRange | None = None
    swept: bool = False

    def count(self) -> int:
        """Return the number of values; at least 1."""
        return self.span.count() if self.span else len(self.listed)

    def values(self) -> tuple[AxisValue, ...]:
        """Return all values in order."""
        return self.span.values() if self.span else self.listed


@dataclass(frozen=True, eq=False)
class ValueKind:
    """How values of one kind are read, checked, shown and described to editors.

    Attributes:
        read: Converts what is written to the value; raises units.UnitError.
        show: Returns the shortest exact spelling of a value.
        schema: JSON Schema of what may be written.
        min: Inclusive lower bound.
        max: Inclusive upper bound.
        choices: Allowed words, if values are words.
        optional: Whether `null` is allowed, which means: not set.
        label: Name of such a value in a word or two.
        column: Type of an exported column of such values.
        unit: Unit of a number; empty if it has none or the parameter defines it.
        allows_mapping: A value may be a mapping; one with `from` or `to` is still a range.
    """

    read: Callable[[object], AxisValue]
    show: Callable[[Any], str]
    schema: Mapping[str, Any]
    min: int | float | None = None
    max: int | float | None = None
    choices: tuple[str, ...] = ()
    optional: bool = False
    label: str = "a word"
    column: ColumnKind = "text"
    unit: Unit = ""
    allows_mapping: bool = False

    def value(self, written: object) -> AxisValue:
        """Convert what is written to a checked value.

        Raises:
            units.UnitError: It cannot be read or is out of bounds.
        """
        if written is None and self.optional:
            return None
        value = self.read(written)
        bounded = isinstance(value, int | float) and not isinstance(value, bool)
        if bounded and self.min is not None and self.max is not None and not self.min <= value <= self.max:  # type: ignore[operator]
            raise units.UnitError(f"{self.show(value)} is out of range", f"it must be {self._bounds(value)}")
        return value

    def _bounds(self, value: object = None) -> str:
        least, most = self.min or 0, self.max or 0
        if isinstance(value, int | float) and value > most >= 2**53:
            return f"at most {self.show(most)}"
        return f"at least {self.show(least)}" if most >= 2**53 else f"{self.show(least)} to {self.show(most)}"

    @property
    def values_text(self) -> str:
        """The allowed values in words."""
        if self.choices:
            return ", ".join(self.choices)
        return f"{self.label}, {self._bounds()}" if self.allows_range else self.label

    def display(self, value: AxisValue) -> str:
        """Return a value for display."""
        return "none" if value is None else self.show(value)

    @property
    def allows_range(self) -> bool:
        """Whether a range {from, to, ...} is allowed."""
        return self.min is not None


def _read_whole(written: object) -> int:
    if isinstance(written, bool) or not isinstance(written, int):
        raise units.UnitError(
            f"{units.display_value(written)} is not a whole number", "write a whole number without quotes"
        )
    return written


def _read_flag(written: object) -> bool:
    if not isinstance(written, bool):
        raise units.UnitError(
            f"{units.display_value(written)} is neither true nor false", "write true or false, without quotes"
        )
    return written


def size(least: int, most: int, optional: bool = False) -> ValueKind:
    """Return the kind of sizes in bytes."""
    schema = {
        "anyOf": [{"type": "string", "pattern": units.SIZE_PATTERN}, {"type": "integer", "minimum": least}],
        "description": "A size such as 64KiB or 1MB, or a whole number of bytes.",
    }
    return ValueKind(
        units.parse_size,
        units.format_size,
        schema,
        least,
        most,
        optional=optional,
        label="a size",
        column="integer",
        unit="bytes",
    )


def duration(least: int, most: int, optional: bool = False) -> ValueKind:
    """Return the kind of durations in nanoseconds."""
    schema = {"type": "string", "pattern": units.DURATION_PATTERN, "description": "A duration such as 100ms, 5s or 2m."}
    return ValueKind(
        units.parse_duration,
        units.format_duration,
        schema,
        least,
        most,
        optional=optional,
        label="a duration",
        column="integer",
        unit="ns",
    )


def rate(least: float, most: float) -> ValueKind:
    """Return the kind of optional rates in operations per second."""
    schema = {"type": "string", "pattern": units.RATE_PATTERN, "description": "A rate such as 1000/s."}
    return ValueKind(
        units.parse_rate, units.format_rate, schema, least, most, optional=True, label="a rate", column="number"
    )


def _read_factor(written: object) -> float:
    if isinstance(written, bool) or not isinstance(written, int | float) or not math.isfinite(written):
        raise units.UnitError(
            f"{units.display_value(written)} is not a number", "write a number such as 0.1, without quotes"
        )
    return float(written)


def factor(least: float, most: float) -> ValueKind:
    """Return the kind of multipliers."""
    schema = {"type": "number", "minimum": least, "maximum": most}
    return ValueKind(
        _read_factor, lambda value: f"{value:.10g}", schema, least, most, label="a number", column="number"
    )


def throughput() -> ValueKind:
    """Return the kind of optional throughputs in bytes per second."""
    schema = {
        "type": "string",
        "pattern": units.THROUGHPUT_PATTERN,
        "description": "A throughput such as 500MB/s, or in bits 10Gb/s.",
    }
    return ValueKind(
        units.parse_throughput,
        units.format_throughput,
        schema,
        1.0,
        1e15,
        optional=True,
        label="a throughput",
        column="number",
    )


def whole(least: int, most: int, optional: bool = False) -> ValueKind:
    """Return the kind of whole numbers."""
    schema = {"type": "integer", "minimum": least, "maximum": most}
    return ValueKind(_read_whole, str, schema, least, most, optional=optional, label="a whole number", column="integer")


def flag() -> ValueKind:
    """Return the kind of true and false."""
    return ValueKind(
        _read_flag, lambda value: str(value).lower(), {"type": "boolean"}, label="true or false", column="boolean"
    )


def cpus() -> ValueKind:
    """Return the kind of optional CPU lists, as text."""
    schema = {
        "anyOf": [{"type": "string", "pattern": CPUS_PATTERN}, {"type": "integer", "minimum": 0}],
        "description": "CPUs such as 0-3,6.",
    }
    return ValueKind(parse_cpus, str, schema, optional=True, label="CPUs such as 0-3,6")


def choice(words: tuple[str, ...], optional: bool = False) -> ValueKind:
    """Return the kind of a few allowed words."""

    def read(written: object) -> str:
        if isinstance(written, str) and written in words:
            return written
        raise units.UnitError(f"{units.display_value(written)} is not allowed here", units.choices_hint(written, words))

    return ValueKind(read, str, {"enum": list(words)}, choices=words, optional=optional)


@dataclass(frozen=True, eq=False)
class SingleField:
    """Annotation of a field that holds one value of a kind."""

    kind: ValueKind

    def read(self, written: object) -> AxisValue:
        """Return the value, for pydantic."""
        try:
            return self.kind.value(written)
        except units.UnitError as error:
            raise fault(error.message, error.hint) from None

    def __get_pydantic_core_schema__(self, source: Any, handler: Any) -> CoreSchema:
        """Make pydantic read the field with `read`."""
        return core_schema.no_info_plain_validator_function(self.read)

    def __get_pydantic_json_schema__(self, schema: CoreSchema, handler: Any) -> dict[str, Any]:
        """Return the JSON Schema for editors."""
        return _described(self.kind)


@dataclass(frozen=True, eq=False)
class SweepField(SingleField):
    """Annotation of a field that holds one value, a list or a range."""

    def read(self, written: object) -> Axis:  # type: ignore[override]
        """Return the axis, for pydantic."""
        if isinstance(written, Axis):
            return written
        if isinstance(written, list):
            return self._list(written)
        if isinstance(written, dict) and not (self.kind.allows_mapping and {"from", "to"}.isdisjoint(written)):
            return Axis(span=self._span(written), swept=True)
        return Axis(listed=(super().read(written),))

    def _list(self, written: list[object]) -> Axis:
        if not written:
            raise fault("an axis needs at least one value", "write one or more values, or leave the field out")
        values: list[AxisValue] = []
        for place, item in enumerate(written):
            try:
                value = self.kind.value(item)
            except units.UnitError as error:
                raise fault(error.message, error.hint, place) from None
            if value in values:
                raise fault(f"{self.kind.display(value)} comes twice", "name each value of an axis once", place)
            values.append(value)
        return Axis(listed=tuple(values), swept=True)

    def _span(self, written: dict[str, object]) -> ValueRange:
        form = "write {from: 4KiB, to: 1MiB, factor: 2} or {from: 1, to: 9, step: 2}"
        if not self.kind.allows_range:
            raise fault("this field has no range", "write one value or a list of values")
        for key in written:
            if key not in ("from", "to", "step", "factor"):
                raise fault(f"unknown key `{key}` in a range", form, key)
        if "from" not in written or "to" not in written or ("step" in written) == ("factor" in written):
            raise fault("a range needs from, to and one of step and factor", form)
        start, stop = self._number(written, "from"), self._number(written, "to")
        if start > stop:
            raise fault(f"the range ends at {self.kind.display(stop)}, before it starts", "swap from and to", "to")
        if "step" in written:
            return ValueRange(start=start, stop=stop, step=self._step(written["step"]))
        return ValueRange(start=start, stop=stop, factor=self._factor(written["factor"], start))

    def _number(self, written: dict[str, object], key: str) -> int | float:
        try:
            value = self.kind.value(written[key])
        except units.UnitError as error:
            raise fault(error.message, error.hint, key) from None
        if not isinstance(value, int | float):
            raise fault("a range needs a value here", "write a value", key)
        return value

    def _step(self, written: object) -> int | float:
        try:
            step = self.kind.read(written)
        except units.UnitError as error:
            raise fault(error.message, error.hint, "step") from None
        if not isinstance(step, int | float) or step <= 0:
            raise fault("step must be above 0", "a range goes upwards", "step")
        return step

    def _factor(self, written: object, start: int | float) -> int | float:
        hint = "write factor: 2, 4, 10 ..."
        number = 0.0 if isinstance(written, bool) or not isinstance(written, int | float) else written
        if isinstance(start, int) and (number < 2 or number != math.floor(number)):
            raise fault(f"{units.display_value(written)} is not a whole number of at least 2", hint, "factor")
        if not 1.01 <= number < math.inf:
            raise fault(f"{units.display_value(written)} is not a number of at least 1.01", hint, "factor")
        if start == 0:
            raise fault("a range with a factor cannot start at 0", "start above 0, or use step", "from")
        return int(number) if isinstance(start, int) else number

    def __get_pydantic_json_schema__(self, schema: CoreSchema, handler: Any) -> dict[str, Any]:
        """Return the JSON Schema of one value, a list or a range."""
        value = _described(self.kind)
        forms = [value, {"type": "array", "items": value, "minItems": 1, "uniqueItems": True}]
        if self.kind.allows_range:
            forms.append(_range_schema(self.kind))
        return {"anyOf": forms}


def _described(kind: ValueKind) -> dict[str, Any]:
    schema = dict(kind.schema)
    return {"anyOf": [schema, {"type": "null"}]} if kind.optional else schema


def _range_schema(kind: ValueKind) -> dict[str, Any]:
    value = dict(kind.schema)
    ends = {"from": value, "to": value}
    return {
        "type": "object",
        "description": "A range: from, to and either step (added) or factor (multiplied).",
        "properties": {**ends, "step": value, "factor": {"type": "number", "minimum": 1.01}},
        "required": ["from", "to"],
        "oneOf": [{"required": ["step"]}, {"required": ["factor"]}],
        "additionalProperties": False,
    }
