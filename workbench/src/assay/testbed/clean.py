"""Removing a box, whatever state it is in: what its journal names, and nothing else."""

import contextlib
import shutil
import time
from pathlib import Path

from assay.model.base import EXIT_REFUSED, AssayError
from assay.testbed import journal
from assay.testbed.disks import detach_loops, remove_group, remove_images
from assay.testbed.folders import MARKER, PATIENCE_SECONDS, boxes_root, disks_root, locked, owner, remove_empty
from assay.testbed.process import kill

KILL_SECONDS = 10.0
FILES_SECONDS = 2.0
"""Longest that a program of a killed `up` may go on writing into the box's folder."""


def take_down(name: str) -> None:
    """Remove a box.

    Raises:
        AssayError: There is none of that name, it is being changed, or something could not be removed.
    """
    if not (boxes_root() / name).is_dir():
        raise AssayError(f"no box {name} is up", "`assay testbed status` lists the boxes")
    with locked(name, PATIENCE_SECONDS) as folder:
        problems = clean(folder)
    if problems:
        raise AssayError(
            f"box {name} is not wholly removed: {'; '.join(problems)}", "end what uses it, and take it down again"
        )


def clean(folder: Path) -> list[str]:
    """Remove everything of the box in a locked folder; the folder itself stays.

    Returns:
        What could not be removed, one line each; then the journal stays, so that a later try finds it.
    """
    made = journal.read_journal(folder) or journal.Made()
    problems = [f"process {process.pid}: has not ended" for process in kill(made.processes(), KILL_SECONDS)]
    if not problems and made.disks is not None:
        problems += clean_disks(made.disks, folder)
    problems += [f"{group}: still in use" for group in made.groups if not remove_group(group)]
    if not problems:
        problems += _remove_files(folder)
    return problems


def clean_disks(disks: Path, box: Path) -> list[str]:
    """Remove a folder of disks if it is of this box; returns what could not be removed."""
    belongs = owner(disks) == box
    if not belongs and disks.is_dir() and any(disks.iterdir()):
        return [f"{disks}: holds files that are not of this box"]
    problems = detach_loops(disks) or remove_images(disks, MARKER)
    if not problems:
        remove_empty(disks_root())
    return problems


def _remove_files(folder: Path) -> list[str]:
    """Empty a box's folder, the journal last."""
    end = time.monotonic() + FILES_SECONDS
    while True:
        try:
            for path in folder.iterdir():
                if path.name != journal.NAME:
                    _remove(path)
            (folder / journal.NAME).unlink(missing_ok=True)
            if not any(folder.iterdir()):
                return []
        except FileNotFoundError:
            continue
        except OSError as error:
            if time.monotonic() > end:
                return [f"{error.filename or folder}: {error.strerror}"]
        if time.monotonic() > end:
            return [f"{folder}: something still writes into it"]
        time.sleep(0.01)


def _remove(path: Path) -> None:
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    else:
        path.unlink()


def remove_lost_disks() -> list[str]:
    """Remove disks whose box is no more, as after a restart of the machine; returns what could not be removed."""
    problems: list[str] = []
    root = disks_root()
    for disks in sorted(root.iterdir()) if root.is_dir() else []:
        box = owner(disks)
        if box is None or box.exists() or box.parent != boxes_root():
            continue
        with contextlib.suppress(AssayError), locked(box.name, 0.0) as folder:
            # Somebody may have brought up a box of that name just now.
            if not (folder / journal.NAME).exists():
                problems += clean_disks(disks, box)
    return problems


def raise_if_left(problems: list[str]) -> None:
    """Refuse to go on while something of an earlier box is there.

    Raises:
        AssayError: Something is.
    """
    if problems:
        message = f"what an earlier box left cannot be removed: {'; '.join(problems)}"
        raise AssayError(message, "end what uses it, and try again", EXIT_REFUSED)
