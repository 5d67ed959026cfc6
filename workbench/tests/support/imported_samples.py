"""Samples of the outputs of tools that are imported, and the damage that readers must survive."""

import math
import random
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path

from paths import GOLDEN

from assay.model.result.imported import ImportedFile
from assay.rooms.importers.work.figure_units import UNITS
from assay.rooms.importers.work.results import STATED_NOTHING, ImportedResult, ImportOptions, OutputError, ToolOutput
from assay.rooms.importers.work.tools import IMPORTERS

FOLDER = GOLDEN / "imports"
FILE = ImportedFile(tool="", version="", form="", file="x", line=1, sha256="0", size_bytes=1)
Reader = Callable[[str, ImportedFile, ImportOptions], list[ToolOutput]]
_PUT = ("", '"', "{", "}", "[", "]", "-", "9" * 30, "null", "1e9", "e999", ",", "<", "NaN", "nan", "9" * 5000, " : ",
        "|", ".", "\n", "\u00b5")  # fmt: skip


@cache
def sample_paths(tool: str, ending: str = "") -> tuple[Path, ...]:
    """The samples of a tool, in its folder, whose names end so."""
    return tuple(sorted(path for path in (FOLDER / tool).glob(f"*{ending}") if path.name != "NOTICE"))


def sample_names(tool: str, ending: str = "") -> list[str]:
    """Names of the samples of a tool."""
    return [path.name for path in sample_paths(tool, ending)]


@cache
def sample_text(tool: str, name: str) -> str:
    """Text of a sample."""
    return (FOLDER / tool / name).read_bytes().decode("utf-8-sig")


def recognising(text: str) -> str:
    """Name of the tool whose output a text is; empty if none is."""
    return next((one.name for one in IMPORTERS if one.recognise(text)), "")


def check_units(results: list[ImportedResult]) -> None:
    """Check that each result has a measurement that can be stored, or a reason, and that its units are known."""
    for result in results:
        assert bool(result.left_out) == (result.measured is None) == (result.operation is None), result.name
        assert all(one.unit in UNITS for one in result.figures if one.unit), result.name
        if result.measured is not None:
            values = result.measured.model_dump()
            for one in (*values.values(), *values["latency"].values(), *result.parameters.values()):
                if isinstance(one, int | float):
                    assert 0 <= one < (math.inf if isinstance(one, float) else 2**63), result


def damaged(text: str, seed: str, count: int) -> Iterator[str]:
    """Yield a text with bytes cut off, doubled or changed, and with its lines in other orders."""
    choice = random.Random(seed)
    for _ in range(count):
        at = choice.randrange(len(text))
        length = choice.choice((1, 1, 2, 40, len(text)))
        yield text[:at] + choice.choice((*_PUT, text[at : at + 30])) + text[at + length :]
    lines = text.split("\n")
    yield "\n".join(reversed(lines))
    for _ in range(count // 4):
        choice.shuffle(lines)
        yield "\n".join(lines)


def check_damage(read: Reader, text: str, seed: str, count: int = 25, stated: ImportOptions = STATED_NOTHING) -> None:
    """Check that damaged output is read or refused with its line, and raises nothing else."""
    for one in damaged(text, seed, count):
        try:
            outputs = read(one, FILE, stated)
        except OutputError as error:
            assert 1 <= error.line <= one.count("\n") + 1 and error.message and error.hint
        else:
            check_units([result for output in outputs for result in output.results])
            [output.model_dump_json() for output in outputs]
