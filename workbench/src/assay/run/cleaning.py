"""Removes what engines that were killed have left in targets."""

import contextlib
from collections.abc import Mapping, Sequence

from pydantic import BaseModel

from assay.journal.entry import EXPORT
from assay.launch.launcher import Launcher
from assay.launch.places import Owner, remove_case_directory
from assay.launch.placing import PATIENCE_SECONDS
from assay.launch.questions import clean_target
from assay.model.base import AssayError
from assay.store import RunStore


class RunCleaning:
    """What kinds of target clean up with (`assay.kinds.place.Cleaning`)."""

    def __init__(
        self,
        owner: Owner,
        launchers: Sequence[Launcher],
        hosts: Mapping[str, Launcher] | None = None,
        patience: float = PATIENCE_SECONDS,
        leaving: float | None = None,
    ) -> None:
        """Nothing is removed yet.

        Args:
            owner: The run that has claimed the targets.
            launchers: Where engines run that reach what only engines reach.
            hosts: Name of each host that reaches the directories -> what starts engines there; None: this machine.
            patience: Seconds after which storage that does not answer counts as hung.
            leaving: Longest time, in seconds, for what engines remove, as the user wants to leave; None: as usual.
        """
        self.owner = owner
        self.launchers = launchers
        self.hosts = hosts
        self.patience = patience
        self.leaving = leaving

    def directory(self, path: str, name: str) -> list[str]:
        """Remove the directory of a job in a claimed directory; returns what is still there, one line each."""
        return remove_case_directory(path, name, self.owner, self.hosts, self.patience)

    def by_engine(self, target: BaseModel) -> None:
        """Have an engine remove the directory of a job: on the first host that can.

        Raises:
            AssayError: None of them can.
        """
        text = target.model_dump_json()
        *others, last = self.launchers
        for launcher in others:
            with contextlib.suppress(AssayError):
                self._clean(launcher, text)
                return
        self._clean(last, text)

    def _clean(self, launcher: Launcher, text: str) -> None:
        clean_target(launcher, text, patience=self.patience, seconds=self.leaving)


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
