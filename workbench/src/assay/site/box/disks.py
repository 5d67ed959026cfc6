"""Disks of a box: sparse files with a file system, their loop devices, and the control groups that limit them."""

import contextlib
import fcntl
import os
import re
import struct
import time
import zlib
from dataclasses import dataclass
from pathlib import Path

from assay.journal.trees import remove_known
from assay.model.base import EXIT_REFUSED, AssayError
from assay.model.site.box import Disk, HostSpec
from assay.site.box.programs import run

GROUPS = Path("/sys/fs/cgroup")
LOOPS = Path("/sys/block")
PREFIX = "assay-box-"
SHARED = "shared"
"""The directory that all hosts of a box have in common, in the folder of its disks."""
IMAGE = re.compile(r"[a-z0-9-]+-\d+\.img")
"""Names of the files of disks: host and number."""
STATUS, DETACH = 0x4C05, 0x4C01
"""LOOP_GET_STATUS64 and LOOP_CLR_FD of linux/loop.h."""
PATIENCE_SECONDS = 5.0


@dataclass(frozen=True)
class Hierarchy:
    """Where groups that limit disks are made; version 1 or 2 of the control groups."""

    version: int
    folder: Path


def limited(spec: HostSpec) -> bool:
    """Whether a disk of the host has a limit."""
    return any(disk.limited for disk in spec.disks)


def find_hierarchy(root: Path = GROUPS) -> Hierarchy:
    """The controller of block devices.

    Raises:
        AssayError: This machine has none.
    """
    if (root / "blkio" / "blkio.throttle.read_bps_device").exists():
        return Hierarchy(1, root / "blkio")
    controllers = root / "cgroup.controllers"
    if controllers.exists() and "io" in controllers.read_text().split():
        return Hierarchy(2, root)
    hint = "leave out the limits of disks, or use a machine with the blkio or io controller"
    raise AssayError(f"disks cannot be limited: no control groups for that below {root}", hint, EXIT_REFUSED)


def group_prefix(boxes: Path) -> str:
    """How the names of all groups begin that belong to boxes in a folder."""
    return f"{PREFIX}{zlib.crc32(str(boxes).encode()):08x}-"


def make_group(hierarchy: Hierarchy, path: Path) -> None:
    """Make the group of a host.

    Raises:
        AssayError: The kernel refuses.
    """
    try:
        if hierarchy.version == 2:
            (hierarchy.folder / "cgroup.subtree_control").write_text("+io")
        path.mkdir(exist_ok=True)
    except OSError as error:
        raise AssayError(f"disks cannot be limited: {path}: {error.strerror}", "", EXIT_REFUSED) from error


def group_fault(path: Path, box: Path) -> str:
    """Why a path is not that of a group of a box's hosts; empty if it is.

    Args:
        path: As a journal names it.
        box: Folder of the box.
    """
    try:
        folder = find_hierarchy().folder
    except AssayError as error:
        return f"{path}: {error.message}"
    ours = f"{group_prefix(box.parent)}{box.name}-"
    if path.parent != folder or not path.name.startswith(ours):
        return f"{path}: is not a control group of this box: left alone"
    return ""


def make_image(disk: Disk, image: Path) -> None:
    """Make a file of a disk, with its file system if it is to be mounted and is no more than this file.

    Raises:
        AssayError: There is no room, or the file system cannot be made.
    """
    fd = os.open(image, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
    try:
        os.truncate(fd, disk.size)
    finally:
        os.close(fd)
    if disk.mount is None or disk.raid is not None:
        return
    quiet = ["-q", "-F", "-m", "0"] if disk.filesystem.startswith("ext") else ["-q"]
    run([f"mkfs.{disk.filesystem}", *quiet, *(disk.make or "").split(), str(image)], f"file system of {image.name}")


def loops_of(folder: Path) -> list[Path]:
    """Loop devices whose files are those in a folder, whatever path the kernel shows for them.

    A container may have files of the same paths, and its loop devices are seen here.
    """
    return [device for device, fd in _open_loops(folder) if _closed(fd)]


def _open_loops(folder: Path) -> list[tuple[Path, int]]:
    """Loop devices of a folder, each with a descriptor; while that is open, the device keeps its file."""
    files = {(found.st_dev, found.st_ino) for path in folder.glob("*.img") if (found := _status(path)) is not None}
    opened = []
    for device in LOOPS.glob("loop*") if files else []:
        if not (device / "loop" / "backing_file").exists():
            continue
        with contextlib.suppress(OSError):
            fd = os.open(Path("/dev", device.name), os.O_RDONLY | os.O_CLOEXEC)
            if _file_of(fd) in files:
                opened.append((Path("/dev", device.name), fd))
            else:
                os.close(fd)
    return opened


def _status(path: Path) -> os.stat_result | None:
    try:
        return path.lstat()
    except OSError:
        return None


def _file_of(loop: int) -> tuple[int, int] | None:
    """Device and inode of the file behind an open loop device: `lo_device` and `lo_inode`; None if there is none."""
    found = bytearray(232)
    try:
        fcntl.ioctl(loop, STATUS, found)
    except OSError:
        return None
    device, inode = struct.unpack_from("=QQ", found)
    return device, inode


def _closed(fd: int) -> bool:
    os.close(fd)
    return True


def detach_loops(folder: Path) -> list[str]:
    """Detach the loop devices of a folder.

    Those that were mounted in a host go by themselves, a moment after it.

    Returns:
        Those that somebody keeps open.
    """
    end = time.monotonic() + PATIENCE_SECONDS
    while True:
        found = _open_loops(folder)
        for _, fd in found:
            with contextlib.suppress(OSError):
                fcntl.ioctl(fd, DETACH)
            os.close(fd)
        if not found:
            return []
        if time.monotonic() > end:
            return [f"{device}: still in use" for device, _ in found]
        time.sleep(0.005)


def remove_images(folder: Path, marker: str) -> list[str]:
    """Remove a marked folder of disks; returns what could not be."""
    problems = remove_known(folder, lambda name: name == SHARED or IMAGE.fullmatch(name) is not None, marker)
    if not problems:
        try:
            folder.rmdir()
        except FileNotFoundError:
            pass
        except OSError as error:
            problems.append(f"{folder}: {error.strerror}")
    return problems
