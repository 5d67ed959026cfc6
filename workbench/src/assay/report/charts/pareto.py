"""Cost against measured rate: dots with intervals, and the Pareto front."""

from collections.abc import Sequence

from assay.model.money.amount import format_money
from assay.money.cost.limits import Metric
from assay.report.charts.theme import colours, measured_axis, target_legend, tooltip_text
from assay.report.costs import CostPoint, price_unit, price_unit_size
from assay.report.draw.drawing import Dot, Drawing, IntervalMark, Legend, LegendEntry, LineMark, Mark
from assay.report.numbers import significant

_SHAPES = {"on the front": 0, "not separable from it": 3, "dominated": 4}


def pareto_chart(
    points: Sequence[CostPoint], designs: dict[str, str], metric: Metric, currency: str, targets: Sequence[str]
) -> Drawing:
    """Draw monthly cost against the rate with its interval; the line joins the front by the medians.

    Args:
        points: At least one point.
        designs: Target -> its design in words.
        metric: The measured rate.
        currency: Currency of the costs.
        targets: All targets; each has its own colour.
    """
    size, shades = price_unit_size(metric), colours(targets)
    edge = sorted((point.rate.value / size, float(point.month_cost)) for point in points if point.is_on_median_front)
    marks: list[Mark] = [LineMark(tuple(edge), "soft", look="front", step="before")] if len(edge) > 1 else []
    dots: list[Mark] = []
    values: list[float] = []
    for point in points:
        rate, y, shade = point.rate, float(point.month_cost), shades[point.target]
        ends = tuple((rate.value if end is None else end) / size for end in (rate.low, rate.high))
        values += [rate.value / size, *ends]
        marks.append(IntervalMark((ends[0], ends[1]), (y, y), shade))
        cost = f"{format_money(point.month_cost, currency)} a month"
        title = tooltip_text(point.target, designs[point.target], cost, _words(point, metric), point.position)
        dots.append(Dot(rate.value / size, y, shade, title, _SHAPES[point.position], "large", point.target))
    present = {point.position for point in points}
    keys = tuple(LegendEntry(name, "soft", shape) for name, shape in _SHAPES.items() if name in present)
    return Drawing(
        measured_axis(values, f"{'Read' if metric.startswith('read') else 'Write'} ({price_unit(metric)})"),
        measured_axis([float(point.month_cost) for point in points], f"{currency} a month"),
        (*marks, *dots),
        (*target_legend(targets, (point.target for point in points)), Legend("Front", keys)),
        height=240,
    )


def _words(point: CostPoint, metric: Metric) -> str:
    size, rate = price_unit_size(metric), point.rate
    words = f"{significant(rate.value / size)} {price_unit(metric)}"
    if rate.low is not None and rate.high is not None:
        words += f" ({significant(rate.low / size)} to {significant(rate.high / size)})"
    return words
