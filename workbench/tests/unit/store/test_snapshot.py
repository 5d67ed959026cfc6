"""A run's folder of somebody else is read: nothing that it leads to is read, nothing anywhere written or removed."""

import os
import sqlite3
import struct
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from builders import make_meta

from assay.model.base import AssayError
from assay.rooms.slurm.work.record import last_output_lines, output_size, read_batch
from assay.store import RunStore, find_run, list_runs, new_run_id, run_is_alive, snapshot
from assay.store.entries import ALL_FILES, DATABASE, FOREIGN_JOURNAL_END, JOURNAL, STUDY, WAL
from assay.store.heartbeat import last_alive
from assay.store.prices import read_prices
from assay.store.safe_files import plain_file_status
from assay.store.schema import SCHEMA_VERSION

SECRET = "root:x:0:0: not for others"


def made(root: Path, name: str = "tiny") -> Path:
    meta = make_meta(id=new_run_id(name, 1.8e9), study=name)
    with RunStore.create(root, meta, (), (), (), f"study: {name}\n") as store:
        store.set_status("complete")
        return store.folder


def hot_journal(database: Path, names: Path | None) -> None:
    """As a process leaves one that was killed inside a transaction, which is to be undone."""
    page = struct.unpack(">H", database.read_bytes()[16:18])[0]
    begin = FOREIGN_JOURNAL_END + struct.pack(">IIIII", 0, 0, database.stat().st_size // page, 512, page)
    name = b"" if names is None else str(names).encode()
    total = sum(struct.unpack(f"{len(name)}b", name))
    end = struct.pack(">I", 2**30 // page + 1) + name + struct.pack(">Ii", len(name), total) + FOREIGN_JOURNAL_END
    database.with_name(f"{database.name}-journal").write_bytes(begin.ljust(512, b"\0") + (end if name else b""))


def tree(folder: Path) -> dict[str, object]:
    """All that there is below a folder, without opening what is special."""
    found: dict[str, object] = {}
    for path in sorted(folder.rglob("*")):
        about = path.lstat()
        facts = (about.st_mode, about.st_ino, about.st_mtime_ns, about.st_nlink)
        found[str(path)] = (*facts, path.read_bytes() if path.is_file() and not path.is_symlink() else b"")
    return found


def every_reader(folder: Path) -> Iterator[Callable[[], object]]:
    yield lambda: list_runs(folder.parent)
    yield lambda: RunStore.open(folder).info()
    yield lambda: read_batch(folder)
    yield lambda: (output_size(folder), last_output_lines(folder))
    yield lambda: last_alive(folder)
    yield lambda: read_prices(folder, "prices: x")
    yield lambda: run_is_alive(folder)


KINDS: dict[str, Callable[[Path, Path], None]] = {
    "link": lambda path, theirs: path.symlink_to(theirs),
    "hard link": lambda path, theirs: path.hardlink_to(theirs),
    "pipe": lambda path, _: os.mkfifo(path),
    "folder": lambda path, _: path.mkdir(),
}


@pytest.mark.parametrize("kind", KINDS)
def test_no_name_of_a_run_leads_anywhere(tmp_path: Path, kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of all names, by all readers: the others are still listed, and nothing has changed."""
    monkeypatch.chdir(tmp_path)
    made(tmp_path / "runs", "other")
    theirs = tmp_path / "theirs"
    theirs.write_text(SECRET)
    for number, name in enumerate(ALL_FILES):
        folder = made(Path("runs"), f"r{number}")
        (folder / name).unlink(missing_ok=True)
        KINDS[kind](folder / name, theirs.absolute())
        before = tree(tmp_path)
        for read in every_reader(folder):
            try:
                assert SECRET not in repr(read())
            except AssayError as error:
                assert "not a file of a run" in error.message or "is missing" in error.message, (name, error.message)
                assert SECRET not in str(error)
        assert tree(tmp_path) == before, name
        assert next(run.study for run in list_runs(Path("runs")) if not run.problem) == "other"
        for path in [*folder.iterdir()]:
            path.rmdir() if path.is_dir() and not path.is_symlink() else path.unlink()
        folder.rmdir()


@pytest.mark.parametrize("through", ["a link to the database", "its own journal"])
def test_reading_a_run_removes_no_file(tmp_path: Path, through: str) -> None:
    folder = made(tmp_path / "runs")
    precious = tmp_path / "precious"
    precious.write_text("mine")
    database = folder / DATABASE
    if through == "a link to the database":
        database.rename(tmp_path / "elsewhere.sqlite")
        database.symlink_to(tmp_path / "elsewhere.sqlite")
        database = tmp_path / "elsewhere.sqlite"
    hot_journal(database, precious)
    before = tree(tmp_path)
    for _ in range(2):
        with pytest.raises(AssayError, match=r"symbolic link|names another file"):
            RunStore.open(folder)
        with pytest.raises(AssayError, match=r"symbolic link|names another file"):
            RunStore.open(folder, write=True)
    assert tree(tmp_path) == before


def test_what_a_killed_process_left_is_undone_in_a_copy_only(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    private = tmp_path / "private"
    private.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(private))
    folder = made(tmp_path / "runs")
    hot_journal(folder / DATABASE, None)
    os.utime(folder / DATABASE, (1, 1))
    os.utime(folder / JOURNAL, (1, 1))
    before = tree(tmp_path / "runs")
    with RunStore.open(folder) as store:
        assert store.info().study == "tiny"
    assert tree(tmp_path / "runs") == before
    assert list(private.iterdir()) == []


def test_a_run_is_not_read_from_what_gets_its_name_meanwhile(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """SQLite opens a path, which leads elsewhere by then: to another run, or to a pipe."""
    monkeypatch.setattr(snapshot, "OPEN_TIMEOUT_SECONDS", 0.2)
    monkeypatch.setattr(snapshot, "MAX_ATTEMPTS", 1)
    folder, other = made(tmp_path / "runs", "mine"), made(tmp_path / "others", "secret")
    connect = snapshot._Opener.connect

    def swapped(make: Callable[[Path], object]) -> Callable[[str], sqlite3.Connection]:
        def connecting(uri: str) -> sqlite3.Connection:
            (folder / DATABASE).rename(folder / "aside")
            make(folder / DATABASE)
            try:
                # What SQLite makes of the descriptor, had it looked a moment before.
                return connect(f"{(folder / DATABASE).as_uri()}?{uri.partition('?')[2]}")
            finally:
                (folder / DATABASE).unlink()
                (folder / "aside").rename(folder / DATABASE)

        return connecting

    makers: list[Callable[[Path], object]] = [lambda path: path.symlink_to(other / DATABASE), os.mkfifo]
    for make in makers:
        monkeypatch.setattr(snapshot._Opener, "connect", swapped(make))
        with pytest.raises(AssayError, match=r"changes faster|was not opened"):
            RunStore.open(folder)
    monkeypatch.setattr(snapshot._Opener, "connect", connect)
    with RunStore.open(folder) as store:
        assert store.info().study == "mine"


def test_names_that_change_all_the_time_never_show_another_run(tmp_path: Path) -> None:
    folder, other = made(tmp_path / "runs", "mine"), made(tmp_path / "others", "secret")
    over = threading.Event()

    def change() -> None:
        link, good, aside = folder / DATABASE, (folder / DATABASE).read_bytes(), folder / "aside"
        while not over.is_set():
            aside.symlink_to(other / DATABASE)
            aside.rename(link)
            aside.write_bytes(good)
            aside.rename(link)

    thread = threading.Thread(target=change)
    thread.start()
    try:
        for _ in range(150):
            try:
                with RunStore.open(folder) as store:
                    assert store.study_text() == "study: mine\n"
                    assert store._db.execute("SELECT study FROM run").fetchone() == ("mine",)
            except AssayError:
                continue
    finally:
        over.set()
        thread.join()


WRITER = """
import sys
from pathlib import Path
from assay.store import RunStore
with RunStore.open(Path(sys.argv[1]), write=True) as store:
    store.set_status("running")
    for number in range(int(sys.argv[2])):
        store.record("pair", f"{number} a", {"x": "y" * 100000})
        store.describe(answers=(str(len(store.entries())),))
        if number == 3:
            print("go", flush=True)
    if sys.argv[3:]:
        sys.stdin.read()
"""


def test_a_run_that_is_being_written_is_read_whole(tmp_path: Path) -> None:
    """Through several checkpoints of its log; entries, and their number, are one transaction apart."""
    folder = made(tmp_path / "runs")
    words = [sys.executable, "-c", WRITER, str(folder), "60"]
    seen = set()
    with subprocess.Popen(words, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout
        process.stdout.readline()
        while process.poll() is None:
            with RunStore.open(folder) as store:
                entries, told = len(store.entries()), int(store.info().answers[0])
                assert entries - told in (0, 1)
                seen.add(entries)
    assert process.returncode == 0
    assert len(seen) > 1


def test_a_run_whose_writer_waits_shows_its_last_transaction(tmp_path: Path) -> None:
    folder = made(tmp_path / "runs")
    words = [sys.executable, "-c", WRITER, str(folder), "4", "wait"]
    with subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout and process.stdin
        process.stdout.readline()
        before = tree(folder)
        with RunStore.open(folder) as store:
            assert store.info().status == "running"
            assert store.info().answers == ("4",)
        assert tree(folder) == before
        assert plain_file_status(folder, WAL)
        process.stdin.close()


STRANGE = {
    "a view that never ends": "ALTER TABLE run RENAME TO r; CREATE VIEW run AS WITH RECURSIVE c (x) AS"
    " (SELECT 1 UNION ALL SELECT x + 1 FROM c) SELECT * FROM r, c WHERE x < 0",
    "a trigger": "CREATE TRIGGER t AFTER INSERT ON run BEGIN DELETE FROM run; END",
    "a virtual table": "CREATE VIRTUAL TABLE v USING fts5 (a)",
    "a column that is computed": "ALTER TABLE run ADD COLUMN x AS (length(zeroblob(1000000000)))",
    "an index on an expression": "CREATE INDEX i ON run (hex(zeroblob(100000000)))",
}


@pytest.mark.parametrize("what", STRANGE)
def test_tables_that_no_run_has_are_not_asked_anything(tmp_path: Path, what: str) -> None:
    folder = made(tmp_path / "runs")
    connection = sqlite3.connect(folder / DATABASE)
    if "expression" in what:
        connection.execute("DELETE FROM run")
    connection.executescript(STRANGE[what])
    connection.close()
    for write in (False, True):
        with pytest.raises(AssayError, match="in its database is not part of a run"):
            RunStore.open(folder, write=write)
    (summary,) = list_runs(tmp_path / "runs")
    assert "is not part of a run" in summary.problem


def test_statistics_of_sqlite_are_no_harm(tmp_path: Path) -> None:
    folder = made(tmp_path / "runs")
    connection = sqlite3.connect(folder / DATABASE)
    connection.execute("ANALYZE")
    connection.close()
    with RunStore.open(folder) as store:
        assert store.info().study == "tiny"


def test_what_claims_to_be_large_takes_no_room(tmp_path: Path) -> None:
    folder = made(tmp_path / "runs")
    os.truncate(folder / DATABASE, 1 << 38)
    (folder / WAL).write_bytes(b"x" * 100)
    with (folder / JOURNAL).open("wb") as journal:
        journal.truncate(1 << 38)
    os.utime(folder / DATABASE, (1, 1))
    os.utime(folder / JOURNAL, (1, 1))
    try:
        RunStore.open(folder).close()
    except AssayError as error:
        assert "cannot be" in error.message


def test_a_link_to_a_run_is_followed_if_it_is_named(tmp_path: Path) -> None:
    folder, runs = made(tmp_path / "elsewhere"), tmp_path / "runs"
    runs.mkdir()
    (runs / "mine").symlink_to(folder)
    (summary,) = list_runs(runs)
    assert "is a symbolic link" in summary.problem
    for ref, root in (("mine", runs), (str(runs / "mine"), tmp_path)):
        assert find_run(ref, root) == folder
    with pytest.raises(AssayError, match="is a symbolic link"):
        RunStore.open(find_run("min", runs))


def test_the_version_is_known_before_the_tables(tmp_path: Path) -> None:
    folder = made(tmp_path / "runs")
    connection = sqlite3.connect(folder / DATABASE)
    connection.executescript(
        f"DROP TABLE settled; CREATE TABLE settled (b); PRAGMA user_version = {SCHEMA_VERSION + 1}"
    )
    connection.close()
    with pytest.raises(AssayError, match="written by a newer Assay"):
        RunStore.open(folder)
    assert (folder / STUDY).exists()
