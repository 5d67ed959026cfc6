"""Checks the sentences of authors against the runs of a paper."""

from collections.abc import Iterable, Mapping
from typing import NamedTuple

from assay.report.view import RunView
from assay.rooms.paper.work.claims.axes_check import check_axes
from assay.rooms.paper.work.claims.comparisons import check_comparisons
from assay.rooms.paper.work.claims.counts_check import check_counts
from assay.rooms.paper.work.claims.facts import FactIndex
from assay.rooms.paper.work.claims.figures_check import check_figures
from assay.rooms.paper.work.claims.mention_finder import MentionFinder
from assay.rooms.paper.work.claims.numbers_check import check_numbers
from assay.rooms.paper.work.claims.reading import Reading, SentenceFault, read_sentence
from assay.rooms.paper.work.claims.sentences import Sentence
from assay.rooms.paper.work.claims.superlatives import check_superlatives
from assay.rooms.paper.work.claims.trends import check_trends

_CHECKS = (check_axes, check_numbers, check_figures, check_comparisons, check_superlatives, check_trends, check_counts)


class LineFault(NamedTuple):
    """A fault with the line of its sentence, as sentences count them."""

    line: int
    fault: SentenceFault


class SentenceCheck:
    """Checks sentences; what the runs say is indexed once."""

    def __init__(self, views: Mapping[str, RunView]) -> None:
        """Index the results of the runs, by their names in the paper."""
        self._facts = FactIndex(views)
        self._finder = MentionFinder(self._facts)

    def faults(self, sentences: Iterable[Sentence]) -> list[LineFault]:
        """Return what the data say against sentences of one text, in order."""
        found: list[LineFault] = []
        before: Reading | None = None
        for sentence in sentences:
            reading = read_sentence(sentence, self._finder, None if sentence.begins else before)
            found += [LineFault(sentence.line, fault) for fault in self._of(reading)]
            before = reading
        return found

    def _of(self, reading: Reading) -> list[SentenceFault]:
        """Return the faults of a sentence, each only once for the same words."""
        found: dict[str, SentenceFault] = {}
        for check in _CHECKS:
            for fault in check(reading, self._facts):
                found.setdefault(fault.words, fault)
        return list(found.values())
