"""Prices: books of dated rows, bills that refer to them, and money.

Money and quantities are `decimal.Decimal` from the file to the output; nothing is rounded before it is printed.
Quantities of a bill are in the base unit of their kind: bytes, hours, pieces, and products of these with months.
"""

import datetime as dt
from collections.abc import Iterable, Iterator, Sequence
from decimal import Decimal
from typing import Annotated, Literal, NamedTuple

from pydantic import AfterValidator, BeforeValidator, Field, PrivateAttr, model_validator

from assay.model.base import EXIT_REFUSED, AssayError
from assay.model.frozen import Frozen
from assay.model.money.amount import EXACT, TERM_MONTHS, Amount, Payment, Quantity, Share, Term
from assay.model.study.axis import fault
from assay.model.units import choices_hint, display_value, with_alternative
from assay.model.user_text import first_unprintable

DEFAULT_BOOK = "aws-us-east-1"
"""Price book for a design that names neither a book nor a provider."""
WITH_TERMS = ("instance", "table-read", "table-write")
"""Dimensions that are sold on terms: spot and savings plans are of instances only."""
STALE_DAYS = 90
"""Current prices older than this cause a prominent warning."""


class Unit(NamedTuple):
    """A unit of sale.

    Attributes:
        kind: What it measures; units of one kind can be converted.
        factor: Base units of its kind in one unit.
    """

    kind: str
    factor: int


_BYTES = {"GB": 10**9, "GiB": 2**30, "TB": 10**12, "TiB": 2**40}
UNITS: dict[str, Unit] = {
    "hour": Unit("hours", 1),
    **{f"{name}-month": Unit("byte-months", factor) for name, factor in _BYTES.items()},
    **{name: Unit("bytes", factor) for name, factor in _BYTES.items()},
    "IOPS-month": Unit("IOPS-months", 1),
    **{
        f"{name}/s-month": Unit("byte/s-months", factor)
        for name, factor in {"MB": 10**6, "MiB": 2**20, "GB": 10**9, "GiB": 2**30}.items()
    },
    "request": Unit("requests", 1),
    "1000 requests": Unit("requests", 10**3),
    "10000 requests": Unit("requests", 10**4),
    "million requests": Unit("requests", 10**6),
    "unit-hour": Unit("unit-hours", 1),
    "piece": Unit("pieces", 1),
    "kWh": Unit("kWh", 1),
    "U-month": Unit("U-months", 1),
    "month": Unit("months", 1),
    "person-hour": Unit("person-hours", 1),
}
"""Units in which prices may be stated. The name states the base: GB is 10^9 bytes, GiB is 2^30."""

DIMENSIONS: dict[str, str] = {
    "instance": "hours",
    "volume-capacity": "byte-months",
    "volume-iops": "IOPS-months",
    "volume-throughput": "byte/s-months",
    "volume-requests": "requests",
    "snapshot-capacity": "byte-months",
    "filesystem-capacity": "byte-months",
    "filesystem-throughput": "byte/s-months",
    "filesystem-access": "bytes",
    "filesystem-iops": "IOPS-months",
    "filesystem-requests": "requests",
    "filesystem-backup": "byte-months",
    "service-fee": "months",
    "object-capacity": "byte-months",
    "object-requests": "requests",
    "object-retrieval": "bytes",
    "table-capacity": "byte-months",
    "table-read": "unit-hours",
    "table-write": "unit-hours",
    "table-requests": "requests",
    "transfer-out": "bytes",
    "transfer-zone": "bytes",
    "transfer-region": "bytes",
    "port": "hours",
    "gateway": "hours",
    "gateway-traffic": "bytes",
    "address": "hours",
    "purchase": "pieces",
    "power": "kWh",
    "rack": "U-months",
    "support": "months",
    "administration": "person-hours",
}
"""What is sold -> kind of its unit."""

NETWORK_DIMENSIONS = {"nat-gateway": "gateway", "public-ipv4": "address"}
"""Rented part of a network -> its dimension; both are paid for by the hour."""


def _dimension(written: object) -> str:
    if not isinstance(written, str) or written not in DIMENSIONS:
        raise fault(f"unknown dimension {display_value(written)}", choices_hint(written, DIMENSIONS))
    return written


def _currency(written: object) -> str:
    if not isinstance(written, str) or len(written) != 3 or not written.isascii() or not written.isupper():
        raise fault(f"{display_value(written)} is not a currency", "write its ISO 4217 code, such as USD or EUR")
    return written


def _text(written: str) -> str:
    found = first_unprintable(written)
    if found:
        raise fault(f"unprintable character {found}", "write plain text")
    return written


def _word(written: str) -> str:
    if "\n" in written or "\t" in written:
        raise fault("the text has a line break or a tab", "write it on one line")
    return _text(written)


Text = Annotated[str, AfterValidator(_text)]
Word = Annotated[str, Field(min_length=1), AfterValidator(_word)]
Dimension = Annotated[str, BeforeValidator(_dimension)]
Currency = Annotated[str, BeforeValidator(_currency)]


class PriceTier(Frozen):
    """The price for the part of a quantity up to a bound.

    Attributes:
        up_to: Bound in the row's unit, counted from zero; None: no bound.
    """

    up_to: Amount | None = None
    price: Amount


class SpotPrice(Frozen):
    """A spot price on one date."""

    at: dt.date
    price: Amount


class PriceRow(Frozen):
    """One price.

    Attributes:
        unit: One of `UNITS`, of the dimension's kind.
        price: Price of one unit; for a reservation, in addition to `upfront`.
        tiers: In place of `price`: the first tier covers the quantity up to its bound, the next continues from there.
        free: Units of each piece (each volume, or each month's transfer) that are free.
        upfront: Reservations only: paid once for each term and piece.
        interruptions: Spot only: share of instances that are interrupted in a month.
        interruptions_above: Spot only: lower bound of that share, if the source states no more.
        history: Spot only: earlier prices.
        date: Date of the price, if not the book's date.
        read_on: Date on which the price was read from its source.
        sku: The provider's number of the item.
        url: Price list that contains the price.
        currency: If given, it must be the book's.
        doubtful: Why a price was taken over from elsewhere, as no source has it; empty: the source has it.
    """

    dimension: Dimension
    item: Word
    unit: str
    price: Amount | None = None
    tiers: tuple[PriceTier, ...] = ()
    free: Amount = Decimal(0)
    term: Term = "on-demand"
    payment: Payment | None = None
    upfront: Amount = Decimal(0)
    interruptions: Share | None = None
    interruptions_above: Share | None = None
    history: tuple[SpotPrice, ...] = ()
    source: Text = Field(min_length=1)
    date: dt.date | None = None
    read_on: dt.date | None = None
    sku: Text = ""
    url: Text = ""
    currency: Currency | None = None
    doubtful: Text = ""
    note: Text = ""

    @property
    def remarks(self) -> str:
        """What is to be known of the price besides its source: why it is doubtful, and the note; empty: nothing."""
        return "; ".join(filter(None, (f"doubtful: {self.doubtful}" if self.doubtful else "", self.note)))

    @model_validator(mode="after")
    def _fits(self) -> "PriceRow":
        kind = DIMENSIONS[self.dimension]
        if self.unit not in UNITS:
            raise fault(f"unknown unit {display_value(self.unit)}", choices_hint(self.unit, units_of(kind)), "unit")
        if UNITS[self.unit].kind != kind:
            raise fault(
                f"{self.dimension} is not sold by the {self.unit}", f"its units: {', '.join(units_of(kind))}", "unit"
            )
        if self.price is None and not self.tiers:
            raise fault("it has no price", "write `price`, or `tiers`")
        if self.price is not None and self.tiers:
            raise fault("the row has both `price` and `tiers`", "write one of the two", "tiers")
        self._check_tiers()
        if self.dimension not in WITH_TERMS and self.term != "on-demand":
            hint = "leave `term` out; only instances and units of tables have terms"
            raise fault(f"{self.dimension} has no terms", hint, "term")
        self._check_payment()
        self._check_spot()
        return self

    def _check_payment(self) -> None:
        reserved = self.term in TERM_MONTHS
        if reserved and self.payment is None:
            hint = "write payment: no-upfront, partial-upfront or all-upfront"
            raise fault(f"{self.item}, {self.term}, has no `payment`", hint, "term")
        for name in ("payment", "upfront"):
            if not reserved and getattr(self, name):
                hint = f"write term: reserved-1y or reserved-3y, or leave `{name}` out"
                raise fault(f"only reservations have `{name}`, and {self.item} is {self.term}", hint, name)
        if self.payment == "all-upfront" and not self.upfront:
            raise fault(
                f"{self.item} is paid all-upfront, but has no `upfront`", "write what is paid upfront", "payment"
            )
        if self.payment == "no-upfront" and self.upfront:
            hint = "write payment: partial-upfront or all-upfront, or leave `upfront` out"
            raise fault(f"{self.item} is paid no-upfront, but has `upfront`", hint, "upfront")

    def _check_spot(self) -> None:
        above = self.interruptions_above is not None
        stated = {"interruptions": self.interruptions is not None, "interruptions_above": above}
        for name, is_given in (*stated.items(), ("history", bool(self.history))):
            if is_given and self.term != "spot":
                hint = f"write term: spot, or leave `{name}` out"
                raise fault(f"only spot prices have `{name}`, and {self.item} is {self.term}", hint, name)
        if all(stated.values()):
            hint = "write `interruptions` if the share is known, else `interruptions_above`"
            raise fault(f"{self.item} has both `interruptions` and `interruptions_above`", hint, "interruptions_above")

    def _check_tiers(self) -> None:
        before = Decimal(0)
        for place, tier in enumerate(self.tiers):
            last = place == len(self.tiers) - 1
            if tier.up_to is None and not last:
                raise fault("only the last tier may have no `up_to`", "add `up_to` to this tier", "tiers", place)
            if last and tier.up_to is not None:
                raise fault(
                    f"there is no price above {tier.up_to} {self.unit}",
                    "leave `up_to` out of the last tier",
                    "tiers",
                    place,
                )
            if tier.up_to is not None and tier.up_to <= before:
                raise fault(
                    f"the tier up to {tier.up_to} overlaps the one before it, which ends at {before}",
                    "write tiers in rising order; each begins where the one before it ends",
                    "tiers",
                    place,
                    "up_to",
                )
            before = tier.up_to or before

    @property
    def key(self) -> tuple[str, str, str, str]:
        """The unique key of a row in its book: dimension, item, term and payment."""
        return self.dimension, self.item, self.term, self.payment or ""

    def cost(self, each: Decimal, pieces: Decimal = Decimal(1)) -> Decimal:
        """Return the price of `pieces` times a quantity, without `upfront`.

        Args:
            each: Quantity of one piece, in base units of the dimension's kind.
            pieces: Number of pieces; `free` and tiers apply to each of them.
        """
        quantity = EXACT.divide(each, Decimal(UNITS[self.unit].factor))
        quantity = max(Decimal(0), EXACT.subtract(quantity, self.free))
        if self.price is not None:
            return EXACT.multiply(EXACT.multiply(quantity, self.price), pieces)
        total, before = Decimal(0), Decimal(0)
        for tier in self.tiers:
            end = quantity if tier.up_to is None else min(quantity, tier.up_to)
            if end > before:
                total = EXACT.add(total, EXACT.multiply(EXACT.subtract(end, before), tier.price))
                before = end
        return EXACT.multiply(total, pieces)


def units_of(kind: str) -> list[str]:
    """Return the names of the units of one kind."""
    return [name for name, unit in UNITS.items() if unit.kind == kind]


class PriceBook(Frozen):
    """Prices of one provider and region at one date.

    Attributes:
        date: Date of the prices: the oldest date of its rows.
        hours_per_month: Hours that this provider or paper counts as a month.
        historic: Old on purpose: its age causes no warning.
        about: How the book was made, and how hours per month and units were determined.
    """

    book: Word
    provider: Word
    region: Word
    date: dt.date
    currency: Currency
    hours_per_month: Amount
    historic: bool = False
    about: Text = ""
    rows: tuple[PriceRow, ...] = Field(min_length=1)

    _by_key: dict[tuple[str, str, str, str], PriceRow] = PrivateAttr(default_factory=dict)

    @model_validator(mode="after")
    def _consistent(self) -> "PriceBook":
        if not 600 <= self.hours_per_month <= 800:
            raise fault(
                f"{self.hours_per_month} hours is not the length of a month",
                "write hours, such as 730 or 720",
                "hours_per_month",
            )
        # A book inside another model is validated a second time.
        self._by_key.clear()
        for place, row in enumerate(self.rows):
            if row.currency not in (None, self.currency):
                raise fault(
                    f"{row.item} is priced in {row.currency}, the book in {self.currency}",
                    "a book has one currency: put this row into another book",
                    "rows",
                    place,
                    "currency",
                )
            if row.key in self._by_key:
                raise fault(f"a second price of {row_name(row)}", "remove one of the two", "rows", place, "item")
            self._by_key[row.key] = row
        return self

    def reindex(self) -> "PriceBook":
        """Rebuild the index after rows were replaced, so that `row` finds the new ones; return the book."""
        self._by_key = {row.key: row for row in self.rows}
        return self

    def future_dates(self, today: dt.date) -> Iterator[tuple[tuple[str | int, ...], dt.date]]:
        """Return the dates in the book after today, each with its path."""
        dates: list[tuple[tuple[str | int, ...], dt.date | None]] = [(("date",), self.date)]
        for place, row in enumerate(self.rows):
            dates.append((("rows", place, "date"), row.date))
            dates += [(("rows", place, "history", number, "at"), spot.at) for number, spot in enumerate(row.history)]
        return ((path, date) for path, date in dates if date is not None and date > today)

    def age_days(self, today: dt.date) -> int:
        """Return the days since the book's date."""
        return (today - self.date).days

    def date_of(self, row: PriceRow) -> dt.date:
        """Return the date of a row's price."""
        return row.date or self.date

    def stale_rows(self, today: dt.date, rows: Iterable[PriceRow] | None = None) -> tuple[PriceRow, ...]:
        """Return the rows that are too old to be trusted, the oldest first; none for a historic book.

        Args:
            today: Current date.
            rows: Only consider these rows; None: all.
        """
        if self.historic:
            return ()
        old = [row for row in rows or self.rows if (today - self.date_of(row)).days > STALE_DAYS]
        return tuple(sorted(old, key=self.date_of))

    def has_term(self, dimension: str, item: str, term: str, payment: str | None = None) -> bool:
        """Return whether the book has a row for an item on a term, with the payment if one is requested."""
        return any(row.key[:3] == (dimension, item, term) and payment in (None, row.payment) for row in self.rows)

    def row(self, dimension: str, item: str, term: str = "on-demand", payment: str | None = None) -> PriceRow:
        """Return the row for an item. Of several payments of a reservation: the requested one, or the first.

        Raises:
            AssayError: The book has no such row.
        """
        if term in TERM_MONTHS:
            for row in self.rows:
                if row.key[:3] == (dimension, item, term) and payment in (None, row.payment):
                    return row
        elif (dimension, item, term, "") in self._by_key:
            return self._by_key[dimension, item, term, ""]
        what = f"{dimension} {item}" + (f", {term}" if term != "on-demand" else "")
        others = [row for row in self.rows if (row.dimension, row.item) == (dimension, item)]
        if payments := [row.payment or "" for row in others if row.term == term]:
            hint = f"it has {', '.join(payments)}; or add a row to the book"
            raise AssayError(f"the price book {self.book} has no {payment} of {what}", hint, EXIT_REFUSED)
        if others:
            hint = f"it has {', '.join(dict.fromkeys(row.term for row in others))}; or add a row to the book"
            raise AssayError(f"the price book {self.book} has no price of {what}", hint, EXIT_REFUSED)
        known = sorted({row.item for row in self.rows if row.dimension == dimension and row.term == term})
        hint = (
            with_alternative(choices_hint(item, known), "add a row to the book")
            if known
            else "add a row to the book, or use another book"
        )
        raise AssayError(f"the price book {self.book} has no price of {what}", hint, EXIT_REFUSED)


def row_name(row: PriceRow) -> str:
    """Return the name of a row: `instance d2.xlarge, reserved-1y, all-upfront`."""
    words = [f"{row.dimension} {row.item}", "" if row.term == "on-demand" else row.term, row.payment or ""]
    return ", ".join(word for word in words if word)


Per = Literal["hour", "month", "once", "job"]


class BillItem(Frozen):
    """One position of a bill.

    Attributes:
        what: Text for display, such as `8 x c3.8xlarge`.
        dimension: Dimension in price books.
        item: Item in price books.
        pieces: Number of pieces.
        each: Quantity of one piece for each `per`, in base units of the dimension's kind. A capacity for a month is in
            bytes; an hour of an instance is 1.
        per: hour and month: paid continuously, and counted in this unit; once: a purchase, or a first upload; job: for
            each job.
        stops_when_off: Not paid while the design is switched off.
        years: Purchases only: time in use, for the cost of an hour or month. What is paid once without `years` is not
            paid again.
    """

    what: str
    dimension: Dimension
    item: str
    pieces: Quantity
    each: Quantity
    per: Per
    stops_when_off: bool = False
    years: Quantity | None = None


class Bill(Frozen):
    """Everything that a design and its use cost."""

    lines: tuple[BillItem, ...] = ()

    def __add__(self, other: "Bill") -> "Bill":
        return Bill(lines=(*self.lines, *other.lines))


def one_currency(books: Sequence[PriceBook]) -> str:
    """Return the common currency of several books.

    Raises:
        AssayError: They have different currencies: amounts in two currencies are never compared or added.
    """
    found = sorted({book.currency for book in books})
    if len(found) != 1:
        raise AssayError(
            f"prices in {' and '.join(found)} cannot be compared",
            "use books of one currency; `assay prices list` shows them",
        )
    return found[0]
