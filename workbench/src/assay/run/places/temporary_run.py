"""Runs that are not kept: their folder is next to the other runs, and is removed when they are over.

It is not a temporary folder because the mark of a place names it: long after temporary folders were cleaned, a process
that finds the mark of a killed first look sees in the folder that the run is over.
"""

import contextlib
import secrets
from collections.abc import Iterator
from pathlib import Path

from assay.journal.trees import make_folder
from assay.launch.binary import find_engine
from assay.launch.launcher import LocalLauncher
from assay.model.base import AssayError, PrintLine, warning
from assay.plan.load import load_study
from assay.run.places.claims import release_targets
from assay.store import RunStore
from assay.store.entries import remove_folder

PREFIX = ".first-look-"


@contextlib.contextmanager
def temporary_run_folder(runs: Path, print_line: PrintLine) -> Iterator[Path]:
    """Yield a folder for a run that is not kept; leftovers of killed first looks are removed before.

    Args:
        runs: Folder of the runs; made if missing, and removed if it stays empty.
        print_line: Prints a line for each thing that could not be removed.

    Raises:
        AssayError: The folder cannot be made.
    """
    existed = runs.exists()
    folder = runs / f"{PREFIX}{secrets.token_hex(8)}"
    try:
        runs.mkdir(parents=True, exist_ok=True)
        for leftover in sorted(runs.glob(f"{PREFIX}*")):
            _clean_up(leftover, print_line)
        make_folder(folder)
    except OSError as error:
        raise AssayError(f"{folder}: {error.strerror}", "name another folder with --out") from error
    try:
        yield folder
    finally:
        _remove(folder)
        if not existed:
            with contextlib.suppress(OSError):
                runs.rmdir()


def _clean_up(folder: Path, print_line: PrintLine) -> None:
    """Release what a killed first look has claimed, and remove its folder; one at work is left alone."""
    if folder.is_symlink():
        return
    for run in [path for path in folder.iterdir() if path.is_dir() and not path.is_symlink()]:
        try:
            store = RunStore.open(run, write=True)
        except AssayError:
            return
        try:
            study = load_study(store.study_text().encode(), store.base_folder(), folder=store.study_folder()).study
            problems = release_targets(store, study, LocalLauncher(find_engine()))
        except AssayError as error:
            problems = [error.message]
        finally:
            store.close()
        for line in problems:
            print_line(warning(f"left by an earlier measurement that was killed: {line}"))
        if problems:
            return
    _remove(folder)


def _remove(folder: Path) -> None:
    """Remove the files of its runs, then the folder; it stays if it holds anything else."""
    with contextlib.suppress(OSError):
        for run in list(folder.iterdir()):
            remove_folder(run)
        folder.rmdir()
