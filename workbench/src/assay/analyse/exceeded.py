"""Finds ceilings that results of the same run exceed although only the device can have served them: wrong ceilings."""

import math
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from functools import cache
from typing import NamedTuple

from assay.analyse.ceilings import Ceilings, is_stated, served_by_device
from assay.analyse.ceilings import Key as Key
from assay.analyse.usable import usable
from assay.model.result.ceiling import Ceiling, ExceedingRepeat
from assay.model.result.run import TargetPlace
from assay.model.result.sample import Sample
from assay.model.study.case import Case

RAISABLE = (
    "device read",
    "device write",
    "device rewrite",
    "device random read",
    "device random write",
    "page cache read",
    "memory copy",
)
"""Ceilings that are raised to such a result. CPU cache copies and the engine without storage are not: a result above
them is itself in doubt."""
MAX_CHECKED = 1000
"""At most this many samples are checked for each ceiling, the fastest first."""


class SampleRate(NamedTuple):
    """The rates of a sample.

    Attributes:
        number: Number of the sample in the store.
        case: Id of its case.
        throughput: Bytes per second.
        iops: Operations per second.
    """

    number: int
    case: str
    operation: str
    throughput: float
    iops: float


def exceeding_results(
    ceilings: Sequence[Ceiling],
    places: Iterable[TargetPlace],
    rates: Callable[[float, float], Iterable[SampleRate]],
    case_of: Callable[[str], Case],
    sample_of: Callable[[int], Sample],
) -> dict[Key, ExceedingRepeat]:
    """Return the result furthest above each measured ceiling; ceilings that were not exceeded are left out.

    Args:
        ceilings: Ceilings as measured.
        places: Places of the targets.
        rates: Returns the run's samples with more bytes, or more operations, per second than the arguments.
        case_of: Returns the case with an id.
        sample_of: Returns the sample with a number.
    """
    known = {(item.target, item.name, item.kind): item for item in ceilings if item.value and not is_stated(item.name)}
    where = {place.target: place for place in places}
    all_ceilings = Ceilings(ceilings)

    @cache
    def applying(case_id: str, operation: str) -> tuple[Ceiling, ...]:
        case = case_of(case_id)
        keys = all_ceilings.applicable(case, operation, where.get(case.target))
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
        for value, number in sorted(fast, reverse=True)[:MAX_CHECKED]:
            sample = sample_of(number)
            case = case_of(sample.case)
            if usable([sample]) and (not key[1].startswith("device") or _served(case, sample, where)):
                measured = max((item.value for item in known[key].passes), default=known[key].value or 0.0)
                found[key] = ExceedingRepeat(
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


def _served(case: Case, sample: Sample, places: dict[str, TargetPlace]) -> bool:
    place = places.get(case.target)
    if not (case.parameters.has("cache") and case.parameters.has("sync")):
        return False
    direct = case.parameters.cache == "direct" and place is not None and place.direct_bypasses_cache
    return served_by_device(sample, direct, flushed=case.parameters.sync != "none")


def raise_ceilings(ceilings: Sequence[Ceiling], found: dict[Key, ExceedingRepeat]) -> tuple[Ceiling, ...]:
    """Return the ceilings raised to the best result that exceeds them.

    Args:
        ceilings: Ceilings as measured.
        found: The results that exceed them.
    """
    result = []
    for item in ceilings:
        more = found.get((item.target, item.name, item.kind))
        if more is not None and item.name in RAISABLE:
            how = f"seen in {more.operation} of {more.label}, repeat {more.repeat}; passes: {item.how}"
            item = item.model_copy(update={"value": more.value, "how": how, "exceeded": more})
        result.append(item)
    return tuple(result)
