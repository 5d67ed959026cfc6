"""A table as CSV: a heading line, commas, a dot in fractions, empty for a missing value, UTF-8."""

import csv
import io

from assay.model.foreign import cell
from assay.report.tables import Table, Value


def csv_text(table: Table) -> str:
    """The table as CSV (RFC 4180, but with newlines as on Unix).

    Text that a spreadsheet would take for a formula has an apostrophe before it (`assay.model.foreign.cell`).
    Fractions are written with as many digits as it takes to read the same number back.
    """
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow([column.name for column in table.columns])
    for record in table.records:
        writer.writerow([_cell(record[column.name]) for column in table.columns])
    return out.getvalue()


def _cell(value: Value) -> str:
    if value is None:
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float):
        return repr(value)
    return cell(value) if isinstance(value, str) else str(value)
