"""The cost of the designs that the study assigns to its targets, set against the targets' measured rates."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Literal

from assay.model.base import AssayError
from assay.model.money.amount import format_money
from assay.model.money.price import PriceBook
from assay.model.money.priced_designs import DesignCeiling, FrozenPrices, PricedDesign
from assay.model.result.result import Estimate, ResultRow
from assay.model.study.names import MIXES, OBJECT_READS, OBJECT_WRITES, READS, VISIBILITY, WRITES
from assay.money.cost.cost import Cost
from assay.money.cost.limits import METRICS, Metric
from assay.money.cost.metrics import per_unit
from assay.money.cost.stored_prices import design_cost
from assay.report import numbers
from assay.report.document import Span, Strong, Text
from assay.report.pricing import metric_words, per_terabyte
from assay.report.view import RunView, is_sound

SMALL_BYTES = 16 * 1024
"""Largest record or object, in bytes, whose operations per second count as IOPS."""
_KINDS: dict[bool, frozenset[str]] = {
    True: (READS - MIXES) | (OBJECT_READS - {"object_mix"}),
    False: (WRITES - MIXES) | (OBJECT_WRITES - VISIBILITY - {"object_mix"}),
}
"""True: operations that only read; False: operations that only write."""


def price_unit_size(metric: Metric) -> float:
    """Return the rate that a unit price is for, in bytes or operations per second: 1 GB/s or 1,000 IOPS."""
    return 1e3 if metric.endswith("iops") else 1e9


def price_unit(metric: Metric) -> str:
    """Return the unit that a price is for: `GB/s` or `1,000 IOPS`."""
    return "1,000 IOPS" if metric.endswith("iops") else "GB/s"


@dataclass(frozen=True, slots=True)
class BestRate:
    """The best sound result of a target for one metric.

    Attributes:
        low, high: Ends of its 95 % interval; None without an interval; `low` is None, too, if it is not above 0.
    """

    row: ResultRow
    value: float
    low: float | None
    high: float | None


@dataclass(frozen=True, slots=True)
class UnitCost:
    """The cost of a month per unit of a measured rate, with the interval that follows from that of the rate."""

    value: Decimal
    low: Decimal | None
    high: Decimal | None

    def is_below(self, other: "UnitCost") -> bool:
        """Return whether this cost is lower for certain: the two intervals do not overlap."""
        return self.high is not None and other.low is not None and self.high < other.low

    def text(self, currency: str) -> str:
        """Return the cost with its interval: `0.31 USD (0.30 to 0.33)`."""
        words = format_money(self.value, currency)
        if self.low is None and self.high is None:
            return f"{words} (no interval)"
        high = "without bound" if self.high is None else format_money(self.high)
        return f"{words} ({'' if self.low is None else format_money(self.low)} to {high})"


@dataclass(frozen=True)
class TargetCost:
    """A target with the cost of its design and its best results.

    Attributes:
        best: The best sound result for each metric that has one.
        current_cost: The cost by another price book; None if there is no such book, or if it lacks a price.
        no_current_cost_reason: Which price the other book lacks; empty if it lacks none.
    """

    target: str
    design: PricedDesign
    cost: Cost
    best: dict[Metric, BestRate]
    current_cost: Cost | None = None
    no_current_cost_reason: str = ""

    def unit_cost(self, metric: Metric) -> UnitCost | None:
        """Return a month's cost per unit of a measured rate; None without a sound result."""
        found = self.best.get(metric)
        if found is None or found.value <= 0:
            return None
        low, high = (per_unit(self.cost.month, end, metric) for end in (found.high, found.low))
        value = per_unit(self.cost.month, found.value, metric)
        return None if value is None else UnitCost(value, low, high)

    @property
    def excludes_requests(self) -> bool:
        """Whether requests are charged but not part of the cost, which is then too low to compare with others."""
        return bool(self.design.unpriced_fields)

    @property
    def hour(self) -> Decimal | None:
        """The cost of an hour of running; None if the design is never on."""
        return self.cost.hour if self.cost.duty else None

    @property
    def per_terabyte(self) -> Decimal | None:
        """The cost of a usable terabyte (10^12 bytes) for a month; None if the usable bytes are not known."""
        return per_terabyte(self.cost, self.design.usable)

    @property
    def exceeded_metrics(self) -> list[Metric]:
        """The metrics in which the target exceeded even the burst limit of the design, so that it is no such design."""
        exceeded: list[Metric] = []
        for metric, rate in self.best.items():
            limit = self.ceiling(metric)
            if limit is not None and (rate.value if rate.low is None else rate.low) > max(
                limit.value, limit.burst or 0
            ):
                exceeded.append(metric)
        return exceeded

    def ceiling(self, metric: Metric) -> DesignCeiling | None:
        """Return the most that the design can do; None if unknown."""
        return next((item for item in self.design.ceilings if item.metric == metric), None)


def target_costs(view: RunView) -> list[TargetCost]:
    """Return the costs of the targets that have a design, in the order of the study; none without prices."""
    prices = view.run.prices
    found = []
    for name in view.targets:
        if prices is None or name not in prices.designs:
            continue
        mine = [row for row in view.analysis.rows if row.case.target == name]
        best = {metric: rate for metric in METRICS if (rate := _best(mine, metric)) is not None}
        now, reason = _today(prices, name, view.today)
        found.append(TargetCost(name, prices.designs[name], design_cost(prices, name), best, now, reason))
    return found


def _today(prices: FrozenPrices, name: str, book: PriceBook | None) -> tuple[Cost | None, str]:
    if book is None:
        return None, ""
    try:
        return design_cost(prices, name, book), ""
    except AssayError as error:
        return None, error.message


def _best(rows: Iterable[ResultRow], metric: Metric) -> BestRate | None:
    kinds = _KINDS[metric.startswith("read")]
    found: BestRate | None = None
    for row in rows:
        estimate = _estimate(row, metric)
        if estimate is None or row.operation.split(" ", 1)[0] not in kinds or not is_sound(row):
            continue
        if estimate.median > 0 and (found is None or estimate.median > found.value):
            low = estimate.low if estimate.low is not None and estimate.low > 0 else None
            found = BestRate(row, estimate.median, low, estimate.high)
    return found


def _estimate(row: ResultRow, metric: Metric) -> Estimate | None:
    if not metric.endswith("iops"):
        return row.throughput
    name = "object_size" if row.case.group == "objects" else "record_size"
    size = row.case.parameters.get_value(name)
    return row.iops if isinstance(size, int) and size <= SMALL_BYTES else None


FrontPosition = Literal["on the front", "not separable from it", "dominated"]


@dataclass(frozen=True, slots=True)
class CostPoint:
    """A target in the plane of cost and rate.

    Attributes:
        month_cost: Cost of a month.
        position: Position relative to the other targets, judged by the intervals of the rates.
        is_on_median_front: True if, by the medians alone, no other target is at least as cheap and as fast, and
            better in one.
    """

    target: str
    month_cost: Decimal
    rate: BestRate
    position: FrontPosition
    is_on_median_front: bool

    @property
    def ends(self) -> tuple[float, float]:
        """Both ends of the rate's interval; 0 and infinity for an end that is not known."""
        return _ends(self.rate)


def _ends(rate: BestRate) -> tuple[float, float]:
    return rate.low or 0.0, float("inf") if rate.high is None else rate.high


def cost_points(costs: Sequence[TargetCost], metric: Metric) -> list[CostPoint]:
    """Place each target relative to those that cost no more, judged by the intervals of the rates.

    Targets whose requests are not priced are left out, since their cost is not known.
    """
    known = [(item, item.best[metric]) for item in costs if metric in item.best and not item.excludes_requests]
    points = []
    for item, rate in known:
        others = [(other.cost.month, its) for other, its in known if other is not item]
        rivals = [(month, its) for month, its in others if month <= item.cost.month]
        if any(_ends(its)[0] > _ends(rate)[1] for _, its in rivals):
            standing: FrontPosition = "dominated"
        elif any(_ends(its)[1] >= _ends(rate)[0] for _, its in rivals):
            standing = "not separable from it"
        else:
            standing = "on the front"
        edge = not any(
            its.value >= rate.value and (month < item.cost.month or its.value > rate.value) for month, its in rivals
        )
        points.append(CostPoint(item.target, item.cost.month, rate, standing, edge))
    return points


def cheapest_text(costs: Sequence[TargetCost], metrics: Sequence[Metric] = ("read", "write")) -> Text | None:
    """Return sentences on which target costs least per measured rate; None without a sound result."""
    spans: list[Span] = []
    for metric in metrics:
        known = [(ratio, item) for item in costs if (ratio := item.unit_cost(metric)) is not None]
        found = [(ratio, item) for ratio, item in known if not item.excludes_requests]
        if known:
            spans += [" "] if spans else []
            spans += _uncounted([pair for pair in known if pair not in found], metric)
        if found:
            spans += _least(sorted(found, key=lambda pair: pair[0].value), metric)
            without_result = [item.target for item in costs if item.unit_cost(metric) is None]
            if without_result:
                spans.append(f" Without a usable result: {numbers.listing(without_result)}.")
        beyond = [item.target for _, item in known if metric in item.exceeded_metrics]
        if beyond:
            spans.append(f" But {numbers.listing(beyond)} exceeded the limits of the assigned design: see Cost.")
    return tuple(spans) or None


def _uncounted(found: list[tuple[UnitCost, TargetCost]], metric: Metric) -> list[Span]:
    """Return the sentence on targets whose requests are not priced, which are not compared."""
    if not found:
        return []
    costs = [f"{item.target} (about {format_money(ratio.value, item.cost.currency)})" for ratio, item in found]
    return [f"Not compared per {metric_words(metric)}, as requests are not priced: {numbers.listing(costs)}. "]


def _least(found: list[tuple[UnitCost, TargetCost]], metric: Metric) -> list[Span]:
    (ratio, item), *others = found
    words = ratio.text(item.cost.currency)
    if not others:
        return [Strong(item.target), f" costs {words} a month per {metric_words(metric)}."]
    inseparable = [other.target for its, other in others if not ratio.is_below(its)]
    if inseparable:
        names = numbers.listing([item.target, *inseparable])
        return [
            f"Per {metric_words(metric)} the costs of {names} are ",
            Strong("not separable"),
            f"; least: {words} a month.",
        ]
    second = others[0]
    rest = f"{second[1].target} {second[0].text(second[1].cost.currency)}"
    return [Strong(item.target), f" costs least per {metric_words(metric)}: {words} a month; the next is {rest}."]
