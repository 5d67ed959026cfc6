"""Runs that nobody keeps: their folder lies with the other runs, and goes when they are over.

It is there and not in a temporary folder, because the mark of a place leads to it: who finds the mark of a first look
that was killed sees in the folder that it is over, long after temporary folders were cleaned.
"""

import contextlib
import secrets
from collections.abc import Iterator
from pathlib import Path

from assay.journal.trees import make_folder
from assay.launch.binary import find_engine
from assay.launch.launcher import LocalLauncher
from assay.model.base import AssayError, Say, warning
from assay.plan.load import load_study
from assay.run.claims import release_targets
from assay.store import RunStore
from assay.store.entries import remove_folder

PREFIX = ".first-look-"


@contextlib.contextmanager
def first_look(runs: Path, say: Say) -> Iterator[Path]:
    """A folder for a run that nobody keeps; what first looks that were killed have left goes before.

    Args:
        runs: Folder of the runs; made if it is not there, and removed if nothing comes into it.
        say: Takes what could not be removed.

    Raises:
        AssayError: It cannot be made.
    """
    there = runs.exists()
    folder = runs / f"{PREFIX}{secrets.token_hex(8)}"
    try:
        runs.mkdir(parents=True, exist_ok=True)
        for left in sorted(runs.glob(f"{PREFIX}*")):
            _finish(left, say)
        make_folder(folder)
    except OSError as error:
        raise AssayError(f"{folder}: {error.strerror}", "name another folder with --out") from error
    try:
        yield folder
    finally:
        _remove(folder)
        if not there:
            with contextlib.suppress(OSError):
                runs.rmdir()


def _finish(folder: Path, say: Say) -> None:
    """Give back what a first look that was killed has claimed, and remove its folder; one at work stays as it is."""
    if folder.is_symlink():
        return
    for run in [path for path in folder.iterdir() if path.is_dir() and not path.is_symlink()]:
        try:
            store = RunStore.open(run, write=True)
        except AssayError:
            return
        try:
            study = load_study(store.study_text().encode(), store.base()).study
            left = release_targets(store, study, LocalLauncher(find_engine()))
        except AssayError as error:
            left = [error.message]
        finally:
            store.close()
        for line in left:
            say(warning(f"of a first look that was killed: {line}"))
        if left:
            return
    _remove(folder)


def _remove(folder: Path) -> None:
    """Remove the files of its runs, and it; whatever else it holds stays, and so does it."""
    with contextlib.suppress(OSError):
        for run in list(folder.iterdir()):
            remove_folder(run)
        folder.rmdir()
