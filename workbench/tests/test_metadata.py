"""Metadata operations from the study to the report: with the real engine, and in every table, chart and file."""

import csv
import io
import json
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest
from builders import hdr, make_case, make_names, make_run, make_sample
from jsonschema import Draft202012Validator
from run_tools import assay, check_whole, needs_engine, only_run

from assay.analyse.rows import analyse
from assay.cli.analysis import judge_row
from assay.model.case import Case
from assay.model.names import METADATA
from assay.model.result import RunAnalysis, Sample
from assay.model.verdict import Verdict
from assay.report.build import build_document
from assay.report.document import Chart, Document, Gallery, KeyFigures, Table
from assay.report.export_csv import csv_text
from assay.report.export_json import json_document, json_schema
from assay.report.html import render_html
from assay.report.tables import results_table, samples_table
from assay.store import RunStore

STUDY = """
study: names
question: How fast are names?
targets:
  place: {{kind: {kind}}}
workloads:
  names:
    operations: [{operations}]
    files: {files}
    {extra}
repeats: 3
"""


def study(folder: Path, kind: str = '"null"', operations: str = ", ".join(METADATA), **changes: object) -> Path:
    values = {"files": 200, "extra": "", **changes}
    path = folder / "study.yaml"
    path.write_text(STUDY.format(kind=kind, operations=operations, **values))
    return path


def file_kind(folder: Path) -> str:
    return f"file, path: {folder}/target"


@needs_engine
def test_null_target_end_to_end(tmp_path: Path) -> None:
    extra = "file_size: [0, 4KiB]\n    lanes: 2\n    depth: 1\n    width: 4\n    runtime: 20ms"
    done = assay(tmp_path, "run", str(study(tmp_path, extra=extra)))
    assert "ops/s" in done.stdout and "stat" in done.stderr
    check_whole(tmp_path, phases=len(METADATA))
    shown = json.loads(assay(tmp_path, "show", "last", "--json").stdout)["results"]
    assert [row["operation"] for row in shown] == [*METADATA, *METADATA]
    assert all(row["operations_per_s"] > 0 and row["operations_per_s_high"] > 0 for row in shown)
    assert [row["bytes_per_s"] is not None for row in shown] == [False] * 8 + [True] + [False] * 7
    assert all(row["bytes_per_s_low"] is None and row["n"] == 3 for row in shown)
    text = assay(tmp_path, "show", "last", "c0001").stdout
    assert "throughput" not in text and "the null device needs no kernel" in text
    report = assay(tmp_path, "report", "last").stdout.strip()
    assert "operations/s" in Path(report).read_text()


@needs_engine
def test_time_series_of_metadata_adds_up(tmp_path: Path) -> None:
    file = study(
        tmp_path, operations="stat, unlink", extra="rate: 2000/s\n    file_size: 4KiB\noutput: {interval: 10ms}"
    )
    assay(tmp_path, "run", str(file))
    run = only_run(tmp_path)
    rows = pq.read_table(run / "intervals.parquet").to_pylist()
    assert {row["operation"] for row in rows} == {"prepare", "stat", "unlink"}
    with RunStore.open(run) as store:
        for sample in store.samples():
            mine = [row for row in rows if (row["repeat"], row["phase"]) == (sample.repeat, sample.phase)]
            assert len(mine) > 3
            assert sum(row["meta_ops"] for row in mine) == sample.ops == 200
            assert all(row["p99_ns"] > 0 for row in mine if row["meta_ops"])
            assert sample.start_delay["p50"] >= 0 and sample.start_delay_histogram
    text = assay(tmp_path, "show", "last", "c0001").stdout
    assert "start delay of stat: p50 " in text and "start delay of unlink: p50 " in text


@needs_engine
def test_scripted_errors_of_names_are_results(tmp_path: Path) -> None:
    kind = '"null", errors: [{at_op: 3, errno: ENOSPC}]'
    assay(tmp_path, "run", str(study(tmp_path, kind, "create, stat")), expect=1)
    text = assay(tmp_path, "show", "last", "c0001").stdout
    assert "ENOSPC" in text and "inodes" in text


@needs_engine
def test_file_target_end_to_end(tmp_path: Path) -> None:
    extra = "file_size: [0, 4KiB]\n    lanes: 2\n    depth: 1\n    width: 4"
    assay(tmp_path, "run", str(study(tmp_path, file_kind(tmp_path), extra=extra)))
    check_whole(tmp_path, phases=len(METADATA))
    with RunStore.open(only_run(tmp_path)) as store:
        found = {(sample.case, sample.operation): sample for sample in store.samples()}
    for (case, operation), sample in found.items():
        assert sample.ops == (8 if operation == "readdir" else 400), operation
        assert sample.bytes == (400 * 4096 if (case, operation) == ("c0002", "create") else 0)
        assert sample.iops > 0 and sample.latency["p99"] > 0 and sample.method and sample.method_reason


@needs_engine
@pytest.mark.parametrize(
    ("operations", "extra"),
    [
        ("stat, unlink", "layout: shared\n    lanes: 2"),
        ("rmdir", "queue_depth: 8\n    sync: none"),
        ("rename, rename, readdir", "method: io_uring\n    queue_depth: 8"),
        ("create, open, unlink", "time_limit: 1ms"),
    ],
)
def test_what_an_operation_needs_is_there_on_files(tmp_path: Path, operations: str, extra: str) -> None:
    assay(tmp_path, "run", str(study(tmp_path, file_kind(tmp_path), operations, extra=extra)))
    check_whole(tmp_path, phases=len(operations.split(",")))


@needs_engine
def test_mmap_and_tuning_with_files(tmp_path: Path) -> None:
    file = tmp_path / "study.yaml"
    work = "operations: [write, read, random_write], file_size: 1MiB, record_size: 64KiB, cache: keep"
    file.write_text(
        f"study: m\nquestion: Q?\ntargets: {{place: {{kind: {file_kind(tmp_path)}}}}}\nrepeats: 1\nworkloads:\n"
        f"  mapped: {{{work}, method: mmap, verify: true}}\n  pinned: {{{work}, lanes: 2, cpus: '0'}}\n"
    )
    assay(tmp_path, "run", str(file))
    check_whole(tmp_path, phases=3)
    assert "method of write, read, random_write: mmap (asked for)" in assay(tmp_path, "show", "last", "c0001").stdout
    for field, words in (("cpus: '0,1023'", "no CPU 1023"), ("numa_node: 1023", "no node 1023")):
        file.write_text(file.read_text().replace("cpus: '0'", field))
        done = assay(tmp_path, "run", str(file), expect=3)
        assert words in done.stderr
        file.write_text(file.read_text().replace(field, "cpus: '0'"))


def names_run(*more: tuple[Case, list[Sample]]) -> RunAnalysis:
    """Files that are made, with contents, and looked at, by one lane and two, on two targets; memory is faster."""
    cases: list[Case] = []
    samples: list[Sample] = []
    for target, times in (("disk", 1), ("memory", 3)):
        for lanes in (1, 2):
            case = make_case(
                f"c{len(cases) + 1:04}", target, ("create", "stat"), file_size=4096, axes={"lanes": lanes}
            ).model_copy(update={"workload": "names"})
            cases.append(case)
            samples += [about(case, repeat, lanes * times) for repeat in (1, 2, 3, 4) for about in (_create, _stat)]
    for case, own in more:
        cases.append(case)
        samples += own
    return analyse(make_run(), cases, (), samples, (), judge_row)


def _create(case: Case, repeat: int, times: int, **fields: Any) -> Sample:
    rate = 20e3 * times * (1 + repeat / 97)
    moved = {"bytes": 4096 * 1000, "throughput": rate * 4096}
    return _named(case, repeat, rate, operation="create", phase=0, **moved)


def _stat(case: Case, repeat: int, times: int) -> Sample:
    return _named(case, repeat, 500e3 * times * (1 + repeat / 97), phase=1)


def _named(case: Case, repeat: int, rate: float, **fields: Any) -> Sample:
    values = [1000, 2000, 2000, 3000]
    latency = {"min": 1000.0, "mean": 2000.0, "p50": 2000.0, "p99": 3000.0, "max": 3000.0}
    return make_names(case.id, repeat, rate, latency=latency, histogram=hdr(values), **fields)


def with_data() -> RunAnalysis:
    """The same beside a workload of data."""
    case = make_case("c0009", operations=("read",))
    return names_run((case, [make_sample("c0009", repeat) for repeat in (1, 2, 3)]))


def charts(document: Document) -> list[Chart]:
    blocks = [block for part in document.sections for block in part.blocks if isinstance(block, Gallery)]
    return [figure for block in blocks for figure in block.figures if isinstance(figure, Chart)]


def tables(document: Document) -> dict[str, Table]:
    return {block.id: block for part in document.sections for block in part.blocks if isinstance(block, Table)}


def units(table: Table) -> set[str]:
    return {column.unit for column in table.columns}


def test_report_of_names_alone_speaks_of_operations() -> None:
    document = build_document(names_run())
    found = tables(document)
    assert "results-table" not in found
    assert units(found["metadata-table"]) == {"", "operations/s", "%", "MB/s", "µs"}
    assert "MB/s" not in units(found["comparison-metadata-table"]) and "comparison-table" not in found
    spoken = [chart for chart in charts(document) if not chart.id.startswith(("latency", "percentiles", "ratio"))]
    assert spoken and all("operations/s" in json.dumps(chart.spec) for chart in spoken)
    assert not [chart for chart in charts(document) if "MB/s" in json.dumps(chart.spec) + chart.caption]
    cards = next(block for part in document.sections for block in part.blocks if isinstance(block, KeyFigures)).items
    assert [(card.label, card.value, card.claim) for card in cards] == [
        ("Create", "3.0×", "memory faster than disk"),
        ("Stat", "3.0×", "memory faster than disk"),
    ]
    assert "memory 92,300, disk 30,800 operations/s" in cards[0].details
    assert "MB/s" not in "".join(detail for card in cards for detail in card.details)


def test_contents_have_a_column_only_if_there_are_any() -> None:
    whole = names_run()
    empty = whole.model_copy(update={"rows": tuple(row for row in whole.rows if row.operation == "stat")})
    assert "MB/s" not in units(tables(build_document(empty))["metadata-table"])


def test_report_of_both_keeps_them_apart() -> None:
    document = build_document(with_data())
    found = tables(document)
    assert [len(found[name].rows) for name in ("results-table", "metadata-table")] == [1, 8]
    assert "operations/s" not in units(found["results-table"])
    assert {len(row) for row in found["metadata-table"].rows} == {len(found["metadata-table"].columns)}
    page = render_html(document)
    assert [name for name in found if f'<table id="{name}">' not in page] == []


def test_report_names_the_method_and_why() -> None:
    table = tables(build_document(with_data()))["calls-table"]
    assert [tuple(row) for row in table.rows] == [
        ("names", "disk", "auto", "sync", "create, stat", "one operation in flight"),
        ("names", "memory", "auto", "sync", "create, stat", "one operation in flight"),
        ("grid", "disk", "auto", "io_uring", "read", "–"),
    ]


def test_figures_of_a_trial_do_not_multiply_the_reasons() -> None:
    case = make_case("c0009", operations=("read",))
    reasons = [f"in a trial pread took {n}.25 us" for n in (1, 2, 3)]
    samples = [make_sample("c0009", n, method_reason=reason) for n, reason in enumerate(reasons, start=1)]
    rows = tables(build_document(names_run((case, samples))))["calls-table"].rows
    assert rows[-1][-1] == "in a trial pread took 1.25 us (and 2 with other figures)"


def test_cached_names_stand_beside_honest_ones() -> None:
    whole = names_run()
    cold = make_case("c0009", "disk", ("stat",), cache="drop").model_copy(update={"workload": "cold"})
    samples = [_named(cold, repeat, 9e3 * (1 + repeat / 97), cache_done="dropped") for repeat in (1, 2, 3)]
    warm = [
        sample.model_copy(update={"device_read_bytes": 0}) if sample.operation == "stat" else sample
        for row in whole.rows
        for sample in row.samples
    ]
    found = analyse(make_run(), (*whole.cases, cold), (), [*warm, *samples], (), judge_row)
    verdicts = {(row.case.target, row.operation, row.case.workload): row.verdict for row in found.rows}
    assert verdicts["disk", "stat", "names"] is Verdict.CACHED
    assert verdicts["disk", "create", "names"] is verdicts["memory", "stat", "names"] is Verdict.OK
    assert verdicts["disk", "stat", "cold"] is Verdict.OK
    document = build_document(found)
    text = repr(next(part for part in document.sections if part.id == "caching"))
    assert "with the verdict cached" in text and "the honest 9,190 operations/s" in text
    # What was changed is still drawn among the results: the workload as a whole does not show a cache.
    assert "rate-0-lanes-create" in {chart.id for chart in charts(document)}


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
