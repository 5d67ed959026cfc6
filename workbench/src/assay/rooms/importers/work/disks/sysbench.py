"""sysbench's text: files (fileio) and databases (oltp) of versions 0.4, 0.5, 1.0 and 1.1.

Mb of 0.4 and 0.5 are 2^20 bytes (sb_util.c, sb_print_value_size), as MiB since. Latencies are milliseconds and include
those of fsync, which count as events since 1.0.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from decimal import Decimal

from assay.model.escape import escape_line
from assay.model.result.imported import ImportedFile
from assay.model.study.axis import AxisValue
from assay.rooms.importers.work.disks.printed import amount, lines_in, lines_of, measurement, nanoseconds
from assay.rooms.importers.work.figure_units import convert
from assay.rooms.importers.work.long_text import Text
from assay.rooms.importers.work.results import (
    STATED_NOTHING,
    Figure,
    ImportedResult,
    ImportOptions,
    Measurement,
    OutputError,
    ToolOutput,
)

NAME = "sysbench"
HINT = "give the output of sysbench as it printed it"
_HEAD = re.compile(r"sysbench v?([0-9]+\.[0-9]+\S{0,30}?):? .*")
_NUMBER = r"[0-9]+(?:\.[0-9]+)?"
_VALUE = re.compile(
    rf"([A-Za-z0-9][A-Za-z0-9 ,./()]{{1,60}}?): +({_NUMBER}) ?(ms|s)?(?: +\(({_NUMBER}) per sec(?:ond)?\.?\))?"
)
_FAIRNESS = re.compile(rf"(events|execution time) \(avg/stddev\): +({_NUMBER})/({_NUMBER})")
_OLD_OPERATIONS = re.compile(
    r"Operations performed: +([0-9]+) [Rr]eads?, ([0-9]+) [Ww]rites?, ([0-9]+) Other = ([0-9]+) Total"
)
_OLD_BYTES = re.compile(
    rf"Read ({_NUMBER})([KMGT]?)b +Written ({_NUMBER})([KMGT]?)b +Total transferred ({_NUMBER})([KMGT]?)b"
    rf" +\(({_NUMBER})([KMGT]?)b/sec\)"
)
_OLD_RATE = re.compile(rf"({_NUMBER}) Requests/sec executed")
_MEMORY = re.compile(rf"({_NUMBER}) Mi?B transferred \(({_NUMBER}) Mi?B/sec\)")
_MODE = re.compile(r"Doing (sequential|random) (.{1,40}) test")
_FILES = re.compile(rf"([0-9]{{1,7}}) files, ({_NUMBER})([KMGT]?)i?[Bb] each")
_BLOCK = re.compile(rf"Block size ({_NUMBER})([KMGT]?)i?[Bb]")
_OPTION = re.compile(
    r"(Number of threads|Target transaction rate|Extra file open flags|Number of (?:random )?(?:IO )?requests.{0,30}"
    r"|Read/Write ratio for combined random IO test): ?(.*)|(Using .{1,40} I/O mode|Calling .*sync.*|Periodic .*)"
)
_MODES = {
    "write (creation)": "write",
    "rewrite": "rewrite",
    "read": "read",
    "write": "write",
    "r/w": "mix",
}
_POWERS = {"": 0, "K": 1, "M": 2, "G": 3, "T": 4}
_OTHERS = {
    "CPU speed": "it measures processors, not storage",
    "Prime numbers limit": "it measures processors, not storage",
    "Running memory speed test": "it measures memory, not storage",
    "Operations type: ": "it measures memory, not storage",
}
_PERCENTILES = {"50": "p50", "90": "p90", "99": "p99"}
_MAX_LINES = 5000


@dataclass
class _SysbenchRun:
    """One output.

    Attributes:
        line: Line of the file, from 1.
        version: As printed.
        figures: As printed, by name.
        options: As printed, by name.
        mode: Order and kind of a test of files; empty for others.
        reason: Why it is none of storage; empty otherwise.
    """

    line: int
    version: str
    figures: dict[str, Figure] = field(default_factory=dict)
    options: dict[str, str] = field(default_factory=dict)
    mode: tuple[str, str] = ("", "")
    reason: str = ""

    def number(self, name: str) -> float:
        """Return a figure in Assay's unit; 0 without it."""
        figure = self.figures.get(name)
        return float(convert(figure.text, figure.unit) if figure.unit else Decimal(figure.text)) if figure else 0.0


def recognise(text: str) -> bool:
    """Whether a text has results of sysbench."""
    return "sysbench" in text and any(_HEAD.fullmatch(line.strip()) for line in lines_of(text))


def read(text: Text, file: ImportedFile, stated: ImportOptions = STATED_NOTHING) -> list[ToolOutput]:  # noqa: ARG001
    """Return every output in a text, in order.

    Args:
        text: The content of the file.
        file: What is known of the file; the rest is filled in.
        stated: Not used: sysbench says the order of offsets.

    Raises:
        OutputError: It is not what sysbench writes, or has no results.
    """
    runs: list[_SysbenchRun] = []
    for number, line in enumerate(map(str.strip, lines_in(text)), 1):
        if head := _HEAD.fullmatch(line):
            runs.append(_SysbenchRun(number, escape_line(head[1], 40)))
        elif runs:
            _read_line(runs[-1], line, number)
    outputs = []
    for run in (run for run in runs if "events" in run.figures):
        known = {"tool": NAME, "version": run.version, "form": "text", "line": run.line}
        outputs.append(ToolOutput(file=file.model_copy(update=known), results=(_result(run),)))
    if not outputs:
        raise OutputError(
            runs[0].line if runs else 1,
            "no results in this output of sysbench, which prints them at the end of `run`",
            HINT,
        )
    return outputs


def _read_line(run: _SysbenchRun, line: str, number: int) -> None:
    if len(line) > 300 or line.startswith("["):
        return
    if (match := _OPTION.fullmatch(line)) and len(run.options) < 40:
        run.options[match[1] or match[3]] = escape_line(match[2] if match[1] else "yes", 120)
    elif match := _MODE.fullmatch(line):
        run.mode = match[1], match[2]
    elif match := _FILES.fullmatch(line):
        run.options["size of each file"] = f"{match[2]} {match[3]}"
    elif match := _BLOCK.fullmatch(line):
        run.options["block size"] = f"{match[1]} {match[2]}"
    elif reason := next((why for begin, why in _OTHERS.items() if line.startswith(begin)), ""):
        run.reason = reason
    else:
        _read_figures(run, line, number)


def _read_figures(run: _SysbenchRun, line: str, number: int) -> None:
    if match := _OLD_OPERATIONS.fullmatch(line):
        for name, text in zip(("reads", "writes", "others", "total"), match.groups(), strict=True):
            _add(run, f"operations.{name}", text, "", number)
    elif match := _OLD_BYTES.fullmatch(line):
        for at, name in enumerate(("read", "written", "total", "rate")):
            unit = ("bytes", "KiB", "MiB", "GiB", "TiB")[_POWERS[match[2 * at + 2]]]
            rate = ("B/s", "KiB/s", "MiB/s", "GiB/s", "TiB/s")[_POWERS[match[2 * at + 2]]]
            _add(run, f"bytes.{name}", match[2 * at + 1], rate if name == "rate" else unit, number)
    elif match := _OLD_RATE.fullmatch(line):
        _add(run, "requests", match[1], "1/s", number)
    elif match := _MEMORY.fullmatch(line):
        _add(run, "transferred", match[1], "MiB", number)
        _add(run, "transferred.rate", match[2], "MiB/s", number)
        run.reason = "it measures memory, not storage"
    elif match := _FAIRNESS.fullmatch(line):
        for name, text in zip(("avg", "stddev"), match.groups()[1:], strict=True):
            _add(run, f"fairness.{match[1]}.{name}", text, "s" if "time" in match[1] else "", number)
    elif match := _VALUE.fullmatch(line):
        _read_value(run, match, number)


def _read_value(run: _SysbenchRun, match: re.Match[str], number: int) -> None:
    """Read a line with a name and a number, which may have a rate behind it."""
    name, unit = match[1].strip(), match[3] or ""
    if percent := re.fullmatch(r"(?:approx\. +)?([0-9]{1,3})(?:th|st|nd|rd)? percentile", name):
        name = f"latency.p{percent[1]}"
    elif name in ("min", "avg", "max", "sum"):
        name = f"latency.{name}"
    name = {"total number of events": "events", "total time": "time", "time elapsed": "time"}.get(name, name)
    if name.startswith("latency."):
        unit = unit or "ms"
    elif name.endswith("MiB/s"):
        unit = "MiB/s"
    elif name.endswith(("/s", "/s (eps)")) or name == "events per second":
        unit = "1/s"
    _add(run, name, match[2], "s" if name == "total time taken by event execution" else unit, number)
    if match[4]:
        _add(run, f"{name}.rate", match[4], "1/s", number)


def _add(run: _SysbenchRun, name: str, text: str, unit: str, number: int) -> None:
    name = escape_line(name, 80)
    if name in run.figures:
        raise OutputError(number, f"{name} is printed twice", HINT)
    if len(run.figures) >= _MAX_LINES:
        raise OutputError(number, "more figures than sysbench prints", HINT)
    run.figures[name] = Figure(name, amount(text, name, number, HINT), unit)


def _result(run: _SysbenchRun) -> ImportedResult:
    operation, left_out = _operation(run)
    latency = _latency(run)
    return ImportedResult(
        name=" ".join(run.mode).strip() or (operation or "events"),
        line=run.line,
        target=NAME,
        workload=operation or "events",
        operation=operation or None,
        parameters=_parameters(run, operation) if operation else {},
        options=run.options,
        figures=tuple(run.figures.values()),
        latency_of="latency of events" if latency and operation else "",
        measured=_measured(run, operation, latency) if operation else None,
        left_out=left_out,
    )


def _operation(run: _SysbenchRun) -> tuple[str, str]:
    """Return the operation of a run, or why it has none."""
    if run.reason:
        return "", run.reason
    order, kind = run.mode
    if order:
        name = _MODES.get(kind, "")
        rate = sum(run.number(one) for one in ("read, MiB/s", "written, MiB/s", "bytes.rate"))
        if not name or not rate:
            return "", f"Assay has no operation like {order} {escape_line(kind, 40)}" if not name else "its rate is 0"
        return f"random_{name}" if order == "random" else "sequential_mix" if name == "mix" else name, ""
    if run.number("transactions.rate"):
        return "transaction", ""
    return "", "it measures threads, locks or a script of the user, not storage"


def _latency(run: _SysbenchRun) -> dict[str, float]:
    """Return the latencies in ns; those of 0.00 ms say nothing. The sum by the events is the mean with more digits."""
    names = {"min": "min", "avg": "mean", "max": "max", **{f"p{one}": name for one, name in _PERCENTILES.items()}}
    found = {ours: run.number(f"latency.{theirs}") for theirs, ours in names.items()}
    events, spent = run.number("events"), run.number("latency.sum") or run.number("total time taken by event execution")
    if found["mean"] and events and spent:
        found["mean"] = spent / events
    return {name: value for name, value in found.items() if value}


def _measured(run: _SysbenchRun, operation: str, latency: Mapping[str, float]) -> Measurement:
    elapsed = nanoseconds(run.figures["time"].text, "s") if "time" in run.figures else None
    if operation == "transaction":
        ops = int(run.number("transactions"))
        rate = run.number("transactions.rate")
        return measurement(operation, throughput=0.0, iops=rate, ops=ops, moved=0, elapsed_ns=elapsed, latency=latency)
    size = _size(run.options.get("block size", ""))
    if "bytes.rate" in run.figures:
        ops, rate = int(run.number("operations.reads") + run.number("operations.writes")), run.number("requests")
        throughput = run.number("bytes.rate")
        return measurement(operation, throughput=throughput, iops=rate or None, elapsed_ns=elapsed, latency=latency)
    iops = run.number("reads/s") + run.number("writes/s")
    throughput = run.number("read, MiB/s") + run.number("written, MiB/s")
    if size and abs(iops * size - throughput) <= 0.01 * throughput + 2**14:
        throughput = iops * size
    return measurement(operation, throughput=throughput, iops=iops or None, elapsed_ns=elapsed, latency=latency)


def _size(text: str) -> int | None:
    """Return a size that is kept as `16 K`."""
    number, _, letter = text.partition(" ")
    if not number or len(number) > 15:
        return None
    size = Decimal(number) * 1024 ** _POWERS[letter]
    return int(size) if size == int(size) and size else None


def _parameters(run: _SysbenchRun, operation: str) -> dict[str, AxisValue]:
    threads = run.options.get("Number of threads", "")
    found: dict[str, AxisValue] = {"hosts": 1}
    if re.fullmatch(r"[1-9][0-9]{0,2}", threads):
        found["lanes"] = int(threads)
    if match := re.fullmatch(r"([1-9][0-9]{0,8})/sec", run.options.get("Target transaction rate", "")):
        found["rate"] = float(match[1])
    if operation == "transaction":
        return found
    if size := _size(run.options.get("block size", "")):
        found["record_size"] = size
    if size := _size(run.options.get("size of each file", "")):
        found["file_size"] = size
    if "Using synchronous I/O mode" in run.options:
        found["queue_depth"] = 1
    ratio = run.options.get("Read/Write ratio for combined random IO test", "")
    if "mix" in operation and re.fullmatch(r"[0-9]{1,3}\.[0-9]{2}", ratio):
        found["read_percent"] = round(100 * float(ratio) / (1 + float(ratio)))
    flags = run.options.get("Extra file open flags", "")
    if "direct" in flags:
        found["cache"] = "direct"
    if "read" not in operation and (sync := _sync(run.options, flags)):
        found["sync"] = sync
    return found


def _sync(options: Mapping[str, str], flags: str) -> str:
    """Return how writes are made stable; empty for flushes between them, which have no counterpart."""
    calls = [name for name in options if "sync() " in name or name.startswith("Periodic")]
    if any("each" in name for name in calls) or any("after each" in name for name in calls):
        return ""
    for name, words in (("o_dsync", "dsync"), ("o_sync", "sync")):
        if words in flags:
            return name
    at_end = next((name for name in calls if "at the end" in name), "")
    return ("fdatasync" if "fdatasync" in at_end else "fsync") if at_end else "none"
