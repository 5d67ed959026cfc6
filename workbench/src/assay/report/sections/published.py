"""Published figures in the same charts as the run's own."""

from statistics import fmean

from assay.model.result.result import ResultRow
from assay.report import chart_selection, numbers
from assay.report.document import Block, Cell, Column, Fold, Heading, Note, Num, Paragraph, Section, Table
from assay.report.measure import DATA
from assay.report.published_figures import PublishedFigures, with_figures
from assay.report.view import RunView, WorkloadRows, is_plausible


def section(view: RunView, published_figures: PublishedFigures) -> Section:
    """Return the section: heat maps and line charts of both, and means over the sizes that all have."""
    merged = with_figures(view.analysis, published_figures)
    if merged is None:
        words = (
            f"No figure of {published_figures.source} is comparable with this run: that takes a workload that "
            "sweeps file_size and record_size, and nothing else, with an operation that both have."
        )
        return Section("published", "Published figures", (Note(words, "warning"),))
    both = RunView(merged)
    others = list(dict.fromkeys(figure.target for figure in published_figures.figures))
    words = (
        f"{numbers.listing(others)}: figures of {published_figures.source}, as published. They were not "
        "repeated or judged here, and were measured with other machines, memory sizes and caching: they show shapes, "
        "not measured differences."
    )
    blocks: list[Block] = [Paragraph(words)]
    drawn = [workload for workload in both.main_workloads() if not set(others).isdisjoint(_targets(workload))]
    for workload in drawn:
        blocks += _workload(both, workload)
    if not drawn:
        blocks.append(Note("The comparable workloads show a cache, so nothing is drawn.", "warning"))
    return Section("published", "Published figures", tuple(blocks))


def _targets(workload: WorkloadRows) -> list[str]:
    return list(dict.fromkeys(row.case.target for row in workload.rows))


def _workload(both: RunView, workload: WorkloadRows) -> list[Block]:
    mark = f"published-{both.workloads.index(workload)}"
    blocks: list[Block] = []
    heats = chart_selection.limited_gallery(
        chart_selection.heat_maps(both, workload, mark, workload.operations), "heat maps"
    )
    if heats:
        blocks += [Heading(f"{workload.name}: throughput over file size and record size", f"heat-{mark}", 4), *heats]
    for axis in workload.numeric_axes()[::-1]:
        lines = chart_selection.line_charts(both, workload, axis, "rate", mark, workload.operations)
        charts = chart_selection.limited_gallery(lines, "charts")
        if charts:
            title = f"{workload.name}: throughput against {numbers.axis_title(axis).lower()}"
            blocks.append(Fold(title, tuple(charts)))
    return [*blocks, *_means(workload, mark)]


def _means(workload: WorkloadRows, mark: str) -> list[Block]:
    """Return a table of each target's mean over the sizes that all targets have, with a row per operation."""
    targets = _targets(workload)
    lines: list[tuple[Cell, ...]] = []
    for operation in workload.operations:
        found = {target: _points(workload.rows_of(operation), target) for target in targets}
        by_target = {target: points for target, points in found.items() if points}
        common = set.intersection(*(set(points) for points in by_target.values())) if by_target else set()
        if not common:
            continue
        means = [
            fmean(by_target[target][point] for point in common) if target in by_target else None for target in targets
        ]
        cells = [Num(numbers.NONE if mean is None else DATA.number(mean), mean) for mean in means]
        lines.append((numbers.operation_title(operation), Num(str(len(common)), float(len(common))), *cells))
    if not lines:
        return []
    columns = (
        Column("Operation"),
        Column("Sizes", is_numeric=True),
        *(Column(target, DATA.unit, is_numeric=True) for target in targets),
    )
    caption = "Mean of the medians over the pairs of file size and record size that all targets of the line have."
    return [
        Heading(f"{workload.name}: means over sizes", f"means-{mark}", 4),
        Table(f"means-{mark}", columns, tuple(lines), caption),
    ]


def _points(rows: list[ResultRow], target: str) -> dict[tuple[object, object], float]:
    """Return file size and record size -> bytes per second, for one target."""
    return {
        (row.case.axes["file_size"], row.case.axes["record_size"]): row.throughput.median
        for row in rows
        if row.case.target == target and row.throughput is not None and is_plausible(row)
    }
