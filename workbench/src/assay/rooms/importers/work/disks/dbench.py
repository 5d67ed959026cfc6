"""dbench's text, versions 3 and 4: the throughput of a recorded load of a file server, and latencies of its operations.

MB are 10^6 bytes read and written (dbench.c: 1.0e-6 * total_bytes / t). Latencies are milliseconds.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field

from assay.model.escape import escape_line
from assay.model.result.imported import ImportedFile
from assay.model.study.axis import AxisValue
from assay.rooms.importers.work.disks.printed import amount, lines_of, measurement
from assay.rooms.importers.work.figure_units import convert
from assay.rooms.importers.work.results import (
    STATED_NOTHING,
    Figure,
    ImportedResult,
    ImportOptions,
    OutputError,
    ToolOutput,
)

NAME = "dbench"
HINT = "give the output of dbench as it printed it"
_HEAD = re.compile(r"dbench version (\S{1,20}) - Copyright Andrew Tridgell .*")
_RUNNING = re.compile(r"Running for ([0-9]{1,8}) seconds with load '(.{0,200})'.*")
_ROW = re.compile(r"([A-Z][A-Za-z0-9]{2,20}) +([0-9]+) +([0-9]+\.[0-9]{3}) +([0-9]+\.[0-9]{3})")
_THROUGHPUT = re.compile(
    r"Throughput ([0-9.]+(?:e[+-][0-9]{2})?) MB/sec((?: \([a-z ]+\))*)(?: +([0-9]{1,6}) clients)?"
    r" +([0-9]{1,6}) procs(?: +max_latency=([0-9.]+) ms)?(?: .*)?"
)
_NS = 10**9


@dataclass
class _DbenchRun:
    """What is printed before the throughput."""

    line: int = 0
    version: str = ""
    seconds: int = 0
    load: str = ""
    figures: list[Figure] = field(default_factory=list)


def recognise(text: str) -> bool:
    """Whether a text has results of dbench."""
    return "Throughput " in text and any(_THROUGHPUT.fullmatch(line.strip()) for line in lines_of(text))


def read(text: str, file: ImportedFile, stated: ImportOptions = STATED_NOTHING) -> list[ToolOutput]:  # noqa: ARG001
    """Return every run in a text, in order.

    Args:
        text: The content of the file.
        file: What is known of the file; the rest is filled in.
        stated: Not used: the order of offsets is that of the recorded load.

    Raises:
        OutputError: It is not what dbench writes.
    """
    outputs, run = list[ToolOutput](), _DbenchRun()
    for number, line in enumerate(lines_of(text), 1):
        word = line.strip()
        if match := _HEAD.fullmatch(word):
            run = _DbenchRun(line=number, version=escape_line(match[1], 20))
        elif match := _RUNNING.fullmatch(word):
            run.seconds, run.load = int(match[1]), escape_line(match[2], 120)
        elif match := _ROW.fullmatch(word):
            run.line = run.line or number
            _add_row(run, match.groups(), number)
        elif match := _THROUGHPUT.fullmatch(word):
            known = {"tool": NAME, "version": run.version, "form": "text", "line": run.line or number}
            outputs.append(ToolOutput(file=file.model_copy(update=known), results=(_result(run, match, number),)))
            run = _DbenchRun(version=run.version, seconds=run.seconds, load=run.load)
    if not outputs:
        raise OutputError(1, "no results in this output of dbench", HINT)
    return outputs


def _add_row(run: _DbenchRun, words: Sequence[str], number: int) -> None:
    if len(run.figures) > 300:
        raise OutputError(number, "more operations than dbench has", HINT)
    for name, text, unit in zip(("count", "latency.mean", "latency.max"), words[1:], ("", "ms", "ms"), strict=True):
        run.figures.append(Figure(f"{words[0]}.{name}", amount(text, f"{words[0]}.{name}", number, HINT), unit))


def _result(run: _DbenchRun, match: re.Match[str], number: int) -> ImportedResult:
    figures = [Figure("throughput", amount(match[1], "throughput", number, HINT), "MB/s")]
    latency = {}
    if match[5]:
        figures.append(Figure("max_latency", amount(match[5], "max_latency", number, HINT), "ms"))
        latency["max"] = float(convert(match[5], "ms"))
    rate = float(convert(match[1], "MB/s"))
    lanes = int(match[4])
    parameters: dict[str, AxisValue] = {"queue_depth": 1, "hosts": 1}
    if 0 < lanes <= 1024:
        parameters["lanes"] = lanes
    if run.seconds:
        parameters["runtime"] = run.seconds * _NS
    if "sync open" in match[2]:
        parameters["sync"] = "o_sync"
    modes = ", ".join(re.findall(r"\(([a-z ]+)\)", match[2]))
    return ImportedResult(
        name="throughput",
        line=number,
        target=NAME,
        workload="file server" + (f", {modes}" if modes else ""),
        operation="file_mix" if rate else None,
        parameters=parameters if rate else {},
        options={"load": run.load} if run.load else {},
        figures=(*run.figures, *figures),
        latency_of="latency of all operations" if latency and rate else "",
        measured=measurement("file_mix", throughput=rate, iops=None, latency=latency) if rate else None,
        left_out="" if rate else "its throughput is 0",
    )
