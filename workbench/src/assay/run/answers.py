"""The answers of a run to the study's question, in words. They are stored with the run, so that all reports agree."""

from collections.abc import Iterator
from contextlib import nullcontext
from typing import NamedTuple

from assay.analyse.compare import compare
from assay.analyse.decide import decide
from assay.model.base import AssayError
from assay.model.collector import no_collector
from assay.model.result.brief import Result, brief
from assay.model.result.first_page import FirstPage
from assay.model.result.result import PricedRun, Row, RunAnalysis
from assay.report.claims import claims
from assay.report.document import words
from assay.report.first.page import first_page
from assay.report.first.words import sentences
from assay.report.view import View
from assay.run.analysis import judged_rows, with_seen
from assay.run.settle import took
from assay.store import RunStore
from assay.store.prices import priced, unpriced

MOST_REPEATS = 20_000
"""Rows of a run with more repeats may not fit into memory; only a report states its answer."""


def _priced(store: RunStore) -> PricedRun:
    """Return the run with its prices, or without them if they are damaged; commands on costs report that damage."""
    try:
        return priced(store)
    except AssayError:
        return unpriced(store)


class Answers(NamedTuple):
    """The answers of a run.

    Attributes:
        sentences: One for each kind of work and pair of targets, in plan order.
        page: The first page of its report; None if the run is too large or has no result.
    """

    sentences: tuple[str, ...]
    page: FirstPage | None


def answers(store: RunStore) -> Answers:
    """Return the answers of a run that has ended or is under way."""
    run = _priced(store)
    if run.finished > MOST_REPEATS:
        return Answers((), None)
    run = with_seen(store, run)
    return _answers(store, run, tuple(judged_rows(store, run)))


def conclude(store: RunStore) -> None:
    """Judge a run that is just ending, although its status does not say so yet, and store its results and answers.

    Each row is judged once. The rows of a run with more than `MOST_REPEATS` repeats are never all in memory.
    """
    run = with_seen(store, _priced(store)).model_copy(update={"status": "complete"})
    store.describe(ceilings=run.ceilings)
    few = run.finished <= MOST_REPEATS
    rows: list[Row] = []

    def results() -> Iterator[Result]:
        for row in judged_rows(store, run):
            if few:
                rows.append(row)
            yield brief(row)

    # The collector stays on for a large run, so that each row is freed after use.
    with no_collector() if few else nullcontext():
        store.save_results(results())
        result = _answers(store, run, tuple(rows))
    store.describe(answers=result.sentences, page=result.page)


def _answers(store: RunStore, run: PricedRun, rows: tuple[Row, ...]) -> Answers:
    if not any(row.samples for row in rows):
        return Answers((), None)
    pairs = compare(rows, run.looks) if len(run.places) > 1 else ()
    decisions = decide(rows, pairs, run.equal_within, took(store), run.ignored, run.alike)
    analysis = RunAnalysis(
        run=run,
        cases=store.cases(),
        excluded=(),
        rows=rows,
        comparisons=pairs,
        notes=(),
        jobs=(),
        decisions=decisions,
        machine=run.machine,
    )
    page = first_page(View(analysis)).kept(run.question or run.study)
    return Answers(tuple(words(text) for text in sentences(claims(decisions))), page)
