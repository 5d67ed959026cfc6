"""What a run does with a bucket."""

from pydantic import BaseModel

from assay.contract._answers import BackendCapabilities, Look
from assay.kinds.place import Claiming, Cleaning, Keeper, Layering, Looking, Probing, Seen, Taking
from assay.kinds.s3.study import S3Target
from assay.model.result.layers import Layer


class S3Keeper(Keeper[S3Target]):
    """Looks after a bucket: only engines reach it, and only they have credentials; they make, mark and empty it."""

    def inspect(self, looking: Looking) -> Seen:
        """As `Keeper.inspect`: this machine need not reach the service."""
        return Seen()

    def take(self, taking: Taking) -> list[int]:
        """As `Keeper.take`: several runs may work in it, each below keys of its own."""
        return []

    def claim(self, claiming: Claiming) -> None:
        """As `Keeper.claim`."""
        claiming.by_engines(self.target.path)

    def probe(self, probing: Probing) -> BackendCapabilities:
        """As `Keeper.probe`: a bucket without the mark is refused here, unless the user has confirmed it."""
        return probing.tried(self.target.job_target(destroy=probing.destroy))

    def current(self, job_target: BaseModel, looking: Looking) -> BaseModel:
        """As `Keeper.current`: the engine looks for its mark."""
        return job_target

    def clean(self, directory: str, cleaning: Cleaning) -> list[str]:
        """As `Keeper.clean`: what a job of this run has put, it was allowed to put, and keys below it are no one's."""
        cleaning.by_engine(self.target.job_target(directory, destroy=True))
        return []

    def layers(self, filesystem: str, look: Look | None, layering: Layering) -> tuple[Layer, ...]:
        """As `Keeper.layers`: what is behind the network is not seen."""
        return (Layer(kind="network", name="s3", detail=f"endpoints: {', '.join(self.target.doors)}"),)


KEEPER = S3Keeper
