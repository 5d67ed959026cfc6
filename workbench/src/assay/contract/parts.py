"""The output of several engines in one text, as a repeat on several hosts is stored.

Before the lines of an engine stands a header with their number, so that no line of an engine can pass for a header.
"""

import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from assay.contract.reader import lines_of

HEADER = '{"event":"host",'
"""So begins the line before the events of a host."""


@dataclass(frozen=True)
class HostPart:
    """What one engine said.

    Attributes:
        host: Where it ran.
        status: How its part of the job ended; `reason` says why not well.
        offset_ns: Its monotonic clock less the controller's.
        uncertainty_ns: The offset is right within this; None if the clocks were never compared.
        events: Its lines, NDJSON.
    """

    host: str
    status: str
    reason: str
    offset_ns: int
    uncertainty_ns: int | None
    events: str


def join_parts(parts: Iterable[HostPart]) -> str:
    """One text of all parts, which `split_parts` takes apart."""
    return "".join(piece for part in parts for piece in _pieces(part))


def _pieces(part: HostPart) -> Iterator[str]:
    ended = part.events if part.events.endswith("\n") or not part.events else part.events + "\n"
    head = {"host": part.host, "status": part.status, "reason": part.reason}
    clock = {"offset_ns": part.offset_ns, "uncertainty_ns": part.uncertainty_ns, "lines": ended.count("\n")}
    yield HEADER + json.dumps({**head, **clock}, separators=(",", ":"))[1:] + "\n"
    yield ended


def split_parts(text: str) -> list[HostPart]:
    """The parts of a text that `join_parts` made; one of an older Assay, whose headers have no number, is read too.

    Raises:
        ValueError: It is no such text.
    """
    parts: list[HostPart] = []
    lines = lines_of(text)
    line = next(lines, None)
    while line is not None:
        head = _header(line)
        taken: list[str] = []
        if "lines" in head:
            taken = [found for _, found in zip(range(head["lines"]), lines, strict=False)]
            if len(taken) < head["lines"]:
                raise ValueError("the events of a host are cut off")
            line = next(lines, None)
        else:
            while (line := next(lines, None)) is not None and not line.startswith(HEADER):
                taken.append(line)
        fields = {name: head[name] for name in ("host", "status", "reason", "offset_ns", "uncertainty_ns")}
        parts.append(HostPart(**fields, events="\n".join([*taken, ""])))
    return parts


def _header(line: str) -> dict[str, Any]:
    try:
        found = json.loads(line) if line.startswith(HEADER) else None
    except (ValueError, RecursionError):
        found = None
    if not isinstance(found, dict) or not _whole(found):
        raise ValueError("what stands before the events of a host cannot be read")
    return found


def _is_text(value: object) -> bool:
    """A text that can be kept: JSON may name halves of characters, which no file can hold."""
    return isinstance(value, str) and value.encode("utf-8", "ignore").decode() == value


def _whole(head: dict[str, Any]) -> bool:
    texts = all(_is_text(head.get(name)) for name in ("host", "status", "reason"))
    numbers = isinstance(head.get("offset_ns"), int) and isinstance(head.get("uncertainty_ns", ""), int | None)
    return texts and numbers and isinstance(head.get("lines", 0), int)
