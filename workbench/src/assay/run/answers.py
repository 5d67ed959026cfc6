"""What a run says of its questions, in lines for a terminal."""

from assay.analyse.compare import compare
from assay.analyse.decide import decide
from assay.report.claims import claims
from assay.report.document import words
from assay.report.first.words import sentences
from assay.run.analysis import judged_rows
from assay.run.settle import took
from assay.store import RunStore

MOST_REPEATS = 20_000
"""Of a run with more repeats, whose rows may not fit into memory, only a report tells the answer."""


def answers(store: RunStore) -> tuple[str, ...]:
    """One sentence for each kind of work and pair of targets, in plan order; nothing of a run that is too large.

    Args:
        store: The run, ended or under way.
    """
    info = store.info()
    if info.finished > MOST_REPEATS or len(info.places) < 2:
        return ()
    rows = tuple(judged_rows(store))
    decisions = decide(rows, compare(rows, info.looks), info.equal_within, took(store), info.ignored, info.alike)
    return tuple(words(text) for text in sentences(claims(decisions)))
