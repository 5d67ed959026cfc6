"""How operations reach the kernel is found out once for a run, and no row mixes two ways."""

import json
import sqlite3
import subprocess
from pathlib import Path

import pytest
from run_tools import ENGINE, assay, needs_engine, only_run, study

from assay.store import RunStore

pytestmark = needs_engine

DEEP = {"operations": "write, rewrite, random_read", "record": "[4KiB, 64KiB]"}


@pytest.fixture
def places(tmp_path: Path) -> str:
    """Targets on the disk and in memory."""
    memory = Path("/dev/shm") / f"assay-methods-{tmp_path.name}"
    return f", path: {tmp_path}/target}}\n  memory: {{kind: file, path: {memory}"


def test_a_run_asks_once_and_keeps_to_it(tmp_path: Path, places: str) -> None:
    assay(tmp_path, "run", str(study(tmp_path, **DEEP, more=places, extra="queue_depth: [1, 8]")))
    with RunStore.open(only_run(tmp_path)) as store:
        known = store.info().methods
        cases = {case.id: case for case in store.cases()}
        jobs, samples = store.jobs(), list(store.samples())
    assert {(one.target, one.record_size, one.queue_depth) for one in known} == {
        (target, size, 8) for target in ("place", "memory") for size in (4096, 65536)
    }
    assert {one.direction for one in known} == {"read", "create", "overwrite"}
    found = {(one.target, one.record_size, one.direction): one for one in known}
    directions = {"write": "create", "rewrite": "overwrite", "random_read": "read"}
    for sample in samples:
        case = cases[sample.case]
        if case.parameters.queue_depth == 1:
            assert (sample.method, sample.method_reason) == (
                "sync",
                "one operation in flight: io_uring has nothing to batch",
            )
            continue
        choice = found[case.target, case.parameters.record_size, directions[sample.operation]]
        assert sample.method == choice.method
        assert sample.method_reason.startswith(choice.reason)
    assert len(samples) == len(jobs) * 3


def test_a_run_that_goes_on_keeps_what_it_began_with(tmp_path: Path) -> None:
    file = study(tmp_path, **DEEP, extra="queue_depth: 4", repeats=2)
    assay(tmp_path, "run", str(file))
    run = only_run(tmp_path)
    with sqlite3.connect(run / "run.sqlite") as database:
        (text,) = database.execute("SELECT details FROM run").fetchone()
        details = json.loads(text)
        for choice in details["methods"]:
            choice["method"], choice["reason"] = "threads", "as it was found"
        database.execute("UPDATE run SET details = ?", (json.dumps(details),))
        for table in ("samples", "outcomes", "attempts"):
            database.execute(f"DELETE FROM {table} WHERE repeat = 2")
        database.execute("UPDATE run SET status = 'interrupted'")
    assay(tmp_path, "run", "--resume", run)
    with RunStore.open(run) as store:
        again = [sample for sample in store.samples() if sample.repeat == 2]
    assert again
    assert {(sample.method, sample.method_reason) for sample in again} == {("threads", "as it was found")}


def test_a_study_may_name_threads(tmp_path: Path) -> None:
    assay(tmp_path, "run", str(study(tmp_path, **DEEP, extra="queue_depth: 4\n    method: threads\n    verify: true")))
    with RunStore.open(only_run(tmp_path)) as store:
        assert store.info().methods == ()
        assert {(sample.method, sample.method_reason) for sample in store.samples()} == {("threads", "requested")}


def test_the_engine_answers_the_same_each_time(tmp_path: Path) -> None:
    target = tmp_path / "target"
    target.mkdir()
    (target / ".assay-target").write_text('{"run": "", "created_by_assay": false}')
    shape = {"record_size_bytes": 4096, "queue_depth": 8, "direct": False, "sync": "fsync", "preallocate": False}
    question = {"target": {"kind": "file", "root": str(target), "directory": "any"}, "shapes": [shape]}

    def answer() -> str:
        asked = [ENGINE, "methods", "-"]
        return subprocess.run(asked, input=json.dumps(question), capture_output=True, text=True, check=True).stdout

    assert len({answer() for _ in range(5)}) == 1
    assert [path.name for path in target.iterdir()] == [".assay-target"]
