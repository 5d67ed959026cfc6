"""What a run does with a block device."""

from pydantic import BaseModel

from assay.contract._answers import BackendCapabilities, Look
from assay.kinds.device.study import DeviceTarget
from assay.kinds.place import Claiming, Cleaning, Keeper, Layering, Looking, Probing, Seen, Taking
from assay.model.base import AssayError
from assay.model.result.layers import Layer


class DeviceKeeper(Keeper[DeviceTarget]):
    """Looks after a device: nothing is made on it; it is kept from others, and looked at again before each job."""

    def inspect(self, looking: Looking) -> Seen:
        """As `Keeper.inspect`."""
        return looking.device(self.target.path)

    def take(self, taking: Taking) -> list[int]:
        """As `Keeper.take`."""
        return taking.device(self.target.path)

    def claim(self, claiming: Claiming) -> None:
        """As `Keeper.claim`: there is nothing to make."""

    def probe(self, probing: Probing) -> BackendCapabilities:
        """As `Keeper.probe`."""
        return probing.device(self.target.path)

    def foresee(self, probing: Probing, seen: Seen) -> BackendCapabilities | None:
        """As `Keeper.foresee`."""
        return probing.device(self.target.path)

    def current(self, job_target: BaseModel, looking: Looking) -> BaseModel:
        """As `Keeper.current`: somebody may have mounted it.

        The engine is told the kernel's own name for it, and opens what was taken, wherever links lead by then.
        """
        for message, hint in looking.device(self.target.path).problems:
            raise AssayError(message, hint)
        return job_target.model_copy(update={"path": looking.node(self.target.path)})

    def clean(self, directory: str, cleaning: Cleaning) -> list[str]:
        """As `Keeper.clean`: what a job has written is overwritten by the next one."""
        return []

    def layers(self, filesystem: str, look: Look | None, layering: Layering) -> tuple[Layer, ...]:
        """As `Keeper.layers`."""
        return layering.device(self.target.path)


KEEPER = DeviceKeeper
