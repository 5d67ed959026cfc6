"""dd's statistics: GNU coreutils in any language, uutils, BusyBox, and those of BSD and macOS.

kB, MB and GB of coreutils are powers of 1000 (dd.c, human_SI), those of BusyBox powers of 1024 (coreutils/dd.c,
make_human_readable_str), which prints them without a blank. BSD prints bytes per second. What was read or written
stands in the command line only, which people paste with the output.
"""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import groupby, pairwise
from typing import NamedTuple

from assay.model.escape import escape_line
from assay.model.result.imported import ImportedFile
from assay.model.result.sample import ErrorTally
from assay.rooms.importers.work.disks.dd_command import DdCommand, commands_of
from assay.rooms.importers.work.disks.printed import (
    MAX_DIGITS,
    amount,
    exact_time,
    finer,
    lines_in,
    lines_of,
    measurement,
    per_second,
    whole,
)
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

NAME = "dd"
HINT = "give the lines as dd printed them, with the command line before them"
_NUMBER = r"[0-9]+(?:[.,][0-9]+)?(?:e-[0-9]{2})?"
_COPIED = re.compile(
    rf"\D{{0,24}}?([0-9]+)\s?[^\W\d(][^\d(]{{0,20}}?(?:\s?\(([^()]{{1,40}})\))?[^\d()]{{0,24}}[,，、]\s?"
    rf"({_NUMBER})\s?(?:s|sec|seconds|秒|[^\W\d]{{1,12}})[,，、]\s?({_NUMBER}|Infinity)(\s?)([kKMGTPE]?i?B)/(?:s|秒)"
)
_BSD = re.compile(r"([0-9]+) bytes transferred in ([0-9]+\.[0-9]+) secs? \(([0-9]+) bytes/sec\)")
_RECORDS = re.compile(r"[^\d+]{0,24}([0-9]+)\+([0-9]+)(?:\s?[^\W\d][^\d+]{0,40})?")
_FAILED = re.compile(r"dd: (?!warning)(.{1,300}): ([^:]{1,120})")
_BINARY = {"kB": "KB/s of 2^10", "KB": "KB/s of 2^10", "MB": "MB/s of 2^20", "GB": "GB/s of 2^30", "TB": "TB/s of 2^40"}
_MAX_LINE = 400
_NO_COMMAND = (
    "whether it read or wrote is not known: write its command line above it, such as `dd if=/dev/zero of=FILE bs=1M`"
)


class _DdStatistics(NamedTuple):
    """What dd prints at the end.

    Attributes:
        line: Line of the file, from 1.
        form: Which dd prints so.
        moved, seconds, rate: As printed, with a point.
        unit: Unit of the rate.
    """

    line: int
    form: str
    moved: str
    seconds: str
    rate: str
    unit: str


@dataclass
class _Copy:
    """One copy: its statistics and what stands before them.

    Attributes:
        statistics: What is printed of bytes and time.
        records: Full and partial records in and out; empty if they are not printed.
        command: The command line; None if it is not there.
        error: What dd says has failed.
        left_out: Why it is no result.
    """

    statistics: _DdStatistics
    records: tuple[tuple[str, str], ...]
    command: DdCommand | None
    error: str = ""
    left_out: str = ""


def recognise(text: str) -> bool:
    """Whether a text has statistics of dd."""
    if "B/s" not in text and "bytes/sec" not in text and "B/秒" not in text:
        return False
    return any(_statistics(line, 1) for line in _pieces(text))


def _pieces(text: str) -> list[str]:
    """Return the lines of a text; `status=progress` overwrites lines, which in a file follow each other."""
    return [piece.strip() for line in lines_of(text) for piece in line.split("\r")]


def _statistics(text: str, line: int) -> _DdStatistics | None:
    if len(text) > _MAX_LINE:
        return None
    if text.endswith(" bytes/sec)"):
        match = _BSD.fullmatch(text)
        return _DdStatistics(line, "BSD or macOS", match[1], match[2], match[3], "B/s") if match else None
    if not text.endswith(("B/s", "B/秒")) or (match := _COPIED.fullmatch(text)) is None:
        return None
    is_binary = not match[5] and match[2] is not None and not re.search(r"\s", match[2])
    unit = _BINARY.get(match[6], f"{match[6]}/s") if is_binary else f"{match[6].replace('KB', 'kB')}/s"
    seconds, rate = (match[group].replace(",", ".") for group in (3, 4))
    return _DdStatistics(line, "BusyBox" if is_binary else "GNU", match[1], seconds, rate, unit)


def read(text: Text, file: ImportedFile, stated: ImportOptions = STATED_NOTHING) -> list[ToolOutput]:  # noqa: ARG001
    """Return every copy in a text; those of one command line are one output.

    Args:
        text: The content of the file.
        file: What is known of the file; the rest is filled in.
        stated: Not used: dd reads and writes in order.

    Raises:
        OutputError: It is not what dd writes.
    """
    copies = list(_copies(lines_in(text)))
    if not copies:
        raise OutputError(1, "no statistics of dd", HINT)
    _leave_out_states(copies)
    outputs = []
    groups = groupby(copies, lambda one: (one.statistics.form, one.command.text if one.command else ""))
    for (form, command), members in groups:
        results = tuple(_result(one) for one in members)
        known = {"tool": NAME, "form": f"statistics ({form})", "line": results[0].line, "command": command}
        outputs.append(ToolOutput(file=file.model_copy(update=known), results=results))
    return outputs


def _copies(lines: Iterable[str]) -> Iterator[_Copy]:
    """Yield the copies in order, without what `status=progress` prints before the last line."""
    commands: list[DdCommand] = []
    used, records, error = 0, list[tuple[str, str]](), ""
    waiting: list[_Copy] = []
    for number, line in enumerate(lines, 1):
        for piece in line.split("\r"):
            text = piece.strip()
            if found := _statistics(text, number):
                command = commands[used % len(commands)] if commands else None
                copy = _Copy(found, tuple(records), command, error)
                if records:
                    waiting = []
                    yield copy
                else:
                    if waiting and _is_progress(waiting[-1].statistics, found):
                        waiting.pop()
                        used -= 1
                    waiting.append(copy)
                used, records, error = used + 1, [], ""
            elif (match := _RECORDS.fullmatch(text)) and len(text) < _MAX_LINE:
                records.append((match[1], match[2]))
                # Lines without records before them were progress of this copy.
                used, waiting = used - len(waiting), []
            elif match := _FAILED.fullmatch(text[:_MAX_LINE]):
                error = match[0]
            elif typed := commands_of(text):
                yield from waiting
                commands, used, waiting, records, error = typed, 0, [], [], ""
    yield from waiting


def _is_progress(earlier: _DdStatistics, later: _DdStatistics) -> bool:
    """Whether statistics are of `status=progress`, which prints whole seconds, and later ones go on from there."""
    if not earlier.seconds.isdecimal() or len(earlier.moved) > MAX_DIGITS or len(later.moved) > MAX_DIGITS:
        return False
    return int(earlier.moved) < int(later.moved) and float(earlier.seconds) < float(later.seconds)


def _leave_out_states(copies: list[_Copy]) -> None:
    """Mark statistics that dd printed on the way, asked for by a signal: a later one of the same copy has more."""
    for one, later in pairwise(copies):
        wanted = one.command.wanted() if one.command else None
        if one.command is None or one.command is not later.command or wanted is None:
            continue
        moved, more = int(one.statistics.moved[:30]), int(later.statistics.moved[:30])
        if moved < wanted and moved < more <= wanted:
            one.left_out = "dd printed it on the way (SIGUSR1 or SIGINFO): a later line has the whole copy"


def _result(copy: _Copy) -> ImportedResult:
    found, command = copy.statistics, copy.command
    moved = whole(found.moved, "bytes", found.line, HINT)
    figures = [
        Figure(f"records.{way}.{kind}", amount(text, "records", found.line, HINT))
        for way, pair in zip(("in", "out"), copy.records[-2:], strict=False)
        for kind, text in zip(("full", "partial"), pair, strict=True)
    ]
    figures += [
        Figure("bytes", found.moved, "bytes"),
        Figure("time", amount(found.seconds, "time", found.line, HINT), "s"),
    ]
    if found.rate != "Infinity":
        figures.append(Figure("rate", amount(found.rate, "rate", found.line, HINT), found.unit))
    left_out = copy.left_out or _why_left_out(copy, moved)
    operation = command.operation if command and not left_out else None
    return ImportedResult(
        name=operation or "copy",
        line=found.line,
        target=(command.target if command and operation else "") or NAME,
        workload=operation or "copy",
        operation=operation,
        parameters=command.parameters(moved) if command and operation else {},
        options=command.options if command else {},
        figures=tuple(figures),
        measured=_measured(copy, operation, moved) if operation else None,
        left_out=left_out,
    )


def _why_left_out(copy: _Copy, moved: int) -> str:
    if not moved or copy.statistics.rate == "Infinity" or not float(copy.statistics.seconds):
        return "nothing was copied, or in no time"
    if copy.command is None:
        return _NO_COMMAND
    return "" if copy.command.operation else copy.command.why_none


def _measured(copy: _Copy, operation: str, moved: int) -> Measurement:
    """Return the measurement; times that are rounded more than the rate follow from it."""
    found = copy.statistics
    elapsed = int(convert(found.seconds, "s"))
    throughput = finer(found.rate, found.unit, per_second(moved, elapsed))
    printed = float(convert(found.rate, found.unit))
    if len(found.seconds.partition(".")[2]) <= 1 and (derived := exact_time(moved, printed, found.seconds)) != elapsed:
        elapsed, throughput = derived or elapsed, printed
    out = copy.records[-1 if operation == "write" else -2] if len(copy.records) > 1 else None
    ops = sum(int(text[:18]) for text in out) if out else None
    size = copy.command.record_size if copy.command else None
    if ops is None and size:
        ops = -(-moved // size)
    errors = (ErrorTally(kind="fault", name=None, count=1, example=escape_line(copy.error, 200)),) if copy.error else ()
    return measurement(
        operation,
        throughput=throughput,
        iops=throughput * ops / moved if ops else None,
        ops=ops,
        moved=moved,
        elapsed_ns=elapsed or None,
        errors=errors,
    )
