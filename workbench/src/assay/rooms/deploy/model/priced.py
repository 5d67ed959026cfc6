"""What things of a cloud cost."""

from dataclasses import dataclass
from decimal import Decimal

from assay.model.money.amount import EXACT, Term, exact_sum
from assay.model.money.price import BillItem, PriceBook, PriceRow

HOURS_PER_DAY = Decimal(24)


@dataclass(frozen=True)
class Thing:
    """One thing, or several equal ones, with what is paid for it.

    Attributes:
        kind: Such as `instance` or `volume`.
        id: Its id; before creation its name in the template.
        what: In words, such as `4 x m6i.large`.
        items: What is paid for by the hour or month.
        term: Term of the instances: on-demand or spot.
        max_price: Most that an hour of a spot instance may cost; None: as on demand (EC2 API, SpotMarketOptions).
        by_use: What of it is charged by use, which is in no sum; empty if nothing.
        note: Why it costs more than `items`, such as a part that no price book has; empty if it does not.
    """

    kind: str
    id: str
    what: str
    items: tuple[BillItem, ...] = ()
    term: Term = "on-demand"
    max_price: Decimal | None = None
    by_use: str = ""
    note: str = ""


@dataclass(frozen=True)
class PricedThing:
    """A thing with its price.

    Attributes:
        thing: The thing.
        hour: Cost of an hour, without what is charged by use; None: unknown, or there is nothing else.
        most: The most that an hour may cost: spot prices change; None as for `hour`.
        note: What else the price does not contain, or why it is unknown; empty if it is known.
        rows: The rows of the price book that were used.
    """

    thing: Thing
    hour: Decimal | None
    most: Decimal | None
    note: str
    rows: tuple[PriceRow, ...] = ()

    @property
    def remarks(self) -> str:
        """What the price does not contain: what is unknown, and what is charged by use; empty if it has all."""
        return "; ".join(filter(None, (self.note, self.thing.by_use)))

    @property
    def day(self) -> Decimal | None:
        """Cost of a day; None: unknown."""
        return None if self.hour is None else EXACT.multiply(self.hour, HOURS_PER_DAY)


@dataclass(frozen=True)
class Prices:
    """Several things with their prices.

    Attributes:
        things: Each thing.
        currency: Of the price book; USD without one.
        book: The price book; None without one.
    """

    things: tuple[PricedThing, ...]
    currency: str
    book: PriceBook | None

    @property
    def rows(self) -> tuple[PriceRow, ...]:
        """The rows of the price book that were used, each once."""
        return tuple(dict.fromkeys(row for each in self.things for row in each.rows))

    @property
    def source(self) -> str:
        """Name of the price book, and from when to when the used prices are; empty without a book."""
        if self.book is None:
            return ""
        days = sorted({self.book.date_of(row) for row in self.rows})
        until = f" to {days[-1]}" if len(days) > 1 else ""
        return f"{self.book.book}, {days[0]}{until}" if days else self.book.book

    @property
    def hour(self) -> Decimal:
        """Cost of an hour of all things whose price is known."""
        return exact_sum(each.hour for each in self.things if each.hour is not None)

    @property
    def day(self) -> Decimal:
        """Cost of a day of all things whose price is known."""
        return EXACT.multiply(self.hour, HOURS_PER_DAY)

    @property
    def most(self) -> Decimal:
        """The most that an hour may cost, of all things whose price is known."""
        return exact_sum(each.most for each in self.things if each.most is not None)

    @property
    def has_unknown(self) -> bool:
        """Whether a price is unknown, so that the sums are lower bounds."""
        return any(each.note for each in self.things)

    @property
    def has_use(self) -> bool:
        """Whether something is charged by use, which the sums do not contain."""
        return any(each.thing.by_use for each in self.things)

    @property
    def is_complete(self) -> bool:
        """Whether the sums contain all that the things cost."""
        return not (self.has_unknown or self.has_use)
