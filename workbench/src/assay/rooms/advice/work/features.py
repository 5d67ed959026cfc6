"""Rules of what a design must offer besides capacity and rates: protocol, write-once storage, and who runs it."""

from collections.abc import Callable, Iterator

from assay.rooms.advice.model.advice import RequirementCheck
from assay.rooms.advice.work.facts import RuleInput, RuleResult
from assay.rooms.advice.work.features_offered import has_protocol, is_managed, offered


def protocol(facts: RuleInput) -> Iterator[RuleResult]:
    """Check that clients can use the protocol that the need states.

    Source: the documentation of each family.
    """
    wanted = facts.need.protocol
    if wanted is None:
        return
    found = offered(facts.design)
    names = " and ".join(found.protocols) or "a client of its own"
    yield _check("protocol", has_protocol(wanted, facts.design), f"it has {names}; `{wanted}` is needed", found.source)


def worm(facts: RuleInput) -> Iterator[RuleResult]:
    """Check that data can be kept so that it cannot be changed or deleted before a date.

    Source: the documentation of each family.
    """
    if facts.need.worm:
        found = offered(facts.design)
        text = f"write once by {found.worm}" if found.worm else "nothing is known that keeps data from being deleted"
        yield _check("worm", bool(found.worm), f"{text}; `worm` is needed", found.source)


def managed(facts: RuleInput) -> Iterator[RuleResult]:
    """Check that a provider runs the storage if the need says so; the instance that uses volumes is the user's own.

    Source: the design.
    """
    if facts.need.managed:
        met = is_managed(facts.design)
        text = "a provider runs it" if met else "its user runs it"
        yield _check("managed", met, f"{text}; a managed service is needed", f"design {facts.variant.template}")


def _check(requirement: str, is_met: bool, text: str, source: str) -> RequirementCheck:
    return RequirementCheck(
        requirement=requirement, outcome="met" if is_met else "failed", text=text, source=source, share=float(is_met)
    )


FEATURE_RULES: tuple[Callable[[RuleInput], Iterator[RuleResult]], ...] = (protocol, worm, managed)
