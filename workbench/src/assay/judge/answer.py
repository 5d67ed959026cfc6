"""The answers that a rule may give other than a finding."""

from dataclasses import dataclass

from assay.model.result.verdict import Finding
from assay.model.units import about_number


@dataclass(frozen=True, slots=True)
class NotEvaluated:
    """A rule could not answer because evidence was missing.

    Attributes:
        reason: What was missing.
    """

    reason: str


class NotApplicable(NotEvaluated):
    """A rule does not apply to such a result: nothing is missing, and `reason` says why."""

    __slots__ = ()


MEMORY_ITSELF = NotApplicable("the storage under test is memory")
"""Answer of rules about caches in front of the storage."""

Answer = Finding | NotEvaluated | None
"""The answer of a rule; None if all is well."""


def percent(share: float) -> str:
    """Return a share as text: 0.123 is `12 %`, 0.0123 is `1.2 %`."""
    return f"{about_number(100 * share, 2)} %" if abs(share) < 0.0995 else f"{100 * share:.0f} %"
