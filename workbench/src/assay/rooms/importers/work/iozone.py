"""iozone's text output: the table of rates of one process (automatic mode), and throughput mode (`-t`, `-+m`).

Texts are those of iozone.c, versions 3.414 to 3.508; KB and kB are 1024 bytes in all of them, whatever their case.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from itertools import pairwise

from assay.model.escape import escape_line
from assay.model.result.imported import ImportedFile
from assay.model.secret import redact_line
from assay.model.study.axis import AxisValue
from assay.model.study.names import WORK
from assay.rooms.importers.work.figure_units import UNITS, convert
from assay.rooms.importers.work.iozone_columns import HEADER, RateTable
from assay.rooms.importers.work.iozone_excel import has_reports, report_cells, with_reports
from assay.rooms.importers.work.iozone_head import HINT, MAX_KB, TYPED, Head, read_head
from assay.rooms.importers.work.results import (
    STATED_NOTHING,
    Figure,
    ImportedResult,
    ImportOptions,
    Measurement,
    OutputError,
    ToolOutput,
)

NAME = "iozone"
THROUGHPUT = "throughput mode"
"""Form of an output with `-t`."""
_SPLASH = "Iozone: Performance Test of File I/O"
_END = ("iozone test complete", "Excel output is below", "```")
"""What begins a line after the table; the last ends it in a page of Markdown."""
_CELLS = re.compile(r"\s*[-+.]?[0-9]+\s+[0-9]|[^A-Za-z]*[0-9][^A-Za-z]*$")
"""A row of the table, be it damaged: two numbers first, or numbers alone. Pages go on with text of other kinds."""
_COMMAND = re.compile(r"\s*Command line used:")
_ERROR = ("Error ", "Can not ")
_CHILDREN = re.compile(r"\s*Children see throughput for\s+([0-9]+)\s+(\S[^=]*)=\s*(\S+)\s+(\S+)\s*")
_PARENT = re.compile(r"\s*Parent sees throughput for\s+([0-9]+)\s+(\S[^=]*)=\s*(\S+)\s+(\S+)\s*")
_PER_PROCESS = re.compile(r"\s*(Min|Max|Avg) throughput per \w+\s*=\s*(\S+)\s+(\S+)\s*")
_MIN_XFER = re.compile(r"\s*Min xfer\s*=\s*(\S+)\s+(\S+)\s*")
_CPU = re.compile(r"\s*CPU [uU]tilization: Wall time\s+(\S+)\s+CPU time\s+(\S+)\s+CPU utilization\s+(\S+) %\s*")
_CHILD = re.compile(
    r"\s*Child\[([0-9]{1,7})\] xfer count =\s*(\S+) (\S+), Throughput =\s*(\S+) ([^\s,]+)"
    r"(?:, wall=\s*(\S+), cpu=\s*(\S+), %=\s*(\S+))?\s*"
)
_EACH = re.compile(r"\s*Each \w+ writes a ([0-9]{1,20}) [kK]bytes? file in ([0-9]{1,20}) [kK]bytes? records\s*", re.I)
_BLOCK = re.compile(r"\s*(Children|Parent) sees? throughput|\s*(Min|Max|Avg) throughput per |\s*Min xfer\s|\s*Child\[")
_AMOUNT = re.compile(r"[0-9]{1,20}\.[0-9]{2,3}")
_REQUIRED = ("children", "min", "max", "avg", "min_xfer")
_OPERATIONS = {
    "write": "write",
    "rewrite": "rewrite",
    "read": "read",
    "reread": "reread",
    "random read": "random_read",
    "random write": "random_write",
    "bkwd read": "backward_read",
    "record rewrite": "record_rewrite",
    "stride read": "stride_read",
    "fwrite": "fwrite",
    "frewrite": "re_fwrite",
    "fread": "fread",
    "freread": "re_fread",
    "initial writers": "write",
    "writers": "write",
    "rewriters": "rewrite",
    "re-writers": "rewrite",
    "readers": "read",
    "initial readers": "read",
    "re-readers": "reread",
    "random readers": "random_read",
    "random writers": "random_write",
    "reverse readers": "backward_read",
    "stride readers": "stride_read",
    "fwriters": "fwrite",
    "freaders": "fread",
}
"""Column of the table, or label in throughput mode -> operation. Three labels are none of iozone's, but of people who
edited its output."""
_NO_COUNTERPART = {"mixed workload": "each process either reads or writes, which Assay does not measure"}


def recognise(text: str) -> bool:
    """Whether a text has output of iozone, or a part with results."""
    if _SPLASH in text:
        return True
    lines = text.split("\n")
    return any(HEADER.fullmatch(line.rstrip("\r")) or _CHILDREN.fullmatch(line) for line in lines) or has_reports(lines)


def read(text: str, file: ImportedFile, stated: ImportOptions = STATED_NOTHING) -> list[ToolOutput]:  # noqa: ARG001
    """Return every output in a text, in order.

    Args:
        text: The content of the file.
        file: What is known of the file; the rest is filled in.
        stated: Not used: iozone says the order of offsets of each result.

    Raises:
        OutputError: It is not what iozone writes.
    """
    lines = [line.rstrip("\r") for line in text.split("\n")]
    starts = [number for number, line in enumerate(lines) if line.strip() == _SPLASH]
    if not starts or any(HEADER.fullmatch(line) or _CHILDREN.fullmatch(line) for line in lines[: starts[0]]):
        starts.insert(0, 0)
    starts = sorted({*starts, *_further_starts(lines)})
    return [_output(lines, start, end, file) for start, end in pairwise((*starts, len(lines)))]


def _further_starts(lines: Sequence[str]) -> Iterator[int]:
    """Yield where outputs begin whose first lines were cut off: behind the results before another command line."""
    last_result = typed = None
    for number, line in enumerate(lines):
        if line.strip() == _SPLASH:
            last_result = typed = None
        elif HEADER.fullmatch(line) or _BLOCK.match(line) or (last_result is not None and _CELLS.match(line)):
            if typed is not None:
                yield typed
            last_result, typed = number, None
        elif last_result is not None and _COMMAND.match(line):
            yield last_result + 1
            last_result = typed = None
        elif last_result is not None and "iozone" in line and TYPED.fullmatch(line.strip()):
            # Only results after it show that it was run.
            typed = number


def _output(lines: Sequence[str], start: int, end: int, file: ImportedFile) -> ToolOutput:
    """Return one output, whose lines are numbered from `start`."""
    head = read_head(lines, start, end)
    known = {
        "tool": NAME,
        "version": head.version,
        "form": THROUGHPUT if head.processes else "table of rates",
        "line": start + 1,
        "date": head.date,
        "command": redact_line(escape_line(" ".join(head.arguments))),
    }
    cells = with_reports(tuple(_table_results(lines, start, end, head)), lines, start, end)
    results = (*cells, *_throughput_results(lines, start, end, head)) or tuple(_of_reports(lines, start, end, head))
    if not results:
        raise OutputError(start + 1, "no results in this output of iozone", HINT)
    return ToolOutput(file=file.model_copy(update=known), results=results)


def _table_results(lines: Sequence[str], start: int, end: int, head: Head) -> Iterator[ImportedResult]:
    """Yield a result for each cell of the tables of rates."""
    table = None
    for number in range(start, end):
        line = lines[number]
        try:
            if HEADER.fullmatch(line):
                table = RateTable(line, head.tests)
            elif table is not None and line.startswith(_ERROR):
                hint = "give the part of the file that stands above, if its figures are to count"
                raise OutputError(number + 1, f"iozone failed there: {escape_line(line.strip(), 80)}", hint)
            elif table is not None and line.strip():
                if not _CELLS.match(line):
                    # Warnings are printed between the rows, such as on the resolution of the timer.
                    table = None if line.startswith(_END) else table
                    continue
                row = table.row(line)
                sizes = _kilobytes(row.file_size, number), _kilobytes(row.record_size, number)
                for column, text in row.cells.items():
                    yield _cell(column, text, sizes, number, head)
        except ValueError as error:
            raise OutputError(number + 1, str(error), HINT) from None


def _of_reports(lines: Sequence[str], start: int, end: int, head: Head) -> Iterator[ImportedResult]:
    """Yield a result for each rate of the reports, where the table that they repeat is missing."""
    for one in report_cells(lines, start, end):
        sizes = _kilobytes(one.size, one.line), _kilobytes(one.record, one.line)
        yield _cell(one.column, one.text, sizes, one.line, head)


def _kilobytes(text: str, number: int) -> int:
    """Return a size in bytes that is printed in KB.

    Raises:
        OutputError: It is larger than any file.
    """
    if len(text) > 20 or int(text) > MAX_KB:
        raise OutputError(number + 1, f"no size in KB: {escape_line(text, 40)}", HINT)
    return int(text) * 1024


def _cell(column: str, text: str, sizes: tuple[int, int], number: int, head: Head) -> ImportedResult:
    """Return the result of one cell; each test passes once over the file, in whole records."""
    file_size, record_size = sizes
    _check(text, number)
    if record_size > file_size:
        message = f"a record of {record_size // 1024} kB in a file of {file_size // 1024} kB"
        raise OutputError(number + 1, message, HINT)
    moved = file_size // record_size if record_size else 0
    rate = head.rates_of(text, head.table_unit, record_size)
    left_out = _why_left_out(column, rate, record_size, head)
    if not left_out and not int(text):
        left_out = "iozone prints 0 for a test that was not repeated (-+n), or too slow for a whole number"
    figures = (
        Figure(name="kB", text=str(file_size // 1024), unit="kB"),
        Figure(name="reclen", text=str(record_size // 1024), unit="kB"),
        Figure(name=column, text=text, unit=head.table_unit),
    )
    return _result(column, number, sizes, {"lanes": 1, "hosts": 1}, figures, head, left_out, rate, moved)


def _check(text: str, number: int) -> None:
    if len(text) > 18:
        raise OutputError(number + 1, f"no rate: {escape_line(text, 40)}", HINT)


def _why_left_out(name: str, rate: tuple[float, float] | None, record_size: int, head: Head) -> str:
    """Return why a result has no counterpart in a run; empty if it has one."""
    if head.is_invalid:
        return "iozone says that its measurements are invalid in this mode"
    if name not in _OPERATIONS:
        return _NO_COUNTERPART.get(name, f"Assay has no operation like {name}")
    if not record_size:
        return "the size of its records is not one number"
    if rate is None:
        return "it is in microseconds per operation (-N), not a rate"
    return ""


def _result(
    name: str,
    number: int,
    sizes: tuple[int, int],
    load: Mapping[str, AxisValue],
    figures: tuple[Figure, ...],
    head: Head,
    left_out: str,
    rate: tuple[float, float] | None,
    moved: int | None,
) -> ImportedResult:
    """Return a result.

    Args:
        name: Column or label.
        number: Index of its line.
        sizes: Bytes of each file and of a record.
        load: Parameters that say how many processes there were.
        figures: As printed.
        head: What precedes it.
        left_out: Why it has no counterpart; empty if it has one.
        rate: Bytes and operations per second.
        moved: Number of records; None if it is not known.
    """
    operation = None if left_out else _OPERATIONS[name]
    measured = None
    parameters: dict[str, AxisValue] = {}
    if operation is not None and rate is not None:
        file_size, record_size = sizes
        parameters = {"file_size": file_size, "record_size": record_size, **load, **head.parameters_of(operation)}
        size = (moved or 0) * record_size
        reads = WORK[operation].reads
        measured = Measurement(
            status="done",
            has_counts=moved is not None,
            ops=moved or 0,
            bytes=size,
            read_bytes=size if reads else 0,
            write_bytes=0 if reads else size,
            throughput=rate[0],
            iops=rate[1],
        )
    return ImportedResult(
        name=escape_line(name, 80),
        line=number + 1,
        target=head.target or NAME,
        workload=head.workload,
        operation=operation,
        parameters=parameters,
        options=head.options,
        figures=figures,
        measured=measured,
        left_out=left_out,
    )


@dataclass
class _Block:
    """One test of throughput mode, from `Children see throughput` on.

    Attributes:
        number: Index of its first line.
        label: What ran, such as `initial writers`.
        processes: How many.
        sizes: Bytes of each file and of a record.
        figures: As printed, by name.
        moved: Records of each process, as far as these are printed.
    """

    number: int
    label: str
    processes: int
    sizes: tuple[int, int]
    figures: dict[str, Figure] = field(default_factory=dict)
    moved: list[Decimal] = field(default_factory=list)

    def add(self, name: str, text: str, unit: str, number: int) -> None:
        """Add a figure.

        Raises:
            OutputError: It is no number with two or three decimals, or has an unknown unit, or is there already.
        """
        if not _AMOUNT.fullmatch(text) or Decimal(text) > MAX_KB:
            raise OutputError(number + 1, f"{self.label}: {name} cannot be {escape_line(text, 40)}", HINT)
        if unit and unit not in UNITS:
            raise OutputError(number + 1, f"{self.label}: {name} has the unknown unit {escape_line(unit, 40)}", HINT)
        if name in self.figures:
            raise OutputError(number + 1, f"{self.label}: {name} is printed twice", HINT)
        self.figures[name] = Figure(name=name, text=text, unit=unit)


def _throughput_results(lines: Sequence[str], start: int, end: int, head: Head) -> Iterator[ImportedResult]:
    """Yield a result for each test of throughput mode."""
    sizes, block = head.sizes, None
    for number in range(start, end):
        line = lines[number]
        if match := _EACH.fullmatch(line):
            sizes = _kilobytes(match[1], number), _kilobytes(match[2], number)
        elif match := _CHILDREN.fullmatch(line):
            if block is not None:
                yield _of_block(block, head)
            block = _Block(number, escape_line(match[2].rstrip(), 80), _count(match[1], number), sizes)
            block.add("children", match[3], match[4], number)
        elif block is not None and not _add_line(block, line, number) and _BLOCK.match(line):
            raise OutputError(number + 1, f"{block.label}: no figure: {escape_line(line.strip(), 80)}", HINT)
        elif block is None and _BLOCK.match(line):
            raise OutputError(number + 1, f"not what iozone prints here: {escape_line(line.strip(), 80)}", HINT)
    if block is not None:
        yield _of_block(block, head)


def _count(text: str, number: int) -> int:
    if len(text) > 7 or not 0 < int(text) <= 2**20:
        raise OutputError(number + 1, f"no number of processes: {escape_line(text, 40)}", HINT)
    return int(text)


def _add_line(block: _Block, line: str, number: int) -> bool:
    """Add the figures of a line to the test; return whether it has some."""
    if match := _PARENT.fullmatch(line):
        block.add("parent", match[3], match[4], number)
    elif match := _PER_PROCESS.fullmatch(line):
        block.add(match[1].lower(), match[2], match[3], number)
    elif match := _MIN_XFER.fullmatch(line):
        block.add("min_xfer", match[1], match[2], number)
    elif match := _CPU.fullmatch(line):
        for name, text, unit in zip(("wall", "cpu", "cpu_percent"), match.groups(), ("s", "s", "%"), strict=True):
            block.add(name, text, unit, number)
    elif match := _CHILD.fullmatch(line):
        _add_child(block, match, number)
    else:
        return False
    return True


def _add_child(block: _Block, match: re.Match[str], number: int) -> None:
    name = f"child.{int(match[1])}"
    block.add(f"{name}.xfer", match[2], match[3], number)
    block.add(f"{name}.throughput", match[4], match[5], number)
    for part, text, unit in zip(("wall", "cpu", "cpu_percent"), match.groups()[5:], ("s", "s", "%"), strict=True):
        if text is not None:
            block.add(f"{name}.{part}", text, unit, number)
    record = block.sizes[1]
    if UNITS[match[3]].quantity == "1":
        block.moved.append(Decimal(match[2]))
    elif record:
        block.moved.append(convert(match[2], match[3]) / record)


def _of_block(block: _Block, head: Head) -> ImportedResult:
    """Return the result of a test of throughput mode.

    Raises:
        OutputError: It ends too early, or the children's rate is none.
    """
    if missing := [name for name in _REQUIRED if name not in block.figures]:
        raise OutputError(block.number + 1, f"{block.label}: the output has no {missing[0]} after this line", HINT)
    children = block.figures["children"]
    if UNITS[children.unit].quantity not in ("bytes/s", "1/s"):
        raise OutputError(block.number + 1, f"{block.label}: {children.unit} is no rate", HINT)
    record = block.sizes[1]
    rate = head.rates_of(children.text, children.unit, record)
    whole = len(block.moved) == block.processes and all(one == int(one) for one in block.moved)
    load: dict[str, AxisValue] = {"lanes": block.processes, "hosts": 1}
    if head.is_distributed:
        load = {"streams": block.processes}
    return _result(
        block.label,
        block.number,
        block.sizes,
        load,
        tuple(block.figures.values()),
        head,
        _why_left_out(block.label, rate, record, head),
        rate,
        int(sum(block.moved)) if whole else None,
    )
