"""Reads a file that a user names, by the tool that its text is from."""

import json
import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain
from pathlib import Path
from shlex import quote

from assay.model.base import AssayError, LineError
from assay.model.escape import escape_line
from assay.model.result.imported import ImportedFile
from assay.rooms.importers.work import iozone
from assay.rooms.importers.work.file_text import (
    stamps_of,
    without,
    without_entities,
    without_flow,
    without_indents,
    without_margin,
    without_markup,
    without_quoting,
)
from assay.rooms.importers.work.iozone_excel import text_of_spreadsheet
from assay.rooms.importers.work.long_text import Text, windows_of
from assay.rooms.importers.work.results import (
    MAX_RESULTS,
    STATED_NOTHING,
    ImportOptions,
    OutputError,
    RolesNeeded,
    ToolOutput,
    results_left,
)
from assay.rooms.importers.work.spreadsheet import BEGINNINGS, is_spreadsheet, read_sheet
from assay.rooms.importers.work.text_source import UserText, whole_text
from assay.rooms.importers.work.tools import IMPORTERS, Importer

_BIFF2 = b"\x09\x00\x04\x00"
"""Beginning of what `iozone -b` writes: Excel 2 (libbif.c, do_header)."""
_ZSTANDARD = b"\x28\xb5\x2f\xfd"
"""Beginning of a file that zstd has compressed (RFC 8878, 3.1.1): warp writes its data so."""
_SEPARATOR = re.compile("\nseparator: .*\n")
ROLES_ENDING = ".roles.yaml"
"""How the name of a table's roles file ends."""


class UnknownColumnsError(AssayError):
    """A table whose columns have no roles yet.

    Attributes:
        file: The file as the user named it.
        roles: A guess: a complete roles file.
        doubts: What is unsure in it.
        is_clear: As in `Guess`.
        roles_name: Name for such a file.
    """

    def __init__(self, file: str, guess: RolesNeeded) -> None:
        name = roles_name(file)
        message = f"{file}: nothing is imported yet: check what its columns are"
        then = f"assay import {quote(file)} --roles {quote(name)}"
        hint = f"add `--write-roles {quote(name)}`, check that file, then: {then}"
        super().__init__(message, hint)
        self.file, self.roles, self.doubts, self.is_clear = file, guess.text, guess.doubts, guess.is_clear
        self.roles_name = name

    @property
    def short(self) -> str:
        """What is wrong, and the command that goes on, in one line."""
        command = f"assay import {quote(self.file)} --write-roles {quote(self.roles_name)}"
        return f"{self.file}: a table, and nothing says what its columns are: `{command}` writes a guess to check"

    def name_sheet(self, name: str, others: Sequence[str]) -> None:
        """State in the guess which sheet of a spreadsheet it is about; `others` have tables, too."""
        # What separates the cells of the sheet's text is not the user's matter.
        self.roles = _SEPARATOR.sub("\n", self.roles, count=1).replace(
            "\ncolumns:\n", f"\nsheet: {json.dumps(name, ensure_ascii=False)}\ncolumns:\n", 1
        )
        if others:
            listed = ", ".join(f"`{escape_line(one, 40)}`" for one in others)
            doubt = f"the sheet: this is `{escape_line(name, 40)}`, and there are tables in {listed}, too"
            self.doubts = (doubt, *self.doubts)


def roles_name(file: str) -> str:
    """Return the name of a table's roles file: `results.roles.yaml` beside `results.csv`."""
    return str(Path(file).with_suffix(ROLES_ENDING))


def read_outputs(path: str, stated: ImportOptions = STATED_NOTHING) -> list[ToolOutput]:
    """Return every output in a file that a user names.

    Args:
        path: Path of the file.
        stated: What the user states of outputs that do not say it.

    Raises:
        UnknownColumnsError: It is a table, and it is not stated what its columns are.
        AssayError: It cannot be read, is of no known tool, or is not what that tool writes.
    """
    tools = ", ".join(dict.fromkeys(one.name for one in IMPORTERS[:-1]))
    hint = f"give an output of {tools}, or a table: docs/reference/imports.md says which forms"
    source = UserText(path, hint)
    if source.head.startswith(_ZSTANDARD):
        raise AssayError(f"{path}: compressed with zstd", f"unpack it first: zstd -d {quote(path)}")
    outputs = _outputs_of(path, source, hint, stated)
    digest, size = source.digest()
    update = {"sha256": digest, "size_bytes": size}
    return [one.model_copy(update={"file": one.file.model_copy(update=update)}) for one in outputs]


def _outputs_of(path: str, source: UserText, hint: str, stated: ImportOptions) -> list[ToolOutput]:
    """Return every output in a file; errors as in `read_outputs`."""
    known = ImportedFile(tool="", version="", form="", file=escape_line(path), line=1, sha256="", size_bytes=0)
    if source.head.startswith(BEGINNINGS) and is_spreadsheet(content := source.whole()):
        return _of_spreadsheet(path, content, known, stated)
    text = text_of_spreadsheet(source.whole()) if source.head.startswith(_BIFF2) else source.text()
    if source.head.startswith(_BIFF2) and isinstance(text, str) and not iozone.recognise(text):
        hint = "give what iozone printed: it has the rates of each process, too"
        raise AssayError(f"{path}: a spreadsheet of iozone's throughput mode (-b), which is not read", hint)
    text = without_margin(text) if isinstance(text, str) else text
    found: dict[str, list[ToolOutput]] = {}
    problems: dict[str, list[LineError]] = {}
    for each, importers in _recognised(text, stated):
        for importer in importers:
            if _has_results(found.get(importer.name, ())):
                continue
            try:
                outputs = _read_by(importer, path, each, known, stated)
                if importer.name not in found or _has_results(outputs):
                    found[importer.name] = outputs
            except LineError as error:
                # What a logger put before each line, or how a page writes `>`, may be the reason.
                problems.setdefault(importer.name, []).append(error)
    for name, errors in problems.items():
        if name not in found:
            # With such additions, what is wrong is found without them.
            raise errors[:2][-1]
    if found:
        return sorted((one for outputs in found.values() for one in outputs), key=lambda one: one.file.line)
    what = "not a format that Assay can import" if any(one.strip() for one in windows_of(text)) else "empty"
    raise AssayError(f"{path}: {what}", hint)


def _has_results(outputs: Iterable[ToolOutput]) -> bool:
    return any(result.measured for one in outputs for result in one.results)


def _recognised(text: Text, stated: ImportOptions) -> Iterator[tuple[Text, list[Importer]]]:
    """Yield what may read a text, and the text: as it is, or without what a logger or a page has added."""
    *tools, tables = IMPORTERS
    is_known = False
    for each, importers in _known_forms(text, tools) if isinstance(text, str) else _known_windows(text, tools):
        is_known = True
        yield each, importers
    first = next(windows_of(text), "")
    if not is_known and (tables.recognise(first) or (first.strip() and stated.roles is not None)):
        yield text, [tables]


def _known_forms(text: str, tools: Sequence[Importer]) -> Iterator[tuple[str, list[Importer]]]:
    """Yield each form of a text in which there are outputs of tools, and what reads these."""
    stamped = (form.sub("", text) for form in stamps_of(text))
    pages = (without_entities(text), without_markup(text), without_flow(text), without_quoting(text))
    for each in chain((text,), stamped, *pages, without_indents(text)):
        if importers := _tools_in(each, tools):
            yield each, importers


def _tools_in(text: str, tools: Sequence[Importer]) -> list[Importer]:
    """Return what reads each tool in a text: people paste several into one page or log. JSON is of one tool."""
    found: dict[str, Importer] = {}
    for one in tools:
        if one.name not in found and one.recognise(text):
            found[one.name] = one
            if text.lstrip().startswith("{"):
                break
    return list(found.values())


def _known_windows(text: Text, tools: Sequence[Importer]) -> Iterator[tuple[Text, list[Importer]]]:
    """Yield a long text as it is, or without what a logger put before its lines, and what reads it: one tool."""
    for window in windows_of(text):
        is_known = False
        for form in (None, *stamps_of(window)):
            part = window if form is None else form.sub("", window)
            if (importer := next((one for one in tools if one.recognise(part)), None)) is not None:
                is_known = True
                yield text if form is None else without(text, form), [importer]
        if is_known:
            return


def _of_spreadsheet(path: str, content: bytes, known: ImportedFile, stated: ImportOptions) -> list[ToolOutput]:
    """Return the results of a spreadsheet; errors as in `read_outputs`."""
    sheet = read_sheet(path, content, stated.roles.roles.sheet if stated.roles else "")
    named = known.model_copy(update={"form": f"sheet `{escape_line(sheet.name, 40)}`"})
    try:
        return _read_by(IMPORTERS[-1], path, sheet.text, named, stated)
    except UnknownColumnsError as guess:
        guess.name_sheet(sheet.name, sheet.others)
        raise


def _read_by(importer: Importer, path: str, text: Text, known: ImportedFile, stated: ImportOptions) -> list[ToolOutput]:
    counting = results_left.set(MAX_RESULTS)
    try:
        each = text if importer.reads_long else whole_text(path, text, importer.shorter)
        return importer.read(each, known.model_copy(update={"tool": importer.name}), stated)
    except RolesNeeded as guess:
        raise UnknownColumnsError(path, guess) from None
    except OutputError as error:
        problem = LineError(path, error.line, error.message, error.hint)
        if importer is IMPORTERS[-1] and stated.roles is None:
            # No tool has written it: in a folder it is left out.
            raise AssayError(problem.message, problem.hint) from None
        raise problem from None
    finally:
        results_left.reset(counting)


def recognised_words(path: str, outputs: list[ToolOutput]) -> str:
    """Return what was recognised in a file, in one line: `a.json: fio 3.33, JSON: 3 results, 1 left out`.

    Results of which nothing says that they differ count as repeats: so many cases are named, too.
    """
    found = " and ".join(dict.fromkeys(f"{one.file.program}, {one.file.form}" for one in outputs))
    results = [result for output in outputs for result in output.results]
    held = [result for result in results if result.measured is not None]
    count = len(held)
    cases = {(one.target, one.workload, one.operation, *sorted(map(repr, one.parameters.items()))) for one in held}
    repeats = f", repeats of {len(cases):,} {'case' if len(cases) == 1 else 'cases'}" if len(cases) < count else ""
    several = f" of {len(outputs)} outputs" if len(outputs) > 1 else ""
    left_out = f", {len(results) - count} left out" if count < len(results) else ""
    return f"{path}: {found}: {count} {'result' if count == 1 else 'results'}{several}{repeats}{left_out}"
