"""The tools whose outputs can be imported, and the one that a file is from."""

import hashlib
from collections.abc import Callable
from pathlib import Path
from shlex import quote
from typing import NamedTuple

from assay.model.base import AssayError, LineError
from assay.model.escape import escape_line
from assay.model.result.imported import ImportedFile
from assay.model.user_files import read_user_file
from assay.rooms.importers.work import fio, fio_measured, io500, ior, iozone, mdtest, table
from assay.rooms.importers.work.fio_text import importer as fio_text
from assay.rooms.importers.work.results import (
    STATED_NOTHING,
    ImportOptions,
    OutputError,
    RolesNeeded,
    ToolOutput,
)

MAX_BYTES = 32 << 20
"""Largest file."""
_SPREADSHEET = (b"\x09\x00\x04\x00", b"\xd0\xcf\x11\xe0")
"""Beginnings of spreadsheets: BIFF of Excel 2, which iozone writes (libbif.c), and OLE of later ones."""
_WORKBOOK = (b"xl/workbook", b"opendocument.spreadsheet")
"""Parts of the archives that XLSX and ODS are."""


class Importer(NamedTuple):
    """Reads the outputs of one tool.

    Attributes:
        name: Name of the tool.
        forms: What it reads, in words.
        recognise: Whether a text is its output, by what the text says.
        read: Returns all outputs in a text; raises `OutputError`. Arguments: the text, what is known of the file, and
            what the user states besides.
    """

    name: str
    forms: str
    recognise: Callable[[str], bool]
    read: Callable[[str, ImportedFile, ImportOptions], list[ToolOutput]]


IMPORTERS = (
    Importer(fio_measured.NAME, "fio's JSON (--output-format=json or json+)", fio.recognise, fio.read),
    Importer(fio_measured.NAME, "fio's normal or terse output", fio_text.recognise, fio_text.read),
    Importer(iozone.NAME, "iozone's text", iozone.recognise, iozone.read),
    Importer(ior.NAME, "IOR's text, JSON or CSV", ior.recognise, ior.read),
    Importer(mdtest.NAME, "mdtest's text", mdtest.recognise, mdtest.read),
    Importer(io500.NAME, "IO500's result_summary.txt", io500.recognise, io500.read),
    Importer(table.NAME, "a table (CSV or Markdown)", table.recognise, table.read),
)
"""All tools; the first that recognises a text reads it. Tables are last: outputs of tools may look like tables."""


class UnknownColumnsError(AssayError):
    """A table whose columns have no roles yet.

    Attributes:
        file: The file as the user named it.
        roles: A guess: a complete roles file.
        doubts: What is unsure in it.
        roles_name: Name for such a file.
    """

    def __init__(self, file: str, guess: RolesNeeded) -> None:
        name = roles_name(file)
        message = f"{file}: nothing is imported yet: check what its columns are"
        hint = f"write the guess to {name}, mend it, then: assay import {quote(file)} --roles {quote(name)}"
        super().__init__(message, hint)
        self.file, self.roles, self.doubts = file, guess.text, guess.doubts
        self.roles_name = name


def roles_name(file: str) -> str:
    """Return the name of a table's roles file: `results.roles.yaml` beside `results.csv`."""
    return str(Path(file).with_suffix(".roles.yaml"))


def read_outputs(path: str, stated: ImportOptions = STATED_NOTHING) -> list[ToolOutput]:
    """Return every output in a file that a user names.

    Args:
        path: Path of the file.
        stated: What the user states of outputs that do not say it.

    Raises:
        UnknownColumnsError: It is a table, and it is not stated what its columns are.
        AssayError: It cannot be read, is of no known tool, or is not what that tool writes.
    """
    hint = f"name a file with {' or '.join(one.forms for one in IMPORTERS)}"
    data = read_user_file(path, path, hint, MAX_BYTES)
    if data.startswith(_SPREADSHEET):
        raise AssayError(f"{path}: a spreadsheet (XLS), as `iozone -b` writes it, is not read yet", hint)
    if data.startswith(b"PK\x03\x04") and any(sign in data for sign in _WORKBOOK):
        raise AssayError(f"{path}: a spreadsheet", "save the sheet as CSV (UTF-8), and import that")
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise AssayError(f"{path}: not text in UTF-8", f"{hint}; spreadsheets save UTF-8 as `CSV UTF-8`") from None
    importer = next((one for one in IMPORTERS if one.recognise(text)), None)
    if importer is None and text.strip() and stated.roles is not None:
        importer = IMPORTERS[-1]
    if importer is None:
        what = "empty" if not text.strip() else "not a format that Assay can import"
        raise AssayError(f"{path}: {what}", hint)
    known = ImportedFile(
        tool=importer.name,
        version="",
        form="",
        file=escape_line(path),
        line=1,
        sha256=hashlib.sha256(data).hexdigest(),
        size_bytes=len(data),
    )
    try:
        return importer.read(text, known, stated)
    except RolesNeeded as guess:
        raise UnknownColumnsError(path, guess) from None
    except OutputError as error:
        raise LineError(path, error.line, error.message, error.hint) from None


def recognised_words(path: str, outputs: list[ToolOutput]) -> str:
    """Return what was recognised in a file, in one line: `a.json: fio 3.33, JSON: 3 results, 1 left out`."""
    found = ", ".join(dict.fromkeys(f"{one.file.program}, {one.file.form}" for one in outputs))
    results = [result for output in outputs for result in output.results]
    count = sum(result.measured is not None for result in results)
    several = f" of {len(outputs)} outputs" if len(outputs) > 1 else ""
    left_out = f", {len(results) - count} left out" if count < len(results) else ""
    return f"{path}: {found}: {count} {'result' if count == 1 else 'results'}{several}{left_out}"
