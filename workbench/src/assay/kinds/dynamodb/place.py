"""What a run does with a table."""

from assay.contract._answers import Look
from assay.kinds.dynamodb.study import DynamodbTarget
from assay.kinds.place import EnginesKeeper, Layering
from assay.model.result.layers import Layer


class DynamodbKeeper(EnginesKeeper[DynamodbTarget]):
    """Looks after a table, for which only engines have credentials."""

    def layers(self, filesystem: str, look: Look | None, layering: Layering) -> tuple[Layer, ...]:
        """As `Keeper.layers`: what is behind the network is not seen."""
        return (Layer(kind="network", name="dynamodb", detail=f"endpoints: {', '.join(self.target.doors)}"),)


KEEPER = DynamodbKeeper
