"""Work on objects from the study to the report, with the real engine; and what becomes of credentials."""

import csv
import json
import os
import stat
from pathlib import Path

import pytest
from run_tools import assay, check_whole, needs_engine, only_run
from series_tools import read_series

from assay.launch.binary import find_engine
from assay.store import RunStore

STUDY = """
study: objects
question: How fast are objects without storage?
targets:
  none: {kind: "null", latency: {distribution: fixed, time: 100us}}
defaults: {lanes: 2, objects: 64}
workloads:
  small: {operations: [put, get, head, list, delete], object_size: [4KiB, 64KiB]}
  spread: {operations: [get], object_size: [1KiB..16KiB, {4KiB: 70, 64KiB: 30}], range: 512B}
  mixed: {operations: [object_mix], object_size: 16KiB, runtime: 40ms, mix: {get: 45, put: 15, head: 30, delete: 10}}
  parts: {operations: [put, copy, multi_delete], object_size: 12MiB, part_size: 5MiB, objects: 3}
repeats: 3
ceilings: none
"""


def write(folder: Path, text: str = STUDY) -> Path:
    path = folder / "study.yaml"
    path.write_text(text)
    return path


@needs_engine
def test_objects_end_to_end(tmp_path: Path) -> None:
    done = assay(tmp_path, "run", write(tmp_path))
    assert "MB/s" in done.stdout and "operations/s" in done.stdout
    shown = json.loads(assay(tmp_path, "show", "last", "--json").stdout)["results"]
    by_bytes = {row["operation"]: row["bytes_per_s"] is not None for row in shown}
    assert by_bytes == {
        **dict.fromkeys(("put", "get", "object_mix"), True),
        **dict.fromkeys(("head", "list", "delete", "copy", "multi_delete"), False),
    }
    assert all(row["operations_per_s"] > 0 and row["n"] == 3 for row in shown)
    with RunStore.open(only_run(tmp_path)) as store:
        samples = list(store.samples())
        assert store.outcome_counts() == {"ok": 6 * 3} and store.entries() == []
    for sample in samples:
        kinds = {counts.kind: counts for counts in sample.kinds if counts.ops}
        if sample.operation == "object_mix":
            assert set(kinds) == {"put", "get", "head", "delete"}
            assert sample.write_bytes == kinds["put"].ops * 16384 and sample.read_bytes == kinds["get"].ops * 16384
        if sample.operation == "get" and sample.case in ("c0003", "c0004"):
            assert sample.bytes == sample.read_bytes == 128 * 512
        if sample.operation == "put" and len(kinds) > 1:
            assert (kinds["start_upload"].ops, kinds["put_part"].ops, kinds["complete_upload"].ops) == (6, 18, 6)
            assert sample.bytes == 6 * 12 * 2**20
    text = assay(tmp_path, "show", "last", "c0005").stdout
    assert "of which" in text and "head" in text


@needs_engine
def test_objects_in_reports_and_exports(tmp_path: Path) -> None:
    assay(tmp_path, "run", write(tmp_path))
    check_whole_series(tmp_path)
    report = Path(assay(tmp_path, "report", "last").stdout.strip()).read_text()
    assert "Objects per lane" in report and "4KiB:70,64KiB:30" in report and "Mix (%)" in report
    assert "Cache keep" not in report, "nothing is said of page caches"
    exported = assay(tmp_path, "export", "last", "--format", "csv", "--output", "-").stdout
    rows = list(csv.DictReader(exported.splitlines()))
    assert {row["object_size"] for row in rows} >= {"4KiB", "64KiB", "1KiB..16KiB", "4KiB:70,64KiB:30", "12MiB"}
    assert {row["mix"] for row in rows if row["operation"] == "object_mix"} == {"get:45,put:15,head:30,delete:10"}
    for kind in ("xlsx", "parquet"):
        assay(tmp_path, "export", "last", "--format", kind, "--output", f"results.{kind}")


def check_whole_series(folder: Path) -> None:
    """Every request is in an interval."""
    rows = read_series(only_run(folder))
    with RunStore.open(only_run(folder)) as store:
        for sample in store.samples():
            key = (sample.case, sample.repeat, sample.phase)
            mine = [row for row in rows if (row["case"], row["repeat"], row["phase"]) == key]
            assert sum(row["object_ops"] for row in mine) == sample.ops


QUICK = """
study: secrets
question: Does Assay keep secrets?
targets: {none: {kind: "null"}}
workloads: {w: {operations: [put, get], object_size: 4KiB, objects: 10}}
repeats: 2
"""


@needs_engine
def test_engines_have_credentials_that_are_kept_nowhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    secrets = {
        "AWS_ACCESS_KEY_ID": "AKIAPLANTEDINTHETEST",
        "AWS_SECRET_ACCESS_KEY": "planted/in+the/test/and/found/nowhere/again",
        "AWS_SESSION_TOKEN": "token-planted-in-the-test",
    }
    for name, value in secrets.items():
        monkeypatch.setenv(name, value)
    tools, place = tmp_path / "tools", tmp_path / "place"
    tools.mkdir()
    place.mkdir()
    asked = " && ".join(f'[ "${name}" = "{value}" ]' for name, value in secrets.items())
    engine = tools / "assay-engine"
    engine.write_text(f'#!/bin/sh\n[ "$1" != run ] || {{ {asked}; }} || exit 9\nexec {find_engine()} "$@"\n')
    engine.chmod(engine.stat().st_mode | stat.S_IXUSR)
    monkeypatch.setenv("ASSAY_ENGINE", str(engine))

    told = [assay(place, "run", write(place, QUICK))]
    check_whole(place, phases=2)
    told += [assay(place, "report", "last"), assay(place, "show", "last", "c0001"), assay(place, "env", "last")]
    told += [
        assay(place, "show", "last", "c0001", "--json"),
        assay(place, "export", "last", "--format", "csv", "--output", "-"),
    ]
    with RunStore.open(only_run(place)) as store:
        kept = [store.info().model_dump_json(), *(json.dumps(job.job) for job in store.jobs())]
        kept += [store.events(job.case, job.repeat) for job in store.jobs()]
    kept += [output for done in told for output in (done.stdout, done.stderr)]
    found = "\n".join(kept).encode() + b"".join(
        Path(folder, name).read_bytes() for folder, _, names in os.walk(place) for name in names
    )
    assert [name for name, value in secrets.items() if value.encode() in found] == []
