"""A run's folder that comes from somebody else: nothing that it leads to or names is written or removed."""

import json
import os
import sqlite3
import struct
import subprocess
import time
from pathlib import Path

import pytest
from builders import make_meta
from run_tools import assay, needs_engine, only_run, study
from stored_runs import store_run

from assay.model.base import EXIT_REFUSED, AssayError
from assay.plan.load import load_study
from assay.run.study_hosts import copy_study_files
from assay.store import RunStore, list_runs, new_run_id
from assay.store.entries import ALL_FILES, DATABASE, FOREIGN_JOURNAL_END, HEARTBEAT_NEW, INTERVALS, RUN_LOCK
from assay.store.heartbeat import Heartbeat

WRITABLE = [name for name in ALL_FILES if name not in (DATABASE,)]


def made(root: Path) -> RunStore:
    meta = make_meta(id=new_run_id("tiny", 1.8e9), study="tiny")
    return RunStore.create(root, meta, (), (), (), "study: tiny\nquestion: why?\n")


def closed(root: Path) -> Path:
    store = made(root)
    store.close()
    return store.folder


@pytest.mark.parametrize("name", ALL_FILES)
@pytest.mark.parametrize("kind", ["link", "dangling link", "folder", "pipe"])
def test_a_run_whose_files_lead_elsewhere_is_not_gone_on_with(tmp_path: Path, name: str, kind: str) -> None:
    folder = closed(tmp_path / "runs")
    theirs = tmp_path / "theirs"
    theirs.write_bytes((folder / DATABASE).read_bytes())
    before = theirs.read_bytes()
    path = folder / name
    path.unlink(missing_ok=True)
    if kind == "link":
        path.symlink_to(theirs)
    elif kind == "dangling link":
        path.symlink_to(tmp_path / "new")
    elif kind == "folder":
        path.mkdir()
    else:
        os.mkfifo(path)
    what = "(a symbolic link|a folder|a special file), not a file of a run"
    with pytest.raises(AssayError, match=f"{name}: is {what}") as error:
        RunStore.open(folder, write=True)
    assert error.value.exit_code == EXIT_REFUSED
    assert theirs.read_bytes() == before
    assert not (tmp_path / "new").exists()


def _hot_journal(database: Path, names: Path) -> None:
    """As a killed process leaves one that changes several databases together, and whose transaction is to be undone."""
    name = str(names).encode()
    page = struct.unpack(">H", database.read_bytes()[16:18])[0]
    header = FOREIGN_JOURNAL_END + struct.pack(">IIIII", 0, 0, database.stat().st_size // page, 512, page)
    sum_of_signed = sum(struct.unpack(f"{len(name)}b", name))
    record = (
        struct.pack(">I", 2**30 // page + 1) + name + struct.pack(">Ii", len(name), sum_of_signed) + FOREIGN_JOURNAL_END
    )
    database.with_name(f"{database.name}-journal").write_bytes(header.ljust(512, b"\0") + record)


def test_sqlite_deletes_what_such_a_journal_names(tmp_path: Path) -> None:
    """What the next test guards against is real."""
    database, theirs = tmp_path / "any.sqlite", tmp_path / "theirs"
    with sqlite3.connect(database) as connection:
        connection.execute("CREATE TABLE a (b)")
    connection.close()
    theirs.write_text("mine")
    _hot_journal(database, theirs)
    connection = sqlite3.connect(database)
    connection.execute("SELECT * FROM a").fetchall()
    connection.close()
    assert not theirs.exists()


@pytest.mark.parametrize("write", [True, False])
def test_a_journal_that_names_another_file_is_refused(tmp_path: Path, write: bool) -> None:
    folder = closed(tmp_path / "runs")
    theirs = tmp_path / "theirs"
    theirs.write_text("mine")
    _hot_journal(folder / DATABASE, theirs)
    with pytest.raises(AssayError, match="names another file"):
        RunStore.open(folder, write=write)
    (summary,) = list_runs(tmp_path / "runs")
    assert "names another file" in summary.problem
    assert theirs.exists()


def test_what_is_written_beside_a_file_does_not_follow_links(tmp_path: Path) -> None:
    """Also if the link comes while the run is open."""
    theirs = tmp_path / "theirs"
    theirs.write_text("mine")
    with made(tmp_path / "runs") as store:
        (store.folder / HEARTBEAT_NEW).symlink_to(theirs)
        (store.folder / f".{INTERVALS}.new").symlink_to(theirs)
        with Heartbeat(store.folder):
            pass
        store.write_intervals(iter(()))
        assert not (store.folder / INTERVALS).is_symlink()
        assert len(json.loads((store.folder / "alive.json").read_text())) == 1
    assert theirs.read_text() == "mine"


def test_a_companion_is_not_written_through_a_link(tmp_path: Path) -> None:
    (tmp_path / "box.yaml").write_text("name: x\n")
    text = (
        "study: s\nquestion: q?\ntestbed: box.yaml\ntargets: {a: {kind: file, path: /export/a}}\n"
        "workloads: {w: {operations: [read], file_size: 1MiB, record_size: 4KiB}}\n"
    )
    loaded = load_study(text.encode(), str(tmp_path))
    assert loaded.study is not None, loaded.problems
    folder = tmp_path / "run"
    folder.mkdir()
    (folder / "testbed.yaml").symlink_to(tmp_path / "new")
    copy_study_files(loaded.study, tmp_path, folder)
    assert not (tmp_path / "new").exists()


def test_only_unfinished_runs_are_removed_and_only_what_they_hold(tmp_path: Path) -> None:
    root = tmp_path / "runs"
    gone = subprocess.Popen(["true"])
    gone.wait()
    run = new_run_id("tiny", time.time())
    unfinished, guest = root / f".new-{gone.pid}-{run}", root / f".new-{gone.pid}-{run}-2"
    others = [
        root / name for name in (".new-notes", f".new-{gone.pid}", f".new-{gone.pid}-photos", f".new-x{gone.pid}-{run}")
    ]
    for folder in (unfinished, guest, *others):
        folder.mkdir(parents=True)
        (folder / DATABASE).write_text("x")
    for folder in (guest, *others):
        (folder / "letter.txt").write_text("mine")
    theirs = root / f".new-{gone.pid}-{run}-3"
    theirs.symlink_to(tmp_path)
    closed(root)
    assert not unfinished.exists()
    assert [path.name for path in guest.iterdir()] == ["letter.txt"]
    assert all((folder / DATABASE).exists() and (folder / "letter.txt").exists() for folder in others)
    assert theirs.is_symlink()


def test_a_run_that_is_given_up_takes_nothing_of_others_along(tmp_path: Path) -> None:
    store = made(tmp_path / "runs")
    (store.folder / "letter.txt").write_text("mine")
    (store.folder / "photos").mkdir()
    store.discard()
    assert sorted(path.name for path in store.folder.iterdir()) == ["letter.txt", "photos"]
    store = made(tmp_path / "runs")
    store.discard()
    assert not store.folder.exists()


def test_a_lock_that_is_a_folder_is_one_line(tmp_path: Path) -> None:
    folder = closed(tmp_path / "runs")
    (folder / RUN_LOCK).unlink()
    (folder / RUN_LOCK).mkdir()
    done = assay(tmp_path, "run", str(folder), "--resume", expect=EXIT_REFUSED)
    assert f"{RUN_LOCK}: is a folder, not a file of a run" in done.stderr


@needs_engine
def test_what_a_foreign_journal_names_stays(tmp_path: Path) -> None:
    """A run that comes from elsewhere names directories of this machine, as groups, directories and unknown things."""
    file = str(study(tmp_path, repeats=1))
    assay(tmp_path, "run", file)
    folder = only_run(tmp_path)
    theirs = [tmp_path / "theirs" / name for name in ("group", "directory", "other", "assay-x-1")]
    for path in theirs:
        path.mkdir(parents=True)
    entries = [("cgroup", theirs[0]), ("directory", theirs[1]), ("something", theirs[2]), ("cgroup", theirs[3])]
    with sqlite3.connect(folder / DATABASE) as connection:
        connection.executemany(
            "INSERT INTO journal (kind, name, details, recorded_at) VALUES (?, ?, ?, 1.0)",
            [(kind, str(path), json.dumps({"claimed": "1:2"})) for kind, path in entries],
        )
        connection.execute("UPDATE run SET status = 'interrupted'")
    connection.close()
    done = assay(tmp_path, "run", str(folder), "--resume")
    assert all(path.is_dir() for path in theirs)
    assert done.stderr.count("could not be removed") >= 2


def _interrupted(tmp_path: Path, *statements: str) -> Path:
    """A run with one repeat, ended and called interrupted, whose database was changed."""
    assay(tmp_path, "run", str(study(tmp_path, repeats=1)))
    folder = only_run(tmp_path)
    with sqlite3.connect(folder / DATABASE) as connection:
        for statement in ("UPDATE run SET status = 'interrupted'", *statements):
            connection.execute(statement)
    connection.close()
    return folder


@needs_engine
@pytest.mark.parametrize(
    ("before", "after"), [("place:", "other:"), ("grid:", "other:"), ("/target", "/full"), ("repeats: 1", "repeats: 2")]
)
@pytest.mark.parametrize("known", [True, False])
def test_a_run_goes_on_with_the_study_it_began_with(tmp_path: Path, before: str, after: str, known: bool) -> None:
    forget = "UPDATE run SET details = json_remove(details, '$.versions.study_sha256')"
    folder = _interrupted(tmp_path, *([] if known else [forget]))
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "letter.txt").write_text("mine")
    text = (folder / "study.yaml").read_text()
    (folder / "study.yaml").write_text(text.replace(before, after))
    done = assay(
        tmp_path, "run", str(folder), "--resume", expect=0 if not known and "repeats" in before else EXIT_REFUSED
    )
    assert not known or "study.yaml: has changed since the run began" in done.stderr
    assert [path.name for path in (tmp_path / "full").iterdir()] == ["letter.txt"]


@needs_engine
@pytest.mark.parametrize(
    "change",
    [
        "details = '[]'",
        "details = '{\"claimed\": 7}'",
        "details = 'nonsense'",
        "kind = 'directory of hosts', details = '{\"claimed\": 7}'",
        "kind = 'cgroup', name = char(0)",
        "name = '/x' || char(0) || 'y'",
        "name = ''",
        "name = x'ff'",
    ],
)
def test_a_journal_without_sense_is_one_line(tmp_path: Path, change: str) -> None:
    folder = _interrupted(tmp_path, f"UPDATE journal SET removed_at = NULL, {change}")
    done = assay(tmp_path, "run", str(folder), "--resume", expect=2)
    (line,) = [line for line in done.stderr.splitlines() if line.startswith("error: ")]
    assert "is damaged: " in line


@pytest.mark.parametrize("kind", ["link", "hard link", "pipe", "folder"])
def test_a_report_beside_a_run_replaces_nothing_of_others(tmp_path: Path, kind: str) -> None:
    folder = store_run(tmp_path / "runs", "20261121-211503-nightly", {("disk", "read"): [1e8, 1e8, 1e8]})
    theirs, path = tmp_path / "theirs", folder / "report.html"
    theirs.write_text("mine")
    makers = {"link": path.symlink_to, "hard link": path.hardlink_to}
    makers[kind](theirs) if kind in makers else os.mkfifo(path) if kind == "pipe" else path.mkdir()
    done = assay(tmp_path, "report", folder, expect=EXIT_REFUSED)
    assert "report.html: is a" in done.stderr
    assert theirs.read_text() == "mine"
    assay(tmp_path, "report", folder, "--output", "mine.html")
    path.rmdir() if kind == "folder" else path.unlink()
    assay(tmp_path, "report", folder)
    assert path.stat().st_size == (tmp_path / "mine.html").stat().st_size
