"""Ten finished runs whose first pages are known: five as they should be, five as nobody wants them."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from builders import MEMORY_PLACE, make_case, make_meta, make_place, make_sample
from stored_runs import STARTED, noisy

from assay.model.result.run import Place
from assay.model.study.case import Case
from assay.store import RunStore

KIB, MIB = 1024, 1024 * 1024
SIZES = (4 * KIB, 64 * KIB, MIB)
DISK = make_place("disk")
NO_RATES: Sequence[float] = ()
Rates = Callable[[str, str, Any], Sequence[float]]
"""Target, operation, value of the axis -> rates of the repeats, in bytes per second; empty: all of them failed."""


class PageRun(NamedTuple):
    """A run.

    Attributes:
        axis: What is swept, and its values.
        fields: Of all samples of an operation, besides the rate.
        planned: Repeats, if fewer were done.
    """

    question: str
    places: Sequence[Place]
    rates: Rates
    operations: tuple[str, ...] = ("write", "read")
    axis: tuple[str, Sequence[Any]] = ("record_size", SIZES)
    fields: Callable[[str, float], Mapping[str, Any]] = lambda operation, rate: {}
    planned: int = 0
    parameters: Mapping[str, Any] = {}


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
}


def store_page_run(root: Path, name: str) -> Path:
    """Make one of the runs; its folder."""
    run = RUNS[name]
    axis, values = run.axis
    points = [(place.target, value) for place in run.places for value in values]
    cases = [
        make_case(f"c{number:04}", target, run.operations, axes={axis: value}, **run.parameters)
        for number, (target, value) in enumerate(points, start=1)
    ]
    done = max(len(run.rates(target, run.operations[0], value)) for target, value in points)
    repeats = run.planned or done
    meta = make_meta(
        id=f"20261121-080000-{name}",
        study=name,
        question=run.question,
        created_at=STARTED,
        repeats=repeats,
        command=f"assay run {name}.yaml",
        versions={"assay": "0.1.0"},
        environment={"memory": {"total": "8 GiB"}},
        places=tuple(run.places),
    )
    order = [(case.id, repeat) for repeat in range(1, repeats + 1) for case in cases]
    with RunStore.create(root, meta, cases, (), order, f"study: {meta.study}\n") as store:
        for repeat in range(1, done + 1):
            for case, (target, value) in zip(cases, points, strict=True):
                _keep(store, case, repeat, {one: run.rates(target, one, value) for one in run.operations}, run)
        store.set_status("complete" if repeats == done else "interrupted")
        return store.folder


def _keep(store: RunStore, case: Case, repeat: int, rates: Mapping[str, Sequence[float]], run: PageRun) -> None:
    attempt = store.begin_attempt(case.id, repeat, {"id": f"{case.id}-r{repeat}"})
    if not all(rates.values()):
        store.finish_repeat(attempt, "failed", 0.1, "open /dev/shm: Permission denied (EACCES)", "", [])
        return
    samples = [
        make_sample(
            case.id, repeat, each[repeat - 1], operation, phase=phase, **run.fields(operation, each[repeat - 1])
        )
        for phase, (operation, each) in enumerate(rates.items())
    ]
    store.finish_repeat(attempt, "ok", 0.1, "", "", samples)
