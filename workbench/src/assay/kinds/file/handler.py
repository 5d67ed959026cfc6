"""What a run does with a directory."""

from collections.abc import Sequence

from assay.contract._answers import BackendCapabilities, Space
from assay.kinds.file.study import FileTarget
from assay.kinds.handler import Claimer, Cleaner, DirectoryHandler, Inspection, Inspector, Prober


class FileHandler(DirectoryHandler[FileTarget]):
    """Handles a directory, which is made and marked on each host and probed by writing below the mark."""

    def inspect(self, inspector: Inspector) -> Inspection:
        """See `TargetHandler.inspect`."""
        if not self.target.shares:
            return inspector.directory(self.target.path)
        reports = [inspector.directory(path) for path in self.target.paths]
        first, problems = reports[0], [problem for one in reports for problem in one.problems]
        real_paths = [one.real_path for one in reports if one.real_path]
        if len(set(real_paths)) < len(real_paths):
            problems.append(("its shares lead to the same directory", "name each directory once"))
        return first._replace(problems=problems, space=_total_space([one.space for one in reports]))

    def claim(self, claimer: Claimer) -> None:
        """See `TargetHandler.claim`."""
        for path in self.target.paths:
            claimer.directory(path)

    def probe_before_claim(self, prober: Prober, inspection: Inspection) -> BackendCapabilities | None:
        """See `TargetHandler.probe_before_claim`."""
        return prober.directory(self.target.kind, inspection)

    def clean(self, directory: str, cleaner: Cleaner) -> list[str]:
        """See `TargetHandler.clean`."""
        return [left for path in self.target.paths for left in cleaner.directory(path, directory)]


def _total_space(spaces: Sequence[Space | None]) -> Space | None:
    """Return the space of all shares: files are spread evenly, so the fullest counts for each. None if unknown."""
    known = [space for space in spaces if space is not None]
    if len(known) < len(spaces):
        return None
    least, count = min(known, key=lambda space: space.free_bytes), len(known)
    return least.model_copy(update={"size_bytes": least.size_bytes * count, "free_bytes": least.free_bytes * count})


HANDLER = FileHandler
