"""The operations, and what each of them does.

The contract's `Operation` and `OpKind` have the same names; a test compares them. Each operation is defined once, with
all its properties: a missing definition is an error, never replaced by another.
"""

from typing import Literal, NamedTuple

Group = Literal["data", "names", "objects", "programs", "other"]
"""What an operation works on: bytes of files and devices, names and attributes of files, objects; programs that do what
they like; or no storage alone: networks and applications."""

Moves = Literal["in", "out", ""]
"""Direction of the bytes of a kind of operation: from the storage, to it, or none are moved."""


class Work(NamedTuple):
    """What an operation does.

    Attributes:
        group: What it works on.
        reads: It reads contents.
        writes: It writes contents.
    """

    group: Group
    reads: bool = False
    writes: bool = False


WORK: dict[str, Work] = {
    "write": Work("data", writes=True),
    "rewrite": Work("data", writes=True),
    "read": Work("data", reads=True),
    "reread": Work("data", reads=True),
    "random_read": Work("data", reads=True),
    "random_write": Work("data", writes=True),
    "backward_read": Work("data", reads=True),
    "record_rewrite": Work("data", writes=True),
    "stride_read": Work("data", reads=True),
    "fwrite": Work("data", writes=True),
    "re_fwrite": Work("data", writes=True),
    "fread": Work("data", reads=True),
    "re_fread": Work("data", reads=True),
    "random_mix": Work("data", reads=True, writes=True),
    "sequential_mix": Work("data", reads=True, writes=True),
    "file_mix": Work("data", reads=True, writes=True),
    "create": Work("names", writes=True),
    "stat": Work("names"),
    "open": Work("names"),
    "readdir": Work("names"),
    "rename": Work("names"),
    "unlink": Work("names"),
    "mkdir": Work("names"),
    "rmdir": Work("names"),
    "put": Work("objects", writes=True),
    "get": Work("objects", reads=True),
    "head": Work("objects"),
    "delete": Work("objects"),
    "list": Work("objects"),
    "copy": Work("objects"),
    "multi_delete": Work("objects"),
    "update": Work("objects", writes=True),
    "batch_put": Work("objects", writes=True),
    "batch_get": Work("objects", reads=True),
    "query": Work("objects", reads=True),
    "scan": Work("objects", reads=True),
    "read_after_put": Work("objects", writes=True),
    "list_after_put": Work("objects", writes=True),
    "object_mix": Work("objects", reads=True, writes=True),
    "run": Work("programs"),
    "replay": Work("programs"),
    "transfer": Work("other"),
    "round_trip": Work("other"),
    "transaction": Work("other"),
}
"""Every operation with a result: iozone's thirteen in iozone's order, the mixes, names, objects; and what only other
tools measure: bytes over a network, requests with their answers, transactions of an application."""

OP_KINDS: dict[str, tuple[Group, Moves]] = {
    "read": ("data", "in"),
    "write": ("data", "out"),
    "sync": ("data", ""),
    "create": ("names", "out"),
    "stat": ("names", ""),
    "open": ("names", ""),
    "readdir": ("names", ""),
    "rename": ("names", ""),
    "unlink": ("names", ""),
    "mkdir": ("names", ""),
    "rmdir": ("names", ""),
    "put": ("objects", "out"),
    "get": ("objects", "in"),
    "head": ("objects", ""),
    "delete": ("objects", ""),
    "list": ("objects", ""),
    "start_upload": ("objects", ""),
    "put_part": ("objects", "out"),
    "complete_upload": ("objects", ""),
    "copy": ("objects", ""),
    "multi_delete": ("objects", ""),
    "update": ("objects", "out"),
    "batch_put": ("objects", "out"),
    "batch_get": ("objects", "in"),
    "query": ("objects", "in"),
    "scan": ("objects", "in"),
    "close": ("names", ""),
    "see": ("objects", ""),
    "run": ("programs", ""),
}
"""Every kind of counted operations -> what it works on, and the direction of its bytes."""


def _of(group: Group) -> tuple[str, ...]:
    return tuple(name for name, work in WORK.items() if work.group == group)


DATA = _of("data")
"""Operations on the data of files and devices."""

METADATA = _of("names")
"""Operations on names and attributes; their rate is operations per second."""

OBJECTS = _of("objects")
"""Operations on whole objects or ranges of them."""

OPERATIONS = DATA + METADATA + OBJECTS
"""Operations that a workload can name."""

PROGRAMS = _of("programs")
"""Operations of commands."""

IMPORTED = _of("other")
"""Operations that only imported runs have."""

TIMED = frozenset({"round_trip", "transaction"})
"""Operations whose mean time is shown beside their rate, since it is the latency that their tools print."""

VISIBILITY = frozenset({"read_after_put", "list_after_put"})
"""Operations that put objects and poll with another client until each is visible."""

NEED_OBJECTS = frozenset(OBJECTS) - {"put", "batch_put"} - VISIBILITY
"""Operations on objects that must exist already."""

DELETES = frozenset({"delete", "multi_delete"})
"""Operations that remove all objects: no time limit stops them, and they cannot be repeated."""

MIXABLE = {
    "object_mix": ("get", "put", "head", "delete", "update"),
    "file_mix": ("read", "write", "create", "stat", "unlink"),
}
"""Mix -> kinds of operations that its `mix` may contain."""

ANY_ORDER = frozenset({"get", "head", "copy", "update", "batch_get", "query", "object_mix"})
"""Operations that fetch or change objects in any order, some more often than others."""

BATCHES = frozenset({"batch_put", "batch_get"})
"""Operations on several objects with each request."""

PAGES = frozenset({"list", "scan"})
"""Operations that list everything page by page; each lane has one request in flight."""

SEARCHES = frozenset({"query", "scan"})
"""Operations that fetch what they find; only the store knows how much that is."""

SHUFFLES = frozenset({"random_read", "random_write", "random_mix"})
"""Operations on the records in random order, so that all records must exist."""

WEAR_OUT = frozenset({"write", "fwrite", "create"})
"""Operations that create new data, in an order in which lanes can catch up with the fastest after a time limit."""

REORDERED = frozenset(name for name in DATA if WORK[name].reads and not WORK[name].writes) | {
    "stat",
    "open",
    "readdir",
    "unlink",
    "rmdir",
}
"""Operations that leave existing data unchanged, so that a lane may use what another lane has made."""

LOOKUPS = frozenset({"stat", "open", "readdir"})
"""Operations that leave the names unchanged, so that they can be repeated for a given time."""

ALL_NAMES = frozenset({"rename", "unlink", "rmdir"})
"""Operations on all existing names: no time limit stops them."""

CREATES = frozenset({"write", "fwrite"})
"""Operations that create the file anew."""

SET_OPERATIONS = (
    "write",
    "rewrite",
    "read",
    "reread",
    "random_read",
    "random_write",
    "random_mix",
    "sequential_mix",
    "file_mix",
)
"""Data operations that also work on sets of files, which a lane opens one after the other. `file_mix` works on nothing
else."""

MIXES = frozenset(name for name in DATA if WORK[name].reads and WORK[name].writes)
"""Operations that read and write data of files."""

STDIO = frozenset({"fwrite", "re_fwrite", "fread", "re_fread"})
"""Operations through C stdio."""

WRITES = frozenset(name for name in DATA if WORK[name].writes)
"""Operations that write to files or devices."""

READS = frozenset(name for name in DATA if WORK[name].reads)
"""Operations that read from files or devices."""

OBJECT_READS = frozenset(name for name in OBJECTS if WORK[name].reads)
"""Operations that read contents of objects."""


OBJECT_WRITES = frozenset(name for name in OBJECTS if WORK[name].writes)
"""Operations that write contents of objects."""

_COUNTED = frozenset(
    (
        *METADATA,
        *VISIBILITY,
        *PROGRAMS,
        "round_trip",
        "transaction",
        *(name for name in OBJECTS if not (WORK[name].reads or WORK[name].writes)),
    )
)


def group_of(operation: str) -> Group:
    """Return what an operation works on; a label such as `stat (2)` counts as its operation."""
    return WORK[operation.split(" ", 1)[0]].group


def is_metadata(operation: str) -> bool:
    """Whether an operation works on names and attributes; it may be a label as in `group_of`."""
    return operation.split(" ", 1)[0] in METADATA


def is_counted(operation: str) -> bool:
    """Whether results are in operations per second, as those of operations on names, and not in bytes per second.

    Runs of programs, requests without contents of objects, round trips and transactions are counted, too, and
    `VISIBILITY`, since their time matters. It may be a label as in `group_of`.
    """
    return operation.split(" ", 1)[0] in _COUNTED
