"""Every format gives the same numbers."""

import csv
import io
import json
import os
import re
import stat
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pyarrow.parquet as pq
import pytest
from builders import make_analysis, make_ceiling
from in_process import run_here
from jsonschema import Draft202012Validator

from assay.cli.export import Format, TableName, default_path, write_export
from assay.model.base import AssayError
from assay.model.result.result import RunAnalysis
from assay.model.study.parameters import Parameters
from assay.report.export_csv import csv_text
from assay.report.export_json import json_document, json_schema, json_text
from assay.report.kinds_table import kinds_table
from assay.report.tables import RESULT_COLUMNS, FlatTable, ceilings_table, results_table, samples_table
from assay.run.analysis import load_analysis
from assay.store import RunMeta, RunStore
from assay.terminal.output_file import write_atomically

SPREADSHEET = "{http://schemas.openxmlformats.org/spreadsheetml/2006/main}"


@pytest.fixture(scope="module")
def analysis() -> RunAnalysis:
    ceilings = (
        make_ceiling("memory copy", 9e9, target="", lowest=8e9),
        make_ceiling("device read", 250e6),
        make_ceiling("device write", None),
    )
    return make_analysis(ceilings=ceilings)


Make = Callable[[RunAnalysis], FlatTable]
TABLES: list[tuple[Make, TableName]] = [
    (results_table, TableName.RESULTS),
    (samples_table, TableName.SAMPLES),
    (kinds_table, TableName.KINDS),
    (ceilings_table, TableName.CEILINGS),
]


def exported(analysis: RunAnalysis, format_: Format, folder: Path, table: TableName = TableName.RESULTS) -> Path:
    path = folder / f"{table}.{format_}"
    write_export(analysis, format_, table, path, force=False)
    return path


def test_the_table_holds_the_result(analysis: RunAnalysis) -> None:
    first, second, *_ = results_table(analysis).records
    assert first["verdict"] == "incomplete" and "ENOSPC" in str(first["findings"])
    assert (second["target"], second["operation"], second["n"]) == ("disk", "read", 3)
    row = analysis.rows[1]
    assert row.throughput is not None
    assert second["throughput_median_bytes_per_s"] == row.throughput.median
    assert second["latency_p90_ns"] == row.latency["p90"] and second["latency_p99_9_ns"] is None
    assert second["file_size_bytes"] == row.case.parameters.file_size
    assert second["memory_limit_bytes"] is None
    assert (second["binding_ceiling"], second["binding_unit"], second["binding_value"]) == (
        "device read",
        "bytes/s",
        250e6,
    )
    assert second["binding_share"] == pytest.approx(row.throughput.median / 250e6)
    assert second["ceiling_shares"] == f"device read: {row.throughput.median / 250e6:.4g}"
    assert (first["binding_ceiling"], first["binding_share"], first["ceiling_shares"]) == ("", None, "")


def test_every_parameter_has_a_column() -> None:
    names = {column.name for column in RESULT_COLUMNS} | {"method"}
    missing = [
        field
        for field in Parameters.model_fields
        if not any(re.fullmatch(f"{field}(_[a-z_]+)?", name) for name in names)
    ]
    assert missing == []


@pytest.mark.parametrize(("make", "name"), TABLES)
def test_csv(analysis: RunAnalysis, make: Make, name: TableName, tmp_path: Path) -> None:
    table = make(analysis)
    text = exported(analysis, Format.CSV, tmp_path, name).read_text()
    assert text == csv_text(table)
    rows = list(csv.DictReader(io.StringIO(text)))
    assert [{key: read_cell(table, key, value) for key, value in row.items()} for row in rows] == list(table.records)


def read_cell(table: FlatTable, name: str, text: str) -> Any:
    kind = next(column.kind for column in table.columns if column.name == name)
    if kind == "text":
        return text
    read: dict[str, Callable[[str], Any]] = {
        "integer": int,
        "number": float,
        "boolean": {"true": True, "false": False}.__getitem__,
    }
    return read[kind](text) if text else None


@pytest.mark.parametrize(("make", "name"), TABLES)
def test_parquet(analysis: RunAnalysis, make: Make, name: TableName, tmp_path: Path) -> None:
    found = pq.read_table(exported(analysis, Format.PARQUET, tmp_path, name))
    assert found.to_pylist() == list(make(analysis).records)
    assert json.loads(found.schema.metadata[b"assay"])["run"] == analysis.run.id


def test_json_follows_its_schema_and_holds_both_tables(analysis: RunAnalysis, tmp_path: Path) -> None:
    document = json.loads(exported(analysis, Format.JSON, tmp_path).read_text())
    schema = json_schema()
    Draft202012Validator.check_schema(schema)
    assert [error.message for error in Draft202012Validator(schema).iter_errors(document)] == []
    assert document == json.loads(json_text(analysis)) == json_document(analysis)
    assert document["results"] == list(results_table(analysis).records)
    assert document["samples"] == list(samples_table(analysis).records)
    assert document["kinds"] == list(kinds_table(analysis).records)
    assert len(document["comparisons"]) == len(analysis.comparisons)


def test_the_json_schema_refuses_what_is_wrong(analysis: RunAnalysis) -> None:
    document = json_document(analysis)
    document["results"][0]["n"] = "three"
    del document["run"]["id"]
    assert len(list(Draft202012Validator(json_schema()).iter_errors(document))) == 2


@pytest.mark.parametrize(("make", "name"), TABLES)
def test_xlsx(analysis: RunAnalysis, make: Make, name: TableName, tmp_path: Path) -> None:
    book = read_xlsx(exported(analysis, Format.XLSX, tmp_path))
    assert list(book) == ["Summary", "Results", "Samples", "Kinds", "Ceilings", "Environment", "Study"]
    head, *lines = book[str(name).capitalize()]
    table = make(analysis)
    names = [column.name for column in table.columns]
    assert [head.get(place) for place in range(len(names))] == names
    for line, record in zip(lines, table.records, strict=True):
        for place, column in enumerate(names):
            value = record[column]
            if value in (None, ""):
                assert place not in line
            elif isinstance(value, float):
                assert line[place] == pytest.approx(value, rel=1e-14)
            else:
                assert line[place] == value


def test_xlsx_has_charts_filters_and_the_study(analysis: RunAnalysis, tmp_path: Path) -> None:
    path = exported(analysis, Format.XLSX, tmp_path)
    with zipfile.ZipFile(path) as archive:
        assert len([name for name in archive.namelist() if re.fullmatch(r"xl/charts/chart\d+\.xml", name)]) == 2
        results = archive.read("xl/worksheets/sheet2.xml").decode()
    assert "<autoFilter" in results and 'state="frozen"' in results
    book = read_xlsx(path)
    assert [line[0] for line in book["Study"]] == analysis.run.study_text.splitlines()
    assert {(line[0], line[1]) for line in book["Environment"]} >= {("memory", "total"), ("versions", "assay")}
    summary = [tuple(line.values()) for line in book["Summary"]]
    assert ("ok", 3.0) in summary and ("incomplete", 1.0) in summary


def read_xlsx(path: Path) -> dict[str, list[dict[int, Any]]]:
    """Sheet -> lines -> column -> value; empty cells and lines are left out."""
    with zipfile.ZipFile(path) as archive:
        shared = ElementTree.fromstring(archive.read("xl/sharedStrings.xml"))
        texts = ["".join(node.itertext()) for node in shared]
        workbook = ElementTree.fromstring(archive.read("xl/workbook.xml"))
        names = [sheet.get("name") or "" for sheet in workbook.iter(f"{SPREADSHEET}sheet")]
        return {
            name: sheet_lines(archive.read(f"xl/worksheets/sheet{number}.xml"), texts)
            for number, name in enumerate(names, start=1)
        }


def sheet_lines(xml: bytes, texts: list[str]) -> list[dict[int, Any]]:
    lines = []
    for row in ElementTree.fromstring(xml).iter(f"{SPREADSHEET}row"):
        line: dict[int, Any] = {}
        for cell in row:
            value = cell.findtext(f"{SPREADSHEET}v")
            if value is not None:
                line[column_number(cell.get("r") or "")] = cell_value(cell.get("t"), value, texts)
        if line:
            lines.append(line)
    return lines


def cell_value(kind: str | None, value: str, texts: list[str]) -> Any:
    if kind == "s":
        return texts[int(value)]
    return value == "1" if kind == "b" else float(value)


def column_number(reference: str) -> int:
    number = 0
    for letter in reference.rstrip("0123456789"):
        number = 26 * number + ord(letter) - 64
    return number - 1


@pytest.mark.parametrize("format_", [one for one in Format if one is not Format.IO500])
def test_a_file_is_replaced_only_by_force(analysis: RunAnalysis, format_: Format, tmp_path: Path) -> None:
    path = exported(analysis, format_, tmp_path)
    path.write_text("mine")
    with pytest.raises(AssayError) as refused:
        write_export(analysis, format_, TableName.RESULTS, path, force=False)
    assert "exists already" in refused.value.message and "--force" in refused.value.hint
    assert path.read_text() == "mine"
    write_export(analysis, format_, TableName.RESULTS, path, force=True)
    assert path.read_bytes() != b"mine"
    assert list(tmp_path.iterdir()) == [path]


def test_a_place_that_cannot_be_written_is_one_clear_error(analysis: RunAnalysis, tmp_path: Path) -> None:
    with pytest.raises(AssayError, match="cannot write"):
        write_export(analysis, Format.CSV, TableName.RESULTS, tmp_path / "missing" / "x.csv", force=False)


def whole(path: Path) -> None:
    path.write_text("whole")


def test_what_a_link_points_to_is_replaced(tmp_path: Path) -> None:
    link, page = tmp_path / "link", tmp_path / "page"
    link.symlink_to("page")
    for old in ("", "old"):
        if old:
            page.write_text(old)
        write_atomically(link, whole, force=True)
        assert link.is_symlink() and page.read_text() == "whole"
    assert sorted(tmp_path.iterdir()) == [link, page]


def test_a_fifo_is_written_into_and_stays(tmp_path: Path) -> None:
    fifo = tmp_path / "fifo"
    os.mkfifo(fifo)
    # Open already, so that nobody waits.
    reader = os.open(fifo, os.O_RDONLY | os.O_NONBLOCK)
    try:
        write_atomically(fifo, whole)
        assert os.read(reader, 100) == b"whole" and fifo.is_fifo()
    finally:
        os.close(reader)


@pytest.mark.skipif(os.geteuid() != 0, reason="only root makes device nodes")
def test_a_device_is_never_replaced(tmp_path: Path) -> None:
    full, disk = tmp_path / "full", tmp_path / "disk"
    os.mknod(full, 0o600 | stat.S_IFCHR, os.makedev(1, 7))
    # A number that no driver has: nothing could be lost.
    os.mknod(disk, 0o600 | stat.S_IFBLK, os.makedev(250, 255))
    for node, words in ((full, "No space left"), (disk, "is a block device")):
        before = node.stat().st_mode
        with pytest.raises(AssayError, match=words):
            write_atomically(node, whole, force=True)
        assert node.stat().st_mode == before


def test_default_names(analysis: RunAnalysis) -> None:
    run = analysis.run.id
    assert str(default_path(run, Format.XLSX, TableName.RESULTS)) == f"{run}.xlsx"
    assert str(default_path(run, Format.CSV, TableName.SAMPLES)) == f"{run}-samples.csv"


@pytest.fixture(scope="module")
def stored(analysis: RunAnalysis, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The same run in a store, as `assay run` leaves it; returns the folder of all runs."""
    root = tmp_path_factory.mktemp("runs")
    run = analysis.run
    about = {name: getattr(run, name) for name in ("study", "question", "description", "created_at", "seed", "order")}
    meta = RunMeta(id=run.id, repeats=3, command=run.command, **about)
    order = [(case.id, repeat) for repeat in (1, 2, 3) for case in analysis.cases]
    samples = [sample for row in analysis.rows for sample in row.samples]
    with RunStore.create(root, meta, analysis.cases, (), order, run.study_text) as store:
        store.describe(run.versions, run.environment, run.places, run.ceilings)
        for case, repeat in order:
            own = [sample for sample in samples if (sample.case, sample.repeat) == (case, repeat)]
            store.finish_repeat(store.begin_attempt(case, repeat, {}), "ok", 1.0, "", "", own)
        store.set_status("complete")
    return root


def test_the_command_exports_a_stored_run(analysis: RunAnalysis, stored: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(stored)
    words = ["export", "last", "--out", str(stored)]
    printed = run_here(stored, *words, "--format", "csv", "--output", "-")
    assert (printed.returncode, printed.stdout) == (0, csv_text(results_table(analysis)))
    written = run_here(stored, *words, "--format", "xlsx")
    assert written.returncode == 0
    assert (stored / f"{analysis.run.id}.xlsx").is_file()
    refused = run_here(stored, *words, "--format", "parquet", "--output", "-")
    assert refused.returncode == 2 and refused.stderr.startswith("error: ")


def test_one_case_of_a_stored_run(analysis: RunAnalysis, stored: Path) -> None:
    found = load_analysis("last", stored, case="c0002")
    assert [row.case.id for row in found.rows] == ["c0002", "c0002"]
    assert found.rows == tuple(row for row in analysis.rows if row.case.id == "c0002")
    with pytest.raises(AssayError, match="has no case 'c9999'"):
        load_analysis("last", stored, case="c9999")
