"""Tables that people keep: CSV and Markdown, whose columns a roles file explains.

A row makes a result for each set of figures in it that differ in what they are of, such as reads and writes.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from assay.model.escape import escape_line
from assay.model.result.imported import FIGURES_ONLY, ImportedFile
from assay.model.secret import redact
from assay.model.study.axis import AxisValue
from assay.model.study.names import group_of
from assay.model.study.parameters import DEFINITIONS
from assay.model.units import UnitError, choices_hint
from assay.rooms.importers.work.figure_units import convert
from assay.rooms.importers.work.guess.roles import guess_roles
from assay.rooms.importers.work.results import (
    STATED_NOTHING,
    Figure,
    ImportedResult,
    ImportOptions,
    OutputError,
    RolesNeeded,
    ToolOutput,
)
from assay.rooms.importers.work.table_logs import by_log, figure_name, label_of
from assay.rooms.importers.work.table_numbers import CellError, number_of
from assay.rooms.importers.work.table_rates import measurement_of
from assay.rooms.importers.work.table_roles import (
    DESCRIPTIONS,
    FIGURES,
    IGNORED,
    PROCESSES,
    ColumnRole,
    Roles,
    parse_value,
    quantity_of,
)
from assay.rooms.importers.work.table_source import source_of
from assay.rooms.importers.work.table_text import TextRow, TextTable, is_table, read_table

NAME = "a table"
_JOINED = ("target", "workload")
"""Several columns may say these together."""
_NEEDED = ("target", "operation", "order", "workload")
"""Cells of these columns may not be blank."""
_MAX_CELL = 300
_RATES = ("throughput", "iops", "bytes", "ops")
_BY_ORDER = {("read", "random"): "random_read", ("write", "random"): "random_write"}
"""Operation and order of offsets -> the operation that is both; sequential ones have their names already."""


def recognise(text: str) -> bool:
    """Whether a text is a table with headings and numbers."""
    return is_table(text)


def read(text: str, file: ImportedFile, stated: ImportOptions = STATED_NOTHING) -> list[ToolOutput]:
    """Return the results of a table.

    Args:
        text: The content of the file.
        file: What is known of the file; the rest is filled in.
        stated: What its columns are.

    Raises:
        RolesNeeded: It is not stated what the columns are.
        OutputError: The table is damaged, or does not fit the roles.
    """
    if stated.roles is None:
        raise RolesNeeded(*guess_roles(text))
    roles = stated.roles.roles
    table = read_table(text, roles.separator, roles.skip, roles.headings)
    _check_columns(table, roles)
    source = source_of(table, stated.roles, file.file)
    tool, version = _tool_and_version(escape_line(roles.tool, 60))
    known = {
        "tool": tool or NAME,
        "version": version,
        "form": f"{file.form or table.form}, roles from {escape_line(stated.roles.name)}",
        "line": table.line,
    }
    results = tuple(_results(table, roles, stated.is_audit))
    if not results:
        raise OutputError(table.line, "no rows below the headings", "give a table with results")
    return by_log(ToolOutput(file=file.model_copy(update=known), results=results, table=source), roles)


def _tool_and_version(stated: str) -> tuple[str, str]:
    """Return the parts of a tool that is stated with its version: `IOR 3.3` -> `IOR`, `3.3`."""
    tool, _, version = stated.rpartition(" ")
    return (tool, version) if tool and version[:1].isdigit() else (stated, "")


def _check_columns(table: TextTable, roles: Roles) -> None:
    """Refuse columns without a role, roles without a column, and tables without an operation or a rate.

    Raises:
        OutputError: See above.
    """
    for name in table.headings:
        if name not in roles.columns:
            hint = f"add it to `columns` of the roles file, with the role {IGNORED} if it is not needed"
            raise OutputError(table.line, f"the column `{name}` has no role", hint)
    for name in roles.columns:
        if name not in table.headings:
            hint = choices_hint(name, table.headings)
            raise OutputError(table.line, f"the table has no column `{escape_line(name, 80)}`, which has a role", hint)
    columns = roles.columns.values()
    if roles.rows == "figures":
        return
    if not any(column.role in _RATES for column in columns):
        raise OutputError(table.line, "no column has a rate", f"give one of the roles {', '.join(_RATES)}")
    stated = [roles.constants, *(column.constants for column in columns)]
    values = [value for column in columns for value in column.values.values() if value]
    if not any(column.role == "operation" for column in columns) and not any(
        "operation" in one for one in (*stated, *values)
    ):
        hint = "add `with: {operation: read}` to the roles file, or `operation: read` to a column"
        raise OutputError(table.line, "no column says which operation was measured", hint)


@dataclass
class _Description:
    """What is known of a result before its figures: descriptions and parameters, and which column stated each."""

    values: dict[str, AxisValue] = field(default_factory=dict)
    sources: dict[str, str] = field(default_factory=dict)

    def add(self, name: str, value: AxisValue, source: str, line: int) -> None:
        """Add a value.

        Raises:
            OutputError: Something else states another value.
        """
        first = self.sources.get(name)
        if first is None:
            self.values[name], self.sources[name] = value, source
        elif name in _JOINED and source != first:
            self.values[name] = f"{self.values[name]} / {value}"
        elif self.values[name] != value:
            message = f"{name} is {self.values[name]} by {first}, and {value} by {source}"
            raise OutputError(line, message, "let one of them say it")

    def extended(self, more: Mapping[str, AxisValue], source: str, line: int) -> "_Description":
        """Return a copy with further values; errors as in `add`."""
        other = _Description(dict(self.values), dict(self.sources))
        for name, value in more.items():
            other.add(name, value, source, line)
        return other


class _Group(NamedTuple):
    """Columns of figures that are of the same result in each row."""

    constants: Mapping[str, AxisValue]
    headings: tuple[str, ...]


def _groups(roles: Roles, table: TextTable) -> list[_Group]:
    """Return the columns of figures by what is constant in them.

    Raises:
        OutputError: It is not known which results a column's figures are of.
    """
    found: dict[tuple[tuple[str, AxisValue], ...], list[str]] = {}
    for name in table.headings:
        column = roles.columns[name]
        if column.role in FIGURES:
            found.setdefault(tuple(sorted(column.constants.items())), []).append(name)
    groups = [_Group(dict(key), tuple(names)) for key, names in found.items()]
    for group in groups:
        names: dict[str, str] = {}
        for name in group.headings:
            role = roles.columns[name].role
            if role in names:
                message = f"the columns `{names[role]}` and `{name}` are both {role} of the same results"
                hint = "tell them apart, such as by `operation` or `repeat`, or ignore one"
                raise OutputError(table.line, message, hint)
            names[role] = name
        if not names.keys() & set(_RATES):
            message = (
                f"the column `{group.headings[0]}` is {next(iter(names))}, but not of which of the results of a row"
            )
            hint = "give it the keys of the rate that it goes with, such as `operation: read`"
            raise OutputError(table.line, message, hint)
    return groups


def _results(table: TextTable, roles: Roles, is_audit: bool) -> Iterator[ImportedResult]:
    if roles.rows == "figures":
        for row in table.rows:
            yield _left_out(row, dict(zip(table.headings, row.cells, strict=True)), roles, FIGURES_ONLY)
        return
    groups = _groups(roles, table)
    above: dict[str, str] = {}
    lines: dict[tuple[object, ...], int] = {}
    for row in table.rows:
        cells = dict(zip(table.headings, row.cells, strict=True))
        for name, column in roles.columns.items():
            if column.blank:
                above[name] = cells[name] = cells[name] or above.get(name, "")
        figures = [name for group in groups for name in group.headings]
        if all(_is_empty(cells[name], roles) for name in figures):
            yield _left_out(row, cells, roles, "this row has no figures")
            continue
        if text := _ignored_text(cells, roles):
            yield _left_out(row, cells, roles, f"the roles file leaves out rows with `{text}`")
            continue
        description = _description(row, cells, roles)
        for group in groups:
            result = _result(row, cells, roles, group, description)
            if result.measured is not None and not is_audit:
                _check_repeats(result, description, group, lines)
            yield result


def _is_empty(cell: str, roles: Roles) -> bool:
    return not cell or cell in roles.empty


def _ignored_text(cells: Mapping[str, str], roles: Roles) -> str:
    """Return the text of the first cell by which its row makes no result; empty if there is none."""
    for name, column in roles.columns.items():
        if column.values.get(cells[name], column) is None:
            return escape_line(cells[name], 40)
    return ""


def _left_out(row: TextRow, cells: Mapping[str, str], roles: Roles, reason: str) -> ImportedResult:
    name = next((cell for cell in row.cells if cell), "")
    return ImportedResult(
        name=escape_line(name, 80),
        line=row.line,
        target=NAME,
        workload="",
        operation=None,
        parameters={},
        options=_options(cells, roles, {}),
        figures=(),
        left_out=reason,
    )


def _options(cells: Mapping[str, str], roles: Roles, marks: Mapping[str, str]) -> dict[str, str]:
    """Return all cells that are no figures, as printed, and the footnote marks of figures."""
    found = {
        name: escape_line(redact(cells[name]), _MAX_CELL)
        for name, column in roles.columns.items()
        if column.role not in FIGURES and column.role != IGNORED and cells[name]
    }
    return found | {f"mark of {name}": escape_line(mark, 20) for name, mark in marks.items()}


def _description(row: TextRow, cells: Mapping[str, str], roles: Roles) -> _Description:
    """Return what a row says of all its results."""
    found = _Description()
    for name, value in roles.constants.items():
        found.add(name, value, "`with`", row.line)
    for name, column in roles.columns.items():
        if column.role not in DESCRIPTIONS and column.role not in DEFINITIONS:
            continue
        cell = cells[name]
        if _is_empty(cell, roles):
            if column.role in _NEEDED:
                hint = "if it means the same as the cell above, write `blank: above` in the roles file"
                raise OutputError(row.line, f"column `{name}`: the cell is empty", hint)
            continue
        for key, value in _stated(row, name, cell, column, roles).items():
            found.add(key, value, f"column `{name}`", row.line)
    return found


def _stated(row: TextRow, name: str, cell: str, column: ColumnRole, roles: Roles) -> Mapping[str, AxisValue]:
    """Return what a cell says.

    Raises:
        OutputError: It is no value of the column's role.
    """
    if (known := column.values.get(cell)) is not None:
        return known
    try:
        return {column.role: _value(cell, column, roles)}
    except (CellError, UnitError) as error:
        hint = error.hint
        if column.role in ("operation", "order"):
            hint += "; or say what it is in `values` of the roles file"
        raise OutputError(row.line, f"column `{name}`: {error.message}", hint) from None


def _value(cell: str, column: ColumnRole, roles: Roles) -> AxisValue:
    """Return the value of a description or parameter in a cell."""
    role = column.role
    if role in DESCRIPTIONS:
        return escape_line(redact(cell), _MAX_CELL) if role in ("target", "workload") else parse_value(role, cell)
    kind = DEFINITIONS[role].kind
    if column.unit:
        number = number_of(cell, role, column.unit, roles)
        value = convert(number.text, number.unit)
        if value != int(value):
            raise CellError(f"`{cell}` {column.unit} is not a whole number of {kind.unit}", "mend it, or its unit")
        # Durations are read from text only.
        return parse_value(role, int(value) if kind.unit == "bytes" else f"{int(value)}ns")
    if quantity_of(role) or kind.column not in ("integer", "number"):
        return parse_value(role, {"true": True, "false": False}.get(cell.lower(), cell))
    digits = number_of(cell, "ops", "", roles).text
    if kind.column == "integer":
        whole = float(digits)
        return parse_value(role, int(whole) if whole == int(whole) else whole)
    return parse_value(role, f"{digits}/s" if role == "rate" else float(digits))


def _result(
    row: TextRow, cells: Mapping[str, str], roles: Roles, group: _Group, description: _Description
) -> ImportedResult:
    """Return the result of a group of figures in a row."""
    whole = description.extended(group.constants, f"column `{group.headings[0]}`", row.line)
    figures: dict[str, tuple[str, Figure]] = {}
    marks: dict[str, str] = {}
    of_processes = tuple(name for name, column in roles.columns.items() if column.role in PROCESSES)
    for name in (*group.headings, *of_processes):
        column = roles.columns[name]
        if _is_empty(cells[name], roles):
            continue
        try:
            number = number_of(cells[name], column.role, column.unit, roles)
        except CellError as error:
            raise OutputError(row.line, f"column `{name}`: {error.message}", error.hint) from None
        shown = figure_name(name, column.role) if of_processes else name
        figures[column.role] = (name, Figure(name=shown, text=number.text, unit=number.unit))
        marks |= {name: number.mark} if number.mark else {}
    operation = _operation(whole.values, row)
    parameters = {
        name: value
        for name, value in whole.values.items()
        if name in DEFINITIONS and DEFINITIONS[name].applies_to(group_of(operation))
    }
    known = {role: one for role, (_, one) in figures.items() if role in FIGURES}
    measured, left_out = measurement_of(known, operation, parameters, row)
    latencies = [name for role, (name, _) in figures.items() if role.startswith("latency_")]
    return ImportedResult(
        name=label_of(cells, roles)
        or next((name for name in group.headings if roles.columns[name].role in _RATES), group.headings[0]),
        line=row.line,
        target=str(whole.values.get("target", NAME)),
        workload=str(whole.values.get("workload", "")),
        operation=operation if measured else None,
        parameters=parameters if measured else {},
        options=_options(cells, roles, marks),
        figures=tuple(one for _, one in figures.values()),
        latency_of=", ".join(latencies),
        measured=measured,
        left_out=left_out,
    )


def _operation(values: Mapping[str, AxisValue], row: TextRow) -> str:
    """Return the operation of a result.

    Raises:
        OutputError: Nothing says it, or it has no such order.
    """
    operation, order = values.get("operation"), values.get("order")
    if operation is None:
        hint = "write `with: {operation: read}` or values of a column in the roles file"
        raise OutputError(row.line, "nothing says which operation this row is", hint)
    if order == "random":
        both = _BY_ORDER.get((str(operation), str(order)), str(operation))
        if not both.startswith("random"):
            raise OutputError(row.line, f"{operation} has no random order", "leave out `order`, or mend the operation")
        return both
    if order == "sequential" and str(operation).startswith("random"):
        raise OutputError(row.line, f"{operation} is not sequential", "leave out `order`, or mend the operation")
    return str(operation)


def _check_repeats(
    result: ImportedResult, description: _Description, group: _Group, lines: dict[tuple[object, ...], int]
) -> None:
    """Refuse two results of the same work that no repeat tells apart.

    Raises:
        OutputError: There is such a result already.
    """
    repeat = group.constants.get("repeat", description.values.get("repeat"))
    parameters: Sequence[tuple[str, AxisValue]] = sorted(result.parameters.items())
    key = (result.target, result.workload, result.operation, tuple(parameters), repeat)
    first, line = lines.get(key), result.line or 0
    if first is not None:
        message = f"the same target, operation and parameters as in line {first}"
        message += f", and the same repeat {repeat}" if repeat is not None else ""
        hint = "give the role repeat to the column that counts them; or target or workload to one that tells them apart"
        raise OutputError(line, message, hint)
    lines[key] = line
