"""Outputs of tools with one reader each, and what tests of such readers share."""

from pathlib import Path

from imported_samples import FILE, Reader
from imported_samples import check_damage as check_damaged_text
from imported_samples import sample_paths as paths_of
from imported_samples import sample_text as sample

from assay.model.study.names import WORK
from assay.rooms.importers.work.figure_units import UNITS
from assay.rooms.importers.work.results import ImportedResult, ImportOptions
from assay.rooms.importers.work.tools import IMPORTERS

__all__ = ["FILE", "Reader", "check_damage", "in_a_terminal", "only_reader", "paths_of", "results", "sample", "texts"]


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


def check_damage(read: Reader, path: Path, count: int = 12) -> None:
    """A damaged sample is read, or refused with line and hint."""
    check_damaged_text(read, path.read_text(), path.name, count, ImportOptions("random"))


def in_a_terminal(text: str) -> str:
    """The text as people paste it: with lines before and after, CRLF, and a byte order mark left out by the caller."""
    return "\r\n".join(("me@host:~$ ls", "a  b", *text.splitlines(), "me@host:~$ exit", ""))
