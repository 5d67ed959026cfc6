"""The journals of processes, for what belongs to no run and no box; and what is left of processes that died."""

import contextlib
import itertools
import os
import re
import stat
from collections.abc import Iterator, Mapping
from pathlib import Path

from assay.journal.file import FileJournal
from assay.journal.owner import Process, start_time
from assay.journal.removal import Remover, remove_open
from assay.model.base import EXIT_REFUSED, AssayError

ROOT = Path("/run/assay/journals")
NAMED = "ASSAY_JOURNALS"
"""Variable that moves the folder of journals."""
TRIES = 100
"""Others may remove the folder, which is empty for them, between two steps of ours."""
_NAME = re.compile(r"(?P<pid>\d+)-(?P<start>\d+)-\d+")
_count = itertools.count(1)


def journals_root() -> Path:
    """Where the journals of this user's processes are; in memory, as all that they name."""
    named = os.environ.get(NAMED)
    if named:
        return Path(named).absolute()
    uid = os.geteuid()
    return ROOT if uid == 0 else Path(os.environ.get("XDG_RUNTIME_DIR", f"/run/user/{uid}")) / "assay" / "journals"


@contextlib.contextmanager
def own_journal() -> Iterator[FileJournal]:
    """A journal of this process, which goes at the end of the `with` block if nothing is left that it names.

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
    """Remove what processes that died have recorded and left.

    Args:
        removers: As of `remove_open`.

    Returns:
        Why things are still there, one line each.
    """
    left: list[str] = []
    root = journals_root()
    if _strange(root) or not root.is_dir():
        return left
    for path in sorted(root.iterdir()):
        found = _NAME.fullmatch(path.name)
        if found is None or Process(int(found["pid"]), int(found["start"])).alive:
            continue
        with contextlib.suppress(AssayError):
            journal = FileJournal(path)
            left += remove_open(journal, removers)
            _end(journal)
    return left


def _begin(path: Path) -> FileJournal:
    for _ in range(TRIES):
        try:
            path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        except OSError as error:
            raise AssayError(f"{path.parent}: {error.strerror}", f"set {NAMED} to a folder", EXIT_REFUSED) from error
        if strange := _strange(path.parent):
            raise AssayError(strange, f"see what it is, or set {NAMED} to another folder", EXIT_REFUSED)
        try:
            return FileJournal(path)
        except AssayError as error:
            if not isinstance(error.__cause__, FileNotFoundError):
                raise
    raise AssayError(f"{path.parent}: is removed again and again", f"set {NAMED} to another folder", EXIT_REFUSED)


def _end(journal: FileJournal) -> None:
    """Remove a journal that names nothing any more, and its folder when it was the last."""
    journal.close()
    if not journal.journal():
        journal.path.unlink(missing_ok=True)
    with contextlib.suppress(OSError):
        journal.path.parent.rmdir()
        if journal.path.parent == ROOT:
            ROOT.parent.rmdir()


def _strange(folder: Path) -> str:
    """Why a folder is not this user's alone; empty if it is, or is not there."""
    try:
        found = folder.lstat()
    except OSError:
        return ""
    if not stat.S_ISDIR(found.st_mode):
        return f"{folder}: is not a folder"
    ours = found.st_uid == os.geteuid() and not found.st_mode & 0o022
    return "" if ours else f"{folder}: is not this user's alone"
