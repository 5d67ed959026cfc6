"""Twenty finished runs whose first pages are known: as they should be, and as nobody wants them."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from builders import MEMORY_PLACE, MIB, make_place
from page_run import DISK, KIB, NO_RATES, PageRun, store
from page_runs_more import MORE_RUNS
from stored_runs import noisy


def _plain(target: str, operation: str, size: int) -> Sequence[float]:
    middle = {"disk": 300e6, "memory": 3e9}[target] * (1 if operation == "read" else 0.6)
    return noisy(middle * (0.4 if size < MIB else 1), 8, seed=size % 97 + sum(map(ord, target + operation)))


def _alike(target: str, operation: str, size: int) -> Sequence[float]:
    return noisy(500e6, 16, 0.008, seed=size % 89 + sum(map(ord, target + operation)))


def _wild(target: str, operation: str, size: int) -> Sequence[float]:
    return noisy({"disk": 300e6, "memory": 420e6}[target], 8, 0.7, seed=size % 83 + sum(map(ord, target + operation)))


def _crossing(target: str, operation: str, size: int) -> Sequence[float]:
    ahead = {"disk": size <= 64 * KIB, "memory": size > 64 * KIB}[target]
    return noisy(900e6 if ahead else 350e6, 10, 0.04, seed=size % 79 + sum(map(ord, target + operation)))


def _missing(target: str, operation: str, size: int) -> Sequence[float]:
    return NO_RATES if target == "memory" else _plain(target, operation, size)


def _three(target: str, operation: str, size: int) -> Sequence[float]:
    return noisy(
        {"disk": 300e6, "raid": 700e6, "memory": 3e9}[target],
        10,
        0.04,
        seed=size % 73 + sum(map(ord, target + operation)),
    )


def _hosts(target: str, operation: str, hosts: int) -> Sequence[float]:
    return noisy(min(hosts * 110e6, 230e6), 8, 0.01, seed=hosts + len(operation))


def _waits(operation: str, rate: float) -> Mapping[str, Any]:
    return {"cpu_wait_ns": int(0.6 * 16 * MIB / rate * 1e9)}


def _from_memory(operation: str, rate: float) -> Mapping[str, Any]:
    return {"device_read_bytes": 0} if operation == "read" else {}


RAID = make_place("raid", device="/dev/md0")
RUNS: dict[str, PageRun] = {
    "plain": PageRun("Disk or memory for scratch files?", (DISK, MEMORY_PLACE), _plain),
    "equal": PageRun("Is the new disk as fast as the old one?", (make_place("old"), make_place("new")), _alike),
    "one-target": PageRun("What does this disk do?", (DISK,), _plain, ("write", "read", "random_read")),
    "three-targets": PageRun("Disk, RAID or memory?", (DISK, RAID, MEMORY_PLACE), _three),
    "more-hosts": PageRun(
        "Where does the server saturate?", (make_place("store"),), _hosts, axis=("hosts", (1, 2, 4, 8))
    ),
    "all-unstable": PageRun("Disk or memory?", (DISK, MEMORY_PLACE), _wild),
    "all-client-bound": PageRun("Disk or memory?", (DISK, MEMORY_PLACE), _plain, fields=_waits),
    "target-missing": PageRun("Disk or memory?", (DISK, MEMORY_PLACE), _missing),
    "crossing": PageRun("Disk or memory?", (DISK, MEMORY_PLACE), _crossing),
    "stopped-and-cached": PageRun("Disk or RAID?", (DISK, RAID), _three, fields=_from_memory, planned=20),
    **MORE_RUNS,
}


def store_page_run(root: Path, name: str) -> Path:
    """Make one of the runs; its folder."""
    return store(root, name, RUNS[name])
