"""Safe access to the files of a run's folder, which may come from another user.

Nothing in such a folder is trusted: a name may be a link, a pipe, a device, or something else a moment later. So the
folder is opened once and then stays the same, each file is opened in it without following a link, and the open file is
checked before it is read. This module never writes or removes anything.

Only a folder that the user names may itself be a link: `assay.store.lookup.find_run` follows that one.
"""

import contextlib
import os
from collections.abc import Iterator
from pathlib import Path

from assay.model.base import EXIT_REFUSED, AssayError
from assay.model.regular_files import IrregularError, TooLargeError, open_entry, read_fd, special_kind

PLAIN_FILES_HINT = (
    "a run's folder has only plain files; remove this one, or copy the run again from its original folder (`cp -r`)"
)
DAMAGE_HINT = "restore it from a copy"


@contextlib.contextmanager
def folder_descriptor(folder: Path) -> Iterator[int]:
    """Yield a descriptor of a run's folder, for access to its files by name.

    Raises:
        AssayError: The folder is a link.
        OSError: It does not exist, is not a folder, or cannot be entered.
    """
    try:
        place = os.open(folder, os.O_PATH | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
    except NotADirectoryError:
        if folder.is_symlink():
            hint = "name the folder that the link points to"
            raise AssayError(f"{folder}: is a symbolic link", hint, EXIT_REFUSED) from None
        raise
    try:
        yield place
    finally:
        os.close(place)


def open_in_folder(place: int, folder: Path, name: str, most: int) -> int:
    """Open a file of a run; the caller reads and closes the descriptor.

    Args:
        place: Descriptor of the run's folder, from `entered`.
        folder: The folder, for messages.
        name: Name of the file in it.
        most: Largest accepted size in bytes.

    Raises:
        AssayError: It is not a plain file of this folder alone, or it is larger.
        OSError: It does not exist, or cannot be read.
    """
    try:
        return open_entry(place, name, most)
    except IrregularError as error:
        raise irregular_entry(folder / name, str(error)) from None
    except TooLargeError:
        raise _too_large(folder, name, most) from None


def open_file(folder: Path, name: str, most: int) -> int:
    """Open a file of a run as `open_in_folder` does, in a folder that is not entered yet."""
    with folder_descriptor(folder) as place:
        return open_in_folder(place, folder, name, most)


def read_file(folder: Path, name: str, most: int) -> bytes:
    """Return the content of a file of a run; arguments and errors as for `open_in_folder`."""
    fd = open_file(folder, name, most)
    try:
        return read_fd(fd, most)
    except TooLargeError:
        raise _too_large(folder, name, most) from None


def read_required(folder: Path, name: str, most: int) -> bytes:
    """Return the content of a file that every run has; every error becomes one line.

    Raises:
        AssayError: It cannot be read, is not a plain file of this folder alone, or is larger.
    """
    try:
        return read_file(folder, name, most)
    except OSError as error:
        raise AssayError(f"{folder / name}: cannot be read: {error.strerror}", DAMAGE_HINT) from error


def plain_file_status(folder: Path, name: str) -> os.stat_result | None:
    """Return the status of a file of a run without opening it; None if there is no plain file of that name."""
    try:
        with folder_descriptor(folder) as place:
            status = os.stat(name, dir_fd=place, follow_symlinks=False)
    except (AssayError, OSError):
        return None
    return None if special_kind(status) else status


def irregular_entry(path: Path, what: str) -> AssayError:
    """Return the error for a name in a run's folder that is not a file of this folder alone."""
    return AssayError(f"{path}: is {what}, not a file of a run", PLAIN_FILES_HINT, EXIT_REFUSED)


def _too_large(folder: Path, name: str, most: int) -> AssayError:
    return AssayError(f"{folder} is damaged: {name} has more than {most} bytes", DAMAGE_HINT)
