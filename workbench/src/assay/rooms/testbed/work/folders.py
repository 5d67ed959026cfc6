"""Folders of boxes: one per box, locked while the box is changed, and one for the image files of its disks."""

import contextlib
import fcntl
import json
import os
import stat
import time
from collections.abc import Iterator
from pathlib import Path

from assay.model.base import EXIT_REFUSED, AssayError
from assay.model.escape import escape_line
from assay.model.site.box_servers import NAME_PATTERN

MARKER = ".assay-box"
"""File in a folder of disks that names its box."""
STATE = "box.json"
LOCK_TIMEOUT_SECONDS = 10.0
RUN_ROOT = Path("/run/assay/boxes")


def boxes_root() -> Path:
    """Return the parent of the folders of boxes; $ASSAY_BOXES moves it and that of the disks."""
    override = os.environ.get("ASSAY_BOXES")
    return Path(override).absolute() / "boxes" if override else RUN_ROOT


def disks_root() -> Path:
    """Return the parent of the folders of disks, which is on a disk, since /run is in memory."""
    override = os.environ.get("ASSAY_BOXES")
    return Path(override).absolute() / "disks" if override else Path("/var/tmp/assay-boxes")


def box_folders() -> list[Path]:
    """Return the folders of all boxes of this user, in any state."""
    return [path for path in _candidates() if not ownership_fault(path)]


def untrusted_folders() -> list[str]:
    """Return why folders in the place of boxes cannot be used, one line each; they are left alone."""
    problem = ownership_fault(boxes_root())
    return [problem] if problem else [line for path in _candidates() if (line := ownership_fault(path))]


def _candidates() -> list[Path]:
    root = boxes_root()
    if ownership_fault(root) or not root.is_dir():
        return []
    return sorted(path for path in root.iterdir() if NAME_PATTERN.fullmatch(path.name) and path.is_dir())


def ownership_fault(folder: Path) -> str:
    """Return why a folder cannot be trusted, because others may write into it; empty if it can, or does not exist.

    Other users can make folders of these names first: those of the disks are in /var/tmp.
    """
    try:
        status = folder.lstat()
    except FileNotFoundError:
        return ""
    except OSError as error:
        return f"{folder}: {error.strerror}"
    if not stat.S_ISDIR(status.st_mode):
        return f"{folder}: is not a folder"
    if status.st_uid != os.geteuid():
        return f"{folder}: belongs to another user"
    return f"{folder}: others may write into it" if status.st_mode & 0o022 else ""


def _make(root: Path) -> None:
    """Make a parent folder that only this user may write into, whatever the umask."""
    if not root.is_dir():
        root.mkdir(mode=0o755, parents=True, exist_ok=True)


def _refuse_foreign(*folders: Path) -> None:
    for folder in folders:
        if problem := ownership_fault(folder):
            hint = "remove it, or set ASSAY_BOXES to another folder"
            raise AssayError(problem, hint, EXIT_REFUSED)


@contextlib.contextmanager
def box_lock(name: str, timeout_s: float) -> Iterator[Path]:
    """Yield the folder of a box, made if needed and locked; remove it at the end if it is empty.

    Args:
        name: Name of the box.
        timeout_s: Seconds to wait for another process that has the lock.

    Raises:
        AssayError: Another process keeps the lock, others may write into the folder, or the name is not valid.
    """
    if not NAME_PATTERN.fullmatch(name):
        raise AssayError(f"`{escape_line(name)}` is not a name for a box", "`assay testbed status` lists the boxes")
    folder = boxes_root() / name
    end = time.monotonic() + timeout_s
    while (fd := _lock(folder)) is None:
        if time.monotonic() >= end:
            message = f"box {name} is being brought up or taken down by another process"
            raise AssayError(message, f"wait for it; it holds {folder}", EXIT_REFUSED)
        time.sleep(0.02)
    try:
        yield folder
    finally:
        remove_empty(folder)
        os.close(fd)
        remove_empty(boxes_root())
        if boxes_root() == RUN_ROOT:
            remove_empty(RUN_ROOT.parent)


def _lock(folder: Path) -> int | None:
    """Open and lock a folder; return its descriptor, or None if another process has the lock."""
    while True:
        fd = -1
        try:
            _make(folder.parent)
            folder.mkdir(mode=0o755, exist_ok=True)
            _refuse_foreign(folder.parent, folder)
            fd = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC | os.O_NOFOLLOW)
            fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
            if os.path.samestat(os.fstat(fd), folder.lstat()):
                return fd
            os.close(fd)
        except BlockingIOError:
            os.close(fd)
            return None
        except FileNotFoundError:
            # The process that had the lock before removed the folder or a parent of it meanwhile.
            if fd >= 0:
                os.close(fd)
        except OSError as error:
            raise AssayError(f"{folder}: {error.strerror}", "boxes need this folder", EXIT_REFUSED) from error


def remove_empty(folder: Path) -> None:
    """Remove a folder if it is empty."""
    with contextlib.suppress(OSError):
        folder.rmdir()


def make_disks_folder(folder: Path, box: Path) -> None:
    """Make and mark a folder of disks.

    Args:
        folder: Folder to make; it must not exist, or be empty.
        box: Folder of its box.

    Raises:
        AssayError: The folder is not empty, others may write into it, or it cannot be made.
    """
    try:
        _make(folder.parent)
        folder.mkdir(mode=0o700, exist_ok=True)
        _refuse_foreign(folder.parent, folder)
        if any(folder.iterdir()):
            raise AssayError(f"{folder}: is not empty", "check its contents, and remove it", EXIT_REFUSED)
        (folder / MARKER).write_text(json.dumps({"written_by": "assay", "box": str(box)}) + "\n")
    except OSError as error:
        raise AssayError(f"{folder}: {error.strerror}", "disks of boxes need this folder", EXIT_REFUSED) from error


def owning_box(disks: Path) -> Path | None:
    """Return the folder of the box that a folder of disks belongs to; None if it is not marked."""
    try:
        mark = json.loads((disks / MARKER).read_text())
        return Path(mark["box"])
    except (OSError, ValueError, KeyError, TypeError):
        return None
