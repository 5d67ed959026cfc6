"""Inspects targets of this machine; changes nothing."""

import os

from assay.contract._answers import Space
from assay.kinds.handler import Inspection
from assay.launch.devices import device_bytes, inspect_device, remembered_node
from assay.launch.launcher import Launcher
from assay.launch.place_commands import PATIENCE_SECONDS, SilentStorageError
from assay.launch.places import Owner, claim_problems, inspect_path, path_problems
from assay.model.base import AssayError


class MachineInspector:
    """Inspects places on this machine, for the kinds of targets (`assay.kinds.handler.Looking`)."""

    def __init__(
        self,
        destroy: bool,
        owner: Owner | None = None,
        launcher: Launcher | None = None,
        patience: float = PATIENCE_SECONDS,
    ) -> None:
        """Inspect nothing yet.

        Args:
            destroy: The user has confirmed that devices may be overwritten.
            owner: The run that is resumed, whose data may be there; None for a new run.
            launcher: Starts the engine that inspects; the engine of this machine if None.
            patience: Seconds after which storage that does not answer counts as hung.
        """
        self.destroy = destroy
        self.owner = owner
        self.launcher = launcher
        self.patience = patience

    def directory(self, path: str) -> Inspection:
        """Inspect a directory; whether the run that marked it is still at work is not checked.

        Raises:
            SilentStorageError: The storage does not answer.
        """
        problems = path_problems(path)
        if problems:
            return Inspection(problems)
        try:
            look = inspect_path(path, self.launcher, self.patience)
        except SilentStorageError:
            raise
        except AssayError as error:
            return Inspection(
                [(f"{path}: {error.message}", error.hint or "choose another directory, or change the rights")], path
            )
        return Inspection(claim_problems(look, self.owner), look.real_path, look.mark, look.space)

    def device(self, path: str) -> Inspection:
        """Inspect a block device."""
        problems = path_problems(path)
        size = None if problems else device_bytes(path)
        # The whole device can be written.
        room = None if size is None else Space(block_bytes=0, files=0, free_files=0, free_bytes=size, size_bytes=size)
        return Inspection(problems or inspect_device(path, self.destroy), os.path.realpath(path), space=room)

    def node(self, path: str) -> str:
        """Return the kernel's own name of a device that was taken."""
        return remembered_node(path)
