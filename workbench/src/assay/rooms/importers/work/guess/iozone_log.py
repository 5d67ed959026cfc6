"""Columns of tables that have what logs of iozone's throughput mode print of each test."""

import re
from typing import TYPE_CHECKING

from assay.rooms.importers.work.iozone import NAME

if TYPE_CHECKING:
    from assay.rooms.importers.work.guess.roles import GuessedColumn, GuessedRoles

_EACH = r"( throughput)?( per (process|thread))?"
_FIGURES = {
    "throughput": (re.compile(r"children.*"), "bytes/s"),
    "process_min": (re.compile(rf"min(imum)?{_EACH}"), "bytes/s"),
    "process_max": (re.compile(rf"max(imum)?{_EACH}"), "bytes/s"),
    "process_mean": (re.compile(rf"(avg|average|mean){_EACH}"), "bytes/s"),
    "process_least": (re.compile(r"min(imum)? xfer"), "bytes"),
}
"""Role -> what iozone calls it in front of its unit, and what it is."""
_TEXTS = {"label": r"label", "command": r"command", "began": r"began|start"}
"""Role -> a word of the heading of texts."""


def guess_log(found: "GuessedRoles") -> None:
    """Give columns the roles of iozone's logs, if all its five figures are there."""
    figures = {role: _of(found, *known) for role, known in _FIGURES.items()}
    if any(len(columns) != 1 for columns in figures.values()):
        return
    found.tool = NAME
    for role, (column,) in figures.items():
        column.role, column.unit = role, column.parts.unit
        found.doubts = [doubt for doubt in found.doubts if not doubt.startswith(f"{column.heading}: ")]
    for role, words in _TEXTS.items():
        named = [each for each in found.of_role("comment") if not each.is_numeric and re.search(words, each.parts.name)]
        for column in named[:1]:
            column.role = role
    commands = [cell for column in found.of_role("command") for cell in column.cells]
    for column in found.of_role("lanes"):
        if commands and all("-+m" in cell for cell in commands):
            column.role = "streams"
            found.doubts = [doubt for doubt in found.doubts if not doubt.startswith(f"{column.heading}: ")]


def _of(found: "GuessedRoles", words: re.Pattern[str], kind: str) -> list["GuessedColumn"]:
    return [
        column
        for column in found.columns
        if column.is_numeric and column.parts.kind == kind and words.fullmatch(column.parts.name)
    ]
