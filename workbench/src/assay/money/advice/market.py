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
"""What any design may use, whoever sells it: leased lines lead from own rooms to clouds."""
OF_OWN = frozenset({"people", "power", "rack", "support", "purchase"})
"""What stands in books of own hardware, and is paid for with rented designs as well."""

RowKey = tuple[str, str, str, str]


@dataclass(frozen=True)
class Sold:
    """What the designs of one provider are priced by.

    Attributes:
        name: Of its own book.
        book: Rows of its own book, and those of others that all may use, in the market's currency, each with its date.
        origin: Row -> name of the book that it stands in.
    """

    name: str
    provider: str
    region: str
    book: Book
    origin: Mapping[RowKey, str]


class Market:
    """Price books in one currency.

    Attributes:
        currency: Of all amounts.
        books: As they were read.
        exchange: By which books in other currencies were converted; None if none was.
    """

    def __init__(self, books: Sequence[Book], currency: str, exchange: Exchange | None = None) -> None:
        """Convert what is in another currency.

        Raises:
            AssayError: Nothing says what a currency is worth.
        """
        self.books, self.currency = tuple(books), currency
        self.exchange = exchange if any(book.currency != currency for book in books) else None
        self._converted = [_converted(book, currency, exchange) for book in books]
        self.sold = tuple(self._sold(place) for place in range(len(books)))
        self._plain: dict[str, list[Row]] = {}
        for row in (row for book in self._converted for row in book.rows if row.term == "on-demand"):
            self._plain.setdefault(row.dimension, []).append(row)

    def of(self, provider: str | None) -> tuple[Sold, ...]:
        """What prices the designs of a provider; of a design that names none, all.

        With one book there is no choice: it prices whatever is named.
        """
        if len(self.sold) == 1 or provider is None:
            return self.sold
        return tuple(sold for sold in self.sold if sold.provider == provider)

    def dearest(self, line: Line) -> Decimal | None:
        """What a line would cost by the dearest row of its kind that any book has; None if there is none.

        Of requests only those in the same direction are of its kind; what moves an object to a class writes it there.
        """
        side = line.item.rsplit("/", 1)[-1] if "/" in line.item else ""
        sides = ("/put", "/transition") if side == "transition" else (f"/{side}",)
        alike = (row for row in self._plain.get(line.dimension, ()) if not side or row.item.endswith(sides))
        return max((row.cost(line.each, line.pieces) for row in alike), default=None)

    def _sold(self, place: int) -> Sold:
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
    """The books of a need, in its currency: as it says, else that of its budget, else that of the first book.

    Raises:
        AssayError: Nothing says what a currency is worth, or the budget is in a currency of no book.
    """
    known = {book.currency for book in books}
    currency = need.currency
    if currency is None and need.budget is not None and (need.exchange is not None or need.budget.currency in known):
        currency = need.budget.currency
    if currency is None:
        currency = books[0].currency
    return Market(books, currency, need.exchange)


def _converted(book: Book, currency: str, exchange: Exchange | None) -> Book:
    """The same in another currency, each row with its date.

    Raises:
        AssayError: Nothing says what the book's currency is worth.
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
    """What it costs to move so many bytes out of a cloud in one month; None if the book does not say.

    Args:
        book: Of the provider that holds them.
        size: Bytes.
    """
    row = next((row for row in book.rows if (row.dimension, row.item) == ("transfer-out", "internet")), None)
    return None if row is None else row.cost(Decimal(size))
