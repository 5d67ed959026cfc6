"""How often each case is repeated: a fixed number, or until its results are known well enough."""

import re
from dataclasses import dataclass
from typing import Any

from pydantic_core import CoreSchema, core_schema

from assay.model import axis
from assay.model.axis import Kind, fault
from assay.model.base import Frozen
from assay.model.units import UnitError, one_of, shown

LEAST_BEFORE_STOP = 8
"""Repeats before a case may be called known well enough: with fewer, a narrow interval is too often an accident."""
MOST_REPEATS = 1000
MOST_WITHIN = 0.5
"""Widest half interval that may be asked for, as a share of the median."""

_FIXED = axis.whole(1, MOST_REPEATS)
_KEYS = ("within", "max", "least")
_FORM = "write {within: 5%, max: 30}"
_PERCENT_PATTERN = r"^[0-9]{1,3}(?:\.[0-9]{1,6})? ?%$"


class Repeats(Frozen):
    """How often each case is executed.

    Attributes:
        most: Greatest number of repeats of a case.
        least: Fewest repeats of a case; less than `most` only if `within` is given.
        within: Stop when neither end of the 95 % interval of any of the case's rates is further from the median than
            this share of it; None for a fixed number.
    """

    most: int
    least: int
    within: float | None = None

    @property
    def words(self) -> str:
        """`3 repeats`, or `8 to 30 repeats`."""
        return repeats_words(self.most, self.least)


def repeats_words(most: int, least: int | None = None) -> str:
    """`1 repeat`, `3 repeats`, or `8 to 30 repeats`."""
    number = f"{most:,}" if least in (None, most) else f"{least:,} to {most:,}"
    return f"{number} {'repeat' if most == 1 else 'repeats'}"


def within_words(within: float) -> str:
    """A share as the study file has it: 0.05 is `5 %`."""
    return f"{100 * within:.6g} %"


@dataclass(frozen=True, eq=False)
class RepeatsField:
    """Annotation of the field: a whole number, or `{within, max, least}`."""

    def read(self, written: object) -> Repeats:
        """The value, for pydantic."""
        if isinstance(written, Repeats):
            return written
        if isinstance(written, dict):
            return _adaptive(written)
        number = _whole(_FIXED, written)
        return Repeats(most=number, least=number)

    def __get_pydantic_core_schema__(self, source: Any, handler: Any) -> CoreSchema:
        """How pydantic reads it."""
        return core_schema.no_info_plain_validator_function(self.read)

    def __get_pydantic_json_schema__(self, schema: CoreSchema, handler: Any) -> dict[str, Any]:
        """What an editor is told."""
        number = {"type": "integer", "minimum": LEAST_BEFORE_STOP, "maximum": MOST_REPEATS}
        within = {
            "type": "string",
            "pattern": _PERCENT_PATTERN,
            "description": "Until the 95 % interval reaches no further from the median than this share of it.",
        }
        return {
            "anyOf": [
                dict(_FIXED.schema),
                {
                    "type": "object",
                    "description": "As many repeats as it takes to know the results well enough.",
                    "properties": {
                        "within": within,
                        "max": {**number, "description": "Greatest number of repeats of a case."},
                        "least": {
                            **number,
                            "description": "Fewest repeats of a case.",
                            "default": LEAST_BEFORE_STOP,
                        },
                    },
                    "required": ["within", "max"],
                    "additionalProperties": False,
                },
            ]
        }


def _adaptive(written: dict[str, object]) -> Repeats:
    for key in written:
        if key not in _KEYS:
            raise fault(f"unknown key `{key}` in repeats", one_of(key, _KEYS), key)
    for key in ("within", "max"):
        if key not in written:
            raise fault(f"`{key}` is missing", _FORM)
    within = _share(written["within"])
    least = _whole(_FIXED, written.get("least", LEAST_BEFORE_STOP), "least")
    if least < LEAST_BEFORE_STOP:
        hint = f"at least {LEAST_BEFORE_STOP}: with fewer repeats a narrow interval is too often an accident"
        raise fault(f"least {least} is too few", hint, "least")
    most = _whole(_FIXED, written["max"], "max")
    if most < least:
        hint = f"write max: {least} or more, or a fixed number of repeats"
        raise fault(f"max {most} is below the least number, which is {least}", hint, "max")
    return Repeats(most=most, least=least, within=within)


def _whole(kind: Kind, written: object, *inner: str) -> int:
    try:
        value = kind.value(written)
    except UnitError as error:
        raise fault(error.message, error.hint, *inner) from None
    return int(value or 0)


def _share(written: object) -> float:
    """The share that a percentage means; a bare number could be either."""
    if not isinstance(written, str) or not re.fullmatch(_PERCENT_PATTERN, written):
        raise fault(f"{shown(written)} is not a percentage", "write within: 5%", "within")
    share = float(written.rstrip("% ")) / 100
    if not 0 < share <= MOST_WITHIN:
        raise fault(f"{shown(written)} is out of range", f"it must be above 0% and at most {MOST_WITHIN:.0%}", "within")
    return share
