"""Price books by name or file."""

import os
import stat
from collections.abc import Sequence
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


def find_file(what: str, ref: str, shipped: Sequence[str], folder: Path, base: Path | None) -> tuple[Path, str]:
    """Where something is that is named by a shipped name or by a file, and its name for messages.

    Args:
        what: Of what kind, such as `price book`.
        ref: Shipped name, or path of a file.
        shipped: Names of what comes with Assay.
        folder: Where that is, as NAME.yaml.
        base: Where relative paths start; None: the working directory.

    Raises:
        AssayError: It is neither.
    """
    if ref in shipped:
        path = folder / f"{ref}.yaml"
        return path, path.name
    path = (base or Path()) / ref
    if "/" not in ref and not path.suffix and not path.exists():
        raise AssayError(f"there is no {what} `{ref}`", f"{one_of(ref, shipped)}; or give a file")
    return path, ref


def load_book(ref: str, base: Path | None = None) -> Book:
    """A shipped book or a file.

    Args:
        ref: Name of a shipped book, or path of a file.
        base: Where relative paths start; None: the working directory.

    Raises:
        AssayError: There is none, or the file is wrong; the message names the line.
    """
    names = book_names()
    path, file = find_file("price book", ref, names, BOOKS, base)
    data = read_regular(path, ref, f"give a file, or one of: {', '.join(names)}")
    return read_model(Book, data, file, GUIDE, WHAT)
