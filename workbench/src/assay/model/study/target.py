"""A place under test: the properties of every kind of target, and what kinds have in common in study files."""

import posixpath
import re
from collections.abc import Iterator, Mapping
from importlib import import_module
from types import ModuleType
from typing import TYPE_CHECKING, Annotated, ClassVar, NamedTuple

from pydantic import BaseModel, BeforeValidator, Field, ValidationInfo, WithJsonSchema

from assay.model.frozen import Frozen
from assay.model.study import axis
from assay.model.study.axis import SingleField, fault
from assay.model.study.names import Group
from assay.model.study.speed import Speed
from assay.model.units import display_value

if TYPE_CHECKING:
    from assay.model.site.storage import SiteStorage
    from assay.model.source import FieldFault
    from assay.model.study.mounts import StudyMount
    from assay.model.study.study import Workload

YEAR_NS = 365 * 86400 * 10**9
MEMORY_PATHS = ("/dev/shm/", "/run/")
"""Where systems commonly mount file systems in memory."""
ANY_JOB = "any"
"""Directory name used where no particular job is meant."""


def _text(written: object) -> str:
    if not isinstance(written, str):
        raise fault(f"{display_value(written)} is not text", "write text, in quotes if it looks like a number")
    return written


def _path(written: object, info: ValidationInfo) -> str:
    return path_from("base", written, info)


def path_from(start: str, written: object, info: ValidationInfo) -> str:
    """Return an absolute path; a relative one starts at this folder of the validation context.

    Raises:
        ValueError: It is not a path that a study may name.
    """
    hint = "write an absolute path such as /var/tmp/assay-test"
    if not isinstance(written, str) or not written:
        raise fault(f"{display_value(written)} is not a path", hint)
    if not written.isprintable():
        raise fault("the path has unprintable characters", hint)
    if written.startswith("~"):
        raise fault(f"`~` is not expanded in `{written}`", "write the whole path of the home directory")
    # Shell completion may add a leading `./`.
    plain = re.sub(r"^(\./+)+(?=.)", "", written)
    if any(part in ("..", ".") for part in plain.split("/")):
        raise fault(f"`{written}` has a `.` or `..` part", "write the path without them")
    path = posixpath.join((info.context or {}).get(start, "/"), plain)
    path = "/" + posixpath.normpath(path).lstrip("/")
    if path == "/":
        raise fault("`/` cannot be a target", "name a directory below it that Assay may create")
    return path


Text = Annotated[str, BeforeValidator(_text)]
Path = Annotated[str, BeforeValidator(_path), WithJsonSchema({"type": "string", "minLength": 1})]
Duration = Annotated[int, SingleField(axis.duration(0, YEAR_NS))]
Throughput = Annotated[float | None, SingleField(axis.throughput())]
Rate = Annotated[float | None, SingleField(axis.rate(0.001, 1e12))]
Flag = Annotated[bool, SingleField(axis.flag())]


class StatedCeilings(Frozen):
    """What a target cannot exceed according to its maker, its catalogue or its contract.

    A result above one of these is called impossible.
    """

    read: Throughput = Field(None, description="Bytes read per second.")
    write: Throughput = Field(None, description="Bytes written per second.")
    read_iops: Rate = Field(None, description="Read operations per second.")
    write_iops: Rate = Field(None, description="Write operations per second.")
    link: Throughput = Field(None, description="Bytes per second of the network link to it, either way.")


class TargetService(NamedTuple):
    """A server of a target: its name or address, and its TCP port.

    Attributes:
        port: TCP port; None if it does not use TCP.
        is_public: It is a public service on which iperf3 cannot run.
    """

    name: str
    port: int | None
    is_public: bool = False


class Target(Frozen):
    """A place under test as a study names it; each kind is a class of its own, in `assay.kinds`.

    The class variables have no defaults: a kind must define all of them, or it is not loaded (`model.study.kinds`).
    Other modules of its folder have the rest of its code, and are loaded when needed.

    Attributes:
        noun: What it is, in words: `a directory`.
        groups: Groups of operations that work on it.
        rank: Position when kinds are listed for users, the commonest first.
        keeps_data: There is storage, which has a size, can be cached, and may exceed no ceiling. False: the engine only
            simulates it.
        through_kernel: Operations go through the kernel of the load host: its page cache may answer, there is a choice
            of methods, and the device below can be measured.
        through_mpi: Operations are calls of an MPI library: the MPI's own launcher starts one engine for each rank,
            with one lane, and the engine is linked to the library.
        is_directory: It is a directory of the load hosts: Assay makes and marks it, and no other target may be inside.
        whole_device: It is a block device of this machine that is overwritten entirely.
        has_files: Each lane can have its own files or other named things in it; else all lanes share it (`layout:
            shared`).
        is_made_by_engines: Only an engine can reach what is made there, so engines remove it; several runs may work
            there
            at once.
        times_out_when_lost: Every operation on lost storage waits for a time-out, so that one failure suffices to
            give up.
        examples: Field -> an example for the hint when it is missing.
    """

    noun: ClassVar[str]
    groups: ClassVar[tuple[Group, ...]]
    rank: ClassVar[int]
    keeps_data: ClassVar[bool]
    through_kernel: ClassVar[bool]
    through_mpi: ClassVar[bool]
    is_directory: ClassVar[bool]
    whole_device: ClassVar[bool]
    has_files: ClassVar[bool]
    is_made_by_engines: ClassVar[bool]
    times_out_when_lost: ClassVar[bool]
    examples: ClassVar[Mapping[str, str]]

    if TYPE_CHECKING:
        # Every kind has these, as fields in its own order, as properties or as methods.
        @property
        def kind(self) -> str:
            """The word in study files, which is the name of the kind's folder."""

        @property
        def path(self) -> str:
            """Its location: directory, device, or for display `server:export/directory`; empty if it has none."""

        @property
        def ceilings(self) -> "StatedCeilings":
            """What it cannot exceed, as stated in the study."""

        @property
        def description(self) -> str:
            """Description for the report."""

        @property
        def services(self) -> tuple[TargetService, ...]:
            """Its servers across a network, each once, in order; empty without a network in between."""

        def crosscheck(self, name: str, workload: str, work: "Workload") -> "Iterator[FieldFault]":
            """Yield what a workload requires that no target of this kind can do, whatever the engine's capabilities.

            Args:
                name: Name of this target.
                workload: Name of the workload.
                work: The workload.
            """

    @property
    def server_names(self) -> tuple[str, ...]:
        """Names or addresses of its servers."""
        return tuple(service.name for service in self.services)

    @property
    def started_server(self) -> str:
        """Kind of the server that Assay starts for it on this machine during a run; empty: none."""
        return ""

    def at_port(self, port: int) -> "Target":  # noqa: ARG002
        """Return the target at the server that Assay started.

        Args:
            port: TCP port of the server on 127.0.0.1.
        """
        return self

    @classmethod
    def protocol(cls) -> str:
        """Return the protocol that the engine itself speaks to servers, for display; empty if there is none."""
        return ""

    @classmethod
    def flushes(cls) -> Mapping[str, str]:
        """Return values of `sync` -> their meaning for this kind, if different from that for files of the kernel."""
        return {}

    @property
    def study_mounts(self) -> "tuple[StudyMount, ...]":
        """What is mounted for it on each host that generates the load."""
        return ()

    @classmethod
    def fields_at(cls, storage: "SiteStorage") -> Mapping[str, object] | None:  # noqa: ARG003
        """Return the fields that point a target of this kind at the storage of a site; None if it is of another kind.

        A field that is None is to be left out.
        """
        return None

    def with_logins(self, logins: Mapping[tuple[str, str], str]) -> "Target":  # noqa: ARG002
        """Return the target with the credentials of a box's servers.

        Args:
            logins: Host and user -> file with name and password.
        """
        return self

    @property
    def is_read_only(self) -> bool:
        """Its contents existed before: runs only read it, and only its list shows how large its objects are."""
        return False

    @property
    def paths(self) -> tuple[str, ...]:
        """All paths in use; for a directory with shares, those of the shares too."""
        return (self.path,)

    @property
    def has_kernel_path(self) -> bool:
        """It has a path in the kernel: a directory or a device."""
        return self.is_directory or self.whole_device

    @property
    def accumulates_data(self) -> bool:
        """Each job has its own place in it, so kept data accumulates."""
        return self.is_directory or self.is_made_by_engines

    @property
    def is_in_memory(self) -> bool:
        """Its path is one that is commonly in memory; the true location is determined when it is used."""
        return self.is_directory and self.path.startswith(MEMORY_PATHS)

    def is_inspectable(self, local: bool) -> bool:
        """Whether this machine can inspect it.

        Args:
            local: Only this machine generates the load.
        """
        return self.whole_device or (self.is_directory and local)

    def directory_of(self, job: str, run: str, local: bool) -> str:
        """Return the directory name of a job; it includes the run if several runs may be at work.

        Args:
            job: Id of the job.
            run: Id of the run.
            local: Only this machine generates the load.
        """
        return f"{run}-{job}" if self.is_made_by_engines or (self.is_directory and not local) else job

    def job_target(
        self, directory: str = ANY_JOB, run: str | None = None, destroy: bool = False, servers: int | None = None
    ) -> BaseModel:
        """Return the target as the engine's job describes it; implemented in `job.py` of the kind.

        Args:
            directory: Name of the job's own directory.
            run: Id of the run that has claimed it; None if unclaimed.
            destroy: The user has confirmed that devices may be overwritten.
            servers: Number of servers to use; None: all.
        """
        found: BaseModel = self.kind_module("job").job_target(self, directory, run, destroy, servers)
        return found

    def plain_target(self, directory: str = ANY_JOB, destroy: bool = False) -> BaseModel:
        """Return the same as `job_target` for whatever is below it that a single engine can measure.

        Args:
            directory: Name of the job's own directory.
            destroy: The user has confirmed that devices may be overwritten.
        """
        return self.job_target(directory, destroy=destroy)

    @property
    def has_own_service(self) -> bool:
        """The engine has a service of this kind with which a client can be measured: `at_engine`."""
        return False

    def at_engine(self) -> BaseModel | None:
        """Return the same as `job_target`, but at a service inside the engine that answers at once; None without one.

        Only the client is measured that way.
        """
        return None

    def speed(self) -> Speed:
        """Return its assumed speed; implemented in `estimate.py` of the kind."""
        found: Speed = self.kind_module("estimate").speed(self)
        return found

    @classmethod
    def kind_module(cls, name: str) -> ModuleType:
        """Import a module of the kind's folder.

        Plans only look at targets, so they need not load how a target is claimed.
        """
        return import_module(f"{cls.__module__.rpartition('.')[0]}.{name}")


TRAITS: tuple[str, ...] = tuple(name for name, kind in Target.__annotations__.items() if "ClassVar" in str(kind))
"""Class variables that every kind must define."""
MEMBERS = ("kind", "path", "ceilings", "description", "services", "crosscheck")
"""Fields, properties or methods that every kind must have."""
