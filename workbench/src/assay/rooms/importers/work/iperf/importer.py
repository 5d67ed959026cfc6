"""Reads iperf 2's outputs: text of both sides, and CSV."""

from collections.abc import Iterable, Iterator

from assay.model.escape import escape_line
from assay.model.result.imported import ImportedFile
from assay.rooms.importers.work.iperf import csv2, text2
from assay.rooms.importers.work.iperf.results import transfer_result
from assay.rooms.importers.work.iperf.rows import HINT
from assay.rooms.importers.work.long_text import Text, each_line
from assay.rooms.importers.work.results import STATED_NOTHING, ImportOptions, OutputError, ToolOutput

NAME = "iperf"
_STARTS = ("[", "Client ", "Server ")


def _lines(text: Text) -> Iterator[str]:
    return (line.strip() for line in each_line(text))


def _is_text(line: str) -> bool:
    return line.startswith(_STARTS) and any(
        pattern.fullmatch(line) for pattern in (text2.CLIENT, text2.SERVER, text2.CONNECTION)
    )


def recognise(text: str) -> bool:
    """Whether a text has output of iperf 2."""
    return any(
        _is_text(line)
        or (line[:1].isdigit() and csv2.PLAIN.fullmatch(line) is not None)
        or (line.startswith("time,src") and csv2.HEAD.fullmatch(line) is not None)
        for line in _lines(text)
    )


def read(text: Text, file: ImportedFile, stated: ImportOptions = STATED_NOTHING) -> list[ToolOutput]:  # noqa: ARG001
    """Return the output in a text.

    Args:
        text: The content of the file.
        file: What is known of the file; the rest is filled in.
        stated: Not used: there are no offsets.

    Raises:
        OutputError: It is not what iperf 2 writes, or nothing was measured.
    """
    is_text = any(_is_text(line) for line in _lines(text))
    found = list(text2.text_transfers(_lines(text), 1) if is_text else csv2.csv_transfers(_lines(text)))
    results = tuple(transfer_result(one, NAME) for one in found)
    if not results:
        first = next((number for number, line in enumerate(_lines(text), start=1) if _is_text(line)), 1)
        raise OutputError(first, "no measurement in this output of iperf: it ended too early, or failed", HINT)
    known = {"tool": NAME, "form": "text" if is_text else "CSV", "line": found[0].line, "host": _host(_lines(text))}
    date = next((line[:14] for line in _lines(text) if not is_text and csv2.PLAIN.fullmatch(line)), "")
    known["date"] = "" if date.startswith("1970") else date
    return [ToolOutput(file=file.model_copy(update=known), results=results)]


def _host(lines: Iterable[str]) -> str:
    """Return the address of the side that printed; empty if the text does not say it."""
    matches = (text2.CONNECTION.fullmatch(line) for line in lines if " connected with " in line)
    return next((escape_line(match["local"].partition("%")[0], 80) for match in matches if match), "")
