"""`assay export`."""

from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from assay.model.base import AssayError
from assay.terminal.output_file import (
    FORCE,
    Mark,
    OutputFile,
    at_start,
    in_head,
    in_tail,
    in_workbook,
    output_option,
    write_atomically,
)
from assay.terminal.settings import RUNS, matching_runs

if TYPE_CHECKING:
    from assay.model.result.result import RunAnalysis
    from assay.report.tables import FlatTable


class Format(StrEnum):
    """File formats."""

    CSV = "csv"
    JSON = "json"
    PARQUET = "parquet"
    XLSX = "xlsx"
    OPENMETRICS = "openmetrics"
    FIO = "fio"
    IO500 = "io500"


SUFFIXES = {Format.OPENMETRICS: "prom", Format.FIO: "fio.json", Format.IO500: "io500.txt"}
"""Suffixes of file names that differ from the name of the format."""
FLAT_FORMATS = (Format.CSV, Format.PARQUET)
"""Formats that hold one table."""


class TableName(StrEnum):
    """Tables that fit into a flat file."""

    RESULTS = "results"
    SAMPLES = "samples"
    KINDS = "kinds"
    TASKS = "tasks"
    CEILINGS = "ceilings"
    COSTS = "costs"


def command(
    run: str = typer.Argument(
        ...,
        metavar="RUN",
        autocompletion=matching_runs,
        help="Id of the run, a unique beginning of it, `last`, the name of a study, a path, or a file of another tool.",
    ),
    format_: Format = typer.Option(..., "--format", "-f", help="Format of the file."),
    output: Path | None = output_option("The file; named after the run, here, if left out."),
    table: TableName = typer.Option(
        TableName.RESULTS,
        "--table",
        help="csv and parquet: one line for each result, repeat, kind, task of a command, ceiling, or target.",
    ),
    force: bool = FORCE,
    out: Path = RUNS,
) -> None:
    """Write a run's results as a table for other programs.

    json and xlsx hold everything; csv and parquet hold one table. Units are in the column names. openmetrics is for
    Prometheus, also for node_exporter's textfile collector; fio is the format of `fio --output-format=json`, with a fio
    job for each repeat of an operation that moves data; io500 is the summary of a run of studies/io500, with the
    reasons why it is not an official one.

    Example: `assay export last --format xlsx --output results.xlsx`
    """
    from assay.run.analysis import load_analysis
    from assay.run.find_run import find_shown_run
    from assay.terminal.output import note

    destination = None if output is None else OutputFile(output, mark_of(format_, table), force)
    if destination is not None and destination.prints and format_ in (Format.PARQUET, Format.XLSX):
        raise AssayError(f"{format_} is a binary format and is not printed", "use --output FILE")
    if table is not TableName.RESULTS and format_ not in FLAT_FORMATS:
        holds = "every table" if format_ in (Format.JSON, Format.XLSX) else "no tables"
        raise AssayError(f"{format_} has {holds}: --table {table} does not apply", "leave --table out")
    if format_ is Format.PARQUET:
        from assay.model.extras import require

        require("pyarrow", "the format parquet")
    if format_ is Format.CSV and table in ROW_TABLES:
        _write_rows(find_shown_run(run, out), table, destination, force)
        return
    analysis = load_analysis(run, out)
    if format_ is Format.FIO:
        _note_left_out(analysis)
    if destination is not None and destination.prints:
        destination.write(_text(analysis, format_, table))
        return
    path = output or default_path(analysis.run.id, format_, table)
    write_export(analysis, format_, table, path, force)
    note(f"wrote {path}")


ROW_TABLES = (TableName.RESULTS, TableName.SAMPLES, TableName.KINDS)
"""Tables whose records each follow from one result, so that only one case at a time must be in memory."""


def _write_rows(folder: Path, table: TableName, destination: OutputFile | None, force: bool) -> None:
    """Write a table as CSV row by row, without holding all rows in memory."""
    from assay.report import kinds_table, tables
    from assay.report.export_csv import write_csv
    from assay.run.analysis import judged_rows, row_samples
    from assay.store import RunStore
    from assay.terminal.output import note

    with RunStore.open(folder) as store:
        # Only the table of results needs verdicts, and latencies over all repeats.
        measured, found = {
            TableName.RESULTS: lambda: (tables.RESULT_COLUMNS, tables.result_records(judged_rows(store, quick=False))),
            TableName.SAMPLES: lambda: (tables.SAMPLE_COLUMNS, tables.sample_records(row_samples(store))),
            TableName.KINDS: lambda: (kinds_table.KIND_COLUMNS, kinds_table.kind_records(row_samples(store))),
        }[table]()
        columns, records = tables.records_with_origin(measured, found, store.info())

        def write(temporary: Path) -> None:
            with temporary.open("w", encoding="utf-8") as file:
                write_csv(columns, records, file)

        if destination is not None and destination.prints:
            write_csv(columns, records, typer.get_text_stream("stdout"))
            return
        file = destination or OutputFile(
            default_path(store.info().id, Format.CSV, table), mark_of(Format.CSV, table), force
        )
        file.fill(write)
        note(f"wrote {file.path}")


def _note_left_out(analysis: "RunAnalysis") -> None:
    from assay.report.formats.fio import left_out_count
    from assay.terminal.output import note

    if (count := left_out_count(analysis)) and count < len(analysis.rows):
        note(f"note: {count} of {len(analysis.rows)} results move no data and are left out: fio's format has only data")


def default_path(run: str, format_: Format, table: TableName) -> Path:
    """Return the default file in the current directory: `<run id>.xlsx`, `<run id>-samples.csv`, ..."""
    suffix = f"-{table}" if format_ in FLAT_FORMATS and table is not TableName.RESULTS else ""
    return Path(f"{Path(run).name}{suffix}.{SUFFIXES.get(format_, format_)}")


def write_export(analysis: "RunAnalysis", format_: Format, table: TableName, path: Path, force: bool) -> None:
    """Write one file, complete or not at all.

    Raises:
        AssayError: The file may not be replaced, or cannot be written.
    """

    def write(temporary: Path) -> None:
        if format_ is Format.PARQUET:
            from assay.report.export_parquet import write_parquet

            write_parquet(_table(analysis, table), analysis.run, temporary)
        elif format_ is Format.XLSX:
            from assay.report.export_xlsx import write_xlsx

            write_xlsx(analysis, temporary)
        else:
            temporary.write_text(_text(analysis, format_, table), encoding="utf-8")

    write_atomically(path, write, mark_of(format_, table), force)


def mark_of(format_: Format, table: TableName) -> Mark:
    """Return the check that recognises a file that Assay exported in this format."""
    from functools import partial

    marks: dict[Format, Mark] = {
        Format.JSON: partial(at_start, b'{\n "schema": "assay.results/'),
        Format.PARQUET: partial(in_tail, b'"schema": "assay.results/'),
        Format.XLSX: partial(in_workbook, b"<dc:creator>Assay</dc:creator>"),
        Format.OPENMETRICS: partial(at_start, b"# TYPE assay_"),
        Format.FIO: partial(in_head, b'"fio version": "assay-'),
        Format.IO500: partial(in_head, b"made by Assay, not by the benchmark"),
    }
    return marks[format_] if format_ in marks else partial(at_start, _heading(table))


def _heading(table: TableName) -> bytes:
    """Return the first line of a table as CSV; for an imported run it has one column more."""
    from assay.report.cost_table import COST_COLUMNS
    from assay.report.kinds_table import KIND_COLUMNS
    from assay.report.tables import CEILING_COLUMNS, RESULT_COLUMNS, SAMPLE_COLUMNS
    from assay.report.tasks_table import TASK_COLUMNS

    columns = {
        TableName.RESULTS: RESULT_COLUMNS,
        TableName.SAMPLES: SAMPLE_COLUMNS,
        TableName.KINDS: KIND_COLUMNS,
        TableName.TASKS: TASK_COLUMNS,
        TableName.CEILINGS: CEILING_COLUMNS,
        TableName.COSTS: COST_COLUMNS,
    }[table]
    return ",".join(column.name for column in columns).encode()


def _text(analysis: "RunAnalysis", format_: Format, table: TableName) -> str:
    if format_ is Format.JSON:
        from assay.report.export_json import json_text

        return json_text(analysis)
    if format_ is Format.OPENMETRICS:
        from assay.report.formats.openmetrics import openmetrics_text

        return openmetrics_text(analysis)
    if format_ is Format.FIO:
        from assay.report.formats.fio import fio_text

        return fio_text(analysis)
    if format_ is Format.IO500:
        from assay.report.formats.io500 import io500_text

        return io500_text(analysis)
    from assay.report.export_csv import csv_text

    return csv_text(_table(analysis, table))


def _table(analysis: "RunAnalysis", name: TableName) -> "FlatTable":
    from assay.report.tables import ceilings_table, results_table, samples_table, with_origin

    if name is TableName.COSTS:
        from assay.report.cost_table import costs_table

        if analysis.run.prices is None:
            hint = "only runs of studies with `prices:` have costs"
            raise AssayError(f"run {analysis.run.id} has no stored prices", hint)
        return costs_table(analysis)
    if name is TableName.TASKS:
        from assay.report.tasks_table import tasks_table

        tasks = tasks_table(analysis)
        if not tasks.records:
            raise AssayError(f"run {analysis.run.id} has no tasks", "only programs of a study's `commands` are tasks")
        return tasks
    if name is TableName.CEILINGS:
        return ceilings_table(analysis)
    if name is TableName.KINDS:
        from assay.report.kinds_table import kinds_table

        return with_origin(kinds_table(analysis), analysis.run)
    table = results_table(analysis) if name is TableName.RESULTS else samples_table(analysis)
    return with_origin(table, analysis.run)
