"""Runs the pairs: in each round both tools twice, the one inside the other."""

from __future__ import annotations

import os
from pathlib import Path

from measure import run_contender
from model import AbsentError, BenchError, Contender, Sample, Setting
from peers.assay import GIB
from results import RowResult

from agreement.compare import again
from agreement.workloads import Workload, by_assay, by_fio, counted

TOOLS = ("fio", "assay")
CALLS = "{} calls"
"""Key of what perf has counted of a contender."""


def order(number: int, variants: list[str]) -> list[str]:
    """Keys of the runs of a round: fio, Assay, Assay, fio, or the other way round, so that a drift hits both alike."""
    first, second = TOOLS if number % 2 == 0 else TOOLS[::-1]
    return [first, second, *variants, again(second), again(first)]


def contenders(work: Workload, size: int) -> dict[str, Contender]:
    """Who does the work, by key."""
    found = {"fio": by_fio(work, size), "assay": by_assay(work, size)}
    found |= {variant.key: by_fio(work, size, variant.batch, variant.key) for variant in work.variants}
    return found


def run_workload(work: Workload, setting: Setting, rounds: int, size: int = GIB) -> RowResult:
    """All rounds of one workload, after one run of each that is not recorded.

    Raises:
        BenchError: A tool is absent or does not get through its first run, or the file has changed its place.
    """
    there = contenders(work, size)
    result = RowResult()
    place = _place(setting.file)
    setting.seed = 1
    for key, contender in there.items():
        _, result.commands[key] = run_contender(contender, setting)
    for number in range(rounds):
        for position, key in enumerate(order(number, [variant.key for variant in work.variants])):
            setting.seed = 100 * (number + 1) + position
            _record(result, key, there[key.removesuffix(" again")], setting)
    _count_calls(result, there, setting)
    if _place(setting.file) != place:
        raise BenchError(f"{setting.file} was made anew: its place on the disk is not the same for both tools")
    return result


def _record(result: RowResult, key: str, contender: Contender, setting: Setting) -> None:
    sample: Sample | None = None
    before = requests(setting.file)
    try:
        sample, _ = run_contender(contender, setting)
        after = requests(setting.file)
        if before is not None and after is not None and sample["ops"]:
            sample["requests_per_op"] = (after - before) / sample["ops"]
    except BenchError as error:
        result.failures[key] = str(error)
    result.rounds.setdefault(key, []).append(sample)


def requests(file: Path) -> int | None:
    """Reads and writes that the device below a file has completed so far, whoever asked for them.

    None where the file system has no block device of its own. Source: Documentation/block/stat.rst.
    """
    device = file.stat().st_dev
    try:
        counts = Path(f"/sys/dev/block/{os.major(device)}:{os.minor(device)}/stat").read_text().split()
    except OSError:
        return None
    return int(counts[0]) + int(counts[4])


def _count_calls(result: RowResult, there: dict[str, Contender], setting: Setting) -> None:
    """One more run of each under perf, if that is there and allowed."""
    for key, contender in there.items():
        try:
            sample, _ = run_contender(counted(contender), setting)
            result.rounds[CALLS.format(key)] = [sample]
        except (AbsentError, BenchError) as error:
            result.absent[CALLS.format(key)] = str(error)


def _place(file: Path) -> tuple[int, int, int]:
    """What differs if a file was made anew: inode, size, blocks."""
    found = file.stat()
    return found.st_ino, found.st_size, found.st_blocks
