"""The first page: the question, the answer with what decides it, caveats, and what to do next."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from assay.analyse.needs import answers
from assay.analyse.odd.plateau import Plateau, plateaus
from assay.analyse.scaling import Scaling, scalings
from assay.analyse.servers import Growth, growths
from assay.model.result.first_page import CAVEATS_SHOWN, Caveat, FirstPage, Line
from assay.model.result.result import Row
from assay.model.result.verdict import Verdict
from assay.model.units import about_latency, about_number
from assay.report import numbers
from assay.report.brief import line_tables
from assay.report.claims import Claim, claims, kind_of
from assay.report.costs import cheapest, target_costs
from assay.report.document import Block, Dots, Panels, Paragraph, Span, Text, words
from assay.report.first import lines
from assay.report.first.caveats import caveats, commonest
from assay.report.first.groups import reached_limits
from assay.report.first.held import GROUP, THROTTLE, limit_sentences
from assay.report.first.needs import need_lines, needs_sentence
from assay.report.first.places import round_trip
from assay.report.first.steps import next_step
from assay.report.first.words import headline, sentence
from assay.report.growth.words import counted, growth_sentence, noun
from assay.report.measure import measure_of
from assay.report.view import View


@dataclass(frozen=True, slots=True)
class Page:
    """What stands on it.

    Attributes:
        lead: The answer in a sentence or a few.
        needs: A line for each need of the study.
        lines: What is said of each kind of work.
        dots: The repeats that the lines rest on; one picture for each unit.
        more: How many more lines there would be.
        cost: What it costs; empty if nothing is known of it.
        caveats: All of them, the gravest first.
        step: What to do next.
    """

    lead: Text
    needs: tuple[Line, ...]
    lines: tuple[Line, ...]
    dots: tuple[Dots, ...]
    more: int
    cost: Text
    caveats: tuple[Caveat, ...]
    step: Text

    @property
    def blocks(self) -> tuple[Block, ...]:
        """The page as blocks of a document."""
        rest = len(self.caveats) - CAVEATS_SHOWN
        more = (f"{rest:,} more under Evidence.",) if rest > 0 else ()
        panels: tuple[tuple[str, tuple[Text, ...]], ...] = (
            *((("Cost", (self.cost,)),) if self.cost else ()),
            ("Caveats", (*(one.words for one in self.caveats[:CAVEATS_SHOWN]), *more)),
            ("Next step", (self.step,)),
        )
        return (
            Paragraph(self.lead, lead=True),
            *line_tables(self.needs, "Needed"),
            *line_tables(self.lines, "Work", self.more),
            *self.dots,
            Panels(tuple(panel for panel in panels if panel[1])),
        )

    def kept(self, question: str) -> FirstPage:
        """Its words, as a run keeps them."""
        return FirstPage(
            question=question,
            answer=words(self.lead).strip(),
            needs=self.needs,
            lines=self.lines,
            more=self.more,
            cost=words(self.cost),
            caveats=self.caveats,
            next=words(self.step),
        )


def first_page(view: View) -> Page:
    """The page of a run."""
    found, growth = claims(view.analysis.decisions), scalings(view.analysis.rows)
    served = growths(view.analysis.rows, view.run.places)
    if served and set(view.targets) <= set(served[0].targets.values()):
        # Which of one server and four is faster nobody asks: how much the four add is the question.
        found = ()
    answered = {Verdict.NETWORK_BOUND} if growth else set()
    answered_needs = answers(view.run.needs, view.analysis.rows)
    needs, needed = need_lines(view, answered_needs), needs_sentence(view, answered_needs)
    lead, said = _answer(view, found, growth, served, lines.MOST - len(needs))
    if cut := _cut_short(view):
        lead, said = cut, lines.Said()
    return Page(
        needed or lead,
        needs,
        said.lines,
        said.dots,
        said.more,
        cheapest(target_costs(view)) or "",
        tuple(caveats(view, found, growth)),
        next_step(view, answered),
    )


def _cut_short(view: View) -> str:
    """That a run which was interrupted says nothing yet; empty if it does."""
    run = view.run
    if run.finished >= run.planned or not all(row.no_result for row in view.analysis.rows):
        return ""
    return f"No answer yet: the run is {run.status} after {run.finished:,} of {run.planned:,} repeats."


def _spans(text: Text) -> tuple[Span, ...]:
    return (text,) if isinstance(text, str) else text


BURSTS = 2
"""So many results that begin with a burst have a sentence."""
SERVED = 4
"""Kinds of work at most of which the first lines say what servers add."""


def _answer(
    view: View, found: tuple[Claim, ...], growth: list[Scaling], served: list[Growth], room: int
) -> tuple[Text, lines.Said]:
    leads: list[Text] = [growth_sentence(one) for one in served[:SERVED]]
    said = lines.Said()
    if growth:
        said += lines.grown(growth, view, max(1, room // 2 if found else room))
        leads.append(_grown(growth))
    if found:
        said += lines.compared(found, view, max(1, room - len(said.lines)))
        leads.append(sentence(found[0]) if len(found) == 1 else headline(found))
    if not leads:
        return _alone(view), lines.alone(view, max(1, room))
    return tuple(span for lead in leads for span in (*_spans(lead), " ")), said


def _grown(growth: list[Scaling]) -> Text:
    """Of a few kinds of work where each total stops growing; of more how many do."""
    clear = [one for one in growth if one.clear]
    if not clear:
        return f"How the total of {numbers.plural(len(growth), 'kind of work', 'kinds of work')} grows is undecided."
    left = len(growth) - len(clear)
    beside = f" Of {left:,} more it is undecided." if left else ""
    if len(clear) <= SERVED:
        return f"{'; '.join(lines.stops(one) for one in clear)}.{beside}"
    stopped = sum(one.saturated is not None or one.greatest is not one.points[-1] for one in clear)
    axes = {one.axis for one in clear}
    most = max(point.number for one in clear for point in one.points)
    of = numbers.plural(len(clear), "kind of work", "kinds of work")
    if not stopped:
        return f"Of {of}, the total of all hosts still grows at {counted(min(axes), most)}.{beside}"
    more = noun(min(axes)) if len(axes) == 1 else "hosts or tasks"
    return f"In {stopped:,} of {of}, more {more} stop adding to the total within the {most} that were measured.{beside}"


def _alone(view: View) -> Text:
    """What each target does, and what the limit was."""
    targets = numbers.listing(list(view.targets))
    rows = [row for row in view.analysis.rows if lines.answers(row)]
    if not rows:
        every = view.analysis.rows
        return " ".join([f"No reliable rate of {targets}: {_why_not(every)}.", *_bursts(every)])
    flat = plateaus(rows, view.run.places)
    throttle = GROUP if reached_limits(view).devices else THROTTLE
    limits = limit_sentences([row for row in rows if row.case.target not in flat], throttle)
    limits = " ".join(filter(None, (limits, *map(_plateau, flat.values()), _far(view, rows))))
    silent = [name for name in view.targets if not any(row.case.target == name for row in rows)]
    if silent:
        gone = f"{numbers.listing(silent)} {'has' if len(silent) == 1 else 'have'} no usable result"
        return f"{gone}, so nothing can be compared. {_reached(view, rows)} {limits}".strip()
    if len(view.targets) > 1:
        apart = f"{targets} have no operation in common, so they are not compared."
        return f"{apart} {_reached(view, rows)} {limits}".strip()
    return f"{_reached(view, rows)} {limits}".strip()


def _asked(rows: Sequence[Row]) -> str:
    own = all(row.case.parameters.known("rate") is not None for row in rows)
    return " at the rate that the study sets" if own else ""


def _far(view: View, rows: Sequence[Row]) -> str:
    """How many results the round trip of the network limits."""
    known = [seconds for row in rows if (seconds := round_trip(row, view)) is not None]
    if not known:
        return ""
    part = numbers.part(len(known), len(rows))
    return f"The network's round trip of {about_latency(1e9 * min(known))} is most of the latency of {part}."


def _plateau(found: Plateau) -> str:
    """What rates that do not change with size and queue depth say of their limit."""
    ends = " to ".join(dict.fromkeys(numbers.mb_per_s(rate) for rate in found))
    return (
        f"Reads and writes stay at {ends} MB/s whatever the size and the queue depth: the limit is likely a link or a"
        f" rate limit of about {numbers.significant(8 * found.high / 1e6)} Mbit/s."
    )


def _why_not(rows: Sequence[Row]) -> str:
    """The verdict that keeps most of these from being an answer, in words."""
    common = commonest(rows)
    if common is None:
        return "the repeats vary too much" if any(row.rate is not None for row in rows) else "nothing was measured"
    if common[0] is Verdict.UNSTABLE:
        return "the repeats vary too much"
    return f"{common[1]:,} {'is' if common[1] == 1 else 'are'} {common[0]}"


def _reached(view: View, rows: list[Row]) -> str:
    """What each target reaches in its first kinds of work."""
    kinds: dict[str, dict[str, list[Row]]] = {}
    for row in rows:
        kinds.setdefault(row.case.target, {}).setdefault(kind_of(row.operation), []).append(row)
    room = max(1, SERVED // len(kinds))
    parts, more = [], 0
    for target, found in kinds.items():
        shown = [f"{kind} {lines.span(mine)}{_asked(mine)}" for kind, mine in list(found.items())[:room]]
        more += len(found) - len(shown)
        parts.append(f"{target}: {'; '.join(shown)}.")
    left = [row for row in view.analysis.rows if not lines.answers(row)]
    rest = [f"{more:,} more below." if more else ""]
    rest.append(f"No reliable rate in {numbers.plural(len(left), 'more case')}: {_why_not(left)}." if left else "")
    return " ".join([*parts, *(words for words in rest if words), *_bursts(left)])


def _bursts(rows: Sequence[Row]) -> list[str]:
    """What bursting results begin with, and which rate lasts; of the first ones."""
    found = [(row, each.numbers) for row in rows for each in row.findings if each.verdict is Verdict.BURSTING]
    return [_burst(row, known) for row, known in found[:BURSTS] if "after_per_s" in known]


def _burst(row: Row, known: Mapping[str, float]) -> str:
    measure = measure_of(row.operation)
    before, after, at = (known[name] for name in ("before_per_s", "after_per_s", "at_s"))
    rates = f"from {measure.number(before)} to {measure.text(after)} after {about_number(at)} s"
    operation = numbers.operation_title(row.operation)
    return f"{operation} on {row.case.target} falls {rates}: the later rate is what lasts."
