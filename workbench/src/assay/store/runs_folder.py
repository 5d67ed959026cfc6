"""Checks whether runs can be stored in a folder."""

import errno
import os
from pathlib import Path

HINT = "choose another folder with --out"


def runs_folder_problem(root: Path) -> tuple[str, str] | None:
    """Return why no run can be stored in a folder, and how to mend that; None if one can.

    A missing folder counts as one that will be made.

    Args:
        root: Folder of all runs.
    """
    existing = root
    while not os.path.lexists(existing) and existing != existing.parent:
        existing = existing.parent
    number = 0
    if not existing.is_dir():
        number = errno.EEXIST if existing == root else errno.ENOTDIR
    elif not os.access(existing, os.W_OK | os.X_OK):
        number = errno.EROFS if os.statvfs(existing).f_flag & os.ST_RDONLY else errno.EACCES
    return not_stored(root, os.strerror(number)) if number else None


def not_stored(root: Path, reason: str) -> tuple[str, str]:
    """Return the message that a run cannot be stored in a folder, and how to mend that."""
    return f"{root}: cannot store runs here: {reason}", HINT
