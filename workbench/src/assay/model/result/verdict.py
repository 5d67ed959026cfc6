"""Verdicts: what the evidence allows us to conclude from a result."""

from enum import StrEnum
from typing import NamedTuple

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


class Meaning(NamedTuple):
    """What a verdict means.

    Attributes:
        sentence: The sentence used by terminal, report, exports and docs/reference/verdicts.md.
        use: How the number may be used.
    """

    sentence: str
    use: str


_BOUND = 'as "at least"'
MEANINGS: dict[Verdict, Meaning] = {
    Verdict.IMPOSSIBLE: Meaning("The rate exceeds what this host or the stated hardware can do.", "no"),
    Verdict.INCOMPLETE: Meaning("Operations failed, or a repeat is missing.", "no"),
    Verdict.CACHED: Meaning(
        "Memory served the data: a cache answered reads, or still held what was written.", "for the cache only"
    ),
    Verdict.UNSUSTAINED: Meaning(
        "The rate that the study sets was not reached, or the rate never became steady.", "read the finding"
    ),
    Verdict.THROTTLED: Meaning(
        "A limit above the device, such as a cap or quota, bounded the rate while the device was idle.", _BOUND
    ),
    Verdict.BURSTING: Meaning(
        "The rate was high at first and then fell: the first rate does not last.", "the later rate"
    ),
    Verdict.UNSTABLE: Meaning("The repeats differ widely.", "with its interval"),
    Verdict.SKEWED: Meaning(
        "Threads did not run at the same time, or the clock was changed during the run.", "read the finding"
    ),
    Verdict.CONTENDED: Meaning("Something else used the device.", _BOUND),
    Verdict.CLIENT_BOUND: Meaning("The client was the limit, not the storage.", _BOUND),
    Verdict.NETWORK_BOUND: Meaning("The network was the limit, not the storage.", _BOUND),
    Verdict.UNVERIFIED: Meaning(
        "This host cannot find out whether the storage or a cache above it answered.", "with this remark"
    ),
    Verdict.OK: Meaning("It passed every check.", "yes"),
}

OWN_SPEED = frozenset({Verdict.OK, Verdict.UNSTABLE})
"""The number is the storage's own. An unstable one is known less accurately, as its interval shows. An unverified one
may be the storage's own: it can be compared, but must be quoted with that remark."""

NOT_STORAGE = frozenset({Verdict.CACHED, Verdict.IMPOSSIBLE})
"""The number is not the storage's speed. Such results never determine a scale or a headline."""

LOWER_BOUND = frozenset({Verdict.CLIENT_BOUND, Verdict.NETWORK_BOUND, Verdict.THROTTLED, Verdict.CONTENDED})
"""Something other than the storage limited the rate: it is a lower bound for the storage."""

NO_RESULT = NOT_STORAGE | {Verdict.INCOMPLETE}
"""The number is not the storage's, or covers only part of the repeats: differences of such numbers mean nothing."""

PARTLY_CHECKED = "ok, but not all checks could run"
"""The words for `ok` if a rule lacked evidence."""
PARTLY_CHECKED_MEANING = Meaning(
    "It passed every check that could run; some lacked evidence.", "yes; see which checks could not run"
)
"""The meaning of `ok` if a rule lacked evidence; tables have `ok *`."""

RANK = {verdict: place for place, verdict in enumerate(Verdict)}
"""Position of each verdict; 0 is the worst."""


class Unevaluated(Frozen):
    """A rule that gave no answer for one result.

    Attributes:
        rule: Name of the rule function.
        reason: The missing evidence, or why the rule does not apply.
        applies: False if the rule does not apply to such results, so that no evidence is missing.
    """

    rule: str
    reason: str
    applies: bool = True

    def __str__(self) -> str:
        return f"{self.rule}: {'' if self.applies else 'not applicable: '}{self.reason}"


class Finding(Frozen):
    """The answer of one rule for one result.

    Attributes:
        rule: Name of the rule function.
        text: What was observed, with its numbers, in one sentence.
        remedy: What to do about it, in one sentence.
        numbers: The numbers that the rule compared, with units in their names.
    """

    verdict: Verdict
    rule: str
    text: str
    remedy: str
    numbers: dict[str, float]
