"""A place under test: what every kind of target says of itself, and what their study files have in common."""

import posixpath
import re
from collections.abc import Iterator, Mapping
from importlib import import_module
from types import ModuleType
from typing import TYPE_CHECKING, Annotated, ClassVar, NamedTuple

from pydantic import BaseModel, BeforeValidator, Field, ValidationInfo, WithJsonSchema

from assay.model.frozen import Frozen
from assay.model.study import axis
from assay.model.study.axis import Single, fault
from assay.model.study.names import Group
from assay.model.study.speed import Speed
from assay.model.units import shown

if TYPE_CHECKING:
    from assay.model.source import Fault
    from assay.model.study.mounts import StudyMount
    from assay.model.study.study import Workload

YEAR_NS = 365 * 86400 * 10**9
MEMORY_PATHS = ("/dev/shm/", "/run/")
"""Where systems commonly have memory."""
ANY_JOB = "any"
"""Stands for the directory of a job where no job is meant."""


def _text(written: object) -> str:
    if not isinstance(written, str):
        raise fault(f"{shown(written)} is not text", "write text, in quotes if it looks like a number")
    return written


def _path(written: object, info: ValidationInfo) -> str:
    """An absolute path; relative ones start at the validation context's `base`."""
    hint = "write an absolute path such as /var/tmp/assay-test"
    if not isinstance(written, str) or not written:
        raise fault(f"{shown(written)} is not a path", hint)
    if not written.isprintable():
        raise fault("the path has unprintable characters", hint)
    if written.startswith("~"):
        raise fault(f"`~` is not expanded in `{written}`", "write the whole path of the home directory")
    # As shells complete it.
    plain = re.sub(r"^(\./+)+(?=.)", "", written)
    if any(part in ("..", ".") for part in plain.split("/")):
        raise fault(f"`{written}` has a `.` or `..` part", "write the path without them")
    path = posixpath.join((info.context or {}).get("base", "/"), plain)
    path = "/" + posixpath.normpath(path).lstrip("/")
    if path == "/":
        raise fault("`/` cannot be a target", "name a directory below it that Assay may create")
    return path


Text = Annotated[str, BeforeValidator(_text)]
Path = Annotated[str, BeforeValidator(_path), WithJsonSchema({"type": "string", "minLength": 1})]
Duration = Annotated[int, Single(axis.duration(0, YEAR_NS))]
Throughput = Annotated[float | None, Single(axis.throughput())]
Rate = Annotated[float | None, Single(axis.rate(0.001, 1e12))]
Flag = Annotated[bool, Single(axis.flag())]


class StatedCeilings(Frozen):
    """What a target cannot exceed according to its maker, its catalogue or its contract.

    A result above one of these is called impossible.
    """

    read: Throughput = Field(None, description="Bytes read per second.")
    write: Throughput = Field(None, description="Bytes written per second.")
    read_iops: Rate = Field(None, description="Read operations per second.")
    write_iops: Rate = Field(None, description="Write operations per second.")
    link: Throughput = Field(None, description="Bytes per second of the network link to it, either way.")


class Service(NamedTuple):
    """A server of a target: its name or address, and the TCP port where it answers.

    Attributes:
        port: None if it answers by no TCP.
        closed: It is a service of somebody else, where nobody would run iperf3.
    """

    name: str
    port: int | None
    closed: bool = False


class Target(Frozen):
    """A place under test as a study names it; each kind is a class of its own, in `assay.kinds`.

    The class variables have no defaults: a kind says every one of them, or it is not loaded (`model.study.kinds`).
    What else a kind does stands in the further files of its folder, and is loaded when it is needed.

    Attributes:
        noun: What it is, in words: `a directory`.
        holds: What operations on it can work on.
        rank: Where the kind stands when kinds are listed for people, the commonest first.
        keeps_data: There is storage, which has a size, can be cached, and may exceed no ceiling. False: the engine only
            does as if.
        through_kernel: Operations go through the kernel of the machine that generates the load: its page cache may
            answer, there are several ways to it, and the device below can be measured.
        through_mpi: Operations are calls of an MPI library: engines are started one for each rank by the MPI's own
            launcher, with one lane, and are those that are linked to it.
        is_directory: It is a directory of the machines that generate the load: Assay makes and marks it, and no other
            target may lie in it.
        whole_device: It is a block device of this machine, all of which is overwritten.
        has_files: Lanes can have files, or other things with names, of their own in it; else they share all of it
            (`layout: shared`).
        made_by_engines: What is made there only an engine can reach, so that engines remove it; several runs may work
            there at once.
        waits_when_gone: Each operation on storage that is gone waits for a time-out, so that one failure is enough.
        examples: Field -> an example, for whoever has left it out.
    """

    noun: ClassVar[str]
    holds: ClassVar[tuple[Group, ...]]
    rank: ClassVar[int]
    keeps_data: ClassVar[bool]
    through_kernel: ClassVar[bool]
    through_mpi: ClassVar[bool]
    is_directory: ClassVar[bool]
    whole_device: ClassVar[bool]
    has_files: ClassVar[bool]
    made_by_engines: ClassVar[bool]
    waits_when_gone: ClassVar[bool]
    examples: ClassVar[Mapping[str, str]]

    if TYPE_CHECKING:
        # Every kind has these: fields in an order of its own, properties, methods.
        @property
        def kind(self) -> str:
            """Its word in study files, which is the name of its folder."""

        @property
        def path(self) -> str:
            """Where it is: directory, device, or for people `server:export/directory`; empty if it is nowhere."""

        @property
        def ceilings(self) -> "StatedCeilings":
            """What it cannot exceed, from a catalogue."""

        @property
        def description(self) -> str:
            """What it is, for the report."""

        @property
        def services(self) -> tuple[Service, ...]:
            """Its servers across a network, each once, in order; none if there is no network on the way."""

        def crosscheck(self, name: str, workload: str, work: "Workload") -> "Iterator[Fault]":
            """What a workload asks of it that no target of this kind can do, whatever the engine says of itself.

            Args:
                name: Of this target.
                workload: Name of the workload.
                work: The workload.
            """

    @property
    def host_names(self) -> tuple[str, ...]:
        """Names or addresses of its servers."""
        return tuple(service.name for service in self.services)

    @property
    def started(self) -> str:
        """Kind of the server that Assay starts for it on this machine, for the length of a run; empty: none."""
        return ""

    def served_at(self, port: int) -> "Target":  # noqa: ARG002
        """The target once that server runs.

        Args:
            port: Of 127.0.0.1, where it answers.
        """
        return self

    @classmethod
    def protocol(cls) -> str:
        """What the engine itself speaks to servers, for people; empty where the kernel does, or nobody."""
        return ""

    @classmethod
    def flushes(cls) -> Mapping[str, str]:
        """Policy of `sync` -> what it means there, where that is not what it means for files of the kernel."""
        return {}

    @property
    def mounted(self) -> "tuple[StudyMount, ...]":
        """What is mounted for it on each host that generates the load."""
        return ()

    def signed_in(self, logins: Mapping[tuple[str, str], str]) -> "Target":  # noqa: ARG002
        """The target where it is known who may sign in at the servers of a testbed.

        Args:
            logins: Host and user -> file with name and password.
        """
        return self

    @property
    def only_read(self) -> bool:
        """What is in it was there before: runs only read it, and how large its objects are only their list tells."""
        return False

    @property
    def paths(self) -> tuple[str, ...]:
        """All paths that are used: of a directory with shares those of the shares, too."""
        return (self.path,)

    @property
    def on_machine(self) -> bool:
        """It has a path that the kernel knows: a directory or a device."""
        return self.is_directory or self.whole_device

    @property
    def adds_up(self) -> bool:
        """Each job has a place of its own in it: data that is kept adds up."""
        return self.is_directory or self.made_by_engines

    @property
    def in_memory(self) -> bool:
        """Its path is one where systems commonly have memory; what is there in truth is found out when it is used."""
        return self.is_directory and self.path.startswith(MEMORY_PATHS)

    def seen_here(self, local: bool) -> bool:
        """Whether this machine can look at it.

        Args:
            local: This machine alone generates the load.
        """
        return self.whole_device or (self.is_directory and local)

    def directory_of(self, job: str, run: str, local: bool) -> str:
        """Directory of a job: where several runs may be at work it has the name of the run, too.

        Args:
            job: Id of the job.
            run: Id of the run.
            local: This machine alone generates the load.
        """
        return f"{run}-{job}" if self.made_by_engines or (self.is_directory and not local) else job

    def job_target(
        self, directory: str = ANY_JOB, run: str | None = None, destroy: bool = False, servers: int | None = None
    ) -> BaseModel:
        """The target as an engine is told of it; `job.py` of the kind.

        Args:
            directory: Name of the job's own directory.
            run: Identity of the run that has claimed it; None while none has.
            destroy: The user has confirmed that devices may be overwritten.
            servers: How many of its servers are used; None: all.
        """
        found: BaseModel = self.part("job").job_target(self, directory, run, destroy, servers)
        return found

    def plain_target(self, directory: str = ANY_JOB, destroy: bool = False) -> BaseModel:
        """As `job_target`, of whatever is below it that an engine on its own can measure.

        Args:
            directory: Name of the job's own directory.
            destroy: The user has confirmed that devices may be overwritten.
        """
        return self.job_target(directory, destroy=destroy)

    @property
    def has_own_service(self) -> bool:
        """The engine has a service of this kind, at which a client can be measured: `at_engine`."""
        return False

    def at_engine(self) -> BaseModel | None:
        """As `job_target`, but at a service of the engine's own, which answers at once; None where there is none.

        Nothing but the client is measured there.
        """
        return None

    def speed(self) -> Speed:
        """What it is assumed to do; `estimate.py` of the kind."""
        found: Speed = self.part("estimate").speed(self)
        return found

    @classmethod
    def part(cls, name: str) -> ModuleType:
        """A file of the kind's folder. Plans look at targets only, so that they need not load how one is claimed."""
        return import_module(f"{cls.__module__.rpartition('.')[0]}.{name}")


TRAITS: tuple[str, ...] = tuple(name for name, kind in Target.__annotations__.items() if "ClassVar" in str(kind))
"""What a kind has to say of itself as class variables."""
MEMBERS = ("kind", "path", "ceilings", "description", "services", "crosscheck")
"""What it has to have as fields, properties or methods."""
