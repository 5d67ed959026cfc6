"""Rate and latency against time: every second of every repeat, and the moving average of its rate."""

from collections.abc import Iterator, Sequence

from assay.analyse.statistics.segments import moving_average
from assay.analyse.usable import usable
from assay.model.result.course import Segments
from assay.model.result.result import Row, Sample
from assay.report import numbers
from assay.report.charts.theme import TOOLTIP, Spec, colour, finish, magnitude
from assay.report.measure import measure_of

_HEIGHT = 200
_OF_CHANGES = ("bursting",)
"""Rules whose findings speak of moments at which the rate changed."""


def course_chart(rows: Sequence[Row], targets: Sequence[str]) -> Spec:
    """The specification of the chart of one operation.

    Args:
        rows: Of one operation at one point of the axes; those without seconds are left out.
        targets: One colour each.
    """
    data = [datum for row in rows for datum in _data(row)]
    # From 0 on, where a second in which nothing was done has its place.
    top = max((float(datum["y"]) for datum in data), default=0.0)
    x = _x()
    y: Spec = {"type": "quantitative", **magnitude([top], measure_of(rows[0].operation).axis)}
    base: Spec = {"x": x, "color": colour(targets)}
    dots: Spec = {"type": "point", "filled": True, "size": 18, "opacity": 0.45}
    line: Spec = {"type": "line", "strokeWidth": 1.6, "opacity": 0.85}
    layers: list[Spec] = [
        {"mark": dots, "encoding": {**base, "y": {**y, "field": "y"}, "tooltip": TOOLTIP}},
        {"mark": line, "encoding": {**base, "y": {**y, "field": "a"}, "detail": {"field": "r", "type": "nominal"}}},
    ]
    layers += _marks(rows, base)
    return finish({"data": {"values": data}, "width": "container", "height": _HEIGHT, "layer": layers})


def latency_chart(rows: Sequence[Row], targets: Sequence[str]) -> Spec | None:
    """The specification of the chart of one operation's latencies; None if none were kept second by second.

    Args:
        rows: As of `course_chart`.
        targets: One colour each.
    """
    data = [datum for row in rows for datum in _latencies(row)]
    if not data:
        return None
    x = _x()
    y: Spec = {"field": "y", **magnitude([float(datum["y"]) for datum in data], "Latency (µs)")}
    dash: Spec = {"field": "q", "type": "nominal", "title": None, "scale": {"domain": ["p50", "p99"]}}
    dash["scale"]["range"] = [[1, 0], [3, 2]]
    encoding: Spec = {"x": x, "y": y, "color": colour(targets), "strokeDash": dash, "tooltip": TOOLTIP}
    encoding["detail"] = {"field": "r", "type": "nominal"}
    line: Spec = {"type": "line", "strokeWidth": 1.1, "opacity": 0.8}
    layers: list[Spec] = [{"mark": line, "encoding": encoding}, *_marks(rows, {"x": x, "color": encoding["color"]})]
    return finish({"data": {"values": data}, "width": "container", "height": _HEIGHT, "layer": layers})


def _x() -> Spec:
    return {
        "field": "x",
        "type": "quantitative",
        "title": "Time since all lanes were at work (s)",
        "axis": {"tickMinStep": 1},
    }


def _marks(rows: Sequence[Row], base: Spec) -> list[Spec]:
    """Upright lines where the rate changed, if a finding speaks of that; crosses below where operations failed."""
    changes = [datum for row in rows for datum in _changes(row)]
    errors = [datum for row in rows for datum in _errors(row)]
    layers: list[Spec] = []
    shown: Spec = {"x": base["x"], "color": base["color"], "tooltip": TOOLTIP}
    if changes:
        rule: Spec = {"type": "rule", "strokeDash": [4, 3], "opacity": 0.7}
        layers.append({"data": {"values": changes}, "mark": rule, "encoding": shown})
    if errors:
        cross: Spec = {"type": "point", "shape": "cross", "filled": True, "size": 60, "angle": 45}
        at: Spec = {"value": "height"}
        layers.append({"data": {"values": errors}, "mark": cross, "encoding": {**shown, "y": at}})
    return layers


def _kept(samples: Sequence[Sample]) -> Iterator[tuple[Sample, Segments]]:
    for sample in samples:
        if sample.course is not None and sample.course.segments is not None:
            yield sample, sample.course.segments


def _datum(row: Row, sample: Sample, x: float, words: str) -> Spec:
    return {
        "t": row.case.target,
        "r": f"{row.case.target} {sample.repeat}",
        "x": x,
        "p": f"repeat {sample.repeat}",
        "m": words,
        "v": row.verdict.value,
    }


def _latencies(row: Row) -> Iterator[Spec]:
    for sample, segments in _kept(usable(row.samples)):
        for name, values in (("p50", segments.p50), ("p99", segments.p99)):
            for number, value in enumerate(values):
                if value is not None:
                    at = (number + 0.5) * segments.length_ns / 1e9
                    words = f"{name} {numbers.latency(value)}"
                    datum = _datum(row, sample, at, words)
                    yield {**datum, "r": f"{datum['r']} {name}", "y": value / 1e3, "q": name}


def _changes(row: Row) -> Iterator[Spec]:
    if not any(finding.rule in _OF_CHANGES for finding in row.findings):
        return
    measure = measure_of(row.operation)
    for sample, segments in _kept(usable(row.samples)):
        # Without these it was kept by a version that did not say when the seconds begin.
        for change in sample.course.changes if sample.course is not None and segments.errors else ():
            at = (change.at_ns - segments.start_ns) / 1e9
            words = f"from {measure.text(change.before)} to {measure.text(change.after)}"
            yield _datum(row, sample, max(0.0, at), words)


def _errors(row: Row) -> Iterator[Spec]:
    # A repeat in which an operation failed does not count, and has no line: all the more it must be seen.
    for sample, segments in _kept(row.samples):
        for number, count in enumerate(segments.errors):
            if count:
                at = (number + 0.5) * segments.length_ns / 1e9
                yield _datum(row, sample, at, numbers.plural(count, "failed operation"))


def _data(row: Row) -> Iterator[Spec]:
    measure = measure_of(row.operation)
    for sample, segments in _kept(usable(row.samples)):
        seconds = segments.length_ns / 1e9
        averages = moving_average(segments.rates)
        for number, (rate, average) in enumerate(zip(segments.rates, averages, strict=True)):
            datum = _datum(row, sample, (number + 0.5) * seconds, measure.text(rate))
            yield {**datum, "y": rate / measure.scale, "a": average / measure.scale}
