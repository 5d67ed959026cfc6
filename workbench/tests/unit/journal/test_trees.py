"""Folders that the workbench makes for itself are removed with what is in them, and nothing of anybody else goes."""

import contextlib
import os
import random
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from mounts import needs_mounts

from assay.journal import trees
from assay.journal.trees import make_folder, remove_tree, scratch_folder
from assay.store.entries import ALL_FILES, remove_folder


@pytest.fixture
def theirs(tmp_path: Path) -> Path:
    """A folder of somebody's, with data in it."""
    folder = tmp_path / "theirs"
    (folder / "deep").mkdir(parents=True)
    (folder / "deep" / "letter").write_text("dear")
    (folder / "letter").write_text("dear")
    return folder


@pytest.fixture
def mounted() -> Iterator[list[Path]]:
    """What is appended is unmounted at the end."""
    points: list[Path] = []
    yield points
    for point in reversed(points):
        subprocess.run(["umount", str(point)], check=True)


def whole(theirs: Path) -> bool:
    return (theirs / "letter").read_text() == (theirs / "deep" / "letter").read_text() == "dear"


def test_a_folder_goes_with_all_that_is_in_it(tmp_path: Path, theirs: Path) -> None:
    made = make_folder(tmp_path / "ours")
    (tmp_path / "ours" / "a" / "b").mkdir(parents=True)
    (tmp_path / "ours" / "a" / "link").symlink_to(theirs)
    os.link(theirs / "letter", tmp_path / "ours" / "a" / "hard")
    assert remove_tree(tmp_path / "ours", made) == []
    assert not (tmp_path / "ours").exists() and whole(theirs)
    assert remove_tree(tmp_path / "ours", made) == [], "it is gone already"


@needs_mounts
@pytest.mark.parametrize("where", ["", "data", "data/in"])
def test_a_mount_stays_and_is_named(tmp_path: Path, theirs: Path, mounted: list[Path], where: str) -> None:
    """A bind mount of the same file system, which has the same device number."""
    made = make_folder(tmp_path / "ours")
    (tmp_path / "ours" / "data" / "in").mkdir(parents=True)
    point = tmp_path / "ours" / where
    subprocess.run(["mount", "--bind", str(theirs), str(point)], check=True)
    mounted.append(point)
    assert remove_tree(tmp_path / "ours", made) == [f"{point}: is a mount: left alone"]
    assert whole(theirs)


def _link(ours: Path, theirs: Path) -> None:
    ours.rename(ours.with_name("moved"))
    ours.symlink_to(theirs)


def _other(ours: Path, theirs: Path) -> None:
    ours.rename(ours.with_name("moved"))
    theirs.rename(ours)
    theirs.symlink_to(ours)


def _file(ours: Path, theirs: Path) -> None:
    ours.rename(ours.with_name("moved"))
    os.link(theirs / "letter", ours)


@pytest.mark.parametrize("replace", [_link, _other, _file])
def test_what_has_the_name_now_stays(tmp_path: Path, theirs: Path, replace: Callable[[Path, Path], None]) -> None:
    ours = tmp_path / "assay-server-0123456789abcdef"
    made = make_folder(ours)
    replace(ours, theirs)
    for numbers in (made, None):
        assert "left alone" in remove_tree(ours, numbers)[0]
    assert whole(theirs) and os.path.lexists(ours)


def test_a_folder_whose_numbers_are_not_known_goes_only_when_empty(tmp_path: Path) -> None:
    make_folder(tmp_path / "ours")
    (tmp_path / "ours" / "x").write_text("")
    assert "left alone" in remove_tree(tmp_path / "ours", None)[0]
    (tmp_path / "ours" / "x").unlink()
    assert remove_tree(tmp_path / "ours", None) == [] and not (tmp_path / "ours").exists()


def test_links_and_folders_that_change_meanwhile_lead_to_nothing_of_others(
    tmp_path: Path, theirs: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """At each look at a folder somebody puts a link to his own in the place of a folder in it."""
    chance, listed = random.Random(7), trees._names
    for _ in range(200):
        made = make_folder(tmp_path / "ours")
        for name in ("a/b/c", "d", "e/f"):
            (tmp_path / "ours" / name).mkdir(parents=True)

        def names(fd: int) -> set[str]:
            found = listed(fd)
            for name in found:
                if chance.random() < 0.3:
                    with contextlib.suppress(OSError):
                        os.rename(name, f"was-{name}", src_dir_fd=fd, dst_dir_fd=fd)
                        os.symlink(theirs, name, dir_fd=fd)
            return found

        monkeypatch.setattr(trees, "_names", names)
        remove_tree(tmp_path / "ours", made)
        monkeypatch.setattr(trees, "_names", listed)
        if (tmp_path / "ours").exists():
            remove_tree(tmp_path / "ours", made)
        assert whole(theirs)


def test_a_scratch_folder_is_this_users_alone_and_goes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    with pytest.raises(ZeroDivisionError), scratch_folder("assay-x-") as folder:
        assert folder.parent == tmp_path and folder.stat().st_mode & 0o077 == 0
        (folder / "deep").mkdir()
        1 / 0  # noqa: B018
    assert list(tmp_path.iterdir()) == []


@needs_mounts
def test_a_run_of_others_that_is_mounted_at_an_unfinished_one_stays(tmp_path: Path, mounted: list[Path]) -> None:
    """As bind mounts in a folder of runs, also one that is reached by a link."""
    theirs = tmp_path / "theirs"
    theirs.mkdir()
    for name in ALL_FILES:
        (theirs / name).write_text("precious")
    (tmp_path / "real").mkdir()
    (tmp_path / "runs").symlink_to("real")
    point, own = (tmp_path / "runs" / f".new-{2**22 + number}-20260101-000000-s" for number in (1, 2))
    for folder in (point, own):
        folder.mkdir()
    (own / ALL_FILES[0]).write_text("ours")
    subprocess.run(["mount", "--bind", str(theirs), str(point)], check=True)
    mounted.append(point)
    remove_folder(point)
    remove_folder(own)
    assert sorted(path.name for path in theirs.iterdir()) == sorted(ALL_FILES)
    assert not own.exists()
