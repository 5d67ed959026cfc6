"""Metadata operations from the study to the report: with the real engine, and in every table, chart and file."""

import json
import os
from pathlib import Path

import pytest
from run_tools import assay, check_whole, needs_engine, only_run
from series_tools import read_series

from assay.model.study.names import METADATA
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
ceilings: {ceilings}
"""


def study(folder: Path, kind: str = '"null"', operations: str = ", ".join(METADATA), **changes: object) -> Path:
    values = {"files": 200, "extra": "", "ceilings": "none", **changes}
    path = folder / "study.yaml"
    path.write_text(STUDY.format(kind=kind, operations=operations, **values))
    return path


def file_kind(folder: Path) -> str:
    return f"file, path: {folder}/target"


@needs_engine
def test_null_target_end_to_end(tmp_path: Path) -> None:
    extra = "file_size: [0, 4KiB]\n    lanes: 2\n    depth: 1\n    width: 4\n    runtime: 20ms"
    done = assay(tmp_path, "run", str(study(tmp_path, extra=extra)))
    assert "operations/s" in done.stdout and "stat" in done.stderr
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
    rows = read_series(run)
    assert {row["operation"] for row in rows} == {"prepare", "stat", "unlink"}
    with RunStore.open(run) as store:
        for sample in store.samples():
            mine = [row for row in rows if (row["repeat"], row["phase"]) == (sample.repeat, sample.phase)]
            assert len(mine) > 3
            assert sum(row["meta_ops"] for row in mine) == sample.ops == 200
            assert all(row["p99_ns"] is None for row in mine), "no interval has 1,000 operations"
            assert sum(row["p50_ns"] is not None for row in mine) == sum(row["meta_ops"] >= 20 for row in mine)
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
    assay(tmp_path, "run", str(study(tmp_path, file_kind(tmp_path), extra=extra, ceilings="measure")))
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
        # Long enough for a first name on a machine that is busy, and not for all.
        ("create, open, unlink", "time_limit: 200ms\n    rate: 500/s"),
    ],
)
def test_what_an_operation_needs_is_there_on_files(tmp_path: Path, operations: str, extra: str) -> None:
    assay(tmp_path, "run", str(study(tmp_path, file_kind(tmp_path), operations, extra=extra)))
    check_whole(tmp_path, phases=len(operations.split(",")))


@needs_engine
def test_mmap_and_tuning_with_files(tmp_path: Path) -> None:
    file, first = tmp_path / "study.yaml", min(os.sched_getaffinity(0))
    work = "operations: [write, read, random_write], file_size: 1MiB, record_size: 64KiB, cache: keep"
    file.write_text(
        f"study: m\nquestion: Q?\nrepeats: 1\nceilings: none\n"
        f"targets: {{place: {{kind: {file_kind(tmp_path)}}}}}\nworkloads:\n"
        f"  mapped: {{{work}, method: mmap, verify: true}}\n  pinned: {{{work}, lanes: 2, cpus: '{first}'}}\n"
    )
    assay(tmp_path, "run", str(file))
    check_whole(tmp_path, phases=3)
    assert "method of write, read, random_write: mmap (requested)" in assay(tmp_path, "show", "last", "c0001").stdout
    for field, words in ((f"cpus: '{first},1023'", "no CPU 1023"), ("numa_node: 1023", "no node 1023")):
        file.write_text(file.read_text().replace(f"cpus: '{first}'", field))
        done = assay(tmp_path, "run", str(file), expect=3)
        assert words in done.stderr
        file.write_text(file.read_text().replace(field, f"cpus: '{first}'"))
