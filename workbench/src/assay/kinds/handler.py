"""What a run does with a target: one `TargetHandler` per kind, and the protocols through which handlers act.

Kinds may not import the packages that start engines and change machines. So the caller passes an object that does the
work (the protocols below), and the handler of the kind decides which of its methods to call.
"""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any, Generic, NamedTuple, Protocol, TypeVar

from pydantic import BaseModel

from assay.contract._answers import BackendCapabilities, Look, Mark, Space
from assay.kinds.http import CREDENTIALS
from assay.model.base import AssayError, Code
from assay.model.result.layers import Layer
from assay.model.study.target import Target

Problem = tuple[str, str]
"""What is wrong, and how to fix it."""


class Inspection(NamedTuple):
    """What an inspection found at a place.

    Attributes:
        problems: Why Assay must not write there; empty if it may.
        real_path: Its path with symbolic links resolved, which must be unique among targets; empty if it has none.
        mark: Mark of the run that has claimed it; None if no run has.
        space: Size and free space of its file system; None if it is not known or has no size.
    """

    problems: Sequence[Problem] = ()
    real_path: str = ""
    mark: Mark | None = None
    space: Space | None = None


class Inspector(Protocol):
    """Inspects places on this machine without changing anything."""

    def directory(self, path: str) -> Inspection:
        """Inspect a directory that is to be claimed.

        Raises:
            SilentStorageError: The storage does not answer.
        """

    def device(self, path: str) -> Inspection:
        """Inspect a device that is to be overwritten."""

    def node(self, path: str) -> str:
        """Return the kernel's name of a locked device."""


class Locker(Protocol):
    """Locks what only one process may use."""

    def device(self, path: str) -> list[int]:
        """Lock a device, inspect it again, and inform the user; return descriptors that hold the lock while open.

        Raises:
            AssayError: Another process uses the device.
        """


class Claimer(Protocol):
    """Makes and marks places for a run; each is recorded in the journal before it is made."""

    def directory(self, path: str) -> None:
        """Make and mark a directory on each machine that generates load.

        Raises:
            AssayError: It cannot be made or marked.
        """

    def by_engines(self, path: str) -> None:
        """Record that engines will make something at a place."""


class Prober(Protocol):
    """Queries the engine's capabilities.

    Attributes:
        run: Id of the run that has claimed the targets.
        destroy: The user has confirmed that devices and buckets may be written to.
    """

    run: str
    destroy: bool

    def general(self, kind: str) -> BackendCapabilities:
        """Return the capabilities for a kind of target, without trying anything."""

    def probe_target(self, target: BaseModel, may_hang: bool = False, everywhere: bool = False) -> BackendCapabilities:
        """Return the capabilities that the engine finds by trying, on a host that reaches the target.

        Args:
            target: The target as in a job.
            may_hang: The probe may hang in the kernel if the storage does not answer: apply the study's time limit.
            everywhere: Probe on each host that generates load, since access rights may differ.

        Raises:
            AssayError: The engine refuses the target.
        """

    def device(self, path: str) -> BackendCapabilities:
        """Return the capabilities for a device of this machine, found by trying."""

    def directory(self, kind: str, inspection: Inspection) -> BackendCapabilities:
        """Return the capabilities for a directory of this machine from its file system, without trying anything."""


class Cleaner(Protocol):
    """Removes what killed engines have left behind."""

    def directory(self, path: str, name: str) -> list[str]:
        """Remove the directory of a job in a claimed directory; return what is still there, one line each."""

    def by_engine(self, target: BaseModel) -> None:
        """Have an engine remove the directory of a job.

        Raises:
            AssayError: The engine could not.
        """

    def job_leftovers(self, target: BaseModel) -> list[str]:
        """Have an engine remove everything that the job may have made in a place that others use, too.

        Returns:
            What remains there and cannot be attributed to the job, one line each.

        Raises:
            AssayError: The engine could not.
        """


class LayerFinder(Protocol):
    """Finds the storage layers below a place on this machine."""

    def directory(self, filesystem: str, look: Look | None) -> tuple[Layer, ...]:
        """Return the layers below a directory; on other hosts only what the file system type reveals."""

    def device(self, path: str) -> tuple[Layer, ...]:
        """Return a device and the layers below it."""


T = TypeVar("T", bound=Target)


class TargetHandler(ABC, Generic[T]):
    """What a run does with targets of one kind. No method has a default: a kind, or a class below, implements each."""

    def __init__(self, target: T) -> None:
        """Store the target; nothing is contacted."""
        self.target = target

    @abstractmethod
    def inspect(self, inspector: Inspector) -> Inspection:
        """Inspect the target before anything is written."""

    @abstractmethod
    def lock(self, locker: Locker) -> list[int]:
        """Lock the target for this process during the run; return open descriptors that hold the lock."""

    @abstractmethod
    def claim(self, claimer: Claimer) -> None:
        """Make and mark the place that the run works in."""

    @abstractmethod
    def probe(self, prober: Prober) -> BackendCapabilities:
        """Return the engine's capabilities at the claimed target."""

    @abstractmethod
    def probe_before_claim(self, prober: Prober, inspection: Inspection) -> BackendCapabilities | None:
        """Return the engine's capabilities at the target, found from this machine before anything is made.

        Returns:
            None if only the general capabilities of the kind are known.

        Raises:
            AssayError: `probe` would be refused.
        """

    @abstractmethod
    def recheck_target(self, job_target: BaseModel, inspector: Inspector) -> BaseModel:
        """Return the target for a job that starts now, after checking what may have changed since the last one.

        Raises:
            AssayError: The job must not start.
        """

    @abstractmethod
    def clean(self, directory: str, cleaner: Cleaner) -> list[str]:
        """Remove what a killed engine has left in the directory of its job; return what is still there."""

    @abstractmethod
    def layers(self, filesystem: str, look: Look | None, layer_finder: LayerFinder) -> tuple[Layer, ...]:
        """Return the storage layers below the target, from the top.

        Args:
            filesystem: Type of its file system as the engine reports it.
            look: An engine's report on its directory; None if it is on another host, or not a directory.
            layer_finder: Finds layers on this machine.
        """


class DirectoryHandler(TargetHandler[T]):
    """Handles a directory that is made and marked on each host."""

    def lock(self, locker: Locker) -> list[int]:
        """See `TargetHandler.lock`: nothing to lock, since the mark keeps other runs away."""
        return []

    def probe(self, prober: Prober) -> BackendCapabilities:
        """See `TargetHandler.probe`: by writing below the mark."""
        return prober.probe_target(self.target.job_target(run=prober.run), may_hang=True)

    def recheck_target(self, job_target: BaseModel, inspector: Inspector) -> BaseModel:
        """See `TargetHandler.recheck_target`: the engine itself checks the mark."""
        return job_target

    def layers(self, filesystem: str, look: Look | None, layer_finder: LayerFinder) -> tuple[Layer, ...]:
        """See `TargetHandler.layers`."""
        return layer_finder.directory(filesystem, look)


class PlacelessHandler(TargetHandler[T]):
    """Handles a target without a place on this machine: nothing is inspected, locked, made or removed there."""

    def inspect(self, inspector: Inspector) -> Inspection:
        """See `TargetHandler.inspect`: nothing is checked, since this machine may not reach the target."""
        return Inspection()

    def lock(self, locker: Locker) -> list[int]:
        """See `TargetHandler.lock`: this machine has nothing to lock."""
        return []

    def claim(self, claimer: Claimer) -> None:
        """See `TargetHandler.claim`: there is nothing to make."""

    def recheck_target(self, job_target: BaseModel, inspector: Inspector) -> BaseModel:
        """See `TargetHandler.recheck_target`: the engine itself checks the target before each job."""
        return job_target

    def clean(self, directory: str, cleaner: Cleaner) -> list[str]:
        """See `TargetHandler.clean`: nothing to do, since the next job overwrites the data."""
        return []


class EngineSideHandler(PlacelessHandler[T]):
    """Handles a target that only engines can reach, so that engines make, mark and remove everything in it.

    Several runs may work in it, each in its own part.
    """

    def claim(self, claimer: Claimer) -> None:
        """See `TargetHandler.claim`."""
        claimer.by_engines(self.target.path)

    def probe(self, prober: Prober) -> BackendCapabilities:
        """See `TargetHandler.probe`: a place without Assay's mark is refused here, unless the user has confirmed it."""
        return prober.probe_target(self.target.job_target(destroy=prober.destroy))

    def probe_before_claim(self, prober: Prober, inspection: Inspection) -> BackendCapabilities | None:
        """See `TargetHandler.probe_before_claim`: as `probe`, which only reads; None if its server does not run yet."""
        return None if self.target.started_server else self.probe(prober)

    def clean(self, directory: str, cleaner: Cleaner) -> list[str]:
        """See `TargetHandler.clean`: needs no new confirmation, since only the job writes to its part."""
        cleaner.by_engine(self.target.job_target(directory, destroy=True))
        return []


class ServiceHandler(EngineSideHandler[T]):
    """Handles a target of an HTTP service, for which engines find credentials on their own host."""

    def probe(self, prober: Prober) -> BackendCapabilities:
        """See `EngineSideHandler.probe`: on each host, since credentials may be missing or refused on some."""
        try:
            return prober.probe_target(self.target.job_target(destroy=prober.destroy), everywhere=True)
        except AssayError as error:
            if error.code is not Code.NO_CREDENTIALS:
                raise
            raise AssayError(error.message, CREDENTIALS, error.exit_code, code=error.code) from None


def handler_of(target: Target) -> "TargetHandler[Any]":
    """Return the handler of a target: `HANDLER` in `handler.py` of its kind."""
    found: TargetHandler[Any] = target.kind_module("handler").HANDLER(target)
    return found
