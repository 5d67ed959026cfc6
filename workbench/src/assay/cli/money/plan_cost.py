"""The cost of running a study: the estimated hours of its plan times the hourly costs of its designs."""

from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from assay.model.money.amount import exact_sum, format_money, round_half_up
from assay.model.money.priced_designs import FrozenPrices
from assay.model.study.study import Study
from assay.money.cost.stored_prices import hour_of_hosts, hour_of_running
from assay.plan.estimate import StudyEstimate
from assay.run.costs.budget import Budget, cost_of_time
from assay.terminal.output import print_line, print_table

EXCLUDED_COSTS = (
    "data transfer (planned bytes are not counted as egress), requests, snapshots and other charges by usage",
    "the time to set up and remove the designs, and to measure ceilings and the network",
    "taxes, discounts, and minimum billing times",
)
DIGITS = 6
"""Digits after the decimal point of amounts for programs."""


@dataclass(frozen=True)
class CostSpan:
    """An amount: with the fewest repeats, as expected with the most repeats, and its upper bound if there is one."""

    least: Decimal
    about: Decimal
    at_most: Decimal | None

    def text(self, currency: str) -> str:
        """Return the span in words with its currency."""
        least, about = format_money(self.least), format_money(self.about)
        words = f"about {about if least == about else f'{least} to {about}'} {currency}"
        return words if self.at_most is None else f"{words}, at most {format_money(self.at_most, currency)}"

    def document(self) -> dict[str, str | None]:
        """Return the span for programs, as text."""
        found = {"min": self.least, "expected": self.about, "max": self.at_most}
        return {key: None if value is None else str(round_half_up(value, DIGITS)) for key, value in found.items()}


@dataclass(frozen=True)
class PlanCost:
    """The cost of a run.

    Attributes:
        prices: The prices of the designs.
        hourly: Target -> cost of its design per hour.
        designs: Target -> cost of its design over the whole run. Each design is paid for from beginning to end, since
            the run alternates between them.
        hosts: The same of the rented hosts that belong to no design, and the network; None without such.
    """

    prices: FrozenPrices
    hourly: dict[str, Decimal]
    designs: dict[str, CostSpan]
    hosts: CostSpan | None = None

    @property
    def total(self) -> CostSpan:
        """Cost of all designs and rented hosts."""
        spans = [*self.designs.values(), *([] if self.hosts is None else [self.hosts])]
        bounds = [span.at_most for span in spans]
        known = [bound for bound in bounds if bound is not None]
        return CostSpan(
            exact_sum(span.least for span in spans),
            exact_sum(span.about for span in spans),
            exact_sum(known) if len(known) == len(bounds) else None,
        )

    def fits(self, budget: Budget) -> str:
        """Return whether the run stays within the budget.

        `yes`: even the upper bound; `expected`: the estimate; `perhaps`: only the fewest repeats; `no`: not even those.
        """
        found, amount = self.total, budget.amount
        if found.at_most is not None and max(found.about, found.at_most) <= amount:
            return "yes"
        if found.about <= amount:
            return "expected"
        return "perhaps" if found.least <= amount else "no"


def plan_cost(study: Study, estimate: StudyEstimate, prices: FrozenPrices) -> PlanCost:
    """Return the cost of a run from the estimate of its time; a schedule takes at least its stated time."""
    over = 0.0 if study.schedule is None else study.schedule.over / 1e9
    hourly = {name: hour_of_running(prices, name) for name in prices.designs}
    bound = estimate.max_seconds

    def span(hour: Decimal) -> CostSpan:
        return CostSpan(
            cost_of_time(max(over, estimate.min_seconds), hour),
            cost_of_time(max(over, estimate.seconds), hour),
            None if bound is None else cost_of_time(max(over, bound), hour),
        )

    hosts = span(hour_of_hosts(prices)) if prices.hosts.lines else None
    return PlanCost(prices, hourly, {name: span(hour) for name, hour in hourly.items()}, hosts)


def cost_document(cost: PlanCost, budget: Budget | None) -> dict[str, Any]:
    """Return the cost for programs; amounts are text, so that no digit is lost."""
    prices = cost.prices
    document: dict[str, Any] = {
        "currency": prices.book.currency,
        "book": prices.book.book,
        "book_date": prices.book.date.isoformat(),
        "term": prices.term,
        "designs": {
            name: {
                "design": prices.designs[name].chosen.label,
                "hour": _digits(cost.hourly[name]),
                **cost.designs[name].document(),
            }
            for name in cost.designs
        },
        **({} if cost.hosts is None else {"hosts": {"hour": _digits(hour_of_hosts(prices)), **cost.hosts.document()}}),
        "total": cost.total.document(),
        "not_included": list(EXCLUDED_COSTS),
    }
    if budget is not None:
        document["budget"] = {"amount": str(budget.amount), "fits": cost.fits(budget)}
    return document


def _digits(amount: Decimal) -> str:
    return str(round_half_up(amount, DIGITS))


def print_cost(cost: PlanCost, budget: Budget | None) -> None:
    """Print the cost as a table with totals and exclusions, and whether the budget is enough."""
    prices, currency = cost.prices, cost.prices.book.currency
    rows = [
        (name, prices.designs[name].chosen.label, format_money(cost.hourly[name]), cost.designs[name].text(currency))
        for name in cost.designs
    ]
    if cost.hosts is not None:
        words = ", ".join(f"{line.pieces:f} x {line.item}" for line in prices.hosts.lines)
        rows.append(("hosts", words, format_money(hour_of_hosts(prices)), cost.hosts.text(currency)))
    title = f"Cost, if the targets were these designs; prices: {prices.book.book}, {prices.book.date}, {prices.term}"
    print_line("")
    print_table(("target", "design", f"{currency}/hour", "this run"), rows, title=title, right=(f"{currency}/hour",))
    print_line(f"cost:  {cost.total.text(currency)}; every design is paid for from the beginning to the end")
    for line in EXCLUDED_COSTS:
        print_line(f"  not included: {line}")
    if budget is not None:
        print_line(f"budget: {_verdict(cost, budget)}")


def _verdict(cost: PlanCost, budget: Budget) -> str:
    stops = "the run stops before it is exceeded"
    words = {
        "yes": "is enough",
        "expected": f"is enough if the time is as estimated; {stops}",
        "perhaps": f"is enough only if few repeats are needed; {stops}",
        "no": f"is too little; {stops}",
    }
    return f"{budget} {words[cost.fits(budget)]}"
