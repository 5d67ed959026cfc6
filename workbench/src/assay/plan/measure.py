"""The study that `assay measure` runs: sequential and random, large and small records, one and many in flight."""

import re
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from assay.model.escape import escape_line
from assay.model.study.kinds import kinds
from assay.model.study.repeats import MIN_BEFORE_LOOK, MIN_BEFORE_STOP
from assay.model.units import format_duration, format_size
from assay.plan.text import study_text

LARGE, SMALL = 1 << 20, 4 << 10
DEPTHS = (1, 32)
DATA_OPERATIONS = ("write", "read", "random_write", "random_read")
SMALL_FILE_BYTES, LARGE_FILE_BYTES = 4 << 20, 64 << 20
"""Sizes of the test file. There are only two, so that measurements of different days can be compared."""
FAST_BYTES_PER_SECONDS = 200e6
"""Bytes per second of the first write from which the large file is used."""
FREE_SHARE = 10
"""At most 1 / `FREE_SHARE` of the free space is used."""
MIN_PHASE_NS, MAX_PHASE_NS = 200_000_000, 2_000_000_000
"""Bounds of a phase's length. Rate limiters, from control groups to cloud volumes, first let a burst through: shorter
phases would measure only the burst."""
ROUNDS = 10
"""Number of rounds that the time is divided among, if there is enough."""
CEILING_SECONDS, CEILING_SHARE = 3.3, 0.4
"""Time for the ceilings of each place, and the largest share of the remaining time for those of all places."""
PREPARING_SECONDS = 0.3
"""Time until the ceilings begin."""
CASE_SECONDS = 0.15
"""Time of a case outside its phases: start and end of the engine, controls and passes over devices."""
WORK_SELECTIONS: tuple[tuple[tuple[int, ...], tuple[int, ...], str], ...] = (
    ((SMALL, LARGE), DEPTHS, ""),
    ((SMALL, LARGE), DEPTHS[:1], "32 operations at once"),
    ((LARGE,), DEPTHS[:1], "4 KiB records, and 32 operations at once"),
)
"""Selections of work, the largest first: record sizes, queue depths, and what is left out, in words."""
MIN_REPEATS = 3
"""Fewest repeats for an interval; to compare several places `MIN_BEFORE_LOOK` are needed."""
SPARE_FACTOR = 2
"""Factor by which more repeats are planned, since they may take less time than the first write suggests."""
MAX_ROUNDS = 60
"""Most rounds: with more, phases are short, and the result hardly improves."""
_NAME = re.compile(r"[^A-Za-z0-9]+")
_SHORT, _MAX_NAME = 16, 40


@dataclass(frozen=True)
class Speeds:
    """Bytes per second of the first write to a place, with small and with large records."""

    small: float
    large: float

    def of(self, record: int) -> float:
        """Return the speed for a record size, at least 1 byte/s."""
        return max(1.0, self.small if record == SMALL else self.large)


@dataclass(frozen=True)
class Scale:
    """How much `assay measure` does.

    Attributes:
        file_size: Size in bytes of the file of each case.
        phase_ns: Length of a phase.
        repeats: `repeats` of the study.
        rounds: Repeats of each case for which there is time.
        records: Record sizes in bytes.
        depths: Queue depths.
        left_out: Work for which there is no time, in words; empty if nothing is left out.
        written: Bytes that all repeats write to file targets.
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
    """The time is too short for any useful measurement.

    Attributes:
        missing_s: Seconds missing for the smallest one.
    """

    missing_s: float


def place_names(places: Sequence[str]) -> list[str]:
    """Return a unique name for each place: the end of its path, as long as needed to distinguish it from the others."""
    parts = [[_plain(part) for part in _path(place) if _plain(part)] or ["root"] for place in places]
    found: list[str] = []
    for own in parts:
        length = next(
            (n for n in range(1, len(own) + 1) if sum(_end(each, n) == _end(own, n) for each in parts) == 1), 2
        )
        # Two short words say more than one.
        length = max(length, 2 if len("-".join(own[-2:])) <= _SHORT else 1)
        name = "-".join(own[-length:])[-_MAX_NAME:].strip("-")
        found.append(name if name not in found else f"{name}-{len(found) + 1}")
    return found


def _path(place: str) -> list[str]:
    return (place.partition("?")[0].partition("://")[2] or place).split("/")


def _plain(part: str) -> str:
    return _NAME.sub("-", part).strip("-")


def _end(parts: Sequence[str], length: int) -> tuple[str, ...]:
    return tuple(parts[-length:])


def choose_scale(
    remaining_s: float, speeds: Mapping[str, Speeds], free: Mapping[str, int | None], slowdown: float = 1.0
) -> Scale | TooShort:
    """Choose how much to do in the available time: if it is short, first fewer repeats, then fewer kinds of work.

    Args:
        remaining_s: Remaining seconds for ceilings and repeats.
        speeds: Target that holds files -> speeds of a first write.
        free: The same targets -> free bytes; None if unknown.
        slowdown: Slowdown of computations compared with an idle machine, 1 or more.
    """
    count = max(1, len(speeds))
    fewest = MIN_REPEATS if count == 1 else MIN_BEFORE_LOOK
    usable = remaining_s - PREPARING_SECONDS * slowdown
    budget = max(0.0, usable - min(CEILING_SECONDS * slowdown * count, CEILING_SHARE * usable))
    start = CASE_SECONDS * slowdown
    slowest = min((speed.large for speed in speeds.values()), default=FAST_BYTES_PER_SECONDS)
    free_bytes = min((amount // FREE_SHARE for amount in free.values() if amount is not None), default=LARGE_FILE_BYTES)
    size = (
        LARGE_FILE_BYTES if slowest >= FAST_BYTES_PER_SECONDS and free_bytes >= LARGE_FILE_BYTES else SMALL_FILE_BYTES
    )
    for records, depths, left_out in WORK_SELECTIONS:
        points = [(record, depth) for record in records for depth in depths if record * depth <= size]
        cases = len(points)
        phase = (budget / ROUNDS / count / cases - start) / (len(DATA_OPERATIONS) + 1)
        phase_ns = int(min(MAX_PHASE_NS, max(MIN_PHASE_NS, round(phase * 1e9, -7))))
        shapes = [(speed, record, depth) for speed in speeds.values() for record, depth in points]
        case_costs = [_case(size, phase_ns / 1e9, *shape) for shape in shapes]
        seconds = sum(start + phases_seconds for phases_seconds, _ in case_costs) or cases * (start + phase_ns / 1e9)
        rounds = int(budget / seconds)
        if rounds >= fewest or not speeds:
            rounds = max(1, min(rounds, MAX_ROUNDS))
            most = min(MAX_ROUNDS, SPARE_FACTOR * max(fewest, rounds))
            adaptive = {"within": "5%", "min": MIN_BEFORE_STOP, "max": most}
            repeats = adaptive if most > MIN_BEFORE_STOP else most
            written = rounds * sum(amount for _, amount in case_costs)
            return Scale(size, phase_ns, repeats, rounds, records, depths, left_out, written)
    return TooShort((fewest * seconds - budget) / (1 - CEILING_SHARE))


def _case(size: int, phase: float, speed: Speeds, record: int, depth: int) -> tuple[float, float]:
    """Return seconds of the phases and written bytes of one repeat; reads are assumed to be as fast as writes."""
    # Operations in flight at the end of a phase are waited for.
    in_phase = min(float(size), phase * speed.of(record) + depth * record)
    seconds = len(DATA_OPERATIONS) * in_phase / speed.of(record)
    # The rest of the file is written before the reads.
    return seconds + (size - in_phase) / speed.of(LARGE), size + in_phase


def probe_study(targets: Mapping[str, Mapping[str, Any]], cache: str, free: int | None = None) -> dict[str, Any]:
    """Return the study of a first write, which shows how much can be done in the time; its results are discarded.

    Args:
        targets: Name -> fields, as in a study file.
        cache: See `measure_study`.
        free: Free bytes of the fullest target; None if unknown.
    """
    size = LARGE_FILE_BYTES if free is None or free >= FREE_SHARE * LARGE_FILE_BYTES else SMALL_FILE_BYTES
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
    """Return whether a target holds data that is read and written in records; else it holds objects."""
    return "data" in kinds()[target["kind"]].groups


def _fitting(chosen: Scale) -> dict[str, str]:
    """Return the `where` that excludes more bytes in flight than the file has; empty if no combination has."""
    fits = max(chosen.records) * max(chosen.depths) <= chosen.file_size
    return {} if fits else {"where": "record_size * queue_depth <= file_size"}


def _layout(targets: Mapping[str, Mapping[str, Any]]) -> dict[str, str]:
    """Return `layout: shared` if a target has no files, since all can use it; else empty."""
    return {} if all(kinds()[target["kind"]].has_files for target in targets.values()) else {"layout": "shared"}


def measure_study(targets: Mapping[str, Mapping[str, Any]], chosen: Scale, cache: str) -> dict[str, Any]:
    """Return the study as the data of a study file.

    Args:
        targets: Name -> fields, as in a study file.
        chosen: How much is done.
        cache: Cache policy for files: `direct`, or `evict` if that is not possible.
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
    existing = [name for name in stores if "existing" in targets[name]]
    writable = [name for name in stores if name not in existing]
    shared = {"queue_depth": list(DEPTHS), "runtime": limit, "targets": []}
    if existing:
        workloads["objects"] = {"operations": ["get"], **shared, "targets": existing}
    if writable:
        sizes = {"object_size": [format_size(SMALL), "256KiB"], "objects": 32}
        put = {key: value for key, value in shared.items() if key != "runtime"} | {"time_limit": limit}
        workloads["put"] = {"operations": ["put", "get"], **sizes, **put, "targets": writable}
    return {
        "study": f"measure-{'-'.join(targets)}"[:_MAX_NAME].rstrip("-"),
        "question": f"How fast {'is' if len(targets) == 1 else 'are'} {' and '.join(targets)}?",
        "targets": {name: dict(target) for name, target in targets.items()},
        "workloads": workloads,
        "repeats": chosen.repeats,
    }


def measure_text(study: Mapping[str, Any], places: Sequence[str]) -> str:
    """Return the text of the study file.

    Args:
        study: The study from `measure_study`.
        places: The places that the user typed.
    """
    head = (
        f"What `assay measure {escape_line(shlex.join(places))}` measures.",
        "",
        "  assay plan FILE     what will be done, how long, how many bytes",
        "  assay run FILE      measure it again",
        "",
        "Every field is explained in docs/guides/write-a-study.md.",
    )
    return study_text(dict(study), head)
