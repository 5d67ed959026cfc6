"""The cells of a table, and of those beside it that its formulas sum up, for the audit."""

from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path

from assay.model.escape import escape_line
from assay.model.secret import redact
from assay.model.user_files import read_user_file
from assay.rooms.importers.work.results import OutputError, SourceTable
from assay.rooms.importers.work.table_formula import Name, Node, calls_of, headings_of, parse_formula
from assay.rooms.importers.work.table_roles import ColumnRole, Roles, RolesFile
from assay.rooms.importers.work.table_text import TextTable, read_table

_MAX_CELL = 1000
_MAX_BYTES = 32 << 20


def source_of(table: TextTable, stated: RolesFile, path: str) -> SourceTable | None:
    """Return the cells of a table; None without the text of its roles file.

    Args:
        table: The table.
        stated: What its columns are.
        path: The table's file: other tables are looked for beside it.

    Raises:
        OutputError: A formula names a heading that there is not, or a table that cannot be read.
    """
    if not stated.text:
        return None
    others: dict[str, SourceTable] = {}
    for heading, column in stated.roles.columns.items():
        if column.formula:
            names = filter(None, (column.table, *(call.table for call in calls_of(parse_formula(column.formula)))))
            used = {name: others.get(name) or _other(table, name, path) for name in names}
            others |= used
            _check_headings(table, heading, column, stated.roles, used)
    found = _cells(table, path)
    return found.model_copy(update={"roles": stated.text, "others": tuple(others.values())})


@lru_cache(maxsize=10_000)
def _clean(cell: str) -> str:
    return escape_line(redact(cell), _MAX_CELL)


def _cells(table: TextTable, path: str) -> SourceTable:
    rows = tuple((row.line, tuple(map(_clean, row.cells))) for row in table.rows)
    return SourceTable(file=path, line=table.line, headings=table.headings, rows=rows)


def _other(table: TextTable, name: str, path: str) -> SourceTable:
    """Return a table beside this one; errors as in `source_of`."""
    if Path(name).name != name:
        raise OutputError(table.line, f"`{escape_line(name, 80)}` is no name of a file", "name a table beside this one")
    place = str(Path(path).with_name(name))
    data = read_user_file(place, place, "name a table beside this one in `table` of the roles file", _MAX_BYTES)
    try:
        return _cells(read_table(data.decode("utf-8-sig")), name)
    except UnicodeDecodeError:
        raise OutputError(table.line, f"{place}: not text in UTF-8", "save it as CSV UTF-8") from None
    except OutputError as error:
        raise OutputError(table.line, f"{place}:{error.line}: {error.message}", error.hint) from None


def _check_headings(
    table: TextTable, heading: str, column: ColumnRole, roles: Roles, others: Mapping[str, SourceTable]
) -> None:
    """Refuse headings of formulas that no column has, conditions without a table; errors as in `source_of`."""
    known = {*table.headings, *({"hours_per_month"} if roles.book else ())}.union(
        *(other.headings for other in others.values())
    )
    formula: Node = parse_formula(column.formula)
    missing = [name for name in headings_of(formula) if name not in known]
    missing += [name for name in column.by if name not in table.headings]
    for call in calls_of(formula):
        other = others.get(call.table or column.table)
        if other is None and call.where:
            where = f"the formula of column `{heading}`"
            hint = f'name it: {call.function}(rate, table="rates.csv", {call.where[0][0]}="...")'
            raise OutputError(table.line, f"{where}: conditions choose rows of another table", hint)
        if other is not None:
            conditions = (*column.by, *column.where, *(name for name, _ in call.where))
            missing += [name for name in conditions if name not in other.headings]
    if missing:
        where = f"the formula of column `{heading}`"
        hint = "headings that are no plain words stand between backticks"
        raise OutputError(table.line, f"{where}: there is no column `{escape_line(missing[0], 80)}`", hint)
    if isinstance(formula, Name) and formula.heading == heading:
        raise OutputError(table.line, f"the formula of column `{heading}` is the column itself", "name other columns")
