"""What a run does with an NFS export."""

from assay.contract._answers import Look
from assay.kinds.nfs.study import NfsTarget
from assay.kinds.place import EnginesKeeper, Layering
from assay.model.result.layers import Layer


class NfsKeeper(EnginesKeeper[NfsTarget]):
    """Looks after an export."""

    def layers(self, filesystem: str, look: Look | None, layering: Layering) -> tuple[Layer, ...]:
        """As `Keeper.layers`: what is behind the network is not seen."""
        return (Layer(kind="network", name="nfs", detail=f"servers: {', '.join(self.target.host_names)}"),)


KEEPER = NfsKeeper
