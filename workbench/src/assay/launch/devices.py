"""Checks whether a block device may be overwritten."""

import contextlib
import errno
import os
import stat
from pathlib import Path

from assay.launch.mounts import MOUNTS, read_mounts
from assay.launch.signatures import SECTOR, describe_contents, larger_whole
from assay.model.base import AssayError

SYS = Path("/sys/dev/block")
SWAPS = Path("/proc/swaps")

Problem = tuple[str, str]

_DEVICE_FDS: dict[str, int] = {}
"""Path -> open descriptor of the device that it led to when a run of this process took it."""


def inspect_device(path: str, destroy: bool) -> list[Problem]:
    """Inspect a block device without changing anything.

    Args:
        path: Absolute; symbolic links such as those in /dev/disk/by-id are followed.
        destroy: The user has confirmed that it may be overwritten.

    Returns:
        Reasons why Assay must not write there, each with a hint; empty if it may.
    """
    try:
        status = Path(path).stat()
    except OSError as error:
        return [(f"{path}: {error.strerror}", "`lsblk` names the block devices")]
    if not stat.S_ISBLK(status.st_mode):
        return [(f"{path}: not a block device", "for a directory write kind: file")]
    label = path if os.path.realpath(path) == path else f"{path} ({os.path.realpath(path)})"
    number = device_number(status.st_rdev)
    if path in _DEVICE_FDS and (taken := os.fstat(_DEVICE_FDS[path]).st_rdev) != status.st_rdev:
        message = f"{label}: is no longer {_name(device_number(taken))}, the device that the run has locked"
        return [(message, "a device that was not confirmed is never overwritten; name the device itself")]
    for device in (number, *partitions(number), *whole_disk(number)):
        name = label if device == number else f"{label}: {_name(device)}"
        where = mounted_at(device)
        if where:
            return [
                (
                    f"{name}: mounted at {where}",
                    "a mounted device is never overwritten; unmount it, or name another device",
                )
            ]
        if _is_swap(device):
            return [
                (f"{name}: used for swap", "a device in use is never overwritten; run swapoff, or name another device")
            ]
        holders = _holders(device)
        if holders:
            return [(f"{name}: in use by {', '.join(holders)}", "remove it from there, or name another device")]
    busy = _open_fault(path)
    if busy:
        return [(f"{label}: {busy}", "name a device that nothing uses")]
    # A run has inspected what it took; reading it again could disturb the measurement.
    return [] if path in _DEVICE_FDS and destroy else _inspect_contents(label, number, path, destroy)


def _inspect_contents(label: str, number: str, path: str, destroy: bool) -> list[Problem]:
    for device in (number, *partitions(number)):
        node = path if device == number else f"/dev/{_name(device)}"
        name = label if device == number else f"{label}: {_name(device)}"
        try:
            larger = larger_whole(node)
        except AssayError as error:
            return [(f"{name}: its content cannot be read: {error.message}", "name a device that can be read")]
        if larger:
            hint = f"name another device; if this is only left over, `wipefs --all {node}` clears it"
            return [(f"{name}: is part of something larger: {larger}", hint)]
    if not destroy:
        message = f"{label}: all data on it would be overwritten: {describe_contents(number, path)}"
        return [(message, "confirm with --destroy that it may be overwritten")]
    return []


def remember_device(path: str, fd: int) -> None:
    """Remember the device of a path until `forget_devices`; `inspect_device` then refuses any other device there.

    Args:
        path: The device.
        fd: Open descriptor of the device.
    """
    _DEVICE_FDS[path] = fd


def remembered_node(path: str) -> str:
    """Return the kernel's name in /dev of the device that a path led to when it was taken; else the path."""
    if path in _DEVICE_FDS:
        number = os.fstat(_DEVICE_FDS[path]).st_rdev
        node = Path("/dev", _name(device_number(number)))
        with contextlib.suppress(OSError):
            found = node.stat()
            if stat.S_ISBLK(found.st_mode) and found.st_rdev == number:
                return str(node)
    return path


def forget_devices(descriptors: list[int]) -> None:
    """Forget devices that `take` remembered; call it before the descriptors are closed."""
    for path in [path for path, fd in _DEVICE_FDS.items() if fd in descriptors]:
        del _DEVICE_FDS[path]


def device_summary(path: str) -> str:
    """Return what a device is and what is on it, in one line, for a user who allowed it to be overwritten."""
    try:
        number = device_number(Path(path).stat().st_rdev)
    except OSError as error:
        return f"{path}: {error.strerror}"
    node = os.path.realpath(path)
    return f"{path if node == path else f'{path} ({node})'}: {describe_contents(number, path)}"


def device_bytes(path: str) -> int | None:
    """Return the size of a block device in bytes, from sysfs; None if unknown."""
    try:
        number = device_number(Path(path).stat().st_rdev)
        return int((SYS / number / "size").read_text()) * SECTOR
    except (OSError, ValueError):
        return None


def device_number(device: int) -> str:
    """Return a device number as major:minor."""
    return f"{os.major(device)}:{os.minor(device)}"


def _name(number: str) -> str:
    return (SYS / number).resolve().name


def partitions(number: str) -> list[str]:
    """Return the partitions of a disk as major:minor."""
    folder = SYS / number
    if not folder.exists():
        return []
    return [(child / "dev").read_text().strip() for child in sorted(folder.resolve().iterdir()) if _is_partition(child)]


def _is_partition(folder: Path) -> bool:
    return folder.is_dir() and (folder / "partition").exists()


def whole_disk(number: str) -> list[str]:
    """Return the disk of a partition as major:minor, in a list; empty for a disk."""
    folder = (SYS / number).resolve()
    return [(folder.parent / "dev").read_text().strip()] if _is_partition(folder) else []


def mounted_at(number: str) -> str | None:
    """Return the mount point of a device given as major:minor; None if it is not mounted in this mount namespace."""
    for mount in read_mounts(Path(MOUNTS)):
        if number in (mount.number, _block_number(mount.source)):
            return mount.point
    return None


def _is_swap(number: str) -> bool:
    if not SWAPS.exists():
        return False
    return any(_block_number(line.split()[0]) == number for line in SWAPS.read_text().splitlines()[1:] if line.strip())


def _block_number(path: str) -> str | None:
    """Return major:minor of a block device by its path, else None; mounts of btrfs show only the path."""
    # A path elsewhere may lead to anything, even to a dead server.
    if not path.startswith("/dev/"):
        return None
    try:
        found = Path(path).stat()
    except OSError:
        return None
    return device_number(found.st_rdev) if stat.S_ISBLK(found.st_mode) else None


def _holders(number: str) -> list[str]:
    folder = SYS / number / "holders"
    return sorted(item.name for item in folder.iterdir()) if folder.is_dir() else []


def _open_fault(path: str) -> str:
    """Return why the device cannot be opened exclusively, as it can only if nothing uses it; empty if it can."""
    try:
        os.close(os.open(path, os.O_RDONLY | os.O_EXCL | os.O_CLOEXEC))
    except OSError as error:
        return "in use" if error.errno == errno.EBUSY else str(error.strerror)
    return ""
