"""Runs of others that lie, or are put, where Assay opens a run to write into it: they stay as they are."""

import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from mounts import needs_mounts
from stored_runs import noisy, store_run

from assay.model.base import AssayError
from assay.run.ceilings import place
from assay.store import RunStore, run
from assay.store.entries import DATABASE, STUDY

LOOKS = ((place, "is_locked"), (run, "check_entries"), (run, "RunLock"), (run, "connect_to_write"))
"""What looks at a leftover, in modules that import it."""


@pytest.fixture
def theirs(tmp_path: Path) -> Iterator[Path]:
    """A run of somebody's, which must be the same at the end."""
    folder = store_run(tmp_path / "theirs", "a", {("disk", "write"): noisy(1e9, 3)})
    before = {path.name: (path.read_bytes(), path.stat().st_mtime_ns) for path in folder.iterdir()}
    yield folder
    assert {path.name: (path.read_bytes(), path.stat().st_mtime_ns) for path in folder.iterdir()} == before


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """Where `assay ceilings` has its runs, with one that a killed call has left."""
    left = store_run(tmp_path / "root", "b", {("disk", "write"): noisy(1e9, 3)})
    return left.parent


@needs_mounts
@pytest.mark.parametrize("name", [DATABASE, STUDY])
def test_a_file_that_is_mounted_in_a_run_is_refused(root: Path, theirs: Path, name: str) -> None:
    (folder,) = root.iterdir()
    subprocess.run(["mount", "--bind", str(theirs / name), str(folder / name)], check=True)
    try:
        with pytest.raises(AssayError) as refused:
            RunStore.open(folder, write=True)
        assert refused.value.message == f"{folder / name}: is a mount, not a file of a run"
        place._remove_leftovers(root, print)
        assert folder.exists()
    finally:
        subprocess.run(["umount", str(folder / name)], check=True)


@pytest.mark.parametrize("at", range(6))
def test_a_run_that_takes_the_place_of_a_leftover_stays(
    root: Path, theirs: Path, monkeypatch: pytest.MonkeyPatch, at: int
) -> None:
    """A link to it gets the name at one of the moments at which the leftover is looked at."""
    (folder,) = root.iterdir()
    asked: list[int] = []

    def swapping(real: Callable[..., object]) -> Callable[..., object]:
        def swap(*given: object, **more: object) -> object:
            if len(asked) == at and folder.is_dir() and not folder.is_symlink():
                folder.rename(root.parent / "aside")
                folder.symlink_to(theirs)
            asked.append(1)
            return real(*given, **more)

        return swap

    for module, name in LOOKS:
        monkeypatch.setattr(module, name, swapping(getattr(module, name)))
    place._remove_leftovers(root, print)
    assert asked
    assert not folder.exists() or folder.is_symlink()


def test_what_is_left_over_goes(root: Path) -> None:
    place._remove_leftovers(root, print)
    assert list(root.iterdir()) == []


def test_what_is_still_needed_keeps_its_name(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(place, "_release", lambda store, say: None)
    (folder,) = root.iterdir()
    with RunStore.open(folder, write=True) as store:
        store.record("directory", "/srv/none", {})
    place._remove_leftovers(root, print)
    assert list(root.iterdir()) == [folder]
