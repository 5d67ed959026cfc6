"""How much unchanged runs of a study differ, computed from the other runs in the folder."""

from collections.abc import Collection, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from assay.model.base import AssayError
from assay.model.result.verdict import NO_RESULT, Verdict

if TYPE_CHECKING:
    from assay.analyse.run_variation import Key, RunVariation
    from assay.model.result.comparison import JointRuns, RunsComparison
    from assay.model.result.result import RunAnalysis
    from assay.store import RunStore


def compare_with_history(
    out: Path, before: "Sequence[RunAnalysis]", after: "Sequence[RunAnalysis]", by_target: bool = False
) -> "RunsComparison":
    """Compare runs, given how much unchanged runs of their study in the folder differ.

    Args:
        out: Folder of the runs.
        before: One or several, the oldest first.
        after: One or several, the oldest first.
        by_target: Compare each target with each; see `assay.analyse.runs.compare_runs`.

    Raises:
        AssayError: They have nothing in common.
    """
    from assay.analyse.runs import compare_runs

    return compare_runs(before, after, by_target=by_target, variation=_known_variation(out, before, after))


def join_with_history(out: Path, runs: "Sequence[RunAnalysis]") -> "JointRuns":
    """Return any number of runs side by side, given how much unchanged runs of their study in the folder differ.

    Args:
        out: Folder of the runs.
        runs: At least two; the others are compared with the first one.
    """
    from assay.analyse.runs_joint import joint_runs

    return joint_runs(runs, _known_variation(out, runs[:1], runs[1:]))


def _known_variation(
    out: Path, before: "Sequence[RunAnalysis]", after: "Sequence[RunAnalysis]"
) -> "RunVariation | None":
    """Return how much runs of the study differ, without those to be judged; None if they are of several studies."""
    study = before[-1].run.study
    if any(one.run.study != study for one in (*before, *after)):
        return None
    return spread_between_runs(study, [one.run.folder for one in after], out)


def spread_between_runs(study: str, without: Collection[str], out: Path) -> "RunVariation | None":
    """Return how much the complete runs of a study differ; None if there are too few.

    Args:
        study: Its name.
        without: Folders of runs that are left out, because they are to be judged.
        out: Folder of the runs.
    """
    from assay.analyse.run_variation import run_variation
    from assay.store import RunStore, list_runs
    from assay.store.damage import damage_as_error

    left_out = {Path(folder).resolve() for folder in without}
    series: dict[Key, list[float]] = {}
    for summary in list_runs(out):
        folder = Path(summary.folder)
        is_complete = summary.study == study and not summary.problem and summary.status.startswith("complete")
        if not is_complete or folder.resolve() in left_out:
            continue
        try:
            with RunStore.open(folder) as store, damage_as_error(folder):
                medians = _medians(store)
        except AssayError:
            continue
        for key, rate in medians.items():
            series.setdefault(key, []).append(rate)
    return run_variation(series)


def _medians(store: "RunStore") -> "dict[Key, float]":
    """Return the median of each row of a run, without rows that are no result."""
    from assay.run.brief_results import stored_or_new_results

    cases = {case.id: case for case in store.cases()}
    medians: dict[Key, float] = {}
    for result in stored_or_new_results(store):
        case, rate = cases[result.case], result.iops if result.is_counted else result.throughput
        if rate and Verdict(result.verdict) not in NO_RESULT:
            medians[case.target, case.workload, result.operation, case.parameters.model_dump_json()] = rate
    return medians
