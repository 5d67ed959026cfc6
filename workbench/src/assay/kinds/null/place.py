"""What a run does with no storage."""

from pydantic import BaseModel

from assay.contract._answers import BackendCapabilities, Look
from assay.kinds.null.study import FixedLatency, Latency, NullTarget, UniformLatency
from assay.kinds.place import Claiming, Cleaning, Keeper, Layering, Looking, Probing, Seen, Taking
from assay.model.result.layers import Layer

SCRIPTED_NS = 1000
"""A null target whose operations take less is nothing but the engine."""


class NullKeeper(Keeper[NullTarget]):
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
        """As `Keeper.probe`: what can be done is the same everywhere."""
        return probing.general(self.target.kind)

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
        """As `Keeper.layers`: it is nothing, or a script: then the study says how long operations take."""
        if max(map(_longest_ns, self.target.latencies), default=0) < SCRIPTED_NS:
            return (Layer(kind="nothing", name="null", detail="no storage: operations end at once"),)
        return (Layer(kind="script", name="null", detail="no storage: operations take the time that the study says"),)


def _longest_ns(latency: Latency) -> int:
    if isinstance(latency, FixedLatency):
        return latency.time
    return latency.max if isinstance(latency, UniformLatency) else latency.mean


KEEPER = NullKeeper
