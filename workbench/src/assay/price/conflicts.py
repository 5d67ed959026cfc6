"""Needs that nothing meets: which requirements exclude what, and what giving one up would allow."""

from collections.abc import Iterator, Sequence
from itertools import combinations

from assay.model.advice import Conflict, Relaxed
from assay.model.need import Need
from assay.model.price import money
from assay.price.checks import Assessed, deciding_first
from assay.price.words import counted

MOST_TOGETHER = 4
MOST_CONFLICTS = 3


def conflicts(assessed: Sequence[Assessed]) -> tuple[Conflict, ...]:
    """The smallest sets of requirements of which every variant fails at least one.

    Args:
        assessed: All variants, each of which fails something.
    """
    sets = {item.failing for item in assessed}
    every = sorted(set().union(*sets)) if sets else []
    for size in range(1, MOST_TOGETHER + 1):
        found = [chosen for chosen in combinations(every, size) if all(failing & set(chosen) for failing in sets)]
        if found:
            return tuple(
                Conflict(requirements=chosen, text=_text(chosen, assessed)) for chosen in found[:MOST_CONFLICTS]
            )
    return ()


def _text(chosen: tuple[str, ...], assessed: Sequence[Assessed]) -> str:
    """Requirement by requirement: whom it excludes of those that are left, and how close the closest comes."""
    left = list(assessed)
    words = []
    # First what excludes most, so that the last one tells what stands between the need and its answer.
    for requirement in sorted(chosen, key=lambda name: -sum(name in item.failing for item in assessed)):
        excluded = [item for item in left if requirement in item.failing]
        left = [item for item in left if requirement not in item.failing]
        whom = ", ".join(dict.fromkeys(item.variant.template for item in excluded))
        closest = min(excluded, key=lambda item: (_lack(item, requirement), item.paid))
        check = next(
            check for check in closest.checks if check.requirement == requirement and check.outcome == "failed"
        )
        words.append(
            f"{requirement} excludes {counted(len(excluded), 'variant')} of {whom} "
            f"(closest, {closest.variant.label}: {check.text})"
        )
    return "; ".join(words)


def _lack(item: Assessed, requirement: str) -> float:
    shares = [
        check.share or 0.0 for check in item.checks if check.requirement == requirement and check.outcome == "failed"
    ]
    return 1 - min(shares)


def relaxed(assessed: Sequence[Assessed], need: Need) -> Iterator[Relaxed]:
    """For each requirement that alone stands in the way of a variant: the best that giving it up would allow."""
    for requirement in sorted({name for item in assessed for name in item.failing}):
        free = [item for item in assessed if item.failing == {requirement}]
        if free:
            best = deciding_first(free, need)[0]
            check = next(
                check for check in best.checks if check.requirement == requirement and check.outcome == "failed"
            )
            price = money(best.paid / need.months, best.variant.best.cost.currency)
            text = f"without {requirement}: {best.variant.label} for {price} a month ({check.text})"
            yield Relaxed(requirement=requirement, option=best.variant.label, text=text)
