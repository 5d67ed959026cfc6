"""What a run does with the null target: almost nothing."""

from pydantic import BaseModel

from assay.contract._answers import BackendCapabilities, Look
from assay.kinds.null.study import FixedLatency, Latency, NullTarget, UniformLatency
from assay.kinds.place import Claiming, Cleaning, Keeper, Layering, Looking, Probing, Seen, Taking
from assay.model.result.layers import Layer

SCRIPTED_NS = 1000
"""Null targets with shorter operations measure only the engine."""


class NullKeeper(Keeper[NullTarget]):
    """Handles the null target, which needs no handling."""

    def inspect(self, looking: Looking) -> Seen:
        """See `Keeper.inspect`."""
        return Seen()

    def take(self, taking: Taking) -> list[int]:
        """See `Keeper.take`."""
        return []

    def claim(self, claiming: Claiming) -> None:
        """See `Keeper.claim`."""

    def probe(self, probing: Probing) -> BackendCapabilities:
        """See `Keeper.probe`: the capabilities are the same everywhere."""
        return probing.general(self.target.kind)

    def foresee(self, probing: Probing, seen: Seen) -> BackendCapabilities | None:
        """See `Keeper.foresee`."""
        return None

    def current(self, job_target: BaseModel, looking: Looking) -> BaseModel:
        """See `Keeper.current`."""
        return job_target

    def clean(self, directory: str, cleaning: Cleaning) -> list[str]:
        """See `Keeper.clean`."""
        return []

    def layers(self, filesystem: str, look: Look | None, layering: Layering) -> tuple[Layer, ...]:
        """See `Keeper.layers`: no storage, or a script with the time of each operation."""
        if max(map(_longest_ns, self.target.latencies), default=0) < SCRIPTED_NS:
            return (Layer(kind="nothing", name="null", detail="no storage: operations end at once"),)
        return (Layer(kind="script", name="null", detail="no storage: operations take the time that the study says"),)


def _longest_ns(latency: Latency) -> int:
    if isinstance(latency, FixedLatency):
        return latency.time
    return latency.max if isinstance(latency, UniformLatency) else latency.mean


KEEPER = NullKeeper
