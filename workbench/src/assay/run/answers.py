"""The answers of a run to the study's question, in words. They are stored with the run, so that all reports agree."""

from collections.abc import Iterator
from contextlib import nullcontext
from typing import NamedTuple

from assay.analyse.compare import compare
from assay.analyse.decide import decide
from assay.model.base import AssayError
from assay.model.gc_control import without_gc
from assay.model.result.brief_result import BriefResult, summarise
from assay.model.result.result import PricedRun, ResultRow, RunAnalysis
from assay.model.result.summary_page import SummaryPage
from assay.report.claims import find_claims
from assay.report.document import plain_text
from assay.report.summary.page import first_page
from assay.report.summary.sentences import claim_sentences
from assay.report.view import RunView
from assay.run.analysis import judged_rows, with_raised_ceilings
from assay.run.settle import mean_repeat_s
from assay.store import RunStore
from assay.store.prices import with_prices, without_prices

MAX_ANSWERED_REPEATS = 20_000
"""Rows of a run with more repeats may not fit into memory; only a report states its answer."""


def _priced(store: RunStore) -> PricedRun:
    """Return the run with its prices, or without them if they are damaged; commands on costs report that damage."""
    try:
        return with_prices(store)
    except AssayError:
        return without_prices(store)


class Answers(NamedTuple):
    """The answers of a run.

    Attributes:
        sentences: One for each kind of work and pair of targets, in plan order.
        page: The first page of its report; None if the run is too large or has no result.
    """

    sentences: tuple[str, ...]
    page: SummaryPage | None


def compute_answers(store: RunStore) -> Answers:
    """Return the answers of a run that has ended or is under way."""
    run = _priced(store)
    if run.finished > MAX_ANSWERED_REPEATS:
        return Answers((), None)
    run = with_raised_ceilings(store, run)
    return _answers(store, run, tuple(judged_rows(store, run)))


def store_conclusions(store: RunStore) -> None:
    """Judge a run that is just ending, although its status does not say so yet, and store its results and answers.

    Each row is judged once. The rows of a run with more than `MAX_REPEATS` repeats are never all in memory.
    """
    run = with_raised_ceilings(store, _priced(store)).model_copy(update={"status": "complete"})
    store.describe(ceilings=run.ceilings)
    few = run.finished <= MAX_ANSWERED_REPEATS
    rows: list[ResultRow] = []

    def results() -> Iterator[BriefResult]:
        for row in judged_rows(store, run):
            if few:
                rows.append(row)
            yield summarise(row)

    # The collector stays on for a large run, so that each row is freed after use.
    with without_gc() if few else nullcontext():
        store.save_results(results())
        result = _answers(store, run, tuple(rows))
    store.describe(answers=result.sentences, page=result.page)


def _answers(store: RunStore, run: PricedRun, rows: tuple[ResultRow, ...]) -> Answers:
    if not any(row.samples for row in rows):
        return Answers((), None)
    pairs = compare(rows, run.look_count)
    decisions = decide(
        rows, pairs, run.equal_within, mean_repeat_s(store), run.ignored_verdicts, run.symmetric_verdicts
    )
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
    page = first_page(RunView(analysis)).as_stored(run.question or run.study)
    return Answers(tuple(plain_text(text) for text in claim_sentences(find_claims(decisions))), page)
