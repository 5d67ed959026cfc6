"""Where directories lie, and whether what is kept there fits."""

from pathlib import Path

import pytest

from assay.contract._answers import Space
from assay.launch import free_space
from assay.launch.free_space import MountInfo, mount_info, reserve, root_mount_problem, space_problems
from assay.launch.mounts import Mount

GIB = 1 << 30
ROOT = Mount("254:0", "/", "/", "ext4", "/dev/vda", ("rw",))
DATA = Mount("8:1", "/", "/mnt/data", "xfs", "/dev/sdb1", ("rw",))
HIDDEN = Mount("8:2", "/", "/mnt/data", "ext4", "/dev/sdc1", ("rw",))
SHM = Mount("0:20", "/", "/dev/shm", "tmpfs", "tmpfs", ("rw",))
RAM = Mount("0:21", "/", "/ram", "ramfs", "ramfs", ("rw",))
MOUNTS = (ROOT, HIDDEN, DATA, SHM, RAM)


def space(free: int, size: int = 100 * GIB) -> Space:
    return Space(block_bytes=4096, files=0, free_bytes=free, free_files=0, size_bytes=size)


@pytest.mark.parametrize(
    ("path", "mount"),
    [("/var/tmp/x", ROOT), ("/mnt/data/x", DATA), ("/mnt/data", DATA), ("/mnt/database", ROOT), ("/dev/shm/a/b", SHM)],
)
def test_a_directory_lies_on_the_last_mount_of_the_longest_point(path: str, mount: Mount) -> None:
    assert mount_info(path, None, MOUNTS).mount == mount


def test_words_name_file_system_device_and_room() -> None:
    assert (
        mount_info("/mnt/data/x", space(5 * GIB), MOUNTS).words
        == "xfs on /dev/sdb1, mounted at /mnt/data, 5.37 GB free"
    )
    assert mount_info("/dev/shm/x", None, MOUNTS).words == "tmpfs, mounted at /dev/shm"
    assert MountInfo("/x", None, None).words == "an unknown file system"


def test_of_a_small_file_system_little_is_kept_free_and_of_a_large_one_not_more() -> None:
    assert reserve(64 << 20) == (64 << 20) // 20
    assert reserve(100 << 40) == 2 * GIB


def test_what_does_not_fit_beside_the_reserve_is_refused() -> None:
    places = {"d": mount_info("/var/tmp/x", space(10 * GIB), MOUNTS)}
    assert space_problems({"d": 7 * GIB}, places, False) == {}
    message, hint = space_problems({"d": 9 * GIB}, places, False)["d"]
    assert "9.66 GB of test data at once do not fit: 8.59 GB can be used" in message and "file_size" in hint
    assert space_problems({"d": 99 << 40}, {"d": MountInfo("/x", None, None)}, False) == {}


def test_only_data_that_is_kept_adds_up_over_the_targets_of_a_file_system() -> None:
    places = {name: mount_info(f"/var/tmp/{name}", space(10 * GIB), MOUNTS) for name in "ab"}
    needs = dict.fromkeys("ab", 6 * GIB)
    assert space_problems(needs, places, False) == {}
    assert len(space_problems(needs, places, True)) == 1


def test_what_lies_in_memory_has_no_more_room_than_that(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    info = tmp_path / "meminfo"
    info.write_text("MemTotal: 8388608 kB\nMemAvailable: 1048576 kB\n")
    monkeypatch.setattr(free_space, "MEMORY_INFO", info)
    places = {"m": mount_info("/dev/shm/x", space(4 * GIB, 4 * GIB), MOUNTS)}
    assert "only 1.07 GB of this machine's memory" in space_problems({"m": 2 * GIB}, places, False)["m"][0]
    assert space_problems({"m": GIB // 2}, places, False) == {}


def test_a_file_system_without_a_size_has_what_the_memory_has(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    info = tmp_path / "meminfo"
    info.write_text("MemAvailable: 1048576 kB\n")
    monkeypatch.setattr(free_space, "MEMORY_INFO", info)
    place = mount_info("/ram/x", None, MOUNTS)
    assert place.words == "ramfs, mounted at /ram"
    assert space_problems({"m": GIB // 2}, {"m": place}, False) == {}
    assert "only 1.07 GB of this machine's memory" in space_problems({"m": 2 * GIB}, {"m": place}, False)["m"][0]


@pytest.mark.parametrize(
    ("path", "fstab", "said"),
    [
        ("/mnt/nas/x", [], "paths in /mnt are meant for mounts"),
        ("/media/usb/x", [], "paths in /media are meant for mounts"),
        ("/data/x", ["nas:/data /data nfs defaults 0 0"], "/data is a mount point of"),
        (r"/my disk/x", [r"/dev/sdx /my\040disk ext4 defaults 0 0"], "/my disk is a mount point of"),
    ],
)
def test_a_path_for_mounts_with_nothing_mounted_is_refused(path: str, fstab: list[str], said: str) -> None:
    problem = root_mount_problem(mount_info(path, None, MOUNTS), fstab)
    assert problem is not None and said in problem[0] and "--yes-on-root" in problem[1]


@pytest.mark.parametrize(
    ("path", "fstab"),
    [
        ("/mnt/data/x", ["/dev/sdb1 /mnt/data xfs defaults 0 0"]),
        ("/var/tmp/x", ["/dev/vda / ext4 defaults 0 1", "# /dev/sdz /var/tmp ext4", "none swap swap sw 0 0", ""]),
        ("/mnt", []),
        ("/dev/shm/x", []),
    ],
)
def test_other_paths_are_not(path: str, fstab: list[str]) -> None:
    assert root_mount_problem(mount_info(path, None, MOUNTS), fstab) is None
