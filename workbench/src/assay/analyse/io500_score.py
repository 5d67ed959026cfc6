"""Computes IO500's score from stored results.

The definitions are those of the benchmark (github.com/IO500/io500, src/main.c and phase-definitions.h, and the rules on
io500.org). A phase counts by GiB/s, or thousands of operations per second, from its start to the end of its last task.
The score of a group is the geometric mean of its phases; the total is the square root of the product of both groups.
"""

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from assay.analyse.usable import usable
from assay.model.result.result import ResultRow
from assay.model.result.sample import Sample
from assay.model.study.io500 import IO500_WORKLOADS, PHASES, PhaseSource, is_io500
from assay.model.study.parameters import Parameters
from assay.model.units import about_number

STONEWALL_NS = 300 * 10**9
"""Minimum duration of every phase that writes."""
HARD_TRANSFER = 47008
HARD_FILE = 3901
GIB = 2**30


@dataclass(frozen=True)
class Phase:
    """The result of a phase in one repeat.

    Attributes:
        name: IO500's name of the phase.
        value: GiB/s, or thousands of operations per second; None without a usable result.
        bandwidth: The value is in GiB/s.
        seconds: Time from the phase's start to the end of the last task.
    """

    name: str
    value: float | None
    bandwidth: bool
    seconds: float


@dataclass(frozen=True)
class Score:
    """The score of one repeat of IO500 on one target.

    Attributes:
        target: Name of the target.
        repeat: From 1.
        phases: All twelve, in IO500's order.
        bandwidth: Geometric mean of the phases in GiB/s; None if one has no value.
        iops: Geometric mean of the other phases, in thousands per second; None if one has no value.
        total: Square root of their product; None if one of them is.
        broken_rules: IO500 rules that the run breaks, one sentence each.
    """

    target: str
    repeat: int
    phases: tuple[Phase, ...]
    bandwidth: float | None
    iops: float | None
    total: float | None
    broken_rules: tuple[str, ...]


def geometric_mean(values: Iterable[float | None]) -> float | None:
    """Return the n-th root of the product of n values; None if one is None, 0 if one is 0."""
    found = list(values)
    known = [value for value in found if value is not None]
    if not known or len(known) < len(found):
        return None
    if min(known) <= 0:
        return 0.0
    return math.exp(sum(math.log(value) for value in known) / len(known))


def io500_scores(rows: Sequence[ResultRow]) -> tuple[Score, ...]:
    """Return the scores of all repeats, by target; empty unless the run has all of IO500's workloads.

    Args:
        rows: Rows of a run.
    """
    if not is_io500(row.case.workload for row in rows):
        return ()
    targets = list(dict.fromkeys(row.case.target for row in rows))
    return tuple(
        score for target in targets for score in _of_target([row for row in rows if row.case.target == target])
    )


def _of_target(rows: Sequence[ResultRow]) -> Iterator[Score]:
    by_place = {(row.case.workload, row.operation): row for row in rows}
    if not {workload for workload, _operation in by_place} >= IO500_WORKLOADS:
        return
    repeats = sorted({sample.repeat for row in rows for sample in row.samples})
    broken = _broken(by_place)
    for repeat in repeats:
        phases = tuple(_phase(source, by_place, repeat) for source in PHASES)
        bandwidth = geometric_mean(phase.value for phase in phases if phase.bandwidth)
        iops = geometric_mean(phase.value for phase in phases if not phase.bandwidth)
        total = None if bandwidth is None or iops is None else math.sqrt(bandwidth * iops)
        short = _stonewalls(by_place, repeat)
        yield Score(rows[0].case.target, repeat, phases, bandwidth, iops, total, (*short, *broken))


Places = Mapping[tuple[str, str], ResultRow]


def _sample(by_place: Places, workload: str, operation: str, repeat: int) -> Sample | None:
    row = by_place.get((workload, operation))
    samples = usable(row.samples) if row is not None else ()
    return next((sample for sample in samples if sample.repeat == repeat), None)


def _phase(source: PhaseSource, by_place: Places, repeat: int) -> Phase:
    if not source.workload:
        return _find(by_place, repeat)
    sample = _sample(by_place, source.workload, source.operation, repeat)
    if sample is None or sample.elapsed_ns <= 0:
        return Phase(source.name, None, source.bandwidth, 0.0)
    seconds = sample.elapsed_ns / 1e9
    amount = sample.bytes / GIB if source.bandwidth else sample.ops / 1000
    return Phase(source.name, amount / seconds, source.bandwidth, seconds)


def _find(by_place: Places, repeat: int) -> Phase:
    """Return the find phase: the rate of names over the time in which they were listed and their attributes read."""
    parts = [
        _sample(by_place, workload, operation, repeat)
        for workload in ("mdtest-easy", "mdtest-hard")
        for operation in ("readdir", "stat")
    ]
    known = [part for part in parts if part is not None and part.elapsed_ns > 0]
    if len(known) < len(parts):
        return Phase("find", None, False, 0.0)
    seconds = sum(part.elapsed_ns for part in known) / 1e9
    names = sum(part.ops for part in known if part.operation == "stat")
    return Phase("find", names / 1000 / seconds, False, seconds)


def _stonewalls(by_place: Places, repeat: int) -> Iterator[str]:
    for source in (source for source in PHASES if source.writes):
        sample = _sample(by_place, source.workload, source.operation, repeat)
        if sample is None:
            continue
        parameters = by_place[source.workload, source.operation].case.parameters
        if sample.at_limit is None or not parameters.wear_out:
            yield f"{source.name} has no stonewall with wear-out"
        elif sample.at_limit.elapsed_ns < STONEWALL_NS:
            yield f"{source.name} ran {about_number(sample.at_limit.elapsed_ns / 1e9)} s to the stonewall, not 300 s"


def _broken(by_place: Places) -> tuple[str, ...]:
    """Return the broken rules that concern all repeats."""
    hard, names = by_place["ior-hard", "write"].case.parameters, by_place["mdtest-hard", "create"].case.parameters
    easy = by_place["mdtest-easy", "create"].case.parameters
    found = []
    if (hard.record_size, hard.block_size, hard.layout) != (HARD_TRANSFER, HARD_TRANSFER, "shared"):
        found.append("ior-hard is not strided in one file by transfers of 47008 bytes")
    if (names.file_size, names.layout, names.depth) != (HARD_FILE, "shared", 0):
        found.append("mdtest-hard does not use files of 3901 bytes in one directory")
    if easy.layout != "separate":
        found.append("mdtest-easy does not use one directory for each task")
    used = {
        row.case.workload: row.case.parameters for (workload, _), row in by_place.items() if workload in IO500_WORKLOADS
    }
    own = [workload for workload, parameters in used.items() if not _elsewhere(parameters)]
    if own:
        found.append(
            f"a host reads or stats files that it made itself ({', '.join(own)}): one host, or no reorder: node"
        )
    return (
        *found,
        "each group of files is read right after it was written, not after all writes",
        "find is the listing of all directories and the stat phases, not a search by name, size and time",
        "mdtest-hard-read reads files of its own, made as mdtest-hard makes them",
    )


def _elsewhere(parameters: Parameters) -> bool:
    """Whether each lane reads files of a lane on another host: `shift` moves by one host's lanes or more."""
    return parameters.host_lanes <= parameters.lane_shift <= parameters.all_lanes - parameters.host_lanes
