"""What a run does with a directory behind MPI-IO."""

from assay.contract._answers import BackendCapabilities
from assay.kinds.handler import Claimer, Cleaner, DirectoryHandler, Inspection, Inspector, Prober
from assay.kinds.mpiio.study import MpiioTarget


class MpiioHandler(DirectoryHandler[MpiioTarget]):
    """Handles a directory behind MPI-IO as a plain directory, with engines that do not use MPI."""

    def inspect(self, inspector: Inspector) -> Inspection:
        """See `TargetHandler.inspect`."""
        return inspector.directory(self.target.path)

    def claim(self, claimer: Claimer) -> None:
        """See `TargetHandler.claim`."""
        claimer.directory(self.target.path)

    def probe_before_claim(self, prober: Prober, inspection: Inspection) -> BackendCapabilities | None:
        """See `TargetHandler.probe_before_claim`: nothing is known in advance."""
        return None

    def clean(self, directory: str, cleaner: Cleaner) -> list[str]:
        """See `TargetHandler.clean`."""
        return cleaner.directory(self.target.path, directory)


HANDLER = MpiioHandler
