"""The study that `assay measure` stands for: sequential and random, large and small, one at a time and many at once."""

import re
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from assay.model.foreign import plain
from assay.model.study.kinds import kinds
from assay.model.study.repeats import LEAST_BEFORE_STOP
from assay.model.units import format_duration, format_size
from assay.plan.text import study_text

LARGE, SMALL = 1 << 20, 4 << 10
DEPTHS = (1, 32)
DATA_OPERATIONS = ("write", "read", "random_write", "random_read")
POINTS = len(DATA_OPERATIONS) * len(DEPTHS) * 2
"""Phases of one round on a target that holds files."""
LEAST_FILE, MOST_FILE = 4 << 20, 256 << 20
FREE_SHARE = 50
"""At most one part in so many of what is free is used."""
LEAST_PHASE_NS, MOST_PHASE_NS = 40_000_000, 2_000_000_000
ROUNDS = 10
"""That the time is shared out among, if there is enough of it."""
FIXED_SECONDS, CEILING_SECONDS = 4.0, 4.5
"""For starting and ending, and for the ceilings of each place, before and after."""
CASE_SECONDS = 0.12
"""What a case takes besides its phases: the engine starts, and the data is laid out."""
FEWEST = 3
"""Repeats that give an interval."""
MOST_ROUNDS = 60
_NAME = re.compile(r"[^A-Za-z0-9]+")


@dataclass(frozen=True)
class Scale:
    """How much is done in a phase.

    Attributes:
        file_size: Bytes of the file of each case.
        phase_ns: A phase ends after so long.
        repeats: As a study has them.
    """

    file_size: int
    phase_ns: int
    repeats: int | dict[str, Any]


def names_of(places: Sequence[str]) -> list[str]:
    """A name for each place, each once: `/var/tmp` is `var-tmp`."""
    found: list[str] = []
    for place in places:
        plain = _NAME.sub("-", place.partition("?")[0].partition("://")[2] or place).strip("-")[:40] or "root"
        name = plain if plain not in found else f"{plain}-{len(found) + 1}"
        found.append(name)
    return found


def scale(seconds: float, speeds: Mapping[str, float], free: Mapping[str, int | None]) -> Scale:
    """How much can be done in so much time.

    Args:
        seconds: For all of it.
        speeds: Target -> bytes per second of a first write of large records.
        free: Target -> bytes that are free; None if nobody knows.
    """
    count = max(1, len(speeds))
    cases = POINTS // len(DATA_OPERATIONS)
    budget = max(1.0, seconds - FIXED_SECONDS - CEILING_SECONDS * count)
    phase = (budget / ROUNDS / count - cases * CASE_SECONDS) / (POINTS + cases)
    phase_ns = min(MOST_PHASE_NS, max(LEAST_PHASE_NS, round(phase * 1e9, -7)))
    slowest = min(speeds.values(), default=float(MOST_FILE))
    room = min((amount // FREE_SHARE for amount in free.values() if amount is not None), default=MOST_FILE)
    size = _power(min(MOST_FILE, room, max(speeds.values(), default=float(MOST_FILE)) * 2 * phase_ns / 1e9))
    # What a slow place has to be given before it is read must not take longer than its phases.
    size = min(size, _power(max(LEAST_FILE, slowest * budget / FEWEST / count / cases / 2)))
    laid_out = sum(cases * size / speed for speed in speeds.values() if speed > 0)
    around = count * (POINTS * phase_ns / 1e9 + cases * CASE_SECONDS) + laid_out
    rounds = int(budget / around)
    if rounds < LEAST_BEFORE_STOP:
        return Scale(size, int(phase_ns), max(FEWEST, rounds))
    most = max(MOST_ROUNDS, rounds)
    time = f"{max(1, round(budget))}s"
    return Scale(size, int(phase_ns), {"within": "5%", "least": LEAST_BEFORE_STOP, "max": most, "time": time})


def _power(size: float) -> int:
    """The greatest power of two up to `size`, within the bounds of a file."""
    whole = max(LEAST_FILE, int(size))
    return min(MOST_FILE, 1 << (whole.bit_length() - 1))


def probe_study(targets: Mapping[str, Mapping[str, Any]], cache: str) -> dict[str, Any]:
    """A first write, which tells how much can be done in the time; nothing of it is kept."""
    work = {"operations": ["write"], "file_size": "64MiB", "record_size": "1MiB", "queue_depth": 4}
    limits = {"cache": cache, "sync": "fsync", "time_limit": "200ms"}
    return {
        "study": "measure-first",
        "targets": {name: dict(target) for name, target in targets.items()},
        "workloads": {"first": {**work, **limits}},
        "repeats": 1,
        "ceilings": "none",
        "network": "none",
    }


def holds_files(target: Mapping[str, Any]) -> bool:
    """It takes reads and writes of records, as files do; else objects."""
    return "data" in kinds()[target["kind"]].holds


def measure_study(targets: Mapping[str, Mapping[str, Any]], chosen: Scale, cache: str) -> dict[str, Any]:
    """The study.

    Args:
        targets: Name -> fields, as in a study file.
        chosen: How much is done.
        cache: How files are kept out of the page cache: `direct`, or `evict` where that cannot be.
    """
    files = [name for name, target in targets.items() if holds_files(target)]
    stores = [name for name in targets if name not in files]
    limit = format_duration(chosen.phase_ns)
    workloads: dict[str, Any] = {}
    if files:
        workloads["files"] = {
            "operations": list(DATA_OPERATIONS),
            "file_size": format_size(chosen.file_size),
            "record_size": [format_size(SMALL), format_size(LARGE)],
            "queue_depth": list(DEPTHS),
            "cache": cache,
            "sync": "fsync",
            "time_limit": limit,
            **({"targets": files} if stores else {}),
        }
    there = [name for name in stores if "existing" in targets[name]]
    made = [name for name in stores if name not in there]
    shared = {"queue_depth": list(DEPTHS), "runtime": limit, "targets": []}
    if there:
        workloads["objects"] = {"operations": ["get"], **shared, "targets": there}
    if made:
        sizes = {"object_size": [format_size(SMALL), "256KiB"], "objects": 32}
        put = {key: value for key, value in shared.items() if key != "runtime"} | {"time_limit": limit}
        workloads["put"] = {"operations": ["put", "get"], **sizes, **put, "targets": made}
    return {
        "study": "measure",
        "question": f"What {'does' if len(targets) == 1 else 'do'} {' and '.join(targets)} do?",
        "targets": {name: dict(target) for name, target in targets.items()},
        "workloads": workloads,
        "repeats": chosen.repeats,
    }


def measure_text(study: Mapping[str, Any], places: Sequence[str]) -> str:
    """The study as a file."""
    head = (
        f"What `assay measure {plain(shlex.join(places))}` measures.",
        "",
        "  assay plan FILE     what will be done, how long, how many bytes",
        "  assay run FILE      measure it again",
        "",
        "Every field is explained in docs/guides/write-a-study.md.",
    )
    return study_text(dict(study), head)
