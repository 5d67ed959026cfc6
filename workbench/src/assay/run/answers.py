"""What a run says of its questions, in words: kept with it, so that everybody says the same of it."""

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
"""Of a run with more repeats, whose rows may not fit into memory, only a report tells the answer."""


def _priced(store: RunStore) -> PricedRun:
    """The run with its prices; without them if they are damaged, which whoever asks for costs is told."""
    try:
        return priced(store)
    except AssayError:
        return unpriced(store)


class Answers(NamedTuple):
    """The answer of a run.

    Attributes:
        sentences: One for each kind of work and pair of targets, in plan order.
        page: The first page of its report; None of a run that is too large, or without a result.
    """

    sentences: tuple[str, ...]
    page: FirstPage | None


def answers(store: RunStore) -> Answers:
    """What a run says that has ended or is under way."""
    run = _priced(store)
    if run.finished > MOST_REPEATS:
        return Answers((), None)
    run = with_seen(store, run)
    return _answers(store, run, tuple(judged_rows(store, run)))


def conclude(store: RunStore) -> None:
    """Judge a run that is just ending, though its status does not say so yet, and keep its results and what it says.

    Each row is judged once; those of a run of more than `MOST_REPEATS` are not all in memory at a time.
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

    # Rows of many repeats are let go one after another, whatever they hold.
    with no_collector() if few else nullcontext():
        store.save_results(results())
        found = _answers(store, run, tuple(rows))
    store.describe(answers=found.sentences, page=found.page)


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
