"""Reads a file of vdbench: flatfile, console, report or histograms, known by its headers."""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice

from assay.model.escape import escape_line
from assay.model.result.imported import ImportedFile
from assay.rooms.importers.work.long_text import Text, each_line
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
_MAX_TITLE = 5
"""Lines at the beginning in which the title is."""
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


def read(text: Text, file: ImportedFile, stated: ImportOptions = STATED_NOTHING) -> list[ToolOutput]:
    """Return every output in a text, in order.

    Args:
        text: The content of the file.
        file: What is known of the file; the rest is filled in.
        stated: Order of offsets, which only flatfile.html of runs on luns says.

    Raises:
        OutputError: It is not what vdbench writes.
    """
    target = _target(list(islice(_lines(text), _MAX_TITLE)))
    form, has_versions = _form(_lines(text))
    if form == "flatfile":
        runs, first = flat.read_flat(_lines(text))
        return [_output(runs, file, target, stated, {"form": form, "line": first})]
    if form == "histograms":
        return [_output(histogram.read_histograms(_lines(text)), file, target, stated, {"form": form, "line": 1})]
    parts: list[tuple[dict[str, object], tables.TableReader]] = []
    if not has_versions:
        parts.append(({"form": form, "line": 1, "version": ""}, tables.TableReader()))
    for number, line in enumerate(_lines(text), start=1):
        if match := _VERSION.fullmatch(line):
            parts.append(({"form": form, "line": number, "version": match[1]}, tables.TableReader()))
        if parts:
            parts[-1][1].read(_TAGS.sub("", line), number)
    return [_output(reader.runs, file, target, stated, known) for known, reader in parts]


def _lines(text: Text) -> Iterator[str]:
    return (line.rstrip("\r") for line in each_line(text))


def _form(lines: Iterable[str]) -> tuple[str, bool]:
    """Return what an output is, the flatfile before all else, and whether it has lines with a version."""
    form, has_versions = "report", False
    for line in lines:
        if " tod " in line and flat.HEADER.fullmatch(line.rstrip()):
            return "flatfile", False
        if "min(ms)" in line and histogram.HEADER.match(line):
            form = "histograms"
        has_versions |= line.startswith("Vdbench") and bool(_VERSION.fullmatch(line))
    return form, has_versions


def _target(lines: Sequence[str]) -> str:
    """Return what a file is of: an SD, FSD or the like by its title, or the tool's name."""
    match = next((match for line in lines if (match := _TITLE.fullmatch(line)) and match[1]), None)
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
