"""The one door to the files of a run's folder, which may come from somebody else.

Nothing in such a folder is trusted: a name may be a link, a pipe, a device, or something else a moment later. So the
folder is opened first and stays the same then, each file is opened in it without following a link, and what was opened
is looked at before it is read. Nothing is ever written or removed here.

Only a folder that the user names may itself be a link: `assay.store.find.find_run` follows that one.
"""

import contextlib
import os
from collections.abc import Iterator
from pathlib import Path

from assay.model.base import EXIT_REFUSED, AssayError
from assay.model.regular import IrregularError, TooLargeError, open_entry, read_whole, strangeness

HINT = "a run's folder holds plain files; remove it, or take the run from where it was made (`cp -r`)"
DAMAGE_HINT = "restore it from a copy"


@contextlib.contextmanager
def entered(folder: Path) -> Iterator[int]:
    """A descriptor of a run's folder, for names in it.

    Raises:
        AssayError: It is a link.
        OSError: It is not there, is no folder, or cannot be entered.
    """
    try:
        place = os.open(folder, os.O_PATH | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
    except NotADirectoryError:
        if folder.is_symlink():
            hint = "give the path of the link, or of the folder that it leads to"
            raise AssayError(f"{folder}: is a symbolic link", hint, EXIT_REFUSED) from None
        raise
    try:
        yield place
    finally:
        os.close(place)


def open_in(place: int, folder: Path, name: str, most: int) -> int:
    """A descriptor of a file of a run, to be read and closed by the caller.

    Args:
        place: Of the run's folder, from `entered`.
        folder: The folder, for messages.
        name: Of the file in it.
        most: Bytes that it may have.

    Raises:
        AssayError: It is no plain file of this folder alone, or larger.
        OSError: It is not there, or cannot be read.
    """
    try:
        return open_entry(place, name, most)
    except IrregularError as error:
        raise strange(folder / name, str(error)) from None
    except TooLargeError:
        raise _too_large(folder, name, most) from None


def open_file(folder: Path, name: str, most: int) -> int:
    """The same of a folder that is not entered yet."""
    with entered(folder) as place:
        return open_in(place, folder, name, most)


def read_file(folder: Path, name: str, most: int) -> bytes:
    """A file of a run as it is; arguments and errors as of `open_in`."""
    fd = open_file(folder, name, most)
    try:
        return read_whole(fd, most)
    except TooLargeError:
        raise _too_large(folder, name, most) from None


def read_kept(folder: Path, name: str, most: int) -> bytes:
    """The same of a file that every run has: whatever is wrong is one line.

    Raises:
        AssayError: It cannot be read, is no plain file of this folder alone, or is larger.
    """
    try:
        return read_file(folder, name, most)
    except OSError as error:
        raise AssayError(f"{folder / name}: cannot be read: {error.strerror}", DAMAGE_HINT) from error


def look_at(folder: Path, name: str) -> os.stat_result | None:
    """What is known of a file of a run without opening it; None if there is no plain file of that name."""
    try:
        with entered(folder) as place:
            about = os.stat(name, dir_fd=place, follow_symlinks=False)
    except (AssayError, OSError):
        return None
    return None if strangeness(about) else about


def strange(path: Path, what: str) -> AssayError:
    """What is said of a name in a run's folder that is not a file of this folder alone."""
    return AssayError(f"{path}: is {what}, not a file of a run", HINT, EXIT_REFUSED)


def _too_large(folder: Path, name: str, most: int) -> AssayError:
    return AssayError(f"{folder} is damaged: {name} has more than {most} bytes", DAMAGE_HINT)
