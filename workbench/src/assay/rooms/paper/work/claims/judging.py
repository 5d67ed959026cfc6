"""Whether compared results agree with what a claim says of them."""

import re
from collections.abc import Sequence

from assay.report import numbers
from assay.report.numbers import median
from assay.rooms.paper.work.claims.claim_words import Claim
from assay.rooms.paper.work.claims.factors import factor_agrees, stated_ratios
from assay.rooms.paper.work.claims.pairs import (
    PairOutcome,
    Winner,
)
from assay.rooms.paper.work.claims.quantities import Kind, Quantity
from assay.rooms.paper.work.claims.reading import RemarkKind, SentenceFault

_UNDECIDED = re.compile(
    r"\b(?:not decided|undecided|cannot be (?:separated|told apart|distinguished)|"
    r"not (?:statistically )?significant(?:ly)?|"
    r"no (?:statistically )?significant|do(?:es)? not decide|overlap\w*|inconclusive|remains? open|no evidence)\b",
    re.IGNORECASE,
)

_SOME = re.compile(
    r"\b(?:some(?:times)?|in (?:some|most|many|a few|all but) (?:\w+ )?(?:cases|points|sizes)|mostly|usually|typically|"
    r"often|(?:one|two|three|four|five|six|seven|eight|nine|[0-9]+) of (?:the|all)|(?:nearly|almost) (?:every|"
    r"all|each)|on average|average|mean|median|generally|most|nearly always|"
    r"almost always|at best|up to|occasionally|"
    r"not always|not everywhere|overall|at one|in one|at least one)\b",
    re.IGNORECASE,
)

_PROVEN = re.compile(
    r"\b(?:significant(?:ly)?|proven|proves?|demonstrabl[ey]|undoubtedly|certain(?:ly)?|beyond doubt)\b", re.I
)
_FEW = re.compile(r"\b(?:some|sometimes|up to|at best|one|occasionally|not always|a few)\b", re.IGNORECASE)
"""Words that a single point satisfies."""
_EVERY = re.compile(r"\b(?:every|each|all|always|any|everywhere|without exception|throughout)\b", re.IGNORECASE)

_GROUP_SHARE = 0.6
"""The same where both sides are groups of targets."""

_AGREE_SHARE = 0.9
"""Share of decided pairs that must agree with a claim that is made without a limit."""


def judged(claim: Claim, words: str, outcomes: list[PairOutcome], sentence: str) -> SentenceFault | None:
    """Return what is wrong with a claim.

    Args:
        claim: The claim.
        words: Its words in the sentence.
        outcomes: What compares its two sides; at least one.
        sentence: All words of the sentence, which may limit it.
    """
    if claim.factor is not None:
        return _judge_factor(claim, words, outcomes)
    if _UNDECIDED.search(sentence):
        return _judge_undecided(words, outcomes)
    if claim.sign == 0:
        return _judge_equal(claim, words, outcomes)
    for_it = Winner.FIRST if claim.sign > 0 else Winner.SECOND
    return _judge_direction(claim, words, outcomes, for_it, sentence)


def _judge_direction(
    claim: Claim, words: str, outcomes: list[PairOutcome], for_it: Winner, sentence: str
) -> SentenceFault | None:
    agree = [one for one in outcomes if one.winner is for_it or (claim.is_slight and _leans(one, for_it))]
    against = [one for one in outcomes if one not in agree and one.winner is not Winner.OPEN]
    decided = len(agree) + len(against)
    if claim.is_negated:
        is_so = bool(agree) and not against and len(agree) >= _AGREE_SHARE * len(outcomes)
        text = f"the data say that it is so: {_examples(agree, len(outcomes))}" if is_so else ""
        return SentenceFault(RemarkKind.DIRECTION, words, text) if is_so else None
    if not decided:
        text = f"{_examples(outcomes, len(outcomes))}; say that it is undecided, or measure more repeats"
        return SentenceFault(RemarkKind.UNDECIDED, words, text)
    if not agree:
        return SentenceFault(
            RemarkKind.DIRECTION, words, f"the data say otherwise: {_examples(against, len(outcomes))}"
        )
    if _PROVEN.search(sentence) and not any(one.is_decided for one in agree):
        text = f"{_examples(agree, len(outcomes))}; each was measured once, or too seldom, so that nothing is decided"
        return SentenceFault(RemarkKind.UNDECIDED, words, text)
    if _SOME.search(sentence):
        is_so = _FEW.search(sentence) is not None or 2 * len(agree) >= decided
    elif len(agree) < len(outcomes) / 2 and not against:
        rest = [one for one in outcomes if one.winner is not for_it]
        text = (
            f"it is so at {len(agree)} of {len(outcomes)} points only: {_examples(rest, len(rest))}; name these points"
        )
        return SentenceFault(RemarkKind.UNDECIDED, words, text)
    else:
        share = 1.0 if _EVERY.search(sentence) else _GROUP_SHARE if claim.is_of_groups else _AGREE_SHARE
        is_so = len(agree) >= share * decided
    if is_so:
        return None
    kind = RemarkKind.DIRECTION if len(agree) <= (1 - _AGREE_SHARE) * decided else RemarkKind.UNDECIDED
    text = (
        f"it is so at {len(agree)} of {decided} decided points, but not at others: {_examples(against, len(against))}"
    )
    return SentenceFault(kind, words, f"{text}; name the points at which it holds")


def _leans(one: PairOutcome, for_it: Winner) -> bool:
    """Return whether two equal numbers differ in the direction of a claim at least."""
    return one.winner is Winner.EQUAL and one.ratio != 1 and (one.ratio > 1) is (for_it is Winner.FIRST)


def _judge_equal(claim: Claim, words: str, outcomes: list[PairOutcome]) -> SentenceFault | None:
    differ = [one for one in outcomes if one.winner in (Winner.FIRST, Winner.SECOND)]
    if claim.is_negated:
        equal = [one for one in outcomes if one.winner is Winner.EQUAL]
        if equal and not differ:
            return SentenceFault(
                RemarkKind.DIRECTION, words, f"the data say otherwise: {_examples(equal, len(outcomes))}"
            )
        return None
    clear = [one for one in differ if abs(one.ratio - 1) > (0.1 if one.is_decided else 0.12)]
    if len(clear) > 0.2 * len(outcomes):
        return SentenceFault(RemarkKind.DIRECTION, words, f"the data say otherwise: {_examples(clear, len(outcomes))}")
    wide = [one for one in outcomes if one.winner is Winner.OPEN and abs(one.ratio - 1) > 0.1]
    if len(wide) > len(outcomes) / 2:
        return SentenceFault(
            RemarkKind.UNDECIDED,
            words,
            f"{_examples(wide, len(outcomes))}; that no difference was found does not show that there is none",
        )
    return None


def _judge_undecided(words: str, outcomes: list[PairOutcome]) -> SentenceFault | None:
    decided = [one for one in outcomes if one.winner in (Winner.FIRST, Winner.SECOND) and one.is_decided]
    if len(decided) > _AGREE_SHARE * len(outcomes):
        return SentenceFault(RemarkKind.DIRECTION, words, f"the data decide it: {_examples(decided, len(outcomes))}")
    return None


def _judge_factor(claim: Claim, words: str, outcomes: list[PairOutcome]) -> SentenceFault | None:
    assert claim.factor is not None
    for_it = Winner.SECOND if claim.sign < 0 else Winner.FIRST
    fits = claim.factor.is_reference or _states_factor(claim, claim.factor, outcomes)
    if fits and not all(one.winner is Winner.OPEN for one in outcomes):
        return None
    if claim.sign and not any(one.winner is for_it for one in outcomes):
        contrary = [one for one in outcomes if one.winner not in (for_it, Winner.OPEN)]
        kind = RemarkKind.DIRECTION if contrary else RemarkKind.UNDECIDED
        return SentenceFault(kind, words, f"{_examples(contrary or outcomes, len(outcomes))}{_mend_ratio(outcomes)}")
    if fits:
        return None
    if claim.factor.kind not in (Kind.RATIO, Kind.PERCENT):
        text = f"{_differences_text(outcomes, claim.factor)}{_mend_ratio(outcomes)}"
        return SentenceFault(RemarkKind.NUMBER, words, text)
    return SentenceFault(RemarkKind.NUMBER, words, f"{_ratios_text(outcomes)}{_mend_ratio(outcomes)}")


def _states_factor(claim: Claim, factor: Quantity, outcomes: list[PairOutcome]) -> bool:
    """Return whether a factor, share or difference is that of the pairs, in one way to read it."""
    if factor.kind not in (Kind.RATIO, Kind.PERCENT):
        return any(factor.agrees_with(one.difference) for one in outcomes)
    return any(factor_agrees(wanted, outcomes) for wanted in stated_ratios(claim, factor))


def _differences_text(outcomes: list[PairOutcome], wanted: Quantity) -> str:
    near = min(outcomes, key=lambda one: abs(one.difference - wanted.value))
    return f"the difference is {numbers.significant(near.difference / wanted.scale)} {wanted.unit}: {near.text()}"


def _ratios_text(outcomes: list[PairOutcome]) -> str:
    if len(outcomes) == 1:
        return f"the data say {outcomes[0].text()}"
    ratios = sorted(one.ratio for one in outcomes)
    low, high = numbers.ratio(ratios[0]), numbers.ratio(ratios[-1])
    return f"the data say {low} to {high} at {len(ratios)} points, typically {numbers.ratio(median(ratios))}"


def _mend_ratio(outcomes: list[PairOutcome]) -> str:
    if len(outcomes) != 1:
        return ""
    first, second = (
        cell.reference(outcomes[0].first.run != outcomes[0].second.run)[3:-3]
        for cell in (outcomes[0].first, outcomes[0].second)
    )
    return f"; write {{{{ ratio({first}, {second}) }}}}"


def _examples(outcomes: Sequence[PairOutcome], total: int) -> str:
    text = outcomes[0].text()
    return text if total == 1 else f"{len(outcomes)} of {total} points, such as {text}"
