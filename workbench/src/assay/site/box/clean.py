"""Removing a box, whatever state it is in: what its journal names, and nothing else."""

import contextlib
import os
import time
from pathlib import Path

from assay.journal.trees import LEFT, remove_known
from assay.launch.cgroup import remove_group
from assay.model.base import EXIT_REFUSED, AssayError
from assay.model.site.serving import NAME
from assay.site.box import journal
from assay.site.box.disks import detach_loops, group_fault, remove_images
from assay.site.box.folders import (
    MARKER,
    PATIENCE_SECONDS,
    STATE,
    boxes_root,
    disks_root,
    foreign,
    locked,
    owner,
    remove_empty,
)
from assay.site.box.process import inits_of, kill, wait_gone
from assay.site.box.serving import SECRETS
from assay.site.box.users import ACCOUNTS

FILES = frozenset({"hosts", *ACCOUNTS, "ssh", "ssh_config", "servers", "private", SECRETS, STATE, f"{STATE}.new"})
"""What is in a box's folder besides the journal."""
KILL_SECONDS = 10.0
REAP_SECONDS = 10.0
"""Longest wait for the parent of processes that have ended: process 1 of some containers looks every few seconds."""
FILES_SECONDS = 2.0
"""Longest that a program of a killed `up` may go on writing into the box's folder."""


def take_down(name: str) -> str:
    """Remove a box.

    Returns:
        What of it is left that holds nothing; empty if nothing is.

    Raises:
        AssayError: There is none of that name, this is no name of a box, it is being changed, or something could not
            be removed.
    """
    if NAME.fullmatch(name) and not (boxes_root() / name).is_dir():
        raise AssayError(f"no box {name} is up", "`assay testbed status` lists the boxes")
    with locked(name, PATIENCE_SECONDS) as folder:
        made = journal.read_journal(folder) or journal.Made()
        problems = clean(folder)
    if problems:
        raise AssayError(
            f"box {name} is not wholly removed: {'; '.join(problems)}", "end what uses it, and take it down again"
        )
    return _unreaped(made)


def _unreaped(made: journal.Made) -> str:
    left = [str(process.pid) for process in wait_gone(made.processes(), 0.0)]
    return f"ended, but not reaped by their parent: process {', '.join(left)}" if left else ""


def clean(folder: Path) -> list[str]:
    """Remove everything of the box in a locked folder; the folder itself stays.

    What its journal says is checked first: a process must be an init of this box, a group and the disks must have its
    name and be where those of boxes are.

    Returns:
        What could not be removed, one line each; then the journal stays, so that a later try finds it.
    """
    if not (folder / journal.NAME).exists():
        return [f"{folder}: has no journal of a box: left alone"] if any(folder.iterdir()) else []
    made = journal.read_journal(folder) or journal.Made()
    problems = _end_processes(folder, made)
    if not problems and made.disks is not None:
        problems += clean_disks(made.disks, folder)
    problems += [problem for group in made.groups if (problem := _group_left(group, folder))]
    if not problems:
        problems += _remove_files(folder)
    wait_gone(made.processes(), REAP_SECONDS)
    return problems


def _end_processes(folder: Path, made: journal.Made) -> list[str]:
    """End the inits of a box; those that an `up` which was killed did not write down end by themselves."""
    problems = [f"process {one.pid}: has not ended" for one in kill(made.processes(), folder, KILL_SECONDS)]
    end = time.monotonic() + KILL_SECONDS
    while not problems and (others := inits_of(folder)):
        if time.monotonic() > end:
            return [f"process {one.pid}: has not ended" for one in others]
        time.sleep(0.01)
    return problems


def _group_left(group: Path, folder: Path) -> str:
    """Why a group of the journal is still there; empty if it is not."""
    if not os.path.lexists(group):
        return ""
    return group_fault(group, folder) or ("" if remove_group(group) else f"{group}: still in use")


def clean_disks(disks: Path, box: Path) -> list[str]:
    """Remove a folder of disks if it is of this box; returns what could not be removed."""
    if not os.path.lexists(disks):
        return []
    if disks != disks_root() / box.name:
        return [f"{disks}: is not where the disks of box {box.name} are: left alone"]
    strange = foreign(disks.parent) or foreign(disks)
    if strange:
        return [f"{strange}: left alone"]
    if owner(disks) != box and any(disks.iterdir()):
        return [f"{disks}: holds files that are not of this box"]
    problems = detach_loops(disks) or remove_images(disks, MARKER)
    if not problems:
        remove_empty(disks_root())
    return problems


def _remove_files(folder: Path) -> list[str]:
    """Empty a box's folder, the journal last."""
    end = time.monotonic() + FILES_SECONDS
    while True:
        problems = remove_known(folder, FILES.__contains__, journal.NAME)
        if not problems and not any(folder.iterdir()):
            return []
        lasting = bool(problems) and all(problem.endswith(LEFT) for problem in problems)
        if lasting or time.monotonic() > end:
            return problems or [f"{folder}: something still writes into it"]
        time.sleep(0.01)


def remove_lost_disks() -> list[str]:
    """Remove disks whose box is no more, as after a restart of the machine; returns what could not be removed."""
    problems: list[str] = []
    root = disks_root()
    if strange := foreign(root):
        return [strange]
    for disks in sorted(root.iterdir()) if root.is_dir() else []:
        box = owner(disks)
        if box is None or box.exists() or box != boxes_root() / disks.name:
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
