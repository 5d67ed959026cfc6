"""The first page of a report in words, as stored with a run."""

from assay.model.frozen import Frozen

MAX_CAVEATS = 3
"""Caveats on the first page; further ones are in the report."""


class SummaryLine(Frozen):
    """The results of one kind of work, or of one need: a row of a table.

    Attributes:
        label: Such as `Random write, record size up to 64 KiB, MB/s`.
        values: Target -> its result with the interval: `114 (112 to 117)`.
        text: Which target is faster, and by how much; empty if nothing is compared.
        limit: What limits the rate; empty if unknown.
        points: Number of results behind each value; several are shown as the lowest and highest median; 0: a value has
            no interval.
    """

    label: str
    values: dict[str, str]
    text: str = ""
    limit: str = ""
    points: int = 1


class Caveat(Frozen):
    """Something that a reader must know before acting on the answer.

    Attributes:
        remedy: What to do about it, in one sentence; empty if nothing can be done.
        is_audit: It is about what the audit of imported results found.
    """

    text: str
    remedy: str = ""
    is_audit: bool = False

    @property
    def words(self) -> str:
        """Text and remedy in one line."""
        return f"{self.text} {self.remedy}".strip()


class SummaryPage(Frozen):
    """The answer of a run, with what supports and limits it.

    Attributes:
        question: The study's question.
        answer: One or a few sentences.
        needs: One line for each need of the study: whether each target reaches it.
        lines: One line for each kind of work.
        more: Number of lines left out.
        cost: What it costs; empty if unknown.
        caveats: The worst first.
        next: What to do next, with its command.
    """

    question: str
    answer: str
    needs: tuple[SummaryLine, ...] = ()
    lines: tuple[SummaryLine, ...]
    more: int = 0
    cost: str = ""
    caveats: tuple[Caveat, ...]
    next: str
