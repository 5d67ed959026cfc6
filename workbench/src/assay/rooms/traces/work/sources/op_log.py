"""The log of operations of MinIO warp and of sai3-bench (s3dlio): a table with tabs, a line for each request.

Both have the same columns; endpoints of sai3-bench are addresses such as `s3://` or `file://`, those of warp are hosts.
"""

import re
from collections.abc import Iterator

from assay.model.rfc3339 import TimeReader
from assay.rooms.traces.work.sources.source import Collected, Lines

_NEEDED = ("op", "bytes", "file", "error", "start", "end")
_OPS = {"GET": "get", "PUT": "put", "DELETE": "delete", "STAT": "head", "HEAD": "head", "LIST": "list"}
_SCHEME = re.compile(r"(?!https?:)[a-z0-9]+://|file://")
ERROR = "-EIO"
"""Result of a request that failed: the words of an error are no number."""


def recognise(head: str) -> bool:
    """Return whether a text begins as a log of operations."""
    line = next((line for line in head.splitlines() if not line.startswith("#")), "")
    return line.startswith("idx\tthread\top\t") and set(_NEEDED) <= set(line.split("\t"))


def source_of(head: str) -> str:
    """Return `sai3` or `warp`, by the endpoint of the first request."""
    lines = [line.split("\t") for line in head.splitlines() if not line.startswith("#")]
    if len(lines) > 1 and "endpoint" in lines[0] and len(lines[1]) == len(lines[0]):
        row = dict(zip(lines[0], lines[1], strict=True))
        if _SCHEME.match(row["endpoint"]) or _SCHEME.match(row["file"]):
            return "sai3"
    return "warp"


def read(lines: Lines, found: Collected) -> None:
    """Add the requests of a log.

    Raises:
        LineError: A line is not of the format.
    """
    times = TimeReader()
    first = min((_time(times, found, number, row["start"]) for number, row in _rows(lines, found)), default=None)
    if first is None:
        raise found.error(1, "there are no requests in this log")
    for number, row in _rows(lines, found):
        op = _OPS.get(row["op"].upper())
        if op is None:
            found.losses["other-operations"] += 1
            continue
        begin = _time(times, found, number, row["start"])
        if row.get("duration_ns"):
            duration = found.number(number, row["duration_ns"], "duration_ns")
        else:
            duration = max(0, _time(times, found, number, row["end"]) - begin)
        size = found.number(number, row["bytes"], "bytes")
        moves = op in ("get", "put")
        found.add(
            begin - first,
            duration,
            f"{row.get('client_id', '')} {row.get('thread', '')}",
            op,
            row["file"].rsplit("://", 1)[-1].lstrip("/") or ".",
            kind="o",
            offset=0 if moves else None,
            length=size if moves else None,
            result=ERROR if row["error"] else size if moves else 0,
        )
    found.losses = +found.losses


def _time(times: TimeReader, found: Collected, line: int, text: str) -> int:
    """Return nanoseconds since 1970 of a time of RFC 3339, or of a number of them."""
    try:
        time = times.nanoseconds(text)
    except ValueError:
        raise found.error(line, f"a time cannot be {text!r:.40}") from None
    return found.number(line, text, "a time") if time is None else time


def _rows(lines: Lines, found: Collected) -> Iterator[tuple[int, dict[str, str]]]:
    names: list[str] = []
    for number, line in lines():
        if not line.strip() or line.startswith("#"):
            continue
        cells = line.rstrip("\r").split("\t")
        if not names:
            names = cells
        elif len(cells) != len(names):
            raise found.error(number, f"{len(cells)} cells in a row of {len(names)} columns")
        else:
            yield number, dict(zip(names, cells, strict=True))
