"""A run's database with one value that is none: each column of each table, and each place in the JSON of one."""

import contextlib
import json
import random
import sqlite3
from collections.abc import Iterator
from pathlib import Path
from typing import Any

ODD: tuple[Any, ...] = (
    *(None, "", "x", "NaN", b"\0", b"\xff", "\0", "a\nb\x1b[31m", "x" * 100_000, "[" * 5000, "{}", "[]", "null"),
    *(0, 1, -1, 0.5, -1.5, 1e308, -1e308, float("inf"), float("-inf"), 2**31, 2**53, 2**63 - 1, -(2**63)),
    *("9" * 400, "1e400", '{"a": NaN}', "2026-01-01", "../../etc/passwd", "complete", "running"),
)
"""What a column of SQLite may hold; NaN it keeps as NULL."""
ODD_JSON: tuple[Any, ...] = (
    *(None, True, "", "x", "\0", "a\nb\x1b[31m", "x" * 10_000, [], {}, [[]], [None], {"": None}, {"a": {"b": []}}),
    *(0, 1, -1, 0.5, -1.5, 1e308, -1e308, float("nan"), float("inf"), float("-inf"), 2**31, 2**53, 2**64, -(10**400)),
    *("9" * 400, "../../etc/passwd", "complete", "file", "ok"),
)
"""What a place in JSON may hold; Python writes and reads NaN and infinities there, too."""


def columns(database: Path) -> list[tuple[str, str]]:
    """Table and column, of all that have rows."""
    with contextlib.closing(sqlite3.connect(database)) as connection:
        tables = [row[0] for row in connection.execute("SELECT name FROM sqlite_schema WHERE type = 'table'")]
        filled = [name for name in tables if connection.execute(f"SELECT 1 FROM {name} LIMIT 1").fetchone()]
        return [(name, row[1]) for name in filled for row in connection.execute(f"PRAGMA table_info({name})")]


def put(database: Path, choice: random.Random, table: str, column: str) -> str:
    """Put one odd value into a column of one row, or of all; returns what was done.

    In a column with JSON it is as often a place in that.
    """
    with contextlib.closing(sqlite3.connect(database, isolation_level=None)) as connection:
        rows = [row[0] for row in connection.execute(f"SELECT {column} FROM {table}")]
        old = choice.choice(rows)
        value, what = choice.choice(ODD), ""
        with contextlib.suppress(TypeError, ValueError, IndexError, RecursionError):
            document = json.loads(old)
            if isinstance(document, dict | list) and choice.random() < 0.9:
                places = list(_places(document))
                place = choice.choice(places)
                value, what = _with(document, place, choice.choice(ODD_JSON)), f" at {place}"
        everywhere = choice.random() < 0.3
        # Conditions of the tables do not matter to whoever writes a file by hand.
        connection.execute("PRAGMA ignore_check_constraints = ON")
        where = "" if everywhere else f" WHERE {column} IS ?"
        with contextlib.suppress(sqlite3.IntegrityError):
            connection.execute(f"UPDATE {table} SET {column} = ?{where}", (value, *(() if everywhere else (old,))))
        return f"{table}.{column}{what} = {str(value)[:0] if what else repr(value)[:60]}{' everywhere' * everywhere}"


def _places(document: Any, above: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    pairs = document.items() if isinstance(document, dict) else enumerate(document)
    for key, value in pairs:
        yield (*above, key)
        if isinstance(value, dict | list):
            yield from _places(value, (*above, key))


def _with(document: Any, place: tuple[Any, ...], value: Any) -> str:
    inner = document
    for key in place[:-1]:
        inner = inner[key]
    inner[place[-1]] = value
    return json.dumps(document)
