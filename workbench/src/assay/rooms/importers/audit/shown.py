"""How findings are written: as text, as JSON, and as SARIF."""

import json
from collections import Counter
from collections.abc import Iterator, Sequence
from shlex import quote
from typing import Any

from assay import __version__
from assay.rooms.importers.audit.findings import SEVERITIES, AuditFinding, Rule
from assay.rooms.importers.audit.rules import RULES
from assay.rooms.importers.audit.tables.rules import TABLE_RULES, RecomputedCells, TableRule
from assay.rooms.importers.work.registry import roles_name
from assay.rooms.importers.work.results import SourceTable, ToolOutput
from assay.rooms.importers.work.table_roles import parse_roles

SCHEMA_VERSION = 1
MAX_NAMED = 3
"""Most tables that are named in a line."""
_SARIF = "https://json.schemastore.org/sarif-2.1.0.json"


def text_lines(findings: Sequence[AuditFinding], outputs: Sequence[ToolOutput]) -> Iterator[str]:
    """Yield the findings, and a line with their count and what was audited."""
    for finding in findings:
        name = f" {finding.result}:" if finding.result else ""
        yield f"{finding.severity}: {finding.place}:{name} {finding.text} [{finding.rule}]"
    counts = Counter(finding.severity for finding in findings)
    words = [_count(counts[severity], severity) for severity in SEVERITIES]
    yield f"{_audited_words(outputs)}: {', '.join(words)}"


def _audited_words(outputs: Sequence[ToolOutput]) -> str:
    """Return what was audited: results, and rows of tables that have no results."""
    tables = [output for output in outputs if output.table is not None and _has_figures_only(output.table)]
    others = [output for output in outputs if output not in tables]
    parts = []
    if others or not tables:
        results = [result for output in others for result in output.results]
        without = sum(result.measured is None for result in results)
        left_out = f", {without:,} of which `assay import` leaves out" if without else ""
        files = len({output.file.file for output in others})
        parts.append(f"{_count(len(results), 'result')} in {_count(files, 'file')}{left_out}")
    if tables:
        rows = sum(len(output.results) for output in tables)
        parts.append(f"{_count(rows, 'row')} of {_count(len(tables), 'table')}")
    return "; ".join(parts)


def _has_figures_only(table: SourceTable) -> bool:
    return bool(table.roles) and parse_roles(table.roles.encode(), table.file).rows == "figures"


def _count(number: int, what: str) -> str:
    return f"{number:,} {what}{'' if number == 1 else 's'}"


def guessed_words(tables: Sequence[str]) -> str:
    """Return which tables are audited by their headings, in one line."""
    named = ", ".join(tables[:MAX_NAMED]) + (f" and {more:,} more" if (more := len(tables) - MAX_NAMED) > 0 else "")
    first = f"assay import {quote(tables[0])} --write-roles {quote(roles_name(tables[0]))}"
    return f"audited by its headings, without a roles file: {named}; `{first}` writes a guess to check"


def recomputed_words(found: RecomputedCells) -> str:
    """Return how many cells of tables were recomputed; empty if none follows from others."""
    if not found.columns:
        return ""
    unknown = f", {found.unknown:,} not, since something that goes in is not known" if found.unknown else ""
    return f"{_count(found.cells, 'cell')} of {_count(found.columns, 'derived column')} recomputed{unknown}"


def as_json(findings: Sequence[AuditFinding], results: int, files: int, recomputed: RecomputedCells) -> str:
    """Return the findings as JSON."""
    document = {
        "schema_version": SCHEMA_VERSION,
        "files": files,
        "results": results,
        "recomputed": recomputed._asdict(),
        "findings": [finding.model_dump(mode="json") for finding in findings],
    }
    return json.dumps(document, indent=2)


def as_sarif(findings: Sequence[AuditFinding]) -> str:
    """Return the findings as SARIF 2.1.0, which code hosts show beside the lines of a change."""
    known: list[Rule | TableRule] = [*RULES, *TABLE_RULES]
    rules = [
        {
            "id": rule.id,
            "shortDescription": {"text": rule.about},
            "fullDescription": {"text": f"{rule.about} Basis: {rule.basis}."},
            "defaultConfiguration": {"level": rule.severity},
        }
        for rule in known
    ]
    driver = {"name": "assay audit", "version": __version__, "rules": rules}
    run = {"tool": {"driver": driver}, "results": [_sarif_result(finding) for finding in findings]}
    return json.dumps({"$schema": _SARIF, "version": "2.1.0", "runs": [run]}, indent=2)


def _sarif_result(finding: AuditFinding) -> dict[str, Any]:
    place = {
        "physicalLocation": {"artifactLocation": {"uri": finding.file}, "region": {"startLine": finding.line}},
    }
    name = f"{finding.result}: " if finding.result else ""
    return {
        "ruleId": finding.rule,
        "level": finding.severity,
        "message": {"text": f"{name}{finding.text}"},
        "locations": [place],
        "properties": finding.numbers,
    }
