"""fio's iolog (--write_iolog), versions 2 and 3: `[MICROSECONDS] FILE ACTION [OFFSET LENGTH]`."""

import re

from assay.rooms.traces.work.sources.source import Collected, Lines

_HEAD = re.compile(r"fio version (\d+) iolog")
_MOVES = {"read": "read", "write": "write"}
_FLUSHES = {"sync": "fsync", "datasync": "fdatasync"}
_OPEN_FLAGS = "rwc"
"""fio opens files for what its job does, which the log does not say."""


def recognise(head: str) -> bool:
    """Return whether a text begins as a log of fio."""
    return _HEAD.match(head) is not None


def read(lines: Lines, found: Collected) -> None:
    """Add the operations of a log, which is one task; fio appends to a log that exists, and each such part is another.

    Raises:
        LineError: A line is not of the format.
    """
    version, clock, parts = "", 0, 0
    for number, line in lines():
        if head := _HEAD.fullmatch(line.strip()):
            version, clock, parts = head[1], 0, parts + 1
            if version not in ("2", "3"):
                raise found.error(number, "of logs of fio only versions 2 and 3 are read", "let fio 3 write it again")
            continue
        words = line.split()
        if not words:
            continue
        if version == "3":
            # The timestamp is in microseconds (iolog.c: utime_since_genesis).
            clock = found.number(number, words[0], "a timestamp in microseconds") * 1000
            words = words[1:]
        clock = _add(found, number, words, clock, str(parts))
        found.losses["no-times"] += version == "2"
    found.losses = +found.losses


def _add(found: Collected, line: int, words: list[str], clock: int, task: str) -> int:
    """Add the operation of a line; return the time at which the next one may begin, in nanoseconds."""
    if len(words) not in (2, 3, 4):
        raise found.error(line, f"{len(words)} words, where fio writes FILE ACTION or FILE ACTION OFFSET LENGTH")
    path, action = words[:2]
    numbers = [found.number(line, word, "offset or length") for word in words[2:]]
    if action == "wait":
        return clock + (numbers[0] if numbers else 0) * 1000
    if action == "add":
        return clock
    if action in ("open", "close"):
        found.add(clock, 0, task, action, path, flags=_OPEN_FLAGS if action == "open" else "-")
    elif action in _MOVES and len(numbers) == 2:
        offset, length = numbers
        found.losses["no-results"] += 1
        found.add(clock, 0, task, _MOVES[action], path, offset=offset, length=length, result=length)
    elif action in _FLUSHES:
        found.add(clock, 0, task, _FLUSHES[action], path)
    elif action == "trim":
        found.losses["discard"] += 1
        return clock
    else:
        raise found.error(line, f"{action!r:.30} is no action of fio with {len(numbers)} numbers")
    found.losses["no-durations"] += 1
    return clock
