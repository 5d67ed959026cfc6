"""What a run does with a directory."""

from collections.abc import Sequence

from pydantic import BaseModel

from assay.contract._answers import BackendCapabilities, Look, Space
from assay.kinds.file.study import FileTarget
from assay.kinds.place import Claiming, Cleaning, Keeper, Layering, Looking, Probing, Seen, Taking
from assay.model.result.layers import Layer


class FileKeeper(Keeper[FileTarget]):
    """Looks after a directory: made and marked, on each of the hosts, and tried out below its mark."""

    def inspect(self, looking: Looking) -> Seen:
        """As `Keeper.inspect`."""
        if not self.target.shares:
            return looking.directory(self.target.path)
        seen = [looking.directory(path) for path in self.target.paths]
        first, problems = seen[0], [problem for one in seen for problem in one.problems]
        real = [one.real_path for one in seen if one.real_path]
        if len(set(real)) < len(real):
            problems.append(("its shares lead to the same directory", "name each directory once"))
        return first._replace(problems=problems, space=_room([one.space for one in seen]))

    def take(self, taking: Taking) -> list[int]:
        """As `Keeper.take`: its mark keeps others away."""
        return []

    def claim(self, claiming: Claiming) -> None:
        """As `Keeper.claim`."""
        for path in self.target.paths:
            claiming.directory(path)

    def probe(self, probing: Probing) -> BackendCapabilities:
        """As `Keeper.probe`."""
        return probing.tried(self.target.job_target(run=probing.run), may_hang=True)

    def foresee(self, probing: Probing, seen: Seen) -> BackendCapabilities | None:
        """As `Keeper.foresee`."""
        return probing.directory(self.target.kind, seen)

    def current(self, job_target: BaseModel, looking: Looking) -> BaseModel:
        """As `Keeper.current`: the engine looks for the mark."""
        return job_target

    def clean(self, directory: str, cleaning: Cleaning) -> list[str]:
        """As `Keeper.clean`."""
        return [left for path in self.target.paths for left in cleaning.directory(path, directory)]

    def layers(self, filesystem: str, look: Look | None, layering: Layering) -> tuple[Layer, ...]:
        """As `Keeper.layers`."""
        return layering.directory(filesystem, look)


def _room(spaces: Sequence[Space | None]) -> Space | None:
    """Room of all shares together, where each takes as much as the others; of one directory its own."""
    known = [space for space in spaces if space is not None]
    if len(known) < len(spaces):
        return None
    least, count = min(known, key=lambda space: space.free_bytes), len(known)
    return least.model_copy(update={"size_bytes": least.size_bytes * count, "free_bytes": least.free_bytes * count})


KEEPER = FileKeeper
