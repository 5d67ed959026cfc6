"""Results of another run, such as imported figures of a paper, in the same charts as the run's own."""

from statistics import fmean

from assay.model.result.result import ResultRow, RunAnalysis
from assay.model.study.axis import AxisValue
from assay.report import chart_selection, numbers
from assay.report.document import Block, Cell, Column, Fold, Heading, Note, Num, Paragraph, Section, Table
from assay.report.measure import measure_of
from assay.report.other_run import other_targets, with_other
from assay.report.view import RunView, WorkloadRows, is_plausible


def section(view: RunView, other: RunAnalysis) -> Section:
    """Return the section: heat maps and line charts of both, and means over the points that all have."""
    merged = with_other(view.analysis, other)
    if merged is None:
        words = (
            f"No result of {other.run.study} is comparable with this run: that takes a workload that sweeps something, "
            "with an operation that both have, and a known value there of all that it sweeps."
        )
        return Section("other-run", "Another run", (Note(words, "warning"),))
    both = RunView(merged)
    others = list(other_targets(view.analysis, other).values())
    origin = other.run.import_words or f"measured in the run {other.run.id}"
    words = (
        f"{numbers.listing(others)}: {origin}. They were not judged with the results of this run, and may have been "
        "measured with other machines, memory sizes and caching: they show shapes, not measured differences."
    )
    blocks: list[Block] = [Paragraph(words)]
    drawn = [workload for workload in both.main_workloads() if not set(others).isdisjoint(_targets(workload))]
    for workload in drawn:
        blocks += _workload(both, workload)
    if not drawn:
        blocks.append(Note("The comparable workloads show a cache, so nothing is drawn.", "warning"))
    return Section("other-run", "Another run", tuple(blocks))


def _targets(workload: WorkloadRows) -> list[str]:
    return list(dict.fromkeys(row.case.target for row in workload.rows))


def _workload(both: RunView, workload: WorkloadRows) -> list[Block]:
    mark = f"other-run-{both.workloads.index(workload)}"
    blocks: list[Block] = []
    heats = chart_selection.limited_gallery(
        chart_selection.heat_maps(both, workload, mark, workload.operations), "heat maps"
    )
    if heats:
        blocks += [Heading(f"{workload.name}: rate over two axes", f"heat-{mark}", 4), *heats]
    for axis in workload.numeric_axes()[::-1]:
        lines = chart_selection.line_charts(both, workload, axis, "rate", mark, workload.operations)
        charts = chart_selection.limited_gallery(lines, "charts")
        if charts:
            title = f"{workload.name}: rate against {numbers.axis_title(axis).lower()}"
            blocks.append(Fold(title, tuple(charts)))
    return [*blocks, *_means(workload, mark)]


def _means(workload: WorkloadRows, mark: str) -> list[Block]:
    """Return a table of each target's mean over the points that all targets have, with a row per operation."""
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
        measure = measure_of(operation)
        cells = [Num(numbers.NONE if mean is None else measure.text(mean), mean) for mean in means]
        lines.append((numbers.operation_title(operation), Num(str(len(common)), float(len(common))), *cells))
    if not lines:
        return []
    columns = (
        Column("Operation"),
        Column("Points", is_numeric=True),
        *(Column(target, is_numeric=True) for target in targets),
    )
    caption = "Mean of the medians over the points of all axes that all targets of the line have."
    return [
        Heading(f"{workload.name}: means over points", f"means-{mark}", 4),
        Table(f"means-{mark}", columns, tuple(lines), caption),
    ]


def _points(rows: list[ResultRow], target: str) -> dict[tuple[AxisValue, ...], float]:
    """Return the values of all axes -> rate, for one target."""
    return {
        tuple(row.case.axes.values()): row.rate.median
        for row in rows
        if row.case.target == target and row.rate is not None and is_plausible(row)
    }
