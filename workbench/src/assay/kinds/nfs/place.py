"""What a run does with an NFS export."""

from assay.contract._answers import Look
from assay.kinds.nfs.study import NfsTarget
from assay.kinds.place import EnginesKeeper, Layering
from assay.model.result.layers import Layer


class NfsKeeper(EnginesKeeper[NfsTarget]):
    """Handles an NFS export."""

    def layers(self, filesystem: str, look: Look | None, layering: Layering) -> tuple[Layer, ...]:
        """See `Keeper.layers`: layers behind the network are not visible."""
        return (Layer(kind="network", name="nfs", detail=f"servers: {', '.join(self.target.host_names)}"),)


KEEPER = NfsKeeper
