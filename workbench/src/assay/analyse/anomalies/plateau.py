"""Finds rates that do not change with size and queue depth: something limits bytes per second.

Storage itself does more bytes per second with more bytes in flight, until a link, a rate limit or the device is full.
Reads and writes of a device are not equally fast; those through a link, or under a limit of a provider, are.
"""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from assay.analyse.scaling import BINDING_SHARE
from assay.model.partial import MissingValue
from assay.model.result.result import ResultRow
from assay.model.result.run import TargetPlace
from assay.model.result.verdict import LOWER_BOUND, OWN_SPEED, Verdict
from assay.model.study.names import READS, WRITES

MAX_RATIO = 1.25
"""Greatest ratio of the highest to the lowest rate of a plateau."""
MIN_IN_FLIGHT_RATIO = 64
"""Least ratio of the most to the fewest bytes in flight among its results."""
MIN_ROWS = 4
_NAMED = frozenset({Verdict.NETWORK_BOUND, Verdict.THROTTLED})
"""Verdicts that name the limit already."""


class Plateau(NamedTuple):
    """A range that contains the rates of all results of a target, in bytes per second.

    Attributes:
        low: The least median.
        high: The greatest median.
    """

    low: float
    high: float


def plateaus(rows: Iterable[ResultRow], places: Iterable[TargetPlace]) -> dict[str, Plateau]:
    """Return target -> plateau, for targets whose limit no verdict names; targets in memory are left out."""
    groups: dict[str, list[ResultRow]] = {}
    memory = {place.target for place in places if place.memory_backed}
    for row in rows:
        if row.case.target in memory:
            continue
        if row.throughput is not None and (OWN_SPEED | LOWER_BOUND | {Verdict.UNVERIFIED}).issuperset(row.verdicts):
            groups.setdefault(row.case.target, []).append(row)
    found = ((target, _plateau(of_target)) for target, of_target in groups.items())
    return {target: one for target, one in found if one is not None}


def _plateau(rows: Sequence[ResultRow]) -> Plateau | None:
    if len(rows) < MIN_ROWS or not all({row.operation for row in rows} & kind for kind in (READS, WRITES)):
        return None
    if any(_NAMED.intersection(row.verdicts) for row in rows):
        return None
    if 2 * sum(row.limiting_ceiling is not None and row.limiting_ceiling.share >= BINDING_SHARE for row in rows) > len(
        rows
    ):
        return None
    try:
        in_flight = [(row.case.parameters.record_size or 0) * row.case.parameters.in_flight for row in rows]
    except MissingValue:
        return None
    rates = [row.throughput.median for row in rows if row.throughput is not None]
    low, high = min(rates), max(rates)
    if (
        min(in_flight) <= 0
        or max(in_flight) < MIN_IN_FLIGHT_RATIO * min(in_flight)
        or low <= 0
        or high > MAX_RATIO * low
    ):
        return None
    return Plateau(low, high)
