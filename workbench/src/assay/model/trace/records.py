"""Records of a trace, and how each is written as a line. Format 1 of docs/reference/traces.md."""

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

FORMAT = 1
"""Version of the format that is written, and the only one that is read."""
SUFFIX = ".trace.gz"
SOURCES = ("strace", "fio", "blkparse", "darshan", "warp", "sai3")
FILE_KINDS = {"f": "file", "d": "directory", "o": "object", "b": "block device"}
"""Letter of a kind -> the kind in words."""
FILE_OPS = (
    *("open", "close", "read", "write", "fsync", "fdatasync", "truncate", "stat", "list"),
    *("mkdir", "rmdir", "unlink", "rename", "link", "symlink"),
)
OBJECT_OPS = ("put", "get", "delete", "head", "list")
OPS = frozenset((*FILE_OPS, *OBJECT_OPS))
MOVES = {"read": True, "get": True, "write": False, "put": False}
"""Operation that moves bytes -> whether it reads."""
NO_VALUE = "-"
MAX_NUMBER = 2**63 - 1
"""Greatest number of a record."""
_ERROR = re.compile(r"-E[A-Z0-9]+")
_FLAGS = re.compile(r"-|[rwctxads]{1,8}|>[1-9][0-9]*")


class File(NamedTuple):
    """A file: id, letter of its kind, size in bytes when the trace began (None: it did not exist), and name."""

    id: int
    kind: str
    size: int | None
    name: str


class Task(NamedTuple):
    """The beginning of a task: id, id of the task that started it (None: the first), nanoseconds since the start."""

    id: int
    parent: int | None
    start: int


class End(NamedTuple):
    """The end of a task: id, nanoseconds since the start."""

    id: int
    end: int


class TraceOperation(NamedTuple):
    """An operation.

    Attributes:
        start: Nanoseconds since the trace began.
        duration: Nanoseconds.
        task: Id of the task.
        op: One of `OPS`.
        file: Id of the file.
        offset: Byte of the file; None where it has no meaning.
        length: Bytes asked for; None where it has no meaning.
        result: Bytes moved, or 0; of an operation that failed, an error such as `-ENOENT`.
        flags: As in docs/reference/traces.md; `-` for none.
    """

    start: int
    duration: int
    task: int
    op: str
    file: int
    offset: int | None
    length: int | None
    result: int | str
    flags: str

    @property
    def moved(self) -> int:
        """Bytes that it moved; 0 if it failed."""
        return self.result if isinstance(self.result, int) else 0


class Wait(NamedTuple):
    """A task waited until another had ended."""

    task: int
    on: int


Record = File | Task | End | TraceOperation | Wait


@dataclass(frozen=True)
class TraceHeader:
    """The first line of a trace; fields as in docs/reference/traces.md.

    Attributes:
        losses: Code -> count of what the trace does not show.
    """

    source: str
    command: Sequence[str] | None = None
    recorded: str | None = None
    duration_ns: int | None = None
    untraced_ns: int | None = None
    losses: Mapping[str, int] = field(default_factory=dict)


class RecordError(ValueError):
    """A line that is no record of a trace; its text says why."""


def header_line(header: TraceHeader) -> str:
    """Return a header as a line without a line break."""
    fields = {
        "assay_trace": FORMAT,
        "source": header.source,
        "command": None if header.command is None else list(header.command),
        "recorded": header.recorded,
        "duration_ns": header.duration_ns,
        "untraced_ns": header.untraced_ns,
        "losses": [{"code": code, "count": count} for code, count in sorted(header.losses.items())],
    }
    return json.dumps(fields, ensure_ascii=False, separators=(",", ":"))


def parse_header(line: str) -> TraceHeader:
    """Return the header that a line has.

    Raises:
        RecordError: It has none, or that of another version.
    """
    try:
        fields = json.loads(line)
    except (ValueError, RecursionError):
        raise RecordError("the first line is not that of a trace") from None
    if not isinstance(fields, dict) or "assay_trace" not in fields:
        raise RecordError("the first line is not that of a trace")
    if fields["assay_trace"] != FORMAT:
        raise RecordError(f"format {fields['assay_trace']!r:.20} of traces is not known, only {FORMAT}")
    if fields.get("source") not in SOURCES:
        raise RecordError(f"the source of a trace is one of {', '.join(SOURCES)}")
    command = fields.get("command")
    if command is not None and not (isinstance(command, list) and all(isinstance(word, str) for word in command)):
        raise RecordError("command is a list of words")
    recorded = fields.get("recorded")
    if recorded is not None and not isinstance(recorded, str):
        raise RecordError("recorded is a time")
    times = (_count(fields, "duration_ns"), _count(fields, "untraced_ns"))
    return TraceHeader(fields["source"], command, recorded, *times, _losses(fields.get("losses", [])))


def _count(fields: Mapping[str, Any], name: str) -> int | None:
    value = fields.get(name)
    if value is not None and (type(value) is not int or value < 0):
        raise RecordError(f"{name} is a number of nanoseconds")
    return value


def _losses(written: Any) -> dict[str, int]:
    found = {}
    for loss in written if isinstance(written, list) else [None]:
        if not isinstance(loss, dict) or not isinstance(loss.get("code"), str) or type(loss.get("count")) is not int:
            raise RecordError("losses are objects with code and count")
        found[loss["code"]] = loss["count"]
    return found


def record_line(record: Record) -> str:
    """Return a record as a line without a line break."""
    match record:
        case TraceOperation():
            fields = ("O", *(NO_VALUE if value is None else str(value) for value in record))
        case File(file, kind, size, name):
            fields = ("F", str(file), kind, NO_VALUE if size is None else str(size), escape_name(name))
        case Task(task, parent, start):
            fields = ("T", str(task), NO_VALUE if parent is None else str(parent), str(start))
        case End(task, end):
            fields = ("E", str(task), str(end))
        case Wait(task, on):
            fields = ("W", str(task), str(on))
    return "\t".join(fields)


def parse_record(line: str) -> Record:
    """Return the record that a line has.

    Args:
        line: The line, without its line break.

    Raises:
        RecordError: It has none.
    """
    fields = line.split("\t")
    try:
        record: Record = _PARSERS[fields[0]](*fields[1:])
    except KeyError:
        raise RecordError("a record begins with F, T, E, O or W and a tab") from None
    except TypeError:
        raise RecordError(f"a record {fields[0]} does not have {len(fields)} fields") from None
    return record


def _operation(
    start: str, duration: str, task: str, op: str, file: str, offset: str, length: str, result: str, flags: str
) -> TraceOperation:
    if op not in OPS:
        raise RecordError(f"{op!r:.20} is no operation")
    if not _FLAGS.fullmatch(flags):
        raise RecordError(f"{flags!r:.20} are no flags")
    done = result if _ERROR.fullmatch(result) else number(result)
    times = number(start), number(duration)
    return TraceOperation(*times, number(task), op, number(file), _maybe(offset), _maybe(length), done, flags)


def _file(file: str, kind: str, size: str, name: str) -> File:
    if kind not in FILE_KINDS:
        raise RecordError(f"{kind!r:.20} is no kind of file")
    return File(number(file), kind, _maybe(size), unescape_name(name))


_PARSERS: dict[str, Any] = {
    "O": _operation,
    "F": _file,
    "T": lambda task, parent, start: Task(number(task), _maybe(parent), number(start)),
    "E": lambda task, end: End(number(task), number(end)),
    "W": lambda task, on: Wait(number(task), number(on)),
}


def number(text: str) -> int:
    """Return a number of a record.

    Raises:
        RecordError: It is none.
    """
    # isdigit is true of other digits, too, and int takes signs, blanks and underscores.
    if not (text.isascii() and text.isdigit() and len(text) <= 19 and int(text) <= MAX_NUMBER):
        raise RecordError(f"{text!r:.30} is no number")
    return int(text)


def _maybe(text: str) -> int | None:
    return None if text == NO_VALUE else number(text)


_ESCAPES = {"\\": "\\\\", "\t": "\\t", "\n": "\\n", "\r": "\\r"}
_WRITTEN = {"\\": "\\", "t": "\t", "n": "\n", "r": "\r"}
_TO_ESCAPE = re.compile("[\\\\\t\n\r\udc80-\udcff]")
_ESCAPED = re.compile(r"\\(?:x([0-9a-f]{2})|(.))", re.DOTALL)


def escape_name(name: str) -> str:
    r"""Return a name without tabs and line breaks: these, backslashes and bytes that are not UTF-8 are escaped."""
    return _TO_ESCAPE.sub(lambda found: _ESCAPES.get(found[0]) or f"\\x{ord(found[0]) - 0xDC00:02x}", name)


def unescape_name(text: str) -> str:
    """Return the name that `escape_name` has written; bytes that are not UTF-8 become surrogates, as in `os.fsdecode`.

    Raises:
        RecordError: An escape is unknown.
    """
    if "\\" not in text:
        return text
    return _ESCAPED.sub(_unescaped, text)


def _unescaped(found: "re.Match[str]") -> str:
    if found[1]:
        byte = int(found[1], 16)
        return chr(0xDC00 + byte) if byte >= 0x80 else chr(byte)
    if found[2] not in _WRITTEN:
        raise RecordError(f"\\{found[2]} is no escape of a name")
    return _WRITTEN[found[2]]
