"""Tables as people keep them, with their roles files; and how they are read."""

from collections.abc import Sequence
from pathlib import Path

from paths import GOLDEN

from assay.model.result.imported import ImportedFile
from assay.rooms.importers.work import table
from assay.rooms.importers.work.results import ImportedResult, ImportOptions
from assay.rooms.importers.work.table_roles import RolesFile, parse_roles

FOLDER = GOLDEN / "imports" / "tables"
PASTED = tuple(sorted(path for path in (FOLDER / "pasted").iterdir() if path.suffix != ".yaml"))
"""Twenty tables such as people paste from wikis and spreadsheets."""
PAPERS = tuple(sorted((FOLDER / "papers").glob("*.csv")))
"""Figures of five papers, or the first of them."""
FILE = ImportedFile(tool="", version="", form="", file="x.csv", line=1, sha256="0" * 64, size_bytes=1)


def roles_of(path: Path) -> Path:
    """The roles file of a table."""
    return path.with_name(f"{path.stem}.roles.yaml")


def stated(roles: str) -> ImportOptions:
    """The text of a roles file as a user states it."""
    return ImportOptions(roles=RolesFile("r.yaml", parse_roles(roles.encode(), "r.yaml")))


def read(text: str, roles: str) -> tuple[ImportedResult, ...]:
    """The results of a table."""
    return table.read(text, FILE, stated(roles))[0].results


def read_sample(path: Path) -> tuple[ImportedResult, ...]:
    """The results of a sample with its own roles file."""
    return read(path.read_text(), roles_of(path).read_text())


def columns(*lines: str, head: Sequence[str] = ()) -> str:
    """A roles file."""
    return "\n".join((*head, "columns:", *(f"  {line}" for line in lines))) + "\n"
