"""Cost against measured rate: dots with intervals, and the Pareto front."""

from collections.abc import Sequence

from assay.model.money.amount import money
from assay.money.cost.limits import Metric
from assay.report.charts.theme import colours, measured_axis, of_targets, pointed
from assay.report.costs import Point, scale, unit
from assay.report.draw.drawing import Dot, Drawing, Interval, Key, Legend, Mark, Path
from assay.report.numbers import significant

_SHAPES = {"on the front": 0, "not separable from it": 3, "dominated": 4}


def pareto_chart(
    points: Sequence[Point], designs: dict[str, str], metric: Metric, currency: str, targets: Sequence[str]
) -> Drawing:
    """Draw monthly cost against the rate with its interval; the line joins the front by the medians.

    Args:
        points: At least one point.
        designs: Target -> its design in words.
        metric: The measured rate.
        currency: Currency of the costs.
        targets: All targets; each has its own colour.
    """
    size, shades = scale(metric), colours(targets)
    edge = sorted((point.rate.value / size, float(point.month)) for point in points if point.edge)
    marks: list[Mark] = [Path(tuple(edge), "soft", look="front", step="before")] if len(edge) > 1 else []
    dots: list[Mark] = []
    values: list[float] = []
    for point in points:
        rate, y, shade = point.rate, float(point.month), shades[point.target]
        ends = tuple((rate.value if end is None else end) / size for end in (rate.low, rate.high))
        values += [rate.value / size, *ends]
        marks.append(Interval((ends[0], ends[1]), (y, y), shade))
        cost = f"{money(point.month, currency)} a month"
        title = pointed(point.target, designs[point.target], cost, _words(point, metric), point.standing)
        dots.append(Dot(rate.value / size, y, shade, title, _SHAPES[point.standing], "large", point.target))
    present = {point.standing for point in points}
    keys = tuple(Key(name, "soft", shape) for name, shape in _SHAPES.items() if name in present)
    return Drawing(
        measured_axis(values, f"{'Read' if metric.startswith('read') else 'Write'} ({unit(metric)})"),
        measured_axis([float(point.month) for point in points], f"{currency} a month"),
        (*marks, *dots),
        (*of_targets(targets, (point.target for point in points)), Legend("Front", keys)),
        height=240,
    )


def _words(point: Point, metric: Metric) -> str:
    size, rate = scale(metric), point.rate
    words = f"{significant(rate.value / size)} {unit(metric)}"
    if rate.low is not None and rate.high is not None:
        words += f" ({significant(rate.low / size)} to {significant(rate.high / size)})"
    return words
