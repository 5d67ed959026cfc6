"""mdtest's text: the summaries of rates and times, as versions 1.9 to 4.1 print them.

What is summarised differs. Before 3.3, an iteration counts as its fastest task; in 3.3 all tasks and iterations count
alike; from 4.0 on, an iteration counts as its slowest task. The mean is the rate in all of them. Rates of single
iterations (`-v`) are those of the first task alone.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from itertools import pairwise

from assay.model.escape import escape_line
from assay.model.result.imported import ImportedFile
from assay.model.secret import redact_line
from assay.model.study.names import WORK
from assay.rooms.importers.work.figure_units import convert
from assay.rooms.importers.work.mdtest_options import Load, Wanted, wanted_by
from assay.rooms.importers.work.results import (
    STATED_NOTHING,
    Figure,
    ImportedResult,
    ImportOptions,
    Measurement,
    OutputError,
    ToolOutput,
)

NAME = "mdtest"
HINT = "give the file as mdtest printed it"
_LAUNCHED = re.compile(r"mdtest-(\S{1,40}) was launched with ([0-9]{1,7}) total task\(s\) on ([0-9]{1,7}) node\(s\)")
_STARTED = re.compile(r"-- started at (.{1,40}) --")
_COMMAND = re.compile(r"Command line used: ?(.*)")
_TASKS = re.compile(r"([0-9]{1,7}) tasks, ([0-9]{1,19}) (?:files/directories|files?|directories)")
_SHIFT = re.compile(r".*Shifting ranks by ([0-9]{1,7}) for each phase\.")
_TABLE = re.compile(r"SUMMARY( rate| time)?(?: \(in [a-z/]+\))?: \(of ([0-9]{1,7}) iterations\)")
_HEAD = re.compile(r" *(?:Operation .*Max +Min +Mean +Std Dev|-+(?: +[-—]+){4})")
"""A page may have taken away blanks, and made dashes longer."""
_ROW = re.compile(r" {0,4}((?:Directory|File|Tree) [a-z]+(?: \(stonewall\))?) *: *(.*)"
                  r"| {0,4}((?:Directory|File|Tree) [a-z]+) +(.*)")  # fmt: skip
_AMOUNT = re.compile(r"[0-9]{1,15}\.[0-9]{3}")
_NO_AMOUNT = ("NA", "nan", "-nan", "inf", "-inf")
_ERROR = re.compile(r"(?:mdtest )?ERROR: .*|.*: Process [0-9]+\(.*\): FAILED (?:in|at) .*")
_COLUMNS = ("Max", "Min", "Mean", "Std Dev")
_BY_RANK = ("rank.Max", "rank.Min", "rank.Mean", *_COLUMNS)
"""Columns with `--showRankStatistics`."""
_UNITS = {"rate": "1/s", "time": "s"}
"""Unit of a table. Version 4.1 calls its times `ms/op`; what it prints are seconds of the whole phase."""
_OPERATIONS = {
    "Directory creation": ("directories", "mkdir"),
    "Directory removal": ("directories", "rmdir"),
    "File creation": ("files", "create"),
    "File stat": ("files", "stat"),
    "File removal": ("files", "unlink"),
}
"""Row -> workload and operation, as `assay study from mdtest` has them; `File read` is `open`, or `read` with -e."""
_NO_COUNTERPART = {
    "Directory stat": "stat looks at files, and not at directories, in Assay",
    "Directory rename": "Assay renames files, not directories",
    "Tree creation": "making the tree's own directories is not measured",
    "Tree removal": "removing the tree's own directories is not measured",
}


@dataclass
class _Table:
    """The results of one number of tasks.

    Attributes:
        tasks: How many tasks there were; None if it is not printed.
        items: Files or directories of all tasks together; None likewise.
        iterations: How many iterations.
        lines: Row -> its line in the file, from 1.
        figures: Row -> kind of table -> figures as printed.
    """

    tasks: int | None
    items: int | None
    iterations: int = 0
    lines: dict[str, int] = field(default_factory=dict)
    figures: dict[str, dict[str, list[Figure]]] = field(default_factory=dict)


def recognise(text: str) -> bool:
    """Whether a text has output of mdtest."""
    return any(_LAUNCHED.fullmatch(line.rstrip("\r")) for line in text.split("\n"))


def read(text: str, file: ImportedFile, stated: ImportOptions = STATED_NOTHING) -> list[ToolOutput]:  # noqa: ARG001
    """Return every output in a text, in order.

    Args:
        text: The content of the file.
        file: What is known of the file; the rest is filled in.
        stated: Not used: operations on names have no order of offsets.

    Raises:
        OutputError: It is not what mdtest writes.
    """
    lines = [line.rstrip("\r") for line in text.split("\n")]
    starts = [number for number, line in enumerate(lines) if _LAUNCHED.fullmatch(line)]
    # The date stands two lines above.
    begins = [max(0, start - 2) if _STARTED.fullmatch(lines[max(0, start - 2)]) else start for start in starts]
    return [_output(lines[start:end], start + 1, file) for start, end in pairwise((*begins, len(lines)))]


def _output(lines: Sequence[str], first: int, file: ImportedFile) -> ToolOutput:
    """Return one output; `first` is the number of its first line."""
    texts = {"date": "", "command": "", "version": ""}
    tasks, nodes = 0, 0
    for line in lines[:8]:
        if match := _STARTED.fullmatch(line):
            texts["date"] = escape_line(match[1], 40)
        elif match := _LAUNCHED.fullmatch(line):
            texts["version"], tasks, nodes = escape_line(match[1], 40), int(match[2]), int(match[3])
        elif match := _COMMAND.fullmatch(line):
            texts["command"] = match[1]
    wanted = wanted_by(texts["command"])
    shift = next((int(match[1]) for line in lines if (match := _SHIFT.fullmatch(line))), None)
    is_old = any((match := _TABLE.fullmatch(line)) and not match[1] for line in lines)
    load = Load(tasks, nodes, shift, is_old)
    results = [result for table in _tables(lines, first) for result in _results(table, wanted, load)]
    if not results:
        raise OutputError(first, "no summary in this output of mdtest", HINT)
    known = {
        **texts,
        "command": redact_line(escape_line(texts["command"])),
        "tool": NAME,
        "form": "text",
        "line": first,
    }
    return ToolOutput(file=file.model_copy(update=known), results=tuple(results))


def _tables(lines: Sequence[str], first: int) -> list[_Table]:
    """Return the tables of each number of tasks.

    Raises:
        OutputError: A row is none, or mdtest reports an error.
    """
    tables: list[_Table] = []
    kind, tasks, items = "", None, None
    for number, line in enumerate(lines, start=first):
        if _ERROR.fullmatch(line):
            hint = "give the part of the file that stands above, if its figures are to count"
            raise OutputError(number, f"mdtest failed there: {escape_line(line, 120)}", hint)
        if match := _TASKS.fullmatch(line):
            tasks, items, kind = int(match[1]), int(match[2]), ""
            tables.append(_Table(tasks, items))
        elif match := _TABLE.fullmatch(line):
            kind = (match[1] or "rate").strip()
            if not tables:
                tables.append(_Table(tasks, items))
            tables[-1].iterations = int(match[2])
        elif _HEAD.fullmatch(line):
            continue
        elif not line.strip() or line.startswith("--"):
            kind = ""
        elif kind:
            _add_row(tables[-1], kind, line, number)
    return [table for table in tables if table.figures]


def _add_row(table: _Table, kind: str, line: str, number: int) -> None:
    match = _ROW.fullmatch(line)
    if match is None:
        if line.startswith("   "):
            raise OutputError(number, f"not a row of a summary: {escape_line(line.strip(), 60)}", HINT)
        return
    name, words = match[1] or match[3], (match[2] or match[4] or "").split()
    columns = {4: _COLUMNS, 7: _BY_RANK}.get(len(words))
    if columns is None or not all(_AMOUNT.fullmatch(word) or word in _NO_AMOUNT for word in words):
        raise OutputError(number, f"{name}: no maximum, minimum, mean and deviation in its row", HINT)
    before = "" if kind == "rate" else "time."
    if name.endswith("(stonewall)"):
        name, before = "File creation", f"{before}stonewall."
    found = table.figures.setdefault(name, {}).setdefault(kind, [])
    if any(one.name == f"{before}Mean" for one in found):
        raise OutputError(number, f"{name} is printed twice", HINT)
    table.lines.setdefault(name, number)
    found += [
        Figure(before + column, word, _UNITS[kind])
        for column, word in zip(columns, words, strict=True)
        if word not in _NO_AMOUNT
    ]


def _results(table: _Table, wanted: Wanted | None, load: Load) -> Iterator[ImportedResult]:
    for name, kinds in table.figures.items():
        figures = tuple(figure for kind in ("rate", "time") for figure in kinds.get(kind, []))
        texts = {figure.name: figure.text for figure in figures}
        workload, operation = _operation(name, wanted)
        left_out = _why_left_out(name, operation, texts)
        suffix = "" if table.iterations == 1 else f" (mean of {table.iterations})"
        yield ImportedResult(
            name=name,
            line=table.lines[name],
            target=(wanted.target if wanted else "") or NAME,
            workload=workload + suffix,
            operation=None if left_out else operation,
            parameters={} if left_out else _parameters(operation, table, wanted, load),
            options=wanted.options if wanted else {},
            figures=figures,
            measured=None if left_out else _measurement(operation, texts, table, wanted),
            left_out=left_out,
        )


def _operation(name: str, wanted: Wanted | None) -> tuple[str, str]:
    """Return the workload and the operation of a row; the operation is empty if it has none, or it is not known."""
    if name == "File read" and wanted is not None:
        return ("read", "read") if wanted.read_bytes else ("files", "open")
    return _OPERATIONS.get(name, (name.lower(), ""))


def _why_left_out(name: str, operation: str, texts: Mapping[str, str]) -> str:
    if not operation:
        unknown = "it is not known whether files were opened or read, since the command line is not"
        return _NO_COUNTERPART.get(name, unknown if name == "File read" else f"Assay has no operation like {name}")
    if "Mean" not in texts:
        return "only times are printed, or no finite rate: add -P"
    if not Decimal(texts["Mean"]):
        return "it was not done: its rate is 0"
    return ""


def _parameters(operation: str, table: _Table, wanted: Wanted | None, load: Load) -> dict[str, object]:
    found: dict[str, object] = dict(load.parameters_of(table.tasks))
    if wanted is None:
        return found
    if wanted.is_by_one_task and operation in ("create", "mkdir", "unlink", "rmdir"):
        found = {}
    return found | wanted.parameters_of(operation, table.items, table.tasks, load)


def _measurement(operation: str, texts: Mapping[str, str], table: _Table, wanted: Wanted | None) -> Measurement:
    rate = float(convert(texts["Mean"], "1/s"))
    size = wanted.bytes_of(operation) if wanted else 0
    has_counts = table.iterations == 1 and bool(table.items) and wanted is not None and not wanted.seconds_limit
    ops = table.items or 0 if has_counts else 0
    seconds = texts.get("time.Mean", "0") if table.iterations == 1 else "0"
    moved = ops * size
    return Measurement(
        status="done",
        has_counts=has_counts,
        ops=ops,
        bytes=moved,
        read_bytes=moved if WORK[operation].reads else 0,
        write_bytes=moved if WORK[operation].writes else 0,
        throughput=rate * size,
        iops=rate,
        elapsed_ns=int(convert(seconds, "s")) or None,
    )
