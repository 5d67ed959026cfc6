"""Results that are lower bounds, since something other than the storage was the limit, and what that limit was."""

from collections.abc import Sequence

from assay.model.result.result import ResultRow
from assay.model.result.verdict import LOWER_BOUND, OWN_SPEED, Verdict
from assay.report import numbers

RATE_LIMIT = "a rate limit of the storage"
CONTROL_GROUP_LIMIT = "a control group's limit"
_LIMITS: dict[Verdict, str] = {
    Verdict.NETWORK_BOUND: "the network",
    Verdict.CLIENT_BOUND: "the client's CPU",
    Verdict.CONTENDED: "other load on the device",
}
"""Verdict -> the limit in words, if nothing more is known."""
_VERBS = {
    _LIMITS[Verdict.CLIENT_BOUND]: "held back",
    RATE_LIMIT: "held back",
    CONTROL_GROUP_LIMIT: "held back",
    _LIMITS[Verdict.CONTENDED]: "disturbed",
}
"""Limit -> verb for its effect on results; limits not listed here are `the limit of` them."""
_LINKS = {
    "link": "the link",
    "client link": "the client's link",
    "server link": "the server's link",
    "shared link": "a link that all clients share",
}


def is_lower_bound(row: ResultRow) -> bool:
    """Return whether the rate of a row is a lower bound of what the storage can do.

    It is none if a cache may have answered, since the storage may be slower, or if the study sets the rate.
    """
    verdicts = set(row.verdicts)
    known = row.rate is not None and row.case.parameters.get_value("rate") is None
    return known and bool(verdicts & LOWER_BOUND) and verdicts <= LOWER_BOUND | OWN_SPEED


def limit_sentences(rows: Sequence[ResultRow], throttle: str = RATE_LIMIT) -> str:
    """Return what limited the rates, and how many: `The client's link is the limit of 4 of 9 results (91 % of it).`.

    Args:
        rows: All results that count.
        throttle: The name for what throttles them.

    Returns:
        The sentences; empty if no result is a lower bound. A result with two limits counts for the first of them.
    """
    limits: dict[str, list[float | None]] = {}
    for row in rows:
        if is_lower_bound(row):
            name, share = limit_of(row, throttle) or ("", None)
            limits.setdefault(name, []).append(share)
    parts = []
    for words, shares in sorted(limits.items(), key=lambda item: -len(item[1])):
        verb = _VERBS.get(words, "is the limit of")
        parts.append(
            f"{words[0].upper()}{words[1:]} {verb} {numbers.part_of_total(len(shares), len(rows))}{_range(shares)}."
        )
    return " ".join(parts)


def limit_of(row: ResultRow, throttle: str = RATE_LIMIT) -> tuple[str, float | None] | None:
    """Return what limited a rate and the share of it that was reached, if known; None if the rate is no lower bound."""
    if not is_lower_bound(row):
        return None
    finding = next(finding for finding in row.findings if finding.verdict in LOWER_BOUND)
    name = throttle if finding.verdict is Verdict.THROTTLED else _LIMITS[finding.verdict]
    if finding.verdict is Verdict.NETWORK_BOUND and row.limiting_ceiling is not None:
        name = _LINKS.get(row.limiting_ceiling.name, name)
    return name, finding.numbers.get("share")


def _range(shares: Sequence[float | None]) -> str:
    """Return the shares of the limit that results reach: ` (91 to 100 % of it)`; empty unless each share is known."""
    known = [share for share in shares if share is not None]
    if not known or len(known) < len(shares):
        return ""
    # A share above 100 % only means that the short measurement of the link was too low.
    low, high = (f"{min(100, round(100 * share)):,}" for share in (min(known), max(known)))
    return f" ({low} % of it)" if low == high else f" ({low} to {high} % of it)"
