"""The names of the files in a run's folder; nothing else in it is ever written or removed.

A folder may come from another user: names in it may lead anywhere.
"""

import contextlib
import os
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

from assay.model.base import EXIT_REFUSED, AssayError
from assay.model.regular_files import IrregularError, TooLargeError, mount_id, open_entry, special_kind
from assay.store.safe_files import folder_descriptor, irregular_entry

DATABASE = "run.sqlite"
STUDY = "study.yaml"
PRICES = "prices.json"
IMPORTED = "imported.json"
"""What the output of another tool says, for a run that was imported from it."""
INTERVALS = "intervals.csv.gz"
HEARTBEAT, HEARTBEAT_NEW = "alive.json", "alive.new"
RUN_LOCK, ENGINE_LOCK = "run.lock", "engine.lock"
TESTBED, INVENTORY, INVENTORY_NEW = "testbed.yaml", "inventory", "inventory.new"
"""Copies of the files that the study names; the last is there while the copy of an inventory is replaced."""
BATCH, BATCH_NEW = "scheduler.json", "scheduler.new"
"""The jobs of a run that was submitted to a scheduler."""
BATCH_SCRIPT, BATCH_OUTPUT, PROGRESS = "job.sh", "job.out", "progress.ndjson"
"""The script that was submitted last, the output of the jobs, and the progress that a job writes for its followers."""
BATCH_FILES = (BATCH, BATCH_NEW, BATCH_SCRIPT, BATCH_OUTPUT, PROGRESS)
WAL, WAL_INDEX, JOURNAL = (f"{DATABASE}-{end}" for end in ("wal", "shm", "journal"))
DATABASE_FILES = (DATABASE, WAL, WAL_INDEX, JOURNAL)
"""The database; the last three are made by SQLite."""
SERIES_FILES = (INTERVALS, f".{INTERVALS}.new")
RUN_FILES = (
    *DATABASE_FILES,
    *(STUDY, PRICES, IMPORTED, *SERIES_FILES),
    *(HEARTBEAT, HEARTBEAT_NEW, TESTBED, INVENTORY, INVENTORY_NEW),
    *BATCH_FILES,
)
ALL_FILES = (*RUN_FILES, RUN_LOCK, ENGINE_LOCK)
"""All names, the locks last."""
FOREIGN_JOURNAL_END = bytes.fromhex("d9d505f920a163d7")
"""End of an SQLite journal that names another file, which SQLite would delete.

Such a journal belongs to several databases that change together, which runs never do (SQLite, database file format,
section 3).
"""
MAX_JOURNAL_BYTES = 1 << 40


def check_entries(folder: Path) -> None:
    """Check that a run's folder holds only what Assay makes there, before anything in it is written.

    Args:
        folder: The run's folder.

    Raises:
        AssayError: A name is a link, a folder, a pipe, a device, a mount point, or a file with a second name.
    """
    try:
        with folder_descriptor(folder) as place:
            for name in ALL_FILES:
                with contextlib.suppress(FileNotFoundError):
                    if what := _strangeness(place, name):
                        raise irregular_entry(folder / name, what)
            refuse_foreign_journal(folder / JOURNAL, place)
    except OSError as error:
        raise AssayError(f"{folder}: {error.strerror}", "check the permissions of the run's folder") from error


def _strangeness(place: int, name: str) -> str:
    fd = os.open(name, os.O_PATH | os.O_NOFOLLOW | os.O_CLOEXEC, dir_fd=place)
    try:
        mounted = mount_id(fd) != mount_id(place)
        return special_kind(os.fstat(fd)) or ("a mount" if mounted else "")
    finally:
        os.close(fd)


def refuse_foreign_journal(journal: Path, place: int) -> None:
    """Check that a journal next to the database, as a killed process may leave it, is of this database alone.

    Args:
        journal: Its name in messages.
        place: Descriptor of the folder with it, or with a copy of it.

    Raises:
        AssayError: It names another file.
    """
    try:
        fd = open_entry(place, JOURNAL, MAX_JOURNAL_BYTES)
    except (OSError, IrregularError, TooLargeError):
        return
    try:
        end = os.pread(fd, len(FOREIGN_JOURNAL_END), max(0, os.fstat(fd).st_size - len(FOREIGN_JOURNAL_END)))
    finally:
        os.close(fd)
    if end == FOREIGN_JOURNAL_END:
        message = f"{journal}: names another file, which a run's journal never does"
        raise AssayError(message, "copy the run again from its original folder", EXIT_REFUSED)


def open_new(path: Path) -> BinaryIO:
    """Open a new file of this name for writing; an existing entry is unlinked, and the file it linked to stays.

    Raises:
        OSError: It cannot be made.
    """
    path.unlink(missing_ok=True)
    return os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o644), "wb")


def open_to_append(path: Path) -> BinaryIO:
    """Open a file of a run for appending; it is made if missing.

    Raises:
        OSError: It cannot be made or written, or is a link.
    """
    flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
    return os.fdopen(os.open(path, flags, 0o644), "ab")


@contextlib.contextmanager
def stable_path(folder: Path) -> Iterator[Path]:
    """Yield a path to a folder that keeps leading to it, even if its name is given to another folder meanwhile.

    Raises:
        OSError: It does not exist, or is not a folder.
    """
    fd = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        yield Path(f"/proc/self/fd/{fd}")
    finally:
        os.close(fd)


def remove_folder(folder: Path) -> None:
    """Remove the files that Assay makes in a run's folder, then the folder; it stays if it holds anything else.

    A folder at which something is mounted is left alone.
    """
    with contextlib.suppress(OSError), contextlib.ExitStack() as stack:
        above = os.open(folder.parent, os.O_PATH | os.O_DIRECTORY | os.O_CLOEXEC)
        stack.callback(os.close, above)
        fd = os.open(folder.name, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC, dir_fd=above)
        stack.callback(os.close, fd)
        if mount_id(fd) != mount_id(above):
            return
        for name in ALL_FILES:
            # A name that is a folder or a mount cannot be unlinked.
            with contextlib.suppress(OSError):
                os.unlink(name, dir_fd=fd)
        os.rmdir(folder.name, dir_fd=above)
