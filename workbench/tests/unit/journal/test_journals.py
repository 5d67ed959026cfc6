"""What was made is written down before, and removed by its kind, whoever died meanwhile."""

import json
import os
import subprocess
import sys
import threading
from pathlib import Path

import pytest
from builders import make_meta
from journal_lines import claim

from assay.journal import process_journal as own
from assay.journal.entry import CGROUP, DIRECTORY, EXPORT, Entry, Journal
from assay.journal.file import FileJournal, read_entries
from assay.journal.process_journal import journals_root, process_journal, remove_orphans
from assay.journal.removal import remove_open
from assay.launch import cgroup
from assay.model.base import AssayError
from assay.store import RunStore


def in_file(folder: Path) -> Journal:
    return FileJournal(folder / "journal")


def of_run(folder: Path) -> Journal:
    meta = make_meta()
    return RunStore.create(folder / "runs", meta, (), (), [], "")


@pytest.mark.parametrize("make", [in_file, of_run])
def test_all_journals_keep_the_same(make: object, tmp_path: Path) -> None:
    assert callable(make)
    journal: Journal = make(tmp_path)
    first = journal.record(DIRECTORY, "/a", {"above": "1"})
    second = journal.record(CGROUP, "/b")
    assert journal.record(DIRECTORY, "/a") == first, "the same thing is recorded once"
    assert [(entry.kind, entry.name, entry.details) for entry in journal.entries()] == [
        (CGROUP, "/b", {}),
        (DIRECTORY, "/a", {"above": "1"}),
    ]
    journal.amend(first, {"above": "1", "claimed": "2"})
    journal.mark_removed(second)
    (left,) = journal.entries()
    assert (left.id, left.details, left.removed_at) == (first, {"above": "1", "claimed": "2"}, None)
    assert [entry.removed_at is None for entry in journal.entries(only_open=False)] == [False, True]
    assert journal.record(CGROUP, "/b") not in (first, second), "it is made again"


def test_half_a_line_takes_no_other_with_it(tmp_path: Path) -> None:
    journal = in_file(tmp_path)
    first = journal.record(CGROUP, "/a")
    with (tmp_path / "journal").open("a") as file:
        file.write('{"id": 2, "kind": "cgr')
    second = journal.record(CGROUP, "/b")
    journal.mark_removed(first)
    assert [entry.name for entry in journal.entries()] == ["/b"]
    assert [entry.id for entry in journal.entries()] == [second]


@pytest.mark.parametrize("make", [in_file, of_run])
def test_things_are_removed_by_their_kind(make: object, tmp_path: Path) -> None:
    assert callable(make)
    journal: Journal = make(tmp_path)
    for kind, name in ((DIRECTORY, "/gone"), (DIRECTORY, "/busy"), (EXPORT, "/kept"), ("moon", "/\x1b[2Jodd")):
        journal.record(kind, name)
    removed = []

    def directory(entry: Entry) -> list[str]:
        removed.append(entry.name)
        return [f"{entry.name}: still in use"] if entry.name == "/busy" else []

    left = remove_open(journal, {DIRECTORY: directory, EXPORT: lambda _: None})
    assert removed == ["/busy", "/gone"], "the newest first"
    assert left[1:] == ["/busy: still in use"]
    assert "not a thing that a run makes: left alone" in left[0]
    assert "\x1b" not in left[0]
    assert {entry.name for entry in journal.entries()} == {"/busy", "/kept", "/\x1b[2Jodd"}


def test_a_journal_in_a_file_goes_on_after_its_process(tmp_path: Path) -> None:
    path = tmp_path / "journal"
    program = (
        "import os, sys\nfrom pathlib import Path\nfrom assay.journal.file import FileJournal\n"
        "journal = FileJournal(Path(sys.argv[1]))\njournal.record('directory', '/a')\n"
        "journal.mark_removed(journal.record('directory', '/b'))\njournal.record('directory', "
        "'/c')\nos.kill(os.getpid(), 9)"
    )
    assert subprocess.run([sys.executable, "-c", program, str(path)], check=False).returncode == -9
    with path.open("a") as file:
        file.write('{"id": 4, "kind": "directory", "name": "/half')
    assert [entry.name for entry in read_entries(path) if entry.removed_at is None] == ["/a", "/c"]


def test_what_stands_in_a_file_may_be_anything(tmp_path: Path) -> None:
    right = json.dumps(claim(3, DIRECTORY, "/a"))
    lines = ["[]", "7", "{}", "[" * 100_000, '{"id": true}', '{"removed": 3}', '{"removed": [3], "at": 1.0}', "\udcff"]
    lines += [json.dumps({**claim(1, DIRECTORY, "/x"), key: None}) for key in ("kind", "name", "details", "at")]
    lines += [right, '{"amended": 3, "details": 1}']
    (tmp_path / "journal").write_text("\n".join(lines), errors="surrogateescape")
    assert [(entry.id, entry.name, entry.details) for entry in read_entries(tmp_path / "journal")] == [(3, "/a", {})]
    assert read_entries(tmp_path / "none") == []
    assert read_entries(tmp_path) == []


def test_threads_share_a_journal(tmp_path: Path) -> None:
    journal = FileJournal(tmp_path / "journal")
    threads = [threading.Thread(target=journal.record, args=(DIRECTORY, f"/{number}")) for number in range(50)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len({entry.id for entry in read_entries(tmp_path / "journal")}) == 50


def test_what_cannot_be_written_down_is_not_made(tmp_path: Path) -> None:
    with pytest.raises(AssayError, match="No such file or directory"):
        FileJournal(tmp_path / "none" / "journal")
    (tmp_path / "link").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(AssayError):
        FileJournal(tmp_path / "link")
    if Path("/dev/full").exists():
        journal = FileJournal(Path("/dev/full"))
        with pytest.raises(AssayError, match="No space left on device"):
            journal.record(DIRECTORY, "/a")
        journal.close()


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where the journals of processes are."""
    monkeypatch.setenv(own.FOLDER_VARIABLE, str(tmp_path / "journals"))
    return journals_root()


def test_a_process_leaves_no_journal_when_nothing_is_left(root: Path) -> None:
    with process_journal() as first, process_journal() as second:
        first.mark_removed(first.record(DIRECTORY, "/a"))
        second.record(DIRECTORY, "/b")
        assert len(list(root.iterdir())) == 2
    (left,) = root.iterdir()
    assert left.name.startswith(f"{os.getpid()}-")
    assert remove_orphans({DIRECTORY: lambda _: []}) == [], "its process lives"
    assert left.exists()


def test_what_a_killed_process_has_left_is_removed_by_the_next(root: Path) -> None:
    program = (
        "import os, sys\nfrom assay.journal.process_journal import process_journal\n"
        "with process_journal() as journal:\n    journal.record('directory', '/a')\n    "
        "journal.record('directory', '/b')\n"
        "    os.kill(os.getpid(), 9)"
    )
    assert subprocess.run([sys.executable, "-c", program], check=False).returncode == -9
    (left,) = root.iterdir()
    (root / "notes").write_text("mine")
    assert remove_orphans({DIRECTORY: lambda entry: [] if entry.name == "/a" else ["/b: busy"]}) == ["/b: busy"]
    assert left.exists()
    assert remove_orphans({DIRECTORY: lambda entry: [entry.name] if entry.name == "/a" else []}) == []
    assert [path.name for path in root.iterdir()] == ["notes"]
    (root / "notes").unlink()
    assert remove_orphans({}) == []


def test_journals_of_others_are_not_believed(root: Path) -> None:
    root.mkdir()
    (root / "1-1-1").write_text(json.dumps(claim(1, DIRECTORY, "/a")) + "\n")
    root.chmod(0o777)
    assert remove_orphans({DIRECTORY: lambda entry: [entry.name]}) == []
    with pytest.raises(AssayError, match="belongs to another user, or others may write into it"), process_journal():
        pass
    root.chmod(0o700)
    assert remove_orphans({DIRECTORY: lambda entry: [entry.name]}) == ["/a"]


def test_a_memory_group_that_a_killed_process_tried_out_is_removed(root: Path) -> None:
    try:
        hierarchy = cgroup.find_controller()
    except AssayError as error:
        pytest.skip(error.message)
    program = (
        "import os\nfrom assay.journal.process_journal import process_journal\nfrom assay.launch.cgroup "
        "import MemoryCap\n"
        "with process_journal() as journal:\n    cap = MemoryCap('doctor', 64 << 20, journal)\n    cap.create()\n"
        "    print(cap.path, flush=True)\n    os.kill(os.getpid(), 9)"
    )
    done = subprocess.run([sys.executable, "-c", program], check=False, capture_output=True, text=True)
    group = Path(done.stdout.strip())
    assert group.parent == hierarchy.folder
    assert group.is_dir()
    assert group not in cgroup.remove_leftovers()
    assert not group.exists()
    assert not root.exists()
