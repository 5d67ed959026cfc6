"""What a run does with memory."""

from assay.kinds.ram.study import RamTarget
from pydantic import BaseModel

from assay.contract._answers import BackendCapabilities, Look
from assay.kinds.place import Claimer, Cleaner, Inspection, Inspector, LayerFinder, Locker, Prober, TargetHandler
from assay.model.result.layers import Layer


class RamKeeper(TargetHandler[RamTarget]):
    """There is nothing to look after."""

    def inspect(self, looking: Inspector) -> Inspection:
        """As `Keeper.inspect`."""
        return Inspection()

    def take(self, taking: Locker) -> list[int]:
        """As `Keeper.take`."""
        return []

    def claim(self, claiming: Claimer) -> None:
        """As `Keeper.claim`."""

    def probe(self, probing: Prober) -> BackendCapabilities:
        """As `Keeper.probe`."""
        return probing.general("null")

    def foresee(self, probing: Prober, seen: Inspection) -> BackendCapabilities | None:
        """As `Keeper.foresee`."""
        return None

    def current(self, job_target: BaseModel, looking: Inspector) -> BaseModel:
        """As `Keeper.current`."""
        return job_target

    def clean(self, directory: str, cleaning: Cleaner) -> list[str]:
        """As `Keeper.clean`."""
        return []

    def layers(self, filesystem: str, look: Look | None, layering: LayerFinder) -> tuple[Layer, ...]:
        """As `Keeper.layers`."""
        return (Layer(kind="memory", name="ram", detail="memory of the engine"),)


KEEPER = RamKeeper
