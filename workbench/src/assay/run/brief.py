"""What a run has found, in brief: as kept at its end, or computed now."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from assay.model.result.brief import Result
    from assay.model.result.first_page import FirstPage
    from assay.store import RunStore

FEW_REPEATS = 2000
"""An unfinished run with at most so many repeats done is judged on the spot."""


def results_of(store: "RunStore", limit: int = -1) -> "list[Result]":
    """Results in brief: those kept at the end of the run, or computed now if the run is not over and not large."""
    kept = store.results(limit=limit)
    if kept or store.info().finished > FEW_REPEATS:
        return kept
    from assay.model.result.brief import brief
    from assay.run.analysis import analyse_store

    found = [brief(row) for row in analyse_store(store, quick=True).rows if row.samples]
    return found if limit < 0 else found[:limit]


def first_results(store: "RunStore", limit: int | None) -> "tuple[list[Result], int]":
    """The first results as `results_of` has them, all of them if None, and how many there are."""
    if count := store.verdict_counts().total:
        return results_of(store, -1 if limit is None else limit), count
    found = results_of(store)
    return found[:limit], len(found)


def page_of(store: "RunStore") -> "FirstPage | None":
    """The first page: as kept at the end of the run, or computed now if the run is not over and not large."""
    info = store.info()
    if info.page is not None or store.results(limit=1) or info.finished > FEW_REPEATS:
        return info.page
    from assay.run.answers import answers

    return answers(store).page
