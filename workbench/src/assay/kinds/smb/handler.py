"""What a run does with an SMB share."""

from assay.contract._answers import Look
from assay.kinds.handler import EngineSideHandler, LayerFinder
from assay.kinds.smb.study import SmbTarget
from assay.model.result.layers import Layer


class SmbHandler(EngineSideHandler[SmbTarget]):
    """Handles an SMB share."""

    def layers(self, filesystem: str, look: Look | None, layer_finder: LayerFinder) -> tuple[Layer, ...]:
        """See `TargetHandler.layers`: layers behind the network are not visible."""
        return (Layer(kind="network", name="smb", detail=f"servers: {', '.join(self.target.server_names)}"),)


HANDLER = SmbHandler
