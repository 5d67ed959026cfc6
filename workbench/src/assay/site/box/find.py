"""Boxes that are up, and what is left of those that are not."""

import contextlib
from pathlib import Path

from assay.model.base import AssayError
from assay.site.box.clean import clean, remove_lost_disks
from assay.site.box.folders import box_folders, foreign_folders, locked
from assay.site.box.running import RunningBox
from assay.site.box.state import is_up, read_state


def running_boxes() -> tuple[RunningBox, ...]:
    """All boxes that are up, by name."""
    found = []
    for folder in box_folders():
        state = read_state(folder)
        if state is not None and is_up(state):
            found.append(RunningBox(folder, state))
    return tuple(found)


def sweep() -> tuple[list[str], list[str]]:
    """Remove what is left of boxes that died or whose making was cut short.

    Returns:
        Names of the boxes of which what was left is removed, and what could not be removed.
    """
    names, problems = [], foreign_folders()
    for folder in box_folders():
        # One that is being brought up or taken down is locked; it is left to whoever does that.
        if not _is_left(folder):
            continue
        with contextlib.suppress(AssayError), locked(folder.name, 0.0) as again:
            if _is_left(again):
                left = clean(again)
                names += [] if left else [again.name]
                problems += left
    return names, problems + remove_lost_disks()


def _is_left(folder: Path) -> bool:
    """Whether a folder holds something of a box that is not up; an empty one may be somebody else's."""
    if is_up(read_state(folder)):
        return False
    with contextlib.suppress(FileNotFoundError):
        return any(folder.iterdir())
    return False
