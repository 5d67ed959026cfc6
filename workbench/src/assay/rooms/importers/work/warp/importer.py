"""warp's outputs: its text, JSON, and log of operations."""

from collections.abc import Sequence

from assay.model.result.imported import ImportedFile
from assay.rooms.importers.work.long_text import Text, windows_of
from assay.rooms.importers.work.results import STATED_NOTHING, ImportedResult, ImportOptions, OutputError, ToolOutput
from assay.rooms.importers.work.text_source import whole_text
from assay.rooms.importers.work.warp.command import options_of, safe_command
from assay.rooms.importers.work.warp.documents import WarpDocument, is_document
from assay.rooms.importers.work.warp.log import HEAD, Log
from assay.rooms.importers.work.warp.measured import HINT, NAME, overlaps, results_of
from assay.rooms.importers.work.warp.text import clean_lines, is_report, reports_of


def recognise(text: str) -> bool:
    """Whether a text has output of warp."""
    if _is_log(text) or is_document(text):
        return True
    if not any(word in text for word in ("Operation: ", "Report: ", "too few samples")):
        return False
    return is_report(clean_lines(text))


def _is_log(text: str) -> bool:
    return text.startswith(HEAD) or f"\n{HEAD}" in text


def read(text: Text, file: ImportedFile, stated: ImportOptions = STATED_NOTHING) -> list[ToolOutput]:  # noqa: ARG001
    """Return every output in a text, in order. Logs may have any length.

    Args:
        text: The content of the file.
        file: What is known of the file; the rest is filled in.
        stated: Not used: objects have no order of offsets.

    Raises:
        OutputError: It is not what warp writes.
        AssayError: It is no log, and too long.
    """
    if any(_is_log(window) for window in windows_of(text)):
        return [_of_log(Log(text), file)]
    whole = whole_text(file.file, text, HINT)
    if is_document(whole):
        return [_of_document(WarpDocument(whole), file)]
    found = []
    for report in reports_of(clean_lines(whole)):
        results = tuple(results_of(report.kinds, report.whole, {}, ""))
        found.append(_output(file, {"form": "text", "line": report.line}, results))
    if not found:
        raise OutputError(1, "no results in this output of warp", HINT)
    return found


def _of_log(log: Log, file: ImportedFile) -> ToolOutput:
    whole = log.whole if overlaps(log.kinds) else None
    results = tuple(results_of(log.kinds, whole, options_of(log.command), _target(sorted(log.endpoints))))
    known = {"form": "log of operations", "command": safe_command(log.command), "line": 1}
    return _output(file, {**known, "measured_at": log.whole.ended_at}, results)


def _of_document(document: WarpDocument, file: ImportedFile) -> ToolOutput:
    is_mixed = overlaps(document.kinds) if document.is_mixed is None else document.is_mixed
    whole = document.whole if is_mixed else None
    results = tuple(results_of(document.kinds, whole, options_of(document.command), _target(document.hosts)))
    known = {
        "form": "JSON",
        "command": safe_command(document.command),
        "line": document.line,
        "version": document.version,
    }
    moments = [one.ended_at for one in document.kinds if one.ended_at is not None]
    return _output(file, {**known, "measured_at": max(moments, default=None)}, results)


def _target(hosts: Sequence[str]) -> str:
    """Return what was under test: the service, or how many there are."""
    return hosts[0] if len(hosts) == 1 else f"{len(hosts)} endpoints" if hosts else ""


def _output(file: ImportedFile, known: dict[str, object], results: tuple[ImportedResult, ...]) -> ToolOutput:
    return ToolOutput(file=file.model_copy(update={"tool": NAME, **known}), results=results)
