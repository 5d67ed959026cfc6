"""elbencho's files of results: CSV (`--csvfile`) of versions 1.0 to 3.1, JSON (`--jsonfile`) of 3.0 and later.

CSV has whole MiB (2^20 bytes), JSON bytes, also per second; times are ms, latencies us (Statistics.cpp,
printPhaseResultsToStringVec and printPhaseResultsAsJSON).
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from decimal import Decimal
from typing import Any

from assay.model.escape import escape_line
from assay.rooms.importers.work.elbencho.phases import HINT, DirectionTotals, PhaseOutput, checked, is_phase, take_total
from assay.rooms.importers.work.elbencho.setup import OBJECT_PATHS, ElbenchoSetup, command_setup, safe_command
from assay.rooms.importers.work.figure_units import convert
from assay.rooms.importers.work.json_text import decode_json, line_of
from assay.rooms.importers.work.results import Figure, OutputError

_KEY = re.compile(r"[^,]{0,40},?(?:[^,]{0,40},){1,20}operation,time ms \[first\],time ms \[last\],[^\n]*")
JSON = re.compile(r'^[ \t]*\{"phase_type":"[^"\n]{1,40}","phase_id":"', re.M)
_COLUMNS = {
    "entries/s": ("entries_rate", "1/s"),
    "IOPS": ("iops", "1/s"),
    "MiB/s": ("rate", "MiB/s"),
    "entries": ("entries", ""),
    "MiB": ("bytes", "MiB"),
}
_KEYS = {"entries/s": ("entries_rate", "1/s"), "iops": ("iops", "1/s"), "bytes/s": ("rate", "B/s"),
         "entries": ("entries", ""), "bytes": ("bytes", "bytes")}  # fmt: skip
_SUMMARY = {"min": "min", "avg": "mean", "max": "max"}
_NUMBERS = {
    "threads": ("threads", "threads"),
    "hosts": ("hosts", "hosts"),
    "file_size": ("file size", "file_size"),
    "block_size": ("block size", "block_size"),
    "queue_depth": ("IO depth", "io_depth"),
}
"""Field of `ElbenchoSetup` -> column of the CSV and key of the JSON."""
_TYPES = ("dir", "file", "blockdev", "hdfs", *OBJECT_PATHS)


@dataclass
class Rows:
    """Phases of one command line.

    Attributes:
        line: Line of the file on which they begin, from 1.
        version: As printed; empty if it is not, like all texts here.
        command: The command line without secrets.
        label: The user's name for it.
        date: When the first of them began.
        phases: In order.
    """

    line: int
    version: str = ""
    command: str = ""
    label: str = ""
    date: str = ""
    phases: list[PhaseOutput] = field(default_factory=list)

    @property
    def key(self) -> tuple[str, str, str]:
        """What rows of one run have in common."""
        return self.version, self.command, self.label


def is_csv_head(line: str) -> bool:
    """Whether a line has the labels of elbencho's CSV."""
    return "operation,time ms [first],time ms [last]," in line[:600] and _KEY.match(line) is not None


def csv_rows(text: str) -> list[Rows]:
    """Return the runs of a CSV file.

    Raises:
        OutputError: It is not what elbencho writes.
    """
    names: list[str] = []
    found: list[Rows] = []
    for number, line in enumerate(text.split("\n"), start=1):
        line = line.rstrip("\r")
        if is_csv_head(line):
            names = line.split(",")
        elif names and line.strip():
            # No cell has a comma: elbencho leaves them out of labels and replaces them in command lines.
            cells = line.split(",")
            if len(cells) != len(names):
                message = f"{len(cells)} cells in a row, and {len(names)} labels"
                raise OutputError(number, message, "give each version's rows in a file of its own")
            _append(found, _csv_row(dict(zip(names, cells, strict=True)), number))
    return found


def _append(found: list[Rows], rows: Rows) -> None:
    if found and found[-1].key == rows.key:
        found[-1].phases += rows.phases
    else:
        found.append(rows)


def _csv_row(cells: Mapping[str, str], line: int) -> Rows:
    name = cells["operation"]
    if not is_phase(name):
        raise OutputError(line, f"elbencho has no phase {escape_line(name, 40)!r}", HINT)
    command = cells.get("command", "")
    known = {key: cells.get(column, "") for key, (column, _) in _NUMBERS.items()}
    flags = {"is_direct": cells.get("direct IO", ""), "is_random": cells.get("random", "")}
    counts = {"dirs": cells.get("dirs", ""), "files": cells.get("files", "")}
    setup = _setup(cells.get("path type", ""), {**known, **counts}, flags, command, line)
    phase = PhaseOutput(name, line, setup, started_at=_seconds(cells.get("ISO date", "")))
    for side in ("first", "last"):
        text = cells[f"time ms [{side}]"]
        phase.figures.append(Figure(f"time ms [{side}]", text, "ms"))
        phase.milliseconds = checked(text, f"time ms [{side}]", line)
    for prefix, part in (("", phase.main), ("rwmix read ", phase.reads)):
        _take_columns(cells, prefix, part, phase.figures, line)
    for side in ("first", "last"):
        if text := cells.get(f"CPU% [{side}]", ""):
            checked(text, "CPU%", line)
            phase.figures.append(Figure(f"CPU% [{side}]", text, "%"))
    label, date = escape_line(cells.get("label", ""), 80), escape_line(cells.get("ISO date", ""), 40)
    return Rows(line, escape_line(cells.get("version", ""), 40), safe_command(command), label, date, [phase])


def _take_columns(
    cells: Mapping[str, str], prefix: str, side: DirectionTotals, figures: list[Figure], line: int
) -> None:
    values: dict[str, Decimal] = {}
    for column, (name, unit) in _COLUMNS.items():
        for end in ("first", "last"):
            label = f"{prefix}{column} [{end}]"
            if text := cells.get(label, ""):
                values[name] = checked(text, label, line)
                figures.append(Figure(label, text, unit))
    take_total(values, side, 1 << 20)
    for word, times in (("Ent", side.entry_latency), ("IO", side.io_latency)):
        for column, name in _SUMMARY.items():
            label = f"{prefix}{word} lat us [{column}]"
            if text := cells.get(label, ""):
                checked(text, label, line)
                figures.append(Figure(label, text, "us"))
                times[name] = float(convert(text, "us"))


def _setup(
    path_type: str, numbers: Mapping[str, str], flags: Mapping[str, str], command: str, line: int
) -> ElbenchoSetup:
    """Return what was asked for: the command line, with what the columns say in its place."""
    _, _, words = command.partition(" ")
    found = command_setup(words)
    found.path_type = path_type if path_type in _TYPES else ""
    values = {key: int(checked(text, key, line)) for key, text in numbers.items() if text}
    for key in _NUMBERS:
        setattr(found, key, values.get(key))
    found.dirs = values.get("dirs")
    found.files = max(found.dirs, 1) * values["files"] if found.dirs is not None and "files" in values else None
    for key, text in flags.items():
        setattr(found, key, {"1": True, "0": False, "true": True, "false": False}.get(text))
    if found.path_type == "hdfs":
        found.path_type = "dir"
    return found


def _seconds(text: str) -> float | None:
    """Return an ISO date as seconds since 1970; None if it does not say its time zone."""
    if len(text) > 40:
        return None
    try:
        date = datetime.fromisoformat(text)
        return date.timestamp() if date.tzinfo is not None else None
    except (ValueError, OverflowError):
        return None


def json_rows(text: str) -> list[Rows]:
    """Return the runs of a JSON file: one document for each phase.

    Raises:
        OutputError: It is not what elbencho writes.
    """
    found: list[Rows] = []
    position, line, counted = 0, 1, 0
    while (match := JSON.search(text, position)) is not None:
        start = text.index("{", match.start())
        line, counted = line + text.count("\n", counted, start), start
        try:
            document, position = decode_json(text, start)
        except OutputError as error:
            raise OutputError(line_of(text, start), error.message, HINT) from None
        _append(found, _document(document, line))
    return found


def _document(document: Mapping[str, Any], line: int) -> Rows:
    config, first, last = (_part(document, key, line) for key in ("config", "first_done", "last_done"))
    name = str(document.get("phase_type", ""))
    if not is_phase(name):
        raise OutputError(line, f"elbencho has no phase {escape_line(name, 40)!r}", HINT)
    command = _text(config, "command")
    numbers = {key: _text(config, column) for key, (_, column) in _NUMBERS.items()}
    counts = {"dirs": _text(config, "dirs"), "files": _text(config, "files")}
    flags = {"is_direct": _text(config, "direct_io"), "is_random": _text(config, "random_offsets")}
    setup = _setup(_text(config, "path_type"), {**numbers, **counts}, flags, command, line)
    date = _text(document, "iso_start_date")
    phase = PhaseOutput(name, line, setup, started_at=_seconds(date))
    for side, part in (("first_done", first), ("last_done", last)):
        text = _text(part, "elapsed_time_ms")
        phase.milliseconds = checked(text, f"{side}.elapsed_time_ms", line)
        phase.figures.append(Figure(f"{side}.elapsed_time_ms", text, "ms"))
        if text := _text(part, "cpu%"):
            checked(text, "cpu%", line)
            phase.figures.append(Figure(f"{side}.cpu%", text, "%"))
        _take_keys(part, side, phase.main, phase.figures, line)
        if "rwmix_read" in part:
            _take_keys(_part(part, "rwmix_read", line), f"{side}.rwmix_read", phase.reads, phase.figures, line)
    if "latency" in last:
        _take_latency(_part(last, "latency", line), phase, line)
    label = escape_line(_text(document, "label"), 80)
    version = escape_line(_text(config, "version"), 40)
    return Rows(line, version, safe_command(command), label, escape_line(date, 40), [phase])


def _part(document: Mapping[str, Any], key: str, line: int) -> Mapping[str, Any]:
    part = document.get(key)
    if not isinstance(part, dict):
        raise OutputError(line, f"no part {key!r} in a phase", HINT)
    return part


def _text(part: Mapping[str, Any], key: str) -> str:
    value = part.get(key, "")
    return value if isinstance(value, str) else ""


def _take_keys(part: Mapping[str, Any], name: str, side: DirectionTotals, figures: list[Figure], line: int) -> None:
    values: dict[str, Decimal] = {}
    for key, (what, unit) in _KEYS.items():
        if text := _text(part, key):
            values[what] = checked(text, f"{name}.{key}", line)
            figures.append(Figure(f"{name}.{key}", text, unit))
    take_total(values, side, 1)


def _take_latency(part: Mapping[str, Any], phase: PhaseOutput, line: int) -> None:
    for word in ("entries", "IO"):
        times = part.get(word)
        if not isinstance(times, dict):
            continue
        parts: Sequence[tuple[str, Any, DirectionTotals]] = (
            ("", times, phase.main),
            (".rwmix_read", times.get("rwmix_read"), phase.reads),
        )
        for mark, values, side in parts:
            _take_times(values, f"last_done.latency.{word}{mark}", word, side, phase.figures, line)


def _take_times(values: Any, name: str, word: str, side: DirectionTotals, figures: list[Figure], line: int) -> None:
    if not isinstance(values, dict):
        return
    times = side.io_latency if word == "IO" else side.entry_latency
    for key, known in _SUMMARY.items():
        if text := _text(values, f"{key}_us"):
            checked(text, name, line)
            figures.append(Figure(f"{name}.{key}_us", text, "us"))
            times[known] = float(convert(text, "us"))
