"""IO500's `result_summary.txt`: one line for each phase.

The benchmark in C (since 2020) writes GiB/s and kIOPS; its forerunner in shell wrote MiB/s of IOR / 1024 as GB/s until
2019, and kiops. What all runs of a phase have in common is in its source (src/phase_*.c, io500_fixed.sh).
"""

import re
from collections.abc import Sequence
from decimal import Decimal
from itertools import pairwise

from assay.model.escape import escape_line
from assay.model.result.imported import ImportedFile
from assay.model.study.axis import AxisValue
from assay.report.formats.io500 import UNOFFICIAL
from assay.rooms.importers.work.figure_units import UNITS, convert
from assay.rooms.importers.work.results import (
    STATED_NOTHING,
    Figure,
    ImportedResult,
    ImportOptions,
    Measurement,
    OutputError,
    ToolOutput,
    rate_alone,
)

NAME = "IO500"
HINT = "give result_summary.txt as IO500 wrote it"
_TITLE = re.compile(r"IO500 version (\S{1,60}) \((\w{1,20})\)")
_RESULT = re.compile(
    r"\[(RESULT|RESULT-invalid|      )\] +(?:(?:BW|IOPS) +phase [0-9]+ +)?([A-Za-z][A-Za-z0-9_-]{2,30}) +(\S+) "
    r"(GiB/s|GB/s|kIOPS|kiops) : time +(\S+) seconds( \[INVALID\])?"
)
_LINE = re.compile(r"\[(RESULT|RESULT-invalid|      )\] .*")
_SCORE = re.compile(r"\[SCORE(?:-invalid|X| )?\] .*")
_SCORES = re.compile(
    r"\[SCORE *\] Bandwidth (\S{1,20}) (GiB/s|GB/s) : IOPS (\S{1,20}) (kIOPS|kiops) : TOTAL (\S{1,20})(?: \[INVALID\])?"
)
_AMOUNT = re.compile(r"[0-9]{1,12}\.[0-9]{2,6}")
_MARK = "marked"
_HARD_BYTES, _HARD_FILE = 47008, 3901
_EASY: dict[str, AxisValue] = {"sync": "fsync"}
_HARD: dict[str, AxisValue] = {
    "record_size": _HARD_BYTES, "block_size": _HARD_BYTES, "layout": "shared", "sync": "fsync",
}  # fmt: skip
_NEXT: dict[str, AxisValue] = {"reorder": "node", "reorder_by": 1}
_EASY_FILES: dict[str, AxisValue] = {"file_size": 0, "depth": 0}
_HARD_FILES: dict[str, AxisValue] = {"file_size": _HARD_FILE, "layout": "shared", "depth": 0}
_PHASES: dict[str, tuple[str, dict[str, AxisValue]]] = {
    "ior-easy-write": ("write", _EASY),
    "ior-easy-read": ("read", _NEXT),
    "ior-hard-write": ("write", _HARD),
    "ior-hard-read": ("read", {name: value for name, value in _HARD.items() if name != "sync"} | _NEXT),
    "ior-rnd4k-easy-read": ("random_read", {"record_size": 4096}),
    "mdtest-easy-write": ("create", _EASY_FILES),
    "mdtest-easy-stat": ("stat", _EASY_FILES),
    "mdtest-easy-delete": ("unlink", _EASY_FILES),
    "mdtest-hard-write": ("create", _HARD_FILES),
    "mdtest-hard-stat": ("stat", _HARD_FILES),
    "mdtest-hard-read": ("read", {**_HARD_FILES, "record_size": _HARD_FILE}),
    "mdtest-hard-delete": ("unlink", _HARD_FILES),
}
"""Phase -> operation, and the parameters that every run of it has."""
_NO_COUNTERPART = {
    "find": "it searches by name, size and time, which Assay does not measure",
    "find-easy": "it searches by name, size and time, which Assay does not measure",
    "find-hard": "it searches by name, size and time, which Assay does not measure",
    "timestamp": "it marks a time, and measures nothing",
}


def recognise(text: str) -> bool:
    """Whether a text has lines of IO500's summary."""
    return any(_TITLE.fullmatch(line) or _RESULT.fullmatch(line) for line in _lines(text))


def _lines(text: str) -> list[str]:
    return [line.rstrip() for line in text.split("\n")]


def read(text: str, file: ImportedFile, stated: ImportOptions = STATED_NOTHING) -> list[ToolOutput]:  # noqa: ARG001
    """Return every summary in a text, in order.

    Args:
        text: The content of the file.
        file: What is known of the file; the rest is filled in.
        stated: Not used: phases have their order.

    Raises:
        OutputError: It is not what IO500 writes.
    """
    lines = _lines(text)
    for number, line in enumerate(lines, start=1):
        if UNOFFICIAL in line:
            raise OutputError(number, "exported by Assay, so that IO500 has not measured it", "use the run itself")
    titles = [number for number, line in enumerate(lines) if _TITLE.fullmatch(line)]
    starts = titles or [0]
    if any(_RESULT.fullmatch(line) for line in lines[: starts[0]]):
        starts.insert(0, 0)
    return [_output(lines[start:end], start + 1, file) for start, end in pairwise((*starts, len(lines)))]


def _output(lines: Sequence[str], first: int, file: ImportedFile) -> ToolOutput:
    """Return one summary; `first` is the number of its first line."""
    title = _TITLE.fullmatch(lines[0])
    results, scores, seen = [], list[ImportedResult](), dict[str, tuple[str | None, ...]]()
    for number, line in enumerate(lines, start=first):
        if match := _RESULT.fullmatch(line):
            name = match[2].replace("_", "-")
            if name not in seen:
                seen[name] = match.groups()
                results.append(_result(name, match, number))
            elif seen[name] != match.groups():
                # The log of the shell script has each line twice: behind its phase, and at the end.
                raise OutputError(number, f"phase {name} is printed twice, with other numbers", HINT)
        elif (score := _SCORES.fullmatch(line)) and all(_AMOUNT.fullmatch(score[at]) for at in (1, 3, 5)):
            scores.append(_score(score, number))
        elif _LINE.fullmatch(line):
            raise OutputError(number, f"no result of a phase: {escape_line(line, 80)}", HINT)
    if not results:
        raise OutputError(first, "no results in this summary of IO500", HINT)
    known = {
        "tool": NAME,
        "version": escape_line(title[1], 60) if title else "",
        "form": f"summary, {title[2]}" if title else "summary",
        "line": first,
    }
    return ToolOutput(file=file.model_copy(update=known), results=(*results, *scores))


def _score(match: re.Match[str], number: int) -> ImportedResult:
    """Return the line of the score, which no run has."""
    units = {"GB/s": "GB/s of 2^30", "kiops": "kIOPS"}
    return ImportedResult(
        name="SCORE",
        line=number,
        target=NAME,
        workload="SCORE",
        operation=None,
        parameters={},
        options={},
        figures=(
            Figure("bandwidth", match[1], units.get(match[2], match[2])),
            Figure("iops", match[3], units.get(match[4], match[4])),
            Figure("total", match[5]),
        ),
        left_out="it is the mean of the phases",
    )


def _result(name: str, match: re.Match[str], number: int) -> ImportedResult:
    rate, seconds = match[3], match[5]
    for text in (rate, seconds):
        if not _AMOUNT.fullmatch(text):
            raise OutputError(number, f"{name}: no number: {escape_line(text, 40)}", HINT)
    unit = {"GB/s": "GB/s of 2^30", "kiops": "kIOPS"}.get(match[4], match[4])
    operation, parameters = _PHASES.get(name.lower(), (None, {}))
    left_out = "" if operation else _NO_COUNTERPART.get(name, f"Assay has no operation like {name}")
    if operation and not Decimal(rate):
        operation, left_out = None, "it was not done: its rate is 0"
    mark = match[6].strip() if match[6] else "invalid" if match[1].endswith("invalid") else ""
    return ImportedResult(
        name=escape_line(name, 40),
        line=number,
        target=NAME,
        workload=escape_line(name, 40),
        operation=operation,
        parameters=parameters if operation else {},
        options={_MARK: mark} if mark else {},
        figures=(Figure("rate", rate, unit), Figure("time", seconds, "s")),
        measured=_measurement(rate, unit, seconds, operation, parameters) if operation else None,
        left_out=left_out,
    )


def _measurement(rate: str, unit: str, seconds: str, operation: str, parameters: dict[str, AxisValue]) -> Measurement:
    value = float(convert(rate, unit))
    record, size = parameters.get("record_size"), parameters.get("file_size")
    each = record if isinstance(record, int) else size if operation == "create" and isinstance(size, int) else 0
    is_bytes = UNITS[unit].quantity == "bytes/s"
    iops = (value / each if each else None) if is_bytes else value
    return rate_alone(value if is_bytes else value * each, iops, elapsed_ns=int(convert(seconds, "s")) or None)
