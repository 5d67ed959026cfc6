"""Parses lines of strace: `PID SECONDS CALL(ARGUMENTS) = RESULT <SECONDS>`, of which a call may have two."""

import os
import re
from dataclasses import dataclass
from typing import NamedTuple

_HEAD = re.compile(r"(\d+) +(\d+)\.(\d+) (.*)")
_CALL = re.compile(
    r"(\w+)\((.*)\)\s+= (?:(-?\d+|0x[0-9a-f]+)(?:<([^<>]*)>(?:\(deleted\))?)?|\?)"
    r"(?: (E[A-Z0-9]+))?(?: \(.*\))?(?: <(?:(\d+)\.(\d+)|unavailable)>)?$"
)
_BEGUN = re.compile(r"(\w+)\((.*) <unfinished \.\.\.>(?:\)\s+= \?)?$")
_RESUMED = re.compile(r"<\.\.\. (\w+) resumed>(.*)$")
_ENDED = re.compile(r"\+\+\+ (?:exited with|killed by) ")
_SUPERSEDED = re.compile(r"\+\+\+ superseded by execve in pid (\d+) \+\+\+$")
_ARGUMENT = re.compile(r'(?:<[^<>]*>|"(?:[^"\\]|\\.)*"|\[[^\]]*\]|\{[^}]*\}|[^,<"\[{]|,(?! ))+')
_ESCAPE = re.compile(rb"\\(?:([0-7]{1,3})|x([0-9a-f]{2})|(.))")
_CONTROL = {b"n": b"\n", b"t": b"\t", b"r": b"\r", b"v": b"\v", b"f": b"\f"}


@dataclass(slots=True)
class TracedCall:
    """A call that has ended.

    Attributes:
        name: Name of the system call.
        args: Its arguments as printed.
        start: When it began, in nanoseconds of the clock that strace prints.
        duration: Nanoseconds.
        result: What it returned; None if it was interrupted and is made again, or if it is unknown.
        error: Name of the error, such as `ENOENT`; empty if it succeeded.
        path: The path of the descriptor that it returned, as printed; empty if there is none.
    """

    name: str
    args: str
    start: int
    duration: int
    result: int | None
    error: str
    path: str


class Begun(NamedTuple):
    """A call that has begun: name, arguments so far, and nanoseconds of the clock that strace prints."""

    name: str
    args: str
    start: int


class Resumed(NamedTuple):
    """The rest of a line whose call had begun before, and when it ended."""

    name: str
    rest: str
    end: int


class Ended(NamedTuple):
    """A task ended at a time; or, with `by`, another thread of its process starts another program and gets its id."""

    time: int
    by: int | None = None


Event = TracedCall | Begun | Resumed | Ended


def parse_line(line: str) -> tuple[int, Event | None] | None:
    """Return the id of a task and what happened there: None if that is of no interest; None if it is no such line."""
    head = _HEAD.match(line)
    if head is None:
        return None
    pid, body = int(head[1]), head[4]
    time = _nanoseconds(head[2], head[3])
    if call := parse_call(body, time):
        return pid, call
    if found := _RESUMED.match(body):
        return pid, Resumed(found[1], found[2], time)
    if found := _BEGUN.match(body):
        return pid, Begun(found[1], found[2], time)
    if found := _SUPERSEDED.match(body):
        return pid, Ended(time, int(found[1]))
    if _ENDED.match(body):
        return pid, Ended(time)
    return (pid, None) if body.startswith(("---", "+++")) else None


def parse_call(body: str, start: int) -> TracedCall | None:
    """Return a call from its text; None if that is no whole call."""
    found = _CALL.match(body)
    if found is None:
        return None
    name, args, result, path, error, seconds, fraction = found.groups()
    duration = _nanoseconds(seconds, fraction) if seconds else 0
    value = None if result is None else int(result, 0)
    # What an interrupted call has as error (`? ERESTARTSYS`) no program sees: the kernel makes the call again.
    return TracedCall(name, args, start, duration, value, "" if value is None else error or "", path or "")


def arguments(args: str) -> list[str]:
    """Split the arguments of a call."""
    return [part.strip() for part in _ARGUMENT.findall(args)]


def unescape(text: str) -> str:
    """Return a path that strace has printed."""
    if "\\" not in text:
        return text
    return os.fsdecode(_ESCAPE.sub(_byte, text.encode()))


def _byte(found: "re.Match[bytes]") -> bytes:
    if found[1] or found[2]:
        return bytes([int(found[1], 8) & 255 if found[1] else int(found[2], 16)])
    return _CONTROL.get(found[3], found[3])


def _nanoseconds(seconds: str, fraction: str) -> int:
    return int(seconds) * 10**9 + int(fraction[:9].ljust(9, "0"))
