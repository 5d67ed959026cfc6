"""Journals of processes, for things of no run and no box, and the removal of what dead processes left."""

import contextlib
import itertools
import os
import re
import stat
from collections.abc import Iterator, Mapping
from pathlib import Path

from assay.journal.file import FileJournal
from assay.journal.processes import ProcessIdentity, start_time
from assay.journal.removal import Remover, remove_open
from assay.model.base import EXIT_REFUSED, AssayError

ROOT = Path("/run/assay/journals")
FOLDER_VARIABLE = "ASSAY_JOURNALS"
"""Environment variable that names another folder for journals."""
ATTEMPTS = 100
"""Attempts to make a journal: another process may remove the empty folder between two of our steps."""
_NAME = re.compile(r"(?P<pid>\d+)-(?P<start>\d+)-\d+")
_count = itertools.count(1)


def journals_root() -> Path:
    """Return the folder of this user's journals; like everything they name, it is gone after a reboot."""
    override = os.environ.get(FOLDER_VARIABLE)
    if override:
        return Path(override).absolute()
    uid = os.geteuid()
    return ROOT if uid == 0 else Path(os.environ.get("XDG_RUNTIME_DIR", f"/run/user/{uid}")) / "assay" / "journals"


@contextlib.contextmanager
def process_journal() -> Iterator[FileJournal]:
    """Open a journal of this process; the `with` block removes it at its end if it has no open entries.

    Raises:
        AssayError: It cannot be written.
    """
    pid = os.getpid()
    path = journals_root() / f"{pid}-{start_time(pid) or 0}-{next(_count)}"
    journal = _begin(path)
    try:
        yield journal
    finally:
        _end(journal)


def remove_orphans(removers: Mapping[str, Remover]) -> list[str]:
    """Remove what processes that died have recorded and not removed.

    Args:
        removers: Kind -> remover, as for `remove_open`.

    Returns:
        One line for each thing that is still there, with the reason.
    """
    left: list[str] = []
    root = journals_root()
    if _ownership_fault(root) or not root.is_dir():
        return left
    for path in sorted(root.iterdir()):
        found = _NAME.fullmatch(path.name)
        if found is None or ProcessIdentity(int(found["pid"]), int(found["start"])).is_alive:
            continue
        with contextlib.suppress(AssayError):
            journal = FileJournal(path)
            left += remove_open(journal, removers)
            _end(journal)
    return left


def _begin(path: Path) -> FileJournal:
    for _ in range(ATTEMPTS):
        try:
            path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        except OSError as error:
            raise AssayError(
                f"{path.parent}: {error.strerror}", f"set {FOLDER_VARIABLE} to a folder", EXIT_REFUSED
            ) from error
        if fault := _ownership_fault(path.parent):
            raise AssayError(fault, f"remove it, or set {FOLDER_VARIABLE} to another folder", EXIT_REFUSED)
        try:
            return FileJournal(path)
        except AssayError as error:
            if not isinstance(error.__cause__, FileNotFoundError):
                raise
    raise AssayError(
        f"{path.parent}: another process keeps removing it", f"set {FOLDER_VARIABLE} to another folder", EXIT_REFUSED
    )


def _end(journal: FileJournal) -> None:
    """Close a journal, and remove it if it has no open entries; remove its folder if it was the last."""
    journal.close()
    if not journal.entries():
        journal.path.unlink(missing_ok=True)
    with contextlib.suppress(OSError):
        journal.path.parent.rmdir()
        if journal.path.parent == ROOT:
            ROOT.parent.rmdir()


def _ownership_fault(folder: Path) -> str:
    """Return why a folder belongs to another user, or others may write into it; empty if it is, or does not exist."""
    try:
        status = folder.lstat()
    except OSError:
        return ""
    if not stat.S_ISDIR(status.st_mode):
        return f"{folder}: is not a folder"
    is_private = status.st_uid == os.geteuid() and not status.st_mode & 0o022
    return "" if is_private else f"{folder}: belongs to another user, or others may write into it"
