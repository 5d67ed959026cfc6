"""What a run does with an NFS export."""

from pydantic import BaseModel

from assay.contract._answers import BackendCapabilities, Look
from assay.kinds.nfs.study import NfsTarget
from assay.kinds.place import Claiming, Cleaning, Keeper, Layering, Looking, Probing, Seen, Taking
from assay.model.result.layers import Layer


class NfsKeeper(Keeper[NfsTarget]):
    """Looks after an export: only engines reach it, so that they make, mark and remove what is in it."""

    def inspect(self, looking: Looking) -> Seen:
        """As `Keeper.inspect`: this machine need not reach the servers."""
        return Seen()

    def take(self, taking: Taking) -> list[int]:
        """As `Keeper.take`: several runs may work in it."""
        return []

    def claim(self, claiming: Claiming) -> None:
        """As `Keeper.claim`."""
        claiming.by_engines(self.target.path)

    def probe(self, probing: Probing) -> BackendCapabilities:
        """As `Keeper.probe`."""
        return probing.tried(self.target.job_target())

    def current(self, job_target: BaseModel, looking: Looking) -> BaseModel:
        """As `Keeper.current`: the engine looks for its mark."""
        return job_target

    def clean(self, directory: str, cleaning: Cleaning) -> list[str]:
        """As `Keeper.clean`."""
        cleaning.by_engine(self.target.job_target(directory))
        return []

    def layers(self, filesystem: str, look: Look | None, layering: Layering) -> tuple[Layer, ...]:
        """As `Keeper.layers`: what is behind the network is not seen."""
        return (Layer(kind="network", name="nfs", detail=f"servers: {', '.join(self.target.host_names)}"),)


KEEPER = NfsKeeper
