"""The process that opens a workbook: its bytes on standard input, [name, CSV] of each visible sheet on standard output.

It imports nothing of Assay, and may take 1 GiB of memory.
"""

import csv
import datetime as dt
import io
import json
import resource
import sys
from decimal import Decimal

MAX_BYTES = 1 << 30
MAX_TEXT = 32 << 20
"""Longest text of a sheet."""


def cell_text(value: object) -> str:
    """Return a cell as text: numbers with all their digits and without an exponent, times as ISO 8601."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float):
        return f"{Decimal(repr(value)):f}".removesuffix(".0") if abs(value) < 1e30 else repr(value)
    if isinstance(value, dt.datetime):
        return value.isoformat(" ")
    # A line of the text is a row of the sheet.
    return " ".join(str(value).split())


def main() -> None:
    """Read the workbook and write its sheets."""
    import python_calamine as calamine

    resource.setrlimit(resource.RLIMIT_AS, (MAX_BYTES, MAX_BYTES))
    found = []
    with calamine.CalamineWorkbook.from_filelike(io.BytesIO(sys.stdin.buffer.read())) as book:
        for sheet in book.sheets_metadata:
            if sheet.typ != calamine.SheetTypeEnum.WorkSheet or sheet.visible != calamine.SheetVisibleEnum.Visible:
                continue
            text = io.StringIO()
            writer = csv.writer(text, lineterminator="\n")
            for row in book.get_sheet_by_name(sheet.name).to_python(skip_empty_area=False):
                cells = [cell_text(cell) for cell in row]
                writer.writerow(cells if any(cells) else [])
                if text.tell() > MAX_TEXT:
                    sys.exit(1)
            found.append([sheet.name, text.getvalue()])
    json.dump(found, sys.stdout)


if __name__ == "__main__":
    main()
