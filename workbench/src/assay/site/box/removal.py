"""Removing files of boxes: names that boxes have, in one folder, never through a link and never across a mount."""

import contextlib
import errno
import os
from collections.abc import Callable, Iterator
from pathlib import Path

_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_NO_FOLDER = (errno.ENOTDIR, errno.ELOOP)
LEFT = "left alone"
"""How a line ends that says what no second try removes."""
DEEPEST = 100
"""Levels of folders in folders; each keeps a descriptor open while what is below it is removed."""


def remove_known(folder: Path, known: Callable[[str], bool], last: str) -> list[str]:
    """Remove from a folder what Assay makes there, and leave all else.

    Args:
        folder: Which no other user may change. It stays.
        known: Whether Assay makes something of this name there.
        last: Name of what goes only when nothing else is left.

    Returns:
        What is left and why, one line each; empty if the folder is empty, or is not there.
    """
    with contextlib.ExitStack() as stack:
        try:
            above = stack.enter_context(_opened(folder.parent))
            fd = stack.enter_context(_opened(folder.name, above))
        except FileNotFoundError:
            return []
        except OSError as error:
            return [f"{folder}: {error.strerror}"]
        if _mount(fd) != _mount(above):
            return [f"{folder}: is a mount: {LEFT}"]
        left = []
        for name in sorted(_names(fd) - {last}):
            shown = folder / name
            left += _remove(fd, name, shown, _mount(fd)) if known(name) else [f"{shown}: is not Assay's: {LEFT}"]
        return left or _remove(fd, last, folder / last, _mount(fd))


def _remove(fd: int, name: str, shown: Path, mount: int, levels: int = DEEPEST) -> list[str]:
    """Remove an entry of an open folder that is on a mount, with all that is below on the same."""
    try:
        try:
            with _opened(name, fd) as below:
                if _mount(below) != mount:
                    return [f"{shown}: is a mount: {LEFT}"]
                if not levels:
                    return [f"{shown}: lies too deep: {LEFT}"]
                left = [
                    problem
                    for inner in sorted(_names(below))
                    for problem in _remove(below, inner, shown / inner, mount, levels - 1)
                ]
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
        # The kernel says so of a mount on a file, and of one that came just now.
        return [f"{shown}: {'is a mount: ' + LEFT if error.errno == errno.EBUSY else error.strerror}"]
    return left


@contextlib.contextmanager
def _opened(path: str | Path, above: int | None = None) -> Iterator[int]:
    fd = os.open(path, _FOLDER, dir_fd=above)
    try:
        yield fd
    finally:
        os.close(fd)


def _names(fd: int) -> set[str]:
    return set(os.listdir(fd))


def _mount(fd: int) -> int:
    """The mount that an open folder is on; a bind mount has a number of its own, though the device is the same.

    Source: proc_pid_fdinfo(5), `mnt_id`.
    """
    for line in Path("/proc/self/fdinfo", str(fd)).read_text().splitlines():
        if line.startswith("mnt_id:"):
            return int(line.split()[1])
    raise OSError(errno.ENOSYS, "the kernel does not tell mounts")
