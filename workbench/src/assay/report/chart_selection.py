"""Selects the charts of a run, and limits how many a page has."""

from collections.abc import Iterator, Sequence
from itertools import islice

from assay.model.result.percentile import MAX_INTERVAL_RATIO
from assay.model.result.result import ResultRow
from assay.model.study.axis import AxisValue
from assay.report import numbers
from assay.report.charts.dots import plain_chart
from assay.report.charts.heat import heat_map
from assay.report.charts.lines import MAX_SERIES, ChartQuantity, line_chart
from assay.report.charts.percentiles import percentile_chart
from assay.report.charts.theme import doubtful_counts, thinned
from assay.report.document import Block, Chart, Gallery, Note
from assay.report.measure import measure_of, measures_of
from assay.report.view import RunView, WorkloadRows, is_plausible, point_words

MAX_CHARTS = 24
"""Most charts of one kind in one section."""
_MAX_CELLS = 24
"""Most values of one axis in a heat map."""
_MAX_POINTS = 64
"""Most values of one axis in a line chart."""
_MAX_DOTS = 60

RowGroup = tuple[str, list[ResultRow]]


def limited_gallery(figures: Iterator[Chart], what: str) -> list[Block]:
    """Return a gallery of the first charts, and a note if some are left out."""
    found = list(islice(figures, MAX_CHARTS + 1))
    if not found:
        return []
    if len(found) <= MAX_CHARTS:
        return [Gallery(tuple(found))]
    words = f"Only the first {MAX_CHARTS} {what} are drawn; all results are in the table and in `assay export`."
    return [Gallery(tuple(found[:MAX_CHARTS])), Note(words)]


def _slices(rows: list[ResultRow], names: list[str]) -> list[RowGroup]:
    """Group rows by their point on the axes `names`; each group comes with its point in words."""
    groups: dict[tuple[AxisValue, ...], list[ResultRow]] = {}
    for row in rows:
        groups.setdefault(tuple(row.case.axes.get(name) for name in names), []).append(row)
    return [(point_words(dict(zip(names, key, strict=True)), names), group) for key, group in groups.items()]


def _title(view: RunView, workload: WorkloadRows, operation: str, where: str = "") -> str:
    """Return a chart's title: the operation, the point, and the workload if there are several."""
    words = [numbers.operation_title(operation), where, workload.name if len(view.main_workloads()) > 1 else ""]
    return " · ".join(word for word in words if word)


def _grids(workload: WorkloadRows, operations: Sequence[str]) -> Iterator[tuple[tuple[str, str], str, int, RowGroup]]:
    axes = workload.grid()
    if axes is None:
        return
    others = [name for name in workload.independent_axes(axes[0]) if name in workload.independent_axes(axes[1])]
    for operation in operations:
        for place, found in enumerate(_slices(workload.rows_of(operation), others)):
            yield axes, operation, place, found


def _drawn_values(workload: WorkloadRows, axes: tuple[str, str]) -> tuple[list[AxisValue], list[AxisValue], str]:
    up, right = (thinned(workload.swept_axes[axis], _MAX_CELLS) for axis in axes)
    left_out = [
        axis for axis, drawn in zip(axes, (up, right), strict=True) if len(drawn) < len(workload.swept_axes[axis])
    ]
    words = numbers.listing([numbers.axis_title(axis).lower() for axis in left_out])
    return up, right, f" {_MAX_CELLS} evenly spread values of {words} are drawn." if left_out else ""


def _measured(operation: str) -> str:
    measure = measure_of(operation)
    return f"{measure.title.lower()} in {measure.unit}"


def heat_maps(view: RunView, workload: WorkloadRows, mark: str, operations: Sequence[str]) -> Iterator[Chart]:
    """Yield one heat map per operation and point of the other axes."""
    for axes, operation, place, (where, rows) in _grids(workload, operations):
        up, right, words = _drawn_values(workload, axes)
        targets = [target for target in view.targets if any(row.case.target == target for row in rows)]
        drawing = heat_map(rows, axes, (up, right), targets)
        caption = f"Median {_measured(operation)}; one colour scale for all panels.{words}{doubtful_counts(rows)}"
        title = _title(view, workload, operation, where)
        yield Chart(f"heat-{mark}-{operation}-{place}", title, caption, drawing, wide=True)


def line_charts(
    view: RunView, workload: WorkloadRows, axis: str, metric: ChartQuantity, mark: str, operations: Sequence[str]
) -> Iterator[Chart]:
    """Yield one chart per operation: rate or latency against `axis`."""
    others = workload.independent_axes(axis)
    drawn_x = set(thinned(workload.swept_axes[axis], _MAX_POINTS))
    for operation in operations:
        kind = measure_of(operation).title.lower() if metric == "rate" else metric
        rows = [row for row in workload.rows_of(operation) if row.case.axes.get(axis) in drawn_x]
        if not rows:
            # Other jobs of the same name swept it, in what other tools measured.
            continue
        slices = _slices(rows, others)
        drawn_slices = thinned(slices, MAX_SERIES)
        chosen = [row for _, group in drawn_slices for row in group]
        if metric == "latency" and not any("p50" in row.latency for row in chosen):
            continue
        words = "Median and 95 % interval."
        if metric == "latency":
            words += (
                f" Where that is wider than a factor of {MAX_INTERVAL_RATIO:g}: from the lowest to the highest repeat."
            )
        if len(drawn_slices) < len(slices):
            words += f" Lines for {len(drawn_slices)} of {len(slices)} points of the other axes."
        if len(drawn_x) < len(workload.swept_axes[axis]):
            words += f" {len(drawn_x)} of {len(workload.swept_axes[axis])} values along the axis."
        words += _doubtful(chosen)
        drawing = line_chart(chosen, axis, others, view.targets, metric)
        yield Chart(f"{kind}-{mark}-{axis}-{operation}", _title(view, workload, operation), words, drawing)


def plain_charts(view: RunView, workloads: list[WorkloadRows]) -> Iterator[Chart]:
    """Yield one chart of dots per measure, for workloads without a numeric axis."""
    every = [row for workload in workloads for row in workload.rows]
    for measure in measures_of(every):
        rows = [row for row in every if row.is_counted is measure.is_count]
        drawn = rows[:_MAX_DOTS]
        if any(row.rate for row in drawn):
            more = f" The first {_MAX_DOTS} results." if len(drawn) < len(rows) else ""
            words = f"Median and 95 % interval.{more}{_doubtful(drawn)}"
            title = f"{measure.title} per workload and operation"
            yield Chart(f"plain-{measure.title.lower()}", title, words, plain_chart(drawn, view), wide=True)


def _doubtful(rows: list[ResultRow]) -> str:
    """Return the sentence of `doubtful_counts`, with a remark on the intervals of these results."""
    words = doubtful_counts(rows)
    return words and f"{words} Intervals of these may end beyond the chart."


def percentile_charts(view: RunView, workload: WorkloadRows, mark: str) -> Iterator[Chart]:
    """Yield one chart of percentile curves per operation, at the ends of one axis."""
    for operation in workload.operations:
        rows = _ends(view, workload, operation)
        if rows:
            where = numbers.listing(list(dict.fromkeys(view.point_of(row) for row in rows if view.point_of(row))))
            caption = f"At {where}." if where else ""
            title = _title(view, workload, operation)
            yield Chart(f"percentiles-{mark}-{operation}", title, caption, percentile_chart(rows, view))


def _ends(view: RunView, workload: WorkloadRows, operation: str) -> list[ResultRow]:
    """Return the rows at both ends of the last numeric axis, with the other axes at their last point.

    Points without curves of as many targets as elsewhere are left out.
    """
    with_curve = [
        row for row in workload.rows_of(operation) if row.curve and "p50" in row.latency and is_plausible(row)
    ]
    full: dict[str, list[ResultRow]] = {}
    for row in with_curve:
        full.setdefault(view.point_of(row), []).append(row)
    most = max((len(rows) for rows in full.values()), default=0)
    names = workload.numeric_axes()
    groups: dict[tuple[AxisValue, ...], list[list[ResultRow]]] = {}
    for rows in full.values():
        if len(rows) == most:
            key = tuple(rows[0].case.axes.get(name) for name in workload.swept_axes if not names or name != names[-1])
            groups.setdefault(key, []).append(rows)
    if not groups:
        return []
    last = list(groups.values())[-1]
    return last[0] + last[-1] if len(last) > 1 else last[0]
