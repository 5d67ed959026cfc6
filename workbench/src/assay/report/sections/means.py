"""Means over one axis for each value of another, of workloads that sweep two."""

from collections.abc import Iterator
from dataclasses import replace
from statistics import fmean
from typing import NamedTuple

from assay.model.result.result import Estimate, ResultRow
from assay.model.study.axis import AxisValue
from assay.report import chart_selection, numbers
from assay.report.document import Block, Cell, Chart, Column, Fold, Heading, Num, Table
from assay.report.measure import measure_of
from assay.report.view import RunView, WorkloadRows, is_plausible

MIN_VALUES = 3
"""Fewest values of each of the two axes."""
_MARK = "means"


class _Mean(NamedTuple):
    """A mean of medians.

    Attributes:
        rows: The results that it is of.
        rate: In the unit of their measure.
    """

    rows: list[ResultRow]
    rate: float


def is_shown(workload: WorkloadRows) -> bool:
    """Return whether a workload has means: its points span a grid of two axes, and no other axis differs."""
    axes = workload.grid()
    if axes is None or any(len(workload.swept_axes[axis]) < MIN_VALUES for axis in axes):
        return False
    return len(workload.numeric_axes()) == len(workload.swept_axes) == len(axes)


def blocks(view: RunView) -> list[Block]:
    """Return a table and line charts of means over the second axis of each grid, for each value of the first."""
    found: list[Block] = []
    for workload in view.main_workloads():
        axes = workload.grid()
        if axes is None or not is_shown(workload):
            continue
        mark = f"{_MARK}-{view.workloads.index(workload)}"
        charts = tuple(_charts(view, workload, axes, mark))
        title = f"{numbers.capitalized(workload.name or 'all')}: means over {_words(axes[1])}"
        found.append(Fold(title, (*chart_selection.limited_gallery(iter(charts), "charts"), table(workload)), mark))
    return found


def plain_blocks(view: RunView) -> list[Block]:
    """Return the tables of means alone, for a terminal."""
    found: list[Block] = []
    for workload in view.main_workloads():
        axes = workload.grid()
        if axes is not None and is_shown(workload):
            found += [Heading(f"Means over {_words(axes[1])}", "", 3), table(workload)]
    return found


def table(workload: WorkloadRows) -> Table:
    """Return a row for each operation and value of the first axis, with each target's mean and how many it is of."""
    axes = workload.grid()
    assert axes is not None
    targets = list(dict.fromkeys(row.case.target for row in workload.rows))
    lines: list[tuple[Cell, ...]] = []
    for operation in workload.operations:
        measure = measure_of(operation)
        found = _means(workload.rows_of(operation), axes[0])
        for value in workload.swept_axes[axes[0]]:
            means = [found.get((target, value)) for target in targets]
            if not any(means):
                continue
            rates = [
                Num(numbers.NONE if mean is None else measure.text(mean.rate), mean and mean.rate) for mean in means
            ]
            counts = ", ".join(str(len(mean.rows) if mean else 0) for mean in means)
            lines.append((numbers.operation_title(operation), numbers.axis_value(axes[0], value), *rates, counts))
    columns = (
        Column("Operation"),
        Column(numbers.axis_title(axes[0])),
        *(Column(target, is_numeric=True) for target in targets),
        Column(f"Values of {_words(axes[1])}"),
    )
    return Table(f"{_MARK}-table", columns, tuple(lines), _caption(axes))


def _caption(axes: tuple[str, str]) -> str:
    return (
        f"Means of medians over those values of {_words(axes[1])} that each target has for a {_words(axes[0])}: these "
        "may be more for one target than for another, so that differences may come from what is missing."
    )


def _words(axis: str) -> str:
    return numbers.axis_title(axis).lower()


def _means(rows: list[ResultRow], axis: str) -> dict[tuple[str, AxisValue], _Mean]:
    """Return target and value of the axis -> mean over all its other points."""
    groups: dict[tuple[str, AxisValue], list[ResultRow]] = {}
    for row in rows:
        if row.rate is not None and is_plausible(row) and axis in row.case.axes:
            groups.setdefault((row.case.target, row.case.axes[axis]), []).append(row)
    return {key: _Mean(group, fmean(row.rate.median for row in group if row.rate)) for key, group in groups.items()}


def _charts(view: RunView, workload: WorkloadRows, axes: tuple[str, str], mark: str) -> Iterator[Chart]:
    """Yield a line chart for each operation: the means of each target against the first axis."""
    rows = [
        _mean_row(mean, axes[0], value)
        for operation in workload.operations
        for (_, value), mean in _means(workload.rows_of(operation), axes[0]).items()
    ]
    swept = {axes[0]: workload.swept_axes[axes[0]]}
    means = WorkloadRows(workload.name, tuple(rows), workload.operations, swept)
    for chart in chart_selection.line_charts(view, means, axes[0], "rate", mark, workload.operations):
        caption = f"Mean over {_words(axes[1])} of the medians; not of equally many everywhere."
        yield replace(chart, caption=caption)


def _mean_row(mean: _Mean, axis: str, value: AxisValue) -> ResultRow:
    """Return a row for the chart, with the mean as its rate and no interval."""
    first = mean.rows[0]
    case = first.case.model_copy(update={"id": "", "axes": {axis: value}})
    rate = Estimate(median=mean.rate, low=None, high=None, n=len(mean.rows), spread=None)
    name = "iops" if first.is_counted else "throughput"
    return first.model_copy(update={"case": case, name: rate, "latency": {}, "curve": (), "samples": ()})
