"""Reader of the engine's output: one JSON object per line.

Unknown fields are ignored. A line that is broken, cut off, of an unknown kind, or that has a number outside the
engine's range becomes a `BrokenLine`, never an exception, so that one bad line does not cost a run.
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
_SHOWN_CHARS = 120
GREATEST_NUMBER = 2**63 - 1
"""Greatest number in an event: nanoseconds of 292 years. SQLite and Parquet store no greater one."""


@dataclass(frozen=True)
class BrokenLine:
    """A line that is not an event.

    Attributes:
        number: Line number, from 1; 0 if unknown.
        reason: What is wrong with it, one line.
        text: Its beginning, at most 120 characters.
    """

    number: int
    reason: str
    text: str


def read_line(line: str | bytes, number: int = 0) -> Event | BrokenLine:
    """Read one line of the engine's output; bad input never raises.

    Args:
        line: The line, with or without its newline.
        number: Its number, for the message about a broken one.
    """
    try:
        event: Event = _EVENT.validate_json(line)
    except ValidationError as error:
        return BrokenLine(number, _reason(error), _beginning(line))
    if isinstance(event, HelloEvent):
        event = _without_unlimited_space(event)
    odd = _odd_number(event)
    return BrokenLine(number, f"{odd}: number out of range", _beginning(line)) if odd else event


def lines_of(text: str) -> Iterator[str]:
    """Yield the lines of an engine's output without their newlines.

    Only a newline ends a line: JSON may hold other characters that `str.splitlines` also splits at.
    """
    start = 0
    while start < len(text):
        end = text.find("\n", start)
        end = len(text) if end < 0 else end
        yield text[start:end]
        start = end + 1


def read_events(lines: Iterable[str | bytes]) -> Iterator[Event | BrokenLine]:
    """Read lines as they arrive, skipping empty ones."""
    for number, line in enumerate(lines, start=1):
        if line.strip():
            yield read_line(line, number)


def _without_unlimited_space(hello: HelloEvent) -> HelloEvent:
    """Drop free space beyond `GREATEST`: it comes from the file system, and s3fs reports 2^64 bytes for "no limit"."""
    place = hello.backend.place
    if place is None or place.free_bytes is None or place.free_bytes <= GREATEST_NUMBER:
        return hello
    backend = hello.backend.model_copy(update={"place": place.model_copy(update={"free_bytes": None})})
    return hello.model_copy(update={"backend": backend})


def _odd_number(value: BaseModel) -> str | None:
    """Return the path of a number that is too large or not finite; the job in a `hello` is checked elsewhere."""
    for name, item in value.__dict__.items():
        if isinstance(item, int | float):
            if not -GREATEST_NUMBER <= item <= GREATEST_NUMBER or (isinstance(item, float) and not math.isfinite(item)):
                return name
        elif isinstance(item, BaseModel):
            inner_path = None if isinstance(item, Job) else _odd_number(item)
            if inner_path:
                return f"{name}.{inner_path}"
        elif isinstance(item, list):
            for number, part in enumerate(item):
                if isinstance(part, BaseModel) and (inner_path := _odd_number(part)):
                    return f"{name}.{number}.{inner_path}"
    return None


def _reason(error: ValidationError) -> str:
    first = error.errors(include_url=False, include_input=False)[0]
    if first["type"] == "json_invalid":
        return f"not a whole JSON object ({first['ctx']['error']})"
    if not first["loc"]:
        return "unknown event"
    place = ".".join(str(part) for part in first["loc"])
    return f"{place}: {first['msg']}"


def _beginning(line: str | bytes) -> str:
    text = line.decode("utf-8", errors="replace") if isinstance(line, bytes) else line
    return text.strip()[:_SHOWN_CHARS]
