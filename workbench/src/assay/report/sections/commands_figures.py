"""Figures of commands: numbers that the programs printed, and those that they did not print."""

import math
from collections.abc import Iterable, Mapping, Sequence

from assay.model.escape import escape_line
from assay.model.result.result import Estimate, ResultRow
from assay.plan.load import load_study
from assay.report import numbers
from assay.report.document import Column, Num, Table
from assay.report.sections.commands_cells import place_words
from assay.report.sections.commands_costs import CommandRow
from assay.report.sections.leading_columns import COMMAND_COLUMNS, command_cells
from assay.report.view import RunView

MIN_WHOLE = 1000
"""From here on, figures of programs are shown as whole numbers: counts of files must not be rounded to three digits."""


def figures_table(view: RunView, found: Sequence[CommandRow], units: Mapping[tuple[str, str], str]) -> Table | None:
    """Return the figures of each case; None if no task printed one.

    Args:
        view: The run.
        found: Commands.
        units: Unit of each figure, as `stated_units` returns them.
    """
    names = list(dict.fromkeys(name for _, result in found for name in result.figures))
    if not names:
        return None
    columns = (*COMMAND_COLUMNS, *(Column(name, is_numeric=True) for name in names))
    lines = [
        (
            *command_cells(view, row),
            *(_median(result.figures.get(name), units.get((row.case.workload, name), "")) for name in names),
        )
        for row, result in found
    ]
    caption = "Numbers that the programs printed: the mean of a repeat's tasks, then the median over the repeats."
    return Table("figures-table", columns, tuple(lines), caption, is_interactive=True)


def missing_figures(view: RunView, row: ResultRow, figures: Iterable[tuple[str, str]]) -> list[str]:
    """Return a sentence for each figure of the study that ended tasks of a result did not print as a number.

    Args:
        view: The run.
        row: The result.
        figures: (Command, figure) of all that the study states.
    """
    tasks = [task for sample in row.samples for task in sample.tasks if not task.failure]
    lines = []
    for workload, name in figures:
        lacking = [task for task in tasks if name not in task.figures and task.slow_figure != name]
        if workload == row.case.workload and lacking:
            which = f"{len(lacking):,} of {numbers.plural(len(tasks), 'task')}"
            found = f"figure {escape_line(name)}: in what {which} printed its pattern found no number"
            lines.append(f"{place_words(view, row)}: {found}.")
    return lines


def stated_units(view: RunView) -> Mapping[tuple[str, str], str]:
    """Return (command, figure) -> the unit that the study states."""
    study = load_study(view.run.study_text.encode()).study
    commands = {} if study is None else {name: work.command for name, work in study.workloads.items()}
    return {
        (name, figure): one.unit
        for name, command in commands.items()
        if command is not None
        for figure, one in command.figures.items()
    }


def _median(value: Estimate | None, unit: str) -> Num:
    return figure_cell(None if value is None else value.median, unit)


def figure_cell(number: float | None, unit: str) -> Num:
    """Return a figure with its unit; a dash for None."""
    if number is None:
        return Num(numbers.NONE, None)
    is_whole = float(number).is_integer() or (math.isfinite(number) and abs(number) >= MIN_WHOLE)
    text = numbers.count(number) if is_whole else numbers.significant(number)
    return Num(f"{text} {escape_line(unit)}".rstrip(), number)
