"""The parameters of a workload, each defined once with all its properties.

The definitions determine what may be written in a workload, what may be an axis, the fields of the engine's job, the
columns of exported tables, the words of reports, the schema of studies and the reference in docs.
"""

import functools
import math
from collections.abc import Mapping
from types import MappingProxyType
from typing import Annotated, Literal, get_args

from pydantic.fields import FieldInfo

from assay.model.partial import Partial
from assay.model.study import axis, commands, contents, mpiio, tuning
from assay.model.study.axis import AxisValue
from assay.model.study.contents import Sizes
from assay.model.study.names import (
    ANY_ORDER,
    MIXABLE,
    MIXES,
    REORDERED,
    SET_OPERATIONS,
    WEAR_OUT,
    WORK,
    WRITES,
    Group,
)
from assay.model.study.parameter import Parameter
from assay.model.study.shape import directories

ServerCache = Literal["keep", "drop"]
"""keep: servers keep their caches; drop: hosts that serve the target drop their caches before each phase, after the
clients have written back theirs.
"""
CachePolicy = Literal["direct", "drop", "evict", "limit", "remount", "keep"]
"""How the page cache is kept out of a result, or in it.

direct: O_DIRECT; drop: the host's cache is dropped before each phase; evict: the case's files are evicted from the
cache before each phase; limit: the engine runs in a memory cgroup of `memory_limit` bytes; remount: file systems that
Assay mounted are mounted anew; keep: the cache is deliberately left as it is.
"""
Layout = Literal["separate", "shared"]
Method = Literal["auto", "io_uring", "threads", "sync", "mmap"]
Sync = Literal["none", "fsync", "fdatasync", "o_sync", "o_dsync"]
Arrivals = Literal["constant", "poisson"]
FileOrder = Literal["sequential", "random"]
Order = Literal["none", "node", "lane", "random"]

ON_FILES = tuning.ON_FILES
FETCHES = frozenset(name for name, work in WORK.items() if work.reads)
"""Operations that read contents."""
MOVES = frozenset(name for name, work in WORK.items() if work.reads or work.writes)
"""Operations that read or write contents."""

MAX_NS = 365 * 86400 * 10**9
"""The engine's limit for times: a year."""


class Parameters(Partial):
    """Everything that determines what a case does, with defaults applied. Sizes in bytes, times in nanoseconds.

    Metadata operations have no `record_size`, only sets of files and metadata operations have `files`, and only
    operations on objects have `objects`; None means not set. A case of a study has a value for every parameter; in
    evidence from elsewhere any may be missing (`Partial`).
    """

    file_size: Annotated[
        int,
        Parameter(
            kind=axis.size(0, 2**63 - 1),
            about="Size of each file, or of the part of the device that is used. With metadata operations: size of each"
            " small file; 0, the default there, means empty.",
            heading="Size of each file",
            unknown_text="how large the files were",
            column="file_size_bytes",
            report_row="always",
            is_required=True,
            names_default=(0,),
            objects_default=(0,),
            only=("data", "names"),
            programs_default=(0,),
        ),
    ]
    record_size: Annotated[
        int | None,
        Parameter(
            kind=axis.size(1, 2**30),
            about="Bytes of one operation on data.",
            heading="Bytes of one operation on data",
            unknown_text="how large the records were",
            column="record_size_bytes",
            report_row="always",
            only=("data",),
            is_required=True,
            names_default=(None,),
            objects_default=(None,),
            programs_default=(None,),
        ),
    ] = None
    total_size: Annotated[int | None, contents.TOTAL_SIZE] = None
    block_size: Annotated[
        int | None,
        Parameter(
            kind=axis.size(1, 2**63 - 1, optional=True),
            about="Contiguous bytes of each lane (IOR -b); a file consists of segments, each of one block "
            "of every lane that works on it. Random orders go through the file segment by segment. Left out: the bytes"
            " of a lane are in one piece.",
            heading="Contiguous bytes of each lane; empty: its whole part",
            unknown_text="how the lanes shared out the file",
            column="block_size_bytes",
            report_row="limit",
            job="block_size_bytes",
            only=("data",),
        ),
    ] = None
    segments: Annotated[
        int | None,
        Parameter(
            kind=axis.whole(1, 2**40, optional=True),
            about="Segments of a file (IOR -s), instead of file_size: with layout: shared the file has segments x "
            "block_size x all lanes bytes, with layout: separate each file has segments x block_size.",
            heading="Segments of a file, if the study sets them",
            unknown_text="how many segments a file had",
            report_row="limit",
            only=("data",),
        ),
    ] = None
    files: Annotated[
        int | None,
        Parameter(
            kind=axis.whole(1, 10**9, optional=True),
            about="Metadata operations: files of each lane, or directories where directories are made. Operations on "
            "data: they work on a set of this many files of each lane, one after the other, and not on one file.",
            heading="Files of each lane, of metadata operations and sets of files",
            unknown_text="how many files there were",
            title="Files per lane",
            report_row="always",
            job="tree.files",
            only=("names", "data"),
            sets_only=True,
        ),
    ] = None
    total_files: Annotated[
        int | None,
        Parameter(
            kind=axis.whole(1, 10**12, optional=True),
            about="Files of all lanes of all hosts together, instead of files: shared out evenly; the first lanes "
            "may have one more.",
            heading="Files of all lanes together, if the study sets them",
            unknown_text="how many files there were in all",
            title="Files of all lanes",
            report_row="limit",
            only=("names", "data"),
            sets_only=True,
        ),
    ] = None
    scale: Annotated[
        float,
        Parameter(
            kind=axis.factor(1e-9, 1e9),
            about="Factor for the number of files, and with it for the number of the deepest directories: each has as "
            "many files as before, as nearly as whole numbers allow.",
            heading="Factor for the number of files",
            unknown_text="whether the number of files was scaled",
            report_row="limit",
            only=("names", "data"),
            sets_only=True,
        ),
    ] = 1.0
    file_sizes: Annotated[
        int | str | None,
        Parameter(
            kind=contents.file_sizes(),
            about="Sets of files: sizes of the files, instead of file_size. `{64KiB: 70, 1MiB: 30}`: these sizes, in "
            "proportion to their weights; `uniform 4KiB..1MiB`: any size between, all equally likely; `4KiB..1MiB`: any"
            " size between, with each power of two equally likely.",
            heading="Sets of files: sizes of the files, if they have several",
            unknown_text="whether files had several sizes",
            report_row="limit",
            only=("data",),
            sets_only=True,
        ),
    ] = None
    file_order: Annotated[
        FileOrder,
        Parameter(
            kind=axis.choice(get_args(FileOrder)),
            about="Sets of files: which file is opened next. sequential: by number, directory after directory; random: "
            "each once in random order, then each again in another.",
            heading="Sets of files: which file was opened next",
            unknown_text="how files followed each other",
            report_row="limit",
            only=("data",),
            sets_only=True,
            used_by=SET_OPERATIONS,
        ),
    ] = "sequential"
    depth: Annotated[
        int,
        Parameter(
            kind=axis.whole(0, 16),
            about="Metadata operations and sets of files: levels of directories below the top.",
            heading="Metadata operations and sets of files: levels of directories",
            unknown_text="how deep the directories were",
            title="Levels of directories",
            report_row="always",
            job="tree.depth",
            only=("names", "data"),
            sets_only=True,
        ),
    ] = 0
    width: Annotated[
        int,
        Parameter(
            kind=axis.whole(1, 10_000),
            about="Metadata operations and sets of files: directories in each that is not one of the deepest.",
            heading="Metadata operations and sets of files: directories in each that is not one of the deepest",
            unknown_text="how wide the tree of directories was",
            title="Directories in each",
            report_row="always",
            job="tree.width",
            only=("names", "data"),
            sets_only=True,
        ),
    ] = 1
    inner: Annotated[
        bool,
        Parameter(
            kind=axis.flag(),
            about="Metadata operations and sets of files: every directory of the tree has files, not only the deepest "
            "ones (mdtest without -L).",
            heading="Metadata operations and sets of files: every directory had files",
            unknown_text="whether all directories had files",
            title="Files in every directory",
            report_row="limit",
            job="tree.inner",
            only=("names", "data"),
            sets_only=True,
        ),
    ] = False
    objects: Annotated[
        int | None,
        Parameter(
            kind=axis.whole(1, 10**9, optional=True),
            about="Operations on objects: objects of each lane.",
            heading="Operations on objects: objects of each lane",
            unknown_text="how many objects there were",
            title="Objects per lane",
            report_row="always",
            only=("objects",),
            objects_default=(1000,),
        ),
    ] = None
    object_size: Annotated[
        int | str | None,
        Parameter(
            kind=contents.object_size(),
            about="Operations on objects: size of each object. `4KiB..1MiB`: any size between, with each power of two"
            " equally likely; `{4KiB: 70, 1MiB: 30}`: these sizes, in proportion to their weights.",
            heading="Operations on objects: size of each, or sizes",
            unknown_text="how large the objects were",
            report_row="always",
            only=("objects",),
        ),
    ] = None
    part_size: Annotated[
        int | None,
        Parameter(
            kind=axis.size(1, 2**63 - 1, optional=True),
            about="Objects that are larger are put in parts of this size (multipart upload); S3 takes parts from 5MiB "
            "to 5GiB. Left out: whole.",
            heading="Larger objects are put in parts of this size",
            unknown_text="whether objects were put in parts",
            column="part_size_bytes",
            report_row="limit",
            only=("objects",),
        ),
    ] = None
    range: Annotated[
        int | None,
        Parameter(
            kind=axis.size(1, 2**63 - 1, optional=True),
            about="get reads this many bytes at a random offset of each object. Left out: the whole object.",
            heading="Bytes that a get reads; empty: whole objects",
            unknown_text="whether objects were read whole",
            column="range_bytes",
            title="Range of a get",
            report_row="limit",
            only=("objects",),
        ),
    ] = None
    batch: Annotated[
        int | None,
        Parameter(
            kind=axis.whole(1, 1000, optional=True),
            about="batch_put, batch_get: objects of each request. Left out: 25; DynamoDB takes 25 in batch_put and 100 "
            "in batch_get.",
            heading="Objects of each request of batch_put and batch_get; empty: 25",
            unknown_text="how many objects there were in a batch",
            title="Objects of a batch",
            report_row="limit",
            only=("objects",),
        ),
    ] = None
    access: Annotated[
        str,
        Parameter(
            kind=contents.access(),
            about="How often each object is fetched or changed: uniform (each once, in random order, then again), "
            "zipfian (the k-th most popular in proportion to 1 / k^0.99; zipfian 1.2: another exponent), or hotspot "
            "80/20 (80 percent of the requests to the first 20 percent of each lane's objects).",
            heading="How often each object was used",
            unknown_text="how often each object was used",
            report_row="limit",
            only=("objects",),
            used_by=ANY_ORDER,
        ),
    ] = "uniform"
    mix: Annotated[
        str | None,
        Parameter(
            kind=contents.mix(),
            about="Shares of a mix in percent: object_mix of get, put, head, delete, update; file_mix of read, "
            "write, create, stat, unlink, each of a whole file.",
            heading="Shares of object_mix or file_mix in percent",
            unknown_text="the shares of the mix",
            only=("objects", "data"),
            objects_default=(contents.DEFAULT_MIX,),
            used_by=MIXABLE,
        ),
    ] = None
    hosts: Annotated[
        int,
        Parameter(
            kind=axis.whole(1, 4096),
            about="Number of the study's hosts, in order, that generate the load together.",
            heading="Machines that generated the load",
            unknown_text="how many machines generated the load",
            report_row="setting",
            of_programs=True,
        ),
    ] = 1
    servers: Annotated[
        int | None,
        Parameter(
            kind=axis.whole(1, 1024, optional=True),
            about="Number of the target's servers, in order, that are used. Left out: all.",
            heading="Servers of the target that were used; empty: all",
            unknown_text="how many servers were used",
            of_programs=True,
        ),
    ] = None
    streams: Annotated[
        int | None,
        Parameter(
            kind=axis.whole(1, 2**20, optional=True),
            about="Worker threads of all hosts together, instead of lanes; a multiple of hosts, and of tasks_per_host.",
            heading="Worker threads of all hosts together, if the study sets them",
            unknown_text="how many worker threads there were in all",
            of_programs=True,
        ),
    ] = None
    tasks: Annotated[
        int | None,
        Parameter(
            kind=axis.whole(1, commands.MAX_TASKS, optional=True),
            about="Commands: how often the program is run, by the lanes of all hosts in turn; or a word for each task.",
            heading="How often the program was run; empty: it was no command",
            unknown_text="how many tasks there were",
            report_row="always",
            only=("programs",),
            of_programs=True,
            programs_default=(1,),
        ),
    ] = None
    threads: Annotated[int | None, commands.THREADS] = None
    pace: Annotated[str | None, commands.PACE] = None
    tasks_per_host: Annotated[
        int,
        Parameter(
            kind=axis.whole(1, 1024),
            about="Engines on each host, each with `lanes` of its own: MPI's processes, Slurm's tasks.",
            heading="Engines on each host",
            unknown_text="how many processes generated the load on each host",
            title="Tasks per host",
            report_row="setting",
        ),
    ] = 1
    lanes: Annotated[
        int,
        Parameter(
            kind=axis.whole(1, 1024),
            about="Worker threads of each host; with tasks_per_host of each of its engines.",
            heading="Worker threads of each host, or of each engine",
            unknown_text="how many worker threads there were",
            report_row="always",
            job="lanes",
            of_programs=True,
        ),
    ] = 1
    layout: Annotated[
        Layout,
        Parameter(
            kind=axis.choice(get_args(Layout)),
            about="separate: one file per lane; shared: one file, of which each lane has a part. With metadata "
            "operations: a tree of directories per lane, or one for all. Objects are each lane's own.",
            heading="File per lane, or one shared file",
            unknown_text="whether the lanes shared a file",
            report_row="words",
            job="layout",
            used_by=ON_FILES,
        ),
    ] = "separate"
    queue_depth: Annotated[
        int,
        Parameter(
            kind=axis.whole(1, 4096),
            about="Operations each lane keeps in flight.",
            heading="Operations each lane keeps in flight",
            unknown_text="how many operations were in flight",
            report_row="always",
            job="queue_depth",
        ),
    ] = 1
    reorder: Annotated[
        Order,
        Parameter(
            kind=axis.choice(get_args(Order)),
            about="Whose data a lane reads, so that no host reads data that it has in memory: its own (none), that of a"
            " lane reorder_by hosts further (node, IOR -C), of a lane reorder_by lanes further (lane, mdtest -N), or of"
            " a random one (random, IOR -Z). Of the metadata operations it applies to stat, open, readdir, unlink and"
            " rmdir.",
            heading="Whose data a lane read",
            unknown_text="the lanes whose data was read",
            title="Order of lanes",
            report_row="limit",
            used_by=REORDERED,
        ),
    ] = "none"
    reorder_by: Annotated[
        int,
        Parameter(
            kind=axis.whole(1, 2**20),
            about="Distance of reorder in hosts or lanes (IOR -Q).",
            heading="Distance in hosts or lanes",
            unknown_text="how far the lanes were shifted",
            title="Order of lanes, further by",
            needs=(("reorder", ("node", "lane")),),
            used_by=REORDERED,
        ),
    ] = 1
    method: Annotated[
        Method,
        Parameter(
            kind=axis.choice(get_args(Method)),
            about="How operations reach the kernel: io_uring, threads (pread and pwrite in as many threads as "
            "operations are in flight), sync (pread and pwrite), mmap (copies from and to a mapping of the file), or "
            "auto.",
            heading="How operations were to reach the kernel",
            unknown_text="how operations reached the kernel",
            column="method_asked",
            job="method",
            used_by=ON_FILES,
        ),
    ] = "auto"
    sqpoll: Annotated[bool, tuning.SQPOLL] = False
    iopoll: Annotated[bool, tuning.IOPOLL] = False
    huge_pages: Annotated[bool, tuning.HUGE_PAGES] = False
    cpus: Annotated[str | None, tuning.CPUS] = None
    numa_node: Annotated[int | None, tuning.NUMA_NODE] = None
    cache: Annotated[
        CachePolicy,
        Parameter(
            kind=axis.choice(get_args(CachePolicy)),
            about="direct: O_DIRECT; drop: the host's caches are dropped before each phase; evict: the case's files "
            "are taken out of the cache before each phase; limit: the engine gets memory_limit bytes; remount: the"
            " mounts that Assay made on the hosts are unmounted and mounted again before phases that find files there;"
            " keep: left alone on purpose. Metadata operations have keep (the default there), drop, limit and remount;"
            " those on objects have keep.",
            heading="What was done about the page cache",
            unknown_text="what was done about the page cache",
            report_row="words",
            names_default=("keep",),
            objects_default=("keep",),
            used_by=ON_FILES,
            of_programs=True,
            programs_default=("drop",),
        ),
    ] = "direct"
    server_cache: Annotated[
        ServerCache,
        Parameter(
            kind=axis.choice(get_args(ServerCache)),
            about="drop: hosts that serve the target drop their page caches, too, before each phase: those of a "
            "box, and those of the inventory that the target names. Needs root there.",
            heading="What was done about the caches of servers",
            unknown_text="what was done about the caches of servers",
            report_row="limit",
            only=("data", "names"),
            of_programs=True,
        ),
    ] = "keep"
    memory_limit: Annotated[
        int | None,
        Parameter(
            kind=axis.size(1, 2**63 - 1, optional=True),
            about="Memory of the engine and of the cache it fills, with cache: limit.",
            heading="Memory limit of the engine",
            unknown_text="whether memory was limited",
            column="memory_limit_bytes",
            report_row="limit",
        ),
    ] = None
    sync: Annotated[
        Sync,
        Parameter(
            kind=axis.choice(get_args(Sync)),
            about="What makes writes stable: fsync or fdatasync at the end of a phase, o_sync or o_dsync, or none. "
            "Objects have none: a put ends when the service has the object.",
            heading="What makes writes stable",
            unknown_text="whether writes were flushed",
            report_row="words",
            job="sync",
            objects_default=("none",),
            used_by=ON_FILES,
            programs_default=("none",),
        ),
    ] = "fsync"
    preallocate: Annotated[
        bool,
        Parameter(
            kind=axis.flag(),
            about="Reserve the file's space before it is written.",
            heading="Space was reserved before the first write",
            unknown_text="whether space was reserved before the first write",
            job="preallocate",
            used_by=WRITES,
        ),
    ] = False
    rate: Annotated[
        float | None,
        Parameter(
            kind=axis.rate(0.001, 1e9),
            about="Open loop: operations per second of all lanes together. Left out: as fast as possible.",
            heading="Open loop: requested operations per second",
            unknown_text="whether a rate was requested",
            column="rate_per_s",
            title="Requested rate (operations/s)",
            report_row="limit",
            job="phase.rate_per_s",
        ),
    ] = None
    arrivals: Annotated[
        Arrivals,
        Parameter(
            kind=axis.choice(get_args(Arrivals)),
            about="Spacing of the operations at a rate: constant or poisson.",
            heading="Open loop: spacing of the intended starts",
            unknown_text="how the operations were spaced",
            report_row="words",
            job="phase.arrivals",
            requires_value_of="rate",
        ),
    ] = "constant"
    runtime: Annotated[
        int | None,
        Parameter(
            kind=axis.duration(1, MAX_NS, optional=True),
            about="Run each phase for this long, over the data as often as needed. Left out: once over the data. Of the"
            " metadata operations only stat, open and readdir repeat; the others are done once, as are deletes of"
            " objects.",
            heading="Run for this long",
            unknown_text="whether it ran for a fixed time",
            column="runtime_ns",
            title="Run time",
            report_row="limit",
        ),
    ] = None
    time_limit: Annotated[
        int | None,
        Parameter(
            kind=axis.duration(1, MAX_NS, optional=True),
            about="Stop a phase after this long; the result then covers the part done. rename, unlink, rmdir, delete"
            " and multi_delete are always completed.",
            heading="Stop early after this long",
            unknown_text="whether it was stopped early",
            column="time_limit_ns",
            report_row="limit",
        ),
    ] = None
    wear_out: Annotated[
        bool,
        Parameter(
            kind=axis.flag(),
            about="At the time_limit of write, fwrite and create every lane goes on until it has done as much as the"
            " fastest lane had done by then (IOR -D with stoneWallingWearOut). The operations after it work on what is"
            " there, and have no time_limit.",
            heading="At the time limit every lane did as much as the fastest",
            unknown_text="whether lanes went on after the time limit",
            title="Wear-out",
            report_row="limit",
            only=("data", "names"),
            used_by=WEAR_OUT,
        ),
    ] = False
    read_percent: Annotated[
        int,
        Parameter(
            kind=axis.whole(0, 100),
            about="Share of reads in random_mix and sequential_mix.",
            heading="Share of reads in mixed operations",
            unknown_text="the share of reads",
            title="Reads (%)",
            only=("data",),
            used_by=MIXES - {"file_mix"},
        ),
    ] = 50
    stride: Annotated[
        int,
        Parameter(
            kind=axis.whole(1, 2**20),
            about="Distance of successive records in stride_read, in records.",
            heading="Distance of records in stride_read",
            unknown_text="the stride",
            column="stride_records",
            title="Stride (records)",
            only=("data",),
            job="phase.stride_records",
            used_by=("stride_read",),
        ),
    ] = 17
    verify: Annotated[
        bool,
        Parameter(
            kind=axis.flag(),
            about="Check every byte that is read.",
            heading="Every byte read was checked",
            unknown_text="whether what was read was checked",
            report_row="words",
            job="data.verify",
            used_by={*FETCHES, commands.REPLAY},
            of_programs=True,
        ),
    ] = False
    compressible: Annotated[
        int,
        Parameter(
            kind=axis.whole(0, 100),
            about="Percent of the data that is zeros.",
            heading="Share of the data that is zeros",
            unknown_text="whether the data could be compressed",
            column="compressible_percent",
            title="Compressible (%)",
            report_row="words",
            job="data.compressible_percent",
            used_by=MOVES,
        ),
    ] = 0
    duplicate: Annotated[
        int,
        Parameter(
            kind=axis.whole(0, 100),
            about="Percent of the data that is copies of a few blocks.",
            heading="Share of the data that are copies",
            unknown_text="whether the data repeated itself",
            column="duplicate_percent",
            title="Duplicate (%)",
            report_row="words",
            job="data.duplicate_percent",
            used_by=MOVES,
        ),
    ] = 0

    collective: Annotated[bool, mpiio.COLLECTIVE] = False
    pointer: Annotated[mpiio.Pointer, mpiio.POINTER] = "explicit"
    view: Annotated[mpiio.View, mpiio.VIEW] = "none"
    atomic: Annotated[bool, mpiio.ATOMIC] = False
    cb_nodes: Annotated[int | None, mpiio.CB_NODES] = None
    cb_buffer_size: Annotated[int | None, mpiio.CB_BUFFER_SIZE] = None
    romio_cb_read: Annotated[mpiio.HintSwitch | None, mpiio.ROMIO_CB_READ] = None
    romio_cb_write: Annotated[mpiio.HintSwitch | None, mpiio.ROMIO_CB_WRITE] = None
    romio_ds_read: Annotated[mpiio.HintSwitch | None, mpiio.ROMIO_DS_READ] = None
    romio_ds_write: Annotated[mpiio.HintSwitch | None, mpiio.ROMIO_DS_WRITE] = None
    striping_factor: Annotated[int | None, mpiio.STRIPING_FACTOR] = None
    striping_unit: Annotated[int | None, mpiio.STRIPING_UNIT] = None

    @property
    def all_lanes(self) -> int:
        """Lanes of all hosts together."""
        return self.host_lanes * self.hosts

    @property
    def host_lanes(self) -> int:
        """Lanes of one host, over all its engines; for evidence from elsewhere, lanes of all its engines."""
        return self.lanes * (self.get_value("tasks_per_host") or 1)

    @property
    def lane_shift(self) -> int:
        """How many lanes further the data is that a lane reads; 0: its own, or that of a random lane."""
        by = {"node": self.host_lanes, "lane": 1}.get(self.reorder, 0)
        return self.reorder_by * by % self.all_lanes

    @property
    def all_files(self) -> int:
        """Files in trees of all lanes together; 0 if each lane has one file, or all share one."""
        return self.total_files or (self.files or 0) * self.all_lanes

    @property
    def lanes_with_extra_file(self) -> int:
        """Number of lanes, the first ones, that have one file more than `files`."""
        return self.all_files - (self.files or 0) * self.all_lanes

    @property
    def is_on_set(self) -> bool:
        """Its operations work on the data of sets of files."""
        return self.get_value("files") is not None and self.get_value("record_size") is not None

    @property
    def sizes(self) -> Sizes:
        """Sizes of the files: one, unless `file_sizes` is set."""
        return contents.parse_sizes(self.get_value("file_sizes") or self.file_size)

    @property
    def in_flight(self) -> int:
        """Operations in flight, over all lanes of all hosts."""
        return self.all_lanes * self.queue_depth

    @property
    def data_set_bytes(self) -> int:
        """Bytes of all files together; the expected number if files differ in size."""
        if self.get_value("files") is not None:
            return math.ceil(self.all_files * self.sizes.mean)
        return self.file_size * (self.all_lanes if self.layout == "separate" else 1)

    @property
    def all_objects(self) -> int:
        """Objects of all lanes together; 0 for other operations."""
        return (self.objects or 0) * self.all_lanes

    @property
    def object_sizes(self) -> Sizes:
        """Sizes of the objects; only 0 for other operations."""
        return contents.parse_sizes(self.object_size or 0)

    @property
    def has_existing_objects(self) -> bool:
        """The objects exist already, so that only their list shows their sizes."""
        return self.objects is not None and self.object_size is None

    @property
    def directory_count(self) -> int:
        """Directories of a tree that hold files: the deepest ones, width to the power of depth, or all (`inner`)."""
        return directories(self.width, self.depth, self.inner)

    def get(self, name: str) -> AxisValue:
        """Return the value of a parameter by name.

        Raises:
            MissingValue: The value is missing.
        """
        value: AxisValue = getattr(self, name)
        return value


def _definition(field: FieldInfo) -> Parameter:
    return next(item for item in field.metadata if isinstance(item, Parameter))


DEFINITIONS: Mapping[str, Parameter] = MappingProxyType(
    {name: _definition(field) for name, field in Parameters.model_fields.items()}
)
"""Parameter -> its definition, in the order of columns and of the reference."""
Parameters.may_be_missing = {name: item.unknown_text for name, item in DEFINITIONS.items()}
DEFAULTS: Mapping[str, AxisValue] = MappingProxyType(
    {name: None if field.is_required() else field.default for name, field in Parameters.model_fields.items()}
)
"""Parameter -> its default in workloads of data operations."""


@functools.cache
def inapplicable_fields(group: Group) -> frozenset[str]:
    """Return the parameters that do not apply to operations of a group."""
    return frozenset(name for name, item in DEFINITIONS.items() if not item.applies_to(group))


def default_value(name: str, group: Group) -> AxisValue:
    """Return the default of a parameter in workloads of a group's operations."""
    return next(iter(DEFINITIONS[name].own_default(group)), DEFAULTS[name])
