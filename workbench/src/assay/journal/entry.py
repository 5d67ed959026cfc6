"""Entries of journals, and the interface of every journal.

A run keeps its journal in its own folder, a box in its own; what belongs to neither is in the journal of its process
(`assay.journal.process_journal`). All journals have the same kinds of entries and are emptied in the same way.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Protocol

DIRECTORY = "directory"
"""A directory on this machine that was claimed or made."""
REMOTE = "directory of hosts"
"""A directory that was claimed on other hosts."""
EXPORT = "export"
"""Directories of a run in an export."""
JOB_EXTRAS = "made by a job"
"""What the engines of a job report as made beyond what the job names; it is removed with the job's directory."""
CGROUP = "cgroup"
"""A control group that caps the memory of an engine or limits the disks of a host."""
PROCESS = "process"
"""The init process of a host of a box, by its process id."""
MOUNT = "mount of hosts"
"""A served file system that is mounted on the hosts of a run."""
SERVER = "server"
"""A server that was started for a run on this machine, with the folder of all its files."""
STACK = "stack"
"""A stack of a cloud, with the request that makes it."""


@dataclass(frozen=True)
class Entry:
    """One thing in a journal, recorded before it was made.

    Attributes:
        id: Its number in its journal.
        kind: What it is; decides how it is removed.
        name: Its path, or another name that identifies it.
        details: What is needed to remove it.
        recorded_at: Seconds since 1970.
        removed_at: Seconds since 1970; None while it may still exist.
    """

    id: int
    kind: str
    name: str
    details: dict[str, Any]
    recorded_at: float
    removed_at: float | None


class Journal(Protocol):
    """Records what is made and what is removed again."""

    def record(self, kind: str, name: str, details: Mapping[str, Any] | None = None) -> int:
        """Record a thing before it is made and return its number; an open entry of the same kind and name is reused.

        Raises:
            AssayError: It cannot be recorded, so it must not be made.
        """
        ...

    def amend(self, entry: int, details: Mapping[str, Any]) -> None:
        """Replace the details of an entry, once the thing is made."""
        ...

    def mark_removed(self, entry: int) -> None:
        """Record that a thing no longer exists."""
        ...

    def entries(self, only_open: bool = True) -> list[Entry]:
        """Return the entries, newest first: those that may still exist, or all if `only_open` is false."""
        ...
