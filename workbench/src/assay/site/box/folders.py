"""Where boxes live: a folder each, locked while it is changed, and a folder each for the files of their disks."""

import contextlib
import fcntl
import json
import os
import stat
import time
from collections.abc import Iterator
from pathlib import Path

from assay.model.base import EXIT_REFUSED, AssayError
from assay.model.foreign import plain
from assay.model.site.serving import NAME

MARKER = ".assay-box"
"""File in a folder of disks that names the box it belongs to."""
STATE = "box.json"
PATIENCE_SECONDS = 10.0
RUN_ROOT = Path("/run/assay/boxes")


def boxes_root() -> Path:
    """Where the folders of boxes are; $ASSAY_BOXES moves them and the disks."""
    named = os.environ.get("ASSAY_BOXES")
    return Path(named).absolute() / "boxes" if named else RUN_ROOT


def disks_root() -> Path:
    """Where the folders of disks are: on a disk, since /run is memory."""
    named = os.environ.get("ASSAY_BOXES")
    return Path(named).absolute() / "disks" if named else Path("/var/tmp/assay-boxes")


def box_folders() -> list[Path]:
    """Folders of all boxes of this user, whatever their state."""
    return [path for path in _named() if not foreign(path)]


def foreign_folders() -> list[str]:
    """What has the place of this user's boxes and is not theirs, one line each; it is left alone."""
    strange = foreign(boxes_root())
    return [strange] if strange else [line for path in _named() if (line := foreign(path))]


def _named() -> list[Path]:
    root = boxes_root()
    if foreign(root) or not root.is_dir():
        return []
    return sorted(path for path in root.iterdir() if NAME.fullmatch(path.name) and path.is_dir())


def foreign(folder: Path) -> str:
    """Why a folder is not this user's alone, so that nothing in it can be trusted; empty if it is, or is not there.

    Others may make folders of these names first: those of the disks are in /var/tmp.
    """
    try:
        found = folder.lstat()
    except FileNotFoundError:
        return ""
    except OSError as error:
        return f"{folder}: {error.strerror}"
    if not stat.S_ISDIR(found.st_mode):
        return f"{folder}: is not a folder"
    if found.st_uid != os.geteuid():
        return f"{folder}: belongs to another user"
    return f"{folder}: others may write into it" if found.st_mode & 0o022 else ""


def _make(root: Path) -> None:
    """Make a folder of folders; nobody else may write into it, whatever the umask."""
    if not root.is_dir():
        root.mkdir(mode=0o755, parents=True, exist_ok=True)


def _refuse_foreign(*folders: Path) -> None:
    for folder in folders:
        if strange := foreign(folder):
            hint = "see what it is and remove it, or set ASSAY_BOXES to another folder"
            raise AssayError(strange, hint, EXIT_REFUSED)


@contextlib.contextmanager
def locked(name: str, patience: float) -> Iterator[Path]:
    """The folder of a box, made if needed, which nobody else changes meanwhile; if it is empty at the end it goes.

    Args:
        name: Of the box.
        patience: Seconds to wait for whoever changes it now.

    Raises:
        AssayError: Somebody else still does, it is not this user's alone, or this is no name of a box.
    """
    if not NAME.fullmatch(name):
        raise AssayError(f"`{plain(name)}` is not a name for a box", "`assay testbed status` lists the boxes")
    folder = boxes_root() / name
    end = time.monotonic() + patience
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
    """An open and locked folder; None if somebody else has the lock."""
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
            # Whoever had the lock before has removed the folder, or one above it, between two steps of ours.
            if fd >= 0:
                os.close(fd)
        except OSError as error:
            raise AssayError(f"{folder}: {error.strerror}", "boxes need this folder", EXIT_REFUSED) from error


def remove_empty(folder: Path) -> None:
    """Remove a folder unless something is in it."""
    with contextlib.suppress(OSError):
        folder.rmdir()


def make_disks_folder(folder: Path, box: Path) -> None:
    """Make and mark a folder of disks.

    Args:
        folder: Which must not exist, or be empty.
        box: Folder of its box.

    Raises:
        AssayError: Something is in it, it is not this user's alone, or it cannot be made.
    """
    try:
        _make(folder.parent)
        folder.mkdir(mode=0o700, exist_ok=True)
        _refuse_foreign(folder.parent, folder)
        if any(folder.iterdir()):
            raise AssayError(f"{folder}: is not empty", "see what is in it, and remove it", EXIT_REFUSED)
        (folder / MARKER).write_text(json.dumps({"written_by": "assay", "box": str(box)}) + "\n")
    except OSError as error:
        raise AssayError(f"{folder}: {error.strerror}", "disks of boxes need this folder", EXIT_REFUSED) from error


def owner(disks: Path) -> Path | None:
    """Folder of the box that a folder of disks belongs to; None if it is not marked."""
    try:
        found = json.loads((disks / MARKER).read_text())
        return Path(found["box"])
    except (OSError, ValueError, KeyError, TypeError):
        return None
