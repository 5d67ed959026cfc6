"""Which results of an imported run the audit has an error against."""

from functools import lru_cache
from pathlib import Path

from assay.rooms.importers.audit.findings import AuditFinding
from assay.rooms.importers.audit.tables.rules import TABLE_RULES
from assay.rooms.importers.shown.section import audited_run
from assay.rooms.importers.work.results import SourceTable, ToolOutput
from assay.rooms.importers.work.table_roles import FIGURES, PROCESSES, parse_roles

_TABLE_RULES = frozenset(rule.id for rule in TABLE_RULES)


@lru_cache(maxsize=8)
def doubted_cases(folder: Path) -> frozenset[str]:
    """Return the ids of the cases against whose figures the audit has an error.

    Args:
        folder: The folder of an imported run.
    """
    outputs, findings = audited_run(folder)
    tables = {output.file.file: output.table for output in outputs if output.table is not None}
    places = {
        place
        for one in findings
        if one.severity == "error" and _is_of_result(one, tables)
        for place in (one.place, *(one.others if one.rule in _TABLE_RULES else ()))
    }
    return frozenset(
        result.case
        for output in outputs
        for result in output.results
        if result.case and _place(output, result.line) in places
    )


def _place(output: ToolOutput, line: int | None) -> str:
    return f"{output.file.file}:{line or output.file.line}"


def _is_of_result(found: AuditFinding, tables: dict[str, SourceTable]) -> bool:
    """Return whether a finding is about what was measured, and not about what follows from it, or a text."""
    if found.rule not in _TABLE_RULES:
        return True
    table = tables.get(found.file)
    role = parse_roles(table.roles.encode(), table.file).columns.get(found.result) if table and table.roles else None
    return role is not None and role.role in (*FIGURES, *PROCESSES)
