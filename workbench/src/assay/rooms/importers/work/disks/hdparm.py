"""hdparm's timings of reads: `-t` from the device, `-T` again and again from the page cache, `--direct` without it.

MB are 2^20 bytes, and every read is of 2 MiB (hdparm.c, TIMING_BUF_MB and TIMING_BUF_BYTES). Old versions call cached
reads buffer-cache reads, and print rates of three digits without a space: `seconds =213.33 MB/sec`.
"""

import re

from assay.model.escape import escape_line
from assay.model.result.imported import ImportedFile
from assay.model.study.axis import AxisValue
from assay.rooms.importers.work.disks.printed import amount, exact_time, lines_of, measurement
from assay.rooms.importers.work.figure_units import convert
from assay.rooms.importers.work.results import (
    STATED_NOTHING,
    Figure,
    ImportedResult,
    ImportOptions,
    OutputError,
    ToolOutput,
)

NAME = "hdparm"
HINT = "give the lines as hdparm printed them"
_TIMING = re.compile(
    r"Timing (O_DIRECT )?(cached|buffer-cache|buffered disk|disk) reads(?: \(offset ([0-9]{1,12}) [GM]B\))?: +"
    r"([0-9]+) MB in +([0-9]+\.[0-9]+) seconds = *([0-9]+(?:\.[0-9]+)?) ([kM]B)/sec"
)
_DEVICE = re.compile(r"(/\S{1,200}):")
_UNITS = {"MB": ("MB (2^20 B)", "MB/s of 2^20"), "kB": ("MB (2^20 B)", "KB/s of 2^10")}
_RECORD = 2 << 20
_OLD = "buffer-cache"
"""What old versions call the reads of `-T`."""


def recognise(text: str) -> bool:
    """Whether a text has timings of hdparm."""
    return "Timing " in text and any(_TIMING.fullmatch(line.strip()) for line in lines_of(text))


def read(text: str, file: ImportedFile, stated: ImportOptions = STATED_NOTHING) -> list[ToolOutput]:  # noqa: ARG001
    """Return all timings in a text, as one output: those of one device are repeats.

    Args:
        text: The content of the file.
        file: What is known of the file; the rest is filled in.
        stated: Not used: hdparm reads in order.

    Raises:
        OutputError: It is not what hdparm writes.
    """
    results, device, lines = list[ImportedResult](), "", lines_of(text)
    is_old = any(_OLD in line for line in lines)
    for number, line in enumerate(lines, 1):
        if match := _DEVICE.fullmatch(line.strip()):
            device = escape_line(match[1], 80)
        elif match := _TIMING.fullmatch(line.strip()):
            results.append(_result(match, device, number, is_old))
        elif line.strip().startswith("Timing ") and " reads" in line:
            raise OutputError(number, f"not a timing of hdparm: {escape_line(line.strip(), 60)}", HINT)
    if not results:
        raise OutputError(1, "no timings of hdparm", HINT)
    known = {"tool": NAME, "form": "text", "line": results[0].line}
    return [ToolOutput(file=file.model_copy(update=known), results=tuple(results))]


def _result(match: re.Match[str], device: str, number: int, is_old: bool) -> ImportedResult:
    """Return a timing; the size of a read of old versions is not known."""
    is_cached, is_direct = match[2] in ("cached", _OLD), bool(match[1])
    record = None if is_old else _RECORD
    size_unit, rate_unit = _UNITS[match[7]]
    figures = (
        Figure("size", amount(match[4], "size", number, HINT), size_unit),
        Figure("time", amount(match[5], "time", number, HINT), "s"),
        Figure("rate", amount(match[6], "rate", number, HINT), rate_unit),
    )
    moved, rate = int(convert(match[4], size_unit)), float(convert(match[6], rate_unit))
    elapsed = exact_time(moved, rate, match[5])
    left_out = "" if moved and elapsed and rate else "nothing was read"
    operation = "reread" if is_cached else "read"
    parameters: dict[str, AxisValue] = {
        **({"record_size": record} if record else {}),
        "queue_depth": 1,
        "lanes": 1,
        "hosts": 1,
        "layout": "separate",
        "rate": None,
        **({"cache": "direct"} if is_direct else {}),
    }
    measured = measurement(
        operation,
        throughput=rate,
        iops=rate / record if record else None,
        ops=moved // record if record else None,
        moved=moved,
        elapsed_ns=elapsed,
    )
    return ImportedResult(
        name=f"{match[1] or ''}{match[2]} reads",
        line=number,
        target=device or NAME,
        workload=f"{'cached ' if is_cached else ''}reads" + (f" from {match[3]} GB on" if match[3] else ""),
        operation=None if left_out else operation,
        parameters={} if left_out else parameters,
        options={"offset": match[3]} if match[3] else {},
        figures=figures,
        measured=None if left_out else measured,
        left_out=left_out,
    )
