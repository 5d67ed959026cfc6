"""Finished runs on disk, made without the engine: for tests of what looks at several runs."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from builders import make_case, make_meta, make_names, make_place, make_sample

from assay.model.study.case import Case
from assay.store import RunStore

STARTED = 1_795_288_503.0
DAY = 86_400.0
ENVIRONMENT = {"kernel": {"release": "6.1.0-28-amd64"}, "memory": {"total": "8 GiB"}}

Speeds = Mapping[tuple[str, str], Sequence[float]]
"""(target, operation) -> the rate of each repeat, bytes per second or metadata operations per second."""


def noisy(middle: float, count: int = 10, sigma: float = 0.03, seed: int = 1) -> list[float]:
    """Rates with log-normal noise."""
    return [float(middle * factor) for factor in np.exp(np.random.default_rng(seed).normal(0, sigma, count))]


def store_run(root: Path, name: str, speeds: Speeds, **changes: Any) -> Path:
    """Make a finished run of a study with one case a target.

    Args:
        root: Folder of the runs.
        name: Id of the run.
        speeds: What was measured.
        changes: `planned` (repeats, if fewer were done), `study`, `created_at`, `environment`, `axes` and `file_size`
            of all cases, `samples`: (target, operation) -> fields.
    """
    targets = list(dict.fromkeys(target for target, _ in speeds))
    parameters = {"axes": changes.get("axes", {"record_size": 65536})}
    parameters |= {"file_size": changes["file_size"]} if "file_size" in changes else {}
    cases = [
        make_case(f"c{number:04}", target, tuple(operation for at, operation in speeds if at == target), **parameters)
        for number, target in enumerate(targets, start=1)
    ]
    done = max(len(rates) for rates in speeds.values())
    repeats = changes.get("planned", done)
    meta = make_meta(
        id=name,
        study=changes.get("study", "nightly"),
        question="Is it as fast as it was?",
        created_at=changes.get("created_at", STARTED),
        repeats=repeats,
        command="assay run study.yaml",
        versions={"assay": "0.1.0"},
        environment=changes.get("environment", ENVIRONMENT),
        places=tuple(make_place(target) for target in targets),
    )
    order = [(case.id, repeat) for repeat in range(1, repeats + 1) for case in cases]
    with RunStore.create(root, meta, cases, (), order, f"study: {meta.study}\n") as store:
        for repeat in range(1, done + 1):
            for case in cases:
                _store_repeat(store, case, repeat, speeds, changes.get("samples", {}))
        store.set_status("complete" if repeats == done else "stopped")
        return store.folder


def _store_repeat(
    store: RunStore, case: Case, repeat: int, speeds: Speeds, fields: Mapping[tuple[str, str], Mapping[str, Any]]
) -> None:
    samples = []
    for phase, operation in enumerate(case.operations):
        rates = speeds[case.target, operation]
        if repeat <= len(rates):
            more = {"operation": operation, "phase": phase, **fields.get((case.target, operation), {})}
            made = make_names if case.is_metadata else make_sample
            samples.append(made(case.id, repeat, rates[repeat - 1], **more))
    attempt = store.begin_attempt(case.id, repeat, {"id": f"{case.id}-r{repeat}"})
    store.finish_repeat(attempt, "ok", 0.1, "", "", samples)
