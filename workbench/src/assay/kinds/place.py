"""What a run does with a target, kind by kind, and what is handed in for it.

Kinds stand below what starts engines and touches machines: whoever asks one for something hands in the hands for it,
and the kind says what is to be done with them.
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
"""What is wrong, and how to mend it."""


class Seen(NamedTuple):
    """What was seen of a place.

    Attributes:
        problems: Why Assay must not write there; empty if it may.
        real_path: Its path without links, which no other target may share; empty if it has none.
        mark: Of the run that has claimed it; None if none has.
        space: Room of the file system that it lies on; None if there is none, or if it has no size of its own.
    """

    problems: Sequence[Problem] = ()
    real_path: str = ""
    mark: Mark | None = None
    space: Space | None = None


class Looking(Protocol):
    """Looks at what there is, and changes nothing."""

    def directory(self, path: str) -> Seen:
        """Whether a directory may be claimed.

        Raises:
            SilentError: The storage does not answer.
        """

    def device(self, path: str) -> Seen:
        """Whether a device may be overwritten."""

    def node(self, path: str) -> str:
        """The kernel's own name of a device that was taken."""


class Taking(Protocol):
    """Keeps what is used by one process only."""

    def device(self, path: str) -> list[int]:
        """Take a device, look at it again, and tell the user; returns descriptors that keep it while they are open.

        Raises:
            AssayError: Somebody has it.
        """


class Claiming(Protocol):
    """Makes and marks places for a run; each is recorded before it is made."""

    def directory(self, path: str) -> None:
        """Make and mark a directory, on each of the machines that generate the load.

        Raises:
            AssayError: It cannot be made or marked.
        """

    def by_engines(self, path: str) -> None:
        """Record that engines will make something there."""


class Probing(Protocol):
    """Asks the engine what it can do.

    Attributes:
        run: Identity of the run that has claimed the targets.
        destroy: The user has confirmed that devices and buckets may be written to.
    """

    run: str
    destroy: bool

    def general(self, kind: str) -> BackendCapabilities:
        """What it says of a kind without trying."""

    def tried(self, target: BaseModel, may_hang: bool = False, everywhere: bool = False) -> BackendCapabilities:
        """What it found out by trying, from where the target can be reached.

        Args:
            target: As it stands in a job.
            may_hang: The kernel waits for storage that does not answer: it is waited for as long as the study says.
            everywhere: Each host that generates load tries, since each may have other rights.

        Raises:
            AssayError: The engine refuses it.
        """

    def device(self, path: str) -> BackendCapabilities:
        """Likewise with a device of this machine."""

    def directory(self, kind: str, seen: Seen) -> BackendCapabilities:
        """What it can do in a directory of this machine, by what lies below: nothing is tried there."""


class Cleaning(Protocol):
    """Removes what engines that were killed have left."""

    def directory(self, path: str, name: str) -> list[str]:
        """Remove the directory of a job in a claimed directory; returns what is still there, one line each."""

    def by_engine(self, target: BaseModel) -> None:
        """Have an engine remove the directory of a job.

        Raises:
            AssayError: It could not.
        """

    def of_job(self, target: BaseModel) -> list[str]:
        """Have an engine remove what the job can have made in a place that others use, too, whatever is listed there.

        Returns:
            What is there besides and not known to be the job's, one line each.

        Raises:
            AssayError: It could not.
        """


class Layering(Protocol):
    """Finds what lies below a place of this machine."""

    def directory(self, filesystem: str, look: Look | None) -> tuple[Layer, ...]:
        """Below a directory; of other hosts only what the type of the file system tells is known."""

    def device(self, path: str) -> tuple[Layer, ...]:
        """Below a device, and itself."""


T = TypeVar("T", bound=Target)


class Keeper(ABC, Generic[T]):
    """What a run does with targets of one kind. Nothing has a default: a kind says all of it."""

    def __init__(self, target: T) -> None:
        """Nothing is done yet."""
        self.target = target

    @abstractmethod
    def inspect(self, looking: Looking) -> Seen:
        """Look at it before anything is written."""

    @abstractmethod
    def take(self, taking: Taking) -> list[int]:
        """Keep it for this process while the run lasts; returns open descriptors that do."""

    @abstractmethod
    def claim(self, claiming: Claiming) -> None:
        """Make and mark what the run works in."""

    @abstractmethod
    def probe(self, probing: Probing) -> BackendCapabilities:
        """What the engine can do there."""

    @abstractmethod
    def foresee(self, probing: Probing, seen: Seen) -> BackendCapabilities | None:
        """What the engine can do there, from this machine, found before anything is made.

        Returns:
            None if no more is known than what it can do anywhere.

        Raises:
            AssayError: `probe` would be refused.
        """

    @abstractmethod
    def current(self, job_target: BaseModel, looking: Looking) -> BaseModel:
        """The target of a job that starts now: since the last one, something may have changed.

        Raises:
            AssayError: It must not start any more.
        """

    @abstractmethod
    def clean(self, directory: str, cleaning: Cleaning) -> list[str]:
        """Remove what a killed engine has left in the directory of its job; returns what is still there."""

    @abstractmethod
    def layers(self, filesystem: str, look: Look | None, layering: Layering) -> tuple[Layer, ...]:
        """What lies below it, from the top.

        Args:
            filesystem: Type of its file system as the engine says.
            look: What an engine has seen of its directory; None if it is on another host, or no directory.
            layering: Walks this machine.
        """


class EnginesKeeper(Keeper[T]):
    """Looks after what only engines reach, so that they make, mark and remove what is in it."""

    def inspect(self, looking: Looking) -> Seen:
        """As `Keeper.inspect`: this machine need not reach it."""
        return Seen()

    def take(self, taking: Taking) -> list[int]:
        """As `Keeper.take`: several runs may work in it, each in a part of its own."""
        return []

    def claim(self, claiming: Claiming) -> None:
        """As `Keeper.claim`."""
        claiming.by_engines(self.target.path)

    def probe(self, probing: Probing) -> BackendCapabilities:
        """As `Keeper.probe`: a place without the mark is refused here, unless the user has confirmed it."""
        return probing.tried(self.target.job_target(destroy=probing.destroy))

    def foresee(self, probing: Probing, seen: Seen) -> BackendCapabilities | None:
        """As `Keeper.foresee`: it is asked, which reads only. A server that Assay starts does not run yet."""
        return None if self.target.started else self.probe(probing)

    def current(self, job_target: BaseModel, looking: Looking) -> BaseModel:
        """As `Keeper.current`: the engine looks for its mark."""
        return job_target

    def clean(self, directory: str, cleaning: Cleaning) -> list[str]:
        """As `Keeper.clean`: what a job of this run has made, it was allowed to make, and its part is no one's."""
        cleaning.by_engine(self.target.job_target(directory, destroy=True))
        return []


class ServiceKeeper(EnginesKeeper[T]):
    """Looks after what is asked for over HTTP by engines that find credentials on their own host."""

    def probe(self, probing: Probing) -> BackendCapabilities:
        """As `EnginesKeeper.probe`, on each host: one may have no credentials, or such as the service refuses."""
        try:
            return probing.tried(self.target.job_target(destroy=probing.destroy), everywhere=True)
        except AssayError as error:
            if error.code is not Code.NO_CREDENTIALS:
                raise
            raise AssayError(error.message, CREDENTIALS, error.exit_code, code=error.code) from None


def keeper_of(target: Target) -> "Keeper[Any]":
    """Who looks after a target: the `KEEPER` in `place.py` of its kind."""
    found: Keeper[Any] = target.part("place").KEEPER(target)
    return found
