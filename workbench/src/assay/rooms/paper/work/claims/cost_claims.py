"""Whether claims that compare costs are what the runs say."""

from collections.abc import Sequence

from assay.report import numbers
from assay.rooms.paper.work.claims.claim_words import Claim
from assay.rooms.paper.work.claims.factors import stated_ratios
from assay.rooms.paper.work.claims.facts import FactIndex, StatedFigure
from assay.rooms.paper.work.claims.mentions import TARGET, Mention
from assay.rooms.paper.work.claims.quantities import Kind
from assay.rooms.paper.work.claims.reading import Reading, RemarkKind, SentenceFault


def check_cost_claim(
    reading: Reading, claim: Claim, first: Sequence[Mention], second: Sequence[Mention], facts: FactIndex
) -> SentenceFault | None:
    """Return what is wrong with a claim on costs: all common periods must agree."""
    ones, others = (_costs_of(side, facts) for side in (first, second))
    ratios = [
        (one.value / other.value, one, other)
        for one in ones
        for other in others
        if (one.period, one.name, one.run, one.source) == (other.period, other.name, other.run, other.source)
        and other.value
        and one.subjects != other.subjects
    ]
    words = reading.sentence[claim.start : claim.end]
    if not ratios:
        targets = [item for item in (*first, *second) if item.dimension == TARGET]
        if not targets:
            return None
        return SentenceFault(
            RemarkKind.UNSUPPORTED, words, "the runs have no costs of both; add `prices:` to the study, or leave it out"
        )
    example = ratios[0]
    text = f"{example[1].text} against {example[2].text} (run {example[1].run})"
    if claim.factor is not None and claim.factor.kind is Kind.MONEY:
        fits = any(claim.factor.agrees_with(abs(one.value - other.value)) for _, one, other in ratios)
        return None if fits else SentenceFault(RemarkKind.PRICE, words, f"the data have {text}")
    if claim.factor is not None and not claim.factor.is_reference:
        fits = any(wanted.agrees_with(ratio) for wanted in stated_ratios(claim, claim.factor) for ratio, _, _ in ratios)
        return (
            None
            if fits
            else SentenceFault(RemarkKind.NUMBER, words, f"the data say {numbers.ratio(example[0])}: {text}")
        )
    return _judge_direction(claim, words, [ratio for ratio, _, _ in ratios], text)


def _judge_direction(claim: Claim, words: str, ratios: list[float], text: str) -> SentenceFault | None:
    """Return a fault if no ratio of costs has the direction of a claim, or if all have one that it denies."""
    if claim.sign:
        agree = [ratio for ratio in ratios if (ratio > 1) is (claim.sign > 0) and ratio != 1]
    else:
        agree = [ratio for ratio in ratios if abs(ratio - 1) <= 0.05]
    if not claim.is_negated:
        return None if agree else SentenceFault(RemarkKind.DIRECTION, words, f"the data say otherwise: {text}")
    is_so = len(agree) == len(ratios)
    return SentenceFault(RemarkKind.DIRECTION, words, f"the data say that it is so: {text}") if is_so else None


def _costs_of(side: Sequence[Mention], facts: FactIndex) -> list[StatedFigure]:
    names = {str(value).casefold() for item in side if item.dimension == TARGET for _, value in item.pairs}
    return [figure for figure in facts.figures if figure.kind is Kind.MONEY and names & figure.subjects]
