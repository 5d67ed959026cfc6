"""Price books by name or file."""

from pathlib import Path

from assay.model.base import AssayError
from assay.model.files import read_model
from assay.model.price import Book
from assay.model.units import one_of

BOOKS = Path(__file__).with_name("books")
GUIDE = "docs/guides/prices.md"
WHAT = "price book"


def book_names() -> list[str]:
    """The books that come with Assay."""
    return sorted(path.stem for path in BOOKS.glob("*.yaml"))


def load_book(ref: str, base: Path | None = None) -> Book:
    """A shipped book or a file.

    Args:
        ref: Name of a shipped book, or path of a file.
        base: Where relative paths start; None: the working directory.

    Raises:
        AssayError: There is none, or the file is wrong; the message names the line.
    """
    shipped = ref in book_names()
    path = BOOKS / f"{ref}.yaml" if shipped else (base or Path()) / ref
    if not shipped and "/" not in ref and not path.suffix and not path.is_file():
        raise AssayError(f"there is no price book `{ref}`", f"{one_of(ref, book_names())}; or give a file")
    try:
        data = path.read_bytes()
    except OSError as error:
        raise AssayError(f"{ref}: {error.strerror}", f"give a file, or one of: {', '.join(book_names())}") from None
    return read_model(Book, data, path.name if shipped else ref, GUIDE, WHAT)
