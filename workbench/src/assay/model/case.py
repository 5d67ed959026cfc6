"""One point of a study, with every default filled in."""

from typing import Literal

from assay.model.base import Frozen

CachePolicy = Literal["direct", "drop", "evict", "limit", "keep"]
"""How the page cache is kept out of (or in) a result.

direct: O_DIRECT; drop: the host's cache is dropped before each phase; evict: the case's files are taken out
of the cache before each phase; limit: the engine runs in a memory cgroup of `memory_limit` bytes; keep: the
cache is left alone on purpose.
"""

AxisValue = int | float | str | bool | None


class Parameters(Frozen):
    """Everything that decides what a case does, resolved. Sizes in bytes, times in nanoseconds."""

    file_size: int
    record_size: int
    lanes: int = 1
    layout: Literal["separate", "shared"] = "separate"
    queue_depth: int = 1
    method: Literal["auto", "io_uring", "sync"] = "auto"
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


class Excluded(Frozen):
    """A point that the study leaves out, and why."""

    target: str
    workload: str
    axes: dict[str, AxisValue]
    rule: str
    reason: str
