"""Warnings about old prices in price books."""

import datetime as dt
from collections.abc import Iterable, Mapping

from assay.model.money.price import STALE_DAYS, PriceBook, PriceRow, row_name
from assay.money.books.books import book_names
from assay.terminal.output import note

REFRESHABLE_PROVIDERS = ("aws", "azure", "gcp")
"""Providers whose price lists `assay prices refresh` can read."""


def warn_stale(book: PriceBook, rows: Iterable[PriceRow] | None = None, today: dt.date | None = None) -> None:
    """Print a warning on standard error if current prices are older than `STALE_DAYS` days.

    Args:
        book: The book.
        rows: The rows that were used; None: all.
        today: The current date; None: the clock's.
    """
    used = tuple(book.rows if rows is None else rows)
    old = book.stale_rows(today or dt.date.today(), used)
    if old:
        oldest = f"the oldest of {book.date_of(old[0])} ({row_name(old[0])})"
        renewed = book.provider in REFRESHABLE_PROVIDERS and book.book in book_names()
        hint = f"`assay prices refresh {book.book}` renews them" if renewed else "renew its rows and dates"
        note(
            f"WARNING: {len(old)} of {len(used)} prices from {book.book} are older than {STALE_DAYS} days, {oldest}; "
            f"{hint}"
        )


def warn_all_stale(books: Mapping[str, tuple[PriceBook, tuple[PriceRow, ...]]], today: dt.date | None = None) -> None:
    """Print one warning on standard error about the old prices of several books.

    Args:
        books: Name -> book, and its rows that were used.
        today: The current date; None: the clock's.
    """
    if len(books) == 1:
        for book, rows in books.values():
            warn_stale(book, rows, today)
        return
    words = []
    for book, rows in books.values():
        old = book.stale_rows(today or dt.date.today(), rows)
        if old:
            words.append(f"{len(old)} of {len(rows)} from {book.book} (the oldest of {book.date_of(old[0])})")
    if words:
        note(
            f"WARNING: prices older than {STALE_DAYS} days: {', '.join(words)}; `assay prices refresh` renews a cloud's"
        )
