"""Which design satisfies a need, and why: the answer of `assay advise`."""

import datetime as dt
from decimal import Decimal
from typing import Any, Literal

from pydantic import Field

from assay.model.frozen import Frozen
from assay.model.money.amount import Payment, Term
from assay.model.money.design import Design
from assay.model.money.price import PriceRow
from assay.rooms.advice.model.need import ExchangeRates, Need
from assay.rooms.advice.model.sensitivity import Sensitivity

ADVICE_SCHEMA = 1
"""Version of `Advice` as printed for programs."""

Outcome = Literal["met", "failed", "unproven"]
Basis = Literal["measured", "rule", "ceiling", "unknown"]


class ExpectedFigure(Frozen):
    """What a design is expected to do by one metric.

    Attributes:
        value: Bytes per second, operations per second, or seconds; None: nothing is known.
        low, high: Ends of the confidence interval; None without a measurement.
        plausible: Ends of what is plausible where the value is not known, or not proven, for what is not known of it:
            the value is the most in any case; None: nothing comparable is known, or the value is known.
        basis: measured: evidence of exactly this design; rule: its binding ceiling times the share that a rule of thumb
            gives; ceiling: at most this, while the rate of another layer is unknown.
        how: How the value was computed, with its numbers.
    """

    metric: str
    value: float | None
    low: float | None = None
    high: float | None = None
    basis: Basis
    how: str
    source: str
    plausible: tuple[float, float] | None = None


class RequirementCheck(Frozen):
    """Whether one design satisfies one requirement.

    Attributes:
        requirement: Key of the need; two joined by ` + ` if both load a layer that they share.
        is_certain: The outcome holds over the whole interval of the evidence.
        chance: Of an unproven requirement, the chance that it is met, 0 to 1, by what is plausible.
        share: Available / required, at most 1; None if the requirement is not a number.
        text: One sentence with the numbers.
        rule: Name of the rule of thumb that decides; empty if none does.
        source: Where the figures come from.
    """

    requirement: str
    outcome: Outcome
    is_certain: bool = True
    chance: float | None = None
    share: float | None = None
    text: str
    rule: str = ""
    source: str = ""


class Remark(Frozen):
    """A further statement of a rule or figure about a design.

    Attributes:
        rule: Name of the rule of thumb, or `cost`, `evidence`.
        text: One sentence with the numbers.
        about: `cheaper`: a design that costs less, and what it fails; `colder`: how the bill of a bucket differs in
            which to store costs less; `reading`: what is assumed to be read; `administration`: a design that costs less
            without its administration, which is not stated.
        requirement: Requirement of the need that the design satisfies or fails; empty if the remark concerns none.
    """

    rule: str
    stance: Literal["for", "against", "note"]
    text: str
    source: str
    about: Literal["", "cheaper", "colder", "reading", "administration"] = ""
    requirement: str = ""


class BillLine(Frozen):
    """The cost of one line of a bill, and the source of its price.

    Attributes:
        month: Average cost of a month over the months of the need, with a share of purchases, before support and tax.
        date: Date of the price.
    """

    what: str
    dimension: str
    item: str
    month: Decimal
    book: str
    date: dt.date | None = None


class OptionPrice(Frozen):
    """The price of an option.

    Attributes:
        paid: Total paid for the months of the need. Reservations and purchases count in full, including monthly
            payments on a reservation until its term ends.
        month: `paid` divided by the months.
        per_tb_month: Cost of a month for each usable TB (10^12 bytes).
        per_gbs_month: Cost of a month for each GB/s (10^9 bytes/s) of the deciding rate; `per_gbs_low` and
            `per_gbs_high` follow from the interval of the rate.
        is_purchased: Its hardware is purchased, not rented.
        present_value: Present value of `paid` on the first day; None without `discount`.
        migration_cost: Part of `paid` that is paid once to move the data in.
        administration: Cost of a month of administration that is assumed, by which designs are compared and which is
            in no other amount.
        client_month: Cost of a month of the instance that attached volumes are used on, on demand, which is in no other
            amount; 0 for other designs; None: it has no price.
        missing_prices: Items without a price, which the total leaves out.
        books: Price books that its lines use.
        lines: Lines of its bill, the most expensive first.
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
    is_purchased: bool = False
    present_value: Decimal | None = None
    migration_cost: Decimal = Decimal(0)
    administration: Decimal = Decimal(0)
    client_month: Decimal | None = Decimal(0)
    missing_prices: tuple[str, ...] = ()
    books: tuple[str, ...] = ()
    lines: tuple[BillLine, ...] = ()


class AdviceOption(Frozen):
    """A design with values for its parameters, with price and checks.

    Attributes:
        label: Name of the option in this advice.
        set: Values of the parameters that distinguish it from other variants of the design.
        usable: Bytes for data.
        rate: The deciding rate in bytes per second: the lower one of the reads and writes that the need requires, both
            at once.
        basis: Basis of the rate; None if the rate is unknown.
        conditions: What the user accepts by choosing it, one sentence each.
        chance: Chance that it meets what is unproven, 0 to 1, by what is plausible; 1 if all is proven.
        built_design: The design with the values of all parameters; not part of JSON, where `design` and `set` name it.
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
    price: OptionPrice
    figures: tuple[ExpectedFigure, ...]
    checks: tuple[RequirementCheck, ...]
    remarks: tuple[Remark, ...]
    conditions: tuple[str, ...] = ()
    provider: str | None = None
    chance: float = 1.0
    built_design: Design | None = Field(None, exclude=True, repr=False)


class RejectedDesign(Frozen):
    """A design of which no variant satisfies the need.

    Attributes:
        variants: Number of variants that were tried.
        closest: The variant that fails by least; None if none could be priced.
        failed_checks: Failed checks of the closest variant.
        why: Reason in one line if it is not a requirement: no price, or not available.
    """

    design: str
    variants: int
    closest: AdviceOption | None = None
    failed_checks: tuple[RequirementCheck, ...] = ()
    why: str = ""


class DecisionChange(Frozen):
    """A change that would alter the decision.

    Attributes:
        kind: price: of one item, or of a whole design; interval: an end of a confidence interval; duty: the duty cycle;
            administration: hours of work on the servers that the user runs; reading: bytes that are read in a month;
            requirement: one that the need lacks.
        to: Label of the option that would be chosen then; None: none.
        at: Threshold: factor of the price or of what is read, value of the figure, duty cycle, hours a month; 1 for a
            requirement.
    """

    kind: Literal["price", "interval", "duty", "administration", "reading", "requirement"]
    text: str
    to: str | None
    at: Decimal


class Conflict(Frozen):
    """Requirements that no design satisfies together.

    Attributes:
        requirements: A smallest set of requirements that excludes every design.
        text: Which requirement excludes which designs, and by how much.
    """

    requirements: tuple[str, ...]
    text: str


class RelaxedRequirement(Frozen):
    """What would be available if one requirement were dropped.

    Attributes:
        text: The option and its price.
        shortfall: By how much it misses the requirement.
    """

    requirement: str
    option: str
    text: str
    shortfall: str


class VariantCounts(Frozen):
    """Numbers of variants.

    Attributes:
        enumerated: Of all designs.
        infeasible: Not available according to the catalogue.
        unpriced: Not priced by any book, without designs that no price could let meet the need: these count as failed.
        met, unproven, failed: Outcomes of the priced variants.
    """

    enumerated: int = 0
    infeasible: int = 0
    unpriced: int = 0
    met: int = 0
    unproven: int = 0
    failed: int = 0


class BookInfo(Frozen):
    """A price book that the advice uses."""

    book: str
    region: str
    date: dt.date
    currency: str
    hours_per_month: Decimal


def differs_in_durability(item: AdviceOption | Design, best: AdviceOption | Design) -> bool:
    """Return whether it is of the same family, and survives more or less than the best, which survives enough."""
    return item.family == best.family and item.durability != best.durability


class Advice(Frozen):
    """The answer to a need.

    Attributes:
        prices: The first price book; its `currency` is that of the answer.
        books: All books, each in its own currency.
        exchange: Exchange rates that converted prices of other currencies; None if none was converted.
        result: recommended: one option satisfies the need; unproven: none is proven to, one may; not separable: the
            evidence does not separate the best two; none: nothing satisfies it.
        recommended: Label of the option; if `not separable`, labels of both, the apparently better one first.
        reasons: Why this option, each with its numbers and source.
        options: The cheapest variant of each design that satisfies the need, and the whole front; the best first.
        front: Labels of the Pareto front: no other option costs less and is as fast; cheapest first.
        unproven: Options with a requirement that is not known to be satisfied: the cheapest of each design.
        unpriced: Designs that may meet the need, for which no book prices any variant.
        rows: Prices of the options, so that the answer is complete in itself.
        notes: Notes on the evidence and the prices.
        sensitivity: What would change the choice, if requested.
    """

    schema_version: int = ADVICE_SCHEMA
    need: Need
    prices: BookInfo
    books: tuple[BookInfo, ...] = ()
    exchange: ExchangeRates | None = None
    result: Literal["recommended", "unproven", "not separable", "none"]
    recommended: tuple[str, ...] = ()
    decided_by: str = ""
    reasons: tuple[Remark, ...] = ()
    options: tuple[AdviceOption, ...] = ()
    front: tuple[str, ...] = ()
    unproven: tuple[AdviceOption, ...] = ()
    changes: tuple[DecisionChange, ...] = ()
    rejected: tuple[RejectedDesign, ...] = ()
    conflicts: tuple[Conflict, ...] = ()
    relaxed: tuple[RelaxedRequirement, ...] = ()
    counts: VariantCounts
    rows: tuple[PriceRow, ...] = ()
    notes: tuple[str, ...] = ()
    unpriced: tuple[str, ...] = ()
    sensitivity: Sensitivity | None = None

    @property
    def choice(self) -> AdviceOption | None:
        """The option that is recommended first; None if there is none."""
        label = self.recommended[0] if self.recommended else None
        return next((item for item in (*self.options, *self.unproven) if item.label == label), None)

    @property
    def runner_up(self) -> AdviceOption | None:
        """The second recommended option, else the best of another design than the choice; None if there is none.

        A design of the same family that survives more or less than the choice is no alternative, and comes last.
        """
        best = self.choice
        pool = self.options if best in self.options else self.unproven
        second = next((item for item in pool if item.label in self.recommended[1:]), None)
        if best is None:
            return second
        others = [item for item in pool if item.design != best.design]
        return second or min(others, key=lambda item: differs_in_durability(item, best), default=None)
