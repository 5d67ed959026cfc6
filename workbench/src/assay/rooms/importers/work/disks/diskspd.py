"""diskspd of Windows (and of Linux): its text, and its XML (`-Rxml`)."""

from collections.abc import Sequence
from itertools import pairwise

from assay.model.escape import escape_line
from assay.model.result.imported import ImportedFile
from assay.model.secret import redact_line
from assay.rooms.importers.work.disks.diskspd_spans import HINT, NAME, result_of
from assay.rooms.importers.work.disks.diskspd_text import COMMAND, HEAD, RESULTS, TextReader
from assay.rooms.importers.work.disks.diskspd_xml import BEGIN, root_of, tests_of
from assay.rooms.importers.work.disks.printed import lines_of
from assay.rooms.importers.work.results import STATED_NOTHING, ImportOptions, OutputError, ToolOutput

_PARTS = ("Total IO", "<TestTimeSeconds>")


def recognise(text: str) -> bool:
    """Whether a text has output of diskspd."""
    if not any(part in text for part in _PARTS):
        return False
    lines = lines_of(text)
    if any(BEGIN.fullmatch(line) for line in lines):
        return "<TimeSpan>" in text
    return any(RESULTS.fullmatch(line.strip()) for line in lines) and any(HEAD.fullmatch(line) for line in lines)


def read(text: str, file: ImportedFile, stated: ImportOptions = STATED_NOTHING) -> list[ToolOutput]:
    """Return every output in a text, in order.

    Args:
        text: The content of the file.
        file: What is known of the file; the rest is filled in.
        stated: The order of offsets, where neither options nor the command line are in the text.

    Raises:
        OutputError: It is not what diskspd writes.
    """
    lines = lines_of(text)
    starts = [number for number, line in enumerate(lines) if BEGIN.fullmatch(line)]
    if starts:
        return [_xml(lines[start:end], start + 1, file, stated) for start, end in pairwise((*starts, len(lines)))]
    return [_text(lines[start:end], start + 1, file, stated) for start, end in pairwise((*_starts(lines), len(lines)))]


def _starts(lines: Sequence[str]) -> list[int]:
    """Return where outputs begin: with a command line or options, behind results of another one."""
    starts: list[int] = []
    has_results = True
    for number, line in enumerate(lines):
        text = line.strip()
        if RESULTS.fullmatch(text):
            starts = starts or [0]
            has_results = True
        elif has_results and (COMMAND.fullmatch(text) or text == "Input parameters:"):
            starts.append(number)
            has_results = False
    return starts or [0]


def _text(lines: Sequence[str], first: int, file: ImportedFile, stated: ImportOptions) -> ToolOutput:
    reader = TextReader()
    for number, line in enumerate(lines, first):
        reader.read(line, number)
    for test in reader.tests:
        for name in ("total", "read", "write"):
            if name not in test.sections:
                raise OutputError(test.line, f"{test.name} has no table `{name.title()} IO` with a total", HINT)
    if not reader.tests:
        raise OutputError(first, "no results in this output of diskspd", HINT)
    known = {
        "tool": NAME,
        "form": "text",
        "line": first,
        "date": escape_line(reader.date, 40),
        "host": escape_line(reader.host, 80),
        "command": redact_line(escape_line(reader.command)),
    }
    results = tuple(result_of(test, stated) for test in reader.tests)
    return ToolOutput(file=file.model_copy(update=known), results=results)


def _xml(lines: list[str], first: int, file: ImportedFile, stated: ImportOptions) -> ToolOutput:
    root = root_of(lines, first)
    tests = tests_of(root, lines, first)
    if not tests:
        raise OutputError(first, "no results in this output of diskspd", HINT)
    known = {
        "tool": NAME,
        "form": "XML",
        "line": first,
        "version": escape_line((root.findtext("System/Tool/Version") or "").strip(), 40),
        "date": escape_line((root.findtext("System/RunTime") or "").strip(), 40),
        "host": escape_line((root.findtext("System/ComputerName") or "").strip(), 80),
    }
    return ToolOutput(file=file.model_copy(update=known), results=tuple(result_of(test, stated) for test in tests))
