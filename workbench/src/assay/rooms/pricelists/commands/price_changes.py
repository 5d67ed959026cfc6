"""The output of `assay prices` about changed and old prices."""

import datetime as dt
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from assay.model.money.price import PriceBook, PriceRow, row_name
from assay.money.books.ages import OLD_DAYS, old_rows
from assay.rooms.pricelists.work.refresh import (
    RefreshResult,
    RowChange,
    change_percent,
    change_text,
    price_text,
    skipped_text,
)
from assay.terminal.output import note, print_line, print_table

MAX_NAMES = 6
"""Old rows of one date that are named at most."""


def print_ages(book: PriceBook, today: dt.date | None = None) -> None:
    """Print how many rows of a current book are old, and which: a line for each date."""
    found = old_rows(book, today or dt.date.today())
    if not found:
        return
    print_line(f"  older than {OLD_DAYS} days: {sum(map(len, found.values()))} of {len(book.rows)} rows")
    for day, rows in found.items():
        print_line(f"  {day}: {len(rows)}: {_names(rows)}")


def _names(rows: Sequence[PriceRow]) -> str:
    named = [row_name(row) for row in rows[:MAX_NAMES]]
    more = f"; {len(rows) - MAX_NAMES} more" if len(rows) > MAX_NAMES else ""
    return "; ".join(named) + more


def changes_data(found: RefreshResult) -> dict[str, Any]:
    """Return changes for programs: what changed, what did not, and what was not found."""
    return {
        "book": found.book.book,
        "date": str(found.book.date),
        "unchanged": [row_name(change.new) for change in found.changes if not change.is_new],
        "changed": [{"old": change.old, "new": change.new} for change in found.changes if change.is_new],
        "not_found": [{"row": row, "why": why} for row, why in found.skipped],
    }


def print_changes(found: RefreshResult, path: Path) -> None:
    """Print a table of old and new prices with their change, then the rows that were not found, then the counts."""
    new = [change for change in found.changes if change.is_new]
    if new:
        columns = ("price of", "old", "new", "for each", "change")
        rows = [
            (row_name(each.new), price_text(each.old), price_text(each.new), each.new.unit, change_text(each))
            for each in new
        ]
        print_table(columns, rows, right=("change",))
    for row, why in found.skipped:
        note(f"not renewed: {skipped_text(row, why)}, still of {row.date or found.book.date}")
    same = len(found.changes) - len(new)
    print_line(f"{path}: new prices: {len(new)}{_span(new)}, as before: {same}, not renewed: {len(found.skipped)}")


def _span(new: Sequence[RowChange]) -> str:
    """Return the least and the greatest change of single prices: ` (-3.0 % to +12.5 %)`."""
    parts = sorted(part for each in new if (part := change_percent(each)) is not None)
    if not parts:
        return ""
    least, most = f"{parts[0]:+.1f} %", f"{parts[-1]:+.1f} %"
    return f" ({least})" if least == most else f" ({least} to {most})"
