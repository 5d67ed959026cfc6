"""Price books by name or file."""

from collections.abc import Sequence
from pathlib import Path

from assay.model.base import AssayError
from assay.model.files import read_model
from assay.model.money.price import Book
from assay.model.named import UnreadableError, read_named
from assay.model.units import one_of
from assay.model.written import MOST_BYTES

BOOKS = Path(__file__).with_name("data")
GUIDE = "docs/guides/prices.md"
WHAT = "price book"


def book_names() -> list[str]:
    """The books that come with Assay."""
    return sorted(path.stem for path in BOOKS.glob("*.yaml"))


def find_file(ref: str, shipped: Sequence[str], folder: Path, base: Path | None) -> tuple[Path, str]:
    """Where something is that is named by a shipped name or by a file, and its name for messages; not looked at yet.

    Args:
        ref: Shipped name, or path of a file.
        shipped: Names of what comes with Assay.
        folder: Where that is, as NAME.yaml, or in a folder below.
        base: Where relative paths start; None: the working directory.
    """
    if ref in shipped:
        path = next(iter(folder.rglob(f"{ref}.yaml")))
        return path, path.name
    return (base or Path()) / ref, ref


def read_found(what: str, path: Path, ref: str, shipped: Sequence[str], folder: Path) -> bytes:
    """What `find_file` found.

    Args:
        what: Of what kind it is, such as `price book`.
        path: Where it is.
        ref: Its name, for messages.
        shipped: Names of what comes with Assay.
        folder: Where that is.

    Raises:
        AssayError: It cannot be read.
    """
    if folder in path.parents and path.stem in shipped:
        return path.read_bytes()
    try:
        return read_named(path, ref, f"give a file, or one of: {', '.join(shipped)}", MOST_BYTES)
    except UnreadableError as error:
        if error.missing and "/" not in ref and not Path(ref).suffix:
            raise AssayError(f"there is no {what} `{ref}`", f"{one_of(ref, shipped)}; or give a file") from None
        raise


def load_book(ref: str, base: Path | None = None) -> Book:
    """A shipped book or a file.

    Args:
        ref: Name of a shipped book, or path of a file.
        base: Where relative paths start; None: the working directory.

    Raises:
        AssayError: There is none, or the file is wrong; the message names the line.
    """
    names = book_names()
    path, file = find_file(ref, names, BOOKS, base)
    return read_model(Book, read_found(WHAT, path, file, names, BOOKS), file, GUIDE, WHAT)
