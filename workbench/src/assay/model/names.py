"""The operations a study can name, and what they do. The contract's `Operation` has the same ones; a test says so."""

OPERATIONS = (
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
"""iozone's thirteen in iozone's order, then the mixes."""

CREATES = frozenset({"write", "fwrite"})
"""Make the file anew."""

MIXES = frozenset({"random_mix", "sequential_mix"})
"""Read and write."""

STDIO = frozenset({"fwrite", "re_fwrite", "fread", "re_fread"})
"""Go through C stdio."""

WRITES = frozenset({"write", "rewrite", "random_write", "record_rewrite", "fwrite", "re_fwrite"}) | MIXES
"""Issue writes."""

READS = frozenset(OPERATIONS) - WRITES | MIXES
"""Issue reads."""
