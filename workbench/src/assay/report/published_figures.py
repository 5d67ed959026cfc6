"""Published figures from elsewhere, to be drawn in the same charts as those of a run.

They are read from a CSV file with a line for each figure and the column names in the first line. Columns have the names
that `assay export` uses, or those of iozone's tables:

    target or system                       the storage that the figure is of
    operation                              as in studies, or iozone's re-fwrite and re-fread
    file_size or file_kb                   bytes or text such as 64MiB; KiB
    record_size or record_kb               bytes or text such as 4KiB; KiB
    throughput or kb_per_s                 bytes per second or text such as 100 MB/s; KiB/s

Further columns are ignored.
"""

import csv
import io
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from assay.model.base import EXIT_USAGE, AssayError
from assay.model.result.result import Estimate, ResultRow, RunAnalysis
from assay.model.result.verdict import Verdict
from assay.model.study.axis import AxisValue
from assay.model.study.names import DATA
from assay.model.units import UnitError, parse_size, parse_throughput
from assay.model.user_files import read_user_file

MAX_BYTES = 64 << 20
MAX_FIGURES = 100_000
_HINT = "give a CSV with the columns target, operation, file_size, record_size and throughput"
_IOZONE = {"re-fwrite": "re_fwrite", "refwrite": "re_fwrite", "re-fread": "re_fread", "refread": "re_fread"}
"""iozone's name of an operation -> the name in studies."""
_ALIASES = {
    "target": ("target", "system"),
    "operation": ("operation",),
    "file_size": ("file_size", "file_size_bytes", "file_kb"),
    "record_size": ("record_size", "record_size_bytes", "record_kb"),
    "throughput": ("throughput", "throughput_bytes_per_s", "kb_per_s"),
}
"""Needed value -> names of the columns that may hold it."""


class PublishedFigure(NamedTuple):
    """A published figure.

    Attributes:
        file_size, record_size: In bytes.
        throughput: In bytes per second.
    """

    target: str
    operation: str
    file_size: int
    record_size: int
    throughput: float


class PublishedFigures(NamedTuple):
    """Published figures and where they are from.

    Attributes:
        source: The file they were read from, as shown in the report.
    """

    source: str
    figures: tuple[PublishedFigure, ...]


def read_published_figures(path: str) -> PublishedFigures:
    """Read published figures from a CSV file.

    Args:
        path: The file.

    Raises:
        AssayError: The file cannot be read, lacks a column, has a line that cannot be understood, or has no figures or
            too many.
    """
    try:
        text = read_user_file(path, path, _HINT, MAX_BYTES).decode("utf-8-sig")
    except UnicodeDecodeError:
        raise AssayError(f"{path}: is not UTF-8 text", _HINT, EXIT_USAGE) from None
    reader = csv.DictReader(io.StringIO(text))
    columns = _columns(path, reader.fieldnames or ())
    found = []
    try:
        for line in reader:
            if any(value for value in line.values()):
                found.append(_figure(f"{path}:{reader.line_num}", line, columns))
            if len(found) > MAX_FIGURES:
                raise AssayError(f"{path}: has more than {MAX_FIGURES:,} figures", "remove some lines", EXIT_USAGE)
    except csv.Error as error:
        raise AssayError(f"{path}:{reader.line_num}: {error}", _HINT, EXIT_USAGE) from None
    if not found:
        raise AssayError(f"{path}: has no figures", _HINT, EXIT_USAGE)
    return PublishedFigures(path, tuple(found))


def _columns(path: str, header: Sequence[str]) -> dict[str, str]:
    """Return the column that holds each needed value."""
    found = {}
    for needed, names in _ALIASES.items():
        column = next((name for name in names if name in header), None)
        if column is None:
            raise AssayError(f"{path}:1: there is no column {' or '.join(names)}", _HINT, EXIT_USAGE)
        found[needed] = column
    return found


def _figure(where: str, line: Mapping[str, str | None], columns: Mapping[str, str]) -> PublishedFigure:
    def text(needed: str) -> str:
        value = (line.get(columns[needed]) or "").strip()
        if not value:
            raise AssayError(f"{where}: {columns[needed]} is empty", _HINT, EXIT_USAGE)
        return value

    operation = _IOZONE.get(text("operation"), text("operation"))
    if operation not in DATA:
        raise AssayError(f"{where}: unknown operation {operation}", f"write one of {', '.join(DATA)}", EXIT_USAGE)
    try:
        return PublishedFigure(
            text("target"),
            operation,
            _size(text("file_size"), columns["file_size"]),
            _size(text("record_size"), columns["record_size"]),
            _rate(text("throughput"), columns["throughput"]),
        )
    except UnitError as error:
        raise error.at(where, EXIT_USAGE) from None


def _size(text: str, column: str) -> int:
    return parse_size(f"{text}KiB" if column.endswith("_kb") else f"{text}B" if text.isdecimal() else text)


def _rate(text: str, column: str) -> float:
    if column.startswith("kb_"):
        return parse_throughput(f"{text}KiB/s")
    return parse_throughput(f"{text}B/s" if text.replace(".", "", 1).isdecimal() else text)


def with_figures(analysis: RunAnalysis, published_figures: PublishedFigures) -> RunAnalysis | None:
    """Return the run with the published figures added as rows where they are comparable; None if none is.

    A figure is comparable with a workload that sweeps file size and record size and nothing else, and has the
    operation. Figures have no repeats and no real verdict, so the result must be used for charts and means only.
    """
    rows = list(analysis.rows)
    for template in _templates(analysis):
        for figure in published_figures.figures:
            if figure.operation == template.operation:
                rows.append(_row(template, figure))
    return analysis.model_copy(update={"rows": tuple(rows)}) if len(rows) > len(analysis.rows) else None


def _templates(analysis: RunAnalysis) -> list[ResultRow]:
    """Return one row of each workload and operation with which figures are comparable."""
    found: dict[tuple[str, str], ResultRow] = {}
    swept: dict[str, set[tuple[AxisValue, AxisValue]]] = {}
    for row in analysis.rows:
        axes = row.case.axes
        if set(axes) == {"file_size", "record_size"} and row.throughput is not None:
            found.setdefault((row.case.workload, row.operation), row)
            swept.setdefault(row.case.workload, set()).add((axes["file_size"], axes["record_size"]))
    return [row for (workload, _), row in found.items() if len(swept[workload]) > 1]


def _row(template: ResultRow, figure: PublishedFigure) -> ResultRow:
    sizes = {"file_size": figure.file_size, "record_size": figure.record_size}
    case = template.case.model_copy(update={"id": "", "target": figure.target, "axes": sizes})
    rate = Estimate(median=figure.throughput, low=None, high=None, n=1, spread=None)
    return ResultRow(
        case=case,
        operation=figure.operation,
        throughput=rate,
        iops=rate.model_copy(update={"median": figure.throughput / figure.record_size}),
        latency={},
        curve=(),
        samples=(),
        verdict=Verdict.OK,
        findings=(),
    )
