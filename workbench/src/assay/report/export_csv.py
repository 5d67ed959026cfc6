"""Writes a table as CSV: a heading line, commas, decimal points, empty cells for missing values, UTF-8."""

import csv
import io
from collections.abc import Iterable, Sequence
from typing import TextIO

from assay.model.escape import csv_cell
from assay.report.tables import FlatColumn, FlatTable, Record, Value


def csv_text(table: FlatTable) -> str:
    """Return a table as CSV (RFC 4180, but with newlines as on Unix).

    Text that a spreadsheet would take for a formula has an apostrophe before it (`assay.model.escape.cell`).
    Fractions have as many digits as are needed to read the same number back.
    """
    out = io.StringIO()
    write_csv(table.columns, table.records, out)
    return out.getvalue()


def write_csv(columns: Sequence[FlatColumn], records: Iterable[Record], out: TextIO) -> None:
    """Write records as `csv_text` does, one after another."""
    writer = csv.writer(out, lineterminator="\n")
    names = [column.name for column in columns]
    writer.writerow(names)
    writer.writerows([_cell(record[name]) for name in names] for record in records)


def _cell(value: Value) -> Value:
    """Return a value for `csv.writer`, which writes numbers as `repr` does and None as an empty cell."""
    if isinstance(value, str):
        return csv_cell(value)
    return ("true" if value else "false") if isinstance(value, bool) else value
