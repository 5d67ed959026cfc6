"""JSON from other tools: numbers keep the digits that are printed, and nothing in it is trusted."""

import json
import math
from decimal import Decimal
from functools import cache
from typing import Any

from assay.rooms.importers.work.results import OutputError

MAX_DIGITS = 40
"""Longest number in characters; 64-bit integers have 20, and doubles that C prints with six decimals rarely 30."""
HINT = "give the whole file as the tool wrote it"


class Number(str):
    """A number as it is printed."""

    __slots__ = ()

    @property
    def value(self) -> Decimal:
        """The number."""
        return Decimal(self)


def _number(text: str) -> Number:
    if len(text) > MAX_DIGITS:
        raise ValueError(f"a number with {len(text)} characters")
    digits, has_exponent, _ = text.lower().partition("e")
    if has_exponent and (math.isinf(number := float(text)) or (not number and digits.strip("-0."))):
        raise ValueError(f"{text}, which no 64-bit floating-point number can be")
    return Number(text)


def _no_number(text: str) -> Number:
    raise ValueError(f"{text} is no number in JSON")


_DECODER = json.JSONDecoder(parse_int=_number, parse_float=_number, parse_constant=_no_number)


@cache
def _decoder(ending: str, joined: str) -> json.JSONDecoder:
    """Return a decoder that keeps what stands several times in an object; arguments as in `decode_json`."""

    def of_pairs(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        found = dict(pairs)
        if len(found) == len(pairs):
            return found
        if joined in found:
            found[joined] = ":".join(str(value) for name, value in pairs if name == joined)
        if ending:
            found = {}
            for name, value in pairs:
                found[f"{name}{ending}" if name in found else name] = value
        return found

    return json.JSONDecoder(
        object_pairs_hook=of_pairs, parse_int=_number, parse_float=_number, parse_constant=_no_number
    )


def decode_json(text: str, start: int, second: str = "", joined: str = "") -> tuple[Any, int]:
    """Return the value that begins at a position of a text, and where it ends.

    Of keys that stand several times in an object the last one counts, but for those of the last two arguments.

    Args:
        text: The text.
        start: Position of the first character of the value.
        second: Added to keys that stand a second time in an object.
        joined: Key whose values become one text, with colons between them.

    Raises:
        OutputError: It is not JSON, or a number in it is too long or not finite, or it is nested too deeply.
    """
    try:
        return (_decoder(second, joined) if second or joined else _DECODER).raw_decode(text, start)
    except json.JSONDecodeError as error:
        raise OutputError(error.lineno, f"not JSON: {error.msg}", HINT) from None
    except (ValueError, RecursionError) as error:
        reason = "it is nested too deeply" if isinstance(error, RecursionError) else str(error)
        raise OutputError(line_of(text, start), f"not JSON that can be read: {reason}", HINT) from None


def line_of(text: str, position: int) -> int:
    """Return the line of a position in a text, from 1."""
    return text.count("\n", 0, position) + 1
