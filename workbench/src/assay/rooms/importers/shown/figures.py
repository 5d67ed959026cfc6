"""The figures of an imported run as its files print them, for `assay show RUN CASE` and the report."""

from pathlib import Path

from pydantic import ValidationError

from assay.model.base import AssayError
from assay.report.document import Block, Column, Facts, Heading, Table
from assay.rooms.importers.work.results import MAX_BYTES, ImportedResult, ImportedRun, ToolOutput
from assay.store.entries import IMPORTED
from assay.store.safe_files import DAMAGE_HINT, read_required


def imported_run(folder: Path) -> ImportedRun:
    """Return all that the outputs say that a run was imported from.

    Args:
        folder: The run's folder.

    Raises:
        AssayError: The file is missing or damaged.
    """
    data = read_required(folder, IMPORTED, MAX_BYTES)
    try:
        return ImportedRun.model_validate_json(data)
    except ValidationError as error:
        raise AssayError(f"{folder} is damaged: {IMPORTED} is not that of an imported run", DAMAGE_HINT) from error


def case_blocks(folder: Path, case: str) -> list[Block]:
    """Return all that the outputs say of a case: where it is, its options, and every figure as printed.

    Args:
        folder: The run's folder.
        case: Id of the case.

    Raises:
        AssayError: The file with the figures is missing or damaged.
    """
    blocks: list[Block] = []
    for output in imported_run(folder).outputs:
        for result in output.results:
            if result.case == case:
                blocks += _result_blocks(output, result)
    return blocks


def imported_figures(folder: Path) -> list[tuple[int, tuple[str, ...], tuple[tuple[str, str], ...]]]:
    """Return the rows that outputs print: number of the output, texts, and names with figures.

    Args:
        folder: The run's folder.

    Raises:
        AssayError: The file with the figures is missing or damaged.
    """
    found = []
    for number, output in enumerate(imported_run(folder).outputs):
        for result in output.results:
            texts = (result.name, *((result.target,) if result.case else ()), *result.options.values())
            times = tuple((figure.name, figure.text) for figure in result.figures if figure.unit in ("s", "min", "h"))
            found.append((number, tuple(dict.fromkeys(texts)), (*result.options.items(), *times)))
    return found


def place_words(output: ToolOutput, result: ImportedResult) -> str:
    """Return where a result is: `results.json:8`."""
    return f"{output.file.file}:{result.line or output.file.line}"


def options_words(result: ImportedResult) -> str:
    """Return what the tool was asked for: `rw=read bs=4k`."""
    return " ".join(f"{name}={value}" if value else name for name, value in result.options.items())


def _result_blocks(output: ToolOutput, result: ImportedResult) -> list[Block]:
    title = f"repeat {result.repeat}, as {output.file.program} prints it: {result.name}, {place_words(output, result)}"
    facts = (
        ("options", options_words(result) or "the output does not say"),
        ("latency", f"{result.latency_of}, as {output.file.tool} calls it" if result.latency_of else "none"),
    )
    rows = tuple((figure.name, figure.text, figure.unit) for figure in result.figures)
    columns = (Column("figure"), Column("as printed", is_numeric=True), Column("unit"))
    return [Heading(title, ""), Facts(facts), Table("", columns, rows)]
