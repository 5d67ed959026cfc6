"""Reads iperf 3's outputs: JSON, streams of events, and text of both sides."""

import re
from collections.abc import Iterable, Iterator

from assay.model.escape import escape_line
from assay.model.result.imported import ImportedFile
from assay.rooms.importers.work.iperf import json3, text3
from assay.rooms.importers.work.iperf.results import transfer_result
from assay.rooms.importers.work.iperf.rows import HINT
from assay.rooms.importers.work.long_text import Text, each_line, windows_of
from assay.rooms.importers.work.results import STATED_NOTHING, ImportOptions, OutputError, ToolOutput

NAME = "iperf3"
_STARTS = ("[", "Connecting ", "Server ")


def _lines(text: Text) -> Iterator[str]:
    return (line.strip() for line in each_line(text))


def _is_text(line: str) -> bool:
    patterns = (text3.CLIENT, text3.SERVER, text3.CONNECTION)
    is_first = line.startswith(_STARTS) and any(pattern.fullmatch(line) for pattern in patterns)
    return is_first or text3.is_total(line)


def recognise(text: str) -> bool:
    """Whether a text has output of iperf 3."""
    return json3.has_json(text) or any(_is_text(line) for line in _lines(text))


def read(text: Text, file: ImportedFile, stated: ImportOptions = STATED_NOTHING) -> list[ToolOutput]:  # noqa: ARG001
    """Return every output in a text: each JSON by itself, or all of its text.

    Args:
        text: The content of the file.
        file: What is known of the file; the rest is filled in.
        stated: Not used: there are no offsets.

    Raises:
        OutputError: It is not what iperf 3 writes, or nothing was measured.
    """
    known = {"tool": NAME}
    if any(json3.has_json(window) for window in windows_of(text)):
        return [_json_output(one, file.model_copy(update=known)) for one in json3.documents(text)]
    results = tuple(transfer_result(one, NAME) for one in text3.text_transfers(_lines(text)))
    if not results:
        line = next((number for number, one in enumerate(_lines(text), start=1) if _is_text(one)), 1)
        raise OutputError(line, "no test in this output of iperf3: it ended too early, or failed", HINT)
    facts = _text_facts(_lines(text), results[0].line or 1)
    return [ToolOutput(file=file.model_copy(update=known | facts), results=results)]


def _json_output(document: json3.Iperf3Json, file: ImportedFile) -> ToolOutput:
    known = {
        "form": "JSON",
        "line": document.line,
        "version": document.version,
        "date": document.date,
        "measured_at": document.seconds_since_1970,
        "host": document.local_host,
    }
    results = tuple(transfer_result(one, NAME) for one in document.transfers())
    return ToolOutput(file=file.model_copy(update=known), results=results)


def _text_facts(lines: Iterable[str], first: int) -> dict[str, object]:
    """Return what a text says of itself: version and date with `-V` only."""
    found: dict[str, object] = {"form": "text", "line": first}
    wanted: dict[str, tuple[re.Pattern[str], int | str]] = {
        "version": (text3.VERSION, 1),
        "date": (text3.TIME, 1),
        "host": (text3.CONNECTION, "local"),
    }
    for line in lines:
        for name, (pattern, part) in wanted.items():
            if name not in found and (match := pattern.fullmatch(line)):
                found[name] = escape_line(match[part], 80)
    return found
