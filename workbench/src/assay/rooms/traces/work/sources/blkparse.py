"""blkparse's text: one line for each event of a request on its way through the kernel's block layer.

Requests are taken as they were issued to the driver (D) and completed (C), since so they have durations; of a
recording without issues, as they were queued (Q). Sectors have 512 bytes. Flags of a request (RWBS): F before the
letter of a write is a flush before it, behind it is a write through caches; D is a discard.
"""

import re
from collections.abc import Iterator

from assay.rooms.traces.work.sources.source import Collected, Lines

SECTOR = 512
_EVENT = re.compile(
    r"\s*(\d+),(\d+)\s+(\d+)\s+(\d+)\s+(\d+\.\d+)\s+(\d+)\s+([A-Z])\s+([A-Z]+)\s+(?:(\d+) \+ (\d+) )?(?:\((\d+)\) )?.*"
)
_MAX_OPEN = 1 << 20
"""Requests at most that were issued and not completed yet."""


def recognise(head: str) -> bool:
    """Return whether a text begins with events of blkparse."""
    lines = [line for line in head.splitlines()[:20] if line.strip()]
    return bool(lines) and sum(_EVENT.fullmatch(line) is not None for line in lines) >= 0.8 * len(lines)


def read(lines: Lines, found: Collected) -> None:
    """Add the requests of a recording.

    Raises:
        LineError: There are too many requests that did not complete.
    """
    has_issues = any(event[7] == "D" for _, event in _events(lines))
    issued: dict[tuple[str, str], tuple[int, re.Match[str]]] = {}
    for number, event in _events(lines):
        action, device, time = event[7], f"{event[1]}-{event[2]}", found.nanoseconds(number, event[5], "a time")
        if not has_issues:
            if action == "Q":
                _add(found, device, event, time, 0)
                found.losses["no-durations"] += 1
            continue
        place = (device, event[9] or "")
        if action == "D":
            issued[place] = (time, event)
            if len(issued) > _MAX_OPEN:
                raise found.error(number, f"more than {_MAX_OPEN:,} requests that did not complete")
        elif action == "C" and place in issued:
            begin, request = issued.pop(place)
            _add(found, device, request, begin, max(0, time - begin))
    found.losses["unfinished"] += len(issued)
    found.losses = +found.losses


def _events(lines: Lines) -> Iterator[tuple[int, "re.Match[str]"]]:
    for number, line in lines():
        # Behind the events blkparse prints sums, which are not read.
        if event := _EVENT.fullmatch(line):
            yield number, event


def _add(found: Collected, device: str, event: "re.Match[str]", begin: int, duration: int) -> None:
    kinds, task = event[8], event[6]
    size = int(event[10] or 0) * SECTOR
    offset = int(event[9] or 0) * SECTOR
    before, _, _ = kinds.partition("W") if "W" in kinds else (kinds, "", "")
    if "D" in kinds:
        found.losses["discard"] += 1
        return
    if "F" in before:
        found.add(begin, duration if not size else 0, task, "fsync", device, kind="b")
    if not size:
        found.losses["other-operations"] += "F" not in before
        return
    if "R" in kinds or "W" in kinds:
        op = "read" if "R" in kinds else "write"
        found.add(begin, duration, task, op, device, kind="b", offset=offset, length=size, result=size)
    else:
        found.losses["other-operations"] += 1
