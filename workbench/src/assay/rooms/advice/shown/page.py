"""Builds the advice page: answer, reasons, drawbacks, what would change it, what is unknown, price books."""

import datetime as dt
import re
from collections.abc import Iterator
from decimal import Decimal

from assay.model.base import AssayError
from assay.model.money.amount import format_money, round_half_up
from assay.model.units import about_size, format_size
from assay.money.cost.designs import load_template
from assay.report import numbers
from assay.report.diagrams.designs import design_chart
from assay.report.document import (
    Block,
    Bullets,
    Cell,
    Column,
    Document,
    Num,
    Paragraph,
    Plot,
    PlotLine,
    Plots,
    Section,
    SpanRow,
    Spans,
    Strong,
    Table,
    Text,
    plain_text,
)
from assay.report.numbers import listing
from assay.rooms.advice.model.advice import Advice, AdviceOption
from assay.rooms.advice.model.sensitivity import Assumption, CostCurves, RangeEnd, Sensitivity
from assay.rooms.advice.shown import sentences as texts
from assay.rooms.advice.work.outlook.curves import RATES, size_text
from assay.rooms.advice.work.texts import count_text, percent

STYLE = "advice"
MAX_ROWS, MAX_DESIGNS = 7, 8
_REQUIREMENT = re.compile(r"with `(?P<key>\w+): (?P<value>\w+)`")
AXES = {
    "capacity": "capacity",
    "read": "reading",
    "write": "writing",
    "read_iops": "reads a second",
    "write_iops": "writes a second",
}
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
    first: list[Block] = [Paragraph(texts.answer_sentence(advice), lead=True)]
    beyond = texts.beyond_price(advice.choice) if advice.choice is not None else ""
    more = (beyond, texts.nearer_sentence(advice), texts.runner_up_sentence(advice))
    first += [Paragraph(text) for text in more if text]
    if advice.choice is not None and advice.choice.built_design is not None:
        first.append(design_chart(advice.choice.built_design))
        first.append(designs_table(advice))
    sections = [
        Section("answer", "Answer", tuple(first)),
        Section("why", "Why", (Bullets(tuple(texts.reason_sentences(advice))),)),
        Section("accept", "Drawbacks and conditions", (Bullets(tuple(texts.drawbacks(advice))),)),
        Section("change", "What would change the choice", tuple(_change(advice))),
        Section("unknown", "Assumptions, and what is not known", (Bullets(tuple(texts.unknowns(advice, today))),)),
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


def need_table(advice: Advice) -> Table:
    """Return the need of an answer: each requirement with its value, and what is not required."""
    need, profile = advice.need, advice.need.profile
    used = [profile.pattern, f"records of {format_size(profile.record)}", f"{percent(profile.read_share)} reading"]
    keeps = {
        "persistent": "kept: it must outlive the work",
        "scratch": "scratch: it can be made again, and may be lost",
    }[need.data]
    books = [book.book for book in advice.books or (advice.prices,)]
    rows = [
        ("Access", f"{need.access}{f', by {need.protocol.upper()}' if need.protocol else ''}"),
        ("Capacity", about_size(need.capacity)),
        *((AXES[name].capitalize(), size_text(name, value)) for name in RATES if (value := getattr(need, name))),
        ("Clients", f"{need.clients:,}" if need.clients else "not stated"),
        ("Use", ", ".join(used)),
        ("Data", keeps),
        ("Durability", need.durability or "not required"),
        ("Availability", f"{need.availability:g} %" if need.availability else "not required"),
        ("Region", listing(list(need.where.regions)) or "any of the price books"),
        ("Time", texts.time_words(need)),
        ("Growth", texts.growth_words(need) or "none"),
        ("Budget", texts.budget_words(need) or "none"),
        ("Price books", listing(books)),
    ]
    about = f"{need.need}. {need.about}" if need.about else need.need
    caption = f"The need that the recommendation answers: {about.rstrip('.')}."
    return Table("need", (Column("Requirement"), Column("Value")), tuple(rows), caption)


def _change(advice: Advice) -> Iterator[Block]:
    found = advice.sensitivity
    if found is None:
        relaxed = tuple(texts.sentence(f"{item.text} ({item.shortfall})") for item in advice.relaxed)
        yield Bullets(relaxed or ("No single requirement can be dropped so that a known design meets the rest.",))
        return
    yield Bullets(tuple(_change_sentences(advice, found)))
    legend = tuple(
        (number, each.design, ", ".join(f"{key} {value}" for key, value in each.values.items()))
        for number, each in enumerate(found.designs)
    )
    plots = [_plot(advice, found, curves) for curves in (found.capacity, found.rate) if curves is not None]
    gaps = any(line_y is None for plot in plots for line in plot.lines for _, line_y in line.points)
    caption = "Both scales are logarithmic. At each point the cheapest variant is computed again, with the parameters "
    caption += "of the legend; all other requirements stay. Between points, lines are only drawn straight."
    ends = " Where a line begins or ends inside the chart, the design meets the need there only just, to within 3 %."
    caption += ends if gaps else ""
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
        yield (Strong(f"{sign} "), f"{_axis_words(found, axis)}: {text}.")
    for curves in (found.capacity, found.rate):
        if curves is not None and not curves.crossings:
            points = curves.curves[0].points
            ends = " to ".join(size_text(curves.axis, point.at) for point in (points[0], points[-1]))
            yield f"{_axis_words(found, curves.axis)}: from {ends}, {best} remains the cheapest."
    for each in found.tornado:
        for end in (each.low, each.high):
            if each.changes_choice and end is not None and end.choice != best:
                yield f"{_assumed(each.name, end.value)}, {_turn(advice, end)}."
    others = [change.text for change in advice.changes if change.kind != "price"]
    yield from (texts.sentence(_requirement_words(text)) for text in others)


def _assumed(name: str, value: str) -> str:
    """Return an assumption with another value: `If the price of st1 is 20 % more`."""
    if name == "months":
        return f"If it is needed for {value}"
    is_many = name.split(" ", 1)[0].endswith("s")
    article = "the " if name[:1].islower() else ""
    return f"If {article}{name} {'are' if is_many else 'is'} {value}"


def _requirement_words(text: str) -> str:
    """Return a change with the requirement that it begins with in words, in place of a line of a need."""
    found = _REQUIREMENT.match(text)
    if found is None:
        return text
    words = {
        "managed": "if a provider must run it",
        "worm": "if data must be kept so that it cannot be changed",
        "protocol": f"if {found['value'].upper()} is required",
        "durability": f"if durability of the class `{found['value']}` is required",
    }
    return words.get(found["key"], found[0]) + text[found.end() :]


def _axis_words(found: Sensitivity, axis: str) -> str:
    """Return what a crossing is of: `capacity`, `reading, with writing in proportion`."""
    along = found.rate.scaled_with if found.rate is not None and found.rate.axis == axis else ()
    with_others = f", with {listing([AXES[name] for name in along])} in proportion" if along else ""
    return f"{AXES[axis]}{with_others}"


def designs_table(advice: Advice) -> Table:
    """Return the best designs that meet, or may meet, the need with their costs, and what other named designs are.

    The table has the first `MAX_DESIGNS`, and the best one of each provider.
    """
    best: dict[str, AdviceOption] = {}
    for option in advice.options or advice.unproven:
        best.setdefault(option.design, option)
    providers: dict[str | None, str] = {}
    for name, option in best.items():
        providers.setdefault(option.provider, name)
    shown = [name for place, name in enumerate(best) if place < MAX_DESIGNS or name in providers.values()]
    works = any(best[name].price.administration for name in shown)
    costs = {name: (best[name].price.month, best[name].price.month + best[name].price.administration) for name in shown}
    spoken = {word for text in texts.reason_sentences(advice) for word in plain_text(text).split()}
    others = [name for name in (*best, *(each.design for each in advice.rejected)) if name in spoken - set(shown)]
    rows: list[tuple[Cell, ...]] = []
    for name in (*shown, *others):
        cells = [_cost_cell(cost) for cost in costs.get(name, (None, None))]
        rows.append((name, _about(name), *cells[: 2 if works else 1]))
    unit = f"{advice.prices.currency} a month"
    columns = [Column("Design"), Column("What it is"), Column("Cost", unit, is_numeric=True)]
    columns += [Column("With administration", unit, is_numeric=True)] if works else []
    does = "meet the need" if advice.options else "may meet the need"
    caption = (
        f"Designs compared, the best first: {len(shown)} of {count_text(len(best), 'design')} that {does}, each in "
    )
    caption += "its best variant."
    caption += " Administration is assumed, and in the second amount only." if works else ""
    caption += " A dash: the design is named below; the variant that is named there fails the need." if others else ""
    return Table("designs", tuple(columns), tuple(rows), caption)


def _cost_cell(month: Decimal | None) -> Num:
    return Num(numbers.NONE if month is None else format_money(month), None if month is None else float(month))


def _about(name: str) -> str:
    """Return the description of a design that comes with Assay; empty for others."""
    try:
        about = str(load_template(name).source.data.get("about", ""))
    except AssayError:
        return ""
    return about.split("; ", 1)[0].rstrip(".")


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
    lines = tuple(
        PlotLine(
            each.design,
            number,
            tuple((point.at, None if point.month is None else float(point.month)) for point in each.points),
            is_emphasised=number == 0,
        )
        for number, each in enumerate(curves.curves)
    )
    along = f"; {listing([AXES[name] for name in curves.scaled_with])} in proportion" if curves.scaled_with else ""
    budget = advice.need.budget
    level = None
    if budget is not None and advice.need.prefer == "cost" and not advice.need.discount:
        most = budget.amount if budget.per == "month" else budget.amount / advice.need.months
        is_beyond = found.measure.endswith("with administration")
        level = (float(most), f"budget {format_money(most)}{', without administration' if is_beyond else ''}")
    marks = tuple((at, sign) for name, at, sign, _ in texts.crossings(found) if name == axis)
    return Plot(
        f"curve-{axis}",
        f"Cost against {'capacity' if axis == 'capacity' else 'rate'}",
        f"Upwards: {found.measure}{along}.",
        TITLES[axis],
        tuple((size, size_text(axis, size).removesuffix(" IOPS")) for size in curves.sizes),
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
    title = f"Extra cost of the cheapest other design, now {found.runner_up}" if gap else "Cost of the choice"
    caption = f"{count_text(more, 'smaller effect')} not shown." if more > 0 else ""
    if found.without_effect:
        caption += f" The choice stays the same at either end of: {', '.join(found.without_effect)}."
    base = found.gap if found.gap is not None else found.month
    return Spans(
        "tornado",
        f"{title}; {found.measure}",
        caption.strip(),
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
    return " to ".join("need not met" if cost is None else f"{cost:,}" for cost in costs)
