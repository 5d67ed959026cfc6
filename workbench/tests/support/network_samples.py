"""Outputs of iperf 2 and 3, ping and sockperf, made over a pair of virtual Ethernet devices between two namespaces.

Those of others are named in NOTICE files beside them.
"""

import random
import re
from functools import cache

from paths import GOLDEN

from assay.model.result.imported import ImportedFile
from assay.rooms.importers.work.iperf import importer as iperf
from assay.rooms.importers.work.iperf import importer3 as iperf3
from assay.rooms.importers.work.network import ping, sockperf
from assay.rooms.importers.work.results import ImportedResult, OutputError, ToolOutput

FOLDER = GOLDEN / "imports"
FILE = ImportedFile(tool="", version="", form="", file="x.txt", line=1, sha256="0" * 64, size_bytes=1)
READERS = {"iperf": iperf, "iperf3": iperf3, "ping": ping, "sockperf": sockperf}
NUMBER = r"[0-9]+(?:\.[0-9]+)?"


def names(tool: str, ending: str = "") -> list[str]:
    """The samples of a tool."""
    found = (path.name for path in (FOLDER / tool).glob(f"*{ending}"))
    return sorted(name for name in found if name != "NOTICE")


@cache
def text_of(tool: str, name: str) -> str:
    """The text of a sample."""
    return (FOLDER / tool / name).read_text("utf-8-sig")


def read(tool: str, text: str) -> list[ToolOutput]:
    """All outputs in a text."""
    return READERS[tool].read(text, FILE)


def results_of(tool: str, text: str) -> list[ImportedResult]:
    """All results in a text."""
    return [result for output in read(tool, text) for result in output.results]


def sample(tool: str, name: str) -> list[ImportedResult]:
    """All results of a sample."""
    return results_of(tool, text_of(tool, name))


def figure(result: ImportedResult, name: str) -> tuple[str, str]:
    """Text and unit of a figure."""
    return next((one.text, one.unit) for one in result.figures if one.name == name)


def numbers(text: str) -> list[str]:
    """The numbers of a text, also where letters follow."""
    return re.findall(rf"(?<![0-9.]){NUMBER}(?![0-9.])", text)


def check_damaged(tool: str, text: str, seed: str, times: int = 10) -> None:
    """Damage a text: it is read or refused with a line and a hint, and nothing else happens."""
    choice = random.Random(seed)
    for _ in range(times):
        at = choice.randrange(len(text))
        length = choice.choice((1, 1, 2, 40, len(text)))
        put = choice.choice(("", '"', "{", "]", "[", "-", "9" * 30, "null", "1e9", ",", text[at : at + 30], "nan", "."))
        damaged = text[:at] + put + text[at + length :]

        try:
            read(tool, damaged)
        except OutputError as error:
            assert error.line >= 1 and error.message and error.hint
