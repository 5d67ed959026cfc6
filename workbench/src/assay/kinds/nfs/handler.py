"""What a run does with an NFS export."""

from assay.contract._answers import Look
from assay.kinds.handler import EngineSideHandler, LayerFinder
from assay.kinds.nfs.study import NfsTarget
from assay.model.result.layers import Layer


class NfsHandler(EngineSideHandler[NfsTarget]):
    """Handles an NFS export."""

    def layers(self, filesystem: str, look: Look | None, layer_finder: LayerFinder) -> tuple[Layer, ...]:
        """See `TargetHandler.layers`: layers behind the network are not visible."""
        return (Layer(kind="network", name="nfs", detail=f"servers: {', '.join(self.target.server_names)}"),)


HANDLER = NfsHandler
