"""Caps the engine's memory, page cache included, with a memory control group, version 1 or 2."""

import contextlib
import errno
import os
import re
import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from assay.model.base import EXIT_REFUSED, AssayError
from assay.model.escape import escape_line

if TYPE_CHECKING:
    from assay.journal.entry import Entry, Journal

ROOT = Path("/sys/fs/cgroup")
PREFIX = "assay-"
REMOVE_SECONDS = 5.0
MEMBERS_FILE = "cgroup.procs"
"""A file that every control group contains."""
_NAME = re.compile(r"assay-(?P<run>\d{8}-\d{6}-[A-Za-z0-9._-]+|probe|doctor)-(?P<pid>\d+)")
"""Names of groups: the run (or `probe`, `doctor`), and the process id of the workbench that made it."""


@dataclass(frozen=True)
class MemoryController:
    """The memory controller of a machine.

    Attributes:
        version: Version of control groups, 1 or 2.
        folder: Folder in which a new folder makes a group.
        limit_file: File of a group to which the limit is written, in bytes.
    """

    version: int
    folder: Path
    limit_file: str


def find_controller(root: Path = ROOT) -> MemoryController:
    """Find the memory controller of this machine.

    Raises:
        AssayError: There is none, or this user may not make groups in it.
    """
    hint = "use cache: direct, drop or evict instead, or run as root on a host with a memory controller"
    if (root / "memory" / "memory.limit_in_bytes").exists():
        found = MemoryController(1, root / "memory", "memory.limit_in_bytes")
    elif (root / "cgroup.controllers").exists() and "memory" in (root / "cgroup.controllers").read_text().split():
        found = MemoryController(2, root, "memory.max")
    else:
        raise AssayError(f"memory cannot be capped: no memory control groups below {root}", hint, EXIT_REFUSED)
    if not os.access(found.folder, os.W_OK):
        raise AssayError(f"memory cannot be capped: no right to make groups in {found.folder}", hint, EXIT_REFUSED)
    return found


class MemoryCap:
    """A memory group. The engine is put in before it gets its job, so that all its memory counts."""

    def __init__(self, run_id: str, limit: int, journal: "Journal", controller: MemoryController | None = None) -> None:
        """Choose the name of the group; make nothing yet.

        Args:
            run_id: Run that it belongs to.
            limit: Bytes.
            journal: Journal in which it is recorded before it is made.
            controller: The memory controller; `find_hierarchy` finds it if None.
        """
        self.limit = limit
        self.journal = journal
        self.entry: int | None = None
        self.hierarchy = controller or find_controller()
        self.path = self.hierarchy.folder / f"{PREFIX}{run_id}-{os.getpid()}"

    def create(self) -> None:
        """Make the group and set its limit.

        Raises:
            AssayError: The kernel refuses.
        """
        from assay.journal.entry import CGROUP

        self.entry = self.journal.record(CGROUP, str(self.path))
        try:
            if self.hierarchy.version == 2:
                (self.hierarchy.folder / "cgroup.subtree_control").write_text("+memory")
            self.path.mkdir(exist_ok=True)
            (self.path / self.hierarchy.limit_file).write_text(str(self.limit))
            if self.hierarchy.version == 2 and (self.path / "memory.swap.max").exists():
                (self.path / "memory.swap.max").write_text("0")
        except OSError as error:
            self.remove()
            raise AssayError(
                f"memory cannot be capped at {self.limit} bytes: {self.path}: {error.strerror}",
                "use cache: direct, drop or evict instead, or run as root",
                EXIT_REFUSED,
            ) from error

    def add(self, pid: int) -> None:
        """Put a process into the group.

        Raises:
            AssayError: The kernel refuses.
        """
        try:
            (self.path / "cgroup.procs").write_text(str(pid))
        except OSError as error:
            raise AssayError(f"memory cannot be capped: {self.path}: {error.strerror}", "", EXIT_REFUSED) from error

    def was_oom_killed(self) -> bool:
        """Whether the kernel has killed a process of the group because the limit was reached."""
        name = "memory.events" if self.hierarchy.version == 2 else "memory.oom_control"
        try:
            counts = dict(line.split() for line in (self.path / name).read_text().splitlines())
        except (OSError, ValueError):
            return False
        return int(counts.get("oom_kill", 0)) > 0

    def remove(self) -> bool:
        """Remove the group and record that in the journal; return whether it is gone."""
        gone = remove_group(self.path)
        if gone and self.entry is not None:
            self.journal.mark_removed(self.entry)
        return gone


def memory_cap_fault() -> str | None:
    """Return why memory cannot be capped here, found by making and removing a group; None if it can be."""
    from assay.journal.process_journal import process_journal

    try:
        with process_journal() as journal:
            cap = MemoryCap("probe", 64 << 20, journal)
            cap.create()
            cap.remove()
    except AssayError as error:
        return error.message
    return None


def remove_group(path: Path) -> bool:
    """Remove a group whose processes have ended or are about to; return whether it is gone.

    A directory that is no control group stays, even if it is empty: a group always has files, and of directories with
    files rmdir(2) removes only groups.
    """
    end = time.monotonic() + REMOVE_SECONDS
    while True:
        try:
            if not (path / MEMBERS_FILE).exists():
                return not os.path.lexists(path)
            path.rmdir()
        except FileNotFoundError:
            return True
        except OSError as error:
            if error.errno != errno.EBUSY or time.monotonic() > end:
                return False
            time.sleep(0.05)
        else:
            return True


def release_group(name: str, run_id: str, root: Path = ROOT) -> list[str]:
    """Remove a group that a journal names, if it is one of this run; return why it is still there, as one line or none.

    Args:
        name: Path of the group in the journal; not trusted, since a run's folder may come from another user.
        run_id: The run, or `probe` or `doctor`.
        root: Folder of all control groups.
    """
    path = Path(name)
    if not os.path.lexists(path):
        return []
    found = _NAME.fullmatch(path.name)
    try:
        folder = find_controller(root).folder
    except AssayError as error:
        return [f"{escape_line(name)}: {error.message}"]
    if path.parent != folder or found is None or found["run"] != run_id or path.is_symlink():
        return [f"{escape_line(name)}: is not a memory group of run {escape_line(run_id)}: left alone"]
    return [] if remove_group(path) else [f"{name}: still in use, or not a control group"]


def remove_leftovers(root: Path = ROOT) -> list[Path]:
    """Remove groups of workbenches that died; return those that could not be removed.

    Groups of runs are found by their names, since the journals of other runs may be anywhere.
    """
    from assay.journal.entry import CGROUP
    from assay.journal.process_journal import remove_orphans

    remove_orphans({CGROUP: lambda entry: _release_orphan(entry, root)})
    left = []
    for folder in (root / "memory", root):
        for group in folder.glob(f"{PREFIX}*-*"):
            found = _NAME.fullmatch(group.name)
            if found is None or Path("/proc", found["pid"]).exists() or not (group / MEMBERS_FILE).exists():
                continue
            with contextlib.suppress(OSError):
                group.rmdir()
            if group.exists():
                left.append(group)
    return left


def _release_orphan(entry: "Entry", root: Path) -> list[str]:
    """Remove a group of a `probe` or `doctor` process that died."""
    found = _NAME.fullmatch(Path(entry.name).name)
    return release_group(entry.name, found["run"] if found is not None else "", root)
