"""The first page: the question, the answer with what decides it, the cost, what to mind, what to do next."""

from dataclasses import dataclass

from assay.analyse.scaling import Scaling, scalings
from assay.analyse.servers import Growth, growths
from assay.model.result.first_page import CAVEATS_SHOWN, FirstPage, Line
from assay.model.result.result import Row
from assay.model.result.verdict import Verdict
from assay.report import numbers
from assay.report.claims import Claim, claims, kind_of
from assay.report.costs import cheapest, target_costs
from assay.report.document import Block, Dots, Note, Panels, Paragraph, Text, words
from assay.report.first import lines
from assay.report.first.caveats import caveats
from assay.report.first.held import limit_sentences
from assay.report.first.steps import steps
from assay.report.first.words import headline, sentence
from assay.report.growth.words import counted, growth_sentence, noun
from assay.report.measure import measure_of
from assay.report.view import View


@dataclass(frozen=True, slots=True)
class Page:
    """What stands on it.

    Attributes:
        lead: The answer in a sentence or a few.
        dots: What is said of each kind of work, with the repeats that it rests on; one for each unit.
        more: How many more lines there would be.
        cost: What it costs.
        caveats: All of them, the gravest first.
        steps: What to do next.
    """

    lead: Text
    dots: tuple[Dots, ...]
    more: int
    cost: Text
    caveats: tuple[str, ...]
    steps: tuple[Text, ...]

    @property
    def blocks(self) -> tuple[Block, ...]:
        """The page as blocks of a document."""
        rest = len(self.caveats) - CAVEATS_SHOWN
        more = (f"{numbers.plural(rest, 'more', 'more')}: see What the answer rests on.",) if rest > 0 else ()
        panels = (
            ("What it costs", (self.cost,)),
            ("What to mind", (*self.caveats[:CAVEATS_SHOWN], *more)),
            ("What to do next", self.steps),
        )
        left = f"{numbers.plural(self.more, 'more line', 'more lines')}: see What the answer rests on."
        return (
            Paragraph(self.lead, lead=True),
            *self.dots,
            *((Note(left),) if self.more else ()),
            Panels(panels),
        )

    def kept(self, question: str) -> FirstPage:
        """Its words, as a run keeps them."""
        return FirstPage(
            question=question,
            answer=words(self.lead).strip(),
            lines=tuple(
                Line(label=row.label, text=words(row.text), detail=row.detail)
                for dots in self.dots
                for row in dots.rows
            ),
            more=self.more,
            cost=words(self.cost),
            caveats=self.caveats,
            steps=tuple(words(step) for step in self.steps),
        )


def first_page(view: View) -> Page:
    """The page of a run."""
    found, growth = claims(view.analysis.decisions), scalings(view.analysis.rows)
    served = growths(view.analysis.rows, view.run.places)
    if served and set(view.targets) <= set(served[0].targets.values()):
        # Which of one server and four is faster nobody asks: how much the four add is the question.
        found = ()
    lead, (dots, more) = _answer(view, found, growth, served)
    answered = {Verdict.NETWORK_BOUND} if growth else set()
    return Page(
        lead,
        tuple(dots),
        more,
        cheapest(target_costs(view)) or _no_cost(view),
        tuple(caveats(view, found, growth)),
        tuple(steps(view, answered)),
    )


SERVED = 4
"""Kinds of work at most of which the first lines say what servers add."""


def _answer(
    view: View, found: tuple[Claim, ...], growth: list[Scaling], served: list[Growth]
) -> tuple[Text, tuple[list[Dots], int]]:
    leads: list[Text] = [growth_sentence(one) for one in served[:SERVED]]
    drawn: list[Dots] = []
    more = 0
    if growth:
        dots, more = lines.grown(growth, view, lines.MOST // 2 if found else lines.MOST)
        leads, drawn = [*leads, _grown(growth)], dots
    if found:
        dots, others = lines.compared(found, view, lines.MOST - sum(len(block.rows) for block in drawn))
        leads.append(sentence(found[0]) if len(found) == 1 else headline(found))
        drawn, more = [*drawn, *dots], more + others
    if not leads:
        return _alone(view), lines.alone(view)
    return tuple(span for lead in leads for span in (*((lead,) if isinstance(lead, str) else lead), " ")), (drawn, more)


def _grown(growth: list[Scaling]) -> Text:
    """How many totals stop growing within what was measured."""
    clear = [one for one in growth if one.clear]
    if not clear:
        return f"How the total of {numbers.plural(len(growth), 'kind of work', 'kinds of work')} grows is open."
    open_too = len(growth) - len(clear)
    growth = clear
    stopped = sum(one.saturated is not None or one.greatest is not one.points[-1] for one in growth)
    axes = {one.axis for one in growth}
    most = max(point.number for one in growth for point in one.points)
    of = numbers.plural(len(growth), "kind of work", "kinds of work")
    if not stopped:
        beside = f"; of {open_too:,} more it is open" if open_too else ""
        return f"Of {of}, the total of all hosts still grows at {counted(min(axes), most)}{beside}."
    more = noun(min(axes)) if len(axes) == 1 else "hosts or tasks"
    return f"In {stopped:,} of {of}, more {more} stop adding to the total within the {most} that were measured."


def _alone(view: View) -> Text:
    """What each target does, and what the limit was."""
    targets = numbers.listing(list(view.targets))
    rows = [row for row in view.analysis.rows if lines.answers(row)]
    if not rows:
        return f"Nothing can be said of {targets}: no result is sound."
    limits = limit_sentences(rows)
    silent = [name for name in view.targets if not any(row.case.target == name for row in rows)]
    if silent:
        rest = numbers.listing([name for name in view.targets if name not in silent])
        gone = f"{numbers.listing(silent)} {'has' if len(silent) == 1 else 'have'} no sound result"
        it = "it" if len(silent) == 1 else "them"
        return f"{gone}, so nothing is compared with {it}. What {rest} can do is below. {limits}".strip()
    return f"{_reached(view, rows, targets)} {limits}".strip()


def _reached(view: View, rows: list[Row], targets: str) -> str:
    """The rates, if they are few; else that they stand below. Always how many results say nothing."""
    kinds: dict[str, list[Row]] = {}
    for row in rows:
        kinds.setdefault(kind_of(row.operation), []).append(row)
    left = len(view.analysis.rows) - len(rows)
    without = f" {numbers.plural(left, 'result')} {'says' if left == 1 else 'say'} nothing of it." if left else ""
    if len(view.targets) > 1 or len(kinds) > SERVED:
        verb = "reaches" if len(view.targets) == 1 else "reach"
        return f"{targets} {verb} what stands below.{without}"
    return f"{targets}: {'; '.join(f'{kind} {_span(found)}' for kind, found in kinds.items())}.{without}"


def _span(rows: list[Row]) -> str:
    """`114 MB/s`, or of several points `11.2 to at least 120 MB/s`."""
    measure = measure_of(rows[0].operation)
    ordered = sorted(rows, key=lambda row: row.rate.median if row.rate else 0.0)
    first, last = (lines.speed_words(row, measure) for row in (ordered[0], ordered[-1]))
    return first if first == last else f"{first.removesuffix(f' {measure.unit}')} to {last}"


def _no_cost(view: View) -> Text:
    if view.run.prices is None:
        return "The study names no prices, so nothing is said of costs."
    return "No sound result has a cost beside it: see Cost."
