"""The study that `assay measure` stands for: sequential and random, large and small, one at a time and many at once."""

import re
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from assay.model.foreign import plain
from assay.model.study.kinds import kinds
from assay.model.study.repeats import LEAST_BEFORE_LOOK, LEAST_BEFORE_STOP
from assay.model.units import format_duration, format_size
from assay.plan.text import study_text

LARGE, SMALL = 1 << 20, 4 << 10
DEPTHS = (1, 32)
DATA_OPERATIONS = ("write", "read", "random_write", "random_read")
SMALL_FILE, LARGE_FILE = 4 << 20, 64 << 20
"""Two sizes only: what was measured on one day shall be comparable with that of another."""
FAST = 200e6
"""Bytes per second of a first write; the large file is for faster places."""
FREE_SHARE = 10
"""At most one part in so many of what is free is used."""
LEAST_PHASE_NS, MOST_PHASE_NS = 200_000_000, 2_000_000_000
"""What limits a rate, from a control group to a volume in the cloud, lets a burst through first: shorter phases would
measure that."""
ROUNDS = 10
"""That the time is shared out among, if there is enough of it."""
CEILING_SECONDS, CEILING_SHARE = 3.3, 0.4
"""For the ceilings of each place; of the time that is left at most such a share is for those of all."""
PREPARING_SECONDS = 0.3
"""Until the ceilings begin."""
CASE_SECONDS = 0.15
"""What a case takes besides its phases: the engine starts and goes, controls and passes over devices come between."""
SHAPES: tuple[tuple[tuple[int, ...], tuple[int, ...], str], ...] = (
    ((SMALL, LARGE), DEPTHS, ""),
    ((SMALL, LARGE), DEPTHS[:1], "32 operations at once"),
    ((LARGE,), DEPTHS[:1], "4 KiB records, and 32 operations at once"),
)
"""Record sizes and depths, and what is left out: as much as there is time for, the most first."""
FEWEST = 3
"""Repeats that give an interval; of several places it takes `LEAST_BEFORE_LOOK` to compare them."""
SPARE = 2
"""More repeats are planned by so many times, for they may be shorter than the first look says."""
MOST_ROUNDS = 60
"""After so many, a phase is short, and more of them show little more."""
_NAME = re.compile(r"[^A-Za-z0-9]+")
_SHORT, _MOST_NAME = 16, 40


@dataclass(frozen=True)
class Speeds:
    """Bytes per second of a first write to a place, by the size of its records."""

    small: float
    large: float

    def of(self, record: int) -> float:
        """Of records of that size, above 0."""
        return max(1.0, self.small if record == SMALL else self.large)


@dataclass(frozen=True)
class Scale:
    """How much is done in a phase.

    Attributes:
        file_size: Bytes of the file of each case.
        phase_ns: A phase ends after so long.
        repeats: As a study has them.
        rounds: Repeats of each case for which there is time.
        records: Sizes of records, in bytes.
        depths: Operations at once.
        left_out: Work for which there is no time, in words; empty if there is for all of it.
        written: Bytes that all repeats write to the places that hold files.
    """

    file_size: int
    phase_ns: int
    repeats: int | dict[str, Any]
    rounds: int
    records: tuple[int, ...] = (SMALL, LARGE)
    depths: tuple[int, ...] = DEPTHS
    left_out: str = ""
    written: float = 0.0


@dataclass(frozen=True)
class TooShort:
    """There is no time for anything that is of use.

    Attributes:
        lacks: Seconds that are missing for the least of it.
    """

    lacks: float


def names_of(places: Sequence[str]) -> list[str]:
    """A name for each place, each once: the end of its path, as long as it must be to tell it from the others."""
    parts = [[_plain(part) for part in _path(place) if _plain(part)] or ["root"] for place in places]
    found: list[str] = []
    for own in parts:
        length = next(
            (n for n in range(1, len(own) + 1) if sum(_end(each, n) == _end(own, n) for each in parts) == 1), 2
        )
        # Two words say more than one, where they are short.
        length = max(length, 2 if len("-".join(own[-2:])) <= _SHORT else 1)
        name = "-".join(own[-length:])[-_MOST_NAME:].strip("-")
        found.append(name if name not in found else f"{name}-{len(found) + 1}")
    return found


def _path(place: str) -> list[str]:
    return (place.partition("?")[0].partition("://")[2] or place).split("/")


def _plain(part: str) -> str:
    return _NAME.sub("-", part).strip("-")


def _end(parts: Sequence[str], length: int) -> tuple[str, ...]:
    return tuple(parts[-length:])


def scale(
    left: float, speeds: Mapping[str, Speeds], free: Mapping[str, int | None], delayed: float = 1.0
) -> Scale | TooShort:
    """How much can be done in so much time: fewer repeats where it is short, then fewer kinds of work.

    Args:
        left: Seconds for ceilings and repeats.
        speeds: Target that holds files -> what a first write has shown.
        free: The same targets -> bytes that are free; None if nobody knows.
        delayed: How many times as long as on an idle machine all that computes takes: 1 or more.
    """
    count = max(1, len(speeds))
    fewest = FEWEST if count == 1 else LEAST_BEFORE_LOOK
    around = left - PREPARING_SECONDS * delayed
    budget = max(0.0, around - min(CEILING_SECONDS * delayed * count, CEILING_SHARE * around))
    start = CASE_SECONDS * delayed
    slowest = min((speed.large for speed in speeds.values()), default=FAST)
    room = min((amount // FREE_SHARE for amount in free.values() if amount is not None), default=LARGE_FILE)
    size = LARGE_FILE if slowest >= FAST and room >= LARGE_FILE else SMALL_FILE
    for records, depths, left_out in SHAPES:
        points = [(record, depth) for record in records for depth in depths if record * depth <= size]
        cases = len(points)
        phase = (budget / ROUNDS / count / cases - start) / (len(DATA_OPERATIONS) + 1)
        phase_ns = int(min(MOST_PHASE_NS, max(LEAST_PHASE_NS, round(phase * 1e9, -7))))
        shapes = [(speed, record, depth) for speed in speeds.values() for record, depth in points]
        one = [_case(size, phase_ns / 1e9, *shape) for shape in shapes]
        seconds = sum(start + took for took, _ in one) or cases * (start + phase_ns / 1e9)
        rounds = int(budget / seconds)
        if rounds >= fewest or not speeds:
            rounds = max(1, min(rounds, MOST_ROUNDS))
            most = min(MOST_ROUNDS, SPARE * max(fewest, rounds))
            known = {"within": "5%", "least": LEAST_BEFORE_STOP, "max": most}
            repeats = known if most > LEAST_BEFORE_STOP else most
            written = rounds * sum(amount for _, amount in one)
            return Scale(size, phase_ns, repeats, rounds, records, depths, left_out, written)
    return TooShort((fewest * seconds - budget) / (1 - CEILING_SHARE))


def _case(size: int, phase: float, speed: Speeds, record: int, depth: int) -> tuple[float, float]:
    """Seconds of the phases of a repeat of a case, and bytes that it writes; reads count as fast as writes."""
    # What is on its way when the time of a phase is over is waited for.
    in_phase = min(float(size), phase * speed.of(record) + depth * record)
    seconds = len(DATA_OPERATIONS) * in_phase / speed.of(record)
    # What the first write has not come to is written before the reads.
    return seconds + (size - in_phase) / speed.of(LARGE), size + in_phase


def probe_study(targets: Mapping[str, Mapping[str, Any]], cache: str, free: int | None = None) -> dict[str, Any]:
    """A first write, which tells how much can be done in the time; nothing of it is kept.

    Args:
        targets: Name -> fields, as in a study file.
        cache: As of `measure_study`.
        free: Bytes that are free in the fullest of them; None if nobody knows.
    """
    size = LARGE_FILE if free is None or free >= FREE_SHARE * LARGE_FILE else SMALL_FILE
    work: dict[str, Any] = {"operations": ["write"], "file_size": format_size(size), "queue_depth": 4}
    work["record_size"] = [format_size(SMALL), format_size(LARGE)]
    limits = {"cache": cache, "sync": "fsync", "time_limit": "150ms"}
    return {
        "study": "measure-first",
        "targets": {name: dict(target) for name, target in targets.items()},
        "workloads": {"first": {**work, **limits, **_layout(targets)}},
        "repeats": 1,
        "ceilings": "none",
        "network": "none",
    }


def holds_files(target: Mapping[str, Any]) -> bool:
    """It takes reads and writes of records, as files do; else objects."""
    return "data" in kinds()[target["kind"]].holds


def _fitting(chosen: Scale) -> dict[str, str]:
    """What leaves out points that have more in flight than a file holds; nothing where there are none."""
    fits = max(chosen.records) * max(chosen.depths) <= chosen.file_size
    return {} if fits else {"where": "record_size * queue_depth <= file_size"}


def _layout(targets: Mapping[str, Mapping[str, Any]]) -> dict[str, str]:
    """The one layout that all have, where that is not what is usual."""
    return {} if all(kinds()[target["kind"]].has_files for target in targets.values()) else {"layout": "shared"}


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
            "record_size": [format_size(record) for record in chosen.records],
            "queue_depth": list(chosen.depths),
            "cache": cache,
            "sync": "fsync",
            "time_limit": limit,
            **_fitting(chosen),
            **_layout({name: targets[name] for name in files}),
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
        "study": f"measure-{'-'.join(targets)}"[:_MOST_NAME].rstrip("-"),
        "question": f"How fast {'is' if len(targets) == 1 else 'are'} {' and '.join(targets)}?",
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
