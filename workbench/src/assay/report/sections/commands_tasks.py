"""Every task of commands: start, time, CPU time, bytes, waits, figures and how it ended."""

from collections.abc import Mapping, Sequence

from assay.model.result.result import ResultRow
from assay.model.result.sample import Sample
from assay.model.result.tasks import TaskResult
from assay.report import numbers
from assay.report.document import Block, Bullets, Cell, Column, Fold, Note, Num, Table
from assay.report.sections.commands_cells import share_cell, size_cell
from assay.report.sections.commands_figures import figure_cell, missing_figures, stated_units
from assay.report.sections.commands_replication import is_replication
from assay.report.sections.leading_columns import COMMAND_COLUMNS, command_cells
from assay.report.view import RunView

MAX_LINES = 500
"""Most tasks in a report; an export has all."""


def case_tasks(view: RunView, row: ResultRow) -> tuple[Block, ...]:
    """Return the figures that tasks of one case lack, and a table of all its tasks; empty without tasks."""
    table, _ = _table(view, [row], None)
    if table is None:
        return ()
    units = stated_units(view)
    missing = [] if is_replication(row, units) else missing_figures(view, row, units)
    return (*((Bullets(tuple(missing)),) if missing else ()), table)


def tasks_fold(view: RunView) -> Fold | None:
    """Return the tasks of all commands, folded; None without tasks."""
    rows = [row for row in view.analysis.rows if any(sample.tasks for sample in row.samples)]
    table, count = _table(view, rows, MAX_LINES)
    if table is None:
        return None
    more = f"The first {MAX_LINES} of {count:,}: `assay export {view.run.id} --format csv --table tasks` has all."
    notes = (Note(more),) if count > MAX_LINES else ()
    return Fold(f"{numbers.plural(count, 'task')}, one by one", (*notes, table))


def _table(view: RunView, rows: Sequence[ResultRow], max_lines: int | None) -> tuple[Table | None, int]:
    """Return a table with a line for each task of each repeat, and how many tasks there are; None without tasks."""
    tasks = [(row, sample, task) for row in rows for sample in row.samples for task in sample.tasks]
    if not tasks:
        return None, 0
    units = stated_units(view)
    # A replication prints dozens of numbers, which have tables of their own.
    shown = {row.case.workload for row in rows if not is_replication(row, units)}
    names = tuple(dict.fromkeys(name for command, name in units if command in shown))
    is_single = len(rows) == 1
    columns = (
        *(() if is_single else COMMAND_COLUMNS),
        Column("Repeat", is_numeric=True),
        Column("Task"),
        Column("Host"),
        Column("Lane", is_numeric=True, drop_rank=3),
        Column("Start", is_numeric=True),
        Column("Time", is_numeric=True),
        Column("CPU time", is_numeric=True),
        Column("Read", "by calls", is_numeric=True, drop_rank=1),
        Column("Written", "by calls", is_numeric=True, drop_rank=1),
        Column("Waited", "for storage", is_numeric=True, drop_rank=2),
        *(Column(name, is_numeric=True) for name in names),
        Column("End"),
    )
    lines = tuple(
        (*(() if is_single else command_cells(view, row)), *_line(row, sample, task, names, units))
        for row, sample, task in tasks[:max_lines]
    )
    return Table("tasks-table", columns, lines, "", is_interactive=True), len(tasks)


def _line(
    row: ResultRow, sample: Sample, task: TaskResult, names: Sequence[str], units: Mapping[tuple[str, str], str]
) -> tuple[Cell, ...]:
    io, states = task.io, task.states
    waited = states.storage_ns / states.observed_ns if states is not None and states.observed_ns else None
    return (
        Num(str(sample.repeat), sample.repeat),
        task.task,
        task.host,
        Num(str(task.lane), task.lane),
        Num(numbers.seconds(task.started_ns / 1e9), task.started_ns),
        Num(numbers.seconds(task.elapsed_ns / 1e9), task.elapsed_ns),
        Num(numbers.seconds(task.cpu_ns / 1e9), task.cpu_ns),
        size_cell(None if io is None else io.call_read_bytes),
        size_cell(None if io is None else io.call_write_bytes),
        share_cell(waited),
        *(figure_cell(task.figures.get(name), units.get((row.case.workload, name), "")) for name in names),
        _end(sample, task),
    )


def _end(sample: Sample, task: TaskResult) -> str:
    # Where a repeat has failed, a task that ended well may be one whose check has not.
    well = "exit code 0" if sample.errors else "ok"
    left = numbers.plural(task.left_running, "process", "processes") if task.left_running else ""
    return f"{task.failure or well}{f'; {left} that it left running were killed' if left else ''}"
