"""Needs that nothing meets: which requirements exclude what, and what giving one up would allow."""

from collections.abc import Iterator, Sequence
from itertools import combinations

from assay.model.money.advice import Check, Conflict, Relaxed
from assay.model.money.amount import money
from assay.model.money.need import Need
from assay.money.advice.checks import Assessed, deciding_first
from assay.money.advice.words import counted

MOST_TOGETHER = 4
MOST_CONFLICTS = 3
MOST_LACKING = 0.5
FIXED = frozenset({"access", "capacity", "durability"})
"""What a storage is for: the last that one would give up."""


def conflicts(assessed: Sequence[Assessed], need: Need) -> tuple[Conflict, ...]:
    """The smallest sets of requirements of which every variant fails at least one, or is not known to meet it.

    Access, capacity and durability stay as they are, and so does what the need leaves to its defaults: among what is
    left the sets are looked for. Only if nothing is left, among those themselves.

    Args:
        assessed: All variants, each of which fails something.
        need: What is asked for.
    """
    stated = [item for item in assessed if all(_stated(name, need) for name in item.failing)]
    fitting = [item for item in stated if not item.failing & FIXED]
    for items, free in ((fitting, True), (stated, False), (list(assessed), False)):
        sets = {frozenset(name for name in item.open if _stated(name, need) or not free) for item in items}
        every = sorted(set().union(*sets) - (FIXED if free else set())) if sets else []
        for size in range(1, MOST_TOGETHER + 1):
            found = [chosen for chosen in combinations(every, size) if all(names & set(chosen) for names in sets)]
            if found:
                words = [(chosen, _text(chosen, items)) for chosen in found[:MOST_CONFLICTS]]
                return tuple(
                    Conflict(requirements=chosen, text=_given(text, items, assessed) if free else text)
                    for chosen, text in words
                )
    return ()


def _stated(name: str, need: Need) -> bool:
    """The need says it; `profile.cold` and the like only count if they are written."""
    return all(part in need.model_fields_set for part in name.split(" + "))


def _given(text: str, items: Sequence[Assessed], assessed: Sequence[Assessed]) -> str:
    if len(items) == len(assessed):
        return text
    return f"of the {counted(len(items), 'variant')} with the access, capacity and durability asked for, {text}"


def _text(chosen: tuple[str, ...], assessed: Sequence[Assessed]) -> str:
    """Requirement by requirement: whom it excludes of those that are left, and how close the closest comes."""
    left = list(assessed)
    words = []
    # First what excludes most, so that the last one tells what stands between the need and its answer.
    for requirement in sorted(chosen, key=lambda name: -sum(name in item.open for item in assessed)):
        excluded = [item for item in left if requirement in item.open]
        left = [item for item in left if requirement not in item.open]
        if not excluded:
            continue
        whom = ", ".join(dict.fromkeys(item.variant.template for item in excluded))
        closest = min(excluded, key=lambda item: (_lack(item, requirement), item.paid))
        check = _check(closest, requirement)
        words.append(
            f"{requirement} excludes {counted(len(excluded), 'variant')} of {whom} "
            f"(closest, {closest.variant.label}: {check.text})"
        )
    return "; ".join(words)


def _check(item: Assessed, requirement: str) -> Check:
    """What is said of a requirement that is not met; a failed one before an unproven one."""
    checks = [check for check in item.checks if check.requirement == requirement and check.outcome != "met"]
    return min(checks, key=lambda check: check.outcome)


def _lack(item: Assessed, requirement: str) -> float:
    shares = [
        check.share or 0.0 for check in item.checks if check.requirement == requirement and check.outcome != "met"
    ]
    return 1 - min(shares)


def _near(item: Assessed, requirement: str) -> bool:
    """Half of the capacity that is needed, or less, is not what anybody would take instead."""
    return requirement != "capacity" or _lack(item, requirement) < MOST_LACKING


def relaxed(assessed: Sequence[Assessed], need: Need) -> Iterator[Relaxed]:
    """For each requirement that alone stands in the way of a variant: the best that giving it up would allow.

    What is not known to be met stands in the way, too.
    """
    for requirement in sorted({name for item in assessed for name in item.failing}):
        free = [item for item in assessed if item.open == {requirement} and _near(item, requirement)]
        if free and requirement != "access" and _stated(requirement, need):
            best = deciding_first(free, need)[0]
            check = _check(best, requirement)
            price = money(best.paid / need.months, best.variant.best.cost.currency)
            text = f"without {requirement}: {best.variant.label} for {price} a month"
            yield Relaxed(requirement=requirement, option=best.variant.label, text=text, lacks=check.text)
