"""The operations there are, and what they do.

The contract's `Operation` and `OpKind` have the same ones; a test says so. Each is written down once, with all that
follows from it: one that is missing is an error, never taken for another.
"""

from typing import Literal, NamedTuple

Group = Literal["data", "names", "objects"]
"""What an operation works on: bytes of files and devices, names and attributes of files, or objects."""

Moves = Literal["in", "out", ""]
"""Which way the bytes of a kind of operation go: from the storage, to it, or none are moved."""


class Work(NamedTuple):
    """What an operation does.

    Attributes:
        group: What it works on.
        reads: It fetches contents.
        writes: It stores contents.
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
}
"""Every operation that is measured: iozone's thirteen in iozone's order, the mixes, names, objects."""

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
}
"""Every kind that operations are counted by -> what it works on, and which way its bytes go."""


def _of(group: Group) -> tuple[str, ...]:
    return tuple(name for name, work in WORK.items() if work.group == group)


DATA = _of("data")
"""On the data of files and devices."""

METADATA = _of("names")
"""On names and attributes; their rate is operations per second."""

OBJECTS = _of("objects")
"""On objects, each whole or a range of it."""

OPERATIONS = DATA + METADATA + OBJECTS
"""Those that a study can ask for."""

SEES = frozenset({"read_after_put", "list_after_put"})
"""Put objects, and look by another client until each is seen."""

NEED_OBJECTS = frozenset(OBJECTS) - {"put", "batch_put"} - SEES
"""Work on objects that must be there."""

DELETES = frozenset({"delete", "multi_delete"})
"""Remove every object there is: no time limit cuts them short, and none can be done twice."""

MIXABLE = {
    "object_mix": ("get", "put", "head", "delete", "update"),
    "file_mix": ("read", "write", "create", "stat", "unlink"),
}
"""Mix -> kinds of operations that its `mix` may consist of."""

TAKES_ANY = frozenset({"get", "head", "copy", "update", "batch_get", "query", "object_mix"})
"""Fetch or change objects of which any may come at any time, some more often than others."""

BATCHES = frozenset({"batch_put", "batch_get"})
"""Work on several objects with each request."""

PAGES = frozenset({"list", "scan"})
"""Go over what there is, page by page: each lane asks for one at a time."""

FINDS = frozenset({"query", "scan"})
"""Fetch whatever they find: how much that is only the store knows."""

SHUFFLES = frozenset({"random_read", "random_write", "random_mix"})
"""Go over the records in random order, so that all of them must be there."""

WEARS = frozenset({"write", "fwrite", "create"})
"""Make what is not there yet, by an order in which what each lane has done can be evened out after a time limit."""

REORDERED = frozenset(name for name in DATA if WORK[name].reads and not WORK[name].writes) | {
    "stat",
    "open",
    "readdir",
    "unlink",
    "rmdir",
}
"""Work on what is there and leave its contents as they are, so that a lane may take what another has made."""

LOOKUPS = frozenset({"stat", "open", "readdir"})
"""Leave the names as they are, so that they can go round for a given time."""

WHOLE = frozenset({"rename", "unlink", "rmdir"})
"""Are done to every name there is: no time limit cuts them short."""

CREATES = frozenset({"write", "fwrite"})
"""Make the file anew."""

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
"""On data, also of sets of files: a lane opens one file after the other. `file_mix` is of nothing else."""

MIXES = frozenset(name for name in DATA if WORK[name].reads and WORK[name].writes)
"""Read and write data of files."""

STDIO = frozenset({"fwrite", "re_fwrite", "fread", "re_fread"})
"""Go through C stdio."""

WRITES = frozenset(name for name in DATA if WORK[name].writes)
"""Issue writes to files or devices."""

READS = frozenset(name for name in DATA if WORK[name].reads)
"""Issue reads of files or devices."""

OBJECT_READS = frozenset(name for name in OBJECTS if WORK[name].reads)
"""Fetch contents of objects."""


OBJECT_WRITES = frozenset(name for name in OBJECTS if WORK[name].writes)
"""Store contents of objects."""

_COUNTED = frozenset((*METADATA, *SEES, *(name for name in OBJECTS if not (WORK[name].reads or WORK[name].writes))))


def group_of(operation: str) -> Group:
    """What an operation works on; a label such as `stat (2)` counts as its operation."""
    return WORK[operation.split(" ", 1)[0]].group


def is_metadata(operation: str) -> bool:
    """Whether an operation works on names and attributes; labels as of `group_of`."""
    return operation.split(" ", 1)[0] in METADATA


def is_counted(operation: str) -> bool:
    """Whether results are operations per second: those on names, and requests about objects without their contents.

    So are `SEES`, of which the time counts. All others are bytes per second; labels as of `group_of`.
    """
    return operation.split(" ", 1)[0] in _COUNTED
