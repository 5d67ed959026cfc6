"""Opens a run's database for reading: nothing in its folder is written, and SQLite finds no journal there to roll back.

SQLite opens files by name, follows links, rolls back a journal next to a database, and removes the file that such a
journal names. A run's folder may come from another user, so SQLite does that at most to a copy in a private folder:

* A run that has ended is one file. It is read in place and as one that cannot change (`immutable`), so that SQLite
  looks for no other file.
* While a run is measured, or after its workbench was killed, there is a second file with changes that are not in the
  database yet. Both files are copied, the copies are joined, and the result is read.
"""

import contextlib
import os
import shutil
import sqlite3
import tempfile
import threading
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from queue import Empty, SimpleQueue

from assay.model.base import EXIT_REFUSED, AssayError
from assay.store.entries import DATABASE, JOURNAL, WAL, refuse_foreign_journal, remove_folder
from assay.store.safe_files import folder_descriptor, open_in_folder
from assay.store.schema import check_schema, database_errors_as_error

MAX_BYTES = 1 << 40
_HEADER = 100
_VERSIONS = slice(18, 20)
"""Bytes of a database's header with the versions for writing and reading; 2 means a write-ahead log (section 1.3.4)."""
_WITH_LOG = b"\2\2"
_LOG_HEADER = 32
MAX_ATTEMPTS, RETRY_PAUSE_SECONDS = 60, 0.03
CLOCK_TICK_NS = 20_000_000
"""Two writes within a tick of the kernel's clock have the same time; no tick is longer than this."""
OPEN_TIMEOUT_SECONDS = 5.0
"""How long opening a file may take: it may have become a pipe without a writer."""
_connect_lock = threading.Lock()


read_folders: dict[Path, None] = {}
"""Folders of the runs that were read, in order."""


class _ChangedError(Exception):
    """The run was written while it was read."""


def open_to_read(folder: Path) -> sqlite3.Connection:
    """Return a connection to the present state of a run's database.

    Args:
        folder: The run's folder.

    Raises:
        AssayError: There is no database, or it is broken, unreadable, of another version of Assay or changes too fast;
            a file is not a plain file of this folder alone; or a journal names another file.
    """
    with database_errors_as_error(folder / DATABASE), folder_descriptor(folder) as place:
        for _ in range(MAX_ATTEMPTS):
            with contextlib.suppress(_ChangedError):
                connection = _opened(place, folder)
                read_folders[folder] = None
                return connection
            time.sleep(RETRY_PAUSE_SECONDS)
    raise AssayError(
        f"{folder}: changes faster than it can be read", "try again when it is written less often", EXIT_REFUSED
    )


def _opened(place: int, folder: Path) -> sqlite3.Connection:
    with contextlib.ExitStack() as stack:
        files = {}
        for name in (DATABASE, WAL, JOURNAL):
            try:
                files[name] = open_in_folder(place, folder, name, MAX_BYTES)
            except FileNotFoundError:
                if name == DATABASE:
                    raise AssayError(
                        f"{folder}: not a run (it has no {DATABASE})", "`assay list` names the runs"
                    ) from None
                continue
            stack.callback(os.close, files[name])
        side_files = {name: fd for name, fd in files.items() if name != DATABASE and os.fstat(fd).st_size}
        database = files[DATABASE]
        if not side_files and os.pread(database, _HEADER, 0)[_VERSIONS] != _WITH_LOG:
            connection = _checked(_in_place(database), folder)
            if not connection.execute("SELECT 1 FROM run WHERE status = 'running'").fetchone():
                return connection
            # A batch job may be writing to it, without a log. Reading in place would need SQLite's locks.
            connection.close()
        return _checked(_copied(place, folder, {DATABASE: database, **side_files}), folder)


def _checked(connection: sqlite3.Connection, folder: Path) -> sqlite3.Connection:
    try:
        check_schema(connection, folder / DATABASE)
    except BaseException:
        connection.close()
        raise
    return connection


def _in_place(database: int) -> sqlite3.Connection:
    """Open the file of a descriptor as one that nothing changes, so that SQLite looks for no other file."""
    # SQLite resolves the descriptor to a path and opens that. So its file is compared with the descriptor's before the
    # first query.
    with _connect_lock:
        before = set(_descriptors())
        connection = _Opener.connect(f"file:/proc/self/fd/{database}?mode=ro&immutable=1")
        about = os.fstat(database)
        if not any((device, inode) == (about.st_dev, about.st_ino) for _, device, inode in {*_descriptors()} - before):
            connection.close()
            raise _ChangedError
    return _bounded(connection, about.st_size)


def _descriptors() -> Iterator[tuple[int, int, int]]:
    for name in os.listdir("/proc/self/fd"):  # noqa: PTH208 - done twice for each of a thousand runs
        with contextlib.suppress(OSError):
            about = os.fstat(int(name))
            yield int(name), about.st_dev, about.st_ino


class _Opener:
    """A thread that opens databases. If an open hangs, the thread is left behind, and the next open gets a new one."""

    current: "_Opener | None" = None

    def __init__(self) -> None:
        self._requests: SimpleQueue[str] = SimpleQueue()
        self._answers: SimpleQueue[sqlite3.Connection | sqlite3.Error] = SimpleQueue()
        threading.Thread(target=self._work, name="opens runs", daemon=True).start()

    def _work(self) -> None:
        while True:
            try:
                self._answers.put(_connected(self._requests.get()))
            except sqlite3.Error as error:
                self._answers.put(error)

    @classmethod
    def connect(cls, uri: str) -> sqlite3.Connection:
        """Return a connection; only one thread may call this at a time.

        Raises:
            AssayError: Opening takes too long.
            sqlite3.Error: It cannot be opened.
        """
        opener = cls.current = cls.current or cls()
        opener._requests.put(uri)
        try:
            answer = opener._answers.get(timeout=OPEN_TIMEOUT_SECONDS)
        except Empty:
            cls.current = None
            message = f"the database of a run was not opened in {OPEN_TIMEOUT_SECONDS:g} s"
            raise AssayError(
                message, "check that its disk responds, and that no other program changes its folder"
            ) from None
        if isinstance(answer, sqlite3.Error):
            raise answer
        return answer


def _forget_opener() -> None:
    _Opener.current = None


# A forked process does not have the threads of its parent.
os.register_at_fork(after_in_child=_forget_opener)


def _connected(uri: str) -> sqlite3.Connection:
    return sqlite3.connect(uri, uri=True, isolation_level=None, check_same_thread=False)


def _bounded(connection: sqlite3.Connection, size: int) -> sqlite3.Connection:
    """Limit a connection: values are no longer than the file, and no code in the database is run."""
    connection.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, max(1 << 20, min(size, 1 << 30)))
    connection.setlimit(sqlite3.SQLITE_LIMIT_ATTACHED, 0)
    for pragma in ("trusted_schema = OFF", "cell_size_check = ON", "query_only = ON", "temp_store = MEMORY"):
        connection.execute(f"PRAGMA {pragma}")
    return connection


def _copied(place: int, folder: Path, files: Mapping[str, int]) -> sqlite3.Connection:
    """Open private copies of the files, joined into one database; the copies are removed again."""
    before = _state(place, files)
    private = Path(tempfile.mkdtemp(prefix="assay-read-"))
    try:
        needed, free = sum(os.fstat(fd).st_blocks * 512 for fd in files.values()), shutil.disk_usage(private).free
        if needed > free:
            message = f"{private.parent}: has no space for a copy of the run, {needed >> 20} MiB"
            raise AssayError(message, "free space there, or set TMPDIR to another folder")
        for name, fd in files.items():
            _copy(fd, private / name)
        if _state(place, files) != before:
            raise _ChangedError
        with folder_descriptor(private) as copies:
            refuse_foreign_journal(folder / JOURNAL, copies)
        database = private / DATABASE
        _join(database)
        size = database.stat().st_size
        return _bounded(_connected(f"{database.as_uri()}?mode=ro&immutable=1"), size)
    finally:
        # The database is open by now; the kernel frees it with the last descriptor.
        remove_folder(private)


def _state(place: int, files: Mapping[str, int]) -> list[object]:
    """Return a value that changes if files copied before and files copied after do not belong together."""
    state: list[object] = []
    for name in (DATABASE, WAL, JOURNAL):
        try:
            status = os.stat(name, dir_fd=place, follow_symlinks=False)
        except FileNotFoundError:
            state.append(None)
            continue
        if name == WAL:
            # Appending to the log does not change what it had. When it restarts, its header changes.
            fd = files.get(WAL)
            state += [status.st_ino, b"" if fd is None else os.pread(fd, _LOG_HEADER, 0)]
            continue
        if 0 <= time.time_ns() - status.st_mtime_ns < CLOCK_TICK_NS:
            raise _ChangedError
        state += [status.st_ino, status.st_size, status.st_mtime_ns]
    return state


def _copy(fd: int, path: Path) -> None:
    """Copy a file with its holes, so that a sparse file with a huge size needs little space."""
    size, position = os.fstat(fd).st_size, 0
    copy = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
    try:
        os.ftruncate(copy, size)
        while position < size:
            try:
                begin = os.lseek(fd, position, os.SEEK_DATA)
            except OSError:
                # The rest is a hole.
                break
            position = min(size, os.lseek(fd, begin, os.SEEK_HOLE))
            os.lseek(copy, begin, os.SEEK_SET)
            while begin < position and (count := os.sendfile(copy, fd, begin, position - begin)):
                begin += count
    finally:
        os.close(copy)


def _join(database: Path) -> None:
    """Merge the log or journal of a private copy into its database."""
    with contextlib.closing(
        sqlite3.connect(f"{database.as_uri()}?mode=rw", uri=True, isolation_level=None)
    ) as connection:
        connection.execute("PRAGMA trusted_schema = OFF")
        connection.execute("PRAGMA synchronous = OFF")
        connection.execute("PRAGMA journal_mode = DELETE").fetchone()
