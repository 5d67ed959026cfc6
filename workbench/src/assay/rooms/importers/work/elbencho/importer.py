"""elbencho's outputs: the table on the console, and its files of results."""

from collections.abc import Sequence
from pathlib import PurePosixPath

from assay.model.escape import escape_line
from assay.model.result.imported import ImportedFile
from assay.rooms.importers.work.elbencho.files import JSON, Rows, csv_rows, is_csv_head, json_rows
from assay.rooms.importers.work.elbencho.phases import HINT, PhaseOutput, results_of
from assay.rooms.importers.work.elbencho.text import clean_lines, is_head, tables_of
from assay.rooms.importers.work.elbencho.totals import named_by_totals
from assay.rooms.importers.work.results import (
    STATED_NOTHING,
    ImportedResult,
    ImportOptions,
    OutputError,
    ToolOutput,
)

NAME = "elbencho"


def recognise(text: str) -> bool:
    """Whether a text has output of elbencho."""
    if JSON.search(text) is not None:
        return True
    if "operation,time ms [first],time ms [last]," in text:
        return any(is_csv_head(line) for line in text.split("\n"))
    return "RESULT TYPE" in text and any(is_head(line) for line in clean_lines(text))


def read(text: str, file: ImportedFile, stated: ImportOptions = STATED_NOTHING) -> list[ToolOutput]:
    """Return every output in a text, in order.

    Args:
        text: The content of the file.
        file: What is known of the file; the rest is filled in.
        stated: Order of offsets of tables, which do not say it without a command line.

    Raises:
        OutputError: It is not what elbencho writes.
    """
    if JSON.search(text) is not None:
        found = [_of_rows(rows, file, "JSON") for rows in json_rows(text)]
    elif any(is_csv_head(line) for line in text.split("\n")):
        found = [_of_rows(rows, file, "CSV") for rows in csv_rows(text)]
    else:
        found = []
        for table in tables_of(text, stated.order):
            known = {"form": "text", "date": table.date, "command": table.command, "line": table.line}
            found.append(_output(table.phases, file, known, table.label))
        found = named_by_totals(found)
    if not any(output.results for output in found):
        raise OutputError(1, "no results in this output of elbencho", HINT)
    return [output for output in found if output.results]


def _of_rows(rows: Rows, file: ImportedFile, form: str) -> ToolOutput:
    known = {"form": form, "version": rows.version, "date": rows.date, "command": rows.command, "line": rows.line}
    return _output(rows.phases, file, known, rows.label)


def _output(phases: Sequence[PhaseOutput], file: ImportedFile, known: dict[str, object], label: str) -> ToolOutput:
    results = tuple(_labelled(one, label) for one in results_of(phases, _target(phases)))
    return ToolOutput(file=file.model_copy(update={"tool": NAME, **known}), results=results)


def _labelled(result: ImportedResult, label: str) -> ImportedResult:
    """Return a result whose workload has the label of its run."""
    return result.model_copy(update={"workload": f"{label}: {result.workload}"}) if label else result


def _target(phases: Sequence[PhaseOutput]) -> str:
    """Return what was under test: the path, or the folder of several; empty if it is not printed."""
    paths = next((one.setup.options["paths"] for one in phases if one.setup.options.get("paths")), "").split(" ")
    if len(paths) == 1:
        return escape_line(paths[0], 80)
    return escape_line(str(PurePosixPath(paths[0]).parent), 80)
