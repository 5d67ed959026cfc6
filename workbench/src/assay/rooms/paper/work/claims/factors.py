"""Which ratio of two numbers a factor or share in a sentence states."""

from dataclasses import replace
from statistics import fmean

from assay.report.numbers import median
from assay.rooms.paper.work.claims.claim_words import Claim
from assay.rooms.paper.work.claims.pairs import (
    PairOutcome,
)
from assay.rooms.paper.work.claims.quantities import BoundWord, Kind, Quantity


def stated_ratios(claim: Claim, factor: Quantity) -> list[Quantity]:
    """Return what the ratio of the first side to the second would be: one quantity for each way to read the claim."""
    if factor.kind is Kind.RATIO:
        if claim.sign < 0 and factor.value > 1:
            return [_inverse(factor)]
        if claim.sign > 0 and factor.value < 1:
            return [_shifted(factor, 1.0, 1), factor]
        return [factor]
    if claim.sign == 0:
        return [factor]
    if claim.sign > 0:
        return [_shifted(factor, 1.0, 1)]
    return [_shifted(factor, 1.0, -1)]


def _shifted(item: Quantity, base: float, sign: int) -> Quantity:
    ends = sorted((base + sign * item.low, base + sign * item.high))
    until = _shifted(item.until, base, sign) if item.until else None
    low = replace(
        item, value=base + sign * item.value, low=ends[0], high=ends[1], until=until, bound=_turned(item.bound, sign)
    )
    return _ordered(low)


def _inverse(item: Quantity) -> Quantity:
    until = _inverse(item.until) if item.until else None
    low, high = 1 / item.high, 1 / max(item.low, 1e-9)
    return _ordered(replace(item, value=1 / item.value, low=low, high=high, until=until, bound=_turned(item.bound, -1)))


def _ordered(item: Quantity) -> Quantity:
    """Return a range with its lower end first."""
    if item.until is not None and item.until.value < item.value:
        return replace(item.until, until=replace(item, until=None))
    return item


def _turned(bound: BoundWord, sign: int) -> BoundWord:
    if sign > 0:
        return bound
    turned = {
        BoundWord.MIN: BoundWord.MAX,
        BoundWord.MORE: BoundWord.LESS,
        BoundWord.MAX: BoundWord.MIN,
        BoundWord.LESS: BoundWord.MORE,
    }
    return turned.get(bound, bound)


def factor_agrees(wanted: Quantity, outcomes: list[PairOutcome]) -> bool:
    """Return whether a factor is the ratio of the pairs: of one of them, their mean or median, or their bounds."""
    ratios = [one.ratio for one in outcomes]
    if wanted.until is not None:
        inside = wanted.low <= min(ratios) and max(ratios) <= wanted.until.high
        return inside or (any(map(wanted.agrees_with, ratios)) and any(map(wanted.until.agrees_with, ratios)))
    if wanted.bound is BoundWord.UP_TO:
        ends = (max(ratios), min(ratios))
        return any(wanted.low <= end <= wanted.high for end in ends)
    bounds = [one.at_least for one in outcomes if one.at_least > 1]
    if wanted.bound is BoundWord.MIN:
        return min(ratios) >= wanted.low or any(wanted.low <= bound <= wanted.high for bound in bounds)
    if wanted.bound is BoundWord.MAX:
        return max(ratios) <= wanted.high
    if wanted.bound in (BoundWord.MORE, BoundWord.LESS):
        return all(map(wanted.agrees_with, ratios)) or (len(ratios) > 4 and wanted.agrees_with(median(ratios)))
    derived = [*ratios, fmean(ratios), median(ratios), _ratio_of_means(outcomes)]
    return any(wanted.agrees_with(value) for value in derived)


def _ratio_of_means(outcomes: list[PairOutcome]) -> float:
    """Return the mean of the first sides divided by that of the second ones."""
    firsts = [cell.rate.median for cell in {one.first.number: one.first for one in outcomes}.values() if cell.rate]
    seconds = [cell.rate.median for cell in {one.second.number: one.second for one in outcomes}.values() if cell.rate]
    return fmean(firsts) / fmean(seconds) if firsts and seconds and fmean(seconds) else 0.0
