"""Where Assay may write, and that nothing else is touched."""

import fcntl
import json
import os
import stat
import subprocess
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from loop_devices import loop_device, small_ext4
from mounts import bind_mount, needs_mounts
from soak import times

from assay.contract._generated import PlaceAnswer
from assay.launch import devices, locks
from assay.launch.inspector import MachineInspector
from assay.launch.places import (
    MARKER,
    Owner,
    claim_target,
    inspect_path,
    overlap_problems,
    parent_numbers,
    release_target,
    remove_case_directory,
)
from assay.model.base import EXIT_REFUSED, AssayError
from assay.store import foreign_run_state

RUN = "20270115-080000-tiny"


def problems(path: object, kind: str = "file", destroy: bool = False) -> str:
    looking = MachineInspector(destroy)
    seen = looking.device(str(path)) if kind == "device" else looking.directory(str(path))
    return "; ".join(message for message, _ in seen.problems)


def owner(path: Path, run: str = RUN) -> Owner:
    return Owner(run, path.parent / "runs" / run)


def claim(path: Path, run: str = RUN, keep: bool = False) -> PlaceAnswer:
    return claim_target(str(path), owner(path, run), lambda _: False, keep)


def release(path: Path, run: str = RUN, claimed: str = "") -> list[str] | None:
    return release_target(str(path), owner(path, run), claimed)


def made_by_us(answer: PlaceAnswer) -> bool:
    assert answer.mark is not None
    return answer.mark.created_by_assay


def job(place: Path, name: str, run: str = RUN) -> Path:
    """The directory of a job with its mark and a file, as an engine leaves it when it is killed."""
    folder = place / name
    folder.mkdir()
    (folder / f".assay-job-{owner(place, run).identity}").write_text("")
    (folder / "f0").write_text("x")
    return folder


def tree(path: Path) -> set[str]:
    return {str(found.relative_to(path)) for found in path.rglob("*")}


def test_new_directory_is_made_marked_and_removed(tmp_path: Path) -> None:
    place = tmp_path / "target"
    assert problems(place) == ""
    assert not place.exists()
    claim(place)
    marker = json.loads((place / MARKER).read_text())
    assert (marker["run"], marker["created_by_assay"]) == (RUN, True)
    assert marker["identity"] == owner(place).identity
    job(place, "c0001-r1")
    assert release(place) == []
    assert tree(tmp_path) == set()


def test_a_mark_from_another_machine_is_not_taken_over(tmp_path: Path) -> None:
    place = tmp_path / "target"
    theirs = Owner("20270115-080000-theirs", tmp_path / "elsewhere")
    claim_target(str(place), theirs, lambda _: False, elsewhere=True)
    kept = job(place, "c0001-r1", "20270115-080000-theirs")
    before = (place / MARKER).read_bytes()
    with pytest.raises(AssayError, match="is marked by another run, 20270115-080000-theirs"):
        claim(place)
    assert (place / MARKER).read_bytes() == before and (kept / "f0").exists()


def test_empty_directory_is_marked_and_stays(tmp_path: Path) -> None:
    place = tmp_path / "target"
    (place / "lost+found").mkdir(parents=True)
    assert problems(place) == ""
    assert made_by_us(claim(place)) is False
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


def test_claim_never_follows_a_link_put_there_after_the_look(tmp_path: Path) -> None:
    (tmp_path / "precious").mkdir()
    (tmp_path / "target").symlink_to("precious")
    with pytest.raises(AssayError, match="is a symbolic link"):
        claim(tmp_path / "target")
    assert tree(tmp_path / "precious") == set()


def test_links_inside_the_directory_are_not_followed(tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "precious").write_text("x")
    place = tmp_path / "target"
    claim(place)
    (place / "c0001-r1").symlink_to(outside)
    (job(place, "c0002-r1") / "f1").symlink_to(outside)
    left = release(place)
    assert (outside / "precious").exists()
    assert left and len(left) == 1
    assert "c0001-r1: leads elsewhere" in left[0] or "c0001-r1: Not a directory" in left[0]
    assert not (place / "c0002-r1").exists()


@pytest.mark.parametrize("text", ["", "[]", "{}", "null", '{"run": 1}'])
def test_marker_that_is_not_ours_is_refused(tmp_path: Path, text: str) -> None:
    (tmp_path / MARKER).write_text(text)
    assert "not a marker of Assay" in problems(tmp_path)


def test_marker_that_is_a_link_or_fifo_is_refused(tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    claim(tmp_path / "b")
    (tmp_path / "a" / MARKER).symlink_to(tmp_path / "b" / MARKER)
    assert "not a marker of Assay" in problems(tmp_path / "a")
    (tmp_path / "f").mkdir()
    os.mkfifo(tmp_path / "f" / MARKER)
    assert "not a marker of Assay" in problems(tmp_path / "f")


def test_what_a_dead_run_left_is_removed_at_the_next_claim(tmp_path: Path) -> None:
    place = tmp_path / "target"
    claim(place, "dead")
    job(place, "c0003-r2", "dead")
    (place / ".assay-probe-123").write_text("")
    (place / "notes.txt").write_text("not ours")
    assert problems(place) == ""
    assert made_by_us(claim(place, "next"))
    assert tree(place) == {MARKER, "notes.txt"}
    assert release(place, "dead") == []
    assert (place / MARKER).exists()
    left = release(place, "next")
    assert left and "notes.txt" in left[0]
    assert tree(place) == {"notes.txt"}


def test_kept_data_is_neither_removed_nor_overwritten(tmp_path: Path) -> None:
    place = tmp_path / "target"
    claim(place, keep=True)
    job(place, "c0001-r1")
    assert release(place) is None
    assert (place / "c0001-r1" / "f0").exists()
    assert "keeps there" in problems(place)


def test_claim_and_release_that_were_cut_short(tmp_path: Path) -> None:
    place, unfinished = tmp_path / "target", tmp_path / ".target.assay-new"
    unfinished.mkdir()
    (unfinished / MARKER).write_text("{")
    claim(place)
    assert not unfinished.exists()
    place.rename(unfinished)
    assert release(place) == []
    assert tree(tmp_path) == set()
    # Between mkdir and rename: the directory is there, and so is the unfinished one.
    claim(place)
    (place / MARKER).rename(unfinished.with_name("mark"))
    unfinished.mkdir()
    (tmp_path / "mark").rename(unfinished / MARKER)
    assert made_by_us(claim(place))
    assert tree(tmp_path) == {"target", f"target/{MARKER}"}
    unfinished.mkdir()
    (unfinished / "precious").write_text("x")
    left = release(place)
    assert left and "holds precious, which is not Assay's" in left[0]
    assert (unfinished / "precious").exists()


def test_resumed_run_still_knows_that_it_made_the_directory(tmp_path: Path) -> None:
    place = tmp_path / "target"
    claim(place)
    assert made_by_us(claim(place))
    assert release(place) == []
    assert not place.exists()


def test_only_directories_of_jobs_are_removed_by_name(tmp_path: Path) -> None:
    place = tmp_path / "target"
    claim(place)

    def remove(name: str, run: str = RUN) -> list[str]:
        return remove_case_directory(str(place), name, owner(place, run))

    job(place, "c0001-r1")
    (place / "other").mkdir()
    (place / "other" / "precious").write_text("x")
    assert "no mark of this run" in remove("c0001-r1", "another")[0]
    assert (place / "c0001-r1").exists()
    assert remove("c0001-r1") == []
    assert "has no mark of this run's jobs: left alone" in remove("other")[0]
    with pytest.raises(AssayError, match="plain name"):
        remove("../target/other")
    assert tree(place) == {MARKER, "other", "other/precious"}


def test_what_a_job_has_not_made_stays(tmp_path: Path) -> None:
    place = tmp_path / "target"
    claim(place)
    folder = job(place, "c0001-r1")
    (folder / "thesis.tex").write_text("years of work")
    (folder / "t0").mkdir()
    (folder / "t0" / "f0.1").write_text("x")
    (folder / "t0" / "photos").mkdir()
    left = release(place)
    assert left is not None
    assert {line.rpartition(": ")[0].removeprefix(f"{place}/").partition(":")[0] for line in left} == {
        "c0001-r1/thesis.tex",
        "c0001-r1/t0/photos",
    }
    assert all("was not made by Assay: left alone" in line for line in left)
    assert (folder / "thesis.tex").exists() and not (folder / "f0").exists() and not (folder / "t0" / "f0.1").exists()


def test_a_directory_that_somebody_has_put_in_place_of_a_jobs_stays(tmp_path: Path) -> None:
    place, mine = tmp_path / "target", tmp_path / "mine"
    claim(place)
    mine.mkdir()
    (mine / "f0").write_text("looks like a job's file")
    mine.rename(place / "c0001-r1")
    left = release(place)
    assert left and "has no mark of this run's jobs: left alone" in left[0]
    assert (place / "c0001-r1" / "f0").exists()


@needs_mounts
@pytest.mark.parametrize("where", ["c0001-r1", "c0002-r1/t0", "c0002-r1/f7"])
def test_a_mount_is_left_alone_and_the_rest_removed(tmp_path: Path, where: str) -> None:
    place, foreign = tmp_path / "target", tmp_path / "foreign"
    foreign.mkdir()
    (foreign / "f0").write_text("precious")
    claim(place, "dead")
    job(place, "c0001-r1", "dead")
    job(place, "c0002-r1", "dead")
    point = place / where
    if where.endswith("f7"):
        point.write_text("")
    else:
        point.mkdir(exist_ok=True)
    source = foreign / "f0" if where.endswith("f7") else foreign
    with bind_mount(source, point):
        claimed = claim(place, "next")
        assert [left.why for left in claimed.left] == ["is a mount: left alone"]
        assert claimed.left[0].path == str(point)
        assert not (place / "c0003-r1").exists()
        assert not (place / "c0002-r1" / "f0").exists()
        assert (foreign / "f0").read_text() == "precious"
        left = release(place, "next")
        assert left and str(place) in left[0]
    assert (foreign / "f0").read_text() == "precious"


@needs_mounts
def test_a_target_that_is_out_of_sight_is_not_called_removed(tmp_path: Path) -> None:
    with small_ext4(tmp_path, 16 << 20) as (device, point):
        place = Path(point) / "target"
        above = parent_numbers(str(place))
        claimed = claim_target(str(place), owner(tmp_path / "x"), lambda _: False)
        subprocess.run(["umount", "-l", point], check=True)
        left = release_target(str(place), owner(tmp_path / "x"), claimed.identity, parent=above)
        assert (
            left
            and "parent directory was replaced or unmounted since the run began: the new one is left alone" in left[0]
        )
        subprocess.run(["mount", device, point], check=True)
        assert release_target(str(place), owner(tmp_path / "x"), claimed.identity, parent=above) == []
        assert not place.exists()


def test_a_run_that_cannot_be_looked_at_may_be_alive(tmp_path: Path) -> None:
    place = tmp_path / "target"
    claim(place, "other")
    job(place, "c0001-r1", "other")
    with pytest.raises(AssayError, match=r"is marked by run other, whose folder .* cannot be read") as told:
        claim_target(str(place), owner(place), foreign_run_state)
    assert "remove it" in told.value.hint
    assert (place / "c0001-r1" / "f0").exists()
    folder = owner(place, "other").folder
    folder.mkdir(parents=True)
    for name in ("run.lock", "engine.lock"):
        (folder / name).touch()
    fd = os.open(folder / "run.lock", os.O_RDONLY)
    fcntl.flock(fd, fcntl.LOCK_EX)
    with pytest.raises(AssayError, match="is in use by run other"):
        claim_target(str(place), owner(place), foreign_run_state)
    os.close(fd)
    assert claim_target(str(place), owner(place), foreign_run_state).mark is not None
    assert not (place / "c0001-r1").exists()


@pytest.mark.parametrize("name", [".assay-target.new", ".assay-probe-notes", ".assay-probe-1-2", "backup-c1-r1"])
def test_names_like_assays_are_not_enough(tmp_path: Path, name: str) -> None:
    place = tmp_path / "target"
    if name == ".assay-target.new":
        place.mkdir()
        (place / name).write_text("precious")
        with pytest.raises(AssayError, match="not empty and not made by Assay"):
            claim(place)
    else:
        claim(place)
        if name.startswith("."):
            (place / name).write_text("precious")
        else:
            (place / name).mkdir()
        left = release(place)
        assert left and name in left[0]
    assert (place / name).exists()


@needs_mounts
def test_a_mount_under_the_unfinished_name_is_not_crossed(tmp_path: Path) -> None:
    living, place, unfinished = tmp_path / "living", tmp_path / "target", tmp_path / ".target.assay-new"
    claim(living, "other")
    unfinished.mkdir()
    with bind_mount(living, unfinished), pytest.raises(AssayError, match="is a mount: left alone"):
        claim(place)
    assert (living / MARKER).exists()
    assert "reserves" in problems(unfinished)


def test_of_a_claimed_place_a_lost_mark_is_told(tmp_path: Path) -> None:
    place = tmp_path / "target"
    claimed = claim(place)
    (place / MARKER).unlink()
    left = release(place, claimed=claimed.identity)
    assert left and "has no mark of this run: left alone" in left[0]


@pytest.mark.parametrize("before", ["nothing", "empty", "dead"])
def test_of_runs_that_claim_a_directory_together_one_gets_it(tmp_path: Path, before: str) -> None:
    runs = [tmp_path / "runs" / str(number) / RUN for number in range(6)]
    together = threading.Barrier(len(runs))

    def compete(place: Path, run_folder: Path) -> Path | str:
        together.wait()
        try:
            claim_target(str(place), Owner(RUN, run_folder), lambda folder: folder.name == RUN)
        except AssayError as error:
            return f"{error.exit_code} {error.message}"
        return run_folder

    with ThreadPoolExecutor(len(runs)) as pool:
        for number in range(times(8, 60)):
            place = tmp_path / f"target{number}"
            if before == "empty":
                place.mkdir()
            if before == "dead":
                claim(place, "dead")
            found = list(pool.map(lambda run, place=place: compete(place, run), runs))
            (winner,) = [one for one in found if isinstance(one, Path)]
            refused = [one for one in found if isinstance(one, str)]
            assert len(refused) == len(runs) - 1 and all("is in use by" in one for one in refused), refused
            assert Owner(RUN, winner).owns(inspect_path(str(place)).mark)
            (place / "c0001-r1").mkdir()
            for run in runs:
                if run != winner:
                    assert release_target(str(place), Owner(RUN, run)) == []
                    assert remove_case_directory(str(place), "c0001-r1", Owner(RUN, run)) != []
            assert (place / "c0001-r1").exists()
            assert release_target(str(place), Owner(RUN, winner)) == []
            assert place.exists() == (before == "empty")


def test_target_stays_locked_while_it_is_claimed(tmp_path: Path) -> None:
    place = tmp_path / "target"
    claim(place)
    fd = os.open(place, os.O_RDONLY)
    try:
        fcntl.flock(fd, fcntl.LOCK_EX)
        with pytest.raises(AssayError, match="is in use by another process"):
            claim(place)
    finally:
        os.close(fd)


def test_device_is_held_by_one_run_whatever_its_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(locks, "DEVICE_PATIENCE_SECONDS", 0.1)
    with loop_device(tmp_path, 16 << 20) as device:
        alias = tmp_path / "alias"
        os.mknod(alias, 0o600 | stat.S_IFBLK, Path(device).stat().st_rdev)
        held = locks.lock_device(device)
        try:
            with pytest.raises(AssayError, match="is in use by another run") as caught:
                locks.lock_device(str(alias))
            assert caught.value.exit_code == EXIT_REFUSED
            # The engine opens it exclusively, which our holding it must not prevent.
            os.close(os.open(device, os.O_RDWR | os.O_EXCL))
        finally:
            locks.close_all(held)
        again = locks.lock_device(str(alias))
        locks.close_all(again)
        alias.unlink()
    with pytest.raises(AssayError, match="No such file"):
        locks.lock_device("/dev/none")


def test_targets_must_not_share_a_place(tmp_path: Path) -> None:
    a, b, c = (str(tmp_path / name) for name in ("a", "a-b", "a/c"))
    assert overlap_problems({"one": a, "two": b}) == []
    assert "one and two share" in overlap_problems({"one": a, "two": a})[0][0]
    assert "one and three share" in overlap_problems({"one": a, "two": b, "three": c})[0][0]
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to("real")
    real = {name: inspect_path(str(tmp_path / name / "x")).real_path for name in ("real", "link")}
    assert overlap_problems(real)


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
        assert "all data on it would be overwritten" in problems(device, "device")
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
        mounts = tmp_path / "mountinfo"
        mounts.write_text("1 1 250:9 / /srv/my\\040data rw - ext4 /dev/x rw\n")
        monkeypatch.setattr(devices, "MOUNTS", str(mounts))
        assert "part1: mounted at /srv/my data" in problems(device, "device", True)
        mounts.write_bytes("1 1 250:9 / /srv/\u00e9\u2028\n".encode()[:-1] + b"\xff rw - ext4 /dev/x rw\n")
        assert "part1: mounted at /srv/\u00e9" in problems(device, "device", True)
        mounts.write_text("")
        swaps = tmp_path / "swaps"
        swaps.write_text(f"Filename Type Size Used Priority\n{device} partition 1 0 -2\n")
        monkeypatch.setattr(devices, "SWAPS", swaps)
        assert "used for swap" in problems(device, "device", True)
