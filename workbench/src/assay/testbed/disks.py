"""Disks of a box: sparse files with a file system, their loop devices, and the control groups that limit them."""

import contextlib
import errno
import os
import time
import zlib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from assay.model.base import EXIT_REFUSED, AssayError
from assay.model.box import Disk, HostSpec
from assay.testbed.run import run

GROUPS = Path("/sys/fs/cgroup")
LOOPS = Path("/sys/block")
PREFIX = "assay-box-"
PATIENCE_SECONDS = 5.0


@dataclass(frozen=True)
class Hierarchy:
    """Where groups that limit disks are made; version 1 or 2 of the control groups."""

    version: int
    folder: Path


def limited(spec: HostSpec) -> bool:
    """Whether a disk of the host has a limit."""
    return any(disk.read_limit or disk.write_limit for disk in spec.disks)


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
    hint = "leave out read_limit and write_limit, or use a machine with the blkio or io controller"
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


def remove_group(path: Path) -> bool:
    """Remove a group whose processes have ended or are about to; returns whether it is gone."""
    end = time.monotonic() + PATIENCE_SECONDS
    while True:
        try:
            path.rmdir()
        except FileNotFoundError:
            return True
        except OSError as error:
            if error.errno != errno.EBUSY or time.monotonic() > end:
                return False
            time.sleep(0.01)
        else:
            return True


def make_image(disk: Disk, image: Path) -> None:
    """Make the file of a disk, with its file system.

    Raises:
        AssayError: There is no room, or the file system cannot be made.
    """
    fd = os.open(image, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
    try:
        os.truncate(fd, disk.size)
    finally:
        os.close(fd)
    quiet = {"ext4": ["-q", "-F", "-m", "0"], "xfs": ["-q"]}[disk.filesystem]
    run([f"mkfs.{disk.filesystem}", *quiet, str(image)], f"file system of {image.name}")


def loops_of(folder: Path) -> list[Path]:
    """Loop devices whose files lie in a folder."""
    found = []
    for device in LOOPS.glob("loop*"):
        with contextlib.suppress(OSError):
            if (device / "loop" / "backing_file").read_text().startswith(f"{folder}/"):
                found.append(Path("/dev", device.name))
    return found


def detach_loops(folder: Path) -> list[str]:
    """Detach the loop devices of a folder.

    Those that were mounted in a host go by themselves, a moment after it.

    Returns:
        Those that somebody keeps open.
    """
    end = time.monotonic() + PATIENCE_SECONDS
    while True:
        found = loops_of(folder)
        if not found:
            return []
        if time.monotonic() > end:
            return [f"{device}: still in use" for device in found]
        for device in found:
            with contextlib.suppress(AssayError):
                run(["losetup", "--detach", str(device)], str(device))
        if loops_of(folder):
            time.sleep(0.005)


def remove_images(folder: Path, marker: str) -> list[str]:
    """Remove a marked folder of disks; returns what could not be."""
    problems = []
    names: Sequence[Path] = sorted(folder.glob("*.img")) if folder.is_dir() else []
    for path in (*names, folder / marker):
        try:
            path.unlink(missing_ok=True)
        except OSError as error:
            problems.append(f"{path}: {error.strerror}")
    try:
        folder.rmdir()
    except FileNotFoundError:
        pass
    except OSError as error:
        problems.append(f"{folder}: {error.strerror}")
    return problems
