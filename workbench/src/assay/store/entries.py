"""What is in a run's folder, and nothing else of it is ever written or removed.

A folder may come from somebody else: names in it may lead anywhere.
"""

import contextlib
import os
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

from assay.model.base import EXIT_REFUSED, AssayError

DATABASE = "run.sqlite"
STUDY = "study.yaml"
PRICES = "prices.json"
INTERVALS = "intervals.csv.gz"
ALIVE, ALIVE_NEW = "alive.json", "alive.new"
RUN_LOCK, ENGINE_LOCK = "run.lock", "engine.lock"
TESTBED, INVENTORY = "testbed.yaml", "inventory"
"""Copies of the files that the study names."""
BATCH, BATCH_NEW = "scheduler.json", "scheduler.new"
"""Of a run that was submitted to a scheduler: its jobs."""
BATCH_SCRIPT, BATCH_OUTPUT, PROGRESS = "job.sh", "job.out", "progress.ndjson"
"""What was submitted last, what the jobs have printed, and what they tell whoever follows."""
OF_BATCH = (BATCH, BATCH_NEW, BATCH_SCRIPT, BATCH_OUTPUT, PROGRESS)
DATABASES = (DATABASE, *(f"{DATABASE}-{end}" for end in ("wal", "shm", "journal")))
SERIES = (INTERVALS, f".{INTERVALS}.new")
WRITTEN = (*DATABASES, STUDY, PRICES, *SERIES, ALIVE, ALIVE_NEW, TESTBED, INVENTORY, *OF_BATCH)
FILES = (*WRITTEN, RUN_LOCK, ENGINE_LOCK)
"""All names, the locks last."""
NAMES_ANOTHER = bytes.fromhex("d9d505f920a163d7")
"""End of a journal of SQLite that names another file, which SQLite would delete: that of several databases that are
changed together, which runs never are (SQLite, database file format, section 3)."""


def check_entries(folder: Path) -> None:
    """See whether what is in a run's folder is what Assay makes there, before anything of it is written.

    Args:
        folder: The run's.

    Raises:
        AssayError: A name is a link, a folder, a pipe or a device, or a file that leads to another.
    """
    for name in FILES:
        path = folder / name
        try:
            mode = path.lstat().st_mode
        except FileNotFoundError:
            continue
        except OSError as error:
            raise AssayError(f"{path}: {error.strerror}", "see the rights of the run's folder") from error
        if not stat.S_ISREG(mode):
            what = "a symbolic link" if stat.S_ISLNK(mode) else "a folder" if stat.S_ISDIR(mode) else "a special file"
            hint = "a run's folder holds plain files; remove it, or take the run from where it was made"
            raise AssayError(f"{path}: is {what}, not a file of a run", hint, EXIT_REFUSED)
    check_journal(folder / DATABASE)


def check_journal(database: Path) -> None:
    """See whether the journal that a killed process may have left beside a database is of this one alone.

    Raises:
        AssayError: It names another file.
    """
    path = database.with_name(f"{database.name}-journal")
    with contextlib.suppress(OSError):
        fd = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK)
        try:
            size = os.fstat(fd).st_size
            end = os.pread(fd, len(NAMES_ANOTHER), max(0, size - len(NAMES_ANOTHER)))
        finally:
            os.close(fd)
        if end == NAMES_ANOTHER:
            message = f"{path}: names another file, which no journal of a run does"
            raise AssayError(message, "take the run from where it was made", EXIT_REFUSED)


def open_new(path: Path) -> BinaryIO:
    """A new file of this name, open for writing; what had the name goes, and what that led to stays.

    Raises:
        OSError: It cannot be made.
    """
    path.unlink(missing_ok=True)
    return os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o644), "wb")


@contextlib.contextmanager
def opened_folder(folder: Path) -> Iterator[Path]:
    """A path to a folder that stays the same whatever gets its name meanwhile.

    Raises:
        OSError: It is not there, or no folder.
    """
    fd = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        yield Path(f"/proc/self/fd/{fd}")
    finally:
        os.close(fd)


def remove_folder(folder: Path) -> None:
    """Remove a run's folder with the files that Assay makes in it; if it holds anything else, that and it stay."""
    with contextlib.suppress(OSError):
        fd = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
        try:
            for name in FILES:
                # A name that is a folder or a mount cannot be unlinked.
                with contextlib.suppress(OSError):
                    os.unlink(name, dir_fd=fd)
        finally:
            os.close(fd)
        folder.rmdir()
