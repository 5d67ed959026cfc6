"""What a priced design costs per unit of capacity, rate and operations, per job, and on each term.

Money is exact. Rates and capacity are the ceilings that `assay.money.cost.limits` computes; measurements may be lower.
"""

import itertools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from functools import cached_property
from typing import Literal, get_args

from assay.model.base import AssayError
from assay.model.money.amount import EXACT, TERM_MONTHS, TERMS, Payment, Term, exact_sum
from assay.model.money.design import Design
from assay.model.money.price import WITH_TERMS, Bill, PriceBook, one_currency
from assay.model.money.use import DesignChoice, Use
from assay.money.cost.bill import make_bill
from assay.money.cost.cost import (
    ZERO,
    BreakEven,
    Cost,
    break_even_duty,
    break_even_months,
    expected_hours,
    price_bill,
    stays_cheaper_from,
    with_marginal_jobs,
)
from assay.money.cost.limits import Limits, Metric, design_limits
from assay.money.cost.stored_prices import BY_USE

TB, GB, THOUSAND, SECONDS = Decimal(10**12), Decimal(10**9), Decimal(1000), Decimal(3600)
PAYMENTS: tuple[Payment, ...] = get_args(Payment)
Exceeded = Literal["read", "write", "capacity"]


@dataclass(frozen=True)
class JobCost:
    """The cost of one job.

    Attributes:
        hours: Without interruption: as stated, or its bytes at the design's sustained rate.
        expected: Hours with interruptions of spot instances, which restart the job; None: unknown.
        by_rate: Whether `hours` follows from the design's rate.
        money: Cost of the expected hours and of the job's own egress; None: unknown.
        interruption_cost: Part of the cost that interruptions cause.
        needed_rate: Bytes per second that the job needs to finish in its hours; None: its bytes are not stated.
        per_tb: Money for each TB of the job.
        exceeded: What the job needs beyond the design's limits: read rate, write rate, or capacity.
    """

    hours: Decimal
    expected: Decimal | None
    by_rate: bool
    money: Decimal | None
    interruption_cost: Decimal | None
    needed_rate: Decimal | None
    per_tb: Decimal | None
    exceeded: tuple[Exceeded, ...] = ()


@dataclass(frozen=True)
class TermCost:
    """The cost of a bill on another term."""

    term: Term
    payment: Payment | None
    cost: Cost

    @property
    def name(self) -> str:
        """Term and payment option: `reserved-1y, all-upfront`."""
        return ", ".join(word for word in (self.term, self.payment) if word)


@dataclass(frozen=True)
class CostComparison:
    """Two costs and their break-even points.

    Attributes:
        first, second: Names of what they are the costs of.
        break_even_duty: Break-even point by duty cycle.
        break_even_months: After how many months the one that starts higher has cost less in total; None: never.
        stays_cheaper_from: Month from which its total stays lower; None: not within 20 years, because it pays
            upfront again.
        higher_start: Name of the one that starts higher.
        is_equal: They cost the same at every duty cycle.
    """

    first: str
    second: str
    break_even_duty: BreakEven
    break_even_months: int | None
    stays_cheaper_from: int | None
    higher_start: str
    is_equal: bool

    @property
    def never_crosses(self) -> bool:
        """Whether one is cheaper than the other at every duty cycle."""
        return self.break_even_duty.duty is None and not self.is_equal

    def renamed(self, names: Mapping[str, str]) -> "CostComparison":
        """Return the same comparison with other names."""
        return replace(self, first=names[self.first], second=names[self.second], higher_start=names[self.higher_start])


@dataclass(frozen=True)
class PricedOption:
    """A design with its price: all that a comparison uses.

    Attributes:
        use: Traffic, requests and other use that is paid for, and the job.
    """

    chosen: DesignChoice
    design: Design
    book: PriceBook
    use: Use
    bill: Bill
    cost: Cost
    limits: Limits

    @property
    def label(self) -> str:
        """Name of the design with its chosen values."""
        return self.chosen.label

    @property
    def usable_tb(self) -> Decimal:
        """Capacity for data, TB of 10^12 bytes."""
        return EXACT.divide(Decimal(self.limits.usable), TB)

    @property
    def per_tb_month(self) -> Decimal:
        """Cost of a month for each usable TB."""
        return EXACT.divide(self.cost.month, self.usable_tb)

    def per_month(self, metric: Metric) -> Decimal | None:
        """Return a month's cost for each sustained GB/s (10^9 bytes) or 1,000 operations per second; None: unknown."""
        return per_unit(self.cost.month, self.limits.sustained(metric), metric)

    @property
    def loses_when_off(self) -> bool:
        """Whether its data is on local disks of instances, so that it is lost when they are switched off."""
        return any(group.local is not None and group.role == "storage" for group in self.design.servers)

    @property
    def by_use(self) -> Decimal:
        """Part of a month's cost that is paid for transfer, requests and access."""
        return exact_sum(
            charge.month(self.cost.duty) for charge in self.cost.charges if charge.line.dimension in BY_USE
        )

    @cached_property
    def job(self) -> JobCost | None:
        """Cost of the job that the use states; None if it states none, or if its hours cannot be computed."""
        data = Decimal(self.use.job_bytes)
        hours, by_rate = self.use.job_hours, False
        if not hours:
            rates = [rate for metric in ("read", "write") if (rate := self.limits.sustained(metric))]
            if not (data and rates):
                return None
            hours, by_rate = EXACT.divide(EXACT.divide(data, Decimal(min(rates))), SECONDS), True
        chance = self.interruption_chance
        expected = None if chance is None else expected_hours(hours, chance, self.book.hours_per_month)
        money = None
        if expected is not None:
            money = EXACT.add(EXACT.multiply(expected, self.cost.hour), self.cost.job)
        needs = EXACT.divide(data, EXACT.multiply(hours, SECONDS)) if data and not by_rate else None
        return JobCost(
            hours=hours,
            expected=expected,
            by_rate=by_rate,
            money=money,
            interruption_cost=None if expected is None else EXACT.multiply(expected - hours, self.cost.hour),
            needed_rate=needs,
            per_tb=EXACT.divide(money, EXACT.divide(data, TB)) if money is not None and data else None,
            exceeded=tuple(self._exceeded(needs)),
        )

    def _exceeded(self, needs: Decimal | None) -> Iterator[Exceeded]:
        directions: tuple[Literal["read", "write"], ...] = ("read", "write")
        for metric in directions:
            sustained = self.limits.sustained(metric)
            if needs is not None and sustained is not None and needs > Decimal(sustained):
                yield metric
        if self.use.job_bytes > self.limits.usable:
            yield "capacity"

    @property
    def interruption_chance(self) -> Decimal | None:
        """Probability that at least one instance is interrupted in a month; None: a price row does not state its share.

        1 - product over all instances of (1 - share), as if interruptions were independent.
        """
        undisturbed = Decimal(1)
        for charge in self.cost.charges:
            if charge.row.term == "spot":
                if charge.row.interruptions is None:
                    return None
                undisturbed = EXACT.multiply(undisturbed, EXACT.power(1 - charge.row.interruptions, charge.line.pieces))
        return 1 - undisturbed

    @cached_property
    def terms(self) -> tuple[TermCost, ...]:
        """Cost on each term that the book has for all its instances, or for units of its table, on demand first.

        Empty if nothing of it has a term.
        """
        found = tuple(self._terms()) if any(line.dimension in WITH_TERMS for line in self.bill.lines) else ()
        return found if len(found) > 1 or any(line.dimension == "instance" for line in self.bill.lines) else ()

    @cached_property
    def term_pairs(self) -> tuple[CostComparison, ...]:
        """On demand compared with each reservation."""
        first = next((term for term in self.terms if term.term == "on-demand"), None)
        reserved = [term for term in self.terms if term.term in TERM_MONTHS]
        return tuple(_pair(first.name, first.cost, term.name, term.cost) for term in reserved) if first else ()

    def _terms(self) -> Iterator[TermCost]:
        for term in TERMS:
            for payment in PAYMENTS if term in TERM_MONTHS else (None,):
                try:
                    cost = price_bill(self.bill, self.book, term, payment, self.cost.duty)
                except AssayError:
                    continue
                if term == "on-demand" or any(charge.row.term == term for charge in cost.charges):
                    yield TermCost(term, payment, cost)


def price_design(
    chosen: DesignChoice,
    design: Design,
    book: PriceBook,
    term: Term = "on-demand",
    payment: Payment | None = None,
    use: Use = Use(),  # noqa: B008
) -> PricedOption:
    """Return a design with its bill, cost and limits.

    Raises:
        AssayError: It cannot be built, the book lacks a price of a line, or a job on it never ends.
    """
    try:
        limits = design_limits(design)
        if limits.usable <= 0:
            raise AssayError("it has no capacity for data", "give it disks or volumes")
        bill = make_bill(design, use)
    except AssayError as error:
        raise _error_at_design(chosen, error) from None
    cost = with_marginal_jobs(price_bill(bill, book, term, payment, use.duty))
    option = PricedOption(chosen, design, book, use, bill, cost, limits)
    try:
        # The property caches its value: an error shows now, before anything is printed.
        _ = option.job
    except AssayError as error:
        raise _error_at_design(chosen, error) from None
    return option


def _error_at_design(chosen: DesignChoice, error: AssayError) -> AssayError:
    return error.at(f"design {' '.join(chosen.label.split())}")


def compare(options: Sequence[PricedOption], most: int = 4) -> list[CostComparison]:
    """Compare each design with each other, or, if there are more than `most`, each with the cheapest by the month.

    Raises:
        AssayError: Their books have different currencies.
    """
    one_currency([option.book for option in options])
    named = [(option.label, option.cost) for option in options]
    if len(named) <= most:
        return [_pair(*first, *second) for first, second in itertools.combinations(named, 2)]
    cheapest = min(named, key=lambda item: item[1].month)
    return [_pair(*cheapest, *other) for other in named if other is not cheapest]


def _pair(first: str, first_cost: Cost, second: str, second_cost: Cost) -> CostComparison:
    months = break_even_months(first_cost, second_cost)
    stays = None if months is None else stays_cheaper_from(first_cost, second_cost)
    sooner = first if first_cost.paid_after(1) > second_cost.paid_after(1) else second
    equal = all(
        exact_sum(charge.month(duty) for charge in first_cost.charges)
        == exact_sum(charge.month(duty) for charge in second_cost.charges)
        for duty in (ZERO, Decimal(1))
    )
    return CostComparison(first, second, break_even_duty(first_cost, second_cost), months, stays, sooner, equal)


def per_unit(money: Decimal, rate: float | None, metric: Metric) -> Decimal | None:
    """Return the money for each GB/s (10^9 bytes) or 1,000 operations per second; None if the rate is unknown or 0."""
    if rate is None or rate <= 0:
        return None
    unit = THOUSAND if metric.endswith("iops") else GB
    return EXACT.divide(money, EXACT.divide(Decimal(repr(rate)), unit))
