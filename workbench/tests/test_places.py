"""Where Assay may write, and that nothing else is touched."""

import fcntl
import json
import os
import stat
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from loop_devices import loop_device, small_ext4

from assay.launch import devices, locks, places
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
from assay.model.base import EXIT_REFUSED, AssayError

RUN = "20270115-080000-tiny"


def problems(path: object, kind: str = "file", destroy: bool = False) -> str:
    return "; ".join(message for message, _ in inspect_target(kind, str(path), destroy))


def claim(path: Path, run: str = RUN, **more: bool) -> Marker:
    return claim_target(str(path), run, path.parent / "runs" / run, lambda _: False, **more)


def release(path: Path, run: str = RUN) -> list[str]:
    return release_target(str(path), path.parent / "runs" / run)


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
    assert release(place) == []
    assert tree(tmp_path) == set()


def test_empty_directory_is_marked_and_stays(tmp_path: Path) -> None:
    place = tmp_path / "target"
    (place / "lost+found").mkdir(parents=True)
    assert problems(place) == ""
    assert claim(place).created_by_assay is False
    (place / "c12345-r10").mkdir()
    assert release(place) == []
    assert tree(place) == {"lost+found"}


@pytest.mark.parametrize("name", ["data.txt", ".hidden", "c0001-r1"])
def test_foreign_directory_is_refused_and_untouched(tmp_path: Path, name: str) -> None:
    (tmp_path / name).write_text("precious")
    assert "not empty and not made by Assay" in problems(tmp_path)
    with pytest.raises(AssayError, match="not empty and not made by Assay"):
        claim(tmp_path)
    assert release(tmp_path) == []
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
    left = release(place)
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
    assert release(place, "dead") == []
    assert (place / MARKER).exists()
    left = release(place, "next")
    assert "notes.txt" in left[0]
    assert tree(place) == {"notes.txt"}


def test_kept_data_is_neither_removed_nor_overwritten(tmp_path: Path) -> None:
    place = tmp_path / "target"
    claim(place, keep=True)
    (place / "c0001-r1").mkdir()
    assert release(place) == []
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
    assert release(place) == []
    assert tree(tmp_path) == set()
    claim(place)
    unfinished.mkdir()
    (unfinished / "precious").write_text("x")
    release(place)
    assert (unfinished / "precious").exists()


def test_resumed_run_still_knows_that_it_made_the_directory(tmp_path: Path) -> None:
    place = tmp_path / "target"
    place.mkdir()
    assert claim(place, created_by_assay=True).created_by_assay
    assert release(place) == []
    assert not place.exists()


def test_only_directories_of_jobs_are_removed_by_name(tmp_path: Path) -> None:
    claim(tmp_path / "target")

    def remove(name: str, run: str = RUN) -> bool:
        return remove_case_directory(str(tmp_path / "target"), name, tmp_path / "runs" / run)

    for name in ("c0001-r1", "other"):
        (tmp_path / "target" / name).mkdir()
    assert not remove("c0001-r1", "another")
    assert (tmp_path / "target" / "c0001-r1").exists()
    assert remove("c0001-r1")
    assert not remove("other")
    assert not remove("../target/other")
    assert tree(tmp_path / "target") == {MARKER, "other"}


@pytest.mark.parametrize("before", ["nothing", "empty", "dead"])
def test_of_runs_that_claim_a_directory_together_one_gets_it(tmp_path: Path, before: str) -> None:
    runs = [tmp_path / "runs" / str(number) / RUN for number in range(6)]
    together = threading.Barrier(len(runs))

    def compete(place: Path, run_folder: Path) -> Path | str:
        together.wait()
        try:
            claim_target(str(place), RUN, run_folder, lambda folder: folder.name == RUN)
        except AssayError as error:
            return f"{error.exit_code} {error.message}"
        return run_folder

    with ThreadPoolExecutor(len(runs)) as pool:
        for number in range(40):
            place = tmp_path / f"target{number}"
            if before == "empty":
                place.mkdir()
            if before == "dead":
                claim(place, "dead")
            found = list(pool.map(lambda run, place=place: compete(place, run), runs))
            (winner,) = [one for one in found if isinstance(one, Path)]
            assert found.count(f"3 {place}: is in use by run {RUN}") == len(runs) - 1
            marker = target_marker(str(place))
            assert marker is not None
            assert marker.is_of(winner)
            (place / "c0001-r1").mkdir()
            for run in runs:
                if run != winner:
                    assert release_target(str(place), run) == []
                    remove_case_directory(str(place), "c0001-r1", run)
            assert (place / "c0001-r1").exists()
            assert release_target(str(place), winner) == []
            assert place.exists() == (before == "empty")


def test_directory_that_somebody_makes_meanwhile_is_not_ours(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    place = tmp_path / "target"
    write = places._write_marker

    def slow(fd: int, marker: Marker) -> None:
        place.mkdir(exist_ok=True)
        write(fd, marker)

    monkeypatch.setattr(places, "_write_marker", slow)
    assert claim(place).created_by_assay is False
    assert release(place) == []
    assert tree(tmp_path) == {"target"}


def test_target_stays_locked_while_it_is_claimed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(places, "PATIENCE_SECONDS", 0.1)
    place = tmp_path / "target"
    claim(place)
    fd = os.open(place, os.O_RDONLY)
    try:
        fcntl.flock(fd, fcntl.LOCK_EX)
        with pytest.raises(AssayError, match="is in use by another run"):
            claim(place)
        assert "is in use by another run" in release(place)[0]
    finally:
        os.close(fd)


def test_device_is_held_by_one_run_whatever_its_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(locks, "DEVICE_PATIENCE_SECONDS", 0.1)
    with loop_device(tmp_path, 16 << 20) as device:
        alias = tmp_path / "alias"
        os.mknod(alias, 0o600 | stat.S_IFBLK, Path(device).stat().st_rdev)
        held = locks.hold_device(device)
        try:
            with pytest.raises(AssayError, match="is in use by another run") as caught:
                locks.hold_device(str(alias))
            assert caught.value.exit_code == EXIT_REFUSED
            # The engine opens it exclusively, which our holding it must not prevent.
            os.close(os.open(device, os.O_RDWR | os.O_EXCL))
        finally:
            locks.close_all(held)
        again = locks.hold_device(str(alias))
        locks.close_all(again)
        alias.unlink()
    with pytest.raises(AssayError, match="No such file"):
        locks.hold_device("/dev/none")


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
    number = devices.device_number(Path("/").stat().st_dev)
    if not (devices.SYS / number).exists():
        pytest.skip("the root file system is on no block device")
    assert devices.mounted_at(number) is not None


def test_disk_with_mounted_partition_swap_or_holders_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with loop_device(tmp_path, 16 << 20) as device:
        number = devices.device_number(Path(device).stat().st_rdev)
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
