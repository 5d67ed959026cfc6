"""Outputs of iperf 2 and 3, ping and sockperf, made over a pair of virtual Ethernet devices between two namespaces.

Those of others are named in NOTICE files beside them.
"""

import re

from imported_samples import FILE, FOLDER, check_damage
from imported_samples import sample_names as names
from imported_samples import sample_text as text_of

from assay.rooms.importers.work.iperf import importer as iperf
from assay.rooms.importers.work.iperf import importer3 as iperf3
from assay.rooms.importers.work.network import ping, sockperf
from assay.rooms.importers.work.results import ImportedResult, ToolOutput

__all__ = ["FOLDER", "NUMBER", "READERS", "check_damaged", "figure", "names", "numbers", "read", "results_of", "sample",
           "text_of"]  # fmt: skip
READERS = {"iperf": iperf, "iperf3": iperf3, "ping": ping, "sockperf": sockperf}
NUMBER = r"[0-9]+(?:\.[0-9]+)?"


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
    check_damage(READERS[tool].read, text, seed, times)
