"""Outputs of IOR 2.10.3 to 4.1, of mdtest 1.9 to 4.1, and of IO500, made on a disk with two tasks.

License of IOR, mdtest and IO500: GPL and MIT; only their outputs are here.
"""

import re
from functools import cache
from itertools import product

from paths import GOLDEN

from assay.model.result.imported import ImportedFile
from assay.model.study.axis import AxisValue
from assay.plan.expand import expand
from assay.plan.load import load_study
from assay.rooms.importers.work import io500, ior, mdtest
from assay.rooms.importers.work.results import ImportedResult, ImportOptions, ToolOutput

FOLDER = GOLDEN / "imports"
FILE = ImportedFile(tool="IOR", version="", form="", file="x.txt", line=1, sha256="0" * 64, size_bytes=1)
READERS = {"ior": ior.read, "mdtest": mdtest.read, "io500": io500.read}
DAMAGED = ("3.3.0-failed-read.txt", "3.2.1-two-ranks.json")
"""Outputs of IOR that failed, and that it wrote as no JSON."""


def names(tool: str, ending: str) -> list[str]:
    """The samples of a tool that can be read."""
    return sorted(path.name for path in (FOLDER / tool).glob(f"*{ending}") if path.name not in DAMAGED)


@cache
def text_of(tool: str, name: str) -> str:
    """The text of a sample."""
    return (FOLDER / tool / name).read_text()


def read(tool: str, text: str) -> ToolOutput:
    """The only output in a text."""
    (output,) = READERS[tool](text, FILE, ImportOptions("sequential"))
    return output


def results_of(tool: str, name: str) -> tuple[ImportedResult, ...]:
    """What is read from a sample."""
    return read(tool, text_of(tool, name)).results


def texts(results: tuple[ImportedResult, ...]) -> list[str]:
    """All figures as printed."""
    return [figure.text for result in results for figure in result.figures]


def numbers(words: str) -> list[str]:
    """The words of a line that are numbers."""
    return [word for word in words.split() if re.fullmatch(r"-?[0-9]+(\.[0-9]+)?", word)]


def planned(study: str) -> dict[tuple[str, str], dict[str, AxisValue]]:
    """Workload and operation of a study -> all parameters with which it would be measured."""
    loaded = load_study(study.encode(), "/tmp")
    assert loaded.study is not None, loaded.problems
    cases = expand(loaded.study).cases
    return {
        (case.workload, operation): {name: case.parameters.get(name) for name in type(case.parameters).model_fields}
        for case, operation in ((case, operation) for case in cases for operation in case.operations)
    }


def every_damage(text: str, places: range) -> list[str]:
    """A text that ends too early, lacks a part, or has some of it twice, at each of some places."""
    lengths = (1, 7, len(text))
    return [text[:at] + text[at + length :] for at, length in product(places, lengths)] + [
        text[: at + 40] + text[at:] for at in places
    ]
