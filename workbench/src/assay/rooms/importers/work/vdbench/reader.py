"""Reads a file of vdbench: flatfile, console, report or histograms, known by its headers."""

import re
from collections import Counter
from collections.abc import Sequence
from itertools import pairwise

from assay.model.escape import escape_line
from assay.model.result.imported import ImportedFile
from assay.rooms.importers.work.results import STATED_NOTHING, ImportedResult, ImportOptions, OutputError, ToolOutput
from assay.rooms.importers.work.vdbench import flat, histogram, tables
from assay.rooms.importers.work.vdbench.outcome import results_of
from assay.rooms.importers.work.vdbench.runs import HINT, NAME, VdbenchRun

_VERSION = re.compile(
    r"Vdbench distribution: vdbench([0-9]{3,6}(?:rc[0-9]{1,3})?)(?:[ ]+(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun)\b.*)?\s*"
)
_TITLE = re.compile(r"(?:<title>Vdbench \S{1,400}?([^/\s<]{1,120})\.html</title>)?<pre>\s*")
_WHOLE = ("summary", "totals", "flatfile", "logfile", "histogram", "status", "stdout")
"""Reports of everything; others are of one SD, FSD, WD, FWD, host or slave."""
_TAGS = re.compile(r"</?[A-Za-z][^<>]{0,500}>")


def recognise(text: str) -> bool:
    """Whether a text has output of vdbench: a header of its tables, or a histogram of its response times."""
    previous = ""
    for line in text.split("\n"):
        ending = line.rstrip()
        if len(ending) > 2000:
            continue
        if flat.HEADER.fullmatch(ending) or histogram.HEADER.match(ending):
            return True
        if tables.HEADER.match(previous) and ("rate" in ending.split()[:1]):
            return True
        previous = ending
    return False


def read(text: str, file: ImportedFile, stated: ImportOptions = STATED_NOTHING) -> list[ToolOutput]:
    """Return every output in a text, in order.

    Args:
        text: The content of the file.
        file: What is known of the file; the rest is filled in.
        stated: Order of offsets, which only flatfile.html of runs on luns says.

    Raises:
        OutputError: It is not what vdbench writes.
    """
    lines = [line.rstrip("\r") for line in text.split("\n")]
    target = _target(lines)
    if any(flat.HEADER.fullmatch(line.rstrip()) for line in lines):
        runs, first = flat.read_flat(lines)
        return [_output(runs, file, target, stated, {"form": "flatfile", "line": first})]
    if any(histogram.HEADER.match(line) for line in lines):
        runs = histogram.read_histograms(lines)
        return [_output(runs, file, target, stated, {"form": "histograms", "line": 1})]
    starts = [number for number, line in enumerate(lines) if _VERSION.fullmatch(line)] or [0]
    found = []
    for start, end in pairwise((*starts, len(lines))):
        runs = tables.read_tables([_TAGS.sub("", line) for line in lines[start:end]], start + 1)
        version = _VERSION.fullmatch(lines[start])
        known = {"form": "report", "line": start + 1, "version": version[1] if version else ""}
        found.append(_output(runs, file, target, stated, known))
    return found


def _target(lines: Sequence[str]) -> str:
    """Return what a file is of: an SD, FSD or the like by its title, or the tool's name."""
    match = next((match for line in lines[:5] if (match := _TITLE.fullmatch(line)) and match[1]), None)
    if match is None:
        return NAME
    name = match[1].removesuffix(".histogram")
    return NAME if name in _WHOLE else escape_line(name, 80)


def _output(
    runs: Sequence[VdbenchRun], file: ImportedFile, target: str, stated: ImportOptions, known: dict[str, object]
) -> ToolOutput:
    line = known["line"]
    if not runs:
        raise OutputError(line if isinstance(line, int) else 1, "no results in this output of vdbench", HINT)
    results = [result for run in runs for result in results_of(run, target, stated.order)]
    return ToolOutput(file=file.model_copy(update={"tool": NAME, **known}), results=_numbered(results))


def _numbered(results: Sequence[ImportedResult]) -> tuple[ImportedResult, ...]:
    """Return results of which none counts as a repeat of another: vdbench does nothing twice, but loops.

    Where an output does not say of what value a loop is, as the flatfile of runs on files, results are numbered.
    """
    keys = [repr((one.workload, one.operation, sorted(one.parameters.items()))) for one in results]
    many, seen = Counter(key for key, one in zip(keys, results, strict=True) if one.measured), Counter[str]()
    found = []
    for key, one in zip(keys, results, strict=True):
        if one.measured and many[key] > 1:
            seen[key] += 1
            one = one.model_copy(update={"workload": f"{one.workload} ({seen[key]} of {many[key]})"})
        found.append(one)
    return tuple(found)
