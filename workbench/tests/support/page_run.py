"""A finished run made of rates, for tests of what is said of it."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from builders import MIB, make_case, make_meta, make_place, make_sample
from stored_runs import STARTED

from assay.model.result.run import TargetPlace
from assay.model.study.blocks import Blocks
from assay.model.study.case import Case
from assay.model.study.needs import TargetNeed
from assay.store import RunStore

KIB = 1024
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
        parameters: Of all cases.
        of: Target -> its operations, where not all targets have the same.
        needs: Of the study.
        blocks: Of two sides that were measured in turns.
        finish: What else is known at the end.
    """

    question: str
    places: Sequence[TargetPlace]
    rates: Rates
    operations: tuple[str, ...] = ("write", "read")
    axis: tuple[str, Sequence[Any]] = ("record_size", SIZES)
    fields: Callable[[str, float], Mapping[str, Any]] = lambda operation, rate: {}
    planned: int = 0
    parameters: Mapping[str, Any] = {}
    of: Mapping[str, tuple[str, ...]] = {}
    needs: tuple[TargetNeed, ...] = ()
    blocks: Blocks | None = None
    finish: Callable[[RunStore], None] = lambda store: None

    def of_target(self, target: str) -> tuple[str, ...]:
        """Operations on a target."""
        return self.of.get(target, self.operations)


def store(root: Path, name: str, run: PageRun) -> Path:
    """Make the run; its folder."""
    axis, values = run.axis
    points = [(place.target, value) for place in run.places for value in values]
    cases = [
        make_case(f"c{number:04}", target, run.of_target(target), axes={axis: value}, **run.parameters)
        for number, (target, value) in enumerate(points, start=1)
    ]
    done = max(len(run.rates(target, run.of_target(target)[0], value)) for target, value in points)
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
        needs=run.needs,
        blocks=run.blocks,
    )
    order = [(case.id, repeat) for repeat in range(1, repeats + 1) for case in cases]
    with RunStore.create(root, meta, cases, (), order, f"study: {meta.study}\n") as kept:
        for repeat in range(1, done + 1):
            for case, (target, value) in zip(cases, points, strict=True):
                rates = {one: run.rates(target, one, value) for one in run.of_target(target)}
                _keep(kept, case, repeat, rates, run)
        run.finish(kept)
        kept.set_status("complete" if repeats == done else "interrupted")
        return kept.folder


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
