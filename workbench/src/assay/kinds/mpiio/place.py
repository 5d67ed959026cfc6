"""What a run does with a directory behind MPI-IO."""

from pydantic import BaseModel

from assay.contract._answers import BackendCapabilities, Look
from assay.kinds.mpiio.study import MpiioTarget
from assay.kinds.place import Claiming, Cleaning, Keeper, Layering, Looking, Probing, Seen, Taking
from assay.model.result.layers import Layer


class MpiioKeeper(Keeper[MpiioTarget]):
    """Handles a directory behind MPI-IO as a plain directory, with engines that do not use MPI."""

    def inspect(self, looking: Looking) -> Seen:
        """See `Keeper.inspect`."""
        return looking.directory(self.target.path)

    def take(self, taking: Taking) -> list[int]:
        """See `Keeper.take`: nothing to lock, since the mark keeps other runs away."""
        return []

    def claim(self, claiming: Claiming) -> None:
        """See `Keeper.claim`."""
        claiming.directory(self.target.path)

    def probe(self, probing: Probing) -> BackendCapabilities:
        """See `Keeper.probe`."""
        return probing.tried(self.target.job_target(run=probing.run), may_hang=True)

    def foresee(self, probing: Probing, seen: Seen) -> BackendCapabilities | None:
        """See `Keeper.foresee`: nothing is known in advance."""
        return None

    def current(self, job_target: BaseModel, looking: Looking) -> BaseModel:
        """See `Keeper.current`: the engine itself checks the mark."""
        return job_target

    def clean(self, directory: str, cleaning: Cleaning) -> list[str]:
        """See `Keeper.clean`."""
        return cleaning.directory(self.target.path, directory)

    def layers(self, filesystem: str, look: Look | None, layering: Layering) -> tuple[Layer, ...]:
        """See `Keeper.layers`."""
        return layering.directory(filesystem, look)


KEEPER = MpiioKeeper
