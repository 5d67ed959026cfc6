"""Runs as an older Assay wrote them."""

import contextlib
import sqlite3
from pathlib import Path

from assay.store.schema import MIGRATIONS


def make_old(database: Path, version: int) -> None:
    """Write a run's database anew with the tables and columns of that version; what they do not hold is lost."""
    old = database.with_name("old.sqlite")
    with contextlib.closing(sqlite3.connect(old)) as connection:
        for script in MIGRATIONS[:version]:
            connection.executescript(script)
        connection.execute("ATTACH ? AS now", (str(database),))
        for (table,) in connection.execute("SELECT name FROM main.sqlite_master WHERE type = 'table'").fetchall():
            columns = ", ".join(row[1] for row in connection.execute(f"PRAGMA main.table_info({table})"))
            connection.execute(f"INSERT INTO main.{table} ({columns}) SELECT {columns} FROM now.{table}")
        connection.execute(f"PRAGMA user_version = {version}")
        connection.commit()
    old.replace(database)
