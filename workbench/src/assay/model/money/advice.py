"""Which design meets a need, and why: what `assay advise` answers."""

import datetime as dt
from decimal import Decimal
from typing import Any, Literal

from assay.model.frozen import Frozen
from assay.model.money.advice_picture import Picture
from assay.model.money.amount import Payment, Term
from assay.model.money.need import Exchange, Need
from assay.model.money.price import Row

ADVICE_SCHEMA = 1
"""Version of `Advice` as it is printed for programs."""

Outcome = Literal["met", "failed", "unproven"]
Basis = Literal["measured", "rule", "ceiling", "unknown"]


class Figure(Frozen):
    """What a design is expected to do in one respect.

    Attributes:
        value: Bytes per second, operations per second, or seconds; None: nothing is known.
        low, high: Ends of the interval; None without measurement.
        basis: measured: evidence of exactly this design; rule: its binding ceiling times the share that a rule of
            thumb gives; ceiling: no more than this, while the rate of another layer is not known.
        how: With its numbers.
    """

    metric: str
    value: float | None
    low: float | None = None
    high: float | None = None
    basis: Basis
    how: str
    source: str


class Check(Frozen):
    """One requirement and one design.

    Attributes:
        requirement: Key of the need; two with ` + ` for what both ask of a layer that they share.
        certain: Met all over the interval of the evidence.
        share: Of what is needed that is there, at most 1; None where it is no number.
        text: With the numbers.
        rule: Name of the rule of thumb that decides; empty: none.
        source: Where the figures stand.
    """

    requirement: str
    outcome: Outcome
    certain: bool = True
    share: float | None = None
    text: str
    rule: str = ""
    source: str = ""


class Remark(Frozen):
    """What a rule or figure says besides.

    Attributes:
        rule: Name of the rule of thumb, or `cost`, `evidence`.
        text: With the numbers.
        about: `cheaper`: a design that costs less, and what it fails; `use`: the share of the price paid by use.
        requirement: Of the need, which the design meets or fails; empty if the remark is about none.
    """

    rule: str
    speaks: Literal["for", "against", "note"]
    text: str
    source: str
    about: Literal["", "cheaper", "use"] = ""
    requirement: str = ""


class BillLine(Frozen):
    """What one line of a bill costs, and where its price stands.

    Attributes:
        month: Of the months of the need, on average; with shares of what is bought in them, before support and tax.
        date: When the price held.
    """

    what: str
    dimension: str
    item: str
    month: Decimal
    book: str
    date: dt.date | None = None


class Price(Frozen):
    """What an option costs.

    Attributes:
        paid: All that is paid for the months of the need; reservations and purchases whole, also what is paid by the
            month on a reservation until its term ends.
        month: That over the months.
        per_tb_month: Of a month for each usable TB (10^12 bytes).
        per_gbs_month: Of a month for each GB/s (10^9 bytes) of the deciding rate; low and high by its interval.
        bought: Its hardware is bought, not rented.
        present: All that is paid, as money of the first day; None without `discount`.
        once: What of it is paid once to move the data in.
        lacks: What has no price and is not in it.
        books: Price books that its lines come from.
        lines: Of its bill, the dearest first.
    """

    currency: str
    term: Term
    payment: Payment | None = None
    paid: Decimal
    month: Decimal
    per_tb_month: Decimal
    per_gbs_month: Decimal | None = None
    per_gbs_low: Decimal | None = None
    per_gbs_high: Decimal | None = None
    bought: bool = False
    present: Decimal | None = None
    once: Decimal = Decimal(0)
    lacks: tuple[str, ...] = ()
    books: tuple[str, ...] = ()
    lines: tuple[BillLine, ...] = ()


class Option(Frozen):
    """A design with values for its parameters, priced and checked.

    Attributes:
        label: Its name in this advice.
        set: Values of the parameters that tell it from the design's other ones.
        usable: Bytes for data.
        rate: Bytes per second that decide: of what the need asks for, read or write, the lesser, both at once.
        basis: Of the rate; None: it is not known.
        conditions: What one accepts with it, each in a sentence.
    """

    label: str
    design: str
    family: str
    set: dict[str, Any]
    outcome: Outcome
    usable: int
    durability: str
    rate: float | None
    basis: Basis | None = None
    price: Price
    figures: tuple[Figure, ...]
    checks: tuple[Check, ...]
    remarks: tuple[Remark, ...]
    conditions: tuple[str, ...] = ()
    provider: str | None = None


class Rejected(Frozen):
    """A design that does not meet the need in any of its variants.

    Attributes:
        variants: How many were tried.
        closest: The variant that fails least; None if none could be priced.
        fails: Of the closest.
        why: In one line, if it is not a requirement: no price, cannot be had.
    """

    design: str
    variants: int
    closest: Option | None = None
    fails: tuple[Check, ...] = ()
    why: str = ""


class Change(Frozen):
    """Something that would change the decision.

    Attributes:
        kind: price: of one item, or of all of a design; interval: the end of an interval; duty: share of the time.
        to: Label of what would be chosen then; None: nothing.
        at: Factor of the price, value of the figure, or duty cycle from which on.
    """

    kind: Literal["price", "interval", "duty"]
    text: str
    to: str | None
    at: Decimal


class Conflict(Frozen):
    """Requirements that nothing meets together.

    Attributes:
        requirements: As few as exclude everything.
        text: Which excludes what, and by how much.
    """

    requirements: tuple[str, ...]
    text: str


class Relaxed(Frozen):
    """What could be had if one requirement were given up.

    Attributes:
        text: The option and its price.
        lacks: By how much it misses the requirement.
    """

    requirement: str
    option: str
    text: str
    lacks: str


class Counts(Frozen):
    """How many variants there were.

    Attributes:
        enumerated: Of all designs.
        impossible: That the catalogue says cannot be had.
        unpriced: For which the book lacks a price.
        met, unproven, failed: Of the priced ones.
    """

    enumerated: int = 0
    impossible: int = 0
    unpriced: int = 0
    met: int = 0
    unproven: int = 0
    failed: int = 0


class Prices(Frozen):
    """Where the prices come from."""

    book: str
    region: str
    date: dt.date
    currency: str
    hours_per_month: Decimal


class Advice(Frozen):
    """The answer to a need.

    Attributes:
        prices: The first book, in the currency of the answer.
        books: All books, each in its own currency.
        exchange: By which those in another currency were converted; None if none was.
        result: recommended: one option meets the need; unproven: none is proven to, one may; not separable: the
            evidence does not tell the best two apart; none: nothing meets it.
        recommended: Label of the option; with `not separable` of both, the one that looks better first.
        reasons: Why this one, each with its numbers and source.
        options: Of each design that meets the need the cheapest variant, and all of the front; the best first.
        front: Labels of those of which no other costs less and is as fast; cheapest first.
        unproven: Options of which a requirement is not known to be met, of each design the cheapest.
        unpriced: Designs that no book prices in any variant.
        rows: Prices of the options, so that the answer stands by itself.
        notes: About the evidence and the prices.
        picture: What would change the choice, if it was asked for.
    """

    schema_version: int = ADVICE_SCHEMA
    need: Need
    prices: Prices
    books: tuple[Prices, ...] = ()
    exchange: Exchange | None = None
    result: Literal["recommended", "unproven", "not separable", "none"]
    recommended: tuple[str, ...] = ()
    decided_by: str = ""
    reasons: tuple[Remark, ...] = ()
    options: tuple[Option, ...] = ()
    front: tuple[str, ...] = ()
    unproven: tuple[Option, ...] = ()
    changes: tuple[Change, ...] = ()
    rejected: tuple[Rejected, ...] = ()
    conflicts: tuple[Conflict, ...] = ()
    relaxed: tuple[Relaxed, ...] = ()
    counts: Counts
    rows: tuple[Row, ...] = ()
    notes: tuple[str, ...] = ()
    unpriced: tuple[str, ...] = ()
    picture: Picture | None = None
