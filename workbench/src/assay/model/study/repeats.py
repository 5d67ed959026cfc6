"""The number of repeats of each case: fixed, until a decision, or until the results are known accurately enough."""

import re
from dataclasses import dataclass
from typing import Any

from pydantic_core import CoreSchema, core_schema

from assay.model.frozen import Frozen
from assay.model.study import axis
from assay.model.study.axis import ValueKind, fault
from assay.model.units import UnitError, choices_hint, display_value
from assay.model.user_text import MAX_REPEATS

MIN_BEFORE_STOP = 8
"""Repeats before a case can be known well enough: with fewer, a narrow interval is too often an accident."""
MIN_COMPARED = 4
"""With fewer repeats on a side, no difference is called: too little is known about the noise."""
MAX_WITHIN = 0.5
"""Largest half interval that may be required, as a share of the median."""
MIN_BEFORE_LOOK = 5
"""Repeats before the first interim look at what is decided."""
DEFAULT_MAX = 20
EQUAL_WITHIN = 0.05
"""Targets that differ by at most this share count as equal, unless the study says otherwise."""
_GROWTH = 1.4

_FIXED = axis.whole(1, MAX_REPEATS)
_TIME = axis.duration(10**9, 31 * 86400 * 10**9)
_KEYS = ("decide", "within", "max", "min", "time")
_FORM = "write {decide: 5%, max: 20} or {within: 5%, max: 30}"
_PERCENT_PATTERN = r"^[0-9]{1,3}(?:\.[0-9]{1,6})? ?%$"


class Repeats(Frozen):
    """The number of executions of each case.

    Attributes:
        max: Largest number of repeats of a case.
        min: Fewest repeats of a case; less than `max` only if `within` or `decide` is set.
        within: Stop when both ends of the 95 % interval of each rate of the case are within this share of the median;
            None if not requested.
        decide: Stop when it is decided which target is faster, or that they differ by less than this share; None if not
            requested.
        time: No round begins that would end after this many nanoseconds of measuring, except to reach the fewest
            repeats; None without such a limit.
    """

    max: int
    min: int
    within: float | None = None
    decide: float | None = None
    time: int | None = None

    @property
    def is_adaptive(self) -> bool:
        """Whether the number of repeats depends on the results."""
        return self.within is not None or self.decide is not None

    @property
    def look_numbers(self) -> tuple[int, ...]:
        """Numbers of repeats after which there is an interim look at what is decided."""
        return look_schedule(self.min, self.max) if self.decide is not None else ()

    @property
    def words(self) -> str:
        """The number of repeats in words: `3 repeats`, or `8 to 30 repeats`."""
        return repeats_words(self.max, self.min)


def look_schedule(least: int, most: int) -> tuple[int, ...]:
    """Return `least`, then each 1.4 times the one before, up to `most`: many looks cost power, few cost time."""
    numbers = [least]
    while numbers[-1] < most:
        numbers.append(min(most, max(numbers[-1] + 1, round(numbers[-1] * _GROWTH))))
    return tuple(numbers)


DEFAULT_REPEATS = Repeats(max=DEFAULT_MAX, min=MIN_BEFORE_LOOK, decide=EQUAL_WITHIN)
"""The default if the study does not say."""


def repeats_words(most: int, least: int | None = None) -> str:
    """Return a number of repeats in words: `1 repeat`, `3 repeats`, or `8 to 30 repeats`."""
    number = f"{most:,}" if least in (None, most) else f"{least:,} to {most:,}"
    return f"{number} {'repeat' if most == 1 else 'repeats'}"


def until_words(within: float | None, decide: float | None) -> str:
    """Return the condition that ends the repeats of a case early, in words."""
    if decide is not None:
        return f"until it is decided which target is faster, or that they differ by less than {within_words(decide)}"
    return f"until known within {within_words(within or 0.0)}"


def within_words(within: float) -> str:
    """Format a share as in the study file: 0.05 is `5 %`."""
    return f"{100 * within:.6g} %"


@dataclass(frozen=True, eq=False)
class RepeatsField:
    """Annotation of the field: a whole number, `{decide, max, min, time}` or `{within, max, min, time}`."""

    def read(self, written: object) -> Repeats:
        """Return the value, for pydantic."""
        if isinstance(written, Repeats):
            return written
        if isinstance(written, dict):
            return _adaptive(written)
        number = _whole(_FIXED, written)
        return Repeats(max=number, min=number)

    def __get_pydantic_core_schema__(self, source: Any, handler: Any) -> CoreSchema:
        """Make pydantic read the field with `read`."""
        return core_schema.no_info_plain_validator_function(self.read)

    def __get_pydantic_json_schema__(self, schema: CoreSchema, handler: Any) -> dict[str, Any]:
        """Return the JSON Schema for editors."""
        known = "Until the 95 % interval reaches no further from the median than this share of it."
        decided = "Until it is decided which target is faster, or that they differ by less than this share."
        return {
            "anyOf": [
                dict(_FIXED.schema),
                _schema("within", known, MIN_BEFORE_STOP),
                _schema("decide", decided, MIN_BEFORE_LOOK),
            ]
        }


def _adaptive(written: dict[str, object]) -> Repeats:
    for key in written:
        if key not in _KEYS:
            raise fault(f"unknown key `{key}` in repeats", choices_hint(key, _KEYS), key)
    if ("within" in written) == ("decide" in written):
        raise fault("repeats needs either `within` or `decide`, and not both", _FORM)
    if "max" not in written:
        raise fault("`max` is missing", _FORM)
    key, fewest, why = (
        ("within", MIN_BEFORE_STOP, "with fewer repeats an interval is too often narrow by chance")
        if "within" in written
        else ("decide", MIN_COMPARED, "fewer repeats cannot show which target is faster")
    )
    share = _share(written[key], key)
    standard = MIN_BEFORE_STOP if key == "within" else MIN_BEFORE_LOOK
    least = _whole(_FIXED, written.get("min", standard), "min")
    if least < fewest:
        raise fault(f"min {least} is too few", f"at least {fewest}: {why}", "min")
    most = _whole(_FIXED, written["max"], "max")
    if most < least:
        hint = f"write max: {least} or more, or a fixed number of repeats"
        raise fault(f"max {most} is below min, which is {least}", hint, "max")
    time = _whole(_TIME, written["time"], "time") if "time" in written else None
    return Repeats(max=most, min=least, time=time, **{key: share})


def _schema(key: str, words: str, standard: int) -> dict[str, Any]:
    """Return the JSON Schema of one of the two adaptive forms."""
    number = {"type": "integer", "maximum": MAX_REPEATS}
    fewest = MIN_BEFORE_STOP if key == "within" else MIN_COMPARED
    limit = "After the fewest repeats, no round begins that would end after this much measuring time."
    return {
        "type": "object",
        "description": "Repeats until the result is precise enough.",
        "properties": {
            key: {"type": "string", "pattern": _PERCENT_PATTERN, "description": words},
            "max": {**number, "minimum": fewest, "description": "Greatest number of repeats of a case."},
            "min": {**number, "minimum": fewest, "description": "Fewest repeats of a case.", "default": standard},
            "time": {**_TIME.schema, "description": limit},
        },
        "required": [key, "max"],
        "additionalProperties": False,
    }


def _whole(kind: ValueKind, written: object, *inner: str) -> int:
    try:
        value = kind.value(written)
    except UnitError as error:
        raise fault(error.message, error.hint, *inner) from None
    return int(value or 0)


def _share(written: object, key: str) -> float:
    """Return the share that a percentage means; a bare number is refused, since it could mean either."""
    if not isinstance(written, str) or not re.fullmatch(_PERCENT_PATTERN, written):
        raise fault(f"{display_value(written)} is not a percentage", f"write {key}: 5%", key)
    share = float(written.rstrip("% ")) / 100
    if not 0 < share <= MAX_WITHIN:
        raise fault(
            f"{display_value(written)} is out of range", f"it must be above 0% and at most {MAX_WITHIN:.0%}", key
        )
    return share
