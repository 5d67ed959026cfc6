"""The best designs of an answer, computed again for other needs and other prices."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from functools import cached_property
from pathlib import Path
from typing import Any

from assay.model.base import AssayError
from assay.model.money.amount import EXACT
from assay.model.money.price import PriceBook
from assay.model.money.priced_designs import DesignEvidence
from assay.money.cost.sizing import SIZE_PARAMETERS
from assay.rooms.advice.model.advice import Advice, AdviceOption
from assay.rooms.advice.model.need import CandidateDesign, Need
from assay.rooms.advice.work.advise import ConsideredDesign, considered_designs
from assay.rooms.advice.work.candidates import Variant, build_variants
from assay.rooms.advice.work.checks import Assessment, Rank, assess
from assay.rooms.advice.work.evidence_index import index_evidence
from assay.rooms.advice.work.grid import COLD_SHARE_PARAMETERS
from assay.rooms.advice.work.market import Market, ProviderPrices, market_of
from assay.rooms.advice.work.pricer import Pricer, TermOffer
from assay.rooms.advice.work.provisioned import PROVISIONED

MAX_DESIGNS = 5
"""Most designs that are computed again."""

BookRow = tuple[str, str, str]
"""Book, dimension and item of a price."""
PricePart = tuple[Decimal, Decimal]
"""Cost of one price in the need's months: total, and present value."""
Answer = Mapping[str, Assessment | None]
"""Design -> its best variant; None: no variant meets the need."""


@dataclass(frozen=True)
class FixedDesign:
    """A design with fixed kinds, such as instance and volume type; sizes and counts are computed from the need.

    Attributes:
        candidate: The design as a need states it, with its fixed values.
        fixed_values: Parameter -> its fixed value.
    """

    name: str
    candidate: CandidateDesign
    considered: ConsideredDesign
    fixed_values: Mapping[str, Any]

    @property
    def about(self) -> str:
        """Description of the design."""
        return str(self.considered.template.source.data.get("about", ""))


class Reassessment:
    """The best designs of an answer, each with its chosen kinds fixed.

    Attributes:
        need: The need of the answer. If the lowest cost is preferred, without its budget: what the budget excludes is
            the most expensive then, and is shown with its price.
        budget: Budget of a month, where `need` leaves it out; None: none.
        designs: The best first.
        market: All prices.
    """

    def __init__(
        self,
        advice: Advice,
        books: PriceBook | Sequence[PriceBook],
        evidence: Iterable[DesignEvidence] = (),
        base: Path | None = None,
    ) -> None:
        """Take the best designs from an answer.

        Args:
            advice: The answer.
            books: As passed to `advise`.
            evidence: As passed to `advise`.
            base: As passed to `advise`.
        """
        by_cost = advice.need.prefer == "cost"
        self.need = advice.need.model_copy(update={"budget": None}) if by_cost else advice.need
        self.budget = _monthly_budget(advice.need) if by_cost else None
        self.market: Market = market_of(advice.need, (books,) if isinstance(books, PriceBook) else books)
        self._found, _ = index_evidence(evidence, base)
        self._base, self._proven = base, bool(advice.options)
        self._variants: dict[str, Sequence[Variant]] = {}
        self._parts: dict[int, Mapping[BookRow, PricePart]] = {}
        best: dict[str, AdviceOption] = {}
        for option in advice.options or advice.unproven:
            best.setdefault(option.design, option)
        considered = {each.name: each for each in considered_designs(self.need, self.market, base)}
        designs: list[FixedDesign] = []
        keys: set[object] = set()
        for name, option in best.items():
            each = _fix_kinds(name, option, considered[name])
            item = self._best_of(self._base_variants(each), self.need.after_growth)
            key = name if item is None else (_sold(each).name, item.variant.key)
            # Two designs that build the same thing count once.
            designs += [each] if key not in keys else []
            keys.add(key)
            if len(designs) == MAX_DESIGNS:
                break
        self.designs = tuple(designs)

    @property
    def fixed_need(self) -> Need:
        """The need with these designs as its only candidates."""
        # One candidate may be priced by several books.
        candidates: list[CandidateDesign] = []
        for each in self.designs:
            candidates += [each.candidate] if each.candidate not in candidates else []
        return self.need.model_copy(update={"candidates": tuple(candidates)})

    def resized(self, need: Need, is_left_out: Callable[[str], bool] | None = None) -> Answer:
        """Return the best variant of each design for another need.

        Args:
            need: The need.
            is_left_out: Returns whether a design is left out.
        """
        if need == self.need:
            return self.base_answer
        return {
            each.name: self._best_for(each, need)
            for each in self.designs
            if is_left_out is None or not is_left_out(each.name)
        }

    @cached_property
    def base_answer(self) -> Answer:
        """The best variant of each design for the need itself."""
        grown = self.need.after_growth
        return {each.name: self._best_of(self._base_variants(each), grown) for each in self.designs}

    def rechecked(self, need: Need) -> Answer:
        """Return the answer for a need that changes neither sizes nor prices; only the checks are repeated."""
        grown = need.after_growth
        return {each.name: self._best_of(self._base_variants(each), grown) for each in self.designs}

    def rebilled(self, need: Need) -> Answer:
        """Return the answer for a need that changes no sizes; prices and checks are computed again."""
        grown = need.after_growth
        return {each.name: self._best_repriced(each, grown) for each in self.designs}

    def with_cold_shares(self, need: Need) -> Answer:
        """Return the answer for a need that changes only the share of data in a class for cold data, no other size."""
        grown = need.after_growth
        return {
            each.name: self._best_for(each, need)
            if any(name in each.considered.template.parameters for name in COLD_SHARE_PARAMETERS)
            else self._best_repriced(each, grown)
            for each in self.designs
        }

    def _best_repriced(self, design: FixedDesign, grown: Need) -> Assessment | None:
        pricer = Pricer(grown, _sold(design), self.market)
        priced = []
        for variant in self._base_variants(design):
            offers = pricer.offers(pricer.bill(variant.design), variant.design)
            priced += [] if offers[0].is_unpriced else [replace(variant, offers=offers)]
        return self._best_of(priced, grown)

    def _best_for(self, design: FixedDesign, need: Need) -> Assessment | None:
        """Return the best variant of a design for a need; None if none meets it."""
        grown = need.after_growth
        return self._best_of(self._large_enough_variants(design, grown), grown)

    def repriced(self, step: Decimal, touches: Callable[[BookRow], bool], origin: bool = False) -> Answer:
        """Return the best variant of each design if some prices are `step` times as high.

        Args:
            step: Factor above 0.
            touches: Returns whether a price changes.
            origin: Whether the cost of leaving the present cloud changes, too.
        """
        grown = self.need.after_growth
        return {
            each.name: self._best_of(
                [self._with_changed_prices(variant, step, touches, origin) for variant in self._base_variants(each)],
                grown,
            )
            for each in self.designs
        }

    def chosen_design(self, answer: Answer) -> str | None:
        """Return the name of the design that is chosen from an answer; None if no design has a variant."""
        variants = [(name, item) for name, item in answer.items() if item is not None]
        return min(variants, key=lambda pair: self._rank(pair[1]))[0] if variants else None

    def is_affordable(self, item: Assessment | None, need: Need | None = None) -> bool:
        """Return whether there is a variant, and it is within the budget."""
        months = (need or self.need).months
        return item is not None and (self.budget is None or item.total_cost / months <= self.budget)

    def measure(self, item: Assessment | None, need: Need | None = None) -> Decimal | None:
        """Return what designs are compared by: cost of a month, or that for each GB/s; None if there is none.

        Administration that is not stated counts in the cost of a month, as in the ranks of the answer.
        """
        need = need or self.need
        if item is None:
            return None
        if need.prefer == "cost":
            return EXACT.divide(item.present_value + item.variant.best.assumed_work, Decimal(need.months))
        month = EXACT.divide(item.present_value, Decimal(need.months))
        rate = item.rate.value if item.rate is not None else None
        return EXACT.divide(EXACT.multiply(month, Decimal(10**9)), Decimal(repr(rate))) if rate else None

    @property
    def measure_text(self) -> str:
        """Unit of `measure` in words: `USD a month`, `USD a month with administration`."""
        worth = ", discounted" if self.need.discount else ""
        per = " for each GB/s" if self.need.prefer == "cost-per-rate" else ""
        work = any(item is not None and item.variant.best.assumed_work for item in self.base_answer.values())
        per = " with administration" if work and not per else per
        return f"{self.market.currency} a month{per}{worth}"

    def parts(self, variant: Variant) -> Mapping[BookRow, PricePart]:
        """Return what each price contributes to the cheapest offer of a variant, support and tax included."""
        return self._cached_parts(variant.best, variant)

    def _rank(self, item: Assessment) -> tuple[int, Rank]:
        return item.preference

    def _base_variants(self, design: FixedDesign) -> Sequence[Variant]:
        """Return the variants for the need itself; prices do not change them."""
        if design.name not in self._variants:
            self._variants[design.name] = self._large_enough_variants(design, self.need.after_growth)
        return self._variants[design.name]

    def _large_enough_variants(self, design: FixedDesign, grown: Need) -> Sequence[Variant]:
        """Return the variants of a design that are large enough."""
        try:
            result = build_variants(design.candidate, grown, self.market, _sold(design), self._base, design.name)
        except AssayError:
            # None of its kinds can be built at this size.
            return ()
        return [variant for variant in result.variants if variant.limits.usable >= grown.capacity]

    def _best_of(self, variants: Sequence[Variant], need: Need) -> Assessment | None:
        """Return the best variant that meets the need, or may meet it if the answer has no proven option.

        Variants are assessed by rising cost; those that are not assessed cost more than the result.
        """
        best: Assessment | None = None
        for variant in sorted(variants, key=lambda variant: variant.best.comparison_cost):
            if (
                best is not None
                and need.prefer == "cost"
                and best.outcome == "met"
                and variant.best.comparison_cost > best.variant.best.comparison_cost
            ):
                break
            item = assess(variant, need, self._found)
            if item.outcome == "failed" or (item.outcome == "unproven" and self._proven):
                continue
            if best is None or self._rank(item) < self._rank(best):
                best = item
        return best

    def _with_changed_prices(
        self, variant: Variant, step: Decimal, touches: Callable[[BookRow], bool], origin: bool
    ) -> Variant:
        offers = []
        for offer in variant.offers:
            changed = [part for row, part in self._cached_parts(offer, variant).items() if touches(row)]
            change = step - 1
            paid, present = (
                EXACT.multiply(
                    change, sum((part[place] for part in changed), Decimal(0)) + (offer.migration_cost if origin else 0)
                )
                for place in (0, 1)
            )
            total, value, work = (
                EXACT.add(offer.total_cost, paid),
                EXACT.add(offer.present_value, present),
                offer.assumed_work,
            )
            if self.need.discount and work and total and offer.present_value:
                # Administration that is assumed is discounted as the bill is.
                work = EXACT.divide(work * value * offer.total_cost, total * offer.present_value)
            offers.append(
                replace(
                    offer,
                    total_cost=total,
                    present_value=value,
                    assumed_work=work,
                    migration_cost=EXACT.multiply(offer.migration_cost, step) if origin else offer.migration_cost,
                )
            )
        return replace(variant, offers=tuple(sorted(offers, key=lambda offer: offer.present_value)))

    def _cached_parts(self, offer: TermOffer, variant: Variant) -> Mapping[BookRow, PricePart]:
        known = self._parts.get(id(offer))
        if known is None:
            known = self._parts[id(offer)] = self._parts_of(offer, variant)
        return known

    def _parts_of(self, offer: TermOffer, variant: Variant) -> Mapping[BookRow, PricePart]:
        need, sold = self.need, variant.prices
        parts: dict[BookRow, PricePart] = {}
        for charge in offer.cost.charges:
            row = charge.row
            alone = offer.cost.model_copy(update={"charges": (charge,)})
            paid = EXACT.multiply(alone.committed_cost(need.months), offer.factor)
            present = paid
            if need.discount:
                present = EXACT.multiply(alone.present_value(need.months, need.discount), offer.factor)
            key = (sold.origin.get(row.key, sold.name), row.dimension, row.item)
            before = parts.get(key, (Decimal(0), Decimal(0)))
            parts[key] = (EXACT.add(before[0], paid), EXACT.add(before[1], present))
        return parts


def _sold(design: FixedDesign) -> ProviderPrices:
    sold = design.considered.prices
    assert sold is not None
    return sold


def _monthly_budget(need: Need) -> Decimal | None:
    """Return the budget of a month; None: there is none."""
    if need.budget is None:
        return None
    return need.budget.amount if need.budget.per == "month" else EXACT.divide(need.budget.amount, Decimal(need.months))


def _fix_kinds(name: str, option: AdviceOption, each: ConsideredDesign) -> FixedDesign:
    """Fix the values that are names: instances, volumes, types, classes. Sizes, shares, rates, counts are computed."""
    parameters = each.template.parameters
    fixed = {
        key: value
        for key, value in option.set.items()
        if isinstance(value, str)
        and key not in (*SIZE_PARAMETERS, *COLD_SHARE_PARAMETERS, *PROVISIONED)
        and not parameters[key].scale
    }
    candidate = CandidateDesign(design=each.candidate.design, set={**each.candidate.set, **fixed})
    return FixedDesign(name, candidate, each, fixed)
