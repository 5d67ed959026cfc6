"""Finds what a command shows: a stored run, or one that is made for the command of what other tools wrote."""

import atexit
import contextlib
from pathlib import Path

from assay.model.room import hook
from assay.store import find_run

_made: dict[str, Path] = {}
_folders = contextlib.ExitStack()


def find_shown_run(ref: str, root: Path) -> Path:
    """Return the folder of a run, as `find_run` does; what other tools wrote becomes a run that does not last.

    Args:
        ref: As in `find_run`; or a file of another tool, or a folder of such files.
        root: Folder of all runs, in which nothing is made.

    Raises:
        AssayError: There is no such run, or nothing that could become one.
    """
    return find_run(ref, root, _temporary_run)


def _temporary_run(path: str) -> Path:
    from assay.journal.trees import scratch_folder

    if path not in _made:
        folder = _folders.enter_context(scratch_folder("assay-import-"))
        _made[path] = hook("run_of_outputs")(path, folder)
    return _made[path]


def is_temporary(folder: str | Path) -> bool:
    """Whether a run is removed when the command ends."""
    return Path(folder) in _made.values()


def remove_temporary_runs() -> None:
    """Remove what `find_shown_run` made; a command does so when it ends, a user's own program at its end."""
    _made.clear()
    _folders.close()


atexit.register(remove_temporary_runs)
