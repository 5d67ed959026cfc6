"""Runs whose engine spoke an older contract: nothing is measured on."""

import contextlib
import json
import sqlite3
import zlib
from pathlib import Path

import pytest
from run_tools import assay, needs_engine, only_run, study

from assay.store import RunStore
from assay.store.entries import DATABASE

EVENTS = '{"event":"hello","spec_version":1}\n{"event":"interval","read":{"ops":1,"bytes":1}}\n'


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


@pytest.fixture
def older(tmp_path: Path) -> Path:
    assay(tmp_path, "run", str(study(tmp_path)))
    run = only_run(tmp_path)
    make_older(run)
    return run


@needs_engine
def test_an_older_run_is_not_gone_on_with(older: Path, tmp_path: Path) -> None:
    with contextlib.closing(sqlite3.connect(older / DATABASE)) as database, database:
        database.execute("UPDATE run SET status = 'interrupted'")
    said = assay(tmp_path, "run", older.name, "--resume", expect=3).stderr
    assert f"run {older.name} was measured by an older Assay (contract 1, this one has 2)" in said
    assert "measure its study again with `assay run STUDY`, or resume it with the version that began it" in said
    with RunStore.open(older) as store:
        assert store.contract_version() == 1 and store.current_status() == "interrupted"
        assert len(store.sessions()) == 1
