"""What the evidence allows to be said of a result."""

from enum import StrEnum

from assay.model.frozen import Frozen


class Verdict(StrEnum):
    """Verdicts, the worst first."""

    IMPOSSIBLE = "impossible"
    INCOMPLETE = "incomplete"
    CACHED = "cached"
    UNSUSTAINED = "unsustained"
    THROTTLED = "throttled"
    BURSTING = "bursting"
    UNSTABLE = "unstable"
    SKEWED = "skewed"
    CONTENDED = "contended"
    CLIENT_BOUND = "client-bound"
    NETWORK_BOUND = "network-bound"
    UNVERIFIED = "unverified"
    OK = "ok"


SOUND = frozenset({Verdict.OK, Verdict.UNSTABLE})
"""The number is the storage's own. An unstable one is known less well, which its interval says. An unverified one may
be: it can be compared, but whoever quotes it must say so."""

FALSE = frozenset({Verdict.CACHED, Verdict.IMPOSSIBLE})
"""The number is not the storage's speed. Such results never set a scale nor a headline."""

HELD = frozenset({Verdict.CLIENT_BOUND, Verdict.NETWORK_BOUND, Verdict.THROTTLED, Verdict.CONTENDED})
"""Something other than the storage held the rate: it is a lower bound of what the storage does."""

NO_RESULT = FALSE | {Verdict.INCOMPLETE}
"""The number is not the storage's, or not whole: no difference of such numbers says anything."""

AS_FAR_AS_SEEN = "ok, but not all checks could run"
"""What `ok` is called in words where a rule lacked evidence."""

RANK = {verdict: place for place, verdict in enumerate(Verdict)}
"""0 is the worst."""


class Unevaluated(Frozen):
    """A rule that gave no answer about one result.

    Attributes:
        rule: Name of the rule function.
        reason: Which evidence was missing, or why the rule does not apply.
        applies: False if the rule has nothing to say of such a result, so that nothing is missing.
    """

    rule: str
    reason: str
    applies: bool = True

    def __str__(self) -> str:
        return f"{self.rule}: {'' if self.applies else 'not applicable: '}{self.reason}"


class Finding(Frozen):
    """One rule's answer about one result.

    Attributes:
        rule: Name of the rule function.
        text: What was seen, with its numbers, in one sentence.
        remedy: What to do about it, in one sentence.
        numbers: The figures the rule compared, units in the names.
    """

    verdict: Verdict
    rule: str
    text: str
    remedy: str
    numbers: dict[str, float]
