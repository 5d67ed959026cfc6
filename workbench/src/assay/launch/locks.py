"""Locks between runs: flock(2) on the directory or device itself, released when the holder dies."""

import contextlib
import errno
import fcntl
import os
import stat
import time
from pathlib import Path

from assay.launch.devices import SYS, device_number, forget_devices, remember_device, whole_disk
from assay.model.base import EXIT_REFUSED, AssayError

DEVICE_PATIENCE_SECONDS = 2.0
"""Longest wait for a device: udev locks it for a moment when it probes it."""
NO_LOCKS = {errno.EBADF, errno.EINVAL, errno.ENOLCK, errno.ENOSYS, errno.EOPNOTSUPP}
"""Errors of file systems that cannot lock a directory, such as NFS; there only the marker protects it."""


def lock(fd: int, patience: float, shared: bool = False) -> bool:
    """Lock an open file until it is closed; return whether it was locked within `patience` seconds, or cannot be."""
    end = time.monotonic() + patience
    while True:
        try:
            fcntl.flock(fd, (fcntl.LOCK_SH if shared else fcntl.LOCK_EX) | fcntl.LOCK_NB)
        except BlockingIOError:
            if time.monotonic() > end:
                return False
            time.sleep(0.02)
        except OSError as error:
            if error.errno in NO_LOCKS:
                return True
            raise
        else:
            return True


def lock_device(path: str) -> list[int]:
    """Lock a block device, by any of its names, for as long as the returned descriptors are open.

    systemd documents this lock for block devices, so udev does not probe the device in that time. The disk of a
    partition is locked, too, but shared, so that another partition can be used at the same time.

    Args:
        path: The device.

    Returns:
        Open file descriptors, which the engine should inherit, so that the device stays locked while it lives.

    Raises:
        AssayError: Another run has it, or it cannot be opened.
    """
    descriptors: list[int] = []
    try:
        number = device_number(Path(path).stat().st_rdev)
        for device, shared in ((number, False), *((disk, True) for disk in whole_disk(number))):
            descriptors.append(os.open(_node(device, path), os.O_RDONLY | os.O_CLOEXEC))
            if not lock(descriptors[-1], DEVICE_PATIENCE_SECONDS, shared):
                raise AssayError(f"{path}: is in use by another run", "wait for that run, or stop it", EXIT_REFUSED)
        remember_device(path, descriptors[0])
    except AssayError:
        close_all(descriptors)
        raise
    except OSError as error:
        close_all(descriptors)
        raise AssayError(f"{path}: {error.strerror}", "`lsblk` names the block devices", EXIT_REFUSED) from error
    return descriptors


def close_all(descriptors: list[int]) -> None:
    """Close file descriptors; a second call does nothing."""
    forget_devices(descriptors)
    while descriptors:
        os.close(descriptors.pop())


def _node(number: str, path: str) -> str:
    """Return the kernel's own name of a device in /dev, equal for all processes; `path` if there is none."""
    node = Path("/dev", (SYS / number).resolve().name)
    with contextlib.suppress(OSError):
        found = node.stat()
        if stat.S_ISBLK(found.st_mode) and device_number(found.st_rdev) == number:
            return str(node)
    return path
