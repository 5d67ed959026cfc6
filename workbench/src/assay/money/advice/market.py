"""Several price books as one market: in one currency, each provider's designs priced by its own books."""

import datetime as dt
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal

from assay.model.base import AssayError
from assay.model.money.amount import EXACT
from assay.model.money.need import Exchange, Need
from assay.model.money.price import Book, Line, Row, Spot, Tier

OF_ALL = frozenset({"port"})
"""Dimensions that designs of any provider may use: leased lines connect own premises to clouds."""
OF_OWN = frozenset({"people", "power", "rack", "support", "purchase"})
"""Dimensions in books of own hardware that rented designs also pay for."""

RowKey = tuple[str, str, str, str]


@dataclass(frozen=True)
class Sold:
    """The prices of one provider's designs.

    Attributes:
        name: Name of its own book.
        book: Rows of its own book and shared rows of other books, in the market's currency, each with its date.
        origin: Row -> name of the book that it comes from.
    """

    name: str
    provider: str
    region: str
    book: Book
    origin: Mapping[RowKey, str]


class Market:
    """Price books in one currency.

    Attributes:
        currency: Currency of all amounts.
        books: The books as they were read.
        exchange: Rates by which books in other currencies were converted; None if none was.
        sold: Prices by each book.
    """

    def __init__(self, books: Sequence[Book], currency: str, exchange: Exchange | None = None) -> None:
        """Convert books in other currencies.

        Raises:
            AssayError: There is no exchange rate for a currency.
        """
        self.books, self.currency = tuple(books), currency
        self.exchange = exchange if any(book.currency != currency for book in books) else None
        self._converted = [_converted(book, currency, exchange) for book in books]
        self.sold = tuple(self._prices_of(place) for place in range(len(books)))
        self._on_demand_rows: dict[str, list[Row]] = {}
        for row in (row for book in self._converted for row in book.rows if row.term == "on-demand"):
            self._on_demand_rows.setdefault(row.dimension, []).append(row)

    def of(self, provider: str | None) -> tuple[Sold, ...]:
        """Return the prices of a provider's designs, one for each of its books; without a provider, all.

        A single book prices the designs of every provider.
        """
        if len(self.sold) == 1 or provider is None:
            return self.sold
        return tuple(sold for sold in self.sold if sold.provider == provider)

    def dearest(self, line: Line) -> Decimal | None:
        """Return the cost of a line by the most expensive comparable row of any book; None if there is none.

        Requests are compared only in the same direction; moving an object to a class counts as writing.
        """
        side = line.item.rsplit("/", 1)[-1] if "/" in line.item else ""
        sides = ("/put", "/transition") if side == "transition" else (f"/{side}",)
        comparable = (
            row for row in self._on_demand_rows.get(line.dimension, ()) if not side or row.item.endswith(sides)
        )
        return max((row.cost(line.each, line.pieces) for row in comparable), default=None)

    def _prices_of(self, place: int) -> Sold:
        own = self._converted[place]
        rows = {row.key: (row, own.book) for row in own.rows}
        for other in self._converted:
            usable = OF_ALL | OF_OWN if other.provider == "own" else OF_ALL
            for row in other.rows:
                if row.dimension in usable:
                    rows.setdefault(row.key, (row, other.book))
        book = (
            own
            if len(rows) == len(own.rows)
            else own.model_copy(update={"rows": tuple(row for row, _ in rows.values())})
        )
        origin = {key: name for key, (_, name) in rows.items()}
        return Sold(own.book, own.provider, own.region, book.reindexed(), origin)


def market_of(need: Need, books: Sequence[Book]) -> Market:
    """Return the market of a need, in its currency: as it states, else that of its budget, else that of the first book.

    Raises:
        AssayError: There is no exchange rate for a book, or the budget is in a currency of no book.
    """
    known = {book.currency for book in books}
    currency = need.currency
    if currency is None and need.budget is not None and (need.exchange is not None or need.budget.currency in known):
        currency = need.budget.currency
    if currency is None:
        currency = books[0].currency
    return Market(books, currency, need.exchange)


def _converted(book: Book, currency: str, exchange: Exchange | None) -> Book:
    """Return the book in another currency, each row with its date.

    Raises:
        AssayError: There is no exchange rate for the book's currency.
    """
    if book.currency == currency:
        return book.model_copy(update={"rows": tuple(_dated(row, book.date) for row in book.rows)})
    rate = exchange.rates.get(book.currency) if exchange is not None else None
    if rate is None:
        hint = f"say what one {book.currency} is worth: exchange: {{{book.currency}: 1.0, date: 2026-01-31}}"
        raise AssayError(f"the price book {book.book} is in {book.currency}, the answer in {currency}", hint)
    rows = tuple(_times(_dated(row, book.date), rate) for row in book.rows)
    return book.model_copy(update={"currency": currency, "rows": rows})


def _dated(row: Row, date: dt.date) -> Row:
    return row if row.date is not None else row.model_copy(update={"date": date})


def _times(row: Row, rate: Decimal) -> Row:
    def worth(price: Decimal) -> Decimal:
        return EXACT.multiply(price, rate)

    return row.model_copy(
        update={
            "price": None if row.price is None else worth(row.price),
            "tiers": tuple(Tier.model_construct(up_to=tier.up_to, price=worth(tier.price)) for tier in row.tiers),
            "upfront": worth(row.upfront),
            "history": tuple(Spot.model_construct(at=spot.at, price=worth(spot.price)) for spot in row.history),
            "currency": None,
        }
    )


def transfer_out(book: Book, size: int) -> Decimal | None:
    """Return the cost of moving so many bytes out of a cloud in one month; None if the book has no price.

    Args:
        book: Price book of the provider that has the data.
        size: Bytes.
    """
    row = next((row for row in book.rows if (row.dimension, row.item) == ("transfer-out", "internet")), None)
    return None if row is None else row.cost(Decimal(size))
