"""What was made for a box, written down before it is made, so that it can be removed whatever happens."""

from dataclasses import dataclass
from pathlib import Path

from assay.journal.entry import CGROUP, DIRECTORY, PROCESS
from assay.journal.file import FileJournal, read_entries
from assay.journal.owner import Process, boot_id

NAME = "journal"


@dataclass(frozen=True)
class Made:
    """What a journal says.

    Attributes:
        boot: Boot in which it was written; processes of another are gone.
        disks: Folder of the disks' files; None if that was not reached.
        groups: Control groups.
        inits: Inits of hosts and switch.
    """

    boot: str = ""
    disks: Path | None = None
    groups: tuple[Path, ...] = ()
    inits: tuple[Process, ...] = ()

    def processes(self) -> list[Process]:
        """The inits that may still live."""
        return list(self.inits) if self.boot == boot_id() else []


class Journal:
    """The journal of a box that is being made. Threads may share it."""

    def __init__(self, folder: Path, disks: Path) -> None:
        """Begin a journal.

        Args:
            folder: Of the box.
            disks: Folder of its disks, which is not made yet.
        """
        self._file = FileJournal(folder / NAME)
        self._file.record(DIRECTORY, str(disks), {"boot": boot_id()})

    def group(self, path: Path) -> None:
        """A control group will be made."""
        self._file.record(CGROUP, str(path))

    def init(self, process: Process) -> None:
        """An init waits for the word to begin."""
        self._file.record(PROCESS, str(process.pid), {"pid": process.pid, "start": process.start})

    def close(self) -> None:
        """No more will be made."""
        self._file.close()


def read_journal(folder: Path) -> Made | None:
    """What the journal in a folder says; None if there is none. It is a claim, for whoever removes things to check."""
    if not (folder / NAME).is_file():
        return None
    entries = [entry for entry in read_entries(folder / NAME) if entry.removed_at is None]
    disks = [entry for entry in entries if entry.kind == DIRECTORY]
    boots = [boot for entry in disks if isinstance(boot := entry.details.get("boot"), str)]
    inits = [
        Process(pid, start)
        for entry in entries
        if entry.kind == PROCESS
        and isinstance(pid := entry.details.get("pid"), int)
        and isinstance(start := entry.details.get("start"), int)
        and pid > 1
    ]
    return Made(
        boot=boots[0] if boots else "",
        disks=Path(disks[0].name) if disks else None,
        groups=tuple(Path(entry.name) for entry in entries if entry.kind == CGROUP),
        inits=tuple(inits),
    )
