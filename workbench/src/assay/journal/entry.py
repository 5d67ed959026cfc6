"""Entries of journals: what may be in one, and what every journal can do.

Each maker has a journal where it finds it again: a run in its own folder, a box in its own, what belongs to neither in
that of its process (`assay.journal.own`). All have the same entries, and are emptied in the same way.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Protocol

DIRECTORY = "directory"
"""A directory that was claimed on this machine, or is made there."""
REMOTE = "directory of hosts"
"""A directory that was claimed on other hosts."""
EXPORT = "export"
"""Directories of a run in an export."""
MADE = "made by a job"
"""What engines of a job tell that they make beyond what the job itself says; it goes with the job's directory."""
CGROUP = "cgroup"
"""A control group: one that caps the memory of an engine, or limits the disks of a host."""
PROCESS = "process"
"""The init of a host of a box, by its process id."""
MOUNT = "mount of hosts"
"""Something that servers serve, mounted on the hosts of a run."""
SERVER = "server"
"""A server that was started for a run on this machine, with the folder that has all of it."""


@dataclass(frozen=True)
class Entry:
    """Something that was recorded before it was made.

    Attributes:
        id: Its number in its journal.
        kind: What it is, which says how it is removed.
        name: Its path, or what else it is known by.
        details: What is needed to remove it.
        recorded_at: Seconds since 1970.
        removed_at: As that; None as long as it may still be there.
    """

    id: int
    kind: str
    name: str
    details: dict[str, Any]
    recorded_at: float
    removed_at: float | None


class Journal(Protocol):
    """A journal of what was made."""

    def record(self, kind: str, name: str, details: Mapping[str, Any] | None = None) -> int:
        """Record something before it is made; the same thing is recorded once. Returns its number.

        Raises:
            AssayError: It cannot be recorded, and must not be made.
        """
        ...

    def amend(self, entry: int, details: Mapping[str, Any]) -> None:
        """Record what is known of a thing now that it is made."""
        ...

    def removed(self, entry: int) -> None:
        """Record that a thing is gone."""
        ...

    def journal(self, only_open: bool = True) -> list[Entry]:
        """What was recorded, the newest first; only what may still be there, unless told otherwise."""
        ...
