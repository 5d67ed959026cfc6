"""The time series of a run as Parquet."""

import contextlib
from collections.abc import Iterable, Mapping
from itertools import islice
from pathlib import Path
from typing import Any

from assay.store.entries import open_new

COLUMNS = {
    "case": "string",
    "repeat": "int32",
    "phase": "int32",
    "operation": "string",
    "index": "int64",
    "start_ns": "int64",
    "end_ns": "int64",
    "read_ops": "int64",
    "read_bytes": "int64",
    "write_ops": "int64",
    "write_bytes": "int64",
    "meta_ops": "int64",
    "meta_bytes": "int64",
    "errors": "int64",
    "p50_ns": "int64",
    "p99_ns": "int64",
    "object_ops": "int64",
    "object_bytes": "int64",
}
"""Name -> Arrow type. Times count from the phase's start; percentiles are of all operations together,
and empty where those are too few (`assay.model.result.percentile`).

`meta` are metadata operations, whose bytes are the contents that `create` wrote; `object` are those on objects.
"""

BATCH_ROWS = 50_000


def write_parquet(path: Path, rows: Iterable[Mapping[str, Any]]) -> int:
    """Write rows to a Parquet file, whole or not at all.

    Args:
        path: The file; replaced.
        rows: One mapping with the names of `COLUMNS` per interval.

    Returns:
        Number of rows.
    """
    import pyarrow as pa
    import pyarrow.parquet as pq

    schema = pa.schema([pa.field(name, pa.type_for_alias(kind)) for name, kind in COLUMNS.items()])
    unfinished = path.with_name(f".{path.name}.new")
    count = 0
    source = iter(rows)
    try:
        with open_new(unfinished) as file, pq.ParquetWriter(file, schema, compression="zstd") as writer:
            while batch := list(islice(source, BATCH_ROWS)):
                writer.write_table(pa.Table.from_pylist(batch, schema=schema))
                count += len(batch)
        unfinished.replace(path)
    finally:
        with contextlib.suppress(FileNotFoundError):
            unfinished.unlink()
    return count
