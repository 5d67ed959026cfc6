"""Writes the time series of a run as compressed CSV, which every spreadsheet or data frame library can read."""

import contextlib
import csv
import gzip
import io
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from assay.store.entries import open_new

COLUMNS = (
    "case",
    "repeat",
    "phase",
    "operation",
    "index",
    "start_ns",
    "end_ns",
    "read_ops",
    "read_bytes",
    "write_ops",
    "write_bytes",
    "meta_ops",
    "meta_bytes",
    "errors",
    "p50_ns",
    "p99_ns",
    "object_ops",
    "object_bytes",
)
"""Columns of the series: the texts `case` and `operation`, and whole numbers.

Times count from the start of the phase. Percentiles cover the operations of all kinds, and are empty where those are
too few (`assay.model.result.percentile`). `meta` are metadata operations, whose bytes are the contents that `create`
wrote; `object` are operations on objects.
"""


def write_series(path: Path, rows: Iterable[Mapping[str, Any]]) -> int:
    """Write rows to a file, whole or not at all; the same rows give the same bytes.

    Args:
        path: The file, which is replaced.
        rows: One mapping for each interval, with the names of `COLUMNS`.

    Returns:
        Number of rows.

    Raises:
        OSError: The file cannot be written.
    """
    unfinished = path.with_name(f".{path.name}.new")
    count = 0
    try:
        with (
            open_new(unfinished) as file,
            gzip.GzipFile("", "wb", fileobj=file, mtime=0) as packed,
            io.TextIOWrapper(packed, encoding="utf-8", newline="") as text,
        ):
            writer = csv.writer(text, lineterminator="\n")
            writer.writerow(COLUMNS)
            for count, row in enumerate(rows, 1):  # noqa: B007
                writer.writerow([row[name] for name in COLUMNS])
        unfinished.replace(path)
    finally:
        with contextlib.suppress(FileNotFoundError):
            unfinished.unlink()
    return count
