"""Several price books as one market: in one currency, each provider's designs priced by its own books."""

import datetime as dt
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from decimal import Decimal

from assay.model.base import AssayError
from assay.model.money.amount import EXACT
from assay.model.money.price import BillItem, PriceBook, PriceRow, PriceTier, SpotPrice
from assay.money.books.books import load_book
from assay.rooms.advice.model.need import DEFAULT_BOOKS, ExchangeRates, Need

OWN_BOOK = "own-2026"
"""Shipped book of own hardware, which has the price of an hour of administration."""
SHARED_DIMENSIONS = frozenset({"port"})
"""Dimensions that designs of any provider may use: leased lines connect own premises to clouds.

What leaves a cloud over a line is shared, too."""
OWN_DIMENSIONS = frozenset({"administration", "power", "rack", "support", "purchase"})
"""Dimensions in books of own hardware that rented designs also pay for."""

RowKey = tuple[str, str, str, str]


@dataclass(frozen=True)
class ProviderPrices:
    """The prices of one provider's designs.

    Attributes:
        name: Name of its own book.
        book: Rows of its own book and shared rows of other books, in the market's currency, each with its date.
        origin: Row -> name of the book that it comes from.
    """

    name: str
    provider: str
    region: str
    book: PriceBook
    origin: Mapping[RowKey, str]


class Market:
    """Price books in one currency.

    Attributes:
        currency: Currency of all amounts.
        books: The books as they were read.
        exchange: Rates by which books in other currencies were converted; None if none was.
        sold: Prices by each book.
    """

    def __init__(self, books: Sequence[PriceBook], currency: str, exchange: ExchangeRates | None = None) -> None:
        """Convert books in other currencies.

        Raises:
            AssayError: There is no exchange rate for a currency.
        """
        self.books, self.currency, self._exchange = tuple(books), currency, exchange
        self.exchange = exchange if any(book.currency != currency for book in books) else None
        self._converted = [_converted(book, currency, exchange) for book in books]
        self._work = self._administration()
        self.sold = tuple(self._prices_of(place) for place in range(len(books)))
        self._on_demand_rows: dict[str, list[PriceRow]] = {}
        for row in (row for book in self._converted for row in book.rows if row.term == "on-demand"):
            self._on_demand_rows.setdefault(row.dimension, []).append(row)

    def prices_for(self, provider: str | None) -> tuple[ProviderPrices, ...]:
        """Return the prices of a provider's designs, one for each of its books; without a provider, all.

        A single book prices the designs of every provider.
        """
        if len(self.sold) == 1 or provider is None:
            return self.sold
        return tuple(sold for sold in self.sold if sold.provider == provider)

    def book_to_leave(self, provider: str) -> PriceBook | None:
        """Return a book with what it costs to leave a cloud; without one of its own, the shipped one of that provider.

        None: there is none in the market's currency.
        """
        for sold in self.sold:
            if sold.provider == provider:
                return sold.book
        with suppress(AssayError):
            for name in DEFAULT_BOOKS:
                if name.startswith(f"{provider}-"):
                    return _converted(load_book(name), self.currency, self._exchange)
        return None

    @property
    def hour_of_work(self) -> Decimal | None:
        """Price of an hour of administration; None: no book has one in the market's currency."""
        return self._work[0][0].cost(Decimal(1)) if self._work else None

    def _administration(self) -> list[tuple[PriceRow, str]]:
        """Return the rows of administration with their books; if no book has any, those of own hardware as shipped."""
        found = _rows_of_work(self._converted)
        if not found:
            with suppress(AssayError):
                found = _rows_of_work([_converted(load_book(OWN_BOOK), self.currency, self._exchange)])
        return found

    def most_expensive(self, line: BillItem, provider: str) -> Decimal | None:
        """Return the cost of a line by the highest comparable row of a provider, else of any; None: there is none.

        Requests are compared only in the same direction; moving an object to a class counts as writing.
        """
        side = line.item.rsplit("/", 1)[-1] if "/" in line.item else ""
        sides = ("/put", "/transition") if side == "transition" else (f"/{side}",)
        rows = [row for row in self._on_demand_rows.get(line.dimension, ()) if not side or row.item.endswith(sides)]
        own = {row.key for book in self._converted if book.provider == provider for row in book.rows}
        comparable = [row for row in rows if row.key in own] or rows
        return max((row.cost(line.each, line.pieces) for row in comparable), default=None)

    def _prices_of(self, place: int) -> ProviderPrices:
        own = self._converted[place]
        rows = {row.key: (row, own.book) for row in own.rows}
        for other in self._converted:
            usable = SHARED_DIMENSIONS | OWN_DIMENSIONS if other.provider == "own" else SHARED_DIMENSIONS
            for row in other.rows:
                if row.dimension in usable or (row.dimension == "transfer-out" and row.item != "internet"):
                    rows.setdefault(row.key, (row, other.book))
        for row, name in self._work:
            rows.setdefault(row.key, (row, name))
        book = (
            own
            if len(rows) == len(own.rows)
            else own.model_copy(update={"rows": tuple(row for row, _ in rows.values())})
        )
        origin = {key: name for key, (_, name) in rows.items()}
        return ProviderPrices(own.book, own.provider, own.region, book.reindex(), origin)


def market_of(need: Need, books: Sequence[PriceBook]) -> Market:
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


def _rows_of_work(books: Sequence[PriceBook]) -> list[tuple[PriceRow, str]]:
    return [(row, book.book) for book in books for row in book.rows if row.dimension == "administration"]


def _converted(book: PriceBook, currency: str, exchange: ExchangeRates | None) -> PriceBook:
    """Return the book in another currency, each row with its date.

    Raises:
        AssayError: There is no exchange rate for the book's currency.
    """
    if book.currency == currency:
        return book.model_copy(update={"rows": tuple(_dated(row, book.date) for row in book.rows)})
    rate = exchange.rates.get(book.currency) if exchange is not None else None
    if rate is None:
        hint = f"add the exchange rate of {book.currency}: exchange: {{{book.currency}: 1.0, date: 2026-01-31}}"
        raise AssayError(f"the price book {book.book} is in {book.currency}, the answer is in {currency}", hint)
    rows = tuple(_times(_dated(row, book.date), rate) for row in book.rows)
    return book.model_copy(update={"currency": currency, "rows": rows})


def _dated(row: PriceRow, date: dt.date) -> PriceRow:
    return row if row.date is not None else row.model_copy(update={"date": date})


def _times(row: PriceRow, rate: Decimal) -> PriceRow:
    def worth(price: Decimal) -> Decimal:
        return EXACT.multiply(price, rate)

    return row.model_copy(
        update={
            "price": None if row.price is None else worth(row.price),
            "tiers": tuple(PriceTier.model_construct(up_to=tier.up_to, price=worth(tier.price)) for tier in row.tiers),
            "upfront": worth(row.upfront),
            "history": tuple(SpotPrice.model_construct(at=spot.at, price=worth(spot.price)) for spot in row.history),
            "currency": None,
        }
    )


def transfer_out(book: PriceBook, size: int, way: str) -> Decimal | None:
    """Return the cost of moving so many bytes out of a cloud in one month; None if the book has no price.

    Args:
        book: Price book of the provider that has the data.
        size: Bytes.
        way: Item of the row.
    """
    row = next((row for row in book.rows if (row.dimension, row.item) == ("transfer-out", way)), None)
    return None if row is None else row.cost(Decimal(size))
