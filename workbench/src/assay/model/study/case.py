"""One point of a study, with every default filled in."""

from typing import Literal

from assay.model.base import Frozen
from assay.model.study.names import MIXES, READS, is_metadata

CachePolicy = Literal["direct", "drop", "evict", "limit", "keep"]
"""How the page cache is kept out of (or in) a result.

direct: O_DIRECT; drop: the host's cache is dropped before each phase; evict: the case's files are taken out
of the cache before each phase; limit: the engine runs in a memory cgroup of `memory_limit` bytes; keep: the
cache is left alone on purpose.
"""

AxisValue = int | float | str | bool | None


class Parameters(Frozen):
    """Everything that decides what a case does, resolved. Sizes in bytes, times in nanoseconds.

    Metadata operations have no `record_size`, data operations no `files`.

    Attributes:
        hosts: Machines that generate the load: the first ones of the study's.
        servers: Servers of the target that are used: the first ones; None means all.
        streams: Lanes of all hosts together, if the study counts so; `lanes` follows from it.
        lanes: Of each host.
    """

    file_size: int
    record_size: int | None = None
    files: int | None = None
    depth: int = 0
    width: int = 1
    hosts: int = 1
    servers: int | None = None
    streams: int | None = None
    lanes: int = 1
    layout: Literal["separate", "shared"] = "separate"
    queue_depth: int = 1
    method: Literal["auto", "io_uring", "threads", "sync", "mmap"] = "auto"
    sqpoll: bool = False
    iopoll: bool = False
    huge_pages: bool = False
    cpus: str | None = None
    numa_node: int | None = None
    cache: CachePolicy = "direct"
    memory_limit: int | None = None
    sync: Literal["none", "fsync", "fdatasync", "o_sync", "o_dsync"] = "fsync"
    preallocate: bool = False
    rate: float | None = None
    arrivals: Literal["constant", "poisson"] = "constant"
    runtime: int | None = None
    time_limit: int | None = None
    read_percent: int = 50
    stride: int = 17
    verify: bool = False
    compressible: int = 0
    duplicate: int = 0

    @property
    def all_lanes(self) -> int:
        """Lanes of all hosts together."""
        return self.lanes * self.hosts

    @property
    def all_files(self) -> int:
        """Small files of all lanes together; 0 with data operations."""
        return (self.files or 0) * self.all_lanes

    @property
    def leaves(self) -> int:
        """The deepest directories of a tree, which hold its files: width to the power of depth."""
        return int(self.width**self.depth)


class Case(Frozen):
    """One point of the study: a target, a sequence of operations, and all parameters.

    Attributes:
        id: `c0001`, `c0002`, ... in plan order.
        axes: The swept parameters only, in the order the study names them, resolved (bytes, nanoseconds).
        label: One line for people, e.g. `disk / grid / file_size=64MiB record_size=4KiB`.
    """

    id: str
    target: str
    workload: str
    operations: tuple[str, ...]
    parameters: Parameters
    axes: dict[str, AxisValue]
    label: str

    @property
    def metadata(self) -> bool:
        """Its operations work on names and attributes; a case never has both kinds."""
        return is_metadata(self.operations[0])


class Excluded(Frozen):
    """A point that the study leaves out, and why."""

    target: str
    workload: str
    axes: dict[str, AxisValue]
    rule: str
    reason: str


def job_kind(parameters: Parameters, operation: str) -> str | None:
    """What decides the engine's own cost of an operation; None where it cannot be measured without storage.

    What is read is not looked at, so that its size does not matter; what is checked must have been written.
    """
    shape = f"lanes={parameters.lanes} depth={parameters.queue_depth}"
    if is_metadata(operation):
        contents = f" bytes={parameters.file_size}" if operation == "create" else ""
        return f"{operation} {shape}{contents}"
    if operation in READS and parameters.verify:
        return None
    if operation in READS and operation not in MIXES:
        return f"{'random_read' if operation == 'random_read' else 'read'} {shape}"
    made = f"record={parameters.record_size} compressible={parameters.compressible} duplicate={parameters.duplicate}"
    if operation in MIXES:
        return f"{operation} {shape} read_percent={parameters.read_percent} {made}"
    return f"{'random_write' if operation == 'random_write' else 'write'} {shape} {made}"
