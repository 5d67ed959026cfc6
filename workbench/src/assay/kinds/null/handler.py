"""What a run does with the null target: almost nothing."""

from assay.contract._answers import BackendCapabilities, Look
from assay.kinds.handler import Inspection, LayerFinder, PlacelessHandler, Prober
from assay.kinds.null.study import FixedLatency, Latency, NullTarget, UniformLatency
from assay.model.result.layers import Layer

SCRIPTED_NS = 1000
"""Null targets with shorter operations measure only the engine."""


class NullHandler(PlacelessHandler[NullTarget]):
    """Handles the null target, which needs no handling."""

    def probe(self, prober: Prober) -> BackendCapabilities:
        """See `TargetHandler.probe`: the capabilities are the same everywhere."""
        return prober.general(self.target.kind)

    def probe_before_claim(self, prober: Prober, inspection: Inspection) -> BackendCapabilities | None:
        """See `TargetHandler.probe_before_claim`."""
        return None

    def layers(self, filesystem: str, look: Look | None, layer_finder: LayerFinder) -> tuple[Layer, ...]:
        """See `TargetHandler.layers`: no storage, or a script with the time of each operation."""
        if max(map(_longest_ns, self.target.latencies), default=0) < SCRIPTED_NS:
            return (Layer(kind="nothing", name="null", detail="no storage: operations end at once"),)
        return (Layer(kind="script", name="null", detail="no storage: operations take the time that the study sets"),)


def _longest_ns(latency: Latency) -> int:
    if isinstance(latency, FixedLatency):
        return latency.time
    return latency.max if isinstance(latency, UniformLatency) else latency.mean


HANDLER = NullHandler
