"""IO500's `result_summary.txt`, with one line for each phase, and its `result.txt`, with a section for each.

The benchmark in C (since 2020) writes GiB/s and kIOPS; its forerunner in shell wrote MiB/s of IOR / 1024 as GB/s until
2019, and kiops. What all runs of a phase have in common is in its source (src/phase_*.c, io500_fixed.sh).
"""

import re
from collections.abc import Iterator, Sequence
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
HINT = "give result.txt or result_summary.txt as IO500 wrote it"
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
_SECTION = re.compile(r"\[([A-Za-z][A-Za-z0-9_-]{2,30})\]")
_PAIR = re.compile(r"([a-z_]{1,40}) *= *(\S.{0,200})")
_RUN = "run"
"""The section of result.txt with what holds for all phases (io500 src/main.c)."""
_INVALID = "; ERROR INVALID"
_PROCESSES = re.compile(r"[0-9]{1,8}")
_AMOUNT = re.compile(r"[0-9]{1,12}\.[0-9]{2,6}")
MARK = "marked"
"""Option of a result that IO500 marks as invalid: the mark."""
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
    lines = _lines(text)
    return _is_result_file(lines) or any(_TITLE.fullmatch(line) or _RESULT.fullmatch(line) for line in lines)


def _is_result_file(lines: Sequence[str]) -> bool:
    """Whether a text is a result.txt: its first section, and what stands first in it."""
    first, second = ([line for line in lines if line and not line.startswith(";")] + ["", ""])[:2]
    pair = _PAIR.fullmatch(second)
    return first == f"[{_RUN}]" and pair is not None and pair[1] == "procs"


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
    if _is_result_file(lines):
        return [_of_result_file(lines, file)]
    titles = [number for number, line in enumerate(lines) if _TITLE.fullmatch(line)]
    starts = titles or [0]
    if any(_RESULT.fullmatch(line) for line in lines[: starts[0]]):
        starts.insert(0, 0)
    starts = sorted({*starts, *_further_starts(lines)})
    return [_output(lines[start:end], start + 1, file) for start, end in pairwise((*starts, len(lines)))]


def _further_starts(lines: Sequence[str]) -> Iterator[int]:
    """Yield where summaries begin whose title was cut off: with a phase that was printed before the last score."""
    seen: dict[str, tuple[str | None, ...]] = {}
    has_score = False
    for number, line in enumerate(lines):
        if _TITLE.fullmatch(line):
            seen, has_score = {}, False
        elif match := _RESULT.fullmatch(line):
            if has_score and seen.get(match[2], match.groups()) != match.groups():
                yield number
                seen, has_score = {}, False
            seen[match[2]] = match.groups()
        elif _SCORES.fullmatch(line):
            has_score = True


def _output(lines: Sequence[str], first: int, file: ImportedFile) -> ToolOutput:
    """Return one summary; `first` is the number of its first line."""
    title = _TITLE.fullmatch(lines[0])
    results, scores, seen = [], list[ImportedResult](), dict[str, tuple[str | None, ...]]()
    for number, line in enumerate(lines, start=first):
        if match := _RESULT.fullmatch(line):
            name = match[2].replace("_", "-")
            if name in seen:
                # The log of the shell script has each line twice: behind its phase, and at the end.
                if seen[name] != match.groups():
                    raise OutputError(number, f"phase {name} is printed twice, with other numbers", HINT)
                continue
            seen[name] = match.groups()
            mark = match[6].strip() if match[6] else "invalid" if match[1].endswith("invalid") else ""
            unit = {"GB/s": "GB/s of 2^30", "kiops": "kIOPS"}.get(match[4], match[4])
            results.append(_result(name, number, Figure("rate", match[3], unit), match[5], mark))
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


def _of_result_file(lines: Sequence[str], file: ImportedFile) -> ToolOutput:
    """Return what a result.txt says; it has no units, which depend on the phase (io500 src/main.c)."""
    sections: dict[str, tuple[int, dict[str, str]]] = {}
    pairs: dict[str, str] = {}
    for number, line in enumerate(lines, start=1):
        if match := _SECTION.fullmatch(line):
            if match[1] in sections:
                raise OutputError(number, f"section {match[1]} is printed twice", HINT)
            pairs = {}
            sections[match[1]] = number, pairs
        elif pair := _PAIR.fullmatch(line):
            pairs.setdefault(pair[1], pair[2])
        elif line.startswith(_INVALID):
            pairs[MARK] = "[INVALID]"
    first, head = sections[_RUN]
    if not _PROCESSES.fullmatch(head["procs"]) or not int(head["procs"]):
        raise OutputError(first, f"procs: no number: {escape_line(head['procs'], 40)}", HINT)
    results = []
    for name, (place, found) in sections.items():
        if "score" in found:
            rate = Figure("rate", found["score"], "GiB/s" if name.startswith("i") else "kIOPS")
            one = _result(name, place, rate, found.get("t_delta", ""), found.get(MARK, ""))
            parameters = {**one.parameters, "streams": int(head["procs"])} if one.operation else {}
            results.append(one.model_copy(update={"parameters": parameters}))
    if not results:
        raise OutputError(first, "no scores of phases", HINT)
    known = {
        "tool": NAME,
        "version": escape_line(head.get("version", ""), 60),
        "form": f"result.txt, {escape_line(head.get('mode', ''), 20)}".removesuffix(", "),
        "line": first,
    }
    return ToolOutput(file=file.model_copy(update=known), results=tuple(results))


def _result(name: str, number: int, rate: Figure, seconds: str, mark: str) -> ImportedResult:
    """Return the result of a phase.

    Args:
        name: The phase.
        number: Line of the file.
        rate: Its rate as printed.
        seconds: Its time as printed; empty if it is not.
        mark: What marks it as invalid; empty if nothing does.
    """
    for text in (rate.text, seconds or "0.00"):
        if not _AMOUNT.fullmatch(text):
            raise OutputError(number, f"{name}: no number: {escape_line(text, 40)}", HINT)
    operation, parameters = _PHASES.get(name.lower(), (None, {}))
    left_out = "" if operation else _NO_COUNTERPART.get(name, f"Assay has no operation like {name}")
    if operation and not Decimal(rate.text):
        operation, left_out = None, "it was not done: its rate is 0"
    times = (Figure("time", seconds, "s"),) if seconds else ()
    return ImportedResult(
        name=escape_line(name, 40),
        line=number,
        target=NAME,
        workload=escape_line(name, 40),
        operation=operation,
        parameters=parameters if operation else {},
        options={MARK: mark} if mark else {},
        figures=(rate, *times),
        measured=_measurement(rate.text, rate.unit, seconds, operation, parameters) if operation else None,
        left_out=left_out,
    )


def _measurement(rate: str, unit: str, seconds: str, operation: str, parameters: dict[str, AxisValue]) -> Measurement:
    value = float(convert(rate, unit))
    record, size = parameters.get("record_size"), parameters.get("file_size")
    each = record if isinstance(record, int) else size if operation == "create" and isinstance(size, int) else 0
    is_bytes = UNITS[unit].quantity == "bytes/s"
    iops = (value / each if each else None) if is_bytes else value
    return rate_alone(value if is_bytes else value * each, iops, elapsed_ns=int(convert(seconds or "0", "s")) or None)
