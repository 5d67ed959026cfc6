"""Words of other programs for fields of a study, so that a hint can name ours.

`peer_words.py` has the many words without a counterpart here, or with one of another name.
"""

from typing import NamedTuple

from assay.model.study import peer_words


class PeerWord(NamedTuple):
    """A word of another program.

    Attributes:
        program: The program.
        field: Field in a study that replaces it; empty if there is none.
        how: How it is written in a study, or why it is not.
    """

    program: str
    field: str
    how: str

    def hint(self, word: str) -> str:
        """Return a hint such as "fio's `iodepth` is `queue_depth` here: write queue_depth: 16"."""
        counterpart = f"is `{self.field}` here" if self.field else "has no counterpart here"
        return f"{self.program}'s `{word}` {counterpart}: {self.how}"


_BLOCK = ("record_size", "write record_size: 4KiB")
_FILE = ("file_size", "size of each file, such as file_size: 1GiB")
_LANES = ("lanes", "write lanes: 4; each lane has a file of its own, unless layout: shared")
_WORK = ("operations", "write operations: [random_read]")
_TESTS = ("operations", "write operations: [write, rewrite, read, reread, random_read, random_write]")
_MEANT = ("read_percent", "the share of reads in random_mix and sequential_mix, such as read_percent: 70")
_FLUSH = ("sync", "sync: fsync or fdatasync flushes at the end of a phase, o_sync or o_dsync with each write")
_REPEATS = ("repeats", "write repeats: 5 at the top of the study; they are independent runs of each case")
_FIO: dict[str, tuple[str, str]] = {
    **dict.fromkeys(("bs", "blocksize"), _BLOCK),
    "size": _FILE,
    **dict.fromkeys(("rw", "readwrite"), _WORK),
    **dict.fromkeys(("rwmixread", "rwmixwrite"), _MEANT),
    **dict.fromkeys(("fsync", "fdatasync", "end_fsync"), _FLUSH),
    "iodepth": ("queue_depth", "write queue_depth: 16"),
    "numjobs": _LANES,
    "thread": ("", "each lane is a thread; lanes: 4 says how many"),
    "ioengine": ("method", "io_uring, threads, sync or mmap; left out, the best that works"),
    "direct": ("cache", "direct=1 is cache: direct, direct=0 is cache: keep"),
    "buffered": ("cache", "buffered=0 is cache: direct, buffered=1 is cache: keep"),
    "time_based": ("runtime", "runtime: 30s goes over the data as often as needed"),
    "ramp_time": ("", "what is done before every lane is at work is excluded automatically"),
    "nrfiles": ("files", "write files: 1000; each lane then opens this many, one after the other"),
    "rate_iops": ("rate", "operations per second of all lanes together, such as rate: 1000/s"),
    "loops": _REPEATS,
    "cpus_allowed": ("cpus", "write cpus: 0-3,6"),
    "numa_mem_policy": ("numa_node", "write numa_node: 0"),
    "numa_cpu_nodes": ("numa_node", "write numa_node: 0"),
    "sqthread_poll": ("sqpoll", "write sqpoll: true"),
    "hipri": ("iopoll", "write iopoll: true"),
    "buffer_compress_percentage": ("compressible", "percent of the data that is zeros: compressible: 50"),
    "dedupe_percentage": ("duplicate", "percent of the data that is copies: duplicate: 50"),
    "fallocate": ("preallocate", "write preallocate: true"),
    "randseed": ("seed", "write seed: 1 at the top of the study"),
    "group_reporting": ("", "results of lanes are always added up"),
}
_PLACES: dict[str, tuple[str, str]] = {
    "filename": (
        "path",
        "a target states the path: {kind: file, path: /mnt/data/assay} or {kind: device, path: /dev/...}",
    ),
    "directory": ("path", "a target states the path: {kind: file, path: /mnt/data/assay}"),
}
_IOZONE: dict[str, tuple[str, str]] = {
    **dict.fromkeys(("-r", "reclen"), _BLOCK),
    "-s": _FILE,
    "-t": _LANES,
    "-i": _TESTS,
    "-I": ("cache", "write cache: direct"),
    **dict.fromkeys(("-e", "-o"), _FLUSH),
    "-f": _PLACES["filename"],
    "-F": _PLACES["filename"],
}
_VDBENCH: dict[str, tuple[str, str]] = {
    "xfersize": ("record_size", "write record_size: 64KiB"),
    "sizes": ("file_sizes", "write file_sizes: {16KiB: 60, 1MiB: 40}, or file_size: 1MiB if all are the same"),
    "fileselect": ("file_order", "write file_order: sequential or random"),
    "fileio": ("operations", "fileio=random is random_read or random_write, fileio=sequential is read or rewrite"),
    "rdpct": ("read_percent", "the share of reads in random_mix and sequential_mix, such as read_percent: 70"),
    "totalsize": ("total_files", "write how many files there are, such as total_files: 10000"),
    "fwdrate": ("rate", "operations per second of all lanes together, such as rate: 1000/s"),
    "elapsed": ("runtime", "runtime: 30s goes over the files as often as needed"),
    "anchor": ("path", "a target states the path: {kind: file, path: /mnt/a/assay, shares: [/mnt/b/assay]}"),
}
WORKLOADS: dict[str, PeerWord] = {
    **{
        word: PeerWord(program, ours, how)
        for program, rows in (
            ("IOR", peer_words.IOR),
            ("warp", peer_words.WARP),
            ("elbencho", peer_words.ELBENCHO),
            ("vdbench", peer_words.VDBENCH),
            ("iozone", peer_words.IOZONE),
            ("fio", peer_words.FIO),
        )
        for ours, how, words in rows
        for word in words.split()
    },
    **{word: PeerWord("vdbench", *ours) for word, ours in _VDBENCH.items()},
    **{word: PeerWord("fio", *ours) for word, ours in (*_FIO.items(), *_PLACES.items())},
    **{word: PeerWord("iozone", *ours) for word, ours in _IOZONE.items()},
}
"""Words in place of a field of a workload or study."""
TARGETS: dict[str, PeerWord] = {
    **{word: peer for word, peer in WORKLOADS.items() if peer.how in (peer_words.KEYS, peer_words.TLS)},
    **{word: PeerWord("fio", *ours) for word, ours in _PLACES.items()},
}
"""Words in place of a field of a target."""

OPERATIONS: dict[str, PeerWord] = {
    "randread": PeerWord("fio", "random_read", "write operations: [random_read]"),
    "randwrite": PeerWord("fio", "random_write", "write operations: [random_write]"),
    "randrw": PeerWord("fio", "random_mix", "with read_percent: 50, as fio has it"),
    "rw": PeerWord("fio", "sequential_mix", "with read_percent: 50, as fio has it"),
    "readwrite": PeerWord("fio", "sequential_mix", "with read_percent: 50, as fio has it"),
    "trim": PeerWord("fio", "", "nothing is trimmed; operations are write, read, random_read and others"),
    "randtrim": PeerWord("fio", "", "nothing is trimmed; operations are write, read, random_read and others"),
    "mixed": PeerWord("warp", "object_mix", "with mix: {get: 45, put: 15, head: 30, delete: 10}, as warp has it"),
    "multipart": PeerWord("warp", "put", "with part_size: 5MiB"),
    "insert": PeerWord("YCSB", "put", "write operations: [put]"),
    "remove": PeerWord("mdtest", "unlink", "write operations: [create, unlink]"),
}
"""Words in place of an operation."""
