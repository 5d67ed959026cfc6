"""Files that the user names: one option, one way to write them, and nothing lost that Assay did not write."""

import contextlib
import os
import shutil
import stat
import sys
import tempfile
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any, BinaryIO

import typer

from assay.model.base import EXIT_REFUSED, AssayError
from assay.model.regular import strangeness

Write = Callable[[Path], None]
"""Writes a file at the path it is given."""
Mark = Callable[[BinaryIO], bool]
"""Whether a file has in it what Assay writes into files of this format."""
SEARCHED = 1 << 16
"""Bytes of a file that are searched for a mark."""


def in_head(sign: bytes, file: BinaryIO) -> bool:
    """The sign is near the beginning."""
    return sign in file.read(SEARCHED)


def in_tail(sign: bytes, file: BinaryIO) -> bool:
    """The sign is near the end."""
    file.seek(max(0, file.seek(0, os.SEEK_END) - SEARCHED))
    return sign in file.read()


def at_start(sign: bytes, file: BinaryIO) -> bool:
    """The file begins with the sign."""
    return file.read(len(sign)) == sign


def in_workbook(sign: bytes, file: BinaryIO) -> bool:
    """The sign is in the properties of a spreadsheet."""
    import zipfile

    try:
        with zipfile.ZipFile(file) as book, book.open("docProps/core.xml") as properties:
            return sign in properties.read(SEARCHED)
    except (zipfile.BadZipFile, KeyError, NotImplementedError, RuntimeError):
        return False


def edited(file: BinaryIO) -> bool:
    """Studies and price books are the user's as soon as they are written: none is replaced unasked."""
    del file
    return False


PAGE: Mark = partial(in_head, b'<meta name="generator" content="Assay">')
"""Of HTML pages."""
JUNIT: Mark = partial(in_head, b'<testsuites name="assay compare"')
NETWORK: Mark = partial(at_start, b'{\n  "schema": "assay.network/')
"""Of what `assay preflight` measured."""


def output_option(about: str) -> Any:
    """The option that names the file a command writes."""
    return typer.Option(None, "--output", "-o", metavar="FILE", help=f"{about} `-` prints it.")


FORCE = typer.Option(False, "--force", help="Replace any file that is there.")


class Output:
    """A file that the user names.

    Args:
        path: Where it shall be; `-`, or another name of standard output, prints it.
        mark: What shows that a file which is there was written by Assay, and may be replaced.
        force: Replace any file that is there.
        option: The option that names it.

    Raises:
        AssayError: It may not be written. Whether it may is looked at when this is made, before any work, and again
            when it is written.
    """

    def __init__(self, path: Path, mark: Mark, force: bool, option: str = "--output") -> None:
        self.path, self._mark, self._force, self._option = path, mark, force, option
        self.prints = str(path) == "-" or _is_stdout(path)
        if not self.prints:
            with _one_line(path, option):
                _place(path, mark, force, option)

    def write(self, text: str) -> None:
        """Write the text, or print it.

        Raises:
            AssayError: It cannot be written.
        """
        if self.prints and sys.stdout.isatty():
            typer.echo(text, nl=False)
        elif self.prints:
            # Byte for byte as in a file: control characters are not made visible, as for a terminal.
            sys.stdout.flush()
            sys.stdout.buffer.write(text.encode())
        else:
            self.fill(lambda path: _write_text(path, text))

    def fill(self, write: Write) -> None:
        """Let `write` fill the file; as of `write_whole`."""
        write_whole(self.path, write, self._mark, self._force, self._option)


def printing(**outputs: Output | bool | None) -> None:
    """Refuse that two things are printed at once.

    Args:
        outputs: By the name of its option, a file that may be printed, or whether something else is.

    Raises:
        AssayError: More than one of them is printed.
    """
    found = [name for name, what in outputs.items() if (what.prints if isinstance(what, Output) else what)]
    if len(found) > 1:
        names = " and ".join(f"--{name.rstrip('_')}" for name in found)
        raise AssayError(f"{names} would both be printed", "name a file for one of them, or leave it out")


def write_whole(path: Path, write: Write, mark: Mark = edited, force: bool = False, option: str = "--output") -> None:
    """Let `write` fill a file beside `path`, then give it that name: it is never half written, and keeps its mode.

    What a symbolic link points to is replaced, not the link. A FIFO or a character device stays, and is written into.

    Args:
        path: Where the file shall be.
        write: Writes to the path it is given.
        mark: What shows that a file which is there was written by Assay.
        force: Replace any file that is there.
        option: Option of the command that names `path`.

    Raises:
        AssayError: The file may not be replaced, or cannot be written.
    """
    with _one_line(path, option):
        place = _place(path, mark, force, option)
        if place is None:
            _write_into(path, write)
        else:
            _replace(place, write)


def write_in_run(path: Path, text: str) -> None:
    """Write a file of a run's folder, which may be another user's: only a plain file is replaced, Assay's or not.

    Raises:
        AssayError: It is no plain file, or cannot be written.
    """
    hint = "choose another place with --output"
    with _one_line(path, "--output"):
        with contextlib.suppress(FileNotFoundError):
            if what := strangeness(path.lstat()):
                raise AssayError(f"{path}: is {what}", hint, EXIT_REFUSED)
        _replace(path, lambda place: _write_text(place, text))


@contextlib.contextmanager
def _one_line(path: Path, option: str) -> Iterator[None]:
    """What goes wrong with a file as one line."""
    try:
        yield
    except OSError as error:
        raise AssayError(f"cannot write {path}: {error.strerror}", f"choose another place with {option}") from error


def _place(path: Path, mark: Mark, force: bool, option: str) -> Path | None:
    """Where the file that is named will be, through links; None if what is there is written into, not replaced."""
    other = f"choose another place with {option}"
    place = Path(os.path.realpath(path))
    try:
        about = place.stat()
    except FileNotFoundError:
        if not place.parent.is_dir():
            raise AssayError(f"cannot write {path}: there is no folder {path.parent}", "make it, or " + other) from None
        return place
    if what := _unfit(about.st_mode):
        raise AssayError(f"cannot write {path}: it is {what}", other)
    if not stat.S_ISREG(about.st_mode):
        return None
    # To root all files are writable, also those that somebody has protected.
    if not about.st_mode & 0o222 or not os.access(place, os.W_OK):
        raise AssayError(f"cannot write {path}: it is write-protected", f"allow it with chmod, or {other}")
    if not force and not _is_marked(place, mark):
        named = f"{path} exists already" if not path.is_symlink() else f"{path} leads to {place}, which exists already"
        whose = "" if mark is edited else " and is no such file written by Assay"
        raise AssayError(named + whose, f"use --force to replace it, or {option} FILE for another name")
    return place


def _unfit(mode: int) -> str:
    """What can never be written."""
    if stat.S_ISDIR(mode):
        return "a folder"
    if stat.S_ISBLK(mode):
        return "a block device, and what is on it would be lost"
    return "a socket" if stat.S_ISSOCK(mode) else ""


def _is_marked(place: Path, mark: Mark) -> bool:
    if mark is edited:
        return False
    try:
        with place.open("rb") as file:
            return mark(file)
    except PermissionError:
        return False


def _is_stdout(path: Path) -> bool:
    try:
        return os.path.samestat(path.stat(), os.fstat(sys.stdout.fileno()))
    except (OSError, AttributeError, ValueError):
        return False


def _write_text(path: Path, text: str) -> None:
    path.write_text(text, encoding="utf-8", newline="\n")


def _replace(path: Path, write: Write) -> None:
    handle, name = tempfile.mkstemp(prefix=".assay-", suffix=".tmp", dir=path.parent)
    os.close(handle)
    temporary = Path(name)
    try:
        write(temporary)
        _keep_mode(path, temporary)
        temporary.replace(path)
    finally:
        temporary.unlink(missing_ok=True)


def _keep_mode(old: Path, new: Path) -> None:
    """Give a new file the owner and mode of the one it replaces, or those of any new file."""
    try:
        about = old.stat()
    except FileNotFoundError:
        new.chmod(0o666 & ~_umask())
        return
    # Who is not root cannot give files away: theirs is the new one then.
    with contextlib.suppress(PermissionError):
        os.chown(new, about.st_uid, about.st_gid)
    new.chmod(stat.S_IMODE(about.st_mode))


def _write_into(path: Path, write: Write) -> None:
    from assay.journal.trees import scratch

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
