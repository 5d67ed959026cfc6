"""What a run does with a block device."""

from pydantic import BaseModel

from assay.contract._answers import BackendCapabilities, Look
from assay.kinds.device.study import DeviceTarget
from assay.kinds.place import Claiming, Cleaning, Keeper, Layering, Looking, Probing, Seen, Taking
from assay.model.base import AssayError
from assay.model.result.layers import Layer


class DeviceKeeper(Keeper[DeviceTarget]):
    """Handles a device: nothing is made on it; it is locked against other users, and checked again before each job."""

    def inspect(self, looking: Looking) -> Seen:
        """See `Keeper.inspect`."""
        return looking.device(self.target.path)

    def take(self, taking: Taking) -> list[int]:
        """See `Keeper.take`."""
        return taking.device(self.target.path)

    def claim(self, claiming: Claiming) -> None:
        """See `Keeper.claim`: there is nothing to make."""

    def probe(self, probing: Probing) -> BackendCapabilities:
        """See `Keeper.probe`."""
        return probing.device(self.target.path)

    def foresee(self, probing: Probing, seen: Seen) -> BackendCapabilities | None:
        """See `Keeper.foresee`."""
        return probing.device(self.target.path)

    def current(self, job_target: BaseModel, looking: Looking) -> BaseModel:
        """See `Keeper.current`: another user may have mounted the device in the meantime.

        The job names the device by the kernel's name, so that the engine opens the locked device even if a symbolic
        link has changed.
        """
        for message, hint in looking.device(self.target.path).problems:
            raise AssayError(message, hint)
        return job_target.model_copy(update={"path": looking.node(self.target.path)})

    def clean(self, directory: str, cleaning: Cleaning) -> list[str]:
        """See `Keeper.clean`: nothing to do, since the next job overwrites the data."""
        return []

    def layers(self, filesystem: str, look: Look | None, layering: Layering) -> tuple[Layer, ...]:
        """See `Keeper.layers`."""
        return layering.device(self.target.path)


KEEPER = DeviceKeeper
