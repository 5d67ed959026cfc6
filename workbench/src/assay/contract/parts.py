"""The output of several engines in one text, as a repeat on several hosts is stored.

A header with the number of lines precedes the lines of each engine, so that no line of an engine can be taken for a
header.
"""

import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from assay.contract.reader import lines_of

HOST_LINE_START = '{"event":"host",'
"""Start of the line that precedes a host's events."""


@dataclass(frozen=True)
class HostPart:
    """The output of one engine.

    Attributes:
        host: Where it ran.
        status: How its part of the job ended; `reason` says why it did not end well.
        offset_ns: Its monotonic clock minus the controller's.
        uncertainty_ns: Largest error of the offset; None if the clocks were never compared.
        events: Its lines, NDJSON.
    """

    host: str
    status: str
    reason: str
    offset_ns: int
    uncertainty_ns: int | None
    events: str


def join_parts(parts: Iterable[HostPart]) -> str:
    """Join all parts into one text, which `split_parts` takes apart."""
    return "".join(piece for part in parts for piece in _pieces(part))


def _pieces(part: HostPart) -> Iterator[str]:
    text = part.events if part.events.endswith("\n") or not part.events else part.events + "\n"
    head = {"host": part.host, "status": part.status, "reason": part.reason}
    clock = {"offset_ns": part.offset_ns, "uncertainty_ns": part.uncertainty_ns, "lines": text.count("\n")}
    yield HOST_LINE_START + json.dumps({**head, **clock}, separators=(",", ":"))[1:] + "\n"
    yield text


def split_parts(text: str) -> list[HostPart]:
    """Split a text that `join_parts` made.

    Raises:
        ValueError: The text has another form.
    """
    parts: list[HostPart] = []
    lines = lines_of(text)
    line = next(lines, None)
    while line is not None:
        head = _header(line)
        host_lines = [found for _, found in zip(range(head["lines"]), lines, strict=False)]
        if len(host_lines) < head["lines"]:
            raise ValueError("the events of a host are cut off")
        line = next(lines, None)
        fields = {name: head[name] for name in ("host", "status", "reason", "offset_ns", "uncertainty_ns")}
        parts.append(HostPart(**fields, events="\n".join([*host_lines, ""])))
    return parts


def _header(line: str) -> dict[str, Any]:
    try:
        header = json.loads(line) if line.startswith(HOST_LINE_START) else None
    except (ValueError, RecursionError):
        header = None
    if not isinstance(header, dict) or not _is_complete(header):
        raise ValueError("the header before a host's events cannot be read")
    return header


def _is_text(value: object) -> bool:
    """Whether a value is text that can be stored: JSON may name halves of characters, which no file can hold."""
    return isinstance(value, str) and value.encode("utf-8", "ignore").decode() == value


def _is_complete(head: dict[str, Any]) -> bool:
    texts = all(_is_text(head.get(name)) for name in ("host", "status", "reason"))
    numbers = isinstance(head.get("offset_ns"), int) and isinstance(head.get("uncertainty_ns", ""), int | None)
    return texts and numbers and isinstance(head.get("lines"), int)
