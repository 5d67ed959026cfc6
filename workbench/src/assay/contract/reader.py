"""Reader of the engine's output: one JSON object a line.

Fields it does not know are ignored. A line that is broken, cut off or of an unknown kind becomes a `BrokenLine`,
never an exception, so that one bad line does not cost a run. So does one with a number that no engine counts to.
"""

import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError

from assay.contract.messages import Event, HelloEvent, Job

_EVENT: TypeAdapter[Event] = TypeAdapter(
    Annotated[Event, Field(discriminator="event")], config=ConfigDict(defer_build=True)
)
_SHOWN = 120
GREATEST = 2**63 - 1
"""Greatest number in an event: nanoseconds of 292 years; SQLite and Parquet keep no greater one."""


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
        event: Event = _EVENT.validate_json(line)
    except ValidationError as error:
        return BrokenLine(number, _reason(error), _beginning(line))
    if isinstance(event, HelloEvent):
        event = _without_endless_room(event)
    odd = _odd_number(event)
    return BrokenLine(number, f"{odd}: no number that an engine counts to", _beginning(line)) if odd else event


def lines_of(text: str) -> Iterator[str]:
    """The lines of an engine's output, one at a time, without their newlines.

    Only a newline ends a line: JSON may hold other characters that `str.splitlines` takes for one.
    """
    start = 0
    while start < len(text):
        end = text.find("\n", start)
        end = len(text) if end < 0 else end
        yield text[start:end]
        start = end + 1


def read_events(lines: Iterable[str | bytes]) -> Iterator[Event | BrokenLine]:
    """Read lines as they come; empty ones are passed over."""
    for number, line in enumerate(lines, start=1):
        if line.strip():
            yield read_line(line, number)


def _without_endless_room(hello: HelloEvent) -> HelloEvent:
    """The free space of a place is not counted but told by its file system; s3fs tells 2^64 bytes, to say: no limit."""
    place = hello.backend.place
    if place is None or place.free_bytes is None or place.free_bytes <= GREATEST:
        return hello
    backend = hello.backend.model_copy(update={"place": place.model_copy(update={"free_bytes": None})})
    return hello.model_copy(update={"backend": backend})


def _odd_number(value: BaseModel) -> str | None:
    """Where a number is that is too large, or none at all; the job in a `hello` is compared as a whole elsewhere."""
    for name, item in value.__dict__.items():
        if isinstance(item, int | float):
            if not -GREATEST <= item <= GREATEST or (isinstance(item, float) and not math.isfinite(item)):
                return name
        elif isinstance(item, BaseModel):
            inner = None if isinstance(item, Job) else _odd_number(item)
            if inner:
                return f"{name}.{inner}"
        elif isinstance(item, list):
            for number, part in enumerate(item):
                if isinstance(part, BaseModel) and (inner := _odd_number(part)):
                    return f"{name}.{number}.{inner}"
    return None


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
