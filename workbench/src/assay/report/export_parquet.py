"""Writes a table as Parquet."""

import json
from pathlib import Path

from assay.model.result.run import RunInfo
from assay.report.export_json import SCHEMA
from assay.report.tables import FlatTable


def write_parquet(table: FlatTable, run: RunInfo, path: Path) -> None:
    """Write a table; the file's metadata has the run's id, study and versions under `assay`."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    types = {"text": pa.string(), "integer": pa.int64(), "number": pa.float64(), "boolean": pa.bool_()}
    fields = [pa.field(column.name, types[column.kind]) for column in table.columns]
    metadata = {"schema": SCHEMA, "table": table.name, "run": run.id, "study": run.study, "versions": run.versions}
    schema = pa.schema(fields, metadata={"assay": json.dumps(metadata)})
    columns = [
        pa.array([record[column.name] for record in table.records], type=types[column.kind]) for column in table.columns
    ]
    pq.write_table(pa.Table.from_arrays(columns, schema=schema), path, compression="zstd")
