"""flatfile.html: a row for each interval and for each average, in columns that its header names (Flat.java)."""

import re
from collections.abc import Iterable, Sequence
from decimal import Decimal

from assay.model.escape import escape_line
from assay.rooms.importers.work.results import Figure, OutputError
from assay.rooms.importers.work.vdbench.runs import BINARY, DECIMAL, HINT, MAX_NAME, REQUESTED, VdbenchRun, figure_of

HEADER = re.compile(
    r"\s+tod\s+(?:timestamp\s+)?Run\s+Interval\s+(?:reqrate\s+rate|Xfersize\s+Threads\s+Reqrate\s+Rate)\s.*"
)
_OF_TOTAL = ("Threads", "Reqrate", "Rate", "Rate_std", "Rate_max", "Resp", "Resp_std", "Resp_max")
"""Columns that the flatfile of files has with a capital since 5.04.07."""
_ROW = re.compile(r"\s*[0-9]{2}:[0-9]{2}:[0-9]{2}\.[0-9]{3}\s+\S.*")
_AVERAGE = re.compile(r"avg_[0-9]{1,9}(?:-[0-9]{1,9})?")
_WORDS = ("tod", "timestamp", "Run", "Interval", "version")
"""Columns that are no numbers."""
_MAX_RUNS = 20_000


def read_flat(lines: Iterable[str]) -> tuple[list[VdbenchRun], int]:
    """Return the runs of a flatfile, and the number of the line that names its columns, from 1.

    Raises:
        OutputError: A row does not fit the columns.
    """
    columns: list[str] = []
    runs: list[VdbenchRun] = []
    first, is_open = 0, False
    for number, line in enumerate(lines, start=1):
        if "tod" in line and HEADER.fullmatch(line.rstrip()):
            columns = [name.lower() if name in _OF_TOTAL else name for name in line.split()]
            first = first or number
        if not columns or not _ROW.fullmatch(line.rstrip()):
            continue
        words = line.split()
        if len(words) != len(columns):
            raise OutputError(number, f"a row has {len(words)} columns, and the header {len(columns)}", HINT)
        row = dict(zip(columns, words, strict=True))
        name, interval = escape_line(row["Run"], MAX_NAME), row["Interval"]
        if not is_open or runs[-1].name != name or interval == "1":
            _check_count(runs, number)
            runs.append(VdbenchRun(number, name, has_files="Read_rate" in columns, options=_options(row)))
        is_open = not _AVERAGE.fullmatch(interval)
        if is_open:
            runs[-1].add_sizes(row.get("bytes/io", row.get("Xfersize", "")))
            continue
        runs[-1].line, runs[-1].average = number, interval
        runs[-1].figures = _figures(row, number)
    return runs, first


def _check_count(runs: Sequence[VdbenchRun], number: int) -> None:
    if len(runs) >= _MAX_RUNS:
        raise OutputError(number, f"more than {_MAX_RUNS:,} runs", "give fewer of them in one file")


def _options(row: dict[str, str]) -> dict[str, str]:
    return {name: escape_line(row[name], 40) for name in REQUESTED if name in row and row[name] not in ("n/a", "NaN")}


def _figures(row: dict[str, str], number: int) -> dict[str, Figure]:
    found = {}
    unit = _megabyte(row, number)
    for name, text in row.items():
        if name not in _WORDS:
            figure = figure_of(escape_line(name, 40), text, number, unit if name == "MB/sec" else "")
            if figure is not None:
                found[figure.name] = figure
    return found


def _megabyte(row: dict[str, str], number: int) -> str:
    """Return what MB/sec is: the text says 1024*1024, also where the run was asked to count by 1000.

    Of luns, rate times bytes of a transfer shows it. Of files it is always 1024*1024 (FwdStats.java, `MB`).
    """
    parts = [figure_of(name, row.get(name, "n/a"), number) for name in ("rate", "bytes/io", "MB/sec")]
    values = [Decimal(one.text) for one in parts if one is not None]
    if len(values) < 3 or not values[2]:
        return BINARY
    moved = values[0] * values[1]
    gaps = {unit: abs(moved - values[2] * size) for unit, size in ((BINARY, 2**20), (DECIMAL, 10**6))}
    return min(gaps, key=lambda unit: gaps[unit])
