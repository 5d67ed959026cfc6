"""Tables of one text that say nothing of their jobs but what was moved in all."""

from collections.abc import Sequence

from assay.rooms.importers.work.figure_units import whole_number
from assay.rooms.importers.work.results import ToolOutput

_TOTAL, _LAST = "Total ", ".last"
"""Begin and end of a figure's name: `Total MiB.last`, when the last thread was done (elbencho, Statistics.cpp)."""


def named_by_totals(outputs: Sequence[ToolOutput]) -> list[ToolOutput]:
    """Return outputs of one text, whose workloads have totals in their names where these differ.

    Without a command line a table has neither paths nor sizes, so that results of a sweep over them would count as
    repeats. Repeats of one job have the same totals, unless its time was limited.
    """
    totals = {index: _totals(output) for index, output in enumerate(outputs) if not output.file.command}
    if len(set(totals.values())) < 2:
        return list(outputs)
    return [_named(output, totals[index]) if totals.get(index) else output for index, output in enumerate(outputs)]


def _totals(output: ToolOutput) -> str:
    """Return the greatest totals of a table's phases: `1048600 files, 1024 MiB`; empty without any."""
    most: dict[str, int] = {}
    for figure in (figure for result in output.results for figure in result.figures):
        of = figure.name.removeprefix(_TOTAL).removesuffix(_LAST)
        if figure.name == f"{_TOTAL}{of}{_LAST}" and (number := whole_number(figure.text)) is not None:
            most[of] = max(most.get(of, 0), number)
    return ", ".join(f"{number} {of}" for of, number in most.items() if of != "dirs" or len(most) == 1)


def _named(output: ToolOutput, totals: str) -> ToolOutput:
    changed = [one.model_copy(update={"workload": f"{one.workload} ({totals})"}) for one in output.results]
    return output.model_copy(update={"results": tuple(changed)})
