"""Output files that the user names: one option, one way to write them; foreign files are replaced with --force only."""

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
from assay.model.regular_files import special_kind

Write = Callable[[Path], None]
"""A function that writes a file at the path it gets."""
Mark = Callable[[BinaryIO], bool]
"""A check whether Assay wrote a file: it looks for what Assay puts into files of that format."""
SEARCHED_BYTES = 1 << 16
"""Bytes at the beginning or end of a file that are searched for a mark."""


def in_head(sign: bytes, file: BinaryIO) -> bool:
    """Return whether the sign is near the beginning of the file."""
    return sign in file.read(SEARCHED_BYTES)


def in_tail(sign: bytes, file: BinaryIO) -> bool:
    """Return whether the sign is near the end of the file."""
    file.seek(max(0, file.seek(0, os.SEEK_END) - SEARCHED_BYTES))
    return sign in file.read()


def anywhere(sign: bytes, file: BinaryIO) -> bool:
    """Return whether the sign is anywhere in the file."""
    before = b""
    while piece := file.read(SEARCHED_BYTES):
        if sign in before + piece:
            return True
        before = piece[-len(sign) :]
    return False


def at_start(sign: bytes, file: BinaryIO) -> bool:
    """Return whether the file begins with the sign."""
    return file.read(len(sign)) == sign


def in_workbook(sign: bytes, file: BinaryIO) -> bool:
    """Return whether the sign is in the properties of a spreadsheet."""
    import zipfile

    try:
        with zipfile.ZipFile(file) as book, book.open("docProps/core.xml") as properties:
            return sign in properties.read(SEARCHED_BYTES)
    except (zipfile.BadZipFile, KeyError, NotImplementedError, RuntimeError):
        return False


def never_marked(file: BinaryIO) -> bool:
    """Return False: users edit studies and price books, so they are replaced with --force only."""
    del file
    return False


PAGE_MARK: Mark = partial(in_head, b'<meta name="generator" content="Assay">')
"""Mark of HTML pages."""
JUNIT_MARK: Mark = partial(in_head, b'<testsuites name="assay compare"')
NETWORK_MARK: Mark = partial(at_start, b'{\n  "schema": "assay.network/')
"""Mark of the JSON that `assay preflight` writes."""


def output_option(about: str) -> Any:
    """Return the option `--output` that names the file a command writes; `about` begins its help."""
    return typer.Option(None, "--output", "-o", metavar="FILE", help=f"{about} `-` prints it.")


FORCE = typer.Option(False, "--force", help="Replace an existing file, whatever it is.")


class OutputFile:
    """An output file that the user names.

    Args:
        path: The file; `-`, or another name of standard output, prints it.
        mark: Recognises an existing file that Assay wrote and may replace.
        force: Replace any existing file.
        option: The option that names the file, for messages.

    Raises:
        AssayError: The file may not be written. This is checked on construction, before any work, and again on writing.
    """

    def __init__(self, path: Path, mark: Mark, force: bool, option: str = "--output") -> None:
        self.path, self._mark, self._force, self._option = path, mark, force, option
        self.prints = str(path) == "-" or _is_stdout(path)
        if not self.prints:
            with _one_line(path, option):
                _checked_place(path, mark, force, option)

    def write(self, text: str) -> None:
        """Write the text, or print it.

        Raises:
            AssayError: It cannot be written.
        """
        if self.prints and sys.stdout.isatty():
            typer.echo(text, nl=False)
        elif self.prints:
            # Byte for byte as in a file: only on a terminal are control characters made visible.
            sys.stdout.flush()
            sys.stdout.buffer.write(text.encode())
        else:
            self.fill(lambda path: _write_text(path, text))

    def fill(self, write: Write) -> None:
        """Let `write` fill the file; see `write_atomically`."""
        write_atomically(self.path, write, self._mark, self._force, self._option)


def check_one_printed(**outputs: OutputFile | bool | None) -> None:
    """Raise an error if more than one output goes to standard output.

    Args:
        outputs: Name of an option -> the file that it names, or whether it prints something.

    Raises:
        AssayError: More than one of them is printed.
    """
    found = [name for name, what in outputs.items() if (what.prints if isinstance(what, OutputFile) else what)]
    if len(found) > 1:
        names = " and ".join(f"--{name.rstrip('_')}" for name in found)
        raise AssayError(f"{names} would both go to standard output", "name a file for one of them, or leave it out")


def write_atomically(
    path: Path, write: Write, mark: Mark = never_marked, force: bool = False, option: str = "--output"
) -> None:
    """Let `write` fill a temporary file, then rename it to `path`: that is never half written, and keeps its mode.

    The target of a symbolic link is replaced, not the link. A FIFO or a character device is written into.

    Args:
        path: The file to write.
        write: Writes the content to the path it gets.
        mark: Recognises an existing file that Assay wrote.
        force: Replace any existing file.
        option: Option of the command that names `path`, for messages.

    Raises:
        AssayError: The file may not be replaced, or cannot be written.
    """
    with _one_line(path, option):
        place = _checked_place(path, mark, force, option)
        if place is None:
            _write_into(path, write)
        else:
            _replace(place, write)


def write_in_run(path: Path, text: str) -> None:
    """Write a file into a run's folder, which another user may own: any regular file is replaced, nothing else.

    Raises:
        AssayError: `path` is something other than a regular file, or cannot be written.
    """
    hint = "choose another path with --output"
    with _one_line(path, "--output"):
        with contextlib.suppress(FileNotFoundError):
            if what := special_kind(path.lstat()):
                raise AssayError(f"{path}: is {what}", hint, EXIT_REFUSED)
        _replace(path, lambda place: _write_text(place, text))


@contextlib.contextmanager
def _one_line(path: Path, option: str) -> Iterator[None]:
    """Turn an OSError about the file into an AssayError of one line."""
    try:
        yield
    except OSError as error:
        raise AssayError(f"cannot write {path}: {error.strerror}", f"choose another path with {option}") from error


def _checked_place(path: Path, mark: Mark, force: bool, option: str) -> Path | None:
    """Return the path to replace, with links resolved; None if it is a FIFO or device, which is written into."""
    other = f"choose another path with {option}"
    place = Path(os.path.realpath(path))
    try:
        status = place.stat()
    except FileNotFoundError:
        if not place.parent.is_dir():
            raise AssayError(
                f"cannot write {path}: there is no folder {path.parent}", "create it, or " + other
            ) from None
        _make_nothing(place.parent)
        return place
    if what := _unfit(status.st_mode):
        raise AssayError(f"cannot write {path}: it is {what}", other)
    if not stat.S_ISREG(status.st_mode):
        return None
    # Root may write all files, so check the mode too: the file may be protected on purpose.
    if not status.st_mode & 0o222 or not os.access(place, os.W_OK):
        raise AssayError(f"cannot write {path}: it is write-protected", f"allow it with chmod, or {other}")
    _make_nothing(place.parent)
    if not force and not _is_marked(place, mark):
        existing = (
            f"{path} exists already" if not path.is_symlink() else f"{path} points to {place}, which exists already"
        )
        unmarked = "" if mark is never_marked else " and was not written by Assay"
        raise AssayError(existing + unmarked, f"use --force to replace it, or {option} FILE for another name")
    return place


def _make_nothing(folder: Path) -> None:
    """Make and remove a file without a name, so that a folder in which none can be made is refused before any work.

    Raises:
        OSError: None can be made.
    """
    tempfile.TemporaryFile(dir=folder).close()


def _unfit(mode: int) -> str:
    """Return what kind of file the mode shows, if it can never be written; else an empty text."""
    if stat.S_ISDIR(mode):
        return "a folder"
    if stat.S_ISBLK(mode):
        return "a block device, whose data would be lost"
    return "a socket" if stat.S_ISSOCK(mode) else ""


def _is_marked(place: Path, mark: Mark) -> bool:
    if mark is never_marked:
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
        status = old.stat()
    except FileNotFoundError:
        new.chmod(0o666 & ~_umask())
        return
    # Only root can change the owner: for other users the new file stays their own.
    with contextlib.suppress(PermissionError):
        os.chown(new, status.st_uid, status.st_gid)
    new.chmod(stat.S_IMODE(status.st_mode))


def _write_into(path: Path, write: Write) -> None:
    from assay.journal.trees import scratch_folder

    with scratch_folder("assay-write-") as folder:
        # Some formats are not written sequentially, so the whole file is made first.
        temporary = folder / "whole"
        write(temporary)
        # Without O_CREAT: the FIFO or device must exist, and is not replaced.
        with temporary.open("rb") as source, os.fdopen(os.open(path, os.O_WRONLY | os.O_CLOEXEC), "wb") as target:
            shutil.copyfileobj(source, target)


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask
