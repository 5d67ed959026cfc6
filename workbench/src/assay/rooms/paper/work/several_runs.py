"""The parts of papers of several runs that say something of all together, in place of one run after the other."""

from collections.abc import Callable, Iterator, Mapping, Sequence

from assay.model.escape import escape_line
from assay.model.result.decision import PointOutcome
from assay.model.result.verdict import Verdict
from assay.report import numbers
from assay.report.document import Block, Cell, Column, Mono, Num, Paragraph, Span, Strong, Table
from assay.report.joint import results_blocks
from assay.report.measure import measure_of
from assay.report.paper_part import PaperContext, PartOptions, part_of_each
from assay.report.summary.page import first_page
from assay.report.view import RunView, is_plausible
from assay.rooms.paper.work.parts import abstract_answer, counted_names, single_blanks

Views = Mapping[str, RunView]
_MAX_SIDE_BY_SIDE = 6
"""Most runs with a column each: more do not fit on a page."""
_MAX_ROWS = 40
"""Most rows of a table that is printed without being ordered."""
_MAX_ANSWERS = 3
"""Most runs whose answers an abstract has."""
_MAX_OPERATIONS = 8
_MAX_COMMAND = 100
"""Longest command in a table, in characters."""


def part_of_all(
    make: Callable[[RunView], Sequence[Block]], joint: Callable[[Views], list[Block]], least: int = 2
) -> Callable[[PartOptions, PaperContext], list[Block]]:
    """Return what makes a part from each run, or from `least` runs or more together."""
    each = part_of_each(make)

    def blocks(options: PartOptions, context: PaperContext) -> list[Block]:
        views = context.chosen_runs(options)
        return joint(views) if len(views) >= least else each(options, context)

    return blocks


def joint_abstract(views: Views) -> list[Block]:
    """Return what was measured, and what each of few runs decides; of many how many comparisons are decided."""
    runs = [view.run for view in views.values()]
    rows = [row for view in views.values() for row in view.analysis.rows]
    sound = sum(row.verdict is Verdict.OK for row in rows)
    days = sorted(numbers.utc_time(run.created_at)[:10] for run in runs)
    when = f"on {days[0]}" if days[0] == days[-1] else f"from {days[0]} to {days[-1]}"
    made = f"imported {when}" if all(run.imports for run in runs) else f"measured {when}"
    cases = numbers.plural(sum(len(view.analysis.cases) for view in views.values()), "case")
    spans: list[Span] = [
        f"{len(runs)} runs of {counted_names([run.study for run in runs], 'studies')}, {made}: {cases} of "
        f"{counted_names([target for view in views.values() for target in view.targets], 'targets')}; {sound:,} of "
        f"{numbers.plural(len(rows), 'result')} passed every check that could run."
    ]
    if len(views) <= _MAX_ANSWERS:
        for name, view in views.items():
            spans += [" ", Strong(f"{name}:"), " ", *abstract_answer(view, first_page(view))]
    else:
        spans.append(_decided(views))
    return [Paragraph(single_blanks(spans), lead=True)]


def _decided(views: Views) -> str:
    points = [
        point
        for view in views.values()
        for decision in view.analysis.decisions
        for point in decision.points
        if point.outcome is not PointOutcome.BARRED
    ]
    decided = sum(point.outcome is not PointOutcome.OPEN for point in points)
    return f" Within the runs, {decided:,} of {numbers.plural(len(points), 'comparison')} of two targets are decided."


def joint_results(views: Views) -> list[Block]:
    """Return the results side by side: all of few runs, of many the lowest and the highest of each operation."""
    words: tuple[Span, ...] = ("All results of several runs, and how they differ: ", Mono("assay report RUN RUN"), ".")
    if len(views) > _MAX_SIDE_BY_SIDE:
        return [*_ranges(views), Paragraph(words)]
    blocks: list[Block] = []
    for block in results_blocks(views):
        if isinstance(block, Table) and len(block.rows) > _MAX_ROWS:
            blocks.append(Paragraph(f"{len(block.rows):,} results, too many for a table that was not ordered."))
        else:
            blocks.append(block)
    return [*blocks, Paragraph(words)]


def _ranges(views: Views) -> Iterator[Table]:
    """Yield the lowest and the highest median of each operation in each run, rates of data apart from counts."""
    plausible = [row for view in views.values() for row in view.analysis.rows if row.rate and is_plausible(row)]
    for measure in dict.fromkeys(measure_of(row.operation) for row in plausible):
        names = dict.fromkeys(row.operation for row in plausible if measure_of(row.operation) == measure)
        operations = list(names)[:_MAX_OPERATIONS]
        titles = [numbers.operation_title(operation) for operation in operations]
        columns = (Column("Run"), *(Column(title, measure.unit, is_numeric=True) for title in titles))
        rows: list[tuple[Cell, ...]] = []
        for name, view in views.items():
            cells: list[Cell] = []
            for operation in operations:
                rates = [row.rate.median for row in view.analysis.rows if row.operation == operation and row.rate]
                text = numbers.NONE if not rates else f"{measure.number(min(rates))} to {measure.number(max(rates))}"
                cells.append(Num(text, min(rates, default=None)))
            rows.append((name, *cells))
        caption = "The lowest and the highest median over all targets, sizes and settings of a run."
        if more := len(names) - len(operations):
            caption += f" {numbers.plural(more, 'more operation')} not shown."
        yield Table("ranges", columns, tuple(rows), caption)


def joint_appendix(views: Views) -> list[Block]:
    """Return the commands that repeat the runs, each a row."""
    columns = (Column("Run"), Column("Id"), Column("Command"))
    rows = []
    for name, view in views.items():
        rows.append((name, Mono(view.run.id), Mono(escape_line(view.run.command, _MAX_COMMAND))))
    caption = "The folder of a measured run has its study file, `study.yaml`, which repeats it."
    return [Table("commands", columns, tuple(rows), caption)]
