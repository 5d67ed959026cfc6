"""What a run does with a disk behind ATA over Ethernet."""

from pydantic import BaseModel

from assay.contract._answers import BackendCapabilities, Look
from assay.kinds.aoe.study import AoeTarget
from assay.kinds.handler import Claimer, Cleaner, Inspection, Inspector, LayerFinder, Locker, Prober, TargetHandler
from assay.model.base import EXIT_REFUSED, AssayError
from assay.model.result.layers import Layer


class AoeHandler(TargetHandler[AoeTarget]):
    """Handles a disk: nothing is made on it, and its data is overwritten."""

    def inspect(self, inspector: Inspector) -> Inspection:
        """See `TargetHandler.inspect`: nothing is checked, since this machine may not reach the disk."""
        return Inspection()

    def lock(self, locker: Locker) -> list[int]:
        """See `TargetHandler.lock`: this machine has nothing to lock."""
        return []

    def claim(self, claimer: Claimer) -> None:
        """See `TargetHandler.claim`: there is nothing to make."""

    def probe(self, prober: Prober) -> BackendCapabilities:
        """See `TargetHandler.probe`: on each host, since each uses its own network interface.

        Raises:
            AssayError: The user has not confirmed that the disk may be overwritten, or the engine refuses it.
        """
        if not prober.destroy:
            message = f"{self.target.path}: all data on the disk would be overwritten"
            raise AssayError(message, "confirm with --destroy that it may be overwritten", EXIT_REFUSED)
        return prober.probe_target(self.target.job_target(destroy=True), everywhere=True)

    def probe_before_claim(self, prober: Prober, inspection: Inspection) -> BackendCapabilities | None:
        """See `TargetHandler.probe_before_claim`: same as `probe`."""
        return self.probe(prober)

    def recheck_target(self, job_target: BaseModel, inspector: Inspector) -> BaseModel:
        """See `TargetHandler.recheck_target`: the engine itself checks the disk before each job."""
        return job_target

    def clean(self, directory: str, cleaner: Cleaner) -> list[str]:
        """See `TargetHandler.clean`: nothing to do, since the next job overwrites the data."""
        return []

    def layers(self, filesystem: str, look: Look | None, layer_finder: LayerFinder) -> tuple[Layer, ...]:
        """See `TargetHandler.layers`: layers behind the network are not visible."""
        detail = f"interfaces: {', '.join(self.target.interfaces)}"
        return (Layer(kind="network", name=f"aoe {self.target.address}", detail=detail),)


HANDLER = AoeHandler
