"""The results of a run in brief: as stored at its end, or computed now."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from assay.model.result.brief import Result
    from assay.model.result.first_page import FirstPage
    from assay.store import RunStore

FEW_REPEATS = 2000
"""Most finished repeats of an unfinished run that is judged at once."""


def results_of(store: "RunStore", limit: int = -1) -> "list[Result]":
    """Return brief results: those stored at the end of the run, or computed now if it is unfinished and not large."""
    stored = store.results(limit=limit)
    if stored or store.info().finished > FEW_REPEATS:
        return stored
    from assay.model.result.brief import brief
    from assay.run.analysis import analyse_store

    results = [brief(row) for row in analyse_store(store, quick=True).rows if row.samples]
    return results if limit < 0 else results[:limit]


def first_results(store: "RunStore", limit: int | None) -> "tuple[list[Result], int]":
    """Return the first results as from `results_of`, all of them if `limit` is None, and how many there are."""
    if count := store.verdict_counts().total:
        return results_of(store, -1 if limit is None else limit), count
    results = results_of(store)
    return results[:limit], len(results)


def page_of(store: "RunStore") -> "FirstPage | None":
    """Return the first page: as stored at the end of the run, or computed now if it is unfinished and not large."""
    info = store.info()
    if info.page is not None or store.results(limit=1) or info.finished > FEW_REPEATS:
        return info.page
    from assay.run.answers import answers

    return answers(store).page
