"""The results of a run in brief: as stored at its end, or computed now."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from assay.model.result.brief_result import BriefResult
    from assay.model.result.summary_page import SummaryPage
    from assay.store import RunStore

FEW_REPEATS = 2000
"""Most finished repeats of an unfinished run that is judged at once."""


def stored_or_new_results(store: "RunStore", limit: int = -1) -> "list[BriefResult]":
    """Return brief results: those stored at the end of the run, or computed now if it is unfinished and not large."""
    stored = store.results(limit=limit)
    if stored or store.info().finished > FEW_REPEATS:
        return stored
    from assay.model.result.brief_result import summarise
    from assay.run.analysis import analyse_store

    results = [summarise(row) for row in analyse_store(store, quick=True).rows if row.samples]
    return results if limit < 0 else results[:limit]


def first_results(store: "RunStore", limit: int | None) -> "tuple[list[BriefResult], int]":
    """Return the first results (all if `limit` is None), see `stored_or_new_results`, and how many there are."""
    if count := store.verdict_counts().total:
        return stored_or_new_results(store, -1 if limit is None else limit), count
    results = stored_or_new_results(store)
    return results[:limit], len(results)


def stored_or_new_page(store: "RunStore") -> "SummaryPage | None":
    """Return the first page: as stored at the end of the run, or computed now if it is unfinished and not large."""
    info = store.info()
    if info.page is not None or store.results(limit=1) or info.finished > FEW_REPEATS:
        return info.page
    from assay.run.answers import compute_answers

    return compute_answers(store).page
