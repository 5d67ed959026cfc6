"""Price books by name or file."""

from collections.abc import Mapping
from functools import cache, lru_cache
from pathlib import Path

from assay.model.base import AssayError
from assay.model.money.price import PriceBook
from assay.model.quoting import FileOrigin, hide_content
from assay.model.units import choices_hint, with_alternative
from assay.model.user_files import UnreadableError, read_user_file
from assay.model.user_text import MAX_FILE_BYTES
from assay.model.yaml_files import read_model

BOOKS = Path(__file__).with_name("data")
GUIDE = "docs/guides/prices.md"
WHAT = "price book"


def book_names() -> list[str]:
    """Return the names of the books that come with Assay."""
    return [*shipped_files(BOOKS)]


@cache
def shipped_files(folder: Path) -> Mapping[str, Path]:
    """Return the YAML files that come with Assay in a folder and its subfolders: name -> path."""
    return dict(sorted((path.stem, path) for path in folder.rglob("*.yaml")))


def is_shipped(path: Path, folder: Path) -> bool:
    """Return whether a file of a folder comes with Assay."""
    return shipped_files(folder).get(path.stem) == path


def find_file(ref: str, folder: Path, base: Path | None) -> tuple[Path, str]:
    """Return the path of a shipped name or file, and its name for messages; the file is not opened.

    Args:
        ref: Shipped name, or path of a file.
        folder: Folder of the shipped files.
        base: Where relative paths start; None: the working directory.
    """
    path = shipped_files(folder).get(ref)
    return (path, path.name) if path is not None else ((base or Path()) / ref, ref)


def read_located(what: str, path: Path, ref: str, folder: Path) -> bytes:
    """Read the file that `find_file` returned.

    Args:
        what: What kind of file it is, such as `price book`.
        path: Its path.
        ref: Its name, for messages.
        folder: Folder of the shipped files.

    Raises:
        AssayError: It cannot be read.
    """
    names = shipped_files(folder)
    if is_shipped(path, folder):
        return path.read_bytes()
    try:
        return read_user_file(path, ref, f"give a file, or one of: {', '.join(names)}", MAX_FILE_BYTES)
    except UnreadableError as error:
        if error.missing and "/" not in ref and not Path(ref).suffix:
            raise AssayError(
                f"there is no {what} `{ref}`", with_alternative(choices_hint(ref, names), "give a file")
            ) from None
        raise


def load_book(ref: str, base: Path | None = None) -> PriceBook:
    """Load a price book that comes with Assay, or a file.

    Args:
        ref: Name of a shipped book, or path of a file.
        base: Folder of the file that names it, where relative paths start; None: the user typed it, and relative paths
            start at the working directory.

    Raises:
        AssayError: There is no such book, or the file is wrong; the message names the line.
    """
    path, file = find_file(ref, BOOKS, base)
    is_ours = is_shipped(path, BOOKS)
    data = read_located(WHAT, path, file, BOOKS)
    naming = FileOrigin(base, is_ours or base is None)
    with hide_content(file, "a price book", f"assay prices check {file}", naming, path, data):
        return _read(data, file, is_ours)


@lru_cache(maxsize=32)
def _read(data: bytes, file: str, shipped: bool) -> PriceBook:
    """Parse a book; cached by content, so that a changed file is read again."""
    return read_model(PriceBook, data, file, GUIDE, WHAT, shipped)
