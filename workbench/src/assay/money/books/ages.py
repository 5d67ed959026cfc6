"""How old the prices of a book are, and whether each row has a source and a date."""

import datetime as dt
from collections import defaultdict
from collections.abc import Iterator, Mapping
from typing import Any

from assay.model.money.price import PriceBook, PriceRow

OLD_DAYS = 180
"""Rows older than half a year are listed for replacement."""


def old_rows(book: PriceBook, today: dt.date, days: int = OLD_DAYS) -> dict[dt.date, list[PriceRow]]:
    """Return the rows older than so many days, by date, oldest first; none of a historic book."""
    by_date: dict[dt.date, list[PriceRow]] = defaultdict(list)
    for row in () if book.historic else book.rows:
        if (today - book.date_of(row)).days > days:
            by_date[book.date_of(row)].append(row)
    return dict(sorted(by_date.items()))


def dates_text(book: PriceBook) -> str:
    """Return the date or range of dates of a book's prices: `2026-01-01`, or `2020-06-18 to 2026-07-20`."""
    days = sorted(book.date_of(row) for row in book.rows)
    return str(days[0]) if days[0] == days[-1] else f"{days[0]} to {days[-1]}"


def undocumented_rows(content: Mapping[str, Any]) -> Iterator[tuple[int, str]]:
    """Yield the index of each row without source or date, and what it lacks, from a book as parsed YAML.

    A row without a date of its own has the book's.
    """
    rows = content.get("rows")
    for place, row in enumerate(rows if isinstance(rows, list) else ()):
        source, date = row.get("source"), row.get("date", content.get("date"))
        if not isinstance(source, str) or not source.strip():
            yield place, "no source"
        if not _is_day(date):
            yield place, "no date"


def _is_day(written: object) -> bool:
    if isinstance(written, dt.date):
        return True
    try:
        dt.date.fromisoformat(str(written))
    except ValueError:
        return False
    return True
