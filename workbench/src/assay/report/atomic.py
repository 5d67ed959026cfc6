"""Files that appear whole or not at all."""

import os
import shutil
import stat
import tempfile
from collections.abc import Callable
from pathlib import Path

from assay.journal.trees import scratch
from assay.model.base import EXIT_REFUSED, AssayError
from assay.model.regular import strangeness

Write = Callable[[Path], None]


def write_whole(path: Path, write: Write, force: bool = False, option: str = "--output", follow: bool = True) -> None:
    """Let `write` fill a temporary file, then give it the name `path`.

    What a symbolic link points to is replaced, not the link. A FIFO or a character device such as `/dev/stdout` stays,
    and is written into.

    Args:
        path: Where the file shall be.
        write: Writes to the path it is given.
        force: Replace the file that is there.
        option: Option of the command that names `path`.
        follow: The user has named the path. Else its folder may be somebody else's, and only a plain file is replaced.

    Raises:
        AssayError: The file exists and `force` is not set, or it cannot be written.
    """
    hint = f"choose another place with {option}"
    try:
        if not follow:
            _refuse_strange(path, hint)
            _replace(path, write)
            return
        mode = _mode(path)
        if stat.S_ISBLK(mode):
            raise AssayError(f"{path} is a block device: what is on it would be lost", hint)
        if stat.S_ISFIFO(mode) or stat.S_ISCHR(mode):
            _write_into(path, write)
            return
        if mode and not force:
            raise AssayError(f"{path} exists already", f"use --force to replace it, or {option} FILE for another name")
        _replace(Path(os.path.realpath(path)), write)
    except OSError as error:
        raise AssayError(f"cannot write {path}: {error.strerror}", hint) from error


def _refuse_strange(path: Path, hint: str) -> None:
    try:
        what = strangeness(path.lstat())
    except FileNotFoundError:
        return
    if what:
        raise AssayError(f"{path}: is {what}", hint, EXIT_REFUSED)


def _mode(path: Path) -> int:
    """What is at the end of a path, as `st_mode`; 0 if nothing."""
    try:
        return path.stat().st_mode
    except FileNotFoundError:
        return 0


def _replace(path: Path, write: Write) -> None:
    handle, name = tempfile.mkstemp(prefix=f".{path.name}.", suffix=".tmp", dir=path.parent)
    os.close(handle)
    temporary = Path(name)
    try:
        write(temporary)
        temporary.chmod(0o666 & ~_umask())
        temporary.replace(path)
    finally:
        temporary.unlink(missing_ok=True)


def _write_into(path: Path, write: Write) -> None:
    with scratch("assay-write-") as folder:
        # Some formats are not written from the front to the end.
        temporary = folder / "whole"
        write(temporary)
        # Without O_CREAT: what is there is neither made nor replaced.
        with temporary.open("rb") as source, os.fdopen(os.open(path, os.O_WRONLY | os.O_CLOEXEC), "wb") as target:
            shutil.copyfileobj(source, target)


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask
