"""Spreadsheets (XLSX, XLSM, XLSB, XLS, ODS) as text: a sheet becomes CSV, whose lines are the sheet's rows.

A process of its own opens the workbook, with little memory: two cells far apart, or a packed part that is very large,
would take all of the machine's.
"""

import json
import subprocess
import sys
from typing import NamedTuple

from assay.model.base import AssayError
from assay.model.extras import require
from assay.model.units import choices_hint
from assay.rooms.importers.work import spreadsheet_process
from assay.rooms.importers.work.table_text import is_table

_OLE = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
_ARCHIVE = b"PK\x03\x04"
BEGINNINGS = (_OLE, _ARCHIVE)
"""How files begin that may be workbooks."""
_PARTS = (b"xl/workbook", b"opendocument.spreadsheet")
"""Names that stand unpacked in the archives that XLSX and ODS are."""
_SECONDS = 60.0


class Sheet(NamedTuple):
    """A sheet of a workbook.

    Attributes:
        name: Its name.
        text: Its rows as CSV.
        others: Names of other sheets with a table.
    """

    name: str
    text: str
    others: tuple[str, ...]


def is_spreadsheet(data: bytes) -> bool:
    """Whether a file is a workbook of Excel or LibreOffice."""
    return data.startswith(_OLE) or (data.startswith(_ARCHIVE) and any(part in data for part in _PARTS))


def read_sheet(path: str, data: bytes, wanted: str) -> Sheet:
    """Return the sheet of a workbook that has the table.

    Args:
        path: The file as the user named it.
        data: Its content.
        wanted: Name of the sheet; empty: the first with headings above numbers.

    Raises:
        AssayError: It cannot be read, or has no such sheet.
    """
    require("python_calamine", f"{path}: a spreadsheet")
    sheets = _sheets(path, data)
    if wanted:
        if wanted not in sheets:
            raise AssayError(f"{path}: it has no sheet `{wanted}`", choices_hint(wanted, tuple(sheets)))
        return Sheet(wanted, sheets[wanted], ())
    tables = [name for name, text in sheets.items() if is_table(text)] or list(sheets)[:1]
    if not tables:
        raise AssayError(f"{path}: a spreadsheet without sheets", "give one with a table of results")
    return Sheet(tables[0], sheets[tables[0]], tuple(tables[1:]))


def _sheets(path: str, data: bytes) -> dict[str, str]:
    """Return the sheets by their names.

    Raises:
        AssayError: The workbook cannot be read.
    """
    words = [sys.executable, "-I", spreadsheet_process.__file__]
    hint = "save the sheet as CSV (UTF-8), and import that"
    try:
        done = subprocess.run(words, input=data, capture_output=True, timeout=_SECONDS, check=False)
        found = json.loads(done.stdout) if done.returncode == 0 else None
    except (subprocess.TimeoutExpired, ValueError):
        found = None
    if found is None:
        raise AssayError(f"{path}: a spreadsheet that cannot be read: it is damaged, locked, or too large", hint)
    return {str(name): str(text) for name, text in found}
