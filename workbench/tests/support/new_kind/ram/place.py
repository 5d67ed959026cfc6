"""What a run does with memory."""

from assay.kinds.ram.study import RamTarget
from pydantic import BaseModel

from assay.contract._answers import BackendCapabilities, Look
from assay.kinds.place import Claiming, Cleaning, Keeper, Layering, Looking, Probing, Seen, Taking
from assay.model.result.layers import Layer


class RamKeeper(Keeper[RamTarget]):
    """There is nothing to look after."""

    def inspect(self, looking: Looking) -> Seen:
        """As `Keeper.inspect`."""
        return Seen()

    def take(self, taking: Taking) -> list[int]:
        """As `Keeper.take`."""
        return []

    def claim(self, claiming: Claiming) -> None:
        """As `Keeper.claim`."""

    def probe(self, probing: Probing) -> BackendCapabilities:
        """As `Keeper.probe`."""
        return probing.general("null")

    def foresee(self, probing: Probing, seen: Seen) -> BackendCapabilities | None:
        """As `Keeper.foresee`."""
        return None

    def current(self, job_target: BaseModel, looking: Looking) -> BaseModel:
        """As `Keeper.current`."""
        return job_target

    def clean(self, directory: str, cleaning: Cleaning) -> list[str]:
        """As `Keeper.clean`."""
        return []

    def layers(self, filesystem: str, look: Look | None, layering: Layering) -> tuple[Layer, ...]:
        """As `Keeper.layers`."""
        return (Layer(kind="memory", name="ram", detail="memory of the engine"),)


KEEPER = RamKeeper
