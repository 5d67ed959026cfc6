"""The work of `assay find`: one operation at a rate, or as fast as possible."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from assay.model.study.names import WORK
from assay.model.units import format_duration, format_rate, format_size
from assay.plan.measure import FAST_BYTES_PER_SECONDS, LARGE_FILE_BYTES, SMALL_FILE_BYTES
from assay.rooms.fit.work.place import FitPlace

REPEATS = 5
"""Repeats of a step: with fewer, repeats that differ count for little."""
MIN_RUNTIME_SECONDS, MAX_RUNTIME_SECONDS = 1.0, 5.0
LIMITS_PER_RUNTIME = 50
"""A repeat takes at least this many times the bound, so that queues grow visibly."""
OPERATIONS_BEYOND = 3
"""A repeat has so many operations that this many are expected beyond the percentile."""
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


def runtime_s(rate: float, allowed_share: float, limit_ns: int) -> float:
    """Return how long a repeat at a rate takes, in seconds.

    Args:
        rate: Operations per second.
        allowed_share: Share of the operations that may take longer than the bound.
        limit_ns: The bound.
    """
    enough = OPERATIONS_BEYOND / allowed_share / rate
    return min(MAX_RUNTIME_SECONDS, max(MIN_RUNTIME_SECONDS, LIMITS_PER_RUNTIME * limit_ns / 1e9, enough))


def min_rate(allowed_share: float) -> float:
    """Return the lowest rate at which a step of the longest repeats has enough operations."""
    return OPERATIONS_BEYOND / allowed_share / MAX_RUNTIME_SECONDS


def find_study(
    place: FitPlace, load: RateLoad, rates: Sequence[float], seconds: float, repeats: int
) -> Mapping[str, Any]:
    """Return the study of some rates as the data of a study file; without rates, of a closed loop.

    Args:
        place: The place.
        load: What is done.
        rates: Operations per second.
        seconds: Time of a repeat.
        repeats: Repeats of each rate.
    """
    work = {**load.fields(place), "runtime": format_duration(round(seconds * 1000) * 1_000_000)}
    if rates:
        written = [format_rate(rate) for rate in rates]
        work |= {"rate": written if len(written) > 1 else written[0], "arrivals": "poisson"}
    return {
        "study": f"find-{place.name}",
        "question": f"Which rate does {place.name} hold?",
        "targets": {place.name: dict(place.target)},
        "workloads": {"load": work},
        "repeats": repeats,
        "ceilings": "none",
        "network": "none",
    }


def rounded(rate: float) -> float:
    """Return a rate to four digits, so that it is written in a study as it is measured."""
    return float(f"{rate:.4g}")
