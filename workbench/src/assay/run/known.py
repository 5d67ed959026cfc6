"""How much runs of a study differ though nothing was changed: read from the other runs in the folder."""

from collections.abc import Collection
from pathlib import Path
from typing import TYPE_CHECKING

from assay.model.base import AssayError
from assay.model.result.verdict import NO_RESULT, Verdict

if TYPE_CHECKING:
    from assay.analyse.between import Between, Key
    from assay.store import RunStore


def known_runs(study: str, without: Collection[str], out: Path) -> "Between | None":
    """What the complete runs of a study show of themselves; None if there are too few.

    Args:
        study: Its name.
        without: Folders of runs that are left out: those that are to be judged.
        out: Folder of the runs.
    """
    from assay.analyse.between import between
    from assay.store import RunStore, list_runs
    from assay.store.damage import damage_told

    left_out = {Path(folder).resolve() for folder in without}
    series: dict[Key, list[float]] = {}
    for summary in list_runs(out):
        folder = Path(summary.folder)
        whole = summary.study == study and not summary.problem and summary.status.startswith("complete")
        if not whole or folder.resolve() in left_out:
            continue
        try:
            with RunStore.open(folder) as store, damage_told(folder):
                found = _medians(store)
        except AssayError:
            continue
        for key, rate in found.items():
            series.setdefault(key, []).append(rate)
    return between(series)


def _medians(store: "RunStore") -> "dict[Key, float]":
    """Row -> its median in the run, without results that are none."""
    from assay.run.brief import results_of

    cases = {case.id: case for case in store.cases()}
    found: dict[Key, float] = {}
    for result in results_of(store):
        case, rate = cases[result.case], result.iops if result.counted else result.throughput
        if rate and Verdict(result.verdict) not in NO_RESULT:
            found[case.target, case.workload, result.operation, case.parameters.model_dump_json()] = rate
    return found
