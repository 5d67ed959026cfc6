"""What the lines of a design cost, from its price book."""

from assay.model.money.design import Design
from assay.model.money.price import DEFAULT_BOOK, PriceBook, PriceRow
from assay.money.books.books import load_book


def book_of(design: Design) -> PriceBook:
    """Return the price book of a design."""
    return load_book(design.book or DEFAULT_BOOK)


def month_text(design: Design) -> str:
    """Return the price of the lines for a month in words.

    Raises:
        AssayError: The book has no price of them.
    """
    assert design.link is not None
    book = book_of(design)
    row = book.row("port", design.link.item)
    each = _month(book, row)
    total = float(each) * design.link.count
    return (
        f"{total:,.2f} {book.currency} a month for {design.link.count} x {design.link.item}, by the price book "
        f"{book.book} of {row.date}, without what leaves the cloud over it and without the line to its place."
    )


def item_text(design: Design, item: str) -> str:
    """Return the price of another port for a month in few words."""
    book = book_of(design)
    return f"{_month(book, book.row('port', item)):,.2f} {book.currency} a month"


def _month(book: PriceBook, row: PriceRow) -> float:
    assert row.price is not None
    return float(row.price * book.hours_per_month)
