"""Looks at targets of this machine, and changes nothing."""

import os

from assay.contract._answers import Space
from assay.kinds.place import Seen
from assay.launch.devices import device_bytes, inspect_device, taken_node
from assay.launch.launcher import Launcher
from assay.launch.places import Owner, inspect_text, look_at, look_problems
from assay.launch.placing import PATIENCE_SECONDS, SilentError
from assay.model.base import AssayError


class MachineLooking:
    """What kinds of target look with (`assay.kinds.place.Looking`)."""

    def __init__(
        self,
        destroy: bool,
        owner: Owner | None = None,
        launcher: Launcher | None = None,
        patience: float = PATIENCE_SECONDS,
    ) -> None:
        """Nothing is looked at yet.

        Args:
            destroy: The user has confirmed that devices may be overwritten.
            owner: The run that is resumed, whose data is no obstacle.
            launcher: Starts the engine that looks; the engine of this machine if left out.
            patience: Seconds after which storage that does not answer counts as hung.
        """
        self.destroy = destroy
        self.owner = owner
        self.launcher = launcher
        self.patience = patience

    def directory(self, path: str) -> Seen:
        """Whether a directory may be claimed; whether the run of its mark is at work is not asked.

        Raises:
            SilentError: The storage does not answer.
        """
        written = inspect_text(path)
        if written:
            return Seen(written)
        try:
            look = look_at(path, self.launcher, self.patience)
        except SilentError:
            raise
        except AssayError as error:
            return Seen(
                [(f"{path}: {error.message}", error.hint or "choose another place, or change the rights")], path
            )
        return Seen(look_problems(look, self.owner), look.real_path, look.mark, look.space)

    def device(self, path: str) -> Seen:
        """Whether a device may be overwritten."""
        written = inspect_text(path)
        size = None if written else device_bytes(path)
        # All of it can be written.
        room = None if size is None else Space(block_bytes=0, files=0, free_files=0, free_bytes=size, size_bytes=size)
        return Seen(written or inspect_device(path, self.destroy), os.path.realpath(path), space=room)

    def node(self, path: str) -> str:
        """The kernel's own name of a device that was taken."""
        return taken_node(path)
