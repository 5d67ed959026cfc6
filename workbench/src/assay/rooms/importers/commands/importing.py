"""`assay import`."""

from pathlib import Path
from typing import TYPE_CHECKING

import typer

from assay.model.base import AssayError
from assay.terminal.settings import RUNS

if TYPE_CHECKING:
    from assay.rooms.importers.work.results import ImportOptions, Order, ToolOutput

_ORDERS = ("sequential", "random")


def command(
    files: list[str] = typer.Argument(
        ..., metavar="FILE", help="Outputs of other tools: fio, iozone, IOR, mdtest, IO500."
    ),
    study: str = typer.Option(
        "", "--study", metavar="NAME", help="Name of the study.  [default: that of the first file]"
    ),
    order: str = typer.Option(
        "",
        "--order",
        metavar="ORDER",
        help="`sequential` or `random`: order of offsets, where outputs do not say it (fio's terse one, IOR's CSV).",
    ),
    out: Path = RUNS,
) -> None:
    """Make a run of what another tool measured, from its output.

    Files are known by what is in them. Results of the same work, in one file or several, are its repeats. What a file
    does not say is missing in the run, and rules that need it are not evaluated.

    Example: `assay import fio-1.json fio-2.json --study disk`
    """
    import sys

    from assay.model.secret import redact_command
    from assay.rooms.importers.work.registry import recognised_words
    from assay.rooms.importers.work.results import ImportOptions
    from assay.rooms.importers.work.runs import make_run
    from assay.terminal.output import note, print_line

    stated = ImportOptions(_order(order))
    outputs: list[ToolOutput] = []
    for file, found in _read(files, stated):
        note(recognised_words(file, found))
        outputs += found
    folder = make_run(outputs, out, study, redact_command(["assay", *sys.argv[1:]]))
    for output in outputs:
        for result in output.results:
            if result.left_out:
                note(f"left out: {output.file.file}:{result.line}: {result.name}: {result.left_out}")
    print_line(f"imported to {folder}; next: assay show {folder}")


def _order(written: str) -> "Order | None":
    """Return the order of offsets that the user states; None without one.

    Raises:
        AssayError: It is no order.
    """
    if not written:
        return None
    if written not in _ORDERS:
        raise AssayError(f"--order {written}: no order of offsets", "write sequential or random")
    return "random" if written == "random" else "sequential"


def _read(files: list[str], stated: "ImportOptions") -> "list[tuple[str, list[ToolOutput]]]":
    """Return each file with its outputs.

    Raises:
        AssayError: Some cannot be read; all of these are named, and no run is made.
    """
    from assay.rooms.importers.work.registry import read_outputs

    found, problems = [], []
    for file in files:
        try:
            found.append((file, read_outputs(file, stated)))
        except AssayError as error:
            problems.append(error)
    if problems:
        last = problems[-1]
        others = tuple((error.message, error.hint) for error in problems[:-1])
        raise AssayError(last.message, last.hint, last.exit_code, others)
    return found
