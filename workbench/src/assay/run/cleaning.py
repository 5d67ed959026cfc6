"""Removes what engines that were killed have left in targets."""

import contextlib
from collections.abc import Mapping, Sequence

from pydantic import BaseModel

from assay.launch.launcher import Launcher
from assay.launch.places import Owner, remove_case_directory
from assay.launch.placing import PATIENCE_SECONDS
from assay.launch.questions import clean_target
from assay.model.base import AssayError


class RunCleaning:
    """What kinds of target clean up with (`assay.kinds.place.Cleaning`)."""

    def __init__(
        self,
        owner: Owner,
        launchers: Sequence[Launcher],
        hosts: Mapping[str, Launcher] | None = None,
        patience: float = PATIENCE_SECONDS,
    ) -> None:
        """Nothing is removed yet.

        Args:
            owner: The run that has claimed the targets.
            launchers: Where engines run that reach what only engines reach.
            hosts: Name of each host that reaches the directories -> what starts engines there; None: this machine.
            patience: Seconds after which storage that does not answer counts as hung.
        """
        self.owner = owner
        self.launchers = launchers
        self.hosts = hosts
        self.patience = patience

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
                clean_target(launcher, text)
                return
        clean_target(last, text)
