"""Journal of a box: records each thing before it is made, so that it can be removed after any failure."""

from dataclasses import dataclass
from pathlib import Path

from assay.journal.entry import CGROUP, DIRECTORY, PROCESS
from assay.journal.file import FileJournal, read_entries
from assay.journal.processes import ProcessIdentity, boot_id

NAME = "journal"


@dataclass(frozen=True)
class BoxRecord:
    """What a journal records of a box.

    Attributes:
        boot: Boot id of the machine when it was written; processes of another boot no longer exist.
        disks: Folder of the image files; None if it was not recorded.
        groups: Control groups.
        inits: Init processes of the hosts and the switch.
    """

    boot: str = ""
    disks: Path | None = None
    groups: tuple[Path, ...] = ()
    inits: tuple[ProcessIdentity, ...] = ()

    def processes(self) -> list[ProcessIdentity]:
        """Return the inits that may still be alive."""
        return list(self.inits) if self.boot == boot_id() else []


class BoxJournal:
    """Journal of a box that is being made. Threads may share it."""

    def __init__(self, folder: Path, disks: Path) -> None:
        """Begin a journal.

        Args:
            folder: Folder of the box.
            disks: Folder of its disks, which does not exist yet.
        """
        self._file = FileJournal(folder / NAME)
        self._file.record(DIRECTORY, str(disks), {"boot": boot_id()})

    def group(self, path: Path) -> None:
        """Record a control group that is about to be made."""
        self._file.record(CGROUP, str(path))

    def init(self, process: ProcessIdentity) -> None:
        """Record an init, which waits for permission to begin."""
        self._file.record(PROCESS, str(process.pid), {"pid": process.pid, "start": process.start})

    def close(self) -> None:
        """Close the journal: nothing more is made."""
        self._file.close()


def read_journal(folder: Path) -> BoxRecord | None:
    """Return what the journal in a folder records; None without one. Verify its entries before removing anything."""
    if not (folder / NAME).is_file():
        return None
    entries = [entry for entry in read_entries(folder / NAME) if entry.removed_at is None]
    disks = [entry for entry in entries if entry.kind == DIRECTORY]
    boots = [boot for entry in disks if isinstance(boot := entry.details.get("boot"), str)]
    inits = [
        ProcessIdentity(pid, start)
        for entry in entries
        if entry.kind == PROCESS
        and isinstance(pid := entry.details.get("pid"), int)
        and isinstance(start := entry.details.get("start"), int)
        and pid > 1
    ]
    return BoxRecord(
        boot=boots[0] if boots else "",
        disks=Path(disks[0].name) if disks else None,
        groups=tuple(Path(entry.name) for entry in entries if entry.kind == CGROUP),
        inits=tuple(inits),
    )
