"""Builds the first page: the answer, what it follows from, caveats and the next step."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import islice

from assay.analyse.anomalies.plateau import Plateau, plateaus
from assay.analyse.needs.answers import need_answers
from assay.analyse.scaling import Scaling, scalings
from assay.analyse.servers import Growth, growths
from assay.model.result.result import ResultRow
from assay.model.result.summary_page import MAX_CAVEATS, Caveat, SummaryLine, SummaryPage
from assay.model.result.verdict import Verdict
from assay.model.study.axis import AxisValue
from assay.model.units import about_latency, about_number
from assay.report import numbers
from assay.report.brief import line_tables
from assay.report.claims import ComparisonClaim, find_claims, kind_of_rates
from assay.report.costs import cheapest_text, target_costs
from assay.report.document import Block, Dots, Panels, Paragraph, Span, Text, plain_text
from assay.report.growth.sentences import count_words, growth_sentence, number_words, plural_noun, scaling_title
from assay.report.measure import measure_of
from assay.report.summary import lines
from assay.report.summary.caveats import caveats, most_frequent_verdict
from assay.report.summary.control_groups import reached_limits
from assay.report.summary.location_caveats import round_trip
from assay.report.summary.lower_bounds import CONTROL_GROUP_LIMIT, RATE_LIMIT, limit_sentences
from assay.report.summary.needs import need_lines, needs_sentence
from assay.report.summary.next_step import next_step
from assay.report.summary.sentences import claim_sentence, headline
from assay.report.summary.uncompared import MAX_NAMED_KINDS, ratio_groups, uncompared_lines, undecided_lead
from assay.report.view import RunView


@dataclass(frozen=True, slots=True)
class PageContents:
    """The contents of the first page.

    Attributes:
        lead: The answer in one or a few sentences.
        needs: A line for each need of the study.
        lines: A line for each kind of work.
        dots: The repeats behind the lines; one chart for each unit.
        omitted_line_count: The number of lines left out.
        cost: Which target costs least per measured rate; empty without prices.
        caveats: All caveats, the gravest first.
        next_step: What to do next, with the command for it.
    """

    lead: Text
    needs: tuple[SummaryLine, ...]
    lines: tuple[SummaryLine, ...]
    dots: tuple[Dots, ...]
    omitted_line_count: int
    cost: Text
    caveats: tuple[Caveat, ...]
    next_step: Text

    @property
    def blocks(self) -> tuple[Block, ...]:
        """The blocks of the page."""
        rest = len(self.caveats) - MAX_CAVEATS
        more = (f"{rest:,} more under Evidence.",) if rest > 0 else ()
        panels: tuple[tuple[str, tuple[Text, ...]], ...] = (
            *((("Cost", (self.cost,)),) if self.cost else ()),
            ("Caveats", (*(one.words for one in self.caveats[:MAX_CAVEATS]), *more)),
            ("Next step", (self.next_step,)),
        )
        return (
            Paragraph(self.lead, lead=True),
            *line_tables(self.needs, "Needed"),
            *line_tables(self.lines, "Work", self.omitted_line_count),
            *self.dots,
            Panels(tuple(panel for panel in panels if panel[1])),
        )

    def as_stored(self, question: str) -> SummaryPage:
        """Return the page as text, in the form that a run stores."""
        return SummaryPage(
            question=question,
            answer=plain_text(self.lead).strip(),
            needs=self.needs,
            lines=self.lines,
            more=self.omitted_line_count,
            cost=plain_text(self.cost),
            caveats=self.caveats,
            next=plain_text(self.next_step),
        )


def first_page(view: RunView, max_lines: int = lines.MAX_LINES) -> PageContents:
    """Build the first page of a run, with at most so many lines of needs and kinds of work."""
    found, growth = find_claims(view.analysis.decisions), scalings(view.analysis.rows)
    served = growths(view.analysis.rows, view.run.places)
    if served and set(view.targets) <= set(served[0].targets.values()):
        # That four servers are faster than one needs no claim: the question is how much they add.
        found = ()
    answered = {Verdict.NETWORK_BOUND} if growth else set()
    answered_needs = need_answers(view.run.needs, view.analysis.rows)
    needs, needs_lead = need_lines(view, answered_needs), needs_sentence(view, answered_needs)
    lead, content = _answer(view, found, growth, served, max_lines - len(needs))
    if early_end := _cut_short(view):
        lead, content = early_end, lines.PageLines()
    return PageContents(
        needs_lead or lead,
        needs,
        content.lines,
        content.dots,
        content.more,
        cheapest_text(target_costs(view)) or "",
        tuple(caveats(view, found, growth)),
        next_step(view, answered),
    )


def _cut_short(view: RunView) -> str:
    """Return a sentence if the run ended early without any result; empty otherwise."""
    run = view.run
    if run.finished >= run.planned or not all(row.has_no_result for row in view.analysis.rows):
        return ""
    return f"No answer yet: the run is {run.status} after {run.finished:,} of {run.planned:,} repeats."


def _spans(text: Text) -> tuple[Span, ...]:
    return (text,) if isinstance(text, str) else text


MAX_NAMED = 3
"""Most settings that are named because targets differ in them."""
MAX_BURSTS = 2
"""Most results that begin with a burst and have a sentence on it."""


def _answer(
    view: RunView, found: tuple[ComparisonClaim, ...], growth: list[Scaling], served: list[Growth], room: int
) -> tuple[Text, lines.PageLines]:
    leads: list[Text] = [growth_sentence(one) for one in served[:MAX_NAMED_KINDS]]
    content = lines.PageLines()
    if growth:
        content += lines.growth_lines(growth, view, max(1, room // 2 if found else room))
        leads.append(_growth_lead(growth))
    if found:
        content += _lines_of_pairs(found, view, max(1, room - len(content.lines)))
        leads.append(_lead_of_pairs(found, view))
    if not leads:
        return _lead_without_comparison(view), uncompared_lines(view, max(1, room))
    return tuple(span for lead in leads for span in (*_spans(lead), " ")), content


def _lines_of_pairs(found: tuple[ComparisonClaim, ...], view: RunView, room: int) -> lines.PageLines:
    """Return what comparisons say; where none could be made, the rates that each target reaches."""
    if not any(claim.counted_points for claim in found) and any(map(lines.is_usable, view.analysis.rows)):
        return uncompared_lines(view, room)
    return lines.comparison_lines(found, view, room)


def _lead_of_pairs(found: tuple[ComparisonClaim, ...], view: RunView) -> Text:
    if not any(claim.counted_points for claim in found) and (groups := ratio_groups(view)):
        return undecided_lead(groups)
    return claim_sentence(found[0]) if len(found) == 1 else headline(found)


def _growth_lead(growth: list[Scaling]) -> Text:
    """Return where each total stops growing; with more than `MAX_NAMED_KINDS` kinds of work, how many stop."""
    clear = [one for one in growth if one.is_clear]
    if not clear and all(len(rates) == 1 for one in growth for rates in one.repeats.values()):
        return " ".join([*map(_ends_once, growth[:MAX_NAMED_KINDS]), "Each was measured once."])
    if not clear:
        return f"How the total of {numbers.plural(len(growth), 'kind of work', 'kinds of work')} grows is undecided."
    undecided = len(growth) - len(clear)
    rest = f" {undecided:,} more {'is' if undecided == 1 else 'are'} undecided." if undecided else ""
    if len(clear) <= MAX_NAMED_KINDS:
        return f"{'; '.join(lines.growth_end(one) for one in clear)}.{rest}"
    stopped = sum(one.saturated is not None or one.greatest is not one.points[-1] for one in clear)
    axes = {one.axis for one in clear}
    most = max(point.number for one in clear for point in one.points)
    of = numbers.plural(len(clear), "kind of work", "kinds of work")
    if not stopped:
        return f"Of {of}, the total of all hosts still grows at {number_words(min(axes), most)}.{rest}"
    more = plural_noun(min(axes)) if len(axes) == 1 else "hosts or tasks"
    return f"In {stopped:,} of {of}, more {more} stop adding to the total within the {most} measured.{rest}"


def _lead_without_comparison(view: RunView) -> Text:
    """Return what each target reaches and what limited it, for runs that compare nothing."""
    targets = numbers.listing(list(view.targets))
    rows = [row for row in view.analysis.rows if lines.is_usable(row)]
    if not rows:
        every = view.analysis.rows
        return " ".join([f"No reliable rate of {targets}: {_why_not(every)}.", *_bursts(every)])
    flat = plateaus(rows, view.run.places)
    throttle = CONTROL_GROUP_LIMIT if reached_limits(view).devices else RATE_LIMIT
    limits = limit_sentences([row for row in rows if row.case.target not in flat], throttle)
    limits = " ".join(filter(None, (limits, *map(_plateau, flat.values()), _round_trip_sentence(view, rows))))
    without_result = [name for name in view.targets if not any(row.case.target == name for row in rows)]
    if without_result:
        missing = f"{numbers.listing(without_result)} {'has' if len(without_result) == 1 else 'have'} no usable result"
        return f"{missing}, so nothing can be compared. {_reached(view, rows)} {limits}".strip()
    if len(view.targets) > 1:
        work = [{row.operation for row in rows if row.case.target == name} for name in view.targets]
        if len(set().union(*work)) == sum(map(len, work)):
            reason = f"{targets} have no operation in common, so they are not compared."
        else:
            reason = f"{targets} are not compared: {_what_differs(view)}."
        return f"{reason} {_reached(view, rows)} {limits}".strip()
    return f"{_reached(view, rows)} {limits}".strip()


def _ends_once(one: Scaling) -> str:
    """Return the totals at both ends of numbers that were measured once each."""
    measure = measure_of(one.operation)
    first, last = (
        f"{measure.text(point.rate)} with {count_words(one, point.number)}" for point in (one.points[0], one.points[-1])
    )
    return f"{scaling_title(one)}: {first}, {last}."


def _what_differs(view: RunView) -> str:
    """Return in which settings targets differ that have an operation in common, but no point."""
    values: dict[tuple[str, str, str], dict[str, set[AxisValue]]] = {}
    for row in view.analysis.rows:
        for axis, value in row.case.axes.items():
            values.setdefault((row.case.workload, row.operation, axis), {}).setdefault(row.case.target, set()).add(
                value
            )
    found: dict[str, dict[str, set[AxisValue]]] = {}
    for (_, _, axis), by_target in values.items():
        if len(by_target) > 1 and not set.intersection(*by_target.values()):
            found.setdefault(axis, by_target)
    if not found:
        return "none has the same work as another"
    words = [numbers.axis_title(axis).lower() + _of_each(axis, some) for axis, some in islice(found.items(), MAX_NAMED)]
    more = ["other settings"] if len(found) > MAX_NAMED else []
    return f"they differ in {numbers.listing([*words, *more])}"


def _of_each(axis: str, by_target: Mapping[str, set[AxisValue]]) -> str:
    """Return the values of two targets in brackets; empty for more."""
    if len(by_target) > 2:
        return ""
    return f" ({'; '.join(f'{name}: {_few(axis, some)}' for name, some in by_target.items())})"


def _few(axis: str, values: set[AxisValue]) -> str:
    """Return values of an axis: one, or the number of several."""
    return numbers.axis_value(axis, next(iter(values))) if len(values) == 1 else f"{len(values)} values"


def _at_study_rate(rows: Sequence[ResultRow]) -> str:
    own = all(row.case.parameters.get_value("rate") is not None for row in rows)
    return " at the requested rate" if own else ""


def _round_trip_sentence(view: RunView, rows: Sequence[ResultRow]) -> str:
    """Return a sentence on the results of which the network's round trip is most of the latency."""
    known = [seconds for row in rows if (seconds := round_trip(row, view)) is not None]
    if not known:
        return ""
    part = numbers.part_of_total(len(known), len(rows))
    return f"The network's round trip of {about_latency(1e9 * min(known))} is most of the latency of {part}."


def _plateau(found: Plateau) -> str:
    """Return a sentence on rates that do not change with size and queue depth."""
    ends = " to ".join(dict.fromkeys(numbers.mb_per_s(rate) for rate in found))
    return (
        f"Reads and writes stay at {ends} MB/s whatever the size and the queue depth: the limit is likely a link or a"
        f" rate limit of about {numbers.significant(8 * found.high / 1e6)} Mbit/s."
    )


def _why_not(rows: Sequence[ResultRow]) -> str:
    """Return in words why most of these results are not usable."""
    common = most_frequent_verdict(rows)
    if common is None:
        return "the repeats vary too much" if any(row.rate is not None for row in rows) else "nothing was measured"
    if common[0] is Verdict.UNSTABLE:
        return "the repeats vary too much"
    return f"{common[1]:,} {'is' if common[1] == 1 else 'are'} {common[0]}"


def _reached(view: RunView, rows: list[ResultRow]) -> str:
    """Return what each target reaches in its first kinds of work."""
    kinds: dict[str, dict[str, list[ResultRow]]] = {}
    imported = bool(view.run.imports)
    for row in rows:
        kind = kind_of_rates(row.operation, row.case.workload, imported)
        kinds.setdefault(row.case.target, {}).setdefault(kind, []).append(row)
    room = max(1, MAX_NAMED_KINDS // len(kinds))
    parts, more = [], 0
    for target, found in kinds.items():
        shown = [f"{kind} {lines.rate_range(mine)}{_at_study_rate(mine)}" for kind, mine in list(found.items())[:room]]
        more += len(found) - len(shown)
        parts.append(f"{target}: {'; '.join(shown)}.")
    not_usable = [row for row in view.analysis.rows if not lines.is_usable(row)]
    rest = [f"{more:,} more below." if more else ""]
    rest.append(
        f"No reliable rate in {numbers.plural(len(not_usable), 'more case')}: {_why_not(not_usable)}."
        if not_usable
        else ""
    )
    return " ".join([*parts, *(words for words in rest if words), *_bursts(not_usable)])


def _bursts(rows: Sequence[ResultRow]) -> list[str]:
    """Return for the first bursting results the rate at the beginning and the rate that lasts."""
    found = [(row, each.numbers) for row in rows for each in row.findings if each.verdict is Verdict.BURSTING]
    return [_burst(row, known) for row, known in found[:MAX_BURSTS] if "after_per_s" in known]


def _burst(row: ResultRow, known: Mapping[str, float]) -> str:
    measure = measure_of(row.operation)
    before, after, at = (known[name] for name in ("before_per_s", "after_per_s", "at_s"))
    rates = f"from {measure.number(before)} to {measure.text(after)} after {about_number(at)} s"
    operation = numbers.operation_title(row.operation)
    return f"{operation} on {row.case.target} falls {rates}: the later rate is what lasts."
