"""The check that every shipped price says where and when it was found."""

import datetime as dt
import sys

import pytest
from paths import REPOSITORY

TOOLS = REPOSITORY / "tools"
sys.path.insert(0, str(TOOLS))

import check_prices  # noqa: E402

from assay.money.books.books import BOOKS, book_names, load_book  # noqa: E402

HEAD = "book: b\nprovider: p\nregion: r\ncurrency: USD\nhours_per_month: 730\n"
ROW = "  - {{dimension: instance, item: {item}, price: 1, unit: hour{more}}}\n"


def write(folder, *rows, date="date: 2026-01-01\n", historic=""):
    lines = [ROW.format(item=item, more=more) for item, more in rows]
    (folder / "b.yaml").write_text(HEAD + date + historic + "rows:\n" + "".join(lines))


def test_the_shipped_books_say_source_and_date():
    assert check_prices.problems(BOOKS) == []


@pytest.mark.parametrize(
    ("more", "date", "said"),
    [
        (", source: x", "date: 2026-01-01\n", []),
        (", source: x, date: 2026-02-01", "", []),
        ("", "date: 2026-01-01\n", ["no source"]),
        (", source: ''", "date: 2026-01-01\n", ["no source"]),
        (", source: ' '", "date: 2026-01-01\n", ["no source"]),
        (", source: 17", "date: 2026-01-01\n", ["no source"]),
        (", source: x", "", ["no date"]),
        (", source: x, date: soon", "date: 2026-01-01\n", ["no date"]),
        ("", "", ["no source", "no date"]),
    ],
)
def test_a_row_that_lacks_something_is_named(tmp_path, more, date, said):
    write(tmp_path, ("first", ", source: x, date: 2026-01-01"), ("second", more), date=date)
    assert check_prices.problems(tmp_path) == [f"b.yaml: rows[1], instance second: {lack}" for lack in said]


def test_old_rows_are_counted_by_book_and_day(tmp_path):
    write(tmp_path, ("new", ", source: x, date: 2026-06-30"), ("old", ", source: x"))
    said = "2 rows of price books have source and date; older than 180 days: "
    assert check_prices.count(tmp_path, dt.date(2026, 6, 30)) == said + "0"
    assert check_prices.count(tmp_path, dt.date(2026, 7, 1)) == said + "1 (b 1)"
    write(tmp_path, ("new", ", source: x"), ("old", ", source: x"), historic="historic: true\n")
    assert check_prices.count(tmp_path, dt.date(2026, 12, 1)) == said + "0"


def test_the_count_of_the_shipped_books_is_of_all_their_rows():
    rows = sum(len(load_book(name).rows) for name in book_names())
    assert check_prices.count(BOOKS, dt.date.today()).startswith(f"{rows} rows of price books ")
