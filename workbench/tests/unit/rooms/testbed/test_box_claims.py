"""What a journal or a folder of boxes says is checked: whatever is not of the box stays, and is said."""

import contextlib
import json
import os
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from in_process import run_here
from journal_lines import claim
from loop_devices import loop_device, need_root

from assay.journal.entry import CGROUP, DIRECTORY, PROCESS
from assay.journal.processes import boot_id, start_time
from assay.journal.trees import MAX_DEPTH
from assay.model.base import AssayError
from assay.rooms.testbed.work.clean import remove_lost_disks, remove_parts, take_down
from assay.rooms.testbed.work.disks import find_hierarchy, group_prefix, loops_of
from assay.rooms.testbed.work.find import remove_dead_boxes, running_boxes
from assay.rooms.testbed.work.folders import (
    MARKER,
    box_lock,
    boxes_root,
    disks_root,
    make_disks_folder,
    ownership_fault,
)
from assay.rooms.testbed.work.journal import NAME, BoxJournal


@pytest.fixture(autouse=True)
def _own_place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ASSAY_BOXES", str(tmp_path / "place"))


def _claimed(name: str, *claims: dict[str, object], disks: Path | None = None) -> Path:
    """The folder of a box with a journal that says so."""
    folder = boxes_root() / name
    folder.mkdir(parents=True)
    BoxJournal(folder, disks or disks_root() / name).close()
    with (folder / NAME).open("a") as file:
        file.writelines(json.dumps(one) + "\n" for one in claims)
    return folder


def _foreign(tmp_path: Path) -> Path:
    folder = tmp_path / "theirs"
    folder.mkdir()
    (folder / "letter.txt").write_text("mine")
    return folder


@pytest.fixture
def mounted(tmp_path: Path) -> Iterator[list[Path]]:
    """What is appended is unmounted at the end."""
    need_root()
    points: list[Path] = []
    yield points
    for point in points:
        subprocess.run(["umount", str(point)], check=True)


def _bind(source: Path, point: Path, mounted: list[Path]) -> None:
    subprocess.run(["mount", "--bind", str(source), str(point)], check=True)
    mounted.append(point)


@pytest.mark.parametrize("name", ["../../theirs", "..", ".", "THEIRS", "a/../../../theirs"])
def test_down_takes_names_of_boxes_only(tmp_path: Path, name: str) -> None:
    theirs = _foreign(tmp_path)
    name = name.replace("THEIRS", str(theirs))
    (tmp_path / "place" / "boxes" / "a").mkdir(parents=True)
    done = run_here(tmp_path, "testbed", "down", name)
    assert done.returncode != 0
    # Whoever may not make boxes is told so before.
    assert ("is not a name for a box" if os.geteuid() == 0 else "needs root") in done.stderr
    assert (theirs / "letter.txt").read_text() == "mine"
    with pytest.raises(AssayError, match="is not a name for a box"):
        take_down(name)


def test_a_folder_without_a_journal_is_left_alone() -> None:
    folder = boxes_root() / "notes"
    folder.mkdir(parents=True)
    (folder / "letter.txt").write_text("mine")
    assert remove_dead_boxes()[1] == [f"{folder}: has no journal of a box: left alone"]
    assert (folder / "letter.txt").read_text() == "mine"


def test_files_that_boxes_do_not_have_stay(tmp_path: Path) -> None:
    folder = _claimed("guest")
    (folder / "letter.txt").write_text("mine")
    (folder / "hosts").write_text("127.0.0.1 localhost\n")
    assert remove_parts(folder) == [f"{folder}/letter.txt: is not Assay's: left alone"]
    assert sorted(path.name for path in folder.iterdir()) == [NAME, "letter.txt"]


@pytest.mark.parametrize("where", ["", "private/host1/var", "private/host1"])
def test_a_mount_in_the_folder_of_a_box_is_left_alone(tmp_path: Path, mounted: list[Path], where: str) -> None:
    """A bind mount from the same file system, which has the same device number."""
    theirs = _foreign(tmp_path)
    folder = _claimed("bound")
    (folder / "private" / "host1" / "var").mkdir(parents=True)
    (folder / "private" / "host1" / "log").write_text("x")
    _bind(theirs, folder / where, mounted)
    if not where:
        (theirs / NAME).write_text("")
        (theirs / "private").mkdir()
    assert remove_parts(folder) == [f"{folder / where}: is a mount: left alone"]
    assert (theirs / "letter.txt").read_text() == "mine"
    assert not where or not (folder / "private/host1/log").exists(), "the rest is removed"


def test_a_mount_on_a_file_is_left_alone(tmp_path: Path, mounted: list[Path]) -> None:
    theirs = _foreign(tmp_path)
    folder = _claimed("bound")
    (folder / "hosts").touch()
    _bind(theirs / "letter.txt", folder / "hosts", mounted)
    assert remove_parts(folder) == [f"{folder}/hosts: is a mount: left alone"]
    assert (theirs / "letter.txt").read_text() == "mine"


def test_links_are_removed_and_not_followed(tmp_path: Path) -> None:
    theirs = _foreign(tmp_path)
    folder = _claimed("linked")
    (folder / "private").mkdir()
    (folder / "private" / "there").symlink_to(theirs)
    (folder / "ssh").symlink_to(theirs)
    os.link(theirs / "letter.txt", folder / "hosts")
    (folder / "servers").mkdir()
    with socket.socket(socket.AF_UNIX) as listening, contextlib.chdir(folder / "servers"):
        listening.bind("s")
    os.mkfifo(folder / "servers" / "fifo")
    assert remove_parts(folder) == []
    assert list(folder.iterdir()) == []
    assert (theirs / "letter.txt").read_text() == "mine"


def test_folders_without_end_are_one_line() -> None:
    folder = _claimed("deep")
    below = folder / "private"
    below.mkdir()
    before = os.open(".", os.O_RDONLY)
    try:
        os.chdir(below)
        for _ in range(MAX_DEPTH + 5):
            Path("d").mkdir()
            os.chdir("d")
    finally:
        os.chdir(before)
        os.close(before)
    (problem,) = remove_parts(folder)
    assert problem.endswith("is nested too deep: left alone")


@pytest.mark.parametrize("empty", [True, False])
def test_disks_elsewhere_stay(tmp_path: Path, empty: bool) -> None:
    theirs = tmp_path / "theirs"
    theirs.mkdir()
    if not empty:
        (theirs / "vm.img").write_text("mine")
        (theirs / MARKER).write_text(json.dumps({"box": str(boxes_root() / "claims")}))
    folder = _claimed("claims", disks=theirs)
    assert remove_parts(folder) == [f"{theirs}: is not where the disks of box claims are: left alone"]
    assert theirs.is_dir()
    assert empty or (theirs / "vm.img").read_text() == "mine"


def test_disks_behind_a_link_stay(tmp_path: Path) -> None:
    theirs = _foreign(tmp_path)
    (theirs / "vm-0.img").write_text("mine")
    folder = _claimed("claims")
    (theirs / MARKER).write_text(json.dumps({"box": str(folder)}))
    disks_root().mkdir()
    (disks_root() / "claims").symlink_to(theirs)
    assert remove_parts(folder) == [f"{disks_root()}/claims: is not a folder: left alone"]
    assert (theirs / "vm-0.img").read_text() == "mine"


def test_images_that_disks_do_not_have_stay() -> None:
    folder = _claimed("claims")
    make_disks_folder(disks_root() / "claims", folder)
    (disks_root() / "claims" / "holiday photos.img").write_text("mine")
    (problem,) = remove_parts(folder)
    assert problem.endswith("holiday photos.img: is not Assay's: left alone")
    assert (disks_root() / "claims" / "holiday photos.img").read_text() == "mine"


def test_another_box_s_marker_does_not_give_disks_away() -> None:
    disks = disks_root() / "other"
    make_disks_folder(disks, boxes_root() / "gone")
    (disks / "a-0.img").write_text("x")
    assert remove_lost_disks() == []
    assert (disks / "a-0.img").exists()


def test_a_process_that_is_no_init_of_the_box_lives_on() -> None:
    with subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE) as theirs:
        init = claim(2, PROCESS, "1", pid=theirs.pid, start=start_time(theirs.pid) or 0)
        folder = _claimed("claims", claim(1, DIRECTORY, str(disks_root() / "claims"), boot=boot_id()), init)
        assert remove_parts(folder) == []
        assert theirs.poll() is None
        theirs.communicate(b"\n")


@pytest.mark.parametrize(
    "written",
    [
        *([], 7, None, {"id": 7}, {"removed": "1", "at": 1.0}, {"amended": 1, "details": []}),
        *(claim(2, PROCESS, "7", pid=pid, start=1) for pid in ("7", -1, None)),
        *({**claim(2, CGROUP, "/x"), "name": 7}, claim(2, "nothing known", "/x")),
    ],
)
def test_claims_without_sense_are_no_errors(written: object) -> None:
    folder = _claimed("odd", claim(1, DIRECTORY, str(disks_root() / "odd"), boot=7))
    with (folder / NAME).open("a") as file:
        file.write(json.dumps(written) + "\n" + '{"id": 9, "kin{"id": 9}\n' + "[" * 100_000 + "\n")
    assert remove_parts(folder) == []


def test_a_directory_that_is_no_group_of_the_box_stays(tmp_path: Path) -> None:
    theirs = tmp_path / "empty"
    theirs.mkdir()
    folder = _claimed("claims", claim(2, CGROUP, str(theirs)))
    assert [problem.startswith(f"{theirs}: ") for problem in remove_parts(folder)] == [True]
    assert theirs.is_dir()


def test_groups_of_others_stay() -> None:
    need_root()
    hierarchy = find_hierarchy().folder
    strange = [
        hierarchy / f"theirs-{os.getpid()}",
        hierarchy / f"{group_prefix(boxes_root())}other-{os.getpid()}",
        hierarchy / f"{group_prefix(boxes_root())}claims-h" / "below",
    ]
    own = hierarchy / f"{group_prefix(boxes_root())}claims-own"
    dotted = f"{hierarchy}/{own.name}/../{strange[0].name}"
    claims = [claim(number, CGROUP, str(path)) for number, path in enumerate((*strange, dotted, own), start=2)]
    folder = _claimed("claims", *claims)
    try:
        for path in (*strange, own):
            path.mkdir(parents=True)
        problems = remove_parts(folder)
        assert not own.exists()
        assert all(path.is_dir() for path in strange)
        assert len(problems) == len(strange) + 1
    finally:
        for path in (*strange, strange[2].parent, own):
            if path.is_dir():
                path.rmdir()


def test_a_loop_device_of_another_file_of_this_name_stays(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As in a container, whose paths the kernel shows as if they were the machine's."""
    folder = _claimed("looped")
    disks = disks_root() / "looped"
    make_disks_folder(disks, folder)
    theirs = tmp_path / "theirs"
    theirs.mkdir()
    with loop_device(theirs, 2**20) as device:
        shown = tmp_path / "sys" / Path(device).name / "loop"
        shown.mkdir(parents=True)
        (shown / "backing_file").write_text(f"{disks}/image\n")
        (disks / "a-0.img").write_bytes(bytes(4096))
        monkeypatch.setattr("assay.rooms.testbed.work.disks.BLOCK_DEVICES", tmp_path / "sys")
        assert loops_of(disks) == []
        assert remove_parts(folder) == []
        assert Path(f"/sys/block/{Path(device).name}/loop/backing_file").exists()


def test_folders_of_other_users_are_left_alone_and_said(tmp_path: Path) -> None:
    need_root()
    folder = _claimed("theirs")
    os.chown(folder, 12345, 12345)
    assert ownership_fault(folder) == f"{folder}: belongs to another user"
    assert remove_dead_boxes() == ([], [f"{folder}: belongs to another user"])
    assert running_boxes() == ()
    with pytest.raises(AssayError, match="belongs to another user"):
        take_down("theirs")
    assert (folder / NAME).exists()
    os.chown(folder, 0, 0)
    folder.chmod(0o777)
    assert remove_dead_boxes() == ([], [f"{folder}: others may write into it"])
    folder.chmod(0o755)
    os.chown(boxes_root(), 12345, 12345)
    assert remove_dead_boxes() == ([], [f"{boxes_root()}: belongs to another user"])
    with pytest.raises(AssayError, match="belongs to another user"), box_lock("new", 0.0):
        pass
    assert (folder / NAME).exists()


def test_a_folder_of_disks_that_another_user_made_first_is_not_used(tmp_path: Path) -> None:
    """It is in /var/tmp unless ASSAY_BOXES says otherwise."""
    need_root()
    disks_root().mkdir(parents=True)
    os.chown(disks_root(), 12345, 12345)
    lost = disks_root() / "lost"
    lost.mkdir()
    (lost / MARKER).write_text(json.dumps({"box": str(boxes_root() / "lost")}))
    (lost / "a-0.img").write_text("mine")
    assert remove_lost_disks() == [f"{disks_root()}: belongs to another user"]
    with pytest.raises(AssayError, match="belongs to another user"):
        make_disks_folder(disks_root() / "new", boxes_root() / "new")
    assert (lost / "a-0.img").exists()
    folder = _claimed("lost")
    assert remove_parts(folder) == [f"{disks_root()}: belongs to another user: left alone"]
    theirs = tmp_path / "elsewhere"
    disks_root().rename(theirs)
    disks_root().symlink_to(theirs)
    assert remove_parts(folder) == [f"{disks_root()}: is not a folder: left alone"]
    assert (theirs / "lost" / "a-0.img").exists()
