"""The first page of a report in words, as a run keeps it."""

from assay.model.frozen import Frozen

CAVEATS_SHOWN = 3
"""On the page; more of them stand in the report."""


class Line(Frozen):
    """What is said of one kind of work.

    Attributes:
        label: Such as `Random write, record size up to 64 KiB`.
        text: Who is faster, where, and by how much at least; or what is reached.
        detail: Small print.
    """

    label: str
    text: str
    detail: str = ""


class FirstPage(Frozen):
    """The answer of a run, and what belongs to it.

    Attributes:
        question: The study's.
        answer: In a sentence or a few.
        lines: One for each kind of work.
        more: How many more lines there would be.
        cost: What it costs, or that nothing is said of it.
        caveats: What to mind, the gravest first.
        steps: What to do next.
    """

    question: str
    answer: str
    lines: tuple[Line, ...]
    more: int = 0
    cost: str
    caveats: tuple[str, ...]
    steps: tuple[str, ...]
