"""CrystalDiskMark's text: the layouts of versions 3, 5 and 6, 7, and 8 and 9.

MB/s are 10^6 bytes, as the text itself says; KB of versions before 5 are 1024 bytes: versions since print KiB for the
same tests. IOPS are MB/s by the size of an operation (DiskMarkDlg.cpp, GetResultString). Since version 4 it starts
diskspd with `-S`, which turns off the software cache and not write-through (DiskBench.cpp).
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import pairwise

from assay.model.escape import escape_line
from assay.model.result.imported import ImportedFile
from assay.model.study.axis import AxisValue
from assay.rooms.importers.work.disks.printed import amount, lines_of, measurement
from assay.rooms.importers.work.figure_units import convert, whole_number
from assay.rooms.importers.work.results import (
    STATED_NOTHING,
    Figure,
    ImportedResult,
    ImportOptions,
    OutputError,
    ToolOutput,
)

NAME = "CrystalDiskMark"
HINT = "give the text as CrystalDiskMark saves or copies it"
_HEAD = re.compile(r"\W*CrystalDiskMark ([0-9]\S{0,30})\b.*\(C\) [0-9-]+ .*hiyohiyo.*")
_PART = re.compile(r"\[(Read|Write|Mix)\](?: Read ([0-9]{1,3})%/Write ([0-9]{1,3})%)?")
_RATE = r"([0-9.]+) MB/s(?: \[ *([0-9.]+) IOPS\])?(?: *< *([0-9.]+) us>)?"
_NEW = re.compile(
    r"(SEQ|RND|Sequential|Random) +([0-9]{1,6})([KM])iB \(Q= *([0-9]{1,4}), ?T= *([0-9]{1,4})\) ?: +" + _RATE
)
_OLD = re.compile(
    r"(Sequential|Random) (Read|Write)(?: ([0-9]{1,6})(KB|KiB|MiB))?"
    r"(?: \((?:QD?= *([0-9]{1,4}))?,? ?(?:T= *([0-9]{1,4}))?\))? *: +" + _RATE
)
_ROW = re.compile(r"(?:SEQ|RND|Sequential|Random)\b.*(?::|MB/s).*")
_TEST = re.compile(r"Test ?: ([0-9]{1,7}) ([KMG]i?B)(?: \[(.{1,80})\])? *\(x([0-9]{1,3})\)(?: \[([A-Z]:.{0,60})\])?.*")
_DRIVE = re.compile(r"([^:]{1,20}):.*/([0-9]{1,7}(?:\.[0-9])? ?[KMGT]i?B)\)?.*")
_FIELD = re.compile(r"(Profile|Mode|Time|Date|OS|Comment) ?: (.*)")
_UNITS = {"KB": 2**10, "MB": 2**20, "KiB": 2**10, "MiB": 2**20, "GiB": 2**30}


@dataclass
class _CrystalRow:
    """One test: what ran, as printed.

    Attributes:
        name: The text before the colon.
        line: Line of the file, from 1.
        operation: Assay's name.
        size: Bytes of each operation; None if it is not printed.
        depth: Operations in flight of each thread; None likewise.
        threads: How many threads.
        figures: As printed.
        read_percent: Share of reads of a mix.
    """

    name: str
    line: int
    operation: str
    size: int | None
    depth: int | None
    threads: int | None
    figures: list[Figure]
    read_percent: int | None = None


@dataclass
class _CrystalHead:
    """What is printed of the whole output."""

    version: str = ""
    target: str = ""
    file_size: int | None = None
    best_of: str = ""
    options: dict[str, str] = field(default_factory=dict)


def recognise(text: str) -> bool:
    """Whether a text has output of CrystalDiskMark."""
    return "CrystalDiskMark" in text and any(_HEAD.fullmatch(line.strip()) for line in lines_of(text))


def read(text: str, file: ImportedFile, stated: ImportOptions = STATED_NOTHING) -> list[ToolOutput]:  # noqa: ARG001
    """Return every output in a text, in order.

    Args:
        text: The content of the file.
        file: What is known of the file; the rest is filled in.
        stated: Not used: CrystalDiskMark says the order of offsets of each result.

    Raises:
        OutputError: It is not what CrystalDiskMark writes.
    """
    lines = [line.strip() for line in lines_of(text)]
    starts = [number for number, line in enumerate(lines) if _HEAD.fullmatch(line)]
    return [_output(lines[start:end], start + 1, file) for start, end in pairwise((*starts, len(lines)))]


def _output(lines: Sequence[str], first: int, file: ImportedFile) -> ToolOutput:
    head, rows = _CrystalHead(), list[_CrystalRow]()
    part, share = "", ""
    for number, line in enumerate(lines, first):
        if match := _PART.fullmatch(line):
            part, share = match[1], match[2] or ""
        elif match := _NEW.fullmatch(line):
            rows.append(_new(match, part, share, number))
        elif match := _OLD.fullmatch(line):
            rows.append(_old(match, number))
        elif _ROW.fullmatch(line):
            raise OutputError(number, f"not a row of CrystalDiskMark: {escape_line(line, 60)}", HINT)
        else:
            _read_head(head, line)
    if not rows:
        raise OutputError(first, "no results in this output of CrystalDiskMark", HINT)
    results = tuple(_result(row, head) for row in rows)
    known = {
        "tool": NAME,
        "version": head.version,
        "form": "text",
        "line": first,
        "date": head.options.get("Date", ""),
    }
    return ToolOutput(file=file.model_copy(update=known), results=results)


def _drive(text: str) -> str:
    """Return a drive's letter and size, `D (931GiB)`, of `D: 27% (251/931GiB)`: disks that are C: one by one differ."""
    match = _DRIVE.fullmatch(text)
    return escape_line(f"{match[1].strip()} ({match[2]})" if match else text.partition(":")[0].strip(), 40)


def _read_head(head: _CrystalHead, line: str) -> None:
    if match := _HEAD.fullmatch(line):
        head.version = escape_line(match[1], 40)
    elif match := _TEST.fullmatch(line):
        head.file_size = int(match[1]) * _UNITS.get(match[2], 2**30)
        head.target = _drive(match[3] or match[5] or "")
        head.best_of = match[4]
        head.options["Test"] = escape_line(line.partition(":")[2].strip(), 120)
    elif match := _FIELD.fullmatch(line):
        head.options.setdefault(match[1], escape_line(match[2].strip(), 120))


def _new(match: re.Match[str], part: str, share: str, number: int) -> _CrystalRow:
    """Return a row of version 7 and later, which stands below `[Read]`, `[Write]` or `[Mix]`."""
    if not part:
        raise OutputError(number, "it is not said whether this was read or written: no [Read] or [Write] above", HINT)
    is_random = match[1] in ("RND", "Random")
    operation = {"Read": "read", "Write": "write", "Mix": "mix"}[part]
    name = "random_" if is_random else "sequential_" if operation == "mix" else ""
    return _CrystalRow(
        name=f"{part} {' '.join(match[0].partition(':')[0].split())}",
        line=number,
        operation=name + operation,
        size=int(match[2]) * (2**20 if match[3] == "M" else 2**10),
        depth=int(match[4]),
        threads=int(match[5]),
        figures=_figures((match[6], match[7], match[8]), number),
        read_percent=int(share) if share and operation == "mix" else None,
    )


def _old(match: re.Match[str], number: int) -> _CrystalRow:
    """Return a row of a version before 7, each of which says whether it read or wrote."""
    operation = match[2].lower()
    is_random = match[1] == "Random"
    size = int(match[3]) * _UNITS[match[4]] if match[3] else None
    has_options = "(" in match[0].partition(":")[0]
    return _CrystalRow(
        name=" ".join(match[0].partition(":")[0].split()),
        line=number,
        operation=f"random_{operation}" if is_random else operation,
        size=size,
        depth=int(match[5]) if match[5] else 1,
        threads=int(match[6]) if match[6] else None if not has_options else 1,
        figures=_figures((match[7], match[8], match[9]), number),
    )


def _figures(words: Sequence[str | None], number: int) -> list[Figure]:
    names = (("rate", "MB/s"), ("iops", "1/s"), ("latency", "us"))
    return [
        Figure(name, amount(word, name, number, HINT), unit)
        for (name, unit), word in zip(names, words, strict=True)
        if word is not None
    ]


def _result(row: _CrystalRow, head: _CrystalHead) -> ImportedResult:
    figures = {figure.name: figure for figure in row.figures}
    rate = figures["rate"]
    is_idle = not float(rate.text)
    suffix = f" (best of {head.best_of})" if head.best_of not in ("", "1") else ""
    latency, size = {}, row.size
    if "latency" in figures and float(figures["latency"].text):
        latency["mean"] = float(convert(figures["latency"].text, "us"))
    iops = float(figures["iops"].text) if "iops" in figures else None
    throughput = float(convert(rate.text, "MB/s"))
    if iops is None and size:
        iops = throughput / size
    return ImportedResult(
        name=row.name,
        line=row.line,
        target=head.target or NAME,
        workload=f"{row.operation}{suffix}",
        operation=None if is_idle else row.operation,
        parameters={} if is_idle else _parameters(row, head),
        options=head.options,
        figures=tuple(row.figures),
        latency_of="latency" if latency and not is_idle else "",
        measured=None if is_idle else measurement(row.operation, throughput=throughput, iops=iops, latency=latency),
        left_out="it was not done: its rate is 0" if is_idle else "",
    )


def _parameters(row: _CrystalRow, head: _CrystalHead) -> dict[str, AxisValue]:
    main = head.version.partition(".")[0]
    by_diskspd = (whole_number(main) or 0) >= 4
    found: dict[str, AxisValue] = {
        "record_size": row.size,
        "queue_depth": row.depth,
        "lanes": row.threads or (1 if main == "3" else None),
        "file_size": head.file_size,
        "read_percent": row.read_percent,
        "cache": "direct" if by_diskspd else None,
        "sync": "none" if by_diskspd and "read" not in row.operation else None,
    }
    known = {name: value for name, value in found.items() if value is not None}
    lanes = found["lanes"]
    layout: dict[str, AxisValue] = {"layout": "shared" if lanes != 1 else "separate"} if lanes else {}
    return {**known, **layout, "hosts": 1, "rate": None}
