"""Disks of a box: sparse image files with a file system, their loop devices, and control groups that limit them."""

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
from assay.site.installed import checked_output

CGROUP_ROOT = Path("/sys/fs/cgroup")
BLOCK_DEVICES = Path("/sys/block")
PREFIX = "assay-box-"
SHARED_FOLDER = "shared"
"""Name of the directory that all hosts of a box share, in the folder of its disks."""
IMAGE = re.compile(r"[a-z0-9-]+-\d+\.img")
"""Names of image files: host and number."""
LOOP_GET_STATUS64, LOOP_CLR_FD = 0x4C05, 0x4C01
"""Requests LOOP_GET_STATUS64 and LOOP_CLR_FD of linux/loop.h."""
DETACH_TIMEOUT_SECONDS = 5.0


@dataclass(frozen=True)
class Hierarchy:
    """A hierarchy of control groups that can limit disks.

    Attributes:
        version: Version of control groups, 1 or 2.
        folder: Folder in which groups are made.
    """

    version: int
    folder: Path


def has_disk_limits(spec: HostSpec) -> bool:
    """Return whether a disk of the host has a limit."""
    return any(disk.is_limited for disk in spec.disks)


def find_hierarchy(root: Path = CGROUP_ROOT) -> Hierarchy:
    """Return the hierarchy with the controller of block devices.

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
    """Return the common prefix of the control groups of all boxes in a folder."""
    return f"{PREFIX}{zlib.crc32(str(boxes).encode()):08x}-"


def make_group(hierarchy: Hierarchy, path: Path) -> None:
    """Make the control group of a host.

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
    """Return why a path is not the control group of a host of a box; empty if it is.

    Args:
        path: Path from a journal.
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
    """Make an image file of a disk, with a file system if the disk is mounted and is not a RAID of several files.

    Raises:
        AssayError: The file system cannot be made.
    """
    fd = os.open(image, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
    try:
        os.truncate(fd, disk.size)
    finally:
        os.close(fd)
    if disk.mount is None or disk.raid is not None:
        return
    quiet = ["-q", "-F", "-m", "0"] if disk.filesystem.startswith("ext") else ["-q"]
    checked_output(
        [f"mkfs.{disk.filesystem}", *quiet, *(disk.make or "").split(), str(image)], f"file system of {image.name}"
    )


def loops_of(folder: Path) -> list[Path]:
    """Return the loop devices of the image files in a folder.

    Files are compared by device and inode: loop devices of containers are visible here, and may show the same paths.
    """
    return [device for device, fd in _open_loops(folder) if _close(fd)]


def _open_loops(folder: Path) -> list[tuple[Path, int]]:
    """Return the loop devices of a folder, each with an open descriptor, which keeps it attached to its file."""
    files = {(status.st_dev, status.st_ino) for path in folder.glob("*.img") if (status := _status(path)) is not None}
    opened = []
    for device in BLOCK_DEVICES.glob("loop*") if files else []:
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
    """Return device and inode of the file of an open loop device (`lo_device`, `lo_inode`); None if it has none."""
    info = bytearray(232)
    try:
        fcntl.ioctl(loop, LOOP_GET_STATUS64, info)
    except OSError:
        return None
    device, inode = struct.unpack_from("=QQ", info)
    return device, inode


def _close(fd: int) -> bool:
    os.close(fd)
    return True


def detach_loops(folder: Path) -> list[str]:
    """Detach the loop devices of a folder.

    Devices that were mounted in a host detach by themselves shortly after the host has ended.

    Returns:
        Devices that are still in use, one line each.
    """
    end = time.monotonic() + DETACH_TIMEOUT_SECONDS
    while True:
        found = _open_loops(folder)
        for _, fd in found:
            with contextlib.suppress(OSError):
                fcntl.ioctl(fd, LOOP_CLR_FD)
            os.close(fd)
        if not found:
            return []
        if time.monotonic() > end:
            return [f"{device}: still in use" for device, _ in found]
        time.sleep(0.005)


def remove_images(folder: Path, marker: str) -> list[str]:
    """Remove a marked folder of disks; return what could not be removed, one line each."""
    problems = remove_known(folder, lambda name: name == SHARED_FOLDER or IMAGE.fullmatch(name) is not None, marker)
    if not problems:
        try:
            folder.rmdir()
        except FileNotFoundError:
            pass
        except OSError as error:
            problems.append(f"{folder}: {error.strerror}")
    return problems
