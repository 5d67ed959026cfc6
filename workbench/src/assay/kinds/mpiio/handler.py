"""What a run does with a directory behind MPI-IO."""

from pydantic import BaseModel

from assay.contract._answers import BackendCapabilities, Look
from assay.kinds.handler import Claimer, Cleaner, Inspection, Inspector, LayerFinder, Locker, Prober, TargetHandler
from assay.kinds.mpiio.study import MpiioTarget
from assay.model.result.layers import Layer


class MpiioHandler(TargetHandler[MpiioTarget]):
    """Handles a directory behind MPI-IO as a plain directory, with engines that do not use MPI."""

    def inspect(self, inspector: Inspector) -> Inspection:
        """See `TargetHandler.inspect`."""
        return inspector.directory(self.target.path)

    def lock(self, locker: Locker) -> list[int]:
        """See `TargetHandler.lock`: nothing to lock, since the mark keeps other runs away."""
        return []

    def claim(self, claimer: Claimer) -> None:
        """See `TargetHandler.claim`."""
        claimer.directory(self.target.path)

    def probe(self, prober: Prober) -> BackendCapabilities:
        """See `TargetHandler.probe`."""
        return prober.probe_target(self.target.job_target(run=prober.run), may_hang=True)

    def probe_before_claim(self, prober: Prober, inspection: Inspection) -> BackendCapabilities | None:
        """See `TargetHandler.probe_before_claim`: nothing is known in advance."""
        return None

    def recheck_target(self, job_target: BaseModel, inspector: Inspector) -> BaseModel:
        """See `TargetHandler.recheck_target`: the engine itself checks the mark."""
        return job_target

    def clean(self, directory: str, cleaner: Cleaner) -> list[str]:
        """See `TargetHandler.clean`."""
        return cleaner.directory(self.target.path, directory)

    def layers(self, filesystem: str, look: Look | None, layer_finder: LayerFinder) -> tuple[Layer, ...]:
        """See `TargetHandler.layers`."""
        return layer_finder.directory(filesystem, look)


HANDLER = MpiioHandler
