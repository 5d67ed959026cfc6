"""Price books by name or file."""

import os
import stat
from pathlib import Path

from assay.model.base import AssayError
from assay.model.files import read_model
from assay.model.price import Book
from assay.model.units import one_of

BOOKS = Path(__file__).with_name("books")
GUIDE = "docs/guides/prices.md"
WHAT = "price book"
MOST_BYTES = 16 << 20
"""Of a book or a design; the largest shipped one has 30 kB."""


def book_names() -> list[str]:
    """The books that come with Assay."""
    return sorted(path.stem for path in BOOKS.glob("*.yaml"))


def read_regular(path: Path, ref: str, hint: str) -> bytes:
    """A file as it is.

    Args:
        path: Where it is.
        ref: Its name, for the message.
        hint: What else to give.

    Raises:
        AssayError: It cannot be read, is no regular file, or is far too large.
    """
    try:
        # Opened without waiting: a FIFO without a writer would keep us for ever, and a device may have no end.
        with os.fdopen(os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC), "rb") as file:
            if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
                raise AssayError(f"{ref}: not a regular file", hint)
            data = file.read(MOST_BYTES + 1)
    except (OSError, ValueError) as error:
        raise AssayError(f"{ref}: {getattr(error, 'strerror', None) or error}", hint) from None
    if len(data) > MOST_BYTES:
        raise AssayError(f"{ref}: larger than {MOST_BYTES >> 20} MiB", hint)
    return data


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
    if not shipped and "/" not in ref and not path.suffix and not path.exists():
        raise AssayError(f"there is no price book `{ref}`", f"{one_of(ref, book_names())}; or give a file")
    data = read_regular(path, ref, f"give a file, or one of: {', '.join(book_names())}")
    return read_model(Book, data, path.name if shipped else ref, GUIDE, WHAT)
