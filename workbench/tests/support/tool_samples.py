"""Outputs of tools with one reader each, and what tests of such readers share."""

import random
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path

from paths import GOLDEN

from assay.model.result.imported import ImportedFile
from assay.model.study.names import WORK
from assay.rooms.importers.work.figure_units import UNITS
from assay.rooms.importers.work.results import ImportedResult, ImportOptions, OutputError, ToolOutput
from assay.rooms.importers.work.tools import IMPORTERS

FOLDER = GOLDEN / "imports"
FILE = ImportedFile(tool="", version="", form="", file="x.txt", line=1, sha256="0" * 64, size_bytes=1)
Reader = Callable[[str, ImportedFile, ImportOptions], list[ToolOutput]]


@cache
def paths_of(tool: str) -> tuple[Path, ...]:
    """The samples of a tool."""
    return tuple(sorted(path for path in (FOLDER / tool).iterdir() if path.name != "NOTICE"))


@cache
def sample(tool: str, name: str) -> str:
    """The text of a sample."""
    return (FOLDER / tool / name).read_text()


def results(read: Reader, text: str, options: ImportOptions | None = None) -> list[ImportedResult]:
    """All results in a text; each has known units, and a counterpart or a reason."""
    found = [one for output in read(text, FILE, options or ImportOptions()) for one in output.results]
    for one in found:
        assert all(figure.unit == "" or figure.unit in UNITS for figure in one.figures)
        assert (one.measured is None) == bool(one.left_out) and (one.operation in WORK) == (one.measured is not None)
    return found


def texts(found: list[ImportedResult]) -> list[str]:
    """All figures as printed, sorted."""
    return sorted(figure.text for one in found for figure in one.figures)


def only_reader(path: Path) -> str:
    """What the only importer reads that recognises a sample; tables aside, which any text may look like."""
    text = path.read_text()
    (form,) = [one.forms for one in IMPORTERS[:-1] if one.recognise(text)]
    return form


def damaged(text: str, name: str, count: int = 12) -> Iterator[str]:
    """The text with bytes that are cut off, doubled or changed, by a seed."""
    choice = random.Random(name)
    for _ in range(count):
        at = choice.randrange(len(text))
        length = choice.choice((1, 1, 2, 40, len(text)))
        put = choice.choice(("", "-", "9" * 30, "1e9", "9" * 5000, "e999", ",", text[at : at + 30], "|", "\n", "nan"))
        yield text[:at] + put + text[at + length :]


def check_damage(read: Reader, path: Path, count: int = 12) -> None:
    """A damaged sample is read, or refused with line and hint; in the worst order of lines, too."""
    text = path.read_text()
    lines = text.splitlines(keepends=True)
    random.Random(path.name).shuffle(lines)
    for one in (*damaged(text, path.name, count), "".join(lines), "".join(reversed(text.splitlines(keepends=True)))):
        try:
            read(one, FILE, ImportOptions("random"))
        except OutputError as error:
            assert error.line >= 1 and error.message and error.hint


def in_a_terminal(text: str) -> str:
    """The text as people paste it: with lines before and after, CRLF, and a byte order mark left out by the caller."""
    return "\r\n".join(("me@host:~$ ls", "a  b", *text.splitlines(), "me@host:~$ exit", ""))
