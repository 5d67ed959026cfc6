"""What a run does with a block device."""

from pydantic import BaseModel

from assay.contract._answers import BackendCapabilities, Look
from assay.kinds.device.study import DeviceTarget
from assay.kinds.handler import Claimer, Cleaner, Inspection, Inspector, LayerFinder, Locker, Prober, TargetHandler
from assay.model.base import AssayError
from assay.model.result.layers import Layer


class DeviceHandler(TargetHandler[DeviceTarget]):
    """Handles a device: nothing is made on it; it is locked against other users, and checked again before each job."""

    def inspect(self, inspector: Inspector) -> Inspection:
        """See `TargetHandler.inspect`."""
        return inspector.device(self.target.path)

    def lock(self, locker: Locker) -> list[int]:
        """See `TargetHandler.lock`."""
        return locker.device(self.target.path)

    def claim(self, claimer: Claimer) -> None:
        """See `TargetHandler.claim`: there is nothing to make."""

    def probe(self, prober: Prober) -> BackendCapabilities:
        """See `TargetHandler.probe`."""
        return prober.device(self.target.path)

    def probe_before_claim(self, prober: Prober, inspection: Inspection) -> BackendCapabilities | None:
        """See `TargetHandler.probe_before_claim`."""
        return prober.device(self.target.path)

    def recheck_target(self, job_target: BaseModel, inspector: Inspector) -> BaseModel:
        """See `TargetHandler.recheck_target`: another user may have mounted the device in the meantime.

        The job names the device by the kernel's name, so that the engine opens the locked device even if a symbolic
        link has changed.
        """
        for message, hint in inspector.device(self.target.path).problems:
            raise AssayError(message, hint)
        return job_target.model_copy(update={"path": inspector.node(self.target.path)})

    def clean(self, directory: str, cleaner: Cleaner) -> list[str]:
        """See `TargetHandler.clean`: nothing to do, since the next job overwrites the data."""
        return []

    def layers(self, filesystem: str, look: Look | None, layer_finder: LayerFinder) -> tuple[Layer, ...]:
        """See `TargetHandler.layers`."""
        return layer_finder.device(self.target.path)


HANDLER = DeviceHandler
