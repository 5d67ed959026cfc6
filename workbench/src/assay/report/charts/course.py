"""Rate against time: every second of every repeat, and the moving average of each."""

from collections.abc import Iterator, Sequence

from assay.analyse.statistics.segments import moving_average
from assay.analyse.usable import usable
from assay.model.result.result import Row
from assay.report.charts.theme import TOOLTIP, Spec, colour, finish, magnitude
from assay.report.measure import measure_of

_HEIGHT = 200


def course_chart(rows: Sequence[Row], targets: Sequence[str]) -> Spec:
    """The specification of the chart of one operation.

    Args:
        rows: Of one operation at one point of the axes; those without seconds are left out.
        targets: One colour each.
    """
    data = [datum for row in rows for datum in _data(row)]
    # From 0 on, where a second in which nothing was done has its place.
    top = max((float(datum["y"]) for datum in data), default=0.0)
    x: Spec = {"field": "x", "type": "quantitative", "title": "Time since all lanes were at work (s)"}
    x["axis"] = {"tickMinStep": 1}
    y: Spec = {"type": "quantitative", **magnitude([top], measure_of(rows[0].operation).axis)}
    base: Spec = {"x": x, "color": colour(targets)}
    dots: Spec = {"type": "point", "filled": True, "size": 18, "opacity": 0.45}
    line: Spec = {"type": "line", "strokeWidth": 1.6, "opacity": 0.85}
    layers: list[Spec] = [
        {"mark": dots, "encoding": {**base, "y": {**y, "field": "y"}, "tooltip": TOOLTIP}},
        {"mark": line, "encoding": {**base, "y": {**y, "field": "a"}, "detail": {"field": "r", "type": "nominal"}}},
    ]
    return finish({"data": {"values": data}, "width": "container", "height": _HEIGHT, "layer": layers})


def _data(row: Row) -> Iterator[Spec]:
    measure = measure_of(row.operation)
    for sample in usable(row.samples):
        segments = sample.course.segments if sample.course is not None else None
        if segments is None:
            continue
        seconds = segments.length_ns / 1e9
        averages = moving_average(segments.rates)
        for number, (rate, average) in enumerate(zip(segments.rates, averages, strict=True)):
            yield {
                "t": row.case.target,
                "r": f"{row.case.target} {sample.repeat}",
                "x": (number + 0.5) * seconds,
                "y": rate / measure.scale,
                "a": average / measure.scale,
                "p": f"repeat {sample.repeat}",
                "m": measure.text(rate),
                "v": row.verdict.value,
            }
