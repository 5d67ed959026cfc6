"""Price books as YAML text, which `load_book` reads back to the same book."""

import datetime as dt
import itertools
import json
import textwrap
from collections.abc import Sequence
from decimal import Decimal
from typing import Any

from assay.model.base import AssayError
from assay.model.money.price import PriceBook, PriceRow
from assay.model.source import with_field_name
from assay.model.user_text import MAX_FILE_BYTES
from assay.model.yaml_files import read_with_problems
from assay.money.books.books import GUIDE, WHAT

WIDTH = 118
LATE_HINT = "write the day when the price held"
_PLAIN_SIGNS = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_./ ")
_WORDS = ("null", "true", "false")


def book_text(book: PriceBook, today: dt.date | None = None) -> str:
    """Return the book as YAML, one row a line.

    Args:
        book: The book.
        today: The present day; later dates are refused. None: they are accepted.

    Raises:
        AssayError: It is too large to be read back, has a date in the future, or is not valid.
    """
    late = next(book.future_dates(today), None) if today else None
    if late:
        raise AssayError(
            f"the book cannot be written: {with_field_name(late[0], f'{late[1]} is in the future')}", LATE_HINT
        )
    lines = [f"{name}: {_value(getattr(book, name))}" for name in ("book", "provider", "region", "date", "currency")]
    lines.append(f"hours_per_month: {_value(book.hours_per_month)}")
    if book.historic:
        lines.append("historic: true")
    if book.about:
        lines += _about(book.about)
    head = "\n".join([*lines, "rows:"]) + "\n"
    rows = [f"  - {{{_row(row)}}}\n" for row in book.rows]
    _check_size(head, rows)
    text = head + "".join(rows)
    reread, source = read_with_problems(PriceBook, text.encode(), GUIDE, WHAT)
    if reread is None:
        raise AssayError(f"the book cannot be written: {source.problems[0].message}", source.problems[0].hint)
    if reread != book:
        raise RuntimeError(f"the YAML text of the book {book.book} differs from the book")
    return text


def _check_size(head: str, rows: Sequence[str]) -> None:
    sizes = list(itertools.accumulate((len(row.encode()) for row in rows), initial=len(head.encode())))
    if sizes[-1] > MAX_FILE_BYTES:
        fit = sum(size <= MAX_FILE_BYTES for size in sizes[1:])
        message = f"{len(rows)} rows are too many for a price book of at most {MAX_FILE_BYTES} bytes: {fit} of them fit"
        raise AssayError(message, "make several books, such as one for each kind of thing that is sold")


def _about(text: str) -> list[str]:
    if text != " ".join(text.split()) or not text.isprintable():
        return [f"about: {json.dumps(text, ensure_ascii=False)}"]
    folded = textwrap.wrap(text, WIDTH - 2, break_long_words=False, break_on_hyphens=False)
    return ["about: >-", *(f"  {line}" for line in folded)]


def _row(row: PriceRow) -> str:
    parts = []
    for name in type(row).model_fields:
        value = getattr(row, name)
        if value == type(row).model_fields[name].default and name not in ("price", "upfront"):
            continue
        if value is None or (name == "upfront" and not value):
            continue
        if name == "tiers":
            value = [{"up_to": tier.up_to, "price": tier.price} for tier in row.tiers]
        elif name == "history":
            value = [{"at": spot.at, "price": spot.price} for spot in row.history]
        parts.append(f"{name}: {_value(value)}")
    return ", ".join(parts)


def _value(value: Any) -> str:
    if isinstance(value, list):
        return "[" + ", ".join(f"{{{_members(each)}}}" for each in value) + "]"
    if isinstance(value, Decimal):
        return number_text(value)
    text = str(value)
    return text if _is_plain(text) else json.dumps(text, ensure_ascii=False)


def _members(values: dict[str, Any]) -> str:
    return ", ".join(f"{name}: {_value(value)}" for name, value in values.items() if value is not None)


def number_text(value: Decimal) -> str:
    """Return a number without exponent and trailing zeros; in quotes if it is too long to be read as a number."""
    text = format(value, "f")
    text = text.rstrip("0").rstrip(".") if "." in text else text
    return text if len(text) <= 30 else json.dumps(text)


def _is_plain(text: str) -> bool:
    """Return whether YAML reads a text as itself without quotes."""
    first = text[:1].isalpha() or text[:4].isdigit()
    number = text.replace(".", "", 1).replace("e", "", 1).replace("E", "", 1).replace("-", "").isdigit()
    dated = len(text) == 10 and number and text[4] == text[7] == "-"
    return (
        bool(text)
        and set(text) <= _PLAIN_SIGNS
        and first
        and text == text.strip()
        and text not in _WORDS
        and (dated or not number)
    )
