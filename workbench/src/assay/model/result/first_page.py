"""The first page of a report in words, as a run keeps it."""

from assay.model.frozen import Frozen

CAVEATS_SHOWN = 3
"""On the page; more of them stand in the report."""


class Line(Frozen):
    """What is said of one kind of work, or of one need: a row of a table.

    Attributes:
        label: Such as `Random write, record size up to 64 KiB, MB/s`.
        values: Target -> what it does, with its interval: `114 (112 to 117)`.
        text: Who is faster, and by how much; empty if nothing is compared.
        limit: What holds the rate; empty if nothing is known to.
        points: Results behind each value, of several the least and the greatest median; 0: a value has no interval.
    """

    label: str
    values: dict[str, str]
    text: str = ""
    limit: str = ""
    points: int = 1


class Caveat(Frozen):
    """What a reader must know who acts on the answer.

    Attributes:
        remedy: What to do about it, in a sentence; empty if there is nothing to do.
    """

    text: str
    remedy: str = ""

    @property
    def words(self) -> str:
        """Both."""
        return f"{self.text} {self.remedy}".strip()


class FirstPage(Frozen):
    """The answer of a run, and what belongs to it.

    Attributes:
        question: The study's.
        answer: In a sentence or a few.
        needs: One for each need of the study: whether each target reaches it.
        lines: One for each kind of work.
        more: How many more lines there would be.
        cost: What it costs; empty if nothing is known of it.
        caveats: The gravest first.
        next: What to do next, with its command.
    """

    question: str
    answer: str
    needs: tuple[Line, ...] = ()
    lines: tuple[Line, ...]
    more: int = 0
    cost: str = ""
    caveats: tuple[Caveat, ...]
    next: str
