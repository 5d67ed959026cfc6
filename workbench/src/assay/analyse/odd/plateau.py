"""Finds rates that do not change with size and queue depth: something limits bytes per second.

Storage itself does more bytes per second with more bytes in flight, until a link, a rate limit or the device is full.
Reads and writes of a device are not equally fast; those through a link, or under a limit of a provider, are.
"""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from assay.analyse.scaling import BINDS
from assay.model.result.result import Row
from assay.model.result.run import Place
from assay.model.result.verdict import HELD, SOUND, Verdict
from assay.model.study.names import READS, WRITES

FLAT = 1.25
"""Greatest ratio of the highest to the lowest rate of a plateau."""
IN_FLIGHT = 64
"""Least ratio of the most to the fewest bytes in flight among its results."""
LEAST_ROWS = 4
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


def plateaus(rows: Iterable[Row], places: Iterable[Place]) -> dict[str, Plateau]:
    """Return target -> plateau, for targets whose limit no verdict names; targets in memory are left out."""
    groups: dict[str, list[Row]] = {}
    memory = {place.target for place in places if place.memory_backed}
    for row in rows:
        if row.case.target in memory:
            continue
        if row.throughput is not None and (SOUND | HELD | {Verdict.UNVERIFIED}).issuperset(row.verdicts):
            groups.setdefault(row.case.target, []).append(row)
    found = ((target, _plateau(of_target)) for target, of_target in groups.items())
    return {target: one for target, one in found if one is not None}


def _plateau(rows: Sequence[Row]) -> Plateau | None:
    if len(rows) < LEAST_ROWS or not all({row.operation for row in rows} & kind for kind in (READS, WRITES)):
        return None
    if any(_NAMED.intersection(row.verdicts) for row in rows):
        return None
    if 2 * sum(row.binding is not None and row.binding.share >= BINDS for row in rows) > len(rows):
        return None
    in_flight = [(row.case.parameters.record_size or 0) * row.case.parameters.in_flight for row in rows]
    rates = [row.throughput.median for row in rows if row.throughput is not None]
    low, high = min(rates), max(rates)
    if min(in_flight) <= 0 or max(in_flight) < IN_FLIGHT * min(in_flight) or low <= 0 or high > FLAT * low:
        return None
    return Plateau(low, high)
