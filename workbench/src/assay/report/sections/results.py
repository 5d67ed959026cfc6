"""The results: charts per workload, then every result in one table."""

from assay.model.result.percentile import WIDEST
from assay.model.result.result import Row
from assay.report import figures, numbers, percentiles
from assay.report.brief import ceiling_cells, interval_cell, other_measure, rate_cell
from assay.report.document import Badge, Block, Cell, Column, Fold, Heading, Note, Num, Paragraph, Section, Share, Table
from assay.report.measure import COUNTED, DATA, Measure, measure_of, measures_of
from assay.report.sections import seconds
from assay.report.sections.accesses import accesses_table
from assay.report.sections.file_sets import file_sets_table
from assay.report.sections.io500 import io500_blocks
from assay.report.sections.mixes import mixes_table
from assay.report.sections.seen import seen_table
from assay.report.sections.services import services_table
from assay.report.view import View, Workload, unseen

_MARKS = (
    "Filled marks have the verdict ok, hollow ones another; hatched cells are no sound result. Where the repeats "
    "differ much, a cell says half its interval. Cached and impossible results never set a scale, nor do the "
    "intervals of doubtful ones, whose whiskers end at the edge of the chart."
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
    blocks += [Heading("All results", "results-all"), *results_tables(view)]
    mixes = mixes_table(view)
    if mixes is not None:
        blocks += [Heading("Kinds of operation", "results-mixes"), mixes]
    sets = file_sets_table(view)
    if sets is not None:
        blocks += [Heading("Sets of files", "results-file-sets"), sets]
    accesses = accesses_table(view)
    if accesses is not None:
        blocks += [Heading("First and repeated access", "results-accesses"), accesses]
    seen = seen_table(view)
    if seen is not None:
        blocks += [Heading("What other clients see", "results-seen"), seen]
    blocks += seconds.blocks(view)
    services = services_table(view)
    if services is not None:
        blocks += [Heading("What the services told", "results-services"), services]
    io500 = io500_blocks(view)
    if io500:
        blocks += [Heading("IO500", "results-io500"), *io500]
    return Section("results", "Results", tuple(blocks))


def _charts(view: View, workload: Workload, mark: str) -> list[Block]:
    names = workload.numeric_axes()
    grid = workload.grid()
    blocks: list[Block] = []
    if grid:
        up, right = (numbers.axis_title(axis).lower() for axis in grid)
        heats = figures.capped(figures.heat_maps(view, workload, mark), "heat maps")
        blocks += [Heading(f"{workload.measured} over {up} and {right}", f"heat-{mark}", 4), *heats]
    for axis in names[::-1]:
        charts = figures.capped(figures.line_charts(view, workload, axis, "rate", mark), "charts")
        if charts:
            title = f"{workload.measured} against {numbers.axis_title(axis).lower()}"
            # A heat map has the same numbers.
            folded = grid is not None and axis in grid
            blocks += [Fold(title, tuple(charts))] if folded else [Heading(title, f"rate-{mark}-{axis}", 4), *charts]
    return blocks or [Note(f"No repeat of this workload gave a {workload.measured.lower()}.", "warning")]


def results_tables(view: View) -> list[Table]:
    """Every result: verdict, median, closest ceiling, interval, n, spread, latency; metadata in a table of its own."""
    found = []
    for measure in measures_of(view.analysis.rows):
        rows = [row for workload in view.workloads for row in workload.rows if row.counted == measure.counted]
        named = {row.case.workload for row in rows}
        found.append(_table(rows, [workload for workload in view.workloads if workload.name in named], measure))
    return found


def _table(rows: list[Row], workloads: list[Workload], measure: Measure) -> Table:
    axes = list(dict.fromkeys(axis for workload in workloads for axis in workload.swept))
    other = other_measure(measure, any(row.throughput for row in rows))
    columns = (
        Column("Verdict", facet=True),
        Column("Case"),
        Column("Target", facet=True),
        Column("Workload", facet=True),
        Column("Operation", facet=True),
        *(Column(numbers.axis_title(axis), numeric=True) for axis in axes),
        Column(measure.title, measure.unit, numeric=True),
        Column("Closest ceiling", facet=True),
        Column("Share of it", numeric=True),
        Column("95 % interval", measure.unit, numeric=True),
        Column("n", numeric=True),
        Column("Spread", "%", numeric=True),
        *((other,) if other else ()),
        Column("p50", "µs", numeric=True),
        Column("p99", "µs", numeric=True),
    )
    unit = "MB/s is 10⁶ bytes per second, " if not measure.counted or other else ""
    caption = (
        f"{measure.title}: median over n repeats and its 95 % interval; {unit}KiB and MiB are powers of two. "
        "Spread: coefficient of variation of the repeats. p50 and p99: median of the repeats' own, with a remark "
        f"unless it is known within a factor of {WIDEST:g}. The bar ends at 125 % of the "
        "ceiling, the mark in it is the ceiling itself; what is above it is hatched."
    )
    name = "metadata-table" if measure.counted else "results-table"
    return Table(name, columns, tuple(_cells(row, axes, other is not None) for row in rows), caption, interactive=True)


def _cells(row: Row, axes: list[str], with_other: bool) -> tuple[Cell, ...]:
    value, measure = row.rate, measure_of(row.operation)
    beside, unit = (row.throughput, DATA) if row.counted else (row.iops, COUNTED)
    swept: list[Cell] = []
    for axis in axes:
        setting = row.case.parameters.known(axis, row.case.axes.get(axis))
        text = numbers.axis_value(axis, setting)
        swept.append(Num(text, float(setting)) if isinstance(setting, int | float) else text)
    hint = " ".join(finding.text for finding in row.findings) or unseen(row)
    return (
        Badge(row.verdict, hint, row.verdicts[1:], row.as_far_as_seen),
        row.case.id,
        row.case.target,
        row.case.workload,
        numbers.operation_title(row.operation),
        *swept,
        rate_cell(value.median if value else None, measure),
        *closest(row),
        interval_cell(value.low if value else None, value.high if value else None, measure),
        Num(str(value.n) if value else "0", float(value.n) if value else 0.0),
        Num(numbers.NONE, None)
        if value is None or value.spread is None
        else Num(f"{100 * value.spread:.1f}", value.spread),
        *([rate_cell(beside.median if beside else None, unit)] if with_other else []),
        percentiles.cell(row.percentile("p50")),
        percentiles.cell(row.percentile("p99")),
    )


def closest(row: Row) -> tuple[str, Share]:
    """The ceiling that binds, and the share of it, with the ceiling that was exceeded most besides."""
    above = row.exceeded[0] if row.exceeded else None
    words = f"above {above.name}: {numbers.share(above.share)}" if above else ""
    return ceiling_cells(row.binding.name, row.binding.share, words) if row.binding else ceiling_cells("", None)
