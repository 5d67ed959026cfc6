"""The rate of results second by second: the slowest, median and fastest second, and moving averages over time."""

from collections.abc import Iterator, Sequence
from statistics import median

from assay.analyse.statistics.segments import REACH
from assay.analyse.usable import usable
from assay.model.result.course import Segments
from assay.model.result.result import ResultRow
from assay.report import chart_selection, numbers
from assay.report.charts.course import course_chart, latency_chart
from assay.report.document import Block, Cell, Chart, Column, Fold, Heading, Num, Paragraph, Table
from assay.report.measure import measure_of
from assay.report.sections.leading_columns import LEADING_COLUMNS, leading_cells
from assay.report.view import RunView

_MAX_ROWS = 500
_MARKS = (
    f"Dots: each second. Lines: the mean of it and its neighbours, {REACH} on either side, for each repeat; of "
    "latencies the median (whole) and the 99th percentile (dashed). Crosses: operations failed, in a repeat "
    "that does not count. Upright lines: changes of the rate that a verdict names."
)


def folds(view: RunView) -> Iterator[Fold]:
    """Yield a table of the results with rates per second, and charts over time of some; nothing without any."""
    found = [(row, segments) for row in view.analysis.rows if (segments := segments_of(row))]
    if not found:
        return
    title = f"Moving averages over {2 * REACH + 1} seconds"
    charts = chart_selection.limited_gallery(_charts(view, [row for row, _ in found]), "charts")
    drawn: list[Block] = [Heading(title, "results-moving", 4), Paragraph(_MARKS), *charts] if charts else []
    latencies = chart_selection.limited_gallery(_latencies(view, [row for row, _ in found]), "charts")
    title = "Latency second by second, repeat by repeat"
    drawn += [Heading(title, "results-latencies", 4), *latencies] if latencies else []
    yield Fold("Second by second", (_table(view, found), *drawn), "results-seconds")


def segments_of(row: ResultRow) -> list[Segments]:
    """Return the rates per second of the repeats that count."""
    courses = [sample.course for sample in usable(row.samples)]
    return [course.segments for course in courses if course is not None and course.segments is not None]


def _table(view: RunView, found: Sequence[tuple[ResultRow, list[Segments]]]) -> Table:
    columns = (
        *LEADING_COLUMNS,
        Column("Segments", is_numeric=True),
        Column("Unit", is_filter=True),
        *(Column(name, is_numeric=True) for name in ("Slowest", "Median", "Fastest")),
        Column("Slowest / median", is_numeric=True),
    )
    caption = (
        "Rates of each second in which every thread worked, of all repeats that count. An operation in flight at the "
        "border of two seconds counts in both, in proportion to its time in each."
    )
    if view.includes_flushes:
        caption += " No second includes the flush at the end."
    if any(segments.length_ns > 10**9 for _, every in found for segments in every):
        caption += " In very long repeats a segment is longer than a second."
    if len(found) > _MAX_ROWS:
        caption += f" The first {_MAX_ROWS:,} of {len(found):,}."
    lines = tuple(_line(view, row, segments) for row, segments in found[:_MAX_ROWS])
    return Table("seconds-table", columns, lines, caption, is_interactive=True)


def _line(view: RunView, row: ResultRow, every: Sequence[Segments]) -> tuple[Cell, ...]:
    measure = measure_of(row.operation)
    rates = [rate for segments in every for rate in segments.rates]
    ends = (min(rates), median(rates), max(rates))
    share = ends[0] / ends[1] if ends[1] else None
    return (
        *leading_cells(view, row),
        Num(str(len(rates)), float(len(rates))),
        measure.unit,
        *(Num(measure.number(rate), rate) for rate in ends),
        Num(numbers.share(share), share),
    )


def _charts(view: RunView, rows: Sequence[ResultRow]) -> Iterator[Chart]:
    """Yield a chart of rates for each operation at each point of the axes, with a line for each repeat."""
    for number, (title, group) in enumerate(_groups(view, rows)):
        yield Chart(f"moving-{number}", title, "", course_chart(group, view.targets))


def _latencies(view: RunView, rows: Sequence[ResultRow]) -> Iterator[Chart]:
    """Yield a chart of latencies for each operation at each point of the axes, if they were stored."""
    for number, (title, group) in enumerate(_groups(view, rows)):
        if (drawing := latency_chart(group, view.targets)) is not None:
            yield Chart(f"seconds-latency-{number}", title, "", drawing)


def _groups(view: RunView, rows: Sequence[ResultRow]) -> list[tuple[str, list[ResultRow]]]:
    """Return the rows of each operation at each point of the axes, with a title."""
    groups: dict[tuple[str, str, str], list[ResultRow]] = {}
    for row in rows:
        groups.setdefault((row.case.workload, view.point_of(row), row.operation), []).append(row)
    return [
        (", ".join(part for part in (numbers.operation_title(operation), workload, point) if part), group)
        for (workload, point, operation), group in groups.items()
    ]
