"""Results that something other than the storage held: how much it does at least, and what the limit was."""

from collections.abc import Sequence

from assay.model.result.result import Row
from assay.model.result.verdict import HELD, SOUND, Verdict
from assay.report import numbers

THROTTLE = "a rate limit of the storage"
GROUP = "a control group's limit"
_LIMITS: dict[Verdict, str] = {
    Verdict.NETWORK_BOUND: "the network",
    Verdict.CLIENT_BOUND: "the client's CPU",
    Verdict.CONTENDED: "other load on the device",
}
"""Verdict -> what held the rate, where nothing more is known."""
_VERBS = {
    _LIMITS[Verdict.CLIENT_BOUND]: "held back",
    THROTTLE: "held back",
    GROUP: "held back",
    _LIMITS[Verdict.CONTENDED]: "disturbed",
}
"""What is no limit that was reached -> what it did to results; others are the limit of them."""
_LINKS = {
    "link": "the link",
    "client link": "the client's link",
    "server link": "the server's link",
    "shared link": "a link that all clients share",
}


def is_held(row: Row) -> bool:
    """It has a rate, which is a lower bound of what the storage does: nothing speaks against it.

    What a cache may have answered is no bound: the storage may be slower. Nor is a rate that the study sets.
    """
    verdicts = set(row.verdicts)
    known = row.rate is not None and row.case.parameters.known("rate") is None
    return known and bool(verdicts & HELD) and verdicts <= HELD | SOUND


def limit_sentences(rows: Sequence[Row], throttle: str = THROTTLE) -> str:
    """What held the rates, and how many of them.

    Such as `The client's link is the limit of 4 of 9 results (91 to 100 % of it).`

    Args:
        rows: All results that count.
        throttle: What throttles them, if that is known.

    Returns:
        Empty if nothing held any of them. A result that two things held counts for the first of them.
    """
    limits: dict[str, list[float | None]] = {}
    for row in rows:
        if is_held(row):
            name, share = limit_of(row, throttle) or ("", None)
            limits.setdefault(name, []).append(share)
    parts = []
    for words, shares in sorted(limits.items(), key=lambda item: -len(item[1])):
        verb = _VERBS.get(words, "is the limit of")
        parts.append(f"{words[0].upper()}{words[1:]} {verb} {numbers.part(len(shares), len(rows))}{_range(shares)}.")
    return " ".join(parts)


def limit_of(row: Row, throttle: str = THROTTLE) -> tuple[str, float | None] | None:
    """What held a rate, and the share of that limit which it reached if it is known; None if nothing held it."""
    if not is_held(row):
        return None
    finding = next(finding for finding in row.findings if finding.verdict in HELD)
    name = throttle if finding.verdict is Verdict.THROTTLED else _LIMITS[finding.verdict]
    if finding.verdict is Verdict.NETWORK_BOUND and row.binding is not None:
        name = _LINKS.get(row.binding.name, name)
    return name, finding.numbers.get("share")


def _range(shares: Sequence[float | None]) -> str:
    """Which part of the limit the results reach: ` (91 to 100 % of it)`; empty if it is not known of each."""
    known = [share for share in shares if share is not None]
    if not known or len(known) < len(shares):
        return ""
    # What a short measurement of a link has not shown is more of the same link.
    low, high = (f"{min(100, round(100 * share)):,}" for share in (min(known), max(known)))
    return f" ({low} % of it)" if low == high else f" ({low} to {high} % of it)"
