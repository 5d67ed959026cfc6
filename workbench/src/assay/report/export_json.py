"""Writes a run as one JSON document, and generates its schema."""

import json
from typing import Any

from assay.model.escape import escape_json
from assay.model.result.decision import TargetDecision
from assay.model.result.machine import MachineFinding
from assay.model.result.result import Comparison, PricedRun, RunAnalysis
from assay.model.result.summary_page import SummaryPage
from assay.model.result.verdict import MEANINGS
from assay.model.study.case import ExcludedPoint
from assay.report.cost_table import COST_COLUMNS, costs_table
from assay.report.kinds_table import KIND_COLUMNS, kinds_table
from assay.report.summary.page import first_page
from assay.report.tables import RESULT_COLUMNS, SAMPLE_COLUMNS, FlatColumn, results_table, samples_table
from assay.report.tasks_table import TASK_COLUMNS, task_records
from assay.report.view import RunView

SCHEMA = "assay.results/1"
"""Name and version of the format; the number changes when programs that read the old one would be misled."""

_TYPES = {"text": "string", "integer": "integer", "number": "number", "boolean": "boolean"}


def json_document(analysis: RunAnalysis) -> dict[str, Any]:
    """Return a run as JSON: its first page, flat records of its tables, comparisons and notes.

    Comparisons of latencies (`p50`, `p99`) are listed apart from those of rates and do not affect their p-values.
    """
    page = first_page(RunView(analysis)).as_stored(analysis.run.question or analysis.run.study)
    return {
        "schema": SCHEMA,
        "run": analysis.run.model_dump(mode="json", exclude={"page"}),
        "first_page": page.model_dump(mode="json"),
        "results": list(results_table(analysis).records),
        "samples": list(samples_table(analysis).records),
        "kinds": list(kinds_table(analysis).records),
        "tasks": list(task_records(analysis)),
        "costs": list(costs_table(analysis).records),
        "comparisons": [comparison.model_dump(mode="json") for comparison in analysis.comparisons],
        "latency_comparisons": [pair.model_dump(mode="json") for pair in analysis.latency_comparisons],
        "decisions": [decision.model_dump(mode="json") for decision in analysis.decisions],
        "excluded": [excluded.model_dump(mode="json") for excluded in analysis.excluded],
        "verdicts": {verdict: MEANINGS[verdict].sentence for row in analysis.rows for verdict in row.verdicts},
        "notes": list(analysis.notes),
        "machine": None if analysis.machine is None else analysis.machine.model_dump(mode="json"),
    }


def json_text(analysis: RunAnalysis) -> str:
    """Return the document as indented text."""
    return escape_json(json.dumps(json_document(analysis), indent=1, ensure_ascii=False, allow_nan=False)) + "\n"


def json_schema() -> dict[str, Any]:
    """Return the JSON Schema of the document, generated from the same columns and classes."""
    from pydantic.json_schema import models_json_schema

    models = (PricedRun, Comparison, TargetDecision, ExcludedPoint, MachineFinding, SummaryPage)
    places, definitions = models_json_schema([(model, "serialization") for model in models])
    run, comparison, decision, excluded, machine, page = (places[model, "serialization"] for model in models)
    properties = {
        "schema": {"const": SCHEMA},
        "run": run,
        "first_page": page,
        "results": _records_schema(RESULT_COLUMNS),
        "samples": _records_schema(SAMPLE_COLUMNS),
        "kinds": _records_schema(KIND_COLUMNS),
        "tasks": _tasks_schema(),
        "costs": _records_schema(COST_COLUMNS),
        "comparisons": {"type": "array", "items": comparison},
        "latency_comparisons": {"type": "array", "items": comparison},
        "decisions": {"type": "array", "items": decision},
        "excluded": {"type": "array", "items": excluded},
        "verdicts": {"type": "object", "additionalProperties": {"type": "string"}},
        "notes": {"type": "array", "items": {"type": "string"}},
        "machine": {"anyOf": [machine, {"type": "null"}]},
    }
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": SCHEMA,
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
        **definitions,
    }


def _records_schema(columns: tuple[FlatColumn, ...]) -> dict[str, Any]:
    record = {
        "type": "object",
        "properties": {column.name: _column_schema(column) for column in columns},
        "required": [column.name for column in columns],
        "additionalProperties": False,
    }
    return {"type": "array", "items": record}


def _tasks_schema() -> dict[str, Any]:
    """Return the schema of the tasks, whose figures are an object: their names are the study's."""
    schema = _records_schema(TASK_COLUMNS)
    figures = {"description": "Figure -> number that the program printed", "type": "object"}
    schema["items"]["properties"]["figures"] = {**figures, "additionalProperties": {"type": "number"}}
    schema["items"]["required"].append("figures")
    return schema


def _column_schema(column: FlatColumn) -> dict[str, Any]:
    return {"description": column.title, "type": [_TYPES[column.kind], "null"]}
