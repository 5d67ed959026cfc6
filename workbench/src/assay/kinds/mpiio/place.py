"""What a run does with a directory behind MPI-IO."""

from pydantic import BaseModel

from assay.contract._answers import BackendCapabilities, Look
from assay.kinds.mpiio.study import MpiioTarget
from assay.kinds.place import Claimer, Cleaner, Inspection, Inspector, LayerFinder, Locker, Prober, TargetHandler
from assay.model.result.layers import Layer


class MpiioHandler(TargetHandler[MpiioTarget]):
    """Handles a directory behind MPI-IO as a plain directory, with engines that do not use MPI."""

    def inspect(self, inspector: Inspector) -> Inspection:
        """See `Keeper.inspect`."""
        return inspector.directory(self.target.path)

    def lock(self, locker: Locker) -> list[int]:
        """See `Keeper.take`: nothing to lock, since the mark keeps other runs away."""
        return []

    def claim(self, claimer: Claimer) -> None:
        """See `Keeper.claim`."""
        claimer.directory(self.target.path)

    def probe(self, prober: Prober) -> BackendCapabilities:
        """See `Keeper.probe`."""
        return prober.probe_target(self.target.job_target(run=prober.run), may_hang=True)

    def probe_before_claim(self, prober: Prober, inspection: Inspection) -> BackendCapabilities | None:
        """See `Keeper.foresee`: nothing is known in advance."""
        return None

    def recheck_target(self, job_target: BaseModel, inspector: Inspector) -> BaseModel:
        """See `Keeper.current`: the engine itself checks the mark."""
        return job_target

    def clean(self, directory: str, cleaner: Cleaner) -> list[str]:
        """See `Keeper.clean`."""
        return cleaner.directory(self.target.path, directory)

    def layers(self, filesystem: str, look: Look | None, layer_finder: LayerFinder) -> tuple[Layer, ...]:
        """See `Keeper.layers`."""
        return layer_finder.directory(filesystem, look)


HANDLER = MpiioHandler
