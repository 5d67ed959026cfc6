"""Finds boxes that are up, and removes the remains of others."""

import contextlib
from pathlib import Path

from assay.model.base import AssayError
from assay.rooms.testbed.work.clean import remove_lost_disks, remove_parts
from assay.rooms.testbed.work.folders import box_folders, box_lock, untrusted_folders
from assay.rooms.testbed.work.running import RunningBox
from assay.rooms.testbed.work.state import is_up, read_state


def running_boxes() -> tuple[RunningBox, ...]:
    """Return all boxes that are up, sorted by name."""
    found = []
    for folder in box_folders():
        state = read_state(folder)
        if state is not None and is_up(state):
            found.append(RunningBox(folder, state))
    return tuple(found)


def remove_dead_boxes() -> tuple[list[str], list[str]]:
    """Remove the remains of boxes that died or were never finished.

    Returns:
        Names of the boxes that were removed; and what could not be removed, one line each.
    """
    names, problems = [], untrusted_folders()
    for folder in box_folders():
        # A box that another process is bringing up or taking down is locked, and left to that process.
        if not _has_remains(folder):
            continue
        with contextlib.suppress(AssayError), box_lock(folder.name, 0.0) as locked_folder:
            if _has_remains(locked_folder):
                failures = remove_parts(locked_folder)
                names += [] if failures else [locked_folder.name]
                problems += failures
    return names, problems + remove_lost_disks()


def _has_remains(folder: Path) -> bool:
    """Return whether a folder has remains of a box that is not up; an empty folder does not count."""
    if is_up(read_state(folder)):
        return False
    with contextlib.suppress(FileNotFoundError):
        return any(folder.iterdir())
    return False
