"""Needs that no variant meets: which requirements exclude what, and what giving one up would allow."""

from collections.abc import Callable, Iterator, Sequence
from itertools import combinations

from assay.money.cost.limits import METRICS
from assay.rooms.advice.model.advice import Conflict, RelaxedRequirement, RequirementCheck
from assay.rooms.advice.model.need import Need
from assay.rooms.advice.work.checks import Assessment, sorted_best_first
from assay.rooms.advice.work.texts import count_text

MAX_TOGETHER = 4
MAX_CONFLICTS = 3
MAX_LACKING = 0.5
FIXED = frozenset({"access", "capacity", "durability"})
"""Requirements that define the storage: the last ones to give up."""


def conflicts(assessed: Sequence[Assessment], need: Need) -> tuple[Conflict, ...]:
    """Return the smallest sets of requirements that together exclude all variants.

    Every variant fails, or is not known to meet, at least one requirement of a set. Sets are searched among the
    requirements that the need states, without access, capacity and durability. Only if there are none, all requirements
    are considered.

    Args:
        assessed: All variants; each fails at least one requirement.
        need: The requirements.
    """
    stated = [item for item in assessed if all(_stated(name, need) for name in item.failed_requirements)]
    fitting = [item for item in stated if not item.failed_requirements & FIXED]
    for items, free in ((fitting, True), (stated, False), (list(assessed), False)):
        sets = {frozenset(name for name in item.open_requirements if _stated(name, need) or not free) for item in items}
        requirements = sorted(set().union(*sets) - (FIXED if free else set())) if sets else []
        for size in range(1, MAX_TOGETHER + 1):
            matching = [
                chosen for chosen in combinations(requirements, size) if all(names & set(chosen) for names in sets)
            ]
            if matching:
                texts = [(chosen, _text(chosen, items)) for chosen in matching[:MAX_CONFLICTS]]
                return tuple(
                    Conflict(requirements=chosen, text=_with_scope(text, items, assessed) if free else text)
                    for chosen, text in texts
                )
    return ()


def _stated(name: str, need: Need) -> bool:
    """Return whether the need states the requirement itself, and not by default."""
    return all(part in need.model_fields_set for part in name.split(" + "))


def _with_scope(text: str, items: Sequence[Assessment], assessed: Sequence[Assessment]) -> str:
    if len(items) == len(assessed):
        return text
    return f"of the {count_text(len(items), 'variant')} with the required access, capacity and durability, {text}"


def _text(chosen: tuple[str, ...], assessed: Sequence[Assessment]) -> str:
    """Return which designs each requirement excludes, one after the other, and how close the closest variant comes."""
    left = list(assessed)
    parts = []
    # The requirement that excludes most comes first: the last one then shows what separates the need from a solution.
    for requirement in sorted(chosen, key=lambda name: -sum(name in item.open_requirements for item in assessed)):
        excluded = [item for item in left if requirement in item.open_requirements]
        left = [item for item in left if requirement not in item.open_requirements]
        if not excluded:
            continue
        designs = ", ".join(dict.fromkeys(item.variant.template for item in excluded))
        closest = min(excluded, key=lambda item: (_missing_share(item, requirement), item.total_cost))
        check = _check(closest, requirement)
        parts.append(
            f"{requirement} excludes {count_text(len(excluded), 'variant')} of {designs} "
            f"(closest, {closest.variant.label}: {check.text})"
        )
    return "; ".join(parts)


def _check(item: Assessment, requirement: str) -> RequirementCheck:
    """Return the check of a requirement that is not met; a failed one before an unproven one."""
    checks = [check for check in item.checks if check.requirement == requirement and check.outcome != "met"]
    return min(checks, key=lambda check: check.outcome)


def _missing_share(item: Assessment, requirement: str) -> float:
    shares = [
        check.share or 0.0 for check in item.checks if check.requirement == requirement and check.outcome != "met"
    ]
    return 1 - min(shares)


def _is_near(item: Assessment, requirement: str) -> bool:
    """Return whether a variant is close enough to mention: half of the required capacity or less is no alternative."""
    return requirement != "capacity" or _missing_share(item, requirement) < MAX_LACKING


def relaxations(
    assessed: Sequence[Assessment], need: Need, again: Callable[[Need, set[str]], Sequence[Assessment]]
) -> Iterator[RelaxedRequirement]:
    """Yield, for each requirement that alone excludes a variant, the best variant that giving it up would allow.

    A requirement that is not known to be met counts as excluding. Rates determine sizes and what is paid by use, so
    that without one of them the designs are computed again.

    Args:
        assessed: All variants.
        need: The requirements.
        again: Assesses the variants of the named designs for another need.
    """
    for requirement in sorted({name for item in assessed for name in item.failed_requirements}):
        available = [
            item for item in assessed if item.open_requirements == {requirement} and _is_near(item, requirement)
        ]
        if available and requirement != "access" and _stated(requirement, need):
            check = _check(sorted_best_first(available)[0], requirement)
            rates = [name for name in requirement.split(" + ") if name in METRICS]
            if rates:
                names = {item.variant.template for item in available}
                without = again(need.model_copy(update=dict.fromkeys(rates)), names)
                available = [item for item in without if not item.open_requirements] or available
            best = sorted_best_first(available)[0]
            text = f"without {requirement}: {best.variant.label} for {best.month_text} a month"
            yield RelaxedRequirement(
                requirement=requirement, option=best.variant.label, text=text, shortfall=check.text
            )
