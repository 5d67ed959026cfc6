"""Runs on disk: nothing lost, nothing twice, whatever dies."""

import contextlib
import errno
import json
import os
import signal
import sqlite3
import subprocess
import sys
import textwrap
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from series_tools import read_series

from assay.model.base import EXIT_INCOMPLETE, EXIT_REFUSED, AssayError
from assay.model.result.run import TargetPlace
from assay.model.result.sample import ErrorTally, Sample
from assay.model.study.case import Case, ExcludedPoint
from assay.model.study.parameters import Parameters
from assay.store import RunMeta, RunStore, find_run, list_runs, lock_holders, new_run_id, run_is_alive
from assay.store.schema import SCHEMA_VERSION

STUDY = "study: tiny  # verbatim, ä\r\nquestion: why?\n"
JOB = {"spec_version": 2, "id": "x"}


def case(number: int) -> Case:
    return Case(
        id=f"c{number:04}",
        target="disk",
        workload="grid",
        operations=("write", "read"),
        parameters=Parameters(file_size=1 << 20, record_size=4096),
        axes={"record_size": 4096},
        label=f"disk / grid / {number}",
    )


def sample(case_id: str, repeat: int, phase: int = 0, **more: object) -> Sample:
    fields = {"operation": "write", "status": "done", "started_at": 1.5, "throughput": 2e6, "iops": 500.0, **more}
    return Sample(case=case_id, repeat=repeat, phase=phase, **fields)


def create(root: Path, cases: int = 2, repeats: int = 2, name: str = "tiny", at: float = 1.8e9) -> RunStore:
    meta = RunMeta(
        id=new_run_id(name, at),
        study=name,
        question="why?",
        description="",
        created_at=at,
        seed=7,
        order="random",
        repeats=repeats,
        command="assay run tiny.yaml",
        base="/base",
        versions={"assay": "0"},
    )
    planned = tuple(case(number) for number in range(1, cases + 1))
    excluded = (ExcludedPoint(target="disk", workload="grid", axes={}, rule="slow", reason="an hour"),)
    order = [(item.id, repeat) for repeat in range(1, repeats + 1) for item in reversed(planned)]
    return RunStore.create(root, meta, planned, excluded, order, STUDY)


def finish(store: RunStore, case_id: str, repeat: int, status: str = "ok", samples: tuple[Sample, ...] = ()) -> None:
    attempt = store.begin_attempt(case_id, repeat, JOB)
    store.finish_repeat(attempt, status, 0.5, "" if status == "ok" else "because", '{"event":"x"}\n', samples)


def test_what_was_put_in_comes_out(tmp_path: Path) -> None:
    places = (
        TargetPlace(
            target="disk",
            kind="file",
            path="/x",
            filesystem="ext4",
            memory_backed=False,
            direct_bypasses_cache=True,
            free_bytes=5,
            device="/dev/x",
        ),
    )
    tally = ErrorTally(kind="fault", name="ENOSPC", count=3, example="write /x/f at 0: No space left")
    measured = sample("c0002", 1, latency={"p50": 10.0}, errors=(tally,), device_read_bytes=0)
    with create(tmp_path) as store:
        store.describe(environment={"memory": {"total": "1 KiB"}}, places=places)
        finish(store, "c0002", 1, samples=(measured, sample("c0002", 1, 2)))
        folder = store.folder
    assert folder.name == "20270115-080000-tiny"
    with RunStore.open(folder) as store:
        info = store.info()
        assert (info.study_text, info.planned, info.finished, info.seed) == (STUDY, 4, 1, 7)
        assert (info.places, info.environment) == (places, {"memory": {"total": "1 KiB"}})
        assert info.versions == {"assay": "0"}
        assert store.base_folder() == "/base"
        assert store.cases() == (case(1), case(2))
        assert store.cases("c0002") == (case(2),)
        assert store.excluded()[0].rule == "slow"
        assert store.samples() == (measured, sample("c0002", 1, 2))
        assert store.samples("c0001") == ()
        assert store.events("c0002", 1) == '{"event":"x"}\n'
        assert store.events("c0001", 1) == ""
        job = store.jobs()[0]
        assert (job.case, job.repeat, job.status, job.attempts, job.job) == ("c0002", 1, "ok", 1, JOB)
        assert store.pending() == [("c0001", 1), ("c0002", 2), ("c0001", 2)]


def test_an_outcome_stands_and_a_crash_is_tried_again(tmp_path: Path) -> None:
    with create(tmp_path) as store:
        finish(store, "c0001", 1, "ok", (sample("c0001", 1),))
        with pytest.raises(AssayError, match="already has an outcome"):
            finish(store, "c0001", 1, "ok", (sample("c0001", 1, 5),))
        assert [item.phase for item in store.samples()] == [0]
        for status in ("crashed", "stopped"):
            finish(store, "c0002", 1, status, (sample("c0002", 1, status="crashed", throughput=0.0),))
            assert ("c0002", 1) in store.pending()
        finish(store, "c0002", 1, "errors", (sample("c0002", 1),))
        assert ("c0002", 1) not in store.pending()
        assert len(store.samples("c0002")) == 1
        assert store.jobs("c0002")[0].attempts == 3
        # The refused second outcome is gone with its transaction, but the attempt stays on record.
        assert [item.status for item in store.attempts("c0002")] == ["crashed", "stopped", "errors"]
        assert store.outcome_counts() == {"errors": 1, "ok": 1}


def test_an_attempt_stopped_by_the_user_leaves_no_outcome(tmp_path: Path) -> None:
    with create(tmp_path) as store:
        attempt = store.begin_attempt("c0001", 1, JOB)
        store.abandon_attempt(attempt, 1.0, "stopped by the user", "")
        lost = store.begin_attempt("c0001", 1, JOB)
        assert store.close_lost_attempts("the workbench died") == 1
        assert [(item.id, item.status) for item in store.attempts()] == [(attempt, "stopped"), (lost, "crashed")]
        assert len(store.pending()) == 4
        assert store.info().finished == 0


def test_a_phase_stored_twice_rolls_everything_back(tmp_path: Path) -> None:
    with create(tmp_path) as store:
        attempt = store.begin_attempt("c0001", 1, JOB)
        twice = (sample("c0001", 1), sample("c0001", 1))
        with pytest.raises(sqlite3.IntegrityError):
            store.finish_repeat(attempt, "ok", 1.0, "", "", twice)
        assert (store.samples(), store.jobs(), store.attempts()[0].status) == ((), (), "started")


def test_an_unknown_repeat_is_refused(tmp_path: Path) -> None:
    with create(tmp_path) as store, pytest.raises(sqlite3.IntegrityError):
        store.begin_attempt("c0001", 99, JOB)


def test_journal_is_newest_first_and_remembers_what_is_gone(tmp_path: Path) -> None:
    with create(tmp_path) as store:
        first = store.record("directory", "/a", {"made": True})
        assert store.record("directory", "/a") == first
        second = store.record("cgroup", "/b")
        assert [entry.id for entry in store.entries()] == [second, first]
        assert store.entries()[1].details == {"made": True}
        store.mark_removed(first)
        assert [entry.id for entry in store.entries()] == [second]
        assert len(store.entries(only_open=False)) == 2
        assert store.record("directory", "/a") > second


def test_second_process_is_refused_and_a_reader_is_not(tmp_path: Path) -> None:
    with create(tmp_path) as store:
        program = "import sys; from pathlib import Path; from assay.store import RunStore;"
        program += "RunStore.open(Path(sys.argv[1]), write=True)"
        done = subprocess.run([sys.executable, "-c", program, str(store.folder)], capture_output=True, text=True)
        assert done.returncode != 0
        assert "is being executed by another process" in done.stderr
        with pytest.raises(AssayError) as caught:
            RunStore.open(store.folder, write=True)
        assert caught.value.exit_code == EXIT_REFUSED
        with RunStore.open(store.folder) as reader:
            assert reader.info().status == "running"
        assert run_is_alive(store.folder)
    assert not run_is_alive(store.folder)
    RunStore.open(store.folder, write=True).close()


def test_engine_lock_outlives_the_workbench(tmp_path: Path) -> None:
    store = create(tmp_path)
    engine = subprocess.Popen(["sleep", "60"], pass_fds=[store.engine_lock_fd])
    store.close()
    try:
        assert run_is_alive(store.folder)
        assert lock_holders(store.folder / "engine.lock") == [engine.pid]
        with pytest.raises(AssayError, match="another process"):
            RunStore.open(store.folder, write=True, wait=0.1)
    finally:
        engine.kill()
        engine.wait()
    RunStore.open(store.folder, write=True, wait=5).close()


WRITER = textwrap.dedent("""
    import sys
    from pathlib import Path
    from assay.model.result.sample import Sample
    from assay.store import RunStore
    store = RunStore.open(Path(sys.argv[1]), write=True, wait=5)
    store.close_lost_attempts("died")
    for case, repeat in store.pending():
        attempt = store.begin_attempt(case, repeat, {"case": case})
        print("go", flush=True)
        sys.stdin.readline()
        samples = [Sample(case=case, repeat=repeat, phase=p, operation="read", status="done", started_at=0,
                       histogram="x" * 5000) for p in range(20)]
        store.finish_repeat(attempt, "ok", 0.1, "", f"{case} {repeat} " * 5000, samples)
    store.set_status("complete")
    store.close()
""")


CUT_SHORT = """
import os, signal, sqlite3, sys
db = sqlite3.connect(sys.argv[1], isolation_level=None)
db.execute("PRAGMA journal_mode = DELETE")
db.execute("PRAGMA cache_size = 2")
db.execute("BEGIN")
for number in range(200):
    db.execute("INSERT INTO journal VALUES (NULL, 'x', ?, '', 0, NULL)", ("x" * 5000,))
os.kill(os.getpid(), signal.SIGKILL)
"""


def test_transaction_that_kill_9_cut_short_is_undone_when_the_run_is_read(tmp_path: Path) -> None:
    with create(tmp_path) as store:
        folder = store.folder
        before = len(store.entries())
    subprocess.run([sys.executable, "-c", CUT_SHORT, str(folder / "run.sqlite")], check=False)
    assert (folder / "run.sqlite-journal").stat().st_size > 0
    left = {path.name: path.read_bytes() for path in folder.iterdir()}
    with RunStore.open(folder) as reader:
        assert len(reader.entries()) == before
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == left
    with RunStore.open(folder, write=True) as store:
        assert len(store.entries()) == before
        assert not (folder / "run.sqlite-journal").exists()


def test_kill_9_between_and_inside_writes_loses_and_doubles_nothing(tmp_path: Path) -> None:
    with create(tmp_path, cases=60, repeats=2) as store:
        folder = store.folder
    for round_number in range(6):
        words, pipe = [sys.executable, "-c", WRITER, str(folder)], subprocess.PIPE
        with subprocess.Popen(words, stdin=pipe, stdout=pipe, text=True) as process:
            assert process.stdin and process.stdout
            process.stdout.readline()
            # It writes one repeat, and waits before the next: however late the signal comes, something is left to do.
            process.stdin.write("\n")
            process.stdin.flush()
            time.sleep(0.008 * round_number)
            process.send_signal(signal.SIGKILL)
        assert process.returncode == -signal.SIGKILL
        with RunStore.open(folder) as reader:
            done = {(job.case, job.repeat) for job in reader.jobs()}
            samples = reader.samples()
            assert len(samples) == 20 * len(done)
            assert {(item.case, item.repeat) for item in samples} == done
            assert all(reader.events(*key) == f"{key[0]} {key[1]} " * 5000 for key in done)
            assert done.isdisjoint(reader.pending())
            assert reader.info().status in ("interrupted", "complete")
    subprocess.run([sys.executable, "-c", WRITER, str(folder)], check=True, stdin=subprocess.DEVNULL)
    with RunStore.open(folder) as reader:
        keys = [(job.case, job.repeat) for job in reader.jobs()]
        assert sorted(keys) == sorted(reader.order())
        assert len(set(keys)) == len(keys) == 120
        assert reader.info().status == "complete"
        assert reader._db.execute("PRAGMA integrity_check").fetchone() == ("ok",)


def test_creation_that_was_cut_short_leaves_no_run_and_is_swept_up(tmp_path: Path) -> None:
    dead = subprocess.Popen(["true"])
    dead.wait()
    left = tmp_path / f".new-{dead.pid}-20270115-080000-tiny"
    left.mkdir(parents=True)
    (left / "run.sqlite").write_bytes(b"half")
    ours = tmp_path / f".new-{os.getpid()}-other"
    ours.mkdir()
    assert list_runs(tmp_path) == []
    create(tmp_path).close()
    assert not left.exists()
    assert ours.exists()
    assert [run.id for run in list_runs(tmp_path)] == ["20270115-080000-tiny"]


def test_two_runs_in_one_second_get_their_own_folders(tmp_path: Path) -> None:
    for _ in range(2):
        create(tmp_path).close()
    assert [run.id for run in list_runs(tmp_path)] == ["20270115-080000-tiny", "20270115-080000-tiny-2"]


def test_run_folder_that_cannot_be_made_is_one_clear_line(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(AssayError, match="cannot store runs here") as caught:
        create(tmp_path / "file")
    assert "--out" in caught.value.hint


def test_newer_broken_and_missing_databases_are_told_apart(tmp_path: Path) -> None:
    with create(tmp_path) as store:
        folder = store.folder
    for version, who in ((SCHEMA_VERSION - 1, "an older Assay"), (SCHEMA_VERSION + 1, "a newer Assay")):
        connection = sqlite3.connect(folder / "run.sqlite")
        connection.execute(f"PRAGMA user_version = {version}")
        connection.close()
        for write in (False, True):
            with pytest.raises(AssayError, match=who):
                RunStore.open(folder, write=write)
    assert list_runs(tmp_path)[0].status == "unreadable"
    (folder / "run.sqlite").write_bytes(b"x" * 5000)
    with pytest.raises(AssayError, match="cannot be read"):
        RunStore.open(folder)
    with pytest.raises(AssayError, match="not a run"):
        RunStore.open(tmp_path)


def test_find_run(tmp_path: Path) -> None:
    for name, at in (("alpha", 1.8e9), ("alps", 1.8e9 + 1), ("beta", 1.7e9)):
        create(tmp_path, name=name, at=at).close()
    assert find_run("last", tmp_path).name == "20270115-080001-alps"
    assert find_run("2023", tmp_path).name.endswith("beta")
    assert find_run("20270115-080000-alpha", tmp_path).name.endswith("alpha")
    assert find_run(str(tmp_path / "20270115-080000-alpha"), Path("/nowhere")).name.endswith("alpha")
    with pytest.raises(AssayError, match="fits 2 runs"):
        find_run("2027", tmp_path)
    with pytest.raises(AssayError, match="no run or study 'x'"):
        find_run("x", tmp_path)
    with pytest.raises(AssayError, match="there are no runs"):
        find_run("last", tmp_path / "none")


def test_a_renamed_folder_is_found_by_its_name_and_by_the_id(tmp_path: Path) -> None:
    for name in ("alpha", "beta"):
        create(tmp_path, name=name).close()
    (tmp_path / "20270115-080000-alpha").rename(tmp_path / "baseline")
    for name in ("baseline", "base", "20270115-080000-alpha", "20270115-080000-a"):
        assert find_run(name, tmp_path) == tmp_path / "baseline"
    with pytest.raises(AssayError, match=r"fits 2 runs in .*: baseline, 20270115-080000-beta"):
        find_run("2027", tmp_path)
    (tmp_path / "other").mkdir()
    with pytest.raises(AssayError, match="is not a run"):
        find_run(str(tmp_path / "other"), tmp_path)
    (tmp_path / "fio.json").write_text("{}")
    for root in (tmp_path, tmp_path / "none"):
        with pytest.raises(AssayError, match=r"fio\.json is a file, not a run"):
            find_run(str(tmp_path / "fio.json"), root)


DAMAGE = {
    "UPDATE run SET details = 'x'": "invalid JSON",
    "UPDATE run SET details = 'null'": "a mapping is expected",
    "UPDATE run SET details = json_remove(details, '$.versions', '$.places')": "versions, places missing",
    "UPDATE run SET details = json_set(details, '$.places', NULL)": "unexpected structure",
    "UPDATE run SET details = json_set(details, '$.environment', 1)": "RunInfo.environment: ",
    "UPDATE cases SET document = '{}'": "Case.id: field required",
    "DELETE FROM run": "unexpected structure",
    "DELETE FROM cases": "planned cases are missing, for example c0001",
    "UPDATE cases SET document = CAST(x'ff' AS TEXT)": "Could not decode to UTF-8",
    "DROP TABLE outcomes": "no such table",
    "UPDATE cases SET document = json_set(document, '$.id', 'x')": "case `c0001` is called `x`",
    "UPDATE cases SET document = json_set(document, '$.operations', json('[]'))": "`c0001` has no operations",
    "UPDATE cases SET document = json_set(document, '$.operations[0]', 'x')": "an unknown operation `x`",
    "INSERT INTO results SELECT 1, id, 'write', 'x', 1, 1, 1, 1, 3, '', '', '', 1 FROM cases LIMIT 1": "verdict `x`",
    "INSERT INTO results SELECT 1, id, 'write', 'ok', 1, 1, 1, 1, 3, '', 'x', '', 1 FROM cases LIMIT 1": "verdict `x`",
}


@pytest.mark.parametrize("statement", DAMAGE)
def test_a_damaged_run_is_told_in_one_line(tmp_path: Path, statement: str) -> None:
    with create(tmp_path) as store:
        folder = store.folder
    with contextlib.closing(sqlite3.connect(folder / "run.sqlite")) as database, database:
        database.execute(statement)
    with RunStore.open(folder) as store, pytest.raises(AssayError) as told:
        store.info()
        store.cases()
        store.verdict_counts()
        store.results()
    assert told.value.message.startswith(f"{folder} is damaged: ") and DAMAGE[statement] in told.value.message
    assert "\n" not in told.value.message and told.value.hint == "restore it from a copy"
    assert list_runs(tmp_path)[0].folder == str(folder)


def test_a_run_that_is_read_case_by_case_is_not_read_without_a_lost_case(tmp_path: Path) -> None:
    with create(tmp_path) as store:
        folder = store.folder
    with contextlib.closing(sqlite3.connect(folder / "run.sqlite")) as database, database:
        database.execute("DELETE FROM cases WHERE id = 'c0002'")
    with (
        RunStore.open(folder) as store,
        pytest.raises(AssayError, match="planned cases are missing, for example c0002"),
    ):
        next(store.cases_with_samples())


def test_exact_id_wins_over_prefix(tmp_path: Path) -> None:
    for _ in range(2):
        create(tmp_path).close()
    assert find_run("20270115-080000-tiny", tmp_path).name == "20270115-080000-tiny"


def test_finished_run_is_one_file_readable_from_a_read_only_folder(tmp_path: Path) -> None:
    with create(tmp_path) as store:
        store.set_status("complete")
        folder = store.folder
    assert not list(folder.glob("run.sqlite-*"))
    folder.chmod(0o555)
    try:
        assert list_runs(tmp_path)[0].status == "complete"
    finally:
        folder.chmod(0o755)


def test_names_of_runs_are_plain() -> None:
    assert new_run_id("a b/../c", 0) == "19700101-000000-a-b-..-c"
    assert new_run_id("...", 0) == "19700101-000000-study"
    assert len(new_run_id("x" * 300, 0)) < 110


def test_intervals_become_a_table_that_is_whole(tmp_path: Path) -> None:
    row = {"case": "c0001", "repeat": 1, "phase": 0, "operation": "write", "index": 0, "start_ns": 0, "end_ns": 5}
    row |= {
        "read_ops": 0,
        "read_bytes": 0,
        "write_ops": 1,
        "write_bytes": 2**40,
        "meta_ops": 3,
        "meta_bytes": 0,
        "errors": 0,
        "p50_ns": 7,
        "p99_ns": None,
        "object_ops": 0,
        "object_bytes": 0,
    }
    with create(tmp_path) as store:
        assert store.write_intervals(iter([row, {**row, "index": 1}])) == 2
        assert store.write_intervals(iter([row])) == 1
        table = read_series(store.folder)
        packed = (store.folder / "intervals.csv.gz").read_bytes()
        with pytest.raises(ZeroDivisionError):
            store.write_intervals({"index": 1 // zero} for zero in (0,))
        assert table == [row]
        assert read_series(store.folder) == [row]
        assert store.write_intervals([row]) == 1
        assert (store.folder / "intervals.csv.gz").read_bytes() == packed
        assert not list(store.folder.glob(".intervals*"))


def test_documents_are_plain_json(tmp_path: Path) -> None:
    with create(tmp_path) as store:
        finish(store, "c0001", 1, samples=(sample("c0001", 1),))
        text = store._db.execute("SELECT document FROM samples").fetchone()[0]
        assert json.loads(text)["throughput"] == 2e6


def test_disk_that_is_full_is_one_clear_line_whatever_is_written(tmp_path: Path) -> None:
    with create(tmp_path) as store:
        attempt = store.begin_attempt("c0001", 1, JOB)
        entry = store.record("directory", "/a")
        pages = store._db.execute("PRAGMA page_count").fetchone()[0]
        store._db.execute(f"PRAGMA max_page_count = {pages}")
        long = "x" * 10**6
        writes: list[Callable[[], object]] = [
            lambda: store.begin_attempt("c0001", 2, {"id": long}),
            lambda: store.record("directory", long),
            lambda: store.set_status(long),
            lambda: store.close_lost_attempts(long),
            lambda: store.describe(versions={"assay": long}),
            lambda: store.finish_repeat(attempt, "crashed", 1.0, long, "", ()),
            lambda: store.abandon_attempt(attempt, 1.0, long),
        ]
        for write in writes:
            with pytest.raises(AssayError, match="cannot be written: database or disk is full") as caught:
                write()
            assert caught.value.exit_code == EXIT_INCOMPLETE
            assert "--resume" in caught.value.hint
        store._db.execute("PRAGMA query_only = ON")
        with pytest.raises(AssayError, match="cannot be written"):
            store.mark_removed(entry)
        store._db.execute("PRAGMA query_only = OFF")
        store._db.execute("PRAGMA max_page_count = 1000000")
        finish(store, "c0001", 2)
        assert [item.id for item in store.entries()] == [entry]


def test_time_series_that_does_not_fit_is_one_clear_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object) -> int:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr("assay.store.run.write_series", full)
    with create(tmp_path) as store, pytest.raises(AssayError, match=r"intervals.csv.gz: cannot be written: No space"):
        store.write_intervals([])


def test_creation_that_fails_leaves_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object) -> None:
        raise sqlite3.OperationalError("database or disk is full")

    monkeypatch.setattr("assay.store.run._insert_plan", full)
    with pytest.raises(AssayError, match="cannot store runs here: database or disk is full"):
        create(tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_lock_that_is_a_fifo_keeps_nobody(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "run.lock")
    assert not run_is_alive(tmp_path)


def test_what_is_left_out_is_counted_by_reason(tmp_path: Path) -> None:
    with create(tmp_path) as store:
        assert store.excluded_counts() == [("grid", "slow", "an hour", 1)]


def test_nothing_is_written_where_the_folder_of_the_run_leads_by_then(tmp_path: Path) -> None:
    store = create(tmp_path / "runs")
    store.set_status("interrupted")
    foreign = tmp_path / "foreign"
    foreign.mkdir()
    os.utime(foreign, ns=(10**18, 10**18))
    store.folder.rename(tmp_path / "moved")
    store.folder.symlink_to(foreign)
    with pytest.raises(AssayError, match=r"the folder of the run was moved or replaced"):
        store.write_intervals([])
    store.close()
    assert foreign.stat().st_mtime_ns == 10**18
    assert list(foreign.iterdir()) == []


def test_nor_where_it_leads_while_the_series_is_written(tmp_path: Path) -> None:
    store = create(tmp_path / "runs")
    foreign = tmp_path / "foreign"
    foreign.mkdir()
    os.utime(foreign, ns=(10**18, 10**18))

    def rows() -> Iterator[dict[str, Any]]:
        store.folder.rename(tmp_path / "moved")
        store.folder.symlink_to(foreign)
        yield from ()

    assert store.write_intervals(rows()) == 0
    store.close()
    assert foreign.stat().st_mtime_ns == 10**18
    assert (tmp_path / "moved" / "intervals.csv.gz").is_file()
