"""The results: charts per workload, and every result once in a table per measure."""

from collections.abc import Callable, Iterator
from functools import partial
from itertools import chain, islice

from assay.model.result.percentile import MAX_INTERVAL_RATIO, MIN_BEYOND, PERCENTILES, PercentileQuality
from assay.model.result.result import ResultRow
from assay.model.study.names import group_of
from assay.report import chart_selection, numbers, percentiles
from assay.report.brief import interval_cell, other_measure, rate_cell
from assay.report.claims import kind_of_work
from assay.report.document import Badge, Block, Cell, Chart, Column, Fold, Gallery, Num, Paragraph, Share, Table
from assay.report.measure import COUNTED, DATA, REPLAYS, REPLAYS_NOTE, TASKS, Measure, mean_time, measures_of
from assay.report.view import RunView, WorkloadRows, missing_evidence

_MARKS = (
    "Filled marks are ok, hollow ones have another verdict; hatched cells are not usable as they are. ± is half the "
    "95 % confidence interval. Cached and impossible results never set a scale."
)
_CURVES = (
    "Percentile curves of all repeats together; 90, 99, 99.9 % and so on are equally far apart. A curve ends where "
    f"{MIN_BEYOND} operations took longer."
)
_MAX_OPEN = 10
"""Most charts outside the folded part."""
_FEW = 20
"""Up to this number, all results are shown in the evidence."""
_SHORT = ("p50", "p99")


def are_in_evidence(view: RunView) -> bool:
    """Return whether the results are so few that they are shown in the evidence instead of the appendix."""
    return len(view.analysis.rows) <= _FEW


_MIN_DRAWN = 3
"""Least number of values on an axis for a line chart in the evidence."""


def rate_charts(view: RunView, leading: bool) -> Iterator[Chart]:
    """Yield heat maps or line charts, for the first operation of each kind of work (`leading`) or for all others."""
    for workload in view.main_workloads():
        mark, grid = str(view.workloads.index(workload)), workload.grid()
        first = set({kind_of_work(name, workload.name): name for name in reversed(workload.operations)}.values())

        def chosen(drawn: bool, workload: WorkloadRows = workload, first: set[str] = first) -> list[str]:
            return [name for name in workload.operations if (drawn and name in first) is leading]

        if grid:
            yield from chart_selection.heat_maps(view, workload, mark, chosen(True))
        for axis in workload.numeric_axes()[::-1]:
            if grid is None or axis not in grid:
                names = chosen(len(workload.swept_axes[axis]) >= _MIN_DRAWN)
                yield from chart_selection.line_charts(view, workload, axis, "rate", mark, names)


def evidence_blocks(view: RunView) -> list[Block]:
    """Return the blocks for the evidence: the results themselves if they are few, else the main charts."""
    if are_in_evidence(view):
        return [*results_tables(view, short=True)]
    charts = tuple(islice(rate_charts(view, True), _MAX_OPEN))
    return [Gallery(charts), Paragraph(_MARKS)] if charts else []


def folds(view: RunView) -> Iterator[Fold]:
    """Yield all results in tables, and the charts that are not in the evidence."""
    if not are_in_evidence(view):
        yield Fold(f"All {len(view.analysis.rows):,} results", tuple(results_tables(view)), "results")
    drawn = 0 if are_in_evidence(view) else _MAX_OPEN
    every = chain(islice(rate_charts(view, True), drawn, None), rate_charts(view, False), _plain(view))
    if charts := chart_selection.limited_gallery(every, "charts"):
        yield Fold(
            "Charts of rates" if are_in_evidence(view) else "More charts of rates", tuple(charts), "results-charts"
        )
    if charts := _latency_charts(view):
        yield Fold("Latency charts", tuple(charts), "latency")


def _plain(view: RunView) -> Iterator[Chart]:
    """Yield charts of workloads without a numeric axis; none for few results, whose table has the same numbers."""
    plain = [workload for workload in view.main_workloads() if not workload.numeric_axes()]
    return chart_selection.plain_charts(view, plain) if plain and not are_in_evidence(view) else iter(())


def _latency_charts(view: RunView) -> list[Block]:
    """Return percentile curves, and charts of median latency over each axis that is not part of a grid."""

    def over(workload: WorkloadRows, mark: str) -> Iterator[Chart]:
        grid = workload.grid() or ()
        for axis in workload.numeric_axes()[::-1]:
            if axis not in grid:
                yield from chart_selection.line_charts(view, workload, axis, "latency", mark, workload.operations)

    marks = [(workload, str(view.workloads.index(workload))) for workload in view.main_workloads()]
    curves = chain.from_iterable(chart_selection.percentile_charts(view, workload, mark) for workload, mark in marks)
    lines = chain.from_iterable(over(workload, mark) for workload, mark in marks)
    drawn = chart_selection.limited_gallery(curves, "charts")
    return [*([Paragraph(_CURVES)] if drawn else []), *drawn, *chart_selection.limited_gallery(lines, "charts")]


def results_tables(view: RunView, short: bool = False) -> list[Table]:
    """Return tables of all results: verdict, median, interval, nearest limit, latency; metadata has its own table.

    Args:
        view: The run.
        short: Leave out the columns that only a table of many results needs.
    """
    found = []
    for measure in measures_of(view.analysis.rows):
        rows = [row for workload in view.workloads for row in workload.rows if row.is_counted == measure.is_count]
        named = {row.case.workload for row in rows}
        workloads = [workload for workload in view.workloads if workload.name in named]
        found.append(_table(view, rows, workloads, measure, short))
    return found


_Part = tuple[Column, Callable[[ResultRow], Cell]]
"""A column, and the function that returns a result's cell in it."""


def _table(view: RunView, rows: list[ResultRow], workloads: list[WorkloadRows], measure: Measure, short: bool) -> Table:
    # Transfers over networks have neither operations per second nor latencies.
    is_bare = not measure.is_count and all(group_of(row.operation) == "other" for row in rows)
    with_other = None if is_bare else other_measure(measure, any(row.throughput for row in rows))
    axes = dict.fromkeys(axis for workload in workloads for axis in workload.swept_axes)
    about: list[_Part] = [(Column("Verdict", is_filter=True), _badge), (Column("Case"), lambda row: row.case.id)]
    parts: list[_Part] = []
    if not short or len(view.targets) > 1:
        parts.append((Column("Target", is_filter=True), lambda row: row.case.target))
    if not short or len(view.workloads) > 1:
        parts.append((Column("Workload", is_filter=True), lambda row: row.case.workload))
    parts.append((Column("Operation", is_filter=True), lambda row: numbers.operation_title(row.operation)))
    parts += [(Column(numbers.axis_title(axis), is_numeric=True), partial(_setting, axis)) for axis in axes]
    parts.append((Column(measure.title, measure.unit, is_numeric=True), lambda row: _middle(row, measure)))
    parts.append((Column("95 % interval", measure.unit, is_numeric=True), lambda row: _interval(row, measure)))
    parts.append((Column("n", is_numeric=True), lambda row: Num(str(row.rate.n if row.rate else 0), _n(row))))
    if not short:
        parts.append((Column("Spread", "%", is_numeric=True), _spread))
    if with_other:
        parts.append((with_other, _other_rate))
    parts += [(Column("Nearest limit", is_filter=True), _limit), (Column("% of limit", is_numeric=True), _share)]
    if any(mean_time(row) is not None for row in rows):
        parts.append((Column("Mean", "µs", is_numeric=True), _mean))
    for name in () if is_bare else _SHORT if short else PERCENTILES:
        parts.append((Column(name, "µs", is_numeric=True), partial(_brief_percentile if short else _percentile, name)))
    # On a narrow screen a short table should show its numbers first; a long one is searched by verdict and case.
    parts = [*parts, *about] if short else [*about, *parts]
    cells = tuple(tuple(cell(row) for _, cell in parts) for row in rows)
    name = "metadata-table" if measure.is_count else "results-table"
    columns = tuple(column for column, _ in parts)
    return Table(name, columns, cells, _caption(measure, short), is_interactive=not short).without_empty_columns()


def _caption(measure: Measure, short: bool) -> str:
    if measure is REPLAYS:
        return f"{_caption(TASKS, short)} {REPLAYS_NOTE}."
    if short:
        return (
            f"{measure.title}: median of n repeats with its 95 % confidence interval. Percentiles: median of those of "
            f"each repeat; a star: not known within a factor of {MAX_INTERVAL_RATIO:g}."
        )
    return (
        f"{measure.title}: median of n repeats with its 95 % confidence interval. Spread: coefficient of "
        "variation of the repeats. Percentiles: median of those of each repeat, with a remark unless known within a "
        f"factor of {MAX_INTERVAL_RATIO:g}. A bar ends at 125 % of the limit; the mark in it is 100 %."
    )


def _badge(row: ResultRow) -> Badge:
    hint = " ".join(finding.text for finding in row.findings) or missing_evidence(row)
    return Badge(row.verdict, hint, row.verdicts[1:], row.is_partly_checked)


def _setting(axis: str, row: ResultRow) -> Cell:
    setting = row.case.parameters.get_value(axis, row.case.axes.get(axis))
    if setting is None:
        return numbers.NONE
    text = numbers.axis_value(axis, setting)
    return Num(text, float(setting)) if isinstance(setting, int | float) else text


def _middle(row: ResultRow, measure: Measure) -> Num:
    return rate_cell(row.rate.median if row.rate else None, measure)


def _interval(row: ResultRow, measure: Measure) -> Num:
    return interval_cell(row.rate.low if row.rate else None, row.rate.high if row.rate else None, measure)


def _n(row: ResultRow) -> float:
    return float(row.rate.n) if row.rate else 0.0


def _spread(row: ResultRow) -> Num:
    spread = row.rate.spread if row.rate else None
    return Num(numbers.NONE if spread is None else f"{100 * spread:.1f}", spread)


def _mean(row: ResultRow) -> Num:
    mean = mean_time(row)
    return Num(numbers.NONE if mean is None else numbers.significant(mean / 1e3), mean)


def _other_rate(row: ResultRow) -> Num:
    value, unit = (row.throughput, DATA) if row.is_counted else (row.iops, COUNTED)
    return rate_cell(value.median if value else None, unit)


def _limit(row: ResultRow) -> str:
    return row.limiting_ceiling.name if row.limiting_ceiling else "none known"


def _share(row: ResultRow) -> Share:
    """Return the share of the nearest limit, with a remark on the limit that was exceeded most."""
    above = row.exceeded_ceilings[0] if row.exceeded_ceilings else None
    return Share(
        row.limiting_ceiling.share if row.limiting_ceiling else None,
        f"{above.name}: {numbers.share(above.share)}" if above else "",
    )


def _percentile(name: str, row: ResultRow) -> Num:
    return percentiles.percentile_cell(row.percentile(name), interval=True)


def _brief_percentile(name: str, row: ResultRow) -> Num:
    """Return a percentile with a star in place of a remark, which `assay show` prints in words."""
    item = row.percentile(name)
    if item is None or item.value is None or item.quality is PercentileQuality.KNOWN:
        return percentiles.percentile_cell(item)
    return Num(f"{numbers.microseconds(item.value)}*", item.value)
