"""The assessment of one variant for one need: its expected performance, and the requirements it meets."""

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from functools import cached_property
from typing import get_args

from assay.model.base import AssayError
from assay.model.money.amount import EXACT, format_money
from assay.model.money.design import DURABILITIES
from assay.model.money.priced_designs import DesignEvidence, RecoveryMetric
from assay.model.units import about_size
from assay.money.cost.limits import METRICS, Limits, Metric
from assay.money.cost.sizing import COMPONENT_SOURCE, TOLERANCE
from assay.rooms.advice.model.advice import ExpectedFigure, Outcome, Remark, RequirementCheck
from assay.rooms.advice.model.need import CostLimit, Need
from assay.rooms.advice.work.candidates import Variant
from assay.rooms.advice.work.conditions import conditions_of
from assay.rooms.advice.work.expect import EvidenceByKey, Expectation, PlausibleLoad, SharedLoad, sides_of
from assay.rooms.advice.work.facts import RuleInput
from assay.rooms.advice.work.plausible import LIKELY, NO_RANGE, PlausibleRange
from assay.rooms.advice.work.rules import EXCLUDING_RULES, REMARK_RULES
from assay.rooms.advice.work.texts import MANY_TIMES, amount, more_text, percent, seconds
from assay.rooms.advice.work.traffic import bytes_to_hold

Rank = tuple[Decimal, Decimal, float, str]


@dataclass(frozen=True)
class Assessment:
    """A variant with its expected performance and its checks against the need.

    Attributes:
        figures: Metric -> what is expected.
        facts: Input of the rules.
        checks: The check of each requirement.
        rate: The rate that ranks variants, as `Expectation.ranking_rate`.
        outcome: The worst outcome of its checks.
        failed_requirements: Requirements that it fails.
        rule_remarks: Remarks of the rules that may exclude.
    """

    variant: Variant
    need: Need
    figures: Mapping[str, ExpectedFigure]
    facts: RuleInput
    checks: tuple[RequirementCheck, ...]
    rate: ExpectedFigure | None
    outcome: Outcome
    failed_requirements: frozenset[str]
    rule_remarks: tuple[Remark, ...] = ()

    @property
    def remarks(self) -> tuple[Remark, ...]:
        """Remarks of all rules; those that never exclude are computed on demand, because few variants are shown."""
        results = [result for rule in REMARK_RULES for result in rule(self.facts)]
        return (*self.rule_remarks, *(result for result in results if isinstance(result, Remark)))

    @property
    def conditions(self) -> tuple[str, ...]:
        """Drawbacks to accept with it; computed on demand, because only few variants are shown."""
        return conditions_of(self.facts)

    @property
    def total_cost(self) -> Decimal:
        """Total cost on its cheapest term, in the months of the need."""
        return self.variant.offers[0].total_cost

    @property
    def present_value(self) -> Decimal:
        """Present value of the total cost; without a discount it equals `total_cost`."""
        return self.variant.offers[0].present_value

    @property
    def open_requirements(self) -> frozenset[str]:
        """Requirements that it fails, or is not known to meet."""
        return frozenset(check.requirement for check in self.checks if check.outcome != "met")

    @cached_property
    def chance(self) -> float:
        """Chance that all unproven requirements are met, by what is plausible; 1 if there are none, 0 if one fails.

        Requirements of rates depend on the same layers: the least likely of them counts. Others are multiplied, as if
        they were independent.
        """
        if self.failed_requirements:
            return 0.0
        least: dict[str, float] = {}
        for check in self.checks:
            if check.outcome == "unproven":
                group = "rates" if check.requirement.split(" + ")[0] in METRICS else check.requirement
                chance = NO_RANGE if check.chance is None else check.chance
                least[group] = min(chance, least.get(group, 1.0))
        return math.prod(least.values())

    @property
    def preference(self) -> tuple[int, "Rank"]:
        """Sort key, lower for the better variant: proven, plausible, or less likely than not; then `rank`."""
        return (0 if self.outcome == "met" else 1 if self.chance >= LIKELY else 2), self.rank()

    @property
    def month_text(self) -> str:
        """Average cost of a month in the months of the need, with its currency."""
        return format_money(self.total_cost / self.need.months, self.variant.best.cost.currency)

    def rank(self, cost: Decimal | None = None) -> "Rank":
        """Return a sort key, lower for the better variant: cost, or cost for each GB/s; then the higher rate.

        Administration that is not stated counts in the cost, as `TermOffer.assumed_work`, though it is in no total. Of
        attached volumes the cheaper instance comes before the higher rate.

        Args:
            cost: Its cost; None: its present value.
        """
        cost = self.present_value if cost is None else cost
        rate = self.rate.value if self.rate is not None and self.rate.value else 0.0
        offer, label = self.variant.offers[0], self.variant.label
        if self.need.prefer == "cost":
            return cost + offer.assumed_work, offer.client_cost, -rate, label
        return (cost / Decimal(repr(rate)) if rate else Decimal("Infinity")), offer.client_cost, -rate, label

    @property
    def is_certain(self) -> bool:
        """Whether all requirements are met over the whole intervals of the evidence."""
        return all(check.is_certain for check in self.checks)

    @property
    def distance(self) -> tuple[int, float]:
        """How far it is from meeting the need: number of failed requirements, and the sum of the missing shares."""
        missing_shares = [1 - (check.share or 0.0) for check in self.checks if check.outcome == "failed"]
        return len(self.failed_requirements), sum(missing_shares)


MIN_SHARE = Decimal("0.001")
"""Lower shares are shown as an amount of money, not as a percentage."""


def _of_recovery(evidence: Sequence[DesignEvidence]) -> tuple[DesignEvidence, ...]:
    return tuple(item for item in evidence if item.metric in get_args(RecoveryMetric))


def assess(variant: Variant, need: Need, evidence: EvidenceByKey) -> Assessment:
    """Assess one variant.

    Args:
        variant: The design with its values and prices.
        need: The requirements.
        evidence: Evidence by variant.
    """
    own = evidence.get(variant.key, ())
    expected = Expectation(variant, need, own)
    client_counts = [item.clients or 0 for item in own if (item.clients or 0) <= (need.clients or 0)]
    facts = RuleInput(variant, need, expected.figures, max(client_counts, default=0), _of_recovery(own))
    rule_results = [result for rule in EXCLUDING_RULES for result in rule(facts)]
    checks = [*_plain_checks(facts), *_figure_checks(facts)]
    for pair, load in expected.loads.items():
        checks += [] if load is None else _sum_check(pair, load, facts)
        checks += (_plausible_check(pair, each) for each in expected.plausible_loads[pair])
    checks += [result for result in rule_results if isinstance(result, RequirementCheck)]
    failed = frozenset(check.requirement for check in checks if check.outcome == "failed")
    unproven = any(check.outcome == "unproven" for check in checks)
    return Assessment(
        variant=variant,
        need=need,
        figures=expected.figures,
        facts=facts,
        checks=tuple(checks),
        rate=expected.ranking_rate,
        outcome="failed" if failed else "unproven" if unproven else "met",
        failed_requirements=failed,
        rule_remarks=tuple(result for result in rule_results if isinstance(result, Remark)),
    )


def _plain_checks(facts: RuleInput) -> Iterator[RequirementCheck]:
    """Yield the checks that need no rate: access, capacity, durability, budget."""
    variant, need, design, source = facts.variant, facts.need, facts.design, f"design {facts.variant.template}"
    if need.access not in design.access:
        text = f"{need.access} access is needed; the design has {' and '.join(design.access)}"
        yield RequirementCheck(requirement="access", outcome="failed", text=text, source=source)
    yield _capacity(variant, need)
    if need.durability is not None:
        enough = DURABILITIES.index(design.durability) >= DURABILITIES.index(need.durability)
        text = f"class {design.durability}; {need.durability} is needed"
        yield RequirementCheck(
            requirement="durability", outcome="met" if enough else "failed", text=text, source=source
        )
    if need.budget is not None:
        yield _budget(variant, need)


def _capacity(variant: Variant, need: Need) -> RequirementCheck:
    usable, wanted = variant.limits.usable, bytes_to_hold(need, bool(variant.design.hardware))
    text = f"{about_size(usable)} usable ({variant.limits.how_usable}); {about_size(wanted)} are needed"
    text += f", {about_size(need.snapshots)} of it for snapshots" if wanted > need.capacity else ""
    enough = usable >= wanted
    return RequirementCheck(
        requirement="capacity",
        outcome="met" if enough else "failed",
        share=min(1.0, usable / max(1, wanted)),
        text=text,
        source="catalogue",
    )


def _budget(variant: Variant, need: Need) -> RequirementCheck:
    budget, offer = need.budget, variant.best
    assert budget is not None
    costs = offer.total_cost if budget.per == "all" else EXACT.divide(offer.total_cost, Decimal(need.months))
    per = "in all" if budget.per == "all" else "a month"
    over = f", {_excess_text(costs, budget)}" if costs > budget.amount else ""
    text = (
        f"{format_money(costs, budget.currency)} {per} of a budget of "
        f"{format_money(budget.amount, budget.currency)}{over}"
    )
    return RequirementCheck(
        requirement="budget",
        outcome="met" if costs <= budget.amount else "failed",
        share=min(1.0, float(budget.amount / costs)) if costs else 1.0,
        text=text,
        source="price book",
    )


def _excess_text(costs: Decimal, budget: CostLimit) -> str:
    """Return by how much the cost exceeds the budget: as a share, or below 0.1 % as an amount."""
    ratio = costs / budget.amount
    if ratio >= MANY_TIMES:
        return more_text(ratio)
    share = percent(ratio - 1) if ratio - 1 >= MIN_SHARE else format_money(costs - budget.amount, budget.currency)
    return f"{share} too much"


def _figure_checks(facts: RuleInput) -> Iterator[RequirementCheck]:
    need = facts.need
    for metric in METRICS:
        wanted = getattr(need, metric)
        if wanted is not None:
            yield _rate_check(facts.figures[metric], wanted, facts.variant.limits)
    if need.p99 is not None:
        for side in sides_of(need):
            yield _latency_check(facts.figures[f"{side}_p99"], side, need.p99)


def _sum_check(pair: tuple[Metric, Metric], load: SharedLoad, facts: RuleInput) -> Iterator[RequirementCheck]:
    """Yield the check of reads and writes at once, unless one of them alone fails already."""
    figures = facts.figures
    if any((figures[metric].value or 0.0) < getattr(facts.need, metric) * (1 - TOLERANCE) for metric in pair):
        return
    fits = load.used_share <= load.usable_share * (1 + TOLERANCE)
    unsure = any(figures[metric].basis == "ceiling" for metric in pair)
    yield RequirementCheck(
        requirement=" + ".join(pair),
        outcome="failed" if not fits else "unproven" if unsure else "met",
        chance=1.0 if fits and unsure else None,
        share=min(1.0, load.scale),
        text=load.text,
        source=load.source,
        rule=_rule(load),
    )


def _plausible_check(pair: tuple[Metric, Metric], load: PlausibleLoad) -> RequirementCheck:
    return RequirementCheck(
        requirement=" + ".join(pair), outcome="unproven", chance=load.chance, text=load.text, source=load.source
    )


def _rate_check(figure: ExpectedFigure, wanted: float, limits: Limits) -> RequirementCheck:
    metric, value = figure.metric, figure.value
    needed = f"{amount(metric, wanted)} are needed"
    chance = _chance_above(figure, wanted)
    if value is None:
        return RequirementCheck(
            requirement=metric,
            outcome="unproven",
            chance=chance,
            text=f"{figure.how}; {needed}",
            source=figure.source,
        )
    text = f"{amount(metric, value)} expected, {needed}; {figure.how}"
    if value < wanted * (1 - TOLERANCE):
        burst = limits.burst(_metric(metric)) if figure.basis != "measured" else None
        if burst is not None and burst[0] >= wanted:
            text += f"; it bursts to {amount(metric, burst[0])}, but only temporarily"
        return RequirementCheck(
            requirement=metric,
            outcome="failed",
            share=value / wanted,
            text=text,
            source=figure.source,
            rule=_rule(figure),
        )
    outcome: Outcome = "unproven" if figure.basis == "ceiling" else "met"
    certain = figure.low is None or figure.low >= wanted
    text += "" if certain else "; the interval reaches below what is needed"
    return RequirementCheck(
        requirement=metric,
        outcome=outcome,
        is_certain=certain,
        chance=chance if outcome == "unproven" else None,
        share=1.0,
        text=text,
        source=figure.source,
        rule=_rule(figure),
    )


def _chance_above(figure: ExpectedFigure, wanted: float) -> float | None:
    """Return the chance of a rate by its plausible range; None: nothing comparable is known."""
    return None if figure.plausible is None else PlausibleRange(*figure.plausible, "").share_above(wanted)


def _metric(name: str) -> Metric:
    return next(metric for metric in METRICS if metric == name)


def _rule(figure: ExpectedFigure | SharedLoad) -> str:
    return "component_share" if COMPONENT_SOURCE in figure.source else ""


def _latency_check(figure: ExpectedFigure, side: str, wanted: float) -> RequirementCheck:
    """Return the check of a p99 latency.

    Met if all that was measured is below the limit, failed if all is above; in between it depends on the load.
    """
    needed = f"{seconds(wanted)} for 99 of 100 {side}s are needed"
    if figure.value is None:
        text = f"latency of {side}s is {figure.how}; {needed}"
        return RequirementCheck(requirement="p99", outcome="unproven", text=text, source=figure.source)
    low, high = figure.low or figure.value, figure.high or figure.value
    text = f"of {side}s {figure.how}; {needed}"
    if low > wanted and figure.plausible is None:
        return RequirementCheck(
            requirement="p99", outcome="failed", share=wanted / low, text=text, source=figure.source
        )
    if figure.value > wanted:
        text += "; whether it is met depends on the load"
        chance = PlausibleRange(low, high, "").share_below(wanted)
        return RequirementCheck(requirement="p99", outcome="unproven", chance=chance, text=text, source=figure.source)
    return RequirementCheck(
        requirement="p99", outcome="met", is_certain=high <= wanted, share=1.0, text=text, source=figure.source
    )


def check_currency(need: Need, currency: str) -> None:
    """Refuse a budget in another currency than the prices.

    Raises:
        AssayError: They differ.
    """
    budget = need.budget
    if budget is not None and budget.currency != currency:
        hint = f"write the budget in {currency}, or add the exchange rate of {currency}: "
        hint += f"exchange: {{{currency}: 1.0, date: 2026-01-31}}"
        raise AssayError(f"the budget is in {budget.currency}, the prices in {currency}", hint)


def sorted_best_first(assessed: Iterable[Assessment]) -> list[Assessment]:
    """Return variants sorted by preference, the best first."""
    return sorted(assessed, key=lambda item: item.preference)
