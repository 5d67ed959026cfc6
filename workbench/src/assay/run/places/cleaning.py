"""Removes what killed engines have left in targets."""

import contextlib
from collections.abc import Mapping, Sequence

from pydantic import BaseModel

from assay.contract._answers import PlaceAnswer
from assay.contract._generated import BegunUpload, Beyond, Job, LeftJob
from assay.contract.messages import BeyondEvent, Event, UploadEvent
from assay.journal.entry import EXPORT, JOB_EXTRAS, Journal
from assay.launch.engine_commands import clean_target
from assay.launch.launcher import Launcher
from assay.launch.place_commands import PATIENCE_SECONDS
from assay.launch.places import Owner, leftover_lines, remove_case_directory
from assay.model.base import AssayError
from assay.store import RunStore

MAX_RECORDED = 20_000
"""Most uploads, or lanes, of one job that the journal records; an engine has fewer of them open at once."""


class LeftoverJournal:
    """Records in the journal what engines make beyond what their jobs state, as soon as they report it.

    Later cleaning reads it from here, since no list of the service has it.
    """

    def __init__(self, store: Journal) -> None:
        """Record nothing yet.

        Args:
            store: The run's journal.
        """
        self.store = store
        self._records: dict[str, _JobRecord] = {}

    def on_event(self, path: str, directory: str, event: Event) -> None:
        """Take an event of a job; only events that concern the journal have an effect.

        Args:
            path: Path of the target.
            directory: Directory of the job.
            event: The event.
        """
        if not isinstance(event, UploadEvent | BeyondEvent):
            return
        record = self._record_of(_journal_name(path, directory))
        if isinstance(event, BeyondEvent):
            record.beyond[str(event.lane)] = max(event.objects, record.beyond.get(str(event.lane), 0))
        elif event.open:
            record.uploads[event.id] = event.key
        else:
            # The next write omits it; until then, aborting a completed upload does nothing.
            record.uploads.pop(event.id, None)
            return
        if max(len(record.uploads), len(record.beyond)) <= MAX_RECORDED:
            # What cannot be recorded will be listed and not removed; the store itself soon reports the failure.
            with contextlib.suppress(AssayError):
                record.write()

    def left_job(self, job: Job, path: str, directory: str) -> LeftJob:
        """Return a job with what its engines have reported, now or in an earlier session."""
        record = self._record_of(_journal_name(path, directory))
        return LeftJob(
            job=job,
            uploads=[BegunUpload(id=upload, key=key) for upload, key in record.uploads.items()],
            beyond=[Beyond(lane=int(lane), objects=objects) for lane, objects in record.beyond.items()],
        )

    def forget_job(self, path: str, directory: str) -> None:
        """Record that nothing of a job is left."""
        name = _journal_name(path, directory)
        record = self._record_of(name)
        del self._records[name]
        if record.entry is not None:
            self.store.mark_removed(record.entry)

    def _record_of(self, name: str) -> "_JobRecord":
        """Return a job's record; the journal is read for it once."""
        if name not in self._records:
            self._records[name] = _JobRecord(self.store, name)
        return self._records[name]


class _JobRecord:
    """What engines of one job have made and not removed, as the journal has it."""

    def __init__(self, store: Journal, name: str) -> None:
        self.store, self.name = store, name
        entries = (entry for entry in store.entries() if (entry.kind, entry.name) == (JOB_EXTRAS, name))
        stored = next(entries, None)
        details = stored.details if stored else {}
        self.entry = stored.id if stored else None
        self.uploads: dict[str, str] = dict(details.get("uploads") or {})
        """The service's id of each open upload -> the key of its object."""
        self.beyond: dict[str, int] = dict(details.get("beyond") or {})
        """Lane -> upper bound of the numbers of its objects."""

    def write(self) -> None:
        if self.entry is None:
            self.entry = self.store.record(JOB_EXTRAS, self.name)
        self.store.amend(self.entry, {"uploads": self.uploads, "beyond": self.beyond})


def _journal_name(path: str, directory: str) -> str:
    return f"{path}/{directory}"


class RunCleaner:
    """Removes leftovers for kinds of target (`assay.kinds.handler.Cleaning`)."""

    def __init__(
        self,
        owner: Owner,
        launchers: Sequence[Launcher],
        hosts: Mapping[str, Launcher] | None = None,
        patience: float = PATIENCE_SECONDS,
        removal_timeout_s: float | None = None,
        left: LeftJob | None = None,
    ) -> None:
        """Remove nothing yet.

        Args:
            owner: The run that has claimed the targets.
            launchers: Start engines where places that only engines reach can be reached.
            hosts: Name of each host that reaches the directories -> what starts engines there; None: this machine.
            patience: Seconds after which storage that does not answer counts as hung.
            removal_timeout_s: Longest time, in seconds, for what engines remove when the user wants to leave; None:
                no special
                limit.
            left: The job whose remains are removed, if it is known.
        """
        self.owner = owner
        self.launchers = launchers
        self.hosts = hosts
        self.patience = patience
        self.leaving = removal_timeout_s
        self.left = left

    def directory(self, path: str, name: str) -> list[str]:
        """Remove the directory of a job in a claimed directory; returns a line for each thing that is still there."""
        return remove_case_directory(path, name, self.owner, self.hosts, self.patience)

    def by_engine(self, target: BaseModel) -> None:
        """Have an engine remove the directory of a job, on the first host that can.

        Raises:
            AssayError: No host can.
        """
        self._clean_on_any(target.model_dump_json())

    def job_leftovers(self, target: BaseModel) -> list[str]:
        """Have an engine remove what the job can have made; returns what remains and is not known to be the job's.

        Raises:
            AssayError: No host can.
        """
        if self.left is None:
            raise AssayError(f"{getattr(target, 'directory', '')}: the job that made it is unknown: not touched")
        own = self.left.job.target
        requested = target.model_copy(update={"run": getattr(own, "run", None)})
        left = self.left.model_copy(update={"job": self.left.job.model_copy(update={"target": requested})})
        return leftover_lines(self._clean_on_any(left.model_dump_json()))

    def _clean_on_any(self, text: str) -> PlaceAnswer:
        """Return the answer of the first host's engine that can clean."""
        *others, last = self.launchers
        for launcher in others:
            with contextlib.suppress(AssayError):
                return self._clean(launcher, text)
        return self._clean(last, text)

    def _clean(self, launcher: Launcher, text: str) -> PlaceAnswer:
        return clean_target(launcher, text, patience=self.patience, seconds=self.leaving)


def record_leftovers(store: RunStore, path: str, directory: str, left: bool) -> None:
    """Record whether the data of a job is still in a place that only engines reach, for the report at the end.

    Args:
        store: The run.
        path: Path of the target.
        directory: Directory of the job.
        left: It may still be there.
    """
    for entry in store.entries():
        known = [str(name) for name in entry.details.get("left", ())]
        if entry.kind == EXPORT and entry.name == path and left != (directory in known):
            names = [*known, directory] if left else [name for name in known if name != directory]
            store.amend(entry.id, {**entry.details, "left": names})
