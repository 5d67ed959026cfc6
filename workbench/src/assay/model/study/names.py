"""The operations a study can name, and what they do. The contract's `Operation` has the same ones; a test says so."""

DATA = (
    "write",
    "rewrite",
    "read",
    "reread",
    "random_read",
    "random_write",
    "backward_read",
    "record_rewrite",
    "stride_read",
    "fwrite",
    "re_fwrite",
    "fread",
    "re_fread",
    "random_mix",
    "sequential_mix",
)
"""On the data of files and devices: iozone's thirteen in iozone's order, then the mixes."""

METADATA = ("create", "stat", "open", "readdir", "rename", "unlink", "mkdir", "rmdir")
"""On names and attributes; their rate is operations per second."""

OPERATIONS = DATA + METADATA

LOOKUPS = frozenset({"stat", "open", "readdir"})
"""Leave the names as they are, so that they can go round for a given time."""

WHOLE = frozenset({"rename", "unlink", "rmdir"})
"""Are done to every name there is: no time limit cuts them short."""

CREATES = frozenset({"write", "fwrite"})
"""Make the file anew."""

MIXES = frozenset({"random_mix", "sequential_mix"})
"""Read and write."""

STDIO = frozenset({"fwrite", "re_fwrite", "fread", "re_fread"})
"""Go through C stdio."""

WRITES = frozenset({"write", "rewrite", "random_write", "record_rewrite", "fwrite", "re_fwrite"}) | MIXES
"""Issue writes."""

READS = frozenset(DATA) - WRITES | MIXES
"""Issue reads."""


def is_metadata(operation: str) -> bool:
    """Whether an operation works on names and attributes; a label such as `stat (2)` counts as its operation."""
    return operation.split(" ", 1)[0] in METADATA
