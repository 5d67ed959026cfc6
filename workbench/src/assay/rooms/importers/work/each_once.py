"""Results that two files of a folder have: of IO500 and what it ran, and the reports of one run of vdbench."""

from collections.abc import Sequence
from decimal import Decimal
from pathlib import Path

from assay.rooms.importers.work import io500, ior, mdtest
from assay.rooms.importers.work.results import ImportedResult, ToolOutput
from assay.rooms.importers.work.vdbench import runs as vdbench

_TOOLS = (ior.NAME, mdtest.NAME)
_VDBENCH = ("flatfile.html", "totals.html", "summary.html")
"""The reports of vdbench that have all of a run, best first."""
_RATE = "rate"
"""Name of vdbench's figure of operations per second."""


def left_out_twice(outputs: Sequence[ToolOutput]) -> list[ToolOutput]:
    """Return outputs, in which each result of a folder of IO500 or vdbench counts once."""
    return _vdbench_once(_io500_once(outputs))


def _vdbench_once(outputs: Sequence[ToolOutput]) -> list[ToolOutput]:
    """Return outputs, where the reports of vdbench beside the best one are left out: they are of the same run.

    vdbench empties its folder before a run, and writes to it a report of everything, and one of each SD, WD, host and
    the like, as NAME.html (Vdb/Report.java). Parts would count as repeats of the whole.
    """
    best: dict[Path, tuple[int, str, set[str]]] = {}
    for output in outputs:
        path = Path(output.file.file)
        names = {one.name for one in output.results if one.measured}
        if output.file.tool == vdbench.NAME and names and path.name in _VDBENCH:
            one = _VDBENCH.index(path.name), path.name, names
            best[path.parent] = min(one, best.get(path.parent, one), key=lambda known: known[0])
    whole = [one for one in outputs if Path(one.file.file).name == best.get(Path(one.file.file).parent, (0, "", {}))[1]]
    return [
        _without_printed(_without_parts(output, best), whole) if output.file.tool == vdbench.NAME else output
        for output in outputs
    ]


def _without_printed(output: ToolOutput, whole: Sequence[ToolOutput]) -> ToolOutput:
    """Return what vdbench printed on its console without the runs of which a report has the same figures.

    People keep it beside the folder of reports or in it, under any name. It has all figures of summary.html.
    """
    if Path(output.file.file).suffix == ".html":
        return output
    reported: dict[str, list[tuple[str, ImportedResult]]] = {}
    for report in whole:
        for one in report.results:
            reported.setdefault(one.name, []).append((report.file.file, one))
    results = []
    for one in output.results:
        same = next((file for file, other in reported.get(one.name, ()) if _has_same_figures(one, other)), None)
        results.append(one if same is None else _left_out(one, f"{same} has it, with the same figures"))
    return output.model_copy(update={"results": tuple(results)})


def _has_same_figures(one: ImportedResult, other: ImportedResult) -> bool:
    """Whether all figures that two results share are equal, as far as their digits go, and the rate is among them.

    Those of CPUs are not compared: `cpu_used` is not the same in all reports of vdbench 5.04.06.
    """
    mine, theirs = ({figure.name: figure.text for figure in each.figures} for each in (one, other))
    shared = {name for name in mine.keys() & theirs.keys() if not name.startswith("cpu")}
    return _RATE in shared and all(_is_same(mine[name], theirs[name]) for name in shared)


def _is_same(one: str, other: str) -> bool:
    """Whether two numbers may be printed from one: vdbench rounds, and of files cuts off."""
    return abs(Decimal(one) - Decimal(other)) <= 2 * (vdbench.half_digit(one) + vdbench.half_digit(other))


def _without_parts(output: ToolOutput, best: dict[Path, tuple[int, str, set[str]]]) -> ToolOutput:
    """Return an output of vdbench without the runs that the best report of its folder has."""
    path = Path(output.file.file)
    _, name, runs = best.get(path.parent, (0, path.name, set[str]()))
    if path.suffix != ".html" or path.name == name:
        return output
    results = [_left_out(one, f"{name} has all of it") if one.name in runs else one for one in output.results]
    return output.model_copy(update={"results": tuple(results)})


def _left_out(result: ImportedResult, why: str) -> ImportedResult:
    changes: dict[str, object] = {"measured": None, "operation": None, "parameters": {}, "left_out": why}
    return result.model_copy(update=changes)


def _io500_once(outputs: Sequence[ToolOutput]) -> list[ToolOutput]:
    """Return outputs, where phases of IO500's summary are left out that have a file with all figures beside it.

    IO500 writes what IOR and mdtest print of each phase to `PHASE.txt` in the folder of its summary (io500 src/util.c,
    `u_res_file_prep`; the older script had underscores).
    """
    phases: dict[tuple[Path, str], str] = {}
    printed: dict[tuple[object, ...], str] = {}
    for output in outputs:
        if output.file.tool in _TOOLS and any(one.measured for one in output.results):
            path = Path(output.file.file)
            phases.setdefault((path.parent, path.stem.replace("_", "-").lower()), path.name)
    return [_without(output, phases, printed) if output.file.tool == io500.NAME else output for output in outputs]


def _without(
    summary: ToolOutput, phases: dict[tuple[Path, str], str], printed: dict[tuple[object, ...], str]
) -> ToolOutput:
    """Return a summary of IO500 without the phases that another file has.

    Args:
        summary: The output.
        phases: (folder, phase) -> name of the file that the phase's tool printed.
        printed: (folder, phase, rate) -> name of the first file that has it: IO500 writes result.txt and a summary, and
            what it prints is often kept besides. Those of this output are added.
    """
    path = Path(summary.file.file)
    results = []
    for result in summary.results:
        first = printed.setdefault((path.parent, result.name, result.figures[0].text), path.name)
        name = phases.get((path.parent, result.name.lower())) or (first if first != path.name else None)
        if result.measured is not None and name is not None:
            result = _left_out(result, f"{name} has it with all its figures")
        results.append(result)
    return summary.model_copy(update={"results": tuple(results)})
