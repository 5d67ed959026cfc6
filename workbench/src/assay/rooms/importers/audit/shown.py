"""How findings are written: as text, as JSON, and as SARIF."""

import json
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any

from assay import __version__
from assay.rooms.importers.audit.findings import SEVERITIES, AuditFinding, Rule
from assay.rooms.importers.audit.rules import RULES
from assay.rooms.importers.audit.tables.rules import TABLE_RULES, RecomputedCells, TableRule

SCHEMA_VERSION = 1
_SARIF = "https://json.schemastore.org/sarif-2.1.0.json"


def text_lines(findings: Sequence[AuditFinding], results: int, without: int, files: int) -> Iterator[str]:
    """Yield the findings and their count; `without` results have no counterpart in a run."""
    for finding in findings:
        name = f" {finding.result}:" if finding.result else ""
        yield f"{finding.severity}: {finding.place}:{name} {finding.text} [{finding.rule}]"
    counts = Counter(finding.severity for finding in findings)
    words = [f"{counts[severity]} {severity}{'' if counts[severity] == 1 else 's'}" for severity in SEVERITIES]
    left_out = f", {without:,} of them without a counterpart in a run" if without else ""
    results_words = f"{results:,} result{'' if results == 1 else 's'} in {files:,} file{'' if files == 1 else 's'}"
    yield f"{results_words}{left_out}: {', '.join(words)}"


def recomputed_words(found: RecomputedCells) -> str:
    """Return how many cells of tables were recomputed; empty if none follows from others."""
    if not found.columns:
        return ""
    cells = f"{found.cells:,} cell{'' if found.cells == 1 else 's'} of "
    columns = f"{found.columns:,} derived column{'' if found.columns == 1 else 's'} recomputed"
    unknown = f", {found.unknown:,} not, since something that goes in is not known" if found.unknown else ""
    return f"{cells}{columns}{unknown}"


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
