"""What a run does with a directory behind MPI-IO."""

from pydantic import BaseModel

from assay.contract._answers import BackendCapabilities, Look
from assay.kinds.mpiio.study import MpiioTarget
from assay.kinds.place import Claiming, Cleaning, Keeper, Layering, Looking, Probing, Seen, Taking
from assay.model.result.layers import Layer


class MpiioKeeper(Keeper[MpiioTarget]):
    """Looks after a directory as engines without MPI do: made, marked, tried out and cleaned by them."""

    def inspect(self, looking: Looking) -> Seen:
        """As `Keeper.inspect`."""
        return looking.directory(self.target.path)

    def take(self, taking: Taking) -> list[int]:
        """As `Keeper.take`: its mark keeps others away."""
        return []

    def claim(self, claiming: Claiming) -> None:
        """As `Keeper.claim`."""
        claiming.directory(self.target.path)

    def probe(self, probing: Probing) -> BackendCapabilities:
        """As `Keeper.probe`."""
        return probing.tried(self.target.job_target(run=probing.run), may_hang=True)

    def foresee(self, probing: Probing, seen: Seen) -> BackendCapabilities | None:
        """As `Keeper.foresee`."""
        return None

    def current(self, job_target: BaseModel, looking: Looking) -> BaseModel:
        """As `Keeper.current`: the engine looks for the mark."""
        return job_target

    def clean(self, directory: str, cleaning: Cleaning) -> list[str]:
        """As `Keeper.clean`."""
        return cleaning.directory(self.target.path, directory)

    def layers(self, filesystem: str, look: Look | None, layering: Layering) -> tuple[Layer, ...]:
        """As `Keeper.layers`."""
        return layering.directory(filesystem, look)


KEEPER = MpiioKeeper
