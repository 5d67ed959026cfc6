"""Whether a run can be kept in a folder, found out by looking."""

import errno
import os
from pathlib import Path

HINT = "choose one with --out"


def keeping_problem(root: Path) -> tuple[str, str] | None:
    """Why no run can be kept in a folder, which is made if it is missing, and how to mend it; None if one can.

    Args:
        root: Folder of all runs.
    """
    there = root
    while not os.path.lexists(there) and there != there.parent:
        there = there.parent
    number = 0
    if not there.is_dir():
        number = errno.EEXIST if there == root else errno.ENOTDIR
    elif not os.access(there, os.W_OK | os.X_OK):
        number = errno.EROFS if os.statvfs(there).f_flag & os.ST_RDONLY else errno.EACCES
    return not_kept(root, os.strerror(number)) if number else None


def not_kept(root: Path, reason: str) -> tuple[str, str]:
    """That a run cannot be kept in a folder, and how to mend it."""
    return f"{root}: cannot keep the run here: {reason}", HINT
