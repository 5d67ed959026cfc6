//! Jobs: what the engine is to do.

use crate::op::patterns;
use crate::{FileOrder, Layout, MethodFound, OpKind, Reorder, Target, Tree};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// One job: one independent execution of one case on one host, by `lanes` worker threads.
///
/// The phases run in order, each between two barriers of all lanes.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Job {
    /// Version of the contract; must be the engine's own.
    pub spec_version: u32,
    /// Name of the job, repeated in the events: 1 to 128 of `A-Z a-z 0-9 . _ -`.
    pub id: String,
    /// Seed of everything that looks random: data, offsets, arrivals.
    #[serde(default)]
    pub seed: u64,
    /// Where the data goes.
    pub target: Target,
    /// Worker threads.
    #[serde(default = "one")]
    #[schemars(range(min = 1, max = 1024))]
    pub lanes: u32,
    /// How lanes share files.
    #[serde(default)]
    pub layout: Layout,
    /// Size of each file (or of the used part of the device), in bytes; with `tree` or `objects`, contents of each file
    /// or object unless `sizes` is given, where 0 means empty.
    #[schemars(range(min = 0, max = 9_223_372_036_854_775_807_u64))]
    pub file_size_bytes: u64,
    /// Contiguous bytes of a lane (IOR's block size): the file consists of segments of one block of each lane, the file
    /// of one lane of segments of one block. Random orders process it segment by segment. None: one segment.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 9_223_372_036_854_775_807_u64))]
    pub block_size_bytes: Option<u64>,
    /// Bytes of one operation; iozone's record size, IOR's transfer size.
    #[schemars(range(min = 1, max = 1_073_741_824))]
    pub record_size_bytes: u64,
    /// Operations that each lane keeps in flight.
    #[serde(default = "one")]
    #[schemars(range(min = 1, max = 4096))]
    pub queue_depth: u32,
    /// How operations reach the kernel.
    #[serde(default)]
    pub method: Method,
    /// Options for polling, memory and CPU placement.
    #[serde(default)]
    pub tuning: Tuning,
    /// The files that metadata operations work on, or a set of files that operations on data work on; none: one file
    /// per lane, or one for all.
    #[serde(default)]
    pub tree: Option<Tree>,
    /// The objects that object operations work on; none in other jobs.
    #[serde(default)]
    pub objects: Option<Objects>,
    /// Sizes of the files of a tree, or of objects, as a function of the seed and the object's number; none: all are
    /// `file_size_bytes`.
    #[serde(default)]
    pub sizes: Option<Sizes>,
    /// Open files with O_DIRECT.
    #[serde(default)]
    pub direct: bool,
    /// What makes writes stable, and when. Its time is part of the measured time.
    #[serde(default)]
    pub sync: SyncPolicy,
    /// Reserve the file's space (fallocate) before it is first written.
    #[serde(default)]
    pub preallocate: bool,
    /// What is written, and whether reads are checked.
    #[serde(default)]
    pub data: DataSpec,
    /// The phases, in order.
    #[schemars(length(min = 1, max = 64))]
    pub phases: Vec<Phase>,
    /// Length of the reported intervals, in nanoseconds.
    #[serde(default = "second")]
    #[schemars(range(min = 10_000_000, max = 3_600_000_000_000_u64))]
    pub interval_ns: u64,
    /// Engine processes that do this job together, each with `lanes` lanes; they differ in `rank` only. Lanes are
    /// numbered across all of them: lane i of rank r is lane r x lanes + i.
    #[serde(default = "one")]
    #[schemars(range(min = 1, max = 65_536))]
    pub ranks: u32,
    /// Number of this process, from 0.
    #[serde(default)]
    pub rank: u32,
    /// At each `barrier` event wait for a line `{"go":true,"at_ns":T}` on standard input: before a phase is set up,
    /// before its lanes start, which they do at that time of this engine's monotonic clock, and before the data is
    /// removed.
    #[serde(default)]
    pub wait_for_go: bool,
    /// If standard input brings no line for this long, the controller is gone and the job stops.
    #[serde(default)]
    #[schemars(range(min = 100_000_000, max = 3_600_000_000_000_u64))]
    pub lease_ns: Option<u64>,
    /// If nothing ends for this long, the storage counts as hung: the job ends with status `stalled`, and its data
    /// stays. A flush of everything written is one long silence. None: wait for ever.
    #[serde(default)]
    #[schemars(range(min = 1_000_000_000, max = 31_536_000_000_000_000_u64))]
    pub stall_limit_ns: Option<u64>,
    /// A lane stops after this many failed operations in a phase.
    #[serde(default = "hundred")]
    #[schemars(range(min = 1, max = 9_223_372_036_854_775_807_u64))]
    pub error_limit: u64,
    /// Keep the data at the end instead of removing it.
    #[serde(default)]
    pub keep_files: bool,
    /// Seed of the order and the times of operations; none: `seed`. With it, jobs with the same data, and so with the
    /// same `seed`, process it in different orders.
    #[serde(default)]
    pub order_seed: Option<u64>,
    /// The data exists already, from a job with the same seed, layout and sizes that kept its files; in a tree, under
    /// the first names.
    #[serde(default)]
    pub reuse_files: bool,
    /// Block devices, as `major:minor`, whose request counts are reported with each phase: those below the target.
    #[serde(default)]
    #[schemars(length(max = 64))]
    pub watch: Vec<String>,
}

fn one() -> u32 {
    1
}
fn second() -> u64 {
    1_000_000_000
}
fn hundred() -> u64 {
    100
}

/// How operations reach the kernel.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(title = "Method")]
pub enum Method {
    /// `sync` for one operation in flight, except for direct writes of 256 KiB or more that the kernel executes itself.
    /// For several `io_uring`, unless the kernel does not offer it or would pass a ring's operations to its own worker
    /// threads; then `threads`. The phase_start event states the method and the reason.
    #[default]
    Auto,
    /// io_uring with a registered file, and with registered buffers where they pay off.
    IoUring,
    /// pread and pwrite, one operation at a time.
    Sync,
    /// pread and pwrite in as many threads of each lane as it has operations in flight (as aio(7) of the C library).
    Threads,
    /// Memory copies from and to a shared mapping of the file, one operation at a time. Never chosen by `auto`.
    Mmap,
    /// The engine's own client of the store's protocol, without a file system of the host.
    Protocol,
    /// The MPI-IO of the MPI that the engine is linked to; with several operations in flight its nonblocking calls.
    MpiIo,
}

/// Options for experts. All are off by default.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Tuning {
    /// A kernel thread polls for submissions (IORING_SETUP_SQPOLL; fio sqthread_poll). It keeps a CPU busy.
    #[serde(default)]
    pub sqpoll: bool,
    /// Completions are polled for, not signalled (IORING_SETUP_IOPOLL; fio hipri). Needs O_DIRECT and a polled device queue.
    #[serde(default)]
    pub iopoll: bool,
    /// I/O buffers in huge pages (MAP_HUGETLB; fio iomem=mmaphuge); the host must have reserved enough of them.
    #[serde(default)]
    pub huge_pages: bool,
    /// CPUs to pin lanes to: lane i runs on the (i modulo n)-th. Empty: no pinning.
    #[serde(default)]
    pub cpus: Vec<u32>,
    /// NUMA node whose memory holds the buffers and, unless `cpus` is given, on whose CPUs the lanes run.
    #[serde(default)]
    pub numa_node: Option<u32>,
}

/// The objects that object operations work on. Each lane has its own objects.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Objects {
    /// Objects of each lane.
    #[schemars(range(min = 1, max = 1_000_000_000))]
    pub count: u64,
    /// Larger objects are stored in parts of this size (S3 multipart upload); none: in one piece.
    #[serde(default)]
    #[schemars(range(min = 1, max = 9_223_372_036_854_775_807_u64))]
    pub part_size_bytes: Option<u64>,
    /// Objects of one `batch_put` or `batch_get`.
    #[serde(default = "batch")]
    #[schemars(range(min = 1, max = 1000))]
    pub batch: u16,
}

/// The most that one batch can write (DynamoDB BatchWriteItem).
fn batch() -> u16 {
    25
}

/// How often each of a lane's objects is accessed, in operations that may access any of them.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "distribution", rename_all = "snake_case", deny_unknown_fields)]
#[schemars(extend("discriminator" = {"propertyName": "distribution"}))]
pub enum Access {
    /// Each once, in random order; then each again in another.
    #[default]
    #[schemars(title = "UniformAccess")]
    Uniform,
    /// The k-th most popular is accessed in proportion to 1/k^`exponent`; the order of popularity is random (Zipf's
    /// law; YCSB's scrambled zipfian has 0.99).
    #[schemars(title = "ZipfianAccess")]
    Zipfian {
        /// Above 0.
        #[schemars(range(min = 0.01, max = 10.0))]
        exponent: f64,
    },
    /// Some are hot: the first ones, all equally likely, and so are all others among themselves (YCSB hotspot).
    #[schemars(title = "HotspotAccess")]
    Hotspot {
        /// Share of the operations on hot objects, in percent.
        #[schemars(range(min = 1, max = 99))]
        operations_percent: u8,
        /// Share of the objects that are hot, in percent; one at least.
        #[schemars(range(min = 0.001, max = 99.0))]
        objects_percent: f64,
    },
}

impl Access {
    /// True if all are accessed equally often.
    pub fn is_uniform(&self) -> bool {
        *self == Access::Uniform
    }
}

/// Sizes of files or objects.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "distribution", rename_all = "snake_case", deny_unknown_fields)]
#[schemars(extend("discriminator" = {"propertyName": "distribution"}))]
pub enum Sizes {
    /// One of these sizes, in proportion to their weights (vdbench sizes).
    #[schemars(title = "ListedSizes")]
    Listed {
        /// At least one.
        #[schemars(length(min = 1, max = 1000))]
        sizes: Vec<WeightedSize>,
    },
    /// Any whole number of bytes between two bounds, equally likely.
    #[schemars(title = "RangeOfSizes")]
    Range {
        /// Least size in bytes.
        #[schemars(range(max = 9_223_372_036_854_775_807_u64))]
        min_bytes: u64,
        /// Greatest size in bytes, not below the least.
        #[schemars(range(max = 9_223_372_036_854_775_807_u64))]
        max_bytes: u64,
    },
    /// Between two bounds, each power of two equally likely, and within it each size (warp --obj.randsize).
    #[schemars(title = "Log2Sizes")]
    Log2 {
        /// Least size in bytes, at least 1.
        #[schemars(range(min = 1, max = 9_223_372_036_854_775_807_u64))]
        min_bytes: u64,
        /// Greatest size in bytes, not below the least.
        #[schemars(range(min = 1, max = 9_223_372_036_854_775_807_u64))]
        max_bytes: u64,
    },
}

/// One of several sizes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct WeightedSize {
    /// The size in bytes.
    #[schemars(range(max = 9_223_372_036_854_775_807_u64))]
    pub bytes: u64,
    /// Frequency relative to the others.
    #[serde(default = "one")]
    #[schemars(range(min = 1, max = 1_000_000))]
    pub weight: u32,
}

impl Sizes {
    /// The smallest size in bytes.
    pub fn smallest(&self) -> u64 {
        match self {
            Sizes::Listed { sizes } => sizes.iter().map(|size| size.bytes).min().unwrap_or(0),
            Sizes::Range { min_bytes, .. } | Sizes::Log2 { min_bytes, .. } => *min_bytes,
        }
    }

    /// The largest size in bytes.
    pub fn largest(&self) -> u64 {
        match self {
            Sizes::Listed { sizes } => sizes.iter().map(|size| size.bytes).max().unwrap_or(0),
            Sizes::Range { max_bytes, .. } | Sizes::Log2 { max_bytes, .. } => *max_bytes,
        }
    }
}

/// What makes writes stable, and when.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(title = "SyncPolicy")]
pub enum SyncPolicy {
    /// Nothing: the data may still be in memory when the clock stops.
    None,
    /// fsync by each lane at the end of each writing phase (iozone -e). In a tree syncfs, which flushes the whole file
    /// system, since no call flushes only what one lane has written.
    #[default]
    Fsync,
    /// fdatasync by each lane at the end of each writing phase.
    Fdatasync,
    /// Files are opened with O_SYNC: every write is stable with its metadata.
    OSync,
    /// Files are opened with O_DSYNC: every write is stable.
    ODsync,
}

/// The written data. Each byte is a function of (seed, file, offset), so that any host can check it later; 8 bytes of
/// each 512 also identify the phase and the write, if records are whole multiples of 512 bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[derive(Default)]
pub struct DataSpec {
    /// Share of each 4 KiB that is zeros, in percent.
    #[serde(default)]
    #[schemars(range(max = 100))]
    pub compressible_percent: u8,
    /// Share of 4 KiB blocks that are copies of one of 16 common blocks, in percent.
    #[serde(default)]
    #[schemars(range(max = 100))]
    pub duplicate_percent: u8,
    /// Check every byte that is read.
    #[serde(default)]
    pub verify: bool,
}

/// A part of the job between two barriers.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Phase {
    /// The operation.
    pub operation: Operation,
    /// Whether this phase is a result or only prepares one.
    #[serde(default = "yes")]
    pub measured: bool,
    /// How its operations reach the kernel, and why; none: as the job's `method`. Only if that is `auto`.
    #[serde(default)]
    pub method: Option<MethodFound>,
    /// What is done to the page cache before the phase starts.
    #[serde(default)]
    pub cache_before: CacheAction,
    /// Run for this long, repeating the data as often as needed. None: process the data once.
    #[serde(default)]
    #[schemars(range(min = 1, max = 31_536_000_000_000_000_u64))]
    pub runtime_ns: Option<u64>,
    /// Stop early after this long, before all of the data is processed; the numbers then cover the executed part.
    #[serde(default)]
    #[schemars(range(min = 1, max = 31_536_000_000_000_000_u64))]
    pub time_limit_ns: Option<u64>,
    /// At the time limit every lane continues until it has done as many operations as the lane with the most (IOR -D
    /// with stoneWallingWearOut). Later reading phases process what was written.
    #[serde(default)]
    pub wear_out: bool,
    /// Open loop: operations per second of all lanes together; latency counts from the intended start. None: closed loop.
    #[serde(default)]
    #[schemars(range(min = 0.001, max = 1e9))]
    pub rate_per_s: Option<f64>,
    /// Spacing of the intended starts in open loop.
    #[serde(default)]
    pub arrivals: Arrivals,
    /// With a mixed operation, the kinds of operations and their shares in percent, 100 together.
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "crate::mix::each_once")]
    pub mix: Option<BTreeMap<OpKind, u8>>,
    /// With `get`, fetch this many bytes from a random offset of each object instead of all of it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 9_223_372_036_854_775_807_u64))]
    pub range_bytes: Option<u64>,
    /// How often each object is fetched or changed; none: equally often.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub access: Option<Access>,
    /// Distance of successive records in stride_read, in records.
    #[serde(default = "seventeen")]
    #[schemars(range(min = 1, max = 1_048_576))]
    pub stride_records: u32,
    /// In an operation on the data of a tree's files, the order of the files.
    #[serde(default)]
    pub file_order: FileOrder,
    /// Which lane's part of the data each lane works on; none: its own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reorder: Option<Reorder>,
}

fn yes() -> bool {
    true
}
fn seventeen() -> u32 {
    17
}

/// What an operation works on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Group {
    /// The bytes of files or devices.
    Data,
    /// Names and attributes of files; they need a tree.
    Names,
    /// Complete objects.
    Objects,
    /// Programs that a target of kind command runs, and traces that one of kind replay replays.
    Programs,
}

/// One line for each operation: its name in jobs and events, what it works on, and whether it reads and writes bytes of
/// files.
macro_rules! operations {
    ($($(#[$doc:meta])* $operation:ident, $name:literal, $group:expr, $reads:literal, $writes:literal;)*) => {
        /// An operation, with iozone's meaning if iozone has it.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
        #[serde(rename_all = "snake_case")]
        #[schemars(title = "Operation")]
        pub enum Operation {
            $($(#[$doc])* $operation,)*
        }

        impl Operation {
            /// Every operation, in the order of the documentation.
            pub const ALL: &'static [Operation] = &[$(Operation::$operation),*];

            /// The name used in jobs and events.
            pub const fn name(self) -> &'static str {
                match self { $(Operation::$operation => $name),* }
            }

            /// What it works on; None for `prepare`, which creates whatever the other phases need.
            pub const fn group(self) -> Option<Group> {
                match self { $(Operation::$operation => $group),* }
            }

            /// Issues reads of files or devices.
            pub const fn reads(self) -> bool {
                match self { $(Operation::$operation => $reads),* }
            }

            /// Issues writes to files or devices.
            pub const fn writes(self) -> bool {
                match self { $(Operation::$operation => $writes),* }
            }
        }
    };
}

operations! {
    /// Write the missing part of the data set, in large records, and flush it. Never measured.
    Prepare, "prepare", None, false, true;
    /// Sequential write of a new file.
    Write, "write", Some(Group::Data), false, true;
    /// Sequential write of a file that exists.
    Rewrite, "rewrite", Some(Group::Data), false, true;
    /// Sequential read.
    Read, "read", Some(Group::Data), true, false;
    /// Sequential read of what was just read.
    Reread, "reread", Some(Group::Data), true, false;
    /// Read of each record once, in random order.
    RandomRead, "random_read", Some(Group::Data), true, false;
    /// Write of each record once, in random order.
    RandomWrite, "random_write", Some(Group::Data), false, true;
    /// Sequential read from the end to the start.
    BackwardRead, "backward_read", Some(Group::Data), true, false;
    /// Write of the same record again and again.
    RecordRewrite, "record_rewrite", Some(Group::Data), false, true;
    /// Read of every n-th record, then again from the next record on, until all are read.
    StrideRead, "stride_read", Some(Group::Data), true, false;
    /// Sequential write of a new file through C stdio, with a buffer of one record.
    Fwrite, "fwrite", Some(Group::Data), false, true;
    /// Sequential write of a file that exists through C stdio.
    ReFwrite, "re_fwrite", Some(Group::Data), false, true;
    /// Sequential read through C stdio.
    Fread, "fread", Some(Group::Data), true, false;
    /// Sequential read through C stdio of what was just read.
    ReFread, "re_fread", Some(Group::Data), true, false;
    /// Reads and writes of records in random order.
    RandomMix, "random_mix", Some(Group::Data), true, true;
    /// Reads and writes of records in sequence.
    SequentialMix, "sequential_mix", Some(Group::Data), true, true;
    /// On one file of a tree after the other: read it, overwrite it, get its attributes, remove it, or create one that
    /// was removed.
    FileMix, "file_mix", Some(Group::Data), true, true;
    /// Create each file: open with O_CREAT and O_EXCL, write its contents, close (mdtest file creation).
    Create, "create", Some(Group::Names), false, false;
    /// Get each file's attributes (statx(2)).
    Stat, "stat", Some(Group::Names), false, false;
    /// Open each file for reading, and close it.
    Open, "open", Some(Group::Names), false, false;
    /// List all of a leaf directory; one operation is one directory.
    Readdir, "readdir", Some(Group::Names), false, false;
    /// Give each file another name in its directory; the next time, the first name again.
    Rename, "rename", Some(Group::Names), false, false;
    /// Remove each file.
    Unlink, "unlink", Some(Group::Names), false, false;
    /// Create directories, as many as the tree has files.
    Mkdir, "mkdir", Some(Group::Names), false, false;
    /// Remove these directories.
    Rmdir, "rmdir", Some(Group::Names), false, false;
    /// Store each object.
    Put, "put", Some(Group::Objects), false, false;
    /// Fetch each object in random order, whole or a range of it.
    Get, "get", Some(Group::Objects), false, false;
    /// Get each object's attributes, in random order.
    Head, "head", Some(Group::Objects), false, false;
    /// Remove each object.
    Delete, "delete", Some(Group::Objects), false, false;
    /// List the names of a lane's objects, page by page; one operation is one page.
    List, "list", Some(Group::Objects), false, false;
    /// Have the service copy each object to another name, in random order.
    Copy, "copy", Some(Group::Objects), false, false;
    /// Remove the objects, up to 1000 with each operation (S3 DeleteObjects).
    MultiDelete, "multi_delete", Some(Group::Objects), false, false;
    /// Replace each object's contents, in random order (DynamoDB UpdateItem).
    Update, "update", Some(Group::Objects), false, false;
    /// Store the objects, several with each operation (DynamoDB BatchWriteItem).
    BatchPut, "batch_put", Some(Group::Objects), false, false;
    /// Fetch the objects, several with each operation (DynamoDB BatchGetItem).
    BatchGet, "batch_get", Some(Group::Objects), false, false;
    /// Fetch the objects of a partition, each partition with one operation, in random order (DynamoDB Query).
    Query, "query", Some(Group::Objects), false, false;
    /// Fetch all objects, page by page; one operation is one page (DynamoDB Scan). Each lane has a part of the store.
    Scan, "scan", Some(Group::Objects), false, false;
    /// Store each object, and fetch it with another client until the new contents are visible.
    ReadAfterPut, "read_after_put", Some(Group::Objects), false, false;
    /// Store each object, and list it with another client until it is visible.
    ListAfterPut, "list_after_put", Some(Group::Objects), false, false;
    /// Puts, gets, heads, updates and deletes of objects; puts store new objects, deletes remove the oldest, and gets
    /// fetch any existing one.
    ObjectMix, "object_mix", Some(Group::Objects), false, false;
    /// Run the target's program once for each task.
    Run, "run", Some(Group::Programs), false, false;
    /// Replay the target's trace once for each lane.
    Replay, "replay", Some(Group::Programs), false, false;
}

patterns! {
    Operation:
    /// A pattern of the operations on the bytes of files and devices.
    data_operations = Write Rewrite Read Reread RandomRead RandomWrite BackwardRead RecordRewrite StrideRead Fwrite
        ReFwrite Fread ReFread RandomMix SequentialMix FileMix;
    /// A pattern of the operations on names of files.
    name_operations = Create Stat Open Readdir Rename Unlink Mkdir Rmdir;
    /// A pattern of the operations on objects.
    object_operations = Put Get Head Delete List Copy MultiDelete Update BatchPut BatchGet Query Scan ReadAfterPut
        ListAfterPut ObjectMix;
    /// A pattern of the operations that run programs and replay traces.
    program_operations = Run Replay;
}

impl Operation {
    /// Every operation except `prepare`.
    pub fn measurable() -> impl Iterator<Item = Operation> {
        Operation::ALL.iter().copied().filter(|operation| operation.group().is_some())
    }

    /// The operations of a group.
    pub fn of_group(group: Group) -> impl Iterator<Item = Operation> {
        Operation::ALL.iter().copied().filter(move |operation| operation.group() == Some(group))
    }

    /// The operations of file systems: on data and on names.
    pub fn of_files() -> impl Iterator<Item = Operation> {
        Operation::of_group(Group::Data).chain(Operation::of_group(Group::Names))
    }

    /// True if it creates the file anew (truncates an existing one).
    pub const fn creates(self) -> bool {
        matches!(self, Operation::Write | Operation::Fwrite)
    }

    /// True if it works on names and attributes.
    pub fn metadata(self) -> bool {
        self.group() == Some(Group::Names)
    }

    /// True if it works on the files of a tree only; the tree of programs has one file for each task.
    pub fn needs_tree(self) -> bool {
        self.metadata() || self.runs_programs() || self == Operation::FileMix
    }

    /// True if it runs programs or replays traces.
    pub fn runs_programs(self) -> bool {
        self.group() == Some(Group::Programs)
    }

    /// True if it works on objects.
    pub fn objects(self) -> bool {
        self.group() == Some(Group::Objects)
    }

    /// True if it fetches or changes objects, any of which may be accessed at any time.
    pub const fn accesses_any_object(self) -> bool {
        matches!(
            self,
            Operation::Get
                | Operation::Head
                | Operation::Copy
                | Operation::Update
                | Operation::BatchGet
                | Operation::Query
                | Operation::ObjectMix
        )
    }

    /// True if it stores contents of objects.
    pub const fn stores_objects(self) -> bool {
        matches!(self, Operation::Put | Operation::Update | Operation::BatchPut | Operation::ObjectMix)
            || self.checks_visibility()
    }

    /// True if it checks, with another client, that stored objects are visible.
    pub const fn checks_visibility(self) -> bool {
        matches!(self, Operation::ReadAfterPut | Operation::ListAfterPut)
    }

    /// True if it moves the contents of several objects at once.
    pub const fn moves_several(self) -> bool {
        matches!(self, Operation::BatchPut | Operation::BatchGet | Operation::Query | Operation::Scan)
    }

    /// True if it removes objects, so that it can process them only once, not for a given time.
    pub const fn removes_objects(self) -> bool {
        matches!(self, Operation::Delete | Operation::MultiDelete)
    }

    /// True if it changes names, so that it can process the tree only once, not for a given time.
    pub fn changes_names(self) -> bool {
        self.metadata() && !matches!(self, Operation::Stat | Operation::Open | Operation::Readdir)
    }

    /// The kinds of operations that a mix may consist of; empty for all other operations.
    pub const fn mixable(self) -> &'static [OpKind] {
        match self {
            Operation::RandomMix | Operation::SequentialMix => &[OpKind::Read, OpKind::Write],
            Operation::FileMix => &[OpKind::Read, OpKind::Write, OpKind::Create, OpKind::Stat, OpKind::Unlink],
            Operation::ObjectMix => &[OpKind::Put, OpKind::Get, OpKind::Head, OpKind::Delete, OpKind::Update],
            Operation::Prepare
            | Operation::Write
            | Operation::Rewrite
            | Operation::Read
            | Operation::Reread
            | Operation::RandomRead
            | Operation::RandomWrite
            | Operation::BackwardRead
            | Operation::RecordRewrite
            | Operation::StrideRead
            | Operation::Fwrite
            | Operation::ReFwrite
            | Operation::Fread
            | Operation::ReFread
            | Operation::Put
            | Operation::Get
            | Operation::Head
            | Operation::Delete
            | Operation::List
            | Operation::Copy
            | Operation::MultiDelete
            | Operation::Update
            | Operation::BatchPut
            | Operation::BatchGet
            | Operation::Query
            | Operation::Scan
            | Operation::ReadAfterPut
            | Operation::ListAfterPut
            | name_operations!()
            | program_operations!() => &[],
        }
    }

    /// True if it consists of several kinds of operations, in shares that the job specifies.
    pub const fn mixes(self) -> bool {
        !self.mixable().is_empty()
    }

    /// True if it uses C stdio.
    pub const fn stdio(self) -> bool {
        matches!(self, Operation::Fwrite | Operation::ReFwrite | Operation::Fread | Operation::ReFread)
    }
}

/// What is done to the page cache before a phase starts.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(title = "CacheAction")]
pub enum CacheAction {
    /// Nothing.
    #[default]
    Keep,
    /// The job's own files are flushed and evicted from the page cache (posix_fadvise DONTNEED).
    Evict,
    /// The host's whole page cache is dropped (sync, then 3 into /proc/sys/vm/drop_caches); needs root.
    Drop,
}

/// Spacing of the intended starts in open loop.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(title = "Arrivals")]
pub enum Arrivals {
    /// Equal spacing.
    #[default]
    Constant,
    /// A Poisson process.
    Poisson,
}
