"""JSON from other tools: numbers keep the digits that are printed, and nothing in it is trusted."""

import json
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
    return Number(text)


def _no_number(text: str) -> Number:
    raise ValueError(f"{text} is no number in JSON")


_DECODER = json.JSONDecoder(parse_int=_number, parse_float=_number, parse_constant=_no_number)


@cache
def _decoder(ending: str) -> json.JSONDecoder:
    """Return a decoder that adds an ending to keys that stand a second time in an object."""

    def of_pairs(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        found: dict[str, Any] = {}
        for name, value in pairs:
            found[f"{name}{ending}" if name in found else name] = value
        return found

    return json.JSONDecoder(
        object_pairs_hook=of_pairs, parse_int=_number, parse_float=_number, parse_constant=_no_number
    )


def decode_json(text: str, start: int, second: str = "") -> tuple[Any, int]:
    """Return the value that begins at a position of a text, and where it ends.

    Args:
        text: The text.
        start: Position of the first character of the value.
        second: Added to keys that stand a second time in an object, of which the last one counts otherwise.

    Raises:
        OutputError: It is not JSON, or a number in it is too long or not finite, or it is nested too deeply.
    """
    try:
        return (_decoder(second) if second else _DECODER).raw_decode(text, start)
    except json.JSONDecodeError as error:
        raise OutputError(error.lineno, f"not JSON: {error.msg}", HINT) from None
    except (ValueError, RecursionError) as error:
        reason = "it is nested too deeply" if isinstance(error, RecursionError) else str(error)
        raise OutputError(line_of(text, start), f"not JSON that can be read: {reason}", HINT) from None


def line_of(text: str, position: int) -> int:
    """Return the line of a position in a text, from 1."""
    return text.count("\n", 0, position) + 1
