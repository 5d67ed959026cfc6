"""Rate and latency against time: each second of each repeat, and the moving average of the rate."""

from collections.abc import Iterator, Sequence

from assay.analyse.statistics.segments import moving_average
from assay.analyse.usable import usable
from assay.model.result.course import Segments
from assay.model.result.result import ResultRow
from assay.model.result.sample import Sample
from assay.report import numbers
from assay.report.charts.theme import colours, measured_axis, target_legend, ticked_axis, time_axis, tooltip_text
from assay.report.draw.drawing import ChartAxis, Dot, Drawing, Legend, LegendEntry, LineMark, Mark, ReferenceLine
from assay.report.draw.scales import scale_from_zero
from assay.report.measure import measure_of

_TIME = "Time since all lanes were at work (s)"
_OF_CHANGES = ("bursting",)
"""Rules whose findings are about moments at which the rate changed."""


def course_chart(rows: Sequence[ResultRow], targets: Sequence[str]) -> Drawing:
    """Return the chart of one operation's rates.

    Args:
        rows: Results of one operation at one point of the axes; results without rates per second are left out.
        targets: All targets; each has its own colour.
    """
    measure, shades = measure_of(rows[0].operation), colours(targets)
    dots: list[Mark] = []
    lines: list[Mark] = []
    for row, sample, segments in _each(rows):
        times = _times(segments)
        shade, repeat = shades[row.case.target], _repeat(row, sample)
        for at, rate in zip(times, segments.rates, strict=True):
            dots.append(Dot(at, rate / measure.scale, shade, tooltip_text(repeat, measure.text(rate)), look="small"))
        averages = (rate / measure.scale for rate in moving_average(segments.rates))
        lines.append(LineMark(tuple(zip(times, averages, strict=True)), shade, tooltip_text(repeat, row.verdict.value)))
    # The axis begins at 0, so that seconds without any operation are visible.
    top = max((dot.y for dot in dots if isinstance(dot, Dot)), default=0.0)
    y = ticked_axis(scale_from_zero(top * 1.04), measure.axis_title)
    return _drawing(rows, targets, y, [*dots, *lines], [])


def latency_chart(rows: Sequence[ResultRow], targets: Sequence[str]) -> Drawing | None:
    """Return the chart of one operation's latencies; None if none were stored per second.

    Args:
        rows: The same as for `course_chart`.
        targets: All targets; each has its own colour.
    """
    shades = colours(targets)
    lines: list[LineMark] = []
    for row, sample, segments in _each(rows):
        for dash, (name, values) in enumerate((("p50", segments.p50), ("p99", segments.p99))):
            places = (
                (at, value / 1e3) for at, value in zip(_times(segments), values, strict=False) if value is not None
            )
            words = tooltip_text(f"{_repeat(row, sample)}, {name}", row.verdict.value)
            if points := tuple(places):
                lines.append(LineMark(points, shades[row.case.target], words, dash, "thin"))
    heights = [y for line in lines for _, y in line.points if y is not None]
    if not heights:
        return None
    dashes = Legend("", tuple(LegendEntry(name, "soft", None, dash) for dash, name in enumerate(("p50", "p99"))))
    return _drawing(rows, targets, measured_axis(heights, "Latency (µs)"), lines, [dashes])


def _drawing(
    rows: Sequence[ResultRow], targets: Sequence[str], y: ChartAxis, marks: Sequence[Mark], more: list[Legend]
) -> Drawing:
    added = list(_added(rows, colours(targets)))
    ends = [
        segments.length_ns / 1e9 * len(segments.rates) for row in rows for _, segments in _with_segments(row.samples)
    ]
    present = {row.case.target for row in rows if any(True for _ in _with_segments(row.samples))}
    x = time_axis([*ends, *(mark.value for mark in added if isinstance(mark, ReferenceLine))], _TIME)
    return Drawing(x, y, (*marks, *added), (*target_legend(targets, present), *more), height=180)


def _with_segments(samples: Sequence[Sample]) -> Iterator[tuple[Sample, Segments]]:
    for sample in samples:
        if sample.course is not None and sample.course.segments is not None:
            yield sample, sample.course.segments


def _each(rows: Sequence[ResultRow]) -> Iterator[tuple[ResultRow, Sample, Segments]]:
    """Yield the usable repeats that have rates per second."""
    for row in rows:
        for sample, segments in _with_segments(usable(row.samples)):
            yield row, sample, segments


def _times(segments: Segments) -> list[float]:
    """Return the middle of each segment, in seconds."""
    return [(number + 0.5) * segments.length_ns / 1e9 for number in range(len(segments.rates))]


def _repeat(row: ResultRow, sample: Sample) -> str:
    return f"{row.case.target}, repeat {sample.repeat}"


def _added(rows: Sequence[ResultRow], shades: dict[str, str]) -> Iterator[Mark]:
    """Yield vertical lines where the rate changed, if a finding names this, and crosses where operations failed."""
    for row in rows:
        measure = measure_of(row.operation)
        if any(finding.rule in _OF_CHANGES for finding in row.findings):
            for sample, segments in _with_segments(usable(row.samples)):
                # Old versions stored segments without error counts and without the start of the seconds.
                for change in sample.course.changes if sample.course is not None and segments.errors else ():
                    at = max(0.0, (change.at_ns - segments.start_ns) / 1e9)
                    words = f"from {measure.text(change.before)} to {measure.text(change.after)}"
                    title = tooltip_text(_repeat(row, sample), words)
                    yield ReferenceLine(at, "change", css_class=shades[row.case.target], tooltip=title)
    for row in rows:
        # A repeat with failed operations does not count and has no line, so these crosses are its only trace.
        for sample, segments in _with_segments(row.samples):
            for number, count in enumerate(segments.errors):
                if count:
                    at = (number + 0.5) * segments.length_ns / 1e9
                    title = tooltip_text(_repeat(row, sample), numbers.plural(count, "failed operation"))
                    yield Dot(at, -1.0, shades[row.case.target], title, look="failed")
