"""Results that two files of a folder have: IO500's summary, and the output of the tool that it ran for each phase."""

from collections.abc import Sequence
from pathlib import Path

from assay.rooms.importers.work import io500, ior, mdtest
from assay.rooms.importers.work.results import ToolOutput

_TOOLS = (ior.NAME, mdtest.NAME)


def left_out_twice(outputs: Sequence[ToolOutput]) -> list[ToolOutput]:
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
        printed: (folder, phase, figures) -> name of the file with the summary that has this line: what IO500 prints is
            often kept besides the summary that it writes. Lines of this summary are added.
    """
    path = Path(summary.file.file)
    results = []
    for result in summary.results:
        first = printed.setdefault((path.parent, result.name, result.figures), path.name)
        name = phases.get((path.parent, result.name.lower())) or (first if first != path.name else None)
        if result.measured is not None and name is not None:
            left_out = f"{name} has it with all its figures"
            changes: dict[str, object] = {"measured": None, "operation": None, "parameters": {}, "left_out": left_out}
            result = result.model_copy(update=changes)
        results.append(result)
    return summary.model_copy(update={"results": tuple(results)})
