"""The best designs of an answer, sized and priced anew for other needs, and priced anew with other prices."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from functools import cached_property
from pathlib import Path
from typing import Any

from assay.model.base import AssayError
from assay.model.money.advice import Advice, Option
from assay.model.money.amount import EXACT
from assay.model.money.need import Candidate, Need
from assay.model.money.price import Book
from assay.model.money.priced import Evidence
from assay.money.advice.advise import Asked, asked
from assay.money.advice.bought import BOUGHT
from assay.money.advice.candidates import Variant, try_design
from assay.money.advice.checks import Assessed, assess, order
from assay.money.advice.found import by_variant
from assay.money.advice.market import Market, Sold, market_of
from assay.money.advice.pricer import Offer, Pricer
from assay.money.advice.sizes import SHARES, SIZED
from assay.money.cost.bill import make_bill

MOST_DESIGNS = 5
"""Designs that are looked at again."""

RowOf = tuple[str, str, str]
"""Book, dimension and item of a price."""
Part = tuple[Decimal, Decimal]
"""Of a price: all that is paid of it in the need's months, and that as money of the first day."""
Answer = Mapping[str, Assessed | None]
"""Design -> its best variant; None: nothing of it meets the need."""


@dataclass(frozen=True)
class Narrowed:
    """A design of which kinds stay as they were chosen, while sizes and counts follow from the need.

    Attributes:
        candidate: As it would stand in a need.
        kept: Parameter -> the value that stays.
    """

    name: str
    candidate: Candidate
    asked: Asked
    kept: Mapping[str, Any]

    @property
    def about(self) -> str:
        """What it is, in its own words."""
        return str(self.asked.template.source.data.get("about", ""))


class Again:
    """The best designs of an answer, each narrowed to the kinds that were chosen.

    Attributes:
        need: As it was stated, but without its budget where the least cost is preferred: what it excludes is the
            dearest then, and is shown with its price.
        budget: What may be paid in a month, where `need` leaves it out; None: anything.
        designs: The best first.
        market: All prices.
    """

    def __init__(
        self,
        advice: Advice,
        books: Book | Sequence[Book],
        evidence: Iterable[Evidence] = (),
        base: Path | None = None,
    ) -> None:
        """Narrow the best designs of an answer.

        Args:
            advice: The answer.
            books: As they were given to `advise`.
            evidence: Likewise.
            base: Likewise.
        """
        free = advice.need.prefer == "cost"
        self.need = advice.need.model_copy(update={"budget": None}) if free else advice.need
        self.budget = _most(advice.need) if free else None
        self.market: Market = market_of(advice.need, (books,) if isinstance(books, Book) else books)
        self._found, _ = by_variant(evidence, base)
        self._base, self._proven = base, bool(advice.options)
        self._variants: dict[str, Sequence[Variant]] = {}
        self._parts: dict[int, Mapping[RowOf, Part]] = {}
        best: dict[str, Option] = {}
        for option in advice.options or advice.unproven:
            best.setdefault(option.design, option)
        known = {each.name: each for each in asked(self.need, self.market, base)}
        designs: list[Narrowed] = []
        seen: set[object] = set()
        for name, option in best.items():
            each = _narrowed(name, option, known[name])
            item = self._first(self._here(each), self.need.grown)
            key = name if item is None else (_sold(each).name, item.variant.key)
            # What is built alike is one thing, however the design is called.
            designs += [each] if key not in seen else []
            seen.add(key)
            if len(designs) == MOST_DESIGNS:
                break
        self.designs = tuple(designs)

    @property
    def narrowed(self) -> Need:
        """The need with these designs as its only candidates."""
        # By several books the same one may be priced.
        found: list[Candidate] = []
        for each in self.designs:
            found += [each.candidate] if each.candidate not in found else []
        return self.need.model_copy(update={"candidates": tuple(found)})

    def all(self, need: Need, but: Callable[[str], bool] | None = None) -> Answer:
        """The best variant of each design for another need.

        Args:
            need: The need.
            but: Says of a design that it is left out.
        """
        if need == self.need:
            return self.here
        return {each.name: self._one(each, need) for each in self.designs if but is None or not but(each.name)}

    @cached_property
    def here(self) -> Answer:
        """The same for the need as it is."""
        grown = self.need.grown
        return {each.name: self._first(self._here(each), grown) for each in self.designs}

    def judged(self, need: Need) -> Answer:
        """The same for a need that changes neither sizes nor prices: nothing is sized or priced anew."""
        grown = need.grown
        return {each.name: self._first(self._here(each), grown) for each in self.designs}

    def billed(self, need: Need) -> Answer:
        """The same for a need that changes no sizes: nothing is sized anew."""
        grown = need.grown
        return {each.name: self._billed(each, grown) for each in self.designs}

    def shared(self, need: Need) -> Answer:
        """The same for a need that changes which share of the data lies in a class for cold data, and no other size."""
        grown = need.grown
        return {
            each.name: self._one(each, need)
            if any(name in each.asked.template.parameters for name in SHARES)
            else self._billed(each, grown)
            for each in self.designs
        }

    def _billed(self, design: Narrowed, grown: Need) -> Assessed | None:
        pricer = Pricer(grown, _sold(design), self.market)
        priced = []
        for variant in self._here(design):
            offers = pricer.offers(make_bill(variant.design, pricer.use(variant.design)), variant.design)
            priced += [] if offers[0].unpriced else [replace(variant, offers=offers)]
        return self._first(priced, grown)

    def _one(self, design: Narrowed, need: Need) -> Assessed | None:
        """The best variant of a design for a need; None if none meets it."""
        grown = need.grown
        return self._first(self._sized(design, grown), grown)

    def repriced(self, step: Decimal, touches: Callable[[RowOf], bool], origin: bool = False) -> Answer:
        """The best variant of each design if some prices were `step` times as high.

        Args:
            step: Above 0.
            touches: Says which prices.
            origin: What leaving the place where the data are now costs is among them.
        """
        grown = self.need.grown
        return {
            each.name: self._first(
                [self._shifted(variant, step, touches, origin) for variant in self._here(each)], grown
            )
            for each in self.designs
        }

    def first(self, found: Answer, need: Need | None = None) -> str | None:
        """The design that is chosen of these."""
        items = [(name, item) for name, item in found.items() if item is not None]
        return min(items, key=lambda pair: self._rank(pair[1], need or self.need))[0] if items else None

    def affords(self, item: Assessed | None, need: Need | None = None) -> bool:
        """It is there, and within the budget."""
        months = (need or self.need).months
        return item is not None and (self.budget is None or item.paid / months <= self.budget)

    def measure(self, item: Assessed | None, need: Need | None = None) -> Decimal | None:
        """What designs are compared by: cost of a month, or that for each GB/s; None if there is none."""
        need = need or self.need
        if item is None:
            return None
        month = EXACT.divide(item.worth, Decimal(need.months))
        if need.prefer == "cost":
            return month
        rate = item.rate.value if item.rate is not None else None
        return EXACT.divide(EXACT.multiply(month, Decimal(10**9)), Decimal(repr(rate))) if rate else None

    @property
    def measured(self) -> str:
        """What `measure` is, in words: `USD a month`."""
        worth = ", discounted" if self.need.discount else ""
        per = " for each GB/s" if self.need.prefer == "cost-per-rate" else ""
        return f"{self.market.currency} a month{per}{worth}"

    def parts(self, variant: Variant) -> Mapping[RowOf, Part]:
        """What each price contributes to the cheapest offer of a variant, support and tax included."""
        return self._part(variant.best, variant)

    def _rank(self, item: Assessed, need: Need) -> tuple[bool, tuple[Decimal, float, str]]:
        return item.outcome != "met", order(item, item.worth, need)

    def _here(self, design: Narrowed) -> Sequence[Variant]:
        """Variants of the need as it is, which prices do not change."""
        if design.name not in self._variants:
            self._variants[design.name] = self._sized(design, self.need.grown)
        return self._variants[design.name]

    def _sized(self, design: Narrowed, grown: Need) -> Sequence[Variant]:
        """What is large enough."""
        try:
            tried = try_design(design.candidate, grown, self.market, _sold(design), self._base, design.name)
        except AssayError:
            # At this size none of its kinds can be built.
            return ()
        return [variant for variant in tried.variants if variant.limits.usable >= grown.capacity]

    def _first(self, variants: Sequence[Variant], need: Need) -> Assessed | None:
        """The best that meets the need, or may if nothing of the answer is proven to; the cheapest are looked at first.

        Each variant that is not looked at costs more than the one that is found.
        """
        best: Assessed | None = None
        for variant in sorted(variants, key=lambda variant: variant.best.present):
            if (
                best is not None
                and need.prefer == "cost"
                and best.outcome == "met"
                and variant.best.present > best.worth
            ):
                break
            item = assess(variant, need, self._found)
            if item.outcome == "failed" or (item.outcome == "unproven" and self._proven):
                continue
            if best is None or self._rank(item, need) < self._rank(best, need):
                best = item
        return best

    def _shifted(self, variant: Variant, step: Decimal, touches: Callable[[RowOf], bool], origin: bool) -> Variant:
        offers = []
        for offer in variant.offers:
            found = [part for row, part in self._part(offer, variant).items() if touches(row)]
            more = step - 1
            paid, present = (
                EXACT.multiply(more, sum((part[place] for part in found), Decimal(0)) + (offer.once if origin else 0))
                for place in (0, 1)
            )
            offers.append(
                replace(
                    offer,
                    paid=EXACT.add(offer.paid, paid),
                    present=EXACT.add(offer.present, present),
                    once=EXACT.multiply(offer.once, step) if origin else offer.once,
                )
            )
        return replace(variant, offers=tuple(sorted(offers, key=lambda offer: offer.present)))

    def _part(self, offer: Offer, variant: Variant) -> Mapping[RowOf, Part]:
        known = self._parts.get(id(offer))
        if known is None:
            known = self._parts[id(offer)] = self._parts_of(offer, variant)
        return known

    def _parts_of(self, offer: Offer, variant: Variant) -> Mapping[RowOf, Part]:
        need, sold = self.need, variant.sold
        found: dict[RowOf, Part] = {}
        for charge in offer.cost.charges:
            row = charge.row
            alone = offer.cost.model_copy(update={"charges": (charge,)})
            paid = EXACT.multiply(alone.owed(need.months), offer.factor)
            present = paid
            if need.discount:
                present = EXACT.multiply(alone.present(need.months, need.discount), offer.factor)
            key = (sold.origin.get(row.key, sold.name), row.dimension, row.item)
            before = found.get(key, (Decimal(0), Decimal(0)))
            found[key] = (EXACT.add(before[0], paid), EXACT.add(before[1], present))
        return found


def _sold(design: Narrowed) -> Sold:
    sold = design.asked.sold
    assert sold is not None
    return sold


def _most(need: Need) -> Decimal | None:
    """What may be paid in a month."""
    if need.budget is None:
        return None
    return need.budget.amount if need.budget.per == "month" else EXACT.divide(need.budget.amount, Decimal(need.months))


def _narrowed(name: str, option: Option, each: Asked) -> Narrowed:
    """Names stay: of instances, volumes, types, classes. What is a size, a share, a rate or a count follows."""
    parameters = each.template.parameters
    kept = {
        key: value
        for key, value in option.set.items()
        if isinstance(value, str) and key not in (*SIZED, *SHARES, *BOUGHT) and not parameters[key].scale
    }
    candidate = Candidate(design=each.candidate.design, set={**each.candidate.set, **kept})
    return Narrowed(name, candidate, each, kept)
