"""Builds the advice page: answer, reasons, drawbacks, what would change it, what is unknown, price books."""

import datetime as dt
from collections.abc import Iterator
from decimal import Decimal

from assay.model.money.amount import format_money, round_half_up
from assay.report.diagrams.designs import design_chart
from assay.report.document import (
    Block,
    Bullets,
    Document,
    Paragraph,
    Plot,
    PlotLine,
    Plots,
    Section,
    SpanRow,
    Spans,
    Strong,
    Text,
)
from assay.rooms.advice.model.advice import Advice
from assay.rooms.advice.model.sensitivity import Assumption, CostCurves, RangeEnd, Sensitivity
from assay.rooms.advice.shown import sentences as texts
from assay.rooms.advice.work.outlook.curves import size_text
from assay.rooms.advice.work.texts import count_text

STYLE = "advice"
MAX_ROWS, MAX_CHANGES, MAX_CHANGE_SENTENCES = 7, 2, 8
TITLES = {
    "capacity": "capacity",
    "read": "reading, of all clients together",
    "write": "writing, of all clients together",
    "read_iops": "reads a second",
    "write_iops": "writes a second",
}


def build_page(advice: Advice, today: dt.date) -> Document:
    """Build the page; the same advice and day give the same page.

    Args:
        advice: The advice, with its curves and sensitivities if it has any.
        today: The day against which the age of prices is counted.
    """
    next_one = texts.runner_up_sentence(advice)
    first: list[Block] = [Paragraph(texts.answer_sentence(advice), lead=True)]
    first += [Paragraph(next_one)] if next_one else []
    if advice.choice is not None and advice.choice.built_design is not None:
        first.append(design_chart(advice.choice.built_design))
    sections = [
        Section("answer", "Answer", tuple(first)),
        Section("why", "Why", (Bullets(tuple(texts.reason_sentences(advice))),)),
        Section("accept", "Drawbacks and conditions", (Bullets(tuple(texts.drawbacks(advice))),)),
        Section("change", "What would change the choice", tuple(_change(advice))),
        Section("unknown", "What is not known", (Bullets(tuple(texts.unknowns(advice, today))),)),
        Section("books", "Price books", (Bullets(tuple(texts.price_books(advice))),)),
    ]
    if advice.choice is None:
        sections = [section for section in sections if section.id != "accept"]
    return Document(
        f"Assay advice · {today}",
        advice.need.need,
        advice.need.about,
        tuple(texts.need_facts(advice)),
        tuple(sections),
        STYLE,
    )


def _change(advice: Advice) -> Iterator[Block]:
    found = advice.sensitivity
    if found is None:
        relaxed = tuple(texts.sentence(f"{item.text} ({item.shortfall})") for item in advice.relaxed)
        yield Bullets(relaxed or ("No single requirement can be dropped so that a known design meets the rest.",))
        return
    sentences = list(_change_sentences(advice, found))
    more = (
        [f"{len(sentences) - MAX_CHANGE_SENTENCES} more: see --json."] if len(sentences) > MAX_CHANGE_SENTENCES else []
    )
    yield Bullets((*sentences[:MAX_CHANGE_SENTENCES], *more))
    legend = tuple(
        (number, each.design, ", ".join(f"{key} {value}" for key, value in each.values.items()))
        for number, each in enumerate(found.designs)
    )
    plots = [_plot(advice, found, curves) for curves in (found.capacity, found.rate) if curves is not None]
    gaps = any(line_y is None for plot in plots for line in plot.lines for _, line_y in line.points)
    caption = "Both scales are logarithmic. Each point is sized and priced again; all other requirements stay, "
    caption += "and so do the parameters in small print."
    caption += " Where a line ends, no variant of this design meets the need." if gaps else ""
    caption += " Numbers: where the choice changes." if any(plot.marks for plot in plots) else ""
    yield Plots(legend, tuple(plots), caption)
    if found.tornado:
        yield _spans(found)
    elif found.without_effect:
        yield Paragraph(f"The choice stays the same at both ends of: {', '.join(found.without_effect)}.")


def _change_sentences(advice: Advice, found: Sensitivity) -> Iterator[Text]:
    """Yield sentences on crossings of curves, assumptions that change the choice, and changes that no chart shows."""
    best = found.designs[0].design
    for axis, _, sign, text in texts.crossings(found):
        yield (Strong(f"{sign} "), f"{axis.replace('_iops', ' operations')}: {text}.")
    for curves in (found.capacity, found.rate):
        if curves is not None and not curves.crossings:
            points = curves.curves[0].points
            ends = " to ".join(size_text(curves.axis, point.at) for point in (points[0], points[-1]))
            yield f"{curves.axis.replace('_iops', ' operations')}: from {ends}, {best} remains the cheapest."
    for each in found.tornado:
        for end in (each.low, each.high):
            if each.changes_choice and end is not None and end.choice != best:
                yield f"{each.name} {end.value}: {_turn(advice, end)}."
    others = [change.text for change in advice.changes if change.kind != "price"]
    yield from (texts.sentence(text) for text in others[:MAX_CHANGES])


def _turn(advice: Advice, end: RangeEnd) -> str:
    if end.choice is not None:
        return f"{end.choice} would be the choice"
    return (
        "none of these designs would be within the budget"
        if advice.need.budget is not None
        else "none of these designs would meet the need"
    )


def _plot(advice: Advice, found: Sensitivity, curves: CostCurves) -> Plot:
    axis = curves.axis
    points = curves.curves[0].points
    lines = tuple(
        PlotLine(
            each.design,
            number,
            tuple((point.at, None if point.month is None else float(point.month)) for point in each.points),
            is_emphasised=number == 0,
        )
        for number, each in enumerate(curves.curves)
    )
    along = (
        f"; {' and '.join(name.replace('_', ' ') for name in curves.scaled_with)} in proportion"
        if curves.scaled_with
        else ""
    )
    budget = advice.need.budget
    level = None
    if budget is not None and found.measure.endswith("a month"):
        most = budget.amount if budget.per == "month" else budget.amount / advice.need.months
        level = (float(most), f"budget {format_money(most)}")
    marks = tuple((at, sign) for name, at, sign, _ in texts.crossings(found) if name == axis)
    return Plot(
        f"curve-{axis}",
        f"Cost against {'capacity' if axis == 'capacity' else 'rate'}",
        found.measure + along,
        TITLES[axis],
        tuple((point.at, size_text(axis, point.at).removesuffix(" IOPS")) for point in points),
        lines,
        (curves.need, f"need: {size_text(axis, curves.need)}"),
        marks,
        level,
    )


def _spans(found: Sensitivity) -> Spans:
    """Return the tornado chart: how much more the next best option costs; without one, the cost of the choice."""
    gap = found.gap is not None
    rows = tuple(_row(each, found) for each in found.tornado[:MAX_ROWS])
    more = len(found.tornado) - MAX_ROWS
    title = "Extra cost of the next best design" if gap else "Cost of the choice"
    caption = "From the value now (upright line) to the low end (light) and the high end (dark) of each assumption"
    caption += "; left of the red line another design is cheaper." if gap else "."
    caption += f" {count_text(more, 'smaller bar')} not shown." if more > 0 else ""
    caption += (
        f" The choice stays the same at either end of: {', '.join(found.without_effect)}."
        if found.without_effect
        else ""
    )
    base = found.gap if found.gap is not None else found.month
    return Spans(
        "tornado",
        f"{title}, {found.measure}",
        caption,
        float(base),
        rows,
        f"Cost of the choice, now {round_half_up(found.month, 0):,}",
        (0.0, "another design is cheaper") if gap else None,
    )


def _row(each: Assumption, found: Sensitivity) -> SpanRow:
    def end(which: RangeEnd | None) -> tuple[float, str] | None:
        value: Decimal | None = None if which is None else which.month if found.gap is None else which.gap
        return None if which is None or value is None else (float(value), which.value)

    return SpanRow(_label(each), end(each.low), end(each.high), _costs(each, found), each.changes_choice)


def _label(each: Assumption) -> str:
    """Name an assumption: `price of st1, 20 % less or more`, `months: 12 months, or 10 months to 14 months`."""
    low, high = each.low, each.high
    if low is not None and high is not None and low.value.endswith(" less"):
        return f"{each.name}, {low.value} or more"
    ends = " to ".join(end.value for end in (low, high) if end is not None)
    return f"{each.name}: {each.value}, or {ends}"


def _costs(each: Assumption, found: Sensitivity) -> str:
    """Return the cost of the choice at both ends of an assumption."""
    costs = [
        None if end.month is None else round_half_up(end.month, 0) for end in (each.low, each.high) if end is not None
    ]
    if all(cost == round_half_up(found.month, 0) for cost in costs):
        return "the same"
    return " to ".join("not met" if cost is None else f"{cost:,}" for cost in costs)
