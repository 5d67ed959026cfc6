"""Runs whose engine spoke an older contract: what is stored of them is shown and compared, nothing is measured on."""

import contextlib
import json
import sqlite3
import zlib
from pathlib import Path
from typing import Any

import pytest
from run_tools import assay, needs_engine, only_run, study

from assay.store import RunStore
from assay.store.entries import DATABASE

EVENTS = '{"event":"hello","spec_version":1}\n{"event":"interval","read":{"ops":1,"bytes":1}}\n'
FAILED = {"kind": "os", "errno": "EIO", "count": 2, "example": "read f0 at 0, 4096 bytes: Input/output error (EIO)"}


def _older(document: dict[str, Any]) -> dict[str, Any]:
    """A sample as it was stored when operations were not counted by kind."""
    del document["kinds"]
    if document["repeat"] == 2:
        document |= {"status": "failed", "errors": [FAILED]}
    return document


def make_older(run: Path) -> None:
    """Make a run one of contract 1."""
    with contextlib.closing(sqlite3.connect(run / DATABASE)) as database, database:
        for number, text in database.execute("SELECT id, job FROM attempts").fetchall():
            job = json.loads(text) | {"spec_version": 1}
            for phase in job["phases"]:
                phase["read_percent"] = 50
                del phase["mix"], phase["range_bytes"]
            events = zlib.compress(EVENTS.encode())
            database.execute("UPDATE attempts SET job = ?, events = ? WHERE id = ?", (json.dumps(job), events, number))
        for number, text in database.execute("SELECT id, document FROM samples").fetchall():
            written = json.dumps(_older(json.loads(text)))
            database.execute("UPDATE samples SET document = ? WHERE id = ?", (written, number))


@pytest.fixture
def older(tmp_path: Path) -> Path:
    assay(tmp_path, "run", str(study(tmp_path)))
    run = only_run(tmp_path)
    make_older(run)
    return run


@needs_engine
def test_what_is_stored_of_an_older_run_is_shown_and_compared(older: Path, tmp_path: Path) -> None:
    text = assay(tmp_path, "show", "last", "c0001").stdout
    assert "repeat 2: 2 x read f0 at 0, 4096 bytes: Input/output error (EIO)" in text and "of which" not in text
    shown = json.loads(assay(tmp_path, "show", "last", "c0001", "--json").stdout)
    failed = next(sample for sample in shown["rows"][0]["samples"] if sample["repeat"] == 2)
    assert failed["errors"][0]["name"] == "EIO" and failed["kinds"] == []
    assert "dmesg" in text
    assert Path(assay(tmp_path, "report", "last").stdout.strip()).is_file()
    assert assay(tmp_path, "export", "last", "--format", "csv", "-o", "-", "--table", "samples").stdout.count("\n") > 3
    assert assay(tmp_path, "export", "last", "--format", "csv", "-o", "-", "--table", "kinds").stdout.count("\n") == 1
    assay(tmp_path, "run", str(tmp_path / "study.yaml"))
    assert assay(tmp_path, "compare", older.name, "last").stdout


@needs_engine
def test_an_older_run_is_not_gone_on_with(older: Path, tmp_path: Path) -> None:
    with contextlib.closing(sqlite3.connect(older / DATABASE)) as database, database:
        database.execute("UPDATE run SET status = 'interrupted'")
    said = assay(tmp_path, "run", older.name, "--resume", expect=3).stderr
    assert f"run {older.name} was measured by an older Assay (contract 1, this one has 2)" in said
    assert "measure its study again with `assay run STUDY`, or go on with the version that began it" in said
    with RunStore.open(older) as store:
        assert store.contract() == 1 and store.info_status() == "interrupted"
        assert len(store.sessions()) == 1
