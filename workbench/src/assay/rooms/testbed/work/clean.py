"""Removes a box in any state: everything that its journal names, and nothing else."""

import contextlib
import os
import time
from pathlib import Path

from assay.journal.trees import LEFT, remove_known
from assay.launch.cgroup import remove_group
from assay.model.base import EXIT_REFUSED, AssayError
from assay.model.site.box_servers import NAME_PATTERN
from assay.rooms.testbed.work import journal
from assay.rooms.testbed.work.disks import detach_loops, group_fault, remove_images
from assay.rooms.testbed.work.folders import (
    LOCK_TIMEOUT_SECONDS,
    MARKER,
    STATE,
    box_lock,
    boxes_root,
    disks_root,
    ownership_fault,
    owning_box,
    remove_empty,
)
from assay.rooms.testbed.work.process import inits_of, kill_inits, wait_reaped
from assay.rooms.testbed.work.servers import SECRETS
from assay.rooms.testbed.work.users import ACCOUNTS

BOX_FILES = frozenset({"hosts", *ACCOUNTS, "ssh", "ssh_config", "servers", "private", SECRETS, STATE, f"{STATE}.new"})
"""Names in the folder of a box, except the journal."""
KILL_SECONDS = 10.0
REAP_SECONDS = 10.0
"""Longest wait until ended processes are reaped: process 1 of some containers reaps only every few seconds."""
FILES_SECONDS = 2.0
"""Longest time that a program of a killed `up` may still write into the folder of the box."""


def take_down(name: str) -> str:
    """Remove a box.

    Returns:
        A note on ended processes that are not reaped yet, which hold no resources; empty if there are none.

    Raises:
        AssayError: No box has that name, the name is not valid, another process is changing the box, or something
            could not be removed.
    """
    if NAME_PATTERN.fullmatch(name) and not (boxes_root() / name).is_dir():
        raise AssayError(f"no box {name} is up", "`assay testbed status` lists the boxes")
    with box_lock(name, LOCK_TIMEOUT_SECONDS) as folder:
        made = journal.read_journal(folder) or journal.BoxRecord()
        problems = remove_parts(folder)
    if problems:
        raise AssayError(
            f"box {name} could not be removed completely: {'; '.join(problems)}",
            "stop what uses it, and take it down again",
        )
    return _unreaped_note(made)


def _unreaped_note(made: journal.BoxRecord) -> str:
    left = [str(process.pid) for process in wait_reaped(made.processes(), 0.0)]
    return f"ended, but not yet reaped by the parent process: pid {', '.join(left)}" if left else ""


def remove_parts(folder: Path) -> list[str]:
    """Remove everything of the box in a locked folder, but not the folder itself.

    The entries of its journal are verified first: a process must be an init of this box; a control group and the disks
    must have its name and lie where those of boxes lie.

    Returns:
        What could not be removed, one line each. In that case the journal stays for a later attempt.
    """
    if not (folder / journal.NAME).exists():
        return [f"{folder}: has no journal of a box: left alone"] if any(folder.iterdir()) else []
    made = journal.read_journal(folder) or journal.BoxRecord()
    problems = _end_processes(folder, made)
    if not problems and made.disks is not None:
        problems += clean_disks(made.disks, folder)
    problems += [problem for group in made.groups if (problem := _remove_group(group, folder))]
    if not problems:
        problems += _remove_files(folder)
    wait_reaped(made.processes(), REAP_SECONDS)
    return problems


def _end_processes(folder: Path, made: journal.BoxRecord) -> list[str]:
    """End the inits of a box. An init that a killed `up` did not record ends by itself, and is waited for."""
    problems = [f"process {one.pid}: has not ended" for one in kill_inits(made.processes(), folder, KILL_SECONDS)]
    end = time.monotonic() + KILL_SECONDS
    while not problems and (others := inits_of(folder)):
        if time.monotonic() > end:
            return [f"process {one.pid}: has not ended" for one in others]
        time.sleep(0.01)
    return problems


def _remove_group(group: Path, folder: Path) -> str:
    """Remove a control group of the journal; return why it is still there, empty if it is gone."""
    if not os.path.lexists(group):
        return ""
    return group_fault(group, folder) or ("" if remove_group(group) else f"{group}: still in use")


def clean_disks(disks: Path, box: Path) -> list[str]:
    """Remove a folder of disks if it belongs to a box; return what could not be removed, one line each."""
    if not os.path.lexists(disks):
        return []
    if disks != disks_root() / box.name:
        return [f"{disks}: is not where the disks of box {box.name} are: left alone"]
    problem = ownership_fault(disks.parent) or ownership_fault(disks)
    if problem:
        return [f"{problem}: left alone"]
    if owning_box(disks) != box and any(disks.iterdir()):
        return [f"{disks}: holds files that are not of this box"]
    problems = detach_loops(disks) or remove_images(disks, MARKER)
    if not problems:
        remove_empty(disks_root())
    return problems


def _remove_files(folder: Path) -> list[str]:
    """Empty the folder of a box, the journal last; return what could not be removed, one line each."""
    end = time.monotonic() + FILES_SECONDS
    while True:
        problems = remove_known(folder, BOX_FILES.__contains__, journal.NAME)
        if not problems and not any(folder.iterdir()):
            return []
        lasting = bool(problems) and all(problem.endswith(LEFT) for problem in problems)
        if lasting or time.monotonic() > end:
            return problems or [f"{folder}: something still writes into it"]
        time.sleep(0.01)


def remove_lost_disks() -> list[str]:
    """Remove disks whose box no longer exists, as after a reboot; return what could not be removed, one line each."""
    problems: list[str] = []
    root = disks_root()
    if problem := ownership_fault(root):
        return [problem]
    for disks in sorted(root.iterdir()) if root.is_dir() else []:
        box = owning_box(disks)
        if box is None or box.exists() or box != boxes_root() / disks.name:
            continue
        with contextlib.suppress(AssayError), box_lock(box.name, 0.0) as folder:
            # Another process may have brought up a box of that name in the meantime.
            if not (folder / journal.NAME).exists():
                problems += clean_disks(disks, box)
    return problems


def raise_if_left(problems: list[str]) -> None:
    """Refuse to go on while parts of an earlier box exist.

    Args:
        problems: What could not be removed, one line each.

    Raises:
        AssayError: `problems` is not empty.
    """
    if problems:
        message = f"the remains of an earlier box cannot be removed: {'; '.join(problems)}"
        raise AssayError(message, "stop what uses it, and try again", EXIT_REFUSED)
