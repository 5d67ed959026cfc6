"""Directories on other hosts: only what Assay made or marked is written to, and nothing else is removed."""

import json
import os
from pathlib import Path

import pytest

from assay.launch import remote_places
from assay.launch.shell import LocalShell, Shell
from assay.model.base import AssayError
from assay.model.host import Host

RUN = "20261122-120000-study"


@pytest.fixture(name="shells")
def two_shells() -> list[Shell]:
    """Two hosts that see the same directory, as with a common mount."""
    return [LocalShell(Host(name=name, kind="local")) for name in ("one", "two")]


def test_a_directory_is_made_marked_used_and_removed(tmp_path: Path, shells: list[Shell]) -> None:
    place = tmp_path / "with space"
    remote_places.claim(shells, str(place), RUN)
    mark = json.loads((place / ".assay-target").read_text())
    assert mark["run"] == RUN and mark["created_by_assay"] is True
    for name in (f"{RUN}-c0001-r1", f"{RUN}-c0002-r1"):
        (place / name / "deep").mkdir(parents=True)
        (place / name / "deep" / "f0").write_text("data")
    remote_places.clean(shells, str(place), RUN, f"{RUN}-c0001-r1")
    assert [path.name for path in place.iterdir() if path.is_dir()] == [f"{RUN}-c0002-r1"]
    # Going on with the run finds its own mark.
    remote_places.claim(shells, str(place), RUN)
    assert remote_places.release(shells, str(place), RUN) == []
    assert not place.exists()


def test_a_directory_that_was_there_stays(tmp_path: Path, shells: list[Shell]) -> None:
    place = tmp_path / "mine"
    (place / "lost+found").mkdir(parents=True)
    remote_places.claim(shells, str(place), RUN)
    assert remote_places.release(shells, str(place), RUN) == []
    assert [path.name for path in place.iterdir()] == ["lost+found"]


def test_what_is_not_ours_is_refused_and_left_alone(tmp_path: Path, shells: list[Shell]) -> None:
    full, other, link = tmp_path / "full", tmp_path / "other", tmp_path / "link"
    full.mkdir()
    (full / "precious").write_text("mine")
    link.symlink_to(full)
    remote_places.claim(shells, str(other), "another-run")
    for place, words in (
        (full, "not empty and not made by Assay"),
        (other, "is marked by another run"),
        (link, "is a symbolic link"),
        (tmp_path / "absent" / "below", "is not there"),
    ):
        with pytest.raises(AssayError, match=f"^host one: .*{words}"):
            remote_places.claim(shells, str(place), RUN)
        remote_places.clean(shells, str(place), RUN, "precious")
        remote_places.release(shells, str(place), RUN)
    assert (full / "precious").read_text() == "mine" and link.is_symlink()
    assert (other / ".assay-target").exists()


def test_release_follows_no_link(tmp_path: Path, shells: list[Shell]) -> None:
    place, outside = tmp_path / "place", tmp_path / "outside"
    outside.mkdir()
    (outside / "precious").write_text("mine")
    remote_places.claim(shells, str(place), RUN)
    (place / f"{RUN}-c0001-r1").symlink_to(outside)
    (place / f"{RUN}-c0002-r1").mkdir()
    (place / f"{RUN}-c0002-r1" / "link").symlink_to(outside)
    remote_places.release(shells, str(place), RUN)
    assert (outside / "precious").read_text() == "mine" and not place.exists()


def test_what_cannot_be_removed_is_told(tmp_path: Path, shells: list[Shell]) -> None:
    place = tmp_path / "place"
    remote_places.claim(shells, str(place), RUN)
    (place / "stranger").write_text("somebody's")
    (line, *_) = remote_places.release(shells, str(place), RUN)
    assert line.startswith("host one: ") and str(place) in line
    assert (place / "stranger").exists()


def test_mounts_are_told_host_by_host(tmp_path: Path, shells: list[Shell]) -> None:
    found = remote_places.mount_facts(shells, str(tmp_path))
    best = max(
        (line.split()[:4] for line in Path("/proc/self/mounts").read_text().splitlines()),
        key=lambda words: len(words[1]) if f"{tmp_path}/".startswith(words[1].rstrip("/") + "/") else -1,
    )
    assert set(found) == {"one", "two"} and found["one"].split()[1] == best[2]
    assert os.path.realpath(tmp_path)
