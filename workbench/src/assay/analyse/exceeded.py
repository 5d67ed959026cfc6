"""Ceilings that results of the same run exceed, though nothing but the device can have served them: they were wrong."""

import math
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from functools import cache
from typing import NamedTuple

from assay.analyse.ceilings import Ceilings, is_stated, served_by_device
from assay.analyse.ceilings import Key as Key
from assay.analyse.usable import usable
from assay.model.result.ceiling import Ceiling, Exceeding
from assay.model.result.run import Place
from assay.model.result.sample import Sample
from assay.model.study.case import Case

RAISED = (
    "device read",
    "device write",
    "device rewrite",
    "device random read",
    "device random write",
    "page cache read",
    "memory copy",
)
"""What a result shows to be possible is possible. Copies in caches and the engine without storage are no such ceilings:
a result above them is in doubt itself."""
MOST_LOOKS = 1000
"""Samples of which it is asked, for each ceiling, whether the device served them; the fastest first."""


class Rate(NamedTuple):
    """What a sample reached, in brief.

    Attributes:
        number: Of the sample in the store.
        case: Id of its case.
        throughput: Bytes per second.
        iops: Operations per second.
    """

    number: int
    case: str
    operation: str
    throughput: float
    iops: float


def exceeding(
    ceilings: Sequence[Ceiling],
    places: Iterable[Place],
    rates: Callable[[float, float], Iterable[Rate]],
    case_of: Callable[[str], Case],
    sample_of: Callable[[int], Sample],
) -> dict[Key, Exceeding]:
    """What is furthest above each measured ceiling; nothing of those that were not exceeded.

    Args:
        ceilings: As measured.
        places: Where the targets are.
        rates: Gives those of the run's samples with more bytes, or more operations, per second than given.
        case_of: The case of that id.
        sample_of: The sample of that number.
    """
    known = {(item.target, item.name, item.kind): item for item in ceilings if item.value and not is_stated(item.name)}
    where = {place.target: place for place in places}
    held = Ceilings(ceilings)

    @cache
    def applying(case_id: str, operation: str) -> tuple[Ceiling, ...]:
        case = case_of(case_id)
        keys = held.applying(case, operation, where.get(case.target))
        return tuple(known[key] for key in keys if key in known)

    least = [
        min((item.value or 0.0 for item in known.values() if item.unit == unit), default=math.inf)
        for unit in ("bytes/s", "operations/s")
    ]
    above: dict[Key, list[tuple[float, int]]] = defaultdict(list)
    for rate in rates(*least):
        for item in applying(rate.case, rate.operation):
            value = rate.throughput if item.unit == "bytes/s" else rate.iops
            if value > (item.value or 0.0):
                above[item.target, item.name, item.kind].append((value, rate.number))
    found = {}
    for key, fast in above.items():
        for value, number in sorted(fast, reverse=True)[:MOST_LOOKS]:
            sample = sample_of(number)
            case = case_of(sample.case)
            if usable([sample]) and (not key[1].startswith("device") or _served(case, sample, where)):
                measured = max((item.value for item in known[key].passes), default=known[key].value or 0.0)
                found[key] = Exceeding(
                    case=case.id,
                    label=case.label,
                    operation=sample.operation,
                    repeat=sample.repeat,
                    at=sample.started_at,
                    value=value,
                    measured=measured,
                )
                break
    return found


def _served(case: Case, sample: Sample, places: dict[str, Place]) -> bool:
    place = places.get(case.target)
    if not (case.parameters.tells("cache") and case.parameters.tells("sync")):
        return False
    direct = case.parameters.cache == "direct" and place is not None and place.direct_bypasses_cache
    return served_by_device(sample, direct, flushed=case.parameters.sync != "none")


def raised(ceilings: Sequence[Ceiling], found: dict[Key, Exceeding]) -> tuple[Ceiling, ...]:
    """The ceilings with the best of all that was seen, also in results, as their value.

    Args:
        ceilings: As measured.
        found: What exceeded them.
    """
    result = []
    for item in ceilings:
        more = found.get((item.target, item.name, item.kind))
        if more is not None and item.name in RAISED:
            how = f"seen in {more.operation} of {more.label}, repeat {more.repeat}; passes: {item.how}"
            item = item.model_copy(update={"value": more.value, "how": how, "exceeded": more})
        result.append(item)
    return tuple(result)
