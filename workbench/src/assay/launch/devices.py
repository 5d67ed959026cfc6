"""Block devices: whether one may be overwritten."""

import errno
import os
import stat
from pathlib import Path

SYS = Path("/sys/dev/block")
MOUNTS = Path("/proc/self/mountinfo")
SWAPS = Path("/proc/swaps")

Problem = tuple[str, str]


def inspect_device(path: str, destroy: bool) -> list[Problem]:
    """Look at a block device without changing anything.

    Args:
        path: Absolute; symbolic links such as those in /dev/disk/by-id are followed.
        destroy: The user has confirmed that it may be overwritten.

    Returns:
        Why Assay must not write there; empty if it may.
    """
    try:
        found = Path(path).stat()
    except OSError as error:
        return [(f"{path}: {error.strerror}", "`lsblk` names the block devices")]
    if not stat.S_ISBLK(found.st_mode):
        return [(f"{path}: not a block device", "for a directory write kind: file")]
    shown = path if os.path.realpath(path) == path else f"{path} ({os.path.realpath(path)})"
    number = device_number(found.st_rdev)
    for device in (number, *partitions(number), *whole_disk(number)):
        name = shown if device == number else f"{shown}: {_name(device)}"
        where = mounted_at(device)
        if where:
            return [
                (f"{name}: mounted at {where}", "a mounted device is never overwritten; unmount it, or name another")
            ]
        if _swaps(device):
            return [(f"{name}: used for swap", "a device in use is never overwritten; swapoff it, or name another")]
        holders = _holders(device)
        if holders:
            return [(f"{name}: in use by {', '.join(holders)}", "take it out of there, or name another")]
    busy = _exclusive(path)
    if busy:
        return [(f"{shown}: {busy}", "name a device that nothing uses")]
    if not destroy:
        return [(f"{shown}: everything on it would be lost", "confirm with --destroy that it may be overwritten")]
    return []


def device_number(device: int) -> str:
    """major:minor of a device number."""
    return f"{os.major(device)}:{os.minor(device)}"


def _name(number: str) -> str:
    return (SYS / number).resolve().name


def partitions(number: str) -> list[str]:
    """Partitions of a disk as major:minor."""
    folder = SYS / number
    if not folder.exists():
        return []
    return [(child / "dev").read_text().strip() for child in sorted(folder.resolve().iterdir()) if _is_partition(child)]


def _is_partition(folder: Path) -> bool:
    return folder.is_dir() and (folder / "partition").exists()


def whole_disk(number: str) -> list[str]:
    """The disk of a partition as major:minor; empty for a disk."""
    folder = (SYS / number).resolve()
    return [(folder.parent / "dev").read_text().strip()] if _is_partition(folder) else []


def mounted_at(number: str) -> str | None:
    """Mount point of a device given as major:minor; None if it is not mounted in this mount namespace."""
    for line in MOUNTS.read_text().splitlines():
        fields = line.split()
        source = fields[fields.index("-") + 2]
        if fields[2] == number or _block_number(source) == number:
            return fields[4].encode().decode("unicode_escape")
    return None


def _swaps(number: str) -> bool:
    if not SWAPS.exists():
        return False
    return any(_block_number(line.split()[0]) == number for line in SWAPS.read_text().splitlines()[1:] if line.strip())


def _block_number(path: str) -> str | None:
    """major:minor of a path; None unless it is a block device. File systems as btrfs show only this in the mounts."""
    if not path.startswith("/"):
        return None
    try:
        found = Path(path).stat()
    except OSError:
        return None
    return device_number(found.st_rdev) if stat.S_ISBLK(found.st_mode) else None


def _holders(number: str) -> list[str]:
    folder = SYS / number / "holders"
    return sorted(item.name for item in folder.iterdir()) if folder.is_dir() else []


def _exclusive(path: str) -> str:
    """Why the device cannot be opened exclusively, which the kernel grants only if nothing uses it; empty if it can."""
    try:
        os.close(os.open(path, os.O_RDONLY | os.O_EXCL | os.O_CLOEXEC))
    except OSError as error:
        return "in use" if error.errno == errno.EBUSY else str(error.strerror)
    return ""
