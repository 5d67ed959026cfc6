"""What a run does with a disk behind ATA over Ethernet."""

from pydantic import BaseModel

from assay.contract._answers import BackendCapabilities, Look
from assay.kinds.aoe.study import AoeTarget
from assay.kinds.place import Claiming, Cleaning, Keeper, Layering, Looking, Probing, Seen, Taking
from assay.model.base import EXIT_REFUSED, AssayError
from assay.model.result.layers import Layer


class AoeKeeper(Keeper[AoeTarget]):
    """Handles a disk: nothing is made on it, and its data is overwritten."""

    def inspect(self, looking: Looking) -> Seen:
        """See `Keeper.inspect`: nothing is checked, since this machine may not reach the disk."""
        return Seen()

    def take(self, taking: Taking) -> list[int]:
        """See `Keeper.take`: this machine has nothing to lock."""
        return []

    def claim(self, claiming: Claiming) -> None:
        """See `Keeper.claim`: there is nothing to make."""

    def probe(self, probing: Probing) -> BackendCapabilities:
        """See `Keeper.probe`: on each host, since each uses its own network interface.

        Raises:
            AssayError: The user has not confirmed that the disk may be overwritten, or the engine refuses it.
        """
        if not probing.destroy:
            message = f"{self.target.path}: everything on the disk would be lost"
            raise AssayError(message, "confirm with --destroy that it may be overwritten", EXIT_REFUSED)
        return probing.tried(self.target.job_target(destroy=True), everywhere=True)

    def foresee(self, probing: Probing, seen: Seen) -> BackendCapabilities | None:
        """See `Keeper.foresee`: same as `probe`."""
        return self.probe(probing)

    def current(self, job_target: BaseModel, looking: Looking) -> BaseModel:
        """See `Keeper.current`: the engine itself checks the disk before each job."""
        return job_target

    def clean(self, directory: str, cleaning: Cleaning) -> list[str]:
        """See `Keeper.clean`: nothing to do, since the next job overwrites the data."""
        return []

    def layers(self, filesystem: str, look: Look | None, layering: Layering) -> tuple[Layer, ...]:
        """See `Keeper.layers`: layers behind the network are not visible."""
        detail = f"interfaces: {', '.join(self.target.interfaces)}"
        return (Layer(kind="network", name=f"aoe {self.target.address}", detail=detail),)


KEEPER = AoeKeeper
