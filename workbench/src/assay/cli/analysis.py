"""A stored run, analysed and judged: what `show`, `report` and `export` start from."""

from pathlib import Path
from typing import Any

from assay.analyse.rows import analyse
from assay.judge.evidence import Evidence
from assay.judge.judge import judge
from assay.model.base import AssayError
from assay.model.result import RunAnalysis
from assay.model.verdict import Finding, Verdict
from assay.store import RunStore, find_run


def judge_row(**facts: Any) -> tuple[Verdict, tuple[Finding, ...], tuple[str, ...]]:
    """The verdict on one row; `facts` are the fields of `Evidence`."""
    return judge(Evidence(**facts))


def load_analysis(ref: str, root: Path, case: str | None = None, quick: bool = False) -> RunAnalysis:
    """Open a run, analyse and judge it.

    Args:
        ref: Id of the run, a unique prefix, `last`, or a path.
        root: Folder of all runs.
        case: Only this case; then there are no comparisons.
        quick: Leave out what only a report needs: pooled latencies, curves, comparisons and notes.

    Raises:
        AssayError: There is no such run or case.
    """
    store = RunStore.open(find_run(ref, root))
    try:
        return analyse_store(store, case, quick)
    finally:
        store.close()


def analyse_store(store: RunStore, case: str | None = None, quick: bool = False) -> RunAnalysis:
    """Analyse and judge an open run; arguments and errors as in `load_analysis`."""
    run = store.info()
    cases = store.cases()
    if case is not None:
        cases = tuple(found for found in cases if found.id == case)
        if not cases:
            raise AssayError(f"run {run.id} has no case {case!r}", f"`assay show {run.id}` names its cases")
    excluded = store.excluded() if case is None else ()
    return analyse(run, cases, excluded, store.samples(case), store.jobs(case), judge_row, quick)
