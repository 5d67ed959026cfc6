"""Metadata operations in every table, chart and file."""

import csv
import io
from pathlib import Path

import pytest
from builders import answered, make_run
from jsonschema import Draft202012Validator
from named_runs import named, names_run, with_data
from report_parts import charts_of, tables_of

from assay.analyse.rows import analyse
from assay.judge.judge import judge
from assay.model.result.verdict import Verdict
from assay.report.build import build_document
from assay.report.document import Table
from assay.report.export_csv import csv_text
from assay.report.export_json import json_document, json_schema
from assay.report.html import render_html
from assay.report.tables import results_table, samples_table


def units(table: Table) -> set[str]:
    return {column.unit for column in table.columns}


def test_report_of_names_alone_speaks_of_operations() -> None:
    document = build_document(names_run())
    found = tables_of(document)
    assert "results-table" not in found
    assert units(found["metadata-table"]) == {"", "operations/s", "MB/s", "µs"}
    spoken = [chart for chart in charts_of(document) if not chart.id.startswith(("latency", "percentiles", "ratio"))]
    assert spoken and all("operations/s" in repr(chart.drawing) for chart in spoken)
    assert not [chart for chart in charts_of(document) if "MB/s" in repr(chart.drawing) + chart.caption]
    lines = [tuple(str(getattr(cell, "text", cell)) for cell in row[:5]) for row in found["decisions-table"].rows]
    assert lines == [("Create", "names", "2", "memory at 2", "3.0×"), ("Stat", "names", "2", "memory at 2", "3.0×")]


def test_contents_have_a_column_only_if_there_are_any() -> None:
    whole = names_run()
    stats = tuple(row for row in whole.rows if row.operation == "stat")
    empty = answered(whole.model_copy(update={"rows": stats}))
    assert "MB/s" not in units(tables_of(build_document(empty))["metadata-table"])


def test_report_of_both_keeps_them_apart() -> None:
    document = build_document(with_data())
    found = tables_of(document)
    assert [len(found[name].rows) for name in ("results-table", "metadata-table")] == [1, 8]
    assert "operations/s" not in units(found["results-table"])
    assert {len(row) for row in found["metadata-table"].rows} == {len(found["metadata-table"].columns)}
    page = render_html(document)
    assert [name for name in found if f'<table id="{name}">' not in page] == []


def test_report_names_the_method_and_why() -> None:
    table = tables_of(build_document(with_data()))["calls-table"]
    assert [tuple(row) for row in table.rows] == [
        ("names", "disk", "auto", "sync", "create, stat", "one operation in flight"),
        ("names", "memory", "auto", "sync", "create, stat", "one operation in flight"),
        ("grid", "disk", "auto", "io_uring", "read", "–"),
    ]


def test_cached_names_stand_beside_honest_ones() -> None:
    whole = names_run()
    kept = next(case for case in whole.cases if case.target == "disk")
    dropped = kept.parameters.model_copy(update={"cache": "drop"})
    cold = kept.model_copy(update={"id": "c0009", "workload": "cold", "operations": ("stat",), "parameters": dropped})
    samples = [named(cold, repeat, 9e3 * (1 + repeat / 97), cache_done="dropped") for repeat in (1, 2, 3)]
    warm = [
        sample.model_copy(update={"device_read_bytes": 0}) if sample.operation == "stat" else sample
        for row in whole.rows
        for sample in row.samples
    ]
    found = analyse(make_run(), (*whole.cases, cold), (), [*warm, *samples], (), judge)
    verdicts = {(row.case.target, row.operation, row.case.workload): row.verdict for row in found.rows}
    assert verdicts["disk", "stat", "names"] is Verdict.CACHED
    assert verdicts["disk", "create", "names"] is verdicts["memory", "stat", "names"] is Verdict.OK
    assert verdicts["disk", "stat", "cold"] is Verdict.OK
    document = build_document(found)
    text = repr(next(part for part in document.sections if part.id == "verdicts"))
    assert "served from cache" in text and "the 9,190 operations/s of the same work without the cache" in text
    # What was changed is still drawn among the results: the workload as a whole does not show a cache.
    assert "rate-0-lanes-create" in {chart.id for chart in charts_of(document)}


def test_exports_hold_names() -> None:
    found = names_run()
    results = list(csv.DictReader(io.StringIO(csv_text(results_table(found)))))
    create, stat = results[0], results[1]
    assert (create["files"], create["record_size_bytes"], create["n"]) == ("1000", "", "4")
    assert float(create["throughput_median_bytes_per_s"]) > 0 and stat["throughput_median_bytes_per_s"] == ""
    assert float(stat["iops_median_per_s"]) == pytest.approx(500e3 * (1 + 2.5 / 97))
    samples = list(csv.DictReader(io.StringIO(csv_text(samples_table(found)))))
    assert {row["throughput_bytes_per_s"] == "" for row in samples if row["operation"] == "stat"} == {True}
    assert {row["method_reason"] for row in samples} == {"one operation in flight"}
    Draft202012Validator(json_schema()).validate(json_document(found))


def test_workbook_has_a_chart_for_each_measure(tmp_path: Path) -> None:
    import zipfile

    from assay.report.export_xlsx import write_xlsx

    for analysis, expected in ((names_run(), 2), (with_data(), 3)):
        path = tmp_path / f"{expected}.xlsx"
        write_xlsx(analysis, path)
        with zipfile.ZipFile(path) as book:
            assert len([name for name in book.namelist() if name.startswith("xl/charts/chart")]) == expected
