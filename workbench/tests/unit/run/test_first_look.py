"""A first look that was killed is in nobody's way, whatever has been cleaned meanwhile."""

import contextlib
from pathlib import Path

import pytest
from builders import make_meta

from assay.journal.entry import DIRECTORY
from assay.launch.places import MARKER, claim_target
from assay.model.base import AssayError
from assay.run.ceilings.place import _folder_of_runs
from assay.run.places.claims import run_owner
from assay.run.places.temporary_run import PREFIX, temporary_run_folder
from assay.store import RunStore, foreign_run_state
from assay.store.lookup import run_folders

WORDS = """\
assay: 1
targets: {a: {file: AT}}
workloads: {w: {operation: write, block: 4KiB, size: 4KiB}}
"""


def killed(runs: Path, place: Path) -> RunStore:
    """What is there of a first look at a place that was killed."""
    folder = runs / f"{PREFIX}x"
    folder.mkdir(parents=True)
    store = RunStore.create(folder, make_meta(), (), (), [], WORDS.replace("AT", str(place)))
    store.record(DIRECTORY, str(place), {})
    claim_target(str(place), run_owner(store), foreign_run_state)
    assert (place / MARKER).is_file()
    return store


def test_the_next_first_look_gives_back_what_a_killed_one_has_claimed(tmp_path: Path) -> None:
    runs, place = tmp_path / "runs", tmp_path / "place"
    killed(runs, place).close()
    said: list[str] = []
    with temporary_run_folder(runs, said.append) as folder:
        assert not place.exists() and list(runs.iterdir()) == [folder]
    assert said == [] and list(runs.iterdir()) == []


def test_the_mark_of_a_killed_one_leads_to_its_folder(tmp_path: Path) -> None:
    """So that any run may have the place, without a first look before."""
    runs, place = tmp_path / "runs", tmp_path / "place"
    killed(runs, place).close()
    store = RunStore.create(runs, make_meta(), (), (), [], WORDS)
    assert claim_target(str(place), run_owner(store), foreign_run_state).mark is not None
    assert [found.name for found in run_folders(runs)] == [store.folder.name], "first looks are no runs to list"
    store.close()


def test_one_at_work_and_what_others_have_put_there_stay(tmp_path: Path) -> None:
    runs, place = tmp_path / "runs", tmp_path / "place"
    store = killed(runs, place)
    (tmp_path / "theirs").mkdir()
    (tmp_path / "theirs" / "letter").write_text("dear")
    (runs / f"{PREFIX}link").symlink_to(tmp_path / "theirs")
    (runs / f"{PREFIX}other" / "deep").mkdir(parents=True)
    (runs / f"{PREFIX}other" / "deep" / "letter").write_text("dear")
    with temporary_run_folder(runs, lambda line: None):
        assert (place / MARKER).is_file() and store.folder.is_dir()
    assert (tmp_path / "theirs" / "letter").is_file() and (runs / f"{PREFIX}other" / "deep" / "letter").is_file()
    store.close()


def test_a_folder_that_cannot_be_made_is_told(tmp_path: Path) -> None:
    (tmp_path / "runs").write_text("")
    with pytest.raises(AssayError, match="runs"), temporary_run_folder(tmp_path / "runs", lambda line: None):
        pass


def test_ceilings_outside_a_run_are_kept_where_a_new_start_leaves_them(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("TMPDIR", raising=False)
    folder = _folder_of_runs()
    try:
        assert folder.parent == Path("/var/tmp")
    finally:
        with contextlib.suppress(OSError):
            folder.rmdir()
