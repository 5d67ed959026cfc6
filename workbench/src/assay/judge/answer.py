"""What a rule may answer besides a finding."""

from dataclasses import dataclass

from assay.model.result.verdict import Finding
from assay.model.units import about_number


@dataclass(frozen=True, slots=True)
class NotEvaluated:
    """A rule that could not answer: evidence was missing.

    Attributes:
        reason: What was missing.
    """

    reason: str


class NotApplicable(NotEvaluated):
    """A rule that has nothing to say of such a result: nothing is missing, `reason` says why."""

    __slots__ = ()


MEMORY_ITSELF = NotApplicable("the store is memory itself")
"""Of rules that ask whether a cache stood before the store."""

Answer = Finding | NotEvaluated | None
"""What a rule says."""


def percent(share: float) -> str:
    """A share in words: 0.123 is `12 %`, 0.0123 is `1.2 %`."""
    return f"{about_number(100 * share, 2)} %" if abs(share) < 0.0995 else f"{100 * share:.0f} %"
