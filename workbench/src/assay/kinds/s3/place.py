"""What a run does with a bucket."""

from assay.contract._answers import Look
from assay.kinds.place import EnginesKeeper, Layering
from assay.kinds.s3.study import S3Target
from assay.model.result.layers import Layer


class S3Keeper(EnginesKeeper[S3Target]):
    """Looks after a bucket, for which only engines have credentials."""

    def layers(self, filesystem: str, look: Look | None, layering: Layering) -> tuple[Layer, ...]:
        """As `Keeper.layers`: what is behind the network is not seen."""
        return (Layer(kind="network", name="s3", detail=f"endpoints: {', '.join(self.target.doors)}"),)


KEEPER = S3Keeper
