"""Reader of the engine's output: one JSON object a line.

Fields it does not know are ignored. A line that is broken, cut off or of an unknown kind becomes a `BrokenLine`,
never an exception, so that one bad line does not cost a run.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Annotated

from pydantic import Field, TypeAdapter, ValidationError

from assay.contract.names import Event

_EVENT: TypeAdapter[Event] = TypeAdapter(Annotated[Event, Field(discriminator="event")])
_SHOWN = 120


@dataclass(frozen=True)
class BrokenLine:
    """A line that is no event.

    Attributes:
        number: Line number, from 1; 0 if unknown.
        reason: What is wrong with it, one line.
        text: Its beginning, at most 120 characters.
    """

    number: int
    reason: str
    text: str


def read_line(line: str | bytes, number: int = 0) -> Event | BrokenLine:
    """Read one line of the engine's output; never raises on bad input.

    Args:
        line: The line, with or without its newline.
        number: Its number, for the message about a broken one.
    """
    try:
        return _EVENT.validate_json(line)
    except ValidationError as error:
        return BrokenLine(number, _reason(error), _beginning(line))


def read_events(lines: Iterable[str | bytes]) -> Iterator[Event | BrokenLine]:
    """Read lines as they come; empty ones are passed over."""
    for number, line in enumerate(lines, start=1):
        if line.strip():
            yield read_line(line, number)


def _reason(error: ValidationError) -> str:
    first = error.errors(include_url=False, include_input=False)[0]
    if first["type"] == "json_invalid":
        return f"not a whole JSON object ({first['ctx']['error']})"
    if not first["loc"]:
        return "not an event that this version knows"
    place = ".".join(str(part) for part in first["loc"])
    return f"{place}: {first['msg']}"


def _beginning(line: str | bytes) -> str:
    text = line.decode("utf-8", errors="replace") if isinstance(line, bytes) else line
    return text.strip()[:_SHOWN]
