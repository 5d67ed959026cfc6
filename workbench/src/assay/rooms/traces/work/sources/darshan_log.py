"""Logs of Darshan as they are on disk: a process of its own makes text of them, with the library of Darshan."""

import subprocess
import sys
from pathlib import Path

from assay.model.base import AssayError
from assay.model.extras import require
from assay.rooms.traces.work.sources import darshan_process

BEGINNING = 16
"""Bytes that show whether a file is a log."""
_MAGIC = 6567223
"""Second number of a log, in the order of bytes of its machine (darshan-log-format.h, DARSHAN_MAGIC_NR)."""
_TEXT_HINT = "give the text: darshan-dxt-parser LOG, or darshan-parser --show-incomplete LOG"


def is_log(beginning: bytes) -> bool:
    """Return whether a file with this beginning is a log of Darshan."""
    number = beginning[8:BEGINNING]
    return any(number == _MAGIC.to_bytes(8, order) for order in ("little", "big"))


def require_library(path: str) -> None:
    """Raise an error unless Darshan's library is installed."""
    require("darshan", f"{path}: a log of Darshan")


def as_text(path: str, folder: Path) -> str:
    """Write the text of a log into a folder.

    Returns:
        The path of the text.

    Raises:
        AssayError: It is damaged, or has no operations on files.
    """
    text, errors = folder / "darshan.txt", folder / "darshan.errors"
    with text.open("wb") as output, errors.open("wb") as wrong:
        words = [sys.executable, "-I", darshan_process.__file__, path]
        done = subprocess.run(words, stdin=subprocess.DEVNULL, stdout=output, stderr=wrong, check=False)
    if done.returncode == darshan_process.EXIT_NO_OPERATIONS:
        message = "this log of Darshan has no module POSIX, STDIO or DXT_POSIX"
        raise AssayError(f"{path}: {message}", "record with these modules")
    # The library says what is damaged on standard error only, and goes on.
    if done.returncode or errors.stat().st_size:
        raise AssayError(f"{path}: this log of Darshan cannot be read: it is damaged, or too large", _TEXT_HINT)
    return str(text)
