"""Price books by name or file."""

from collections.abc import Mapping
from functools import cache, lru_cache
from pathlib import Path

from assay.model.base import AssayError
from assay.model.files import read_model
from assay.model.money.price import Book
from assay.model.named import UnreadableError, read_named
from assay.model.units import one_of, or_else
from assay.model.unquoted import Naming, unquoted
from assay.model.written import MOST_BYTES

BOOKS = Path(__file__).with_name("data")
GUIDE = "docs/guides/prices.md"
WHAT = "price book"


def book_names() -> list[str]:
    """The books that come with Assay."""
    return [*shipped(BOOKS)]


@cache
def shipped(folder: Path) -> Mapping[str, Path]:
    """What comes with Assay in a folder, or in one below: the file of each name, by name."""
    return dict(sorted((path.stem, path) for path in folder.rglob("*.yaml")))


def is_shipped(path: Path, folder: Path) -> bool:
    """Whether a file of a folder comes with Assay."""
    return shipped(folder).get(path.stem) == path


def find_file(ref: str, folder: Path, base: Path | None) -> tuple[Path, str]:
    """Where something is that is named by a shipped name or by a file, and its name for messages; not looked at yet.

    Args:
        ref: Shipped name, or path of a file.
        folder: Where that is which comes with Assay.
        base: Where relative paths start; None: the working directory.
    """
    path = shipped(folder).get(ref)
    return (path, path.name) if path is not None else ((base or Path()) / ref, ref)


def read_found(what: str, path: Path, ref: str, folder: Path) -> bytes:
    """What `find_file` found.

    Args:
        what: Of what kind it is, such as `price book`.
        path: Where it is.
        ref: Its name, for messages.
        folder: Where that is which comes with Assay.

    Raises:
        AssayError: It cannot be read.
    """
    names = shipped(folder)
    if is_shipped(path, folder):
        return path.read_bytes()
    try:
        return read_named(path, ref, f"give a file, or one of: {', '.join(names)}", MOST_BYTES)
    except UnreadableError as error:
        if error.missing and "/" not in ref and not Path(ref).suffix:
            raise AssayError(f"there is no {what} `{ref}`", or_else(one_of(ref, names), "give a file")) from None
        raise


def load_book(ref: str, base: Path | None = None) -> Book:
    """A shipped book or a file.

    Args:
        ref: Name of a shipped book, or path of a file.
        base: Folder of the file that names it, where relative paths start; None: the user typed it, and it is the
            working directory.

    Raises:
        AssayError: There is none, or the file is wrong; the message names the line.
    """
    path, file = find_file(ref, BOOKS, base)
    is_ours = is_shipped(path, BOOKS)
    data = read_found(WHAT, path, file, BOOKS)
    naming = Naming(base, is_ours or base is None)
    with unquoted(file, "a price book", f"assay prices check {file}", naming, path, data):
        return _read(data, file, is_ours)


@lru_cache(maxsize=32)
def _read(data: bytes, file: str, shipped: bool) -> Book:
    """What a file says; by what is in it, so that a file that was changed is read anew."""
    return read_model(Book, data, file, GUIDE, WHAT, shipped)
