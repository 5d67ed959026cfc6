"""Tables of what logs of iozone's throughput mode print: their rows become the tests of as many outputs."""

from collections.abc import Mapping

from assay.model.escape import escape_line
from assay.model.secret import redact
from assay.rooms.importers.work.results import ImportedResult, ToolOutput
from assay.rooms.importers.work.table_roles import PROCESSES, Roles

_MAX_LABEL, _MAX_COMMAND, _MAX_DATE = 80, 300, 60
_CHILDREN = "children"
"""The sum over all processes, in iozone's logs: `Children see throughput for`."""


def figure_name(heading: str, role: str) -> str:
    """Return the name that a figure has in logs of iozone; other figures keep their heading."""
    return PROCESSES[role][0] if role in PROCESSES else _CHILDREN if role == "throughput" else heading


def label_of(cells: Mapping[str, str], roles: Roles) -> str:
    """Return what a log calls the test of a row; empty if no column says it."""
    return escape_line(_cell(cells, roles, "label"), _MAX_LABEL)


def by_log(output: ToolOutput, roles: Roles) -> list[ToolOutput]:
    """Return the outputs that the rows of a table are of, by target, command and date; the table itself without these.

    Args:
        output: All results of the table.
        roles: What its columns are.
    """
    if not any(column.role in ("command", "began") for column in roles.columns.values()):
        return [output]
    logs: dict[tuple[str, str, str], list[ImportedResult]] = {}
    for result in output.results:
        command, began = (redact(_cell(result.options, roles, role)) for role in ("command", "began"))
        logs.setdefault((result.target, command, began), []).append(result)
    found: list[ToolOutput] = []
    for (_, command, began), results in logs.items():
        known = {
            "line": results[0].line or output.file.line,
            "command": escape_line(command, _MAX_COMMAND),
            "date": escape_line(began, _MAX_DATE),
        }
        table = None if found else output.table
        found.append(ToolOutput(file=output.file.model_copy(update=known), results=tuple(results), table=table))
    return found


def _cell(cells: Mapping[str, str], roles: Roles, role: str) -> str:
    return next((cells.get(name, "") for name, column in roles.columns.items() if column.role == role), "")
