"""IOR's outputs: text of versions 2.10 to 4.0, JSON of 3.3 and 4.0, CSV of 4.0.

Rates are MiB/s, 2^20 bytes, in all of them; `MB/sec` of the line `Max Write` is 10^6 bytes.
"""

import re
from collections.abc import Iterator, Sequence
from itertools import pairwise

from assay.model.escape import escape_line
from assay.model.result.imported import ImportedFile
from assay.model.secret import redact_line
from assay.rooms.importers.work.figure_units import whole_number
from assay.rooms.importers.work.ior_json import CSV, csv_tests, json_tests, without_log
from assay.rooms.importers.work.ior_results import HINT, Test, results_of
from assay.rooms.importers.work.ior_setup import TYPED, command_line, typed_block
from assay.rooms.importers.work.ior_text import TABLE, read_tests
from assay.rooms.importers.work.json_text import decode_json
from assay.rooms.importers.work.results import STATED_NOTHING, ImportOptions, OutputError, ToolOutput

NAME = "IOR"
_TITLE = re.compile(r"IOR-(\S{1,40}): MPI Coordinated Test of Parallel I/O *")
_JSON = re.compile(r'^[ \t]*\{\s*(?:"Version": "([^"\n]{0,40})",\s*)?"Began": "[^"\n]*",\s*"Command line": "', re.M)
_BEGAN = re.compile(r"(?:Run began|Began *): (.*)")
_COMMAND = re.compile(r"Command line(?: used| *): (.*)")
_MACHINE = re.compile(r"Machine *: \S+ (\S+).*")
_REST = re.compile(r"\s*(?:[|;&\\]|[0-9]?>)")
"""What ends a command in a shell."""
_MAX_DATE = 40


def recognise(text: str) -> bool:
    """Whether a text has output of IOR."""
    if _JSON.search(text):
        return True
    return any(_TITLE.fullmatch(line) or CSV.fullmatch(line) or TABLE.fullmatch(line) for line in _lines(text))


def _lines(text: str) -> list[str]:
    return [line.rstrip("\r") for line in text.split("\n")]


def read(text: str, file: ImportedFile, stated: ImportOptions = STATED_NOTHING) -> list[ToolOutput]:
    """Return every output in a text, in order.

    Args:
        text: The content of the file.
        file: What is known of the file; the rest is filled in.
        stated: Order of offsets of CSV, which does not say it.

    Raises:
        OutputError: It is not what IOR writes.
    """
    lines = _lines(text)
    if _JSON.search(text):
        return _json_outputs(text, file)
    if any(CSV.fullmatch(line) for line in lines):
        tests = csv_tests(lines, stated.order)
        first = next(number for number, line in enumerate(lines, start=1) if CSV.fullmatch(line))
        return [_output(tests, file, first, {"form": "CSV"})]
    starts = [number for number, line in enumerate(lines) if _TITLE.fullmatch(line)]
    starts = sorted({*starts, *_further_starts(lines)})
    return [_text_output(lines[start:end], start + 1, file) for start, end in pairwise((*starts, len(lines)))]


def _further_starts(lines: Sequence[str]) -> Iterator[int]:
    """Yield where outputs begin whose first lines were cut off: with the command line typed above, or the table."""
    has_title, typed = False, None
    for number, line in enumerate(lines):
        if _TITLE.fullmatch(line):
            has_title = True
        elif "ior" in line and TYPED.fullmatch(line.strip()):
            has_title, typed = False, number
        elif TABLE.fullmatch(line) and not has_title:
            yield number if typed is None else typed
            typed = None


def _text_output(lines: Sequence[str], first: int, file: ImportedFile) -> ToolOutput:
    """Return one output of text; `first` is the number of its first line."""
    title = _TITLE.fullmatch(lines[0])
    known = {"form": "text", "version": escape_line(title[1], 40) if title else ""}
    command = ""
    for line in lines[:20]:
        if (match := _BEGAN.fullmatch(line)) and "date" not in known:
            known["date"] = escape_line(match[1].strip(), _MAX_DATE)
        elif (match := _COMMAND.fullmatch(line)) and not command:
            command = match[1]
        elif match := _MACHINE.fullmatch(line):
            known["host"] = escape_line(match[1], 80)
    typed = None if title else TYPED.fullmatch(lines[0].strip())
    command = command or (_REST.split(typed["command"])[0] if typed else "")
    known["command"] = redact_line(escape_line(command))
    asked = command_line(command.split()[1:]) if command else None
    block = typed_block(asked, typed["tasks"] or "") if typed and asked else {}
    tests = read_tests(lines, first, _main_version(known["version"]), asked, block)
    return _output(tests, file, first, known)


def _json_outputs(text: str, file: ImportedFile) -> list[ToolOutput]:
    found, position, first, counted = [], 0, 1, 0
    lines = text.split("\n")
    clean = without_log(text)
    while (match := _JSON.search(clean, position)) is not None:
        start = clean.index("{", match.start())
        first, counted = first + clean.count("\n", counted, start), start
        try:
            document, position = decode_json(clean, start)
        except OutputError as error:
            if match[1] is None:
                hint = "give IOR's text, or JSON of version 3.3 or later"
                raise OutputError(
                    error.line, f"{error.message}; JSON of IOR 3.2 is damaged by its ranks", hint
                ) from None
            raise
        own = lines[first - 1 : first + clean.count("\n", start, position)]
        words = {name: str(document.get(name, "")) for name in ("Version", "Began", "Command line", "Machine")}
        known = {
            "form": "JSON",
            "version": escape_line(words["Version"], 40),
            "date": escape_line(words["Began"], _MAX_DATE),
            "command": redact_line(escape_line(words["Command line"])),
            "host": escape_line(words["Machine"].partition(" ")[2].split(" ")[0], 80),
        }
        line = command_line(words["Command line"].split()[1:]) if words["Command line"] else None
        tests = json_tests(document, "\n".join(own), first, _main_version(words["Version"]), line)
        found.append(_output(tests, file, first, known))
    return found


def _main_version(version: str) -> int:
    return whole_number(version.partition(".")[0]) or 0


def _output(tests: Sequence[Test], file: ImportedFile, first: int, known: dict[str, str]) -> ToolOutput:
    results = tuple(results_of(tests))
    if not results:
        raise OutputError(first, "no results in this output of IOR", HINT)
    return ToolOutput(file=file.model_copy(update={"tool": NAME, "line": first, **known}), results=results)
