"""Analyses and judges a stored run, as the basis of `show`, `report` and `export`."""

from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import TypeVar

from assay.analyse.exceeded import Key, SampleRate, exceeding_results, raise_ceilings
from assay.analyse.rows import RowMaker, analyse
from assay.analyse.statistics.autocorrelation import known_autocorrelation
from assay.judge.judge import judge
from assay.model.base import AssayError
from assay.model.gc_control import without_gc
from assay.model.result.ceiling import ExceedingRepeat
from assay.model.result.result import ResultRow, RunAnalysis
from assay.model.result.run import RunInfo
from assay.model.result.sample import Sample
from assay.run.find_run import find_shown_run
from assay.store import RunStore
from assay.store.prices import with_prices, without_prices

Run = TypeVar("Run", bound=RunInfo)


def load_analysis(ref: str, root: Path, case: str | None = None, quick: bool = False) -> RunAnalysis:
    """Open, analyse and judge a run.

    Args:
        ref: Id of the run, a unique prefix, `last`, or a path, also of what other tools wrote.
        root: Folder of all runs.
        case: Only this case; then there are no comparisons.
        quick: Leave out what only a report needs: pooled latencies, curves, comparisons, notes and jobs.

    Raises:
        AssayError: There is no such run or case.
    """
    with RunStore.open(find_shown_run(ref, root)) as store:
        return analyse_store(store, case, quick)


@without_gc()
def analyse_store(store: RunStore, case: str | None = None, quick: bool = False) -> RunAnalysis:
    """Analyse and judge an open run; arguments and errors as in `load_analysis`."""
    run = with_raised_ceilings(store, with_prices(store) if case is None and not quick else without_prices(store))
    cases = store.cases(case)
    if case is not None and not cases:
        raise AssayError(f"run {run.id} has no case {case!r}", f"`assay show {run.id}` names its cases")
    excluded = store.excluded() if case is None else ()
    settled = store.settled_as_known()
    jobs = store.jobs(case, with_job=not quick)
    samples = store.samples(case)
    return analyse(run, cases, excluded, samples, jobs, judge, quick, settled, autocorrelation(store))


def autocorrelation(store: RunStore) -> float | None:
    """Return how much a repeat of a run resembles the one before it; None if there are too few results to tell."""
    return known_autocorrelation(store.rate_series())


def rows_up_to_round(store: RunStore, repeat: int) -> list[ResultRow]:
    """Return the rows of a run as if it had ended after a round; quick, as in `analyse_store`.

    Args:
        store: The run, which may be under way.
        repeat: Number of that round; later repeats are left out.
    """
    rows: list[ResultRow] = []
    settled = {case.id: True for case in store.cases()}
    maker = RowMaker(store.info(), judge, quick=True, settled=settled)
    for case, samples in store.cases_with_samples():
        jobs = [job for job in store.jobs(case.id, with_job=False) if job.repeat <= repeat]
        rows += maker.rows(case, [sample for sample in samples if sample.repeat <= repeat], jobs)
    return rows


def with_raised_ceilings(store: RunStore, run: Run) -> Run:
    """Return the run with ceilings raised to the best rates observed, including those of its own results."""
    return run.model_copy(update={"ceilings": raise_ceilings(run.ceilings, exceeded_ceilings(store, run))})


def exceeded_ceilings(store: RunStore, run: RunInfo) -> dict[Key, ExceedingRepeat]:
    """Return the ceilings that the run's results exceed, as they were measured; see `assay.analyse.exceeded`."""
    if not run.ceilings:
        return {}
    case_of = cache(store.case)

    def above(throughput: float, iops: float) -> Iterator[SampleRate]:
        return (SampleRate(*item) for item in store.rates(throughput, iops))

    return exceeding_results(run.ceilings, run.places, above, case_of, store.sample)


def judged_rows(store: RunStore, run: RunInfo | None = None, quick: bool = True) -> Iterator[ResultRow]:
    """Yield the rows of a run as `analyse_store` makes them, in plan order.

    Only one case is in memory at a time, so that runs of any size can be judged.

    Args:
        store: The run.
        run: The same run without its results, as `with_raised_ceilings` makes it; made if left out.
        quick: As in `analyse_store`.
    """
    if run is None:
        run = with_raised_ceilings(store, store.info())
    settled = store.settled_as_known()
    maker = RowMaker(run, judge, quick, settled, autocorrelation(store) or 0.0)
    for case, samples in store.cases_with_samples():
        # Jobs only explain what is missing, and a complete case lacks nothing.
        complete = case.id not in settled and len(samples) == run.repeats * len(case.operations)
        yield from maker.rows(case, samples, () if complete else store.jobs(case.id, with_job=False))


def row_samples(store: RunStore) -> Iterator[Sample]:
    """Yield the samples of the rows that `judged_rows` makes, in the same order, without making the rows."""
    maker = RowMaker(store.info(), judge)
    return (
        item
        for case, samples in store.cases_with_samples()
        for _, group in maker.groups(case, samples)
        for item in group
    )
