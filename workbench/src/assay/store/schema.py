"""The tables of `run.sqlite`."""

import contextlib
import sqlite3
from collections.abc import Iterator
from pathlib import Path

from assay.model.base import AssayError, Code
from assay.model.escape import escape_line
from assay.store.entries import BATCH, DATABASE
from assay.store.safe_files import DAMAGE_HINT, plain_file_status

TABLES = """
    CREATE TABLE run (
        id TEXT NOT NULL, study TEXT NOT NULL, question TEXT NOT NULL, description TEXT NOT NULL,
        status TEXT NOT NULL, created_at REAL NOT NULL, finished_at REAL, seed INTEGER NOT NULL,
        case_order TEXT NOT NULL, repeats INTEGER NOT NULL, command TEXT NOT NULL, planned INTEGER NOT NULL,
        details TEXT NOT NULL
    );
    CREATE TABLE cases (
        position INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, label TEXT NOT NULL, document TEXT NOT NULL
    );
    CREATE TABLE excluded (position INTEGER PRIMARY KEY, document TEXT NOT NULL);
    CREATE TABLE plan (
        position INTEGER PRIMARY KEY, case_id TEXT NOT NULL REFERENCES cases (id), repeat INTEGER NOT NULL,
        UNIQUE (case_id, repeat)
    );
    CREATE TABLE attempts (
        id INTEGER PRIMARY KEY, case_id TEXT NOT NULL, repeat INTEGER NOT NULL, started_at REAL NOT NULL,
        seconds REAL, status TEXT NOT NULL, reason TEXT NOT NULL, job TEXT NOT NULL, events BLOB,
        FOREIGN KEY (case_id, repeat) REFERENCES plan (case_id, repeat)
    );
    CREATE INDEX attempts_of_repeat ON attempts (case_id, repeat);
    CREATE TABLE outcomes (
        case_id TEXT NOT NULL, repeat INTEGER NOT NULL, status TEXT NOT NULL,
        attempt INTEGER NOT NULL REFERENCES attempts (id),
        PRIMARY KEY (case_id, repeat), FOREIGN KEY (case_id, repeat) REFERENCES plan (case_id, repeat)
    ) WITHOUT ROWID;
    CREATE INDEX outcomes_by_status ON outcomes (status);
    CREATE TABLE samples (
        id INTEGER PRIMARY KEY, case_id TEXT NOT NULL, repeat INTEGER NOT NULL, phase INTEGER NOT NULL,
        operation TEXT NOT NULL, status TEXT NOT NULL, throughput REAL NOT NULL, iops REAL NOT NULL,
        document TEXT NOT NULL,
        UNIQUE (case_id, repeat, phase),
        FOREIGN KEY (case_id, repeat) REFERENCES outcomes (case_id, repeat)
    );
    CREATE INDEX samples_rates ON samples (case_id, phase, repeat, status, operation, throughput, iops);
    CREATE TABLE results (
        position INTEGER PRIMARY KEY, case_id TEXT NOT NULL REFERENCES cases (id), operation TEXT NOT NULL,
        verdict TEXT NOT NULL, throughput REAL, low REAL, high REAL, iops REAL, n INTEGER NOT NULL,
        finding TEXT NOT NULL, further_verdicts TEXT NOT NULL, ceiling TEXT NOT NULL, share REAL
    );
    CREATE INDEX results_of_case ON results (case_id);
    CREATE INDEX results_by_verdict ON results (verdict);
    CREATE TABLE journal (
        id INTEGER PRIMARY KEY, kind TEXT NOT NULL, name TEXT NOT NULL, details TEXT NOT NULL,
        recorded_at REAL NOT NULL, removed_at REAL
    );
    CREATE TABLE settled (
        case_id TEXT PRIMARY KEY REFERENCES cases (id), reason TEXT NOT NULL, known INTEGER NOT NULL
    ) WITHOUT ROWID;
    CREATE TABLE controls (id INTEGER PRIMARY KEY, document TEXT NOT NULL);
"""

SCHEMA_VERSION = 5
"""Version of these tables; a file with another version is refused."""
_STATEMENTS = frozenset(statement.strip() for statement in TABLES.split(";"))


def connect_to_write(folder: Path) -> sqlite3.Connection:
    """Open the database of an existing run for writing; the caller holds the run's lock and has checked its entries.

    Raises:
        AssayError: It is missing, broken, or of another version of Assay.
    """
    path = folder / DATABASE
    with database_errors_as_error(path):
        connection = _open_for_writing(path)
        check_schema(connection, path)
        connection.execute("PRAGMA temp_store = MEMORY")
        return connection


@contextlib.contextmanager
def database_errors_as_error(path: Path) -> Iterator[None]:
    """Turn errors while a database is opened into one line.

    Raises:
        AssayError: It is broken, or cannot be opened.
    """
    try:
        yield
    except sqlite3.OperationalError as error:
        raise AssayError(
            f"{path}: cannot be opened: {error}", "check its permissions and the free space on its disk"
        ) from error
    except sqlite3.DatabaseError as error:
        raise AssayError(f"{path}: cannot be read: {error}", "restore the run's folder from a copy") from error
    except OSError as error:
        raise AssayError(f"{path}: cannot be read: {error.strerror}", "check its permissions") from error


def check_schema(connection: sqlite3.Connection, path: Path) -> None:
    """Check that a database has the tables of this version of Assay and nothing else.

    A foreign database could otherwise have a view that never ends under the name of a table.

    Args:
        connection: To the database.
        path: Its name in messages.

    Raises:
        AssayError: It has something else, or was written by another version.
    """
    version = connection.execute("PRAGMA user_version").fetchone()[0]
    if version == 0:
        raise AssayError(f"{path}: has no run", "its creation was interrupted; remove the folder")
    if version != SCHEMA_VERSION:
        newer = version > SCHEMA_VERSION
        writer, hint = ("a newer", "update Assay") if newer else ("an older", "measure its study again")
        versions = f"version {version} of the store, this one knows {SCHEMA_VERSION}"
        code = Code.NEWER_RUN if newer else None
        raise AssayError(f"{path}: written by {writer} Assay ({versions})", hint, code=code)
    for name, sql in connection.execute("SELECT name, sql FROM sqlite_schema WHERE sql IS NOT NULL"):
        # SQLite's own tables, such as the statistics of ANALYZE, have reserved names.
        if sql not in _STATEMENTS and not str(sql).startswith("CREATE TABLE sqlite_"):
            message = f"{path.parent} is damaged: {escape_line(str(name))} in its database is not part of a run"
            raise AssayError(message, DAMAGE_HINT)


def _open_for_writing(path: Path) -> sqlite3.Connection:
    uri = f"{path.absolute().as_uri()}?mode=rwc"
    connection = sqlite3.connect(uri, uri=True, isolation_level=None, timeout=30)
    connection.execute("PRAGMA trusted_schema = OFF")
    connection.execute("PRAGMA foreign_keys = ON")
    # With WAL, NORMAL loses nothing if the process dies, and fsync only at checkpoints keeps the store's own writes
    # out of the measurement. A power failure can cost the last repeats, which --resume then runs again.
    # A batch job has its database on a file system that several machines see. WAL does not work there, since it needs
    # memory that all processes with the open file share. A journal works, if the file system has locks.
    batch = plain_file_status(path.parent, BATCH) is not None
    connection.execute(f"PRAGMA journal_mode = {'DELETE' if batch else 'WAL'}")
    connection.execute("PRAGMA synchronous = NORMAL")
    return connection


def create_database(folder: Path) -> sqlite3.Connection:
    """Make a new database with all tables in a run's folder."""
    connection = _open_for_writing(folder / DATABASE)
    connection.executescript(f"BEGIN IMMEDIATE; {TABLES} PRAGMA user_version = {SCHEMA_VERSION}; COMMIT;")
    return connection
