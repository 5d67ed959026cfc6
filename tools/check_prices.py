#!/usr/bin/env python3
"""Fail where a row of a price book that comes with Assay says no source or no date; count the rows that are old.

Old rows are no failure: what a provider asks today is not known here. `assay prices check` lists them.
"""

import datetime as dt
import sys
from pathlib import Path

import yaml

from assay.money.books.ages import OLD_DAYS, old_rows, undocumented_rows
from assay.money.books.books import BOOKS, load_book


def problems(folder: Path) -> list[str]:
    """One line for each row that lacks something."""
    lines = []
    for path in sorted(folder.glob("*.yaml")):
        written = yaml.safe_load(path.read_text())
        for place, lack in undocumented_rows(written):
            row = written["rows"][place]
            lines.append(f"{path.name}: rows[{place}], {row.get('dimension')} {row.get('item')}: {lack}")
    return lines


def count(folder: Path, today: dt.date) -> str:
    """How many rows there are, and how many are old, by book."""
    old, rows = {}, 0
    for path in sorted(folder.glob("*.yaml")):
        book = load_book(str(path))
        rows += len(book.rows)
        found = sum(map(len, old_rows(book, today).values()))
        if found:
            old[book.book] = found
    text = ", ".join(f"{name} {number}" for name, number in old.items())
    books = f" ({text})" if text else ""
    return f"{rows} rows of price books have source and date; older than {OLD_DAYS} days: {sum(old.values())}{books}"


if __name__ == "__main__":
    found = problems(BOOKS)
    print("\n".join(found) or count(BOOKS, dt.date.today()))
    sys.exit(bool(found))
