"""What a run does with memory."""

from assay.kinds.ram.study import RamTarget
from pydantic import BaseModel

from assay.contract._answers import BackendCapabilities, Look
from assay.kinds.handler import Claimer, Cleaner, Inspection, Inspector, LayerFinder, Locker, Prober, TargetHandler
from assay.model.result.layers import Layer


class RamKeeper(TargetHandler[RamTarget]):
    """There is nothing to look after."""

    def inspect(self, looking: Inspector) -> Inspection:
        """As `TargetHandler.inspect`."""
        return Inspection()

    def lock(self, taking: Locker) -> list[int]:
        """As `TargetHandler.lock`."""
        return []

    def claim(self, claiming: Claimer) -> None:
        """As `TargetHandler.claim`."""

    def probe(self, probing: Prober) -> BackendCapabilities:
        """As `TargetHandler.probe`."""
        return probing.general("null")

    def probe_before_claim(self, probing: Prober, seen: Inspection) -> BackendCapabilities | None:
        """As `TargetHandler.probe_before_claim`."""
        return None

    def recheck_target(self, job_target: BaseModel, looking: Inspector) -> BaseModel:
        """As `TargetHandler.recheck_target`."""
        return job_target

    def clean(self, directory: str, cleaning: Cleaner) -> list[str]:
        """As `TargetHandler.clean`."""
        return []

    def layers(self, filesystem: str, look: Look | None, layering: LayerFinder) -> tuple[Layer, ...]:
        """As `TargetHandler.layers`."""
        return (Layer(kind="memory", name="ram", detail="memory of the engine"),)


HANDLER = RamKeeper
