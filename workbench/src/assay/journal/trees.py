"""Removal of the folders that this program makes for itself: never through a link, never across a mount.

A folder is identified by device and inode, read when it was made: another one in its place is left alone.
Directories under test are removed by the engine (`posix/src/place/remove.rs`). See `tools/check_removals.py`.
"""

import contextlib
import errno
import os
import secrets
import stat
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

from assay.model.regular_files import mount_id

_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_NO_FOLDER = (errno.ENOTDIR, errno.ELOOP)
LEFT = "left alone"
"""End of a message about something that a second attempt would not remove either."""
MAX_DEPTH = 100
"""Most levels of nested folders; each keeps a descriptor open while its content is removed."""

FolderNumbers = tuple[int, int]
"""Device and inode of a folder."""


def make_folder(folder: Path) -> FolderNumbers:
    """Make a folder that only this user may enter, and return its device and inode.

    Raises:
        OSError: It cannot be made, or the name is taken.
    """
    folder.mkdir(mode=0o700)
    with _opened(folder) as fd:
        return _numbers(fd)


@contextlib.contextmanager
def scratch_folder(prefix: str, parent: Path | None = None) -> Iterator[Path]:
    """Make a new folder for the length of a `with` block; if something is mounted in it at the end, it stays.

    Args:
        prefix: Beginning of its name.
        parent: The folder to make it in; TMPDIR if None.

    Raises:
        OSError: It cannot be made.
    """
    folder = Path(parent or tempfile.gettempdir()).resolve() / f"{prefix}{secrets.token_hex(8)}"
    made = make_folder(folder)
    try:
        yield folder
    finally:
        remove_tree(folder, made)


def remove_tree(folder: Path, numbers: FolderNumbers | None) -> list[str]:
    """Remove a folder that this user has made, with everything in it on the same mount.

    Args:
        folder: The folder. Links in its parent path are followed; the folder itself must be no link.
        numbers: Its device and inode when it was made; None if unknown: then it is removed only if it is empty.

    Returns:
        One line for each thing that is left, with the reason; empty if the folder is gone.
    """
    try:
        with _opened(folder.parent) as parent_fd, _opened(folder.name, parent_fd) as fd:
            if mount_id(fd) != mount_id(parent_fd):
                return [f"{folder}: is a mount: {LEFT}"]
            if os.fstat(fd).st_uid != os.geteuid():
                return [f"{folder}: is not a folder of this user: {LEFT}"]
            if numbers is None and not _names(fd):
                os.rmdir(folder.name, dir_fd=parent_fd)
                return []
            if _numbers(fd) != numbers:
                return [f"{folder}: is not the folder that was made: {LEFT}"]
            return _empty(fd, folder, mount_id(fd), MAX_DEPTH) or _remove_empty(folder, fd, parent_fd)
    except FileNotFoundError:
        return []
    except OSError as error:
        why = f"is not a folder of this user: {LEFT}" if error.errno in _NO_FOLDER else error.strerror
        return [f"{folder}: {why}"]


def _remove_empty(folder: Path, fd: int, above: int) -> list[str]:
    """Remove an empty folder by its name, unless another folder has that name by now."""
    found = os.stat(folder.name, dir_fd=above, follow_symlinks=False)
    if not stat.S_ISDIR(found.st_mode) or (found.st_dev, found.st_ino) != _numbers(fd):
        return [f"{folder}: was replaced during the removal: {LEFT}"]
    os.rmdir(folder.name, dir_fd=above)
    return []


def remove_known(folder: Path, is_ours: Callable[[str], bool], last: str) -> list[str]:
    """Remove from a folder what Assay makes there, and leave everything else.

    Args:
        folder: A folder that no other user may change; it stays itself.
        is_ours: Whether Assay makes something of this name there.
        last: Name of the entry that is removed only when nothing else is left.

    Returns:
        One line for each thing that is left, with the reason; empty if the folder is empty or does not exist.
    """
    with contextlib.ExitStack() as stack:
        try:
            above = stack.enter_context(_opened(folder.parent))
            fd = stack.enter_context(_opened(folder.name, above))
        except FileNotFoundError:
            return []
        except OSError as error:
            return [f"{folder}: {error.strerror}"]
        if mount_id(fd) != mount_id(above):
            return [f"{folder}: is a mount: {LEFT}"]
        left = []
        for name in sorted(_names(fd) - {last}):
            label = folder / name
            left += _remove(fd, name, label, mount_id(fd)) if is_ours(name) else [f"{label}: is not Assay's: {LEFT}"]
        return left or _remove(fd, last, folder / last, mount_id(fd))


def _remove(fd: int, name: str, label: Path, mount: int, levels: int = MAX_DEPTH) -> list[str]:
    """Remove an entry of an open folder, with everything below it on the same mount."""
    try:
        try:
            with _opened(name, fd) as below:
                if mount_id(below) != mount:
                    return [f"{label}: is a mount: {LEFT}"]
                if not levels:
                    return [f"{label}: is nested too deep: {LEFT}"]
                left = _empty(below, label, mount, levels - 1)
            if not left:
                os.rmdir(name, dir_fd=fd)
        except OSError as error:
            if error.errno not in _NO_FOLDER:
                raise
            left = []
            os.unlink(name, dir_fd=fd)
    except FileNotFoundError:
        return []
    except OSError as error:
        # EBUSY: a file that is a mount point, or a mount made at this moment.
        return [f"{label}: {'is a mount: ' + LEFT if error.errno == errno.EBUSY else error.strerror}"]
    return left


def _empty(fd: int, label: Path, mount: int, levels: int) -> list[str]:
    """Remove the content of an open folder, in the order of the names."""
    return [line for name in sorted(_names(fd)) for line in _remove(fd, name, label / name, mount, levels)]


@contextlib.contextmanager
def _opened(path: str | Path, above: int | None = None) -> Iterator[int]:
    fd = os.open(path, _FOLDER, dir_fd=above)
    try:
        yield fd
    finally:
        os.close(fd)


def _names(fd: int) -> set[str]:
    return set(os.listdir(fd))


def _numbers(fd: int) -> FolderNumbers:
    found = os.fstat(fd)
    return found.st_dev, found.st_ino
