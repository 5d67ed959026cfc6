"""What a run does with an SMB share."""

from assay.contract._answers import Look
from assay.kinds.place import EnginesKeeper, Layering
from assay.kinds.smb.study import SmbTarget
from assay.model.result.layers import Layer


class SmbKeeper(EnginesKeeper[SmbTarget]):
    """Handles an SMB share."""

    def layers(self, filesystem: str, look: Look | None, layering: Layering) -> tuple[Layer, ...]:
        """See `Keeper.layers`: layers behind the network are not visible."""
        return (Layer(kind="network", name="smb", detail=f"servers: {', '.join(self.target.host_names)}"),)


KEEPER = SmbKeeper
