"""Outputs of fio 2.2.10 to 3.42, made on a file system in memory; the name says version and subject."""

import json
from functools import cache
from pathlib import Path
from typing import Any

from paths import GOLDEN

from assay.model.result.imported import ImportedFile
from assay.rooms.importers.work import fio
from assay.rooms.importers.work.results import ImportedResult, ImportOptions, Order, ToolOutput

FOLDER = GOLDEN / "imports" / "fio"
SAMPLES = tuple(sorted(path.stem for path in FOLDER.glob("*.json")))
FILE = ImportedFile(tool="fio", version="", form="", file="x.json", line=1, sha256="0" * 64, size_bytes=1)


def path_of(name: str) -> Path:
    """The file of a sample."""
    return FOLDER / f"{name}.json"


@cache
def text_of(name: str) -> str:
    """The text of a sample."""
    return path_of(name).read_text()


def documents_of(name: str) -> dict[int, dict[str, Any]]:
    """Each JSON of a sample by its line, with numbers as text; there are several with `--status-interval`."""
    text, decoder, found = text_of(name), json.JSONDecoder(parse_int=str, parse_float=str), {}
    end = 0
    while (start := text.find("{", end)) >= 0:
        found[text.count("\n", 0, start) + 1], end = decoder.raw_decode(text, start)
    return found


def document_of(name: str) -> dict[str, Any]:
    """The first JSON of a sample, with numbers as text."""
    return next(iter(documents_of(name).values()))


def read(text: str, order: Order | None = None) -> ToolOutput:
    """The first output in a text."""
    return fio.read(text, FILE, ImportOptions(order))[0]


def results_of(name: str, order: Order | None = None) -> tuple[ImportedResult, ...]:
    """What is read from a sample."""
    return read(text_of(name), order).results


def changed(name: str, *path: str | int, to: object) -> str:
    """The text of a sample with one value changed; `path` leads to it."""
    document = json.loads(text_of(name))
    place: Any = document
    for step in path[:-1]:
        place = place[step]
    place[path[-1]] = to
    return json.dumps(document, indent=1)
