"""What a run says of its questions, in words: kept with it, so that everybody says the same of it."""

from typing import NamedTuple

from assay.analyse.compare import compare
from assay.analyse.decide import decide
from assay.analyse.odd.notes import notes
from assay.model.base import AssayError
from assay.model.result.first_page import FirstPage
from assay.model.result.result import RunAnalysis, RunInfo
from assay.report.claims import claims
from assay.report.document import words
from assay.report.first.page import first_page
from assay.report.first.words import sentences
from assay.report.view import View
from assay.run.analysis import judged_rows, with_seen
from assay.run.settle import took
from assay.store import RunStore

MOST_REPEATS = 20_000
"""Of a run with more repeats, whose rows may not fit into memory, only a report tells the answer."""


def _priced(store: RunStore) -> RunInfo:
    """The run with its prices; without them if they are damaged, which whoever asks for costs is told."""
    try:
        return store.info(prices=True)
    except AssayError:
        return store.info()


class Answers(NamedTuple):
    """The answer of a run.

    Attributes:
        sentences: One for each kind of work and pair of targets, in plan order.
        page: The first page of its report; None of a run that is too large, or without a result.
    """

    sentences: tuple[str, ...]
    page: FirstPage | None


def answers(store: RunStore, over: bool = False) -> Answers:
    """What a run says.

    Args:
        store: The run, ended or under way.
        over: It is just ending, though its status does not say so yet.
    """
    info = with_seen(store, _priced(store))
    if info.finished > MOST_REPEATS:
        return Answers((), None)
    run = info.model_copy(update={"status": "complete"}) if over else info
    rows = tuple(judged_rows(store))
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
        notes=notes(rows, {place.target: place for place in run.places}),
        jobs=(),
        decisions=decisions,
        machine=run.machine,
    )
    page = first_page(View(analysis)).kept(run.question or run.study)
    return Answers(tuple(words(text) for text in sentences(claims(decisions))), page)
