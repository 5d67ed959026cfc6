"""Where Assay may write, and that nothing else is touched."""

import json
import os
from pathlib import Path

import pytest
from loop_devices import loop_device, small_ext4

from assay.launch import devices, places
from assay.launch.places import (
    MARKER,
    Marker,
    check_apart,
    claim_target,
    inspect_target,
    release_target,
    remove_case_directory,
    target_marker,
)
from assay.model.base import AssayError

RUN = "20270115-080000-tiny"


def problems(path: object, kind: str = "file", destroy: bool = False) -> str:
    return "; ".join(message for message, _ in inspect_target(kind, str(path), destroy))


def claim(path: Path, run: str = RUN, **more: bool) -> Marker:
    return claim_target(str(path), run, path.parent / "runs" / run, **more)


def tree(path: Path) -> set[str]:
    return {str(found.relative_to(path)) for found in path.rglob("*")}


def test_new_directory_is_made_marked_and_removed(tmp_path: Path) -> None:
    place = tmp_path / "target"
    assert problems(place) == ""
    assert not place.exists()
    claim(place)
    marker = json.loads((place / MARKER).read_text())
    assert (marker["run"], marker["created_by_assay"]) == (RUN, True)
    (place / "c0001-r1").mkdir()
    (place / "c0001-r1" / "data").write_text("x")
    assert release_target(str(place), RUN) == []
    assert tree(tmp_path) == set()


def test_empty_directory_is_marked_and_stays(tmp_path: Path) -> None:
    place = tmp_path / "target"
    (place / "lost+found").mkdir(parents=True)
    assert problems(place) == ""
    assert claim(place).created_by_assay is False
    (place / "c12345-r10").mkdir()
    assert release_target(str(place), RUN) == []
    assert tree(place) == {"lost+found"}


@pytest.mark.parametrize("name", ["data.txt", ".hidden", "c0001-r1"])
def test_foreign_directory_is_refused_and_untouched(tmp_path: Path, name: str) -> None:
    (tmp_path / name).write_text("precious")
    assert "not empty and not made by Assay" in problems(tmp_path)
    with pytest.raises(AssayError, match="not empty and not made by Assay"):
        claim(tmp_path)
    assert release_target(str(tmp_path), RUN) == []
    assert (tmp_path / name).read_text() == "precious"
    assert tree(tmp_path) == {name}


def test_bad_paths_are_refused_before_anything_is_written(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to("real")
    (tmp_path / "dangling").symlink_to("nowhere")
    (tmp_path / "file").write_text("")
    before = tree(tmp_path)
    assert "symbolic link" in problems(tmp_path / "link")
    assert "symbolic link" in problems(tmp_path / "dangling")
    assert "not a directory" in problems(tmp_path / "file")
    assert ".. part" in problems(f"{tmp_path}/real/../other")
    assert ". or .." in problems(f"{tmp_path}/./other")
    assert "does not exist" in problems(tmp_path / "none" / "target")
    assert "Not a directory" in problems(tmp_path / "file" / "target") or "not a directory" in problems(
        tmp_path / "file" / "target"
    )
    assert "root of the file system" in problems("/")
    assert "not an absolute path" in problems("target")
    assert tree(tmp_path) == before
    assert problems("", kind="null") == ""


def test_claim_never_follows_a_link_put_there_after_the_look(tmp_path: Path) -> None:
    (tmp_path / "precious").mkdir()
    (tmp_path / "target").symlink_to("precious")
    with pytest.raises(AssayError, match="cannot be made ready"):
        claim(tmp_path / "target")
    assert tree(tmp_path / "precious") == set()


def test_links_inside_the_directory_are_not_followed(tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "precious").write_text("x")
    place = tmp_path / "target"
    claim(place)
    (place / "c0001-r1").symlink_to(outside)
    (place / "c0002-r1").mkdir()
    (place / "c0002-r1" / "link").symlink_to(outside)
    left = release_target(str(place), RUN)
    assert (outside / "precious").exists()
    assert len(left) == 1
    assert "c0001-r1" in left[0]
    assert not (place / "c0002-r1").exists()


@pytest.mark.parametrize("text", ["", "[]", "{}", "null", '{"run": 1}'])
def test_marker_that_is_not_ours_is_refused(tmp_path: Path, text: str) -> None:
    (tmp_path / MARKER).write_text(text)
    assert "not a marker of Assay's" in problems(tmp_path)


def test_marker_that_is_a_link_or_fifo_is_refused(tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    claim(tmp_path / "b")
    (tmp_path / "a" / MARKER).symlink_to(tmp_path / "b" / MARKER)
    assert "not a marker of Assay's" in problems(tmp_path / "a")
    (tmp_path / "f").mkdir()
    os.mkfifo(tmp_path / "f" / MARKER)
    assert "not a marker of Assay's" in problems(tmp_path / "f")


def test_what_a_dead_run_left_is_removed_at_the_next_claim(tmp_path: Path) -> None:
    place = tmp_path / "target"
    claim(place, "dead")
    (place / "c0003-r2").mkdir()
    (place / "c0003-r2" / "data").write_text("x")
    (place / ".assay-probe-123").write_text("")
    (place / "notes.txt").write_text("not ours")
    assert problems(place) == ""
    marker = claim(place, "next")
    assert marker.created_by_assay is True
    assert tree(place) == {MARKER, "notes.txt"}
    assert release_target(str(place), "dead") == []
    assert (place / MARKER).exists()
    left = release_target(str(place), "next")
    assert "notes.txt" in left[0]
    assert tree(place) == {"notes.txt"}


def test_kept_data_is_neither_removed_nor_overwritten(tmp_path: Path) -> None:
    place = tmp_path / "target"
    claim(place, keep=True)
    (place / "c0001-r1").mkdir()
    assert release_target(str(place), RUN) == []
    assert (place / "c0001-r1").exists()
    assert "told to keep" in problems(place)


def test_claim_and_release_that_were_cut_short(tmp_path: Path) -> None:
    place = tmp_path / "target"
    unfinished = places._unfinished_name(place)
    unfinished.mkdir()
    (unfinished / MARKER).write_text("{")
    claim(place)
    assert not unfinished.exists()
    place.rename(unfinished)
    assert release_target(str(place), RUN) == []
    assert tree(tmp_path) == set()
    claim(place)
    unfinished.mkdir()
    (unfinished / "precious").write_text("x")
    release_target(str(place), RUN)
    assert (unfinished / "precious").exists()


def test_resumed_run_still_knows_that_it_made_the_directory(tmp_path: Path) -> None:
    place = tmp_path / "target"
    place.mkdir()
    assert claim(place, created_by_assay=True).created_by_assay
    assert release_target(str(place), RUN) == []
    assert not place.exists()


def test_only_directories_of_jobs_are_removed_by_name(tmp_path: Path) -> None:
    claim(tmp_path / "target")
    for name in ("c0001-r1", "other"):
        (tmp_path / "target" / name).mkdir()
    assert remove_case_directory(str(tmp_path / "target"), "c0001-r1")
    assert not remove_case_directory(str(tmp_path / "target"), "other")
    assert not remove_case_directory(str(tmp_path / "target"), "../target/other")
    assert tree(tmp_path / "target") == {MARKER, "other"}


def test_targets_must_not_share_a_place(tmp_path: Path) -> None:
    a, b, c = (str(tmp_path / name) for name in ("a", "a-b", "a/c"))
    assert check_apart({"one": a, "two": b}) == []
    assert "one and two share" in check_apart({"one": a, "two": a})[0][0]
    assert "one and three share" in check_apart({"one": a, "two": b, "three": c})[0][0]
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to("real")
    assert check_apart({"one": str(tmp_path / "real/x"), "two": str(tmp_path / "link/x")})


def test_marker_of_an_unmarked_place_is_none(tmp_path: Path) -> None:
    assert target_marker(str(tmp_path)) is None
    assert target_marker(str(tmp_path / "none")) is None


def test_device_must_be_a_device(tmp_path: Path) -> None:
    assert "not a block device" in problems("/dev/null", "device", True)
    assert "not a block device" in problems(tmp_path, "device", True)
    assert "No such file" in problems("/dev/none", "device", True)


def test_mounted_device_is_refused(tmp_path: Path) -> None:
    with small_ext4(tmp_path, 16 << 20) as (device, point):
        assert f"mounted at {point}" in problems(device, "device", True)
        (tmp_path / "alias").symlink_to(device)
        assert f"mounted at {point}" in problems(tmp_path / "alias", "device", True)


def test_free_device_needs_destroy(tmp_path: Path) -> None:
    with loop_device(tmp_path, 16 << 20) as device:
        assert "everything on it would be lost" in problems(device, "device")
        assert problems(device, "device", destroy=True) == ""
        fd = os.open(device, os.O_RDWR | os.O_EXCL)
        try:
            assert "in use" in problems(device, "device", True)
        finally:
            os.close(fd)


def test_device_of_the_root_file_system_is_refused() -> None:
    number = devices._number(Path("/").stat().st_dev)
    if not (devices.SYS / number).exists():
        pytest.skip("the root file system is on no block device")
    assert devices.mounted_at(number) is not None


def test_disk_with_mounted_partition_swap_or_holders_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with loop_device(tmp_path, 16 << 20) as device:
        number = devices._number(Path(device).stat().st_rdev)
        sys = tmp_path / "sys"
        disk = sys / "disk"
        (disk / "part1").mkdir(parents=True)
        (disk / "part1" / "partition").write_text("1\n")
        (disk / "part1" / "dev").write_text("250:9\n")
        (disk / "holders" / "md0").mkdir(parents=True)
        (sys / number).symlink_to("disk")
        (sys / "250:9").symlink_to("disk/part1")
        monkeypatch.setattr(devices, "SYS", sys)
        assert "in use by md0" in problems(device, "device", True)
        (disk / "holders" / "md0").rmdir()
        mounts = tmp_path / "mounts"
        mounts.write_text("1 1 250:9 / /srv/my\\040data rw - ext4 /dev/x rw\n")
        monkeypatch.setattr(devices, "MOUNTS", mounts)
        assert "part1: mounted at /srv/my data" in problems(device, "device", True)
        mounts.write_text("")
        swaps = tmp_path / "swaps"
        swaps.write_text(f"Filename Type Size Used Priority\n{device} partition 1 0 -2\n")
        monkeypatch.setattr(devices, "SWAPS", swaps)
        assert "used for swap" in problems(device, "device", True)
