"""Removes what engines that were killed have left in targets."""

import contextlib
from collections.abc import Mapping, Sequence

from pydantic import BaseModel

from assay.contract._answers import PlaceAnswer
from assay.contract._generated import BegunUpload, Beyond, Job, LeftJob
from assay.contract.messages import BeyondEvent, Event, UploadEvent
from assay.journal.entry import EXPORT, MADE, Journal
from assay.launch.launcher import Launcher
from assay.launch.places import Owner, remains, remove_case_directory
from assay.launch.placing import PATIENCE_SECONDS
from assay.launch.questions import clean_target
from assay.model.base import AssayError
from assay.store import RunStore

MOST_KEPT = 20_000
"""Uploads, or lanes, of one job that are written down; an engine has fewer of them open at once."""


class Diary:
    """What engines tell of what they make beyond what their jobs say, written down as they tell it.

    Whoever removes it, perhaps much later, knows it from here and from no list of a service.
    """

    def __init__(self, store: Journal) -> None:
        """Nothing is written yet.

        Args:
            store: The run's journal.
        """
        self.store = store
        self._told: dict[str, _Told] = {}

    def hear(self, path: str, directory: str, event: Event) -> None:
        """Take an event of a job; all but those that are for the journal are left alone.

        Args:
            path: Of the target.
            directory: Of the job.
            event: As it came.
        """
        if not isinstance(event, UploadEvent | BeyondEvent):
            return
        told = self._of(_named(path, directory))
        if isinstance(event, BeyondEvent):
            told.beyond[str(event.lane)] = max(event.objects, told.beyond.get(str(event.lane), 0))
        elif event.open:
            told.uploads[event.id] = event.key
        else:
            # The next one that begins is written without it; to abort what is over does nothing.
            told.uploads.pop(event.id, None)
            return
        if max(len(told.uploads), len(told.beyond)) <= MOST_KEPT:
            # What cannot be written down will be named, and not removed; the store says so itself before long.
            with contextlib.suppress(AssayError):
                told.write()

    def left(self, job: Job, path: str, directory: str) -> LeftJob:
        """A job with what its engines have told, now or in a session before."""
        told = self._of(_named(path, directory))
        return LeftJob(
            job=job,
            uploads=[BegunUpload(id=upload, key=key) for upload, key in told.uploads.items()],
            beyond=[Beyond(lane=int(lane), objects=objects) for lane, objects in told.beyond.items()],
        )

    def over(self, path: str, directory: str) -> None:
        """Record that nothing of a job is left."""
        name = _named(path, directory)
        told = self._of(name)
        del self._told[name]
        if told.entry is not None:
            self.store.removed(told.entry)

    def _of(self, name: str) -> "_Told":
        """What is known of a job; the journal is read for it once."""
        if name not in self._told:
            self._told[name] = _Told(self.store, name)
        return self._told[name]


class _Told:
    """What engines have told of one job."""

    def __init__(self, store: Journal, name: str) -> None:
        self.store, self.name = store, name
        entries = (entry for entry in store.journal() if (entry.kind, entry.name) == (MADE, name))
        found = next(entries, None)
        details = found.details if found else {}
        self.entry = found.id if found else None
        self.uploads: dict[str, str] = dict(details.get("uploads") or {})
        """What the service calls each that is open -> the key of its object."""
        self.beyond: dict[str, int] = dict(details.get("beyond") or {})
        """Lane -> below what the numbers of its objects are."""

    def write(self) -> None:
        if self.entry is None:
            self.entry = self.store.record(MADE, self.name)
        self.store.amend(self.entry, {"uploads": self.uploads, "beyond": self.beyond})


def _named(path: str, directory: str) -> str:
    return f"{path}/{directory}"


class RunCleaning:
    """What kinds of target clean up with (`assay.kinds.place.Cleaning`)."""

    def __init__(
        self,
        owner: Owner,
        launchers: Sequence[Launcher],
        hosts: Mapping[str, Launcher] | None = None,
        patience: float = PATIENCE_SECONDS,
        leaving: float | None = None,
        left: LeftJob | None = None,
    ) -> None:
        """Nothing is removed yet.

        Args:
            owner: The run that has claimed the targets.
            launchers: Where engines run that reach what only engines reach.
            hosts: Name of each host that reaches the directories -> what starts engines there; None: this machine.
            patience: Seconds after which storage that does not answer counts as hung.
            leaving: Longest time, in seconds, for what engines remove, as the user wants to leave; None: as usual.
            left: The job whose remains are removed, where that is known.
        """
        self.owner = owner
        self.launchers = launchers
        self.hosts = hosts
        self.patience = patience
        self.leaving = leaving
        self.left = left

    def directory(self, path: str, name: str) -> list[str]:
        """Remove the directory of a job in a claimed directory; returns what is still there, one line each."""
        return remove_case_directory(path, name, self.owner, self.hosts, self.patience)

    def by_engine(self, target: BaseModel) -> None:
        """Have an engine remove the directory of a job: on the first host that can.

        Raises:
            AssayError: None of them can.
        """
        self._ask(target.model_dump_json())

    def of_job(self, target: BaseModel) -> list[str]:
        """Have an engine remove what the job can have made; returns what is left and not known to be the job's.

        Raises:
            AssayError: No host can.
        """
        if self.left is None:
            raise AssayError(f"{getattr(target, 'directory', '')}: no job is known that has made it: left alone")
        own = self.left.job.target
        asked = target.model_copy(update={"run": getattr(own, "run", None)})
        left = self.left.model_copy(update={"job": self.left.job.model_copy(update={"target": asked})})
        return remains(self._ask(left.model_dump_json()))

    def _ask(self, text: str) -> PlaceAnswer:
        """The answer of the first host that can."""
        *others, last = self.launchers
        for launcher in others:
            with contextlib.suppress(AssayError):
                return self._clean(launcher, text)
        return self._clean(last, text)

    def _clean(self, launcher: Launcher, text: str) -> PlaceAnswer:
        return clean_target(launcher, text, patience=self.patience, seconds=self.leaving)


def note_left(store: RunStore, path: str, directory: str, left: bool) -> None:
    """Record whether the data of a job is still in a place that only engines reach, to be said at the end.

    Args:
        store: The run.
        path: Of the target.
        directory: Of the job.
        left: It may still be there.
    """
    for entry in store.journal():
        known = [str(name) for name in entry.details.get("left", ())]
        if entry.kind == EXPORT and entry.name == path and left != (directory in known):
            names = [*known, directory] if left else [name for name in known if name != directory]
            store.amend(entry.id, {**entry.details, "left": names})
