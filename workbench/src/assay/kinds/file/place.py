"""What a run does with a directory."""

from collections.abc import Sequence

from pydantic import BaseModel

from assay.contract._answers import BackendCapabilities, Look, Space
from assay.kinds.file.study import FileTarget
from assay.kinds.place import Claiming, Cleaning, Keeper, Layering, Looking, Probing, Seen, Taking
from assay.model.result.layers import Layer


class FileKeeper(Keeper[FileTarget]):
    """Handles a directory, which is made and marked on each host and probed by writing below the mark."""

    def inspect(self, looking: Looking) -> Seen:
        """See `Keeper.inspect`."""
        if not self.target.shares:
            return looking.directory(self.target.path)
        reports = [looking.directory(path) for path in self.target.paths]
        first, problems = reports[0], [problem for one in reports for problem in one.problems]
        real_paths = [one.real_path for one in reports if one.real_path]
        if len(set(real_paths)) < len(real_paths):
            problems.append(("its shares lead to the same directory", "name each directory once"))
        return first._replace(problems=problems, space=_total_space([one.space for one in reports]))

    def take(self, taking: Taking) -> list[int]:
        """See `Keeper.take`: nothing to lock, since the mark keeps other runs away."""
        return []

    def claim(self, claiming: Claiming) -> None:
        """See `Keeper.claim`."""
        for path in self.target.paths:
            claiming.directory(path)

    def probe(self, probing: Probing) -> BackendCapabilities:
        """See `Keeper.probe`."""
        return probing.tried(self.target.job_target(run=probing.run), may_hang=True)

    def foresee(self, probing: Probing, seen: Seen) -> BackendCapabilities | None:
        """See `Keeper.foresee`."""
        return probing.directory(self.target.kind, seen)

    def current(self, job_target: BaseModel, looking: Looking) -> BaseModel:
        """See `Keeper.current`: the engine itself checks the mark."""
        return job_target

    def clean(self, directory: str, cleaning: Cleaning) -> list[str]:
        """See `Keeper.clean`."""
        return [left for path in self.target.paths for left in cleaning.directory(path, directory)]

    def layers(self, filesystem: str, look: Look | None, layering: Layering) -> tuple[Layer, ...]:
        """See `Keeper.layers`."""
        return layering.directory(filesystem, look)


def _total_space(spaces: Sequence[Space | None]) -> Space | None:
    """Return the space of all shares: files are spread evenly, so the fullest counts for each. None if unknown."""
    known = [space for space in spaces if space is not None]
    if len(known) < len(spaces):
        return None
    least, count = min(known, key=lambda space: space.free_bytes), len(known)
    return least.model_copy(update={"size_bytes": least.size_bytes * count, "free_bytes": least.free_bytes * count})


KEEPER = FileKeeper
