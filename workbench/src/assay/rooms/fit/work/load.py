"""The work of `assay find`: one operation at a rate, or as fast as possible."""

import secrets
from collections.abc import Mapping
from typing import Any, NamedTuple

from assay.model.study.names import WORK
from assay.model.units import format_duration, format_rate, format_size
from assay.plan.measure import FAST_BYTES_PER_SECONDS, LARGE_FILE_BYTES, SMALL_FILE_BYTES
from assay.rooms.fit.work.place import FitPlace
from assay.rooms.fit.work.search import RatePlan

MIN_INTERVAL_SECONDS = 0.01
"""Shortest interval whose latencies are recorded on their own."""
MAX_OBJECTS_BYTES = 64 << 20
"""Bytes of objects that are put for a search."""


class RateLoad(NamedTuple):
    """What is done at each rate.

    Attributes:
        operation: The operation.
        size: Bytes of a record or object.
        in_flight: Operations that may be in flight at once.
        read_percent: Of `random_mix`: percent that are reads; None: not a mix.
        file_size: Bytes of the file; of files only.
        cache: Cache policy; of files only.
    """

    operation: str
    size: int
    in_flight: int
    read_percent: int | None = None
    file_size: int = LARGE_FILE_BYTES
    cache: str = "direct"

    def fields(self, place: FitPlace) -> dict[str, Any]:
        """Return the fields of the workload, without rate and time."""
        work: dict[str, Any] = {"operations": [self.operation]}
        if place.work == "objects":
            count = max(1, min(32, MAX_OBJECTS_BYTES // self.size // self.in_flight))
            existing = {} if place.holds_existing else {"object_size": format_size(self.size), "objects": count}
            return {**work, **existing, "lanes": self.in_flight}
        work |= {"file_size": format_size(max(self.file_size, self.size)), "record_size": format_size(self.size)}
        work |= {"queue_depth": self.in_flight, "cache": self.cache, "layout": "shared"}
        if self.read_percent is not None:
            work["read_percent"] = self.read_percent
        if WORK[self.operation].writes:
            work["sync"] = "fsync"
        return work


def file_size_for(bytes_per_s: float | None, free_bytes: int | None) -> int:
    """Return the size of the file, as `assay measure` chooses it."""
    is_fast = bytes_per_s is not None and bytes_per_s >= FAST_BYTES_PER_SECONDS
    has_room = free_bytes is None or free_bytes >= 10 * LARGE_FILE_BYTES
    return LARGE_FILE_BYTES if is_fast and has_room else SMALL_FILE_BYTES


def find_study(
    place: FitPlace, load: RateLoad, plan: RatePlan | None, seconds: float, repeats: int
) -> Mapping[str, Any]:
    """Return the study of some rates as the data of a study file.

    Args:
        place: The place.
        load: What is done.
        plan: The rates; None: a closed loop.
        seconds: Time of a repeat.
        repeats: Repeats of each rate.
    """
    work = {**load.fields(place), "runtime": _milliseconds(seconds)}
    output = {}
    if plan is not None:
        written = [format_rate(rate) for rate in plan.rates]
        work |= {"rate": written if len(written) > 1 else written[0], "arrivals": "poisson"}
        output = {"output": {"interval": _milliseconds(max(MIN_INTERVAL_SECONDS, plan.warm_up_s))}}
    return {
        "study": f"find-{place.name}",
        "question": f"Which rate does {place.written} hold?",
        "targets": {place.name: dict(place.target)},
        "workloads": {"load": work},
        "repeats": repeats,
        # With one seed for all studies of a search, their random arrivals would be the same, and so would their queues.
        "seed": secrets.randbelow(1 << 31),
        "ceilings": "none",
        "network": "none",
        **output,
    }


def _milliseconds(seconds: float) -> str:
    return format_duration(round(seconds * 1000) * 1_000_000)
