"""The results: charts per workload, then every result in one table."""

from assay.model.result import Estimate, Row
from assay.report import figures, numbers
from assay.report.document import Badge, Block, Cell, Column, Heading, Note, Num, Paragraph, Section, Table
from assay.report.view import View, Workload

_MARKS = (
    "Filled marks have the verdict ok, hollow and hatched ones another. Cached and impossible results never set "
    "a scale, nor do the intervals of doubtful ones, whose whiskers end at the edge of the chart."
)


def section(view: View) -> Section:
    """Charts, then the table."""
    blocks: list[Block] = [Paragraph(_MARKS)]
    main = view.main_workloads()
    plain = [workload for workload in main if not workload.numeric_axes()]
    for workload in main:
        if workload in plain:
            continue
        mark = str(view.workloads.index(workload))
        if len(main) > 1:
            blocks.append(Heading(f"Workload {workload.name}", f"results-{mark}"))
        blocks += _charts(view, workload, mark)
    charts = figures.capped(figures.plain_charts(view, plain), "charts")
    if charts:
        blocks += [Heading("Workloads of one point", "results-plain"), *charts]
    blocks += [Heading("All results", "results-all"), results_table(view)]
    return Section("results", "Results", tuple(blocks))


def _charts(view: View, workload: Workload, mark: str) -> list[Block]:
    names = workload.numeric_axes()
    grid = workload.grid()
    blocks: list[Block] = []
    if grid:
        up, right = (numbers.axis_title(axis).lower() for axis in grid)
        heats = figures.capped(figures.heat_maps(view, workload, mark), "heat maps")
        blocks += [Heading(f"Throughput over {up} and {right}", f"heat-{mark}", 4), *heats]
        surfaces = figures.capped(figures.surfaces(view, workload, mark), "surfaces")
        blocks += [Heading("The same as surfaces", f"surface-{mark}", 4), *surfaces]
    for axis in names[::-1]:
        charts = figures.capped(figures.line_charts(view, workload, axis, "throughput", mark), "charts")
        if charts:
            title = f"Throughput against {numbers.axis_title(axis).lower()}"
            blocks += [Heading(title, f"throughput-{mark}-{axis}", 4), *charts]
    return blocks or [Note("No repeat of this workload gave a throughput.", "warning")]


def results_table(view: View) -> Table:
    """Every result: median, 95 % interval, n, spread, operations, latency, verdict."""
    axes = list(dict.fromkeys(axis for workload in view.workloads for axis in workload.swept))
    columns = (
        Column("Verdict", facet=True),
        Column("Case"),
        Column("Target", facet=True),
        Column("Workload", facet=True),
        Column("Operation", facet=True),
        *(Column(numbers.axis_title(axis), numeric=True) for axis in axes),
        Column("Throughput", "MB/s", numeric=True),
        Column("95 % interval", "MB/s", numeric=True),
        Column("n", numeric=True),
        Column("Spread", "%", numeric=True),
        Column("Operations", "1/s", numeric=True),
        Column("p50", "µs", numeric=True),
        Column("p99", "µs", numeric=True),
    )
    rows = tuple(_cells(row, axes) for row in view.analysis.rows)
    caption = (
        "Throughput: median over n repeats and its 95 % interval; MB/s is 10⁶ bytes per second, "
        "KiB and MiB are powers of two. "
        "Spread: coefficient of variation of the repeats. Latencies: all repeats merged."
    )
    return Table("results-table", columns, rows, caption, interactive=True)


def _cells(row: Row, axes: list[str]) -> tuple[Cell, ...]:
    value = row.throughput
    swept: list[Cell] = []
    for axis in axes:
        setting = getattr(row.case.parameters, axis, row.case.axes.get(axis))
        text = numbers.axis_value(axis, setting)
        swept.append(Num(text, float(setting)) if isinstance(setting, int | float) else text)
    hint = " ".join(finding.text for finding in row.findings)
    return (
        Badge(row.verdict, hint),
        row.case.id,
        row.case.target,
        row.case.workload,
        numbers.operation_title(row.operation),
        *swept,
        _speed(value.median if value else None),
        _interval(value),
        Num(str(value.n) if value else "0", float(value.n) if value else 0.0),
        Num(numbers.NONE, None)
        if value is None or value.spread is None
        else Num(f"{100 * value.spread:.1f}", value.spread),
        Num(numbers.NONE, None) if row.iops is None else Num(numbers.significant(row.iops.median), row.iops.median),
        _time(row.latency.get("p50")),
        _time(row.latency.get("p99")),
    )


def _speed(value: float | None) -> Num:
    return Num(numbers.mb_per_s(value), value)


def _interval(value: Estimate | None) -> Num:
    if value is None or value.low is None or value.high is None:
        return Num(numbers.NONE, None)
    return Num(f"{numbers.mb_per_s(value.low)} – {numbers.mb_per_s(value.high)}", value.low)


def _time(value: float | None) -> Num:
    return Num(numbers.microseconds(value), value)
