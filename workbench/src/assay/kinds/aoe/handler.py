"""What a run does with a disk behind ATA over Ethernet."""

from assay.contract._answers import BackendCapabilities, Look
from assay.kinds.aoe.study import AoeTarget
from assay.kinds.handler import Inspection, LayerFinder, PlacelessHandler, Prober
from assay.model.base import EXIT_REFUSED, AssayError
from assay.model.result.layers import Layer


class AoeHandler(PlacelessHandler[AoeTarget]):
    """Handles a disk: nothing is made on it, and its data is overwritten."""

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

    def layers(self, filesystem: str, look: Look | None, layer_finder: LayerFinder) -> tuple[Layer, ...]:
        """See `TargetHandler.layers`: layers behind the network are not visible."""
        detail = f"interfaces: {', '.join(self.target.interfaces)}"
        return (Layer(kind="network", name=f"aoe {self.target.address}", detail=detail),)


HANDLER = AoeHandler
