"""What a run does with a disk behind ATA over Ethernet."""

from pydantic import BaseModel

from assay.contract._answers import BackendCapabilities, Look
from assay.kinds.aoe.study import AoeTarget
from assay.kinds.place import Claiming, Cleaning, Keeper, Layering, Looking, Probing, Seen, Taking
from assay.model.base import EXIT_REFUSED, AssayError
from assay.model.result.layers import Layer


class AoeKeeper(Keeper[AoeTarget]):
    """Looks after a disk: nothing is made on it, and what is on it is lost."""

    def inspect(self, looking: Looking) -> Seen:
        """As `Keeper.inspect`: this machine need not reach it."""
        return Seen()

    def take(self, taking: Taking) -> list[int]:
        """As `Keeper.take`: there is nothing on this machine that could be taken."""
        return []

    def claim(self, claiming: Claiming) -> None:
        """As `Keeper.claim`: there is nothing to make."""

    def probe(self, probing: Probing) -> BackendCapabilities:
        """As `Keeper.probe`, on each host: each sends its frames through an interface of its own.

        Raises:
            AssayError: The user has not confirmed that it may be overwritten, or the engine refuses it.
        """
        if not probing.destroy:
            message = f"{self.target.path}: everything on the disk would be lost"
            raise AssayError(message, "confirm with --destroy that it may be overwritten", EXIT_REFUSED)
        return probing.tried(self.target.job_target(destroy=True), everywhere=True)

    def foresee(self, probing: Probing, seen: Seen) -> BackendCapabilities | None:
        """As `Keeper.foresee`."""
        return self.probe(probing)

    def current(self, job_target: BaseModel, looking: Looking) -> BaseModel:
        """As `Keeper.current`: the engine looks at the disk before each job."""
        return job_target

    def clean(self, directory: str, cleaning: Cleaning) -> list[str]:
        """As `Keeper.clean`: what a job has written is overwritten by the next one."""
        return []

    def layers(self, filesystem: str, look: Look | None, layering: Layering) -> tuple[Layer, ...]:
        """As `Keeper.layers`: what is behind the network is not seen."""
        detail = f"interfaces: {', '.join(self.target.interfaces)}"
        return (Layer(kind="network", name=f"aoe {self.target.address}", detail=detail),)


KEEPER = AoeKeeper
