//! What the engine is asked to do.

use crate::MethodFound;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

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
    /// Size of each file (or of the part of the device that is used), in bytes; with `tree`, contents of each of its
    /// files, where 0 means empty.
    #[schemars(range(min = 0, max = 9_223_372_036_854_775_807_u64))]
    pub file_size_bytes: u64,
    /// Bytes of one operation; iozone's record size, IOR's transfer size.
    #[schemars(range(min = 1, max = 1_073_741_824))]
    pub record_size_bytes: u64,
    /// Operations each lane keeps in flight.
    #[serde(default = "one")]
    #[schemars(range(min = 1, max = 4096))]
    pub queue_depth: u32,
    /// How operations reach the kernel.
    #[serde(default)]
    pub method: Method,
    /// Polling, memory and placement, for those who want to choose.
    #[serde(default)]
    pub tuning: Tuning,
    /// The files that metadata operations work on; none in a job of data operations.
    #[serde(default)]
    pub tree: Option<Tree>,
    /// Open files with O_DIRECT.
    #[serde(default)]
    pub direct: bool,
    /// What makes writes stable, and when. Its time is part of the measured time.
    #[serde(default)]
    pub sync: SyncPolicy,
    /// Reserve the file's space (fallocate) before it is first written.
    #[serde(default)]
    pub preallocate: bool,
    /// What is written and whether reads are checked.
    #[serde(default)]
    pub data: DataSpec,
    /// What is done, in order.
    #[schemars(length(min = 1, max = 64))]
    pub phases: Vec<Phase>,
    /// Length of the intervals that are reported, in nanoseconds.
    #[serde(default = "second")]
    #[schemars(range(min = 10_000_000, max = 3_600_000_000_000_u64))]
    pub interval_ns: u64,
    /// Engine processes that do this job together, each with `lanes` lanes; they differ in `rank` only. Lanes are
    /// numbered through all of them: lane i of rank r is lane r x lanes + i.
    #[serde(default = "one")]
    #[schemars(range(min = 1, max = 65_536))]
    pub ranks: u32,
    /// Number of this process, from 0.
    #[serde(default)]
    pub rank: u32,
    /// At each `barrier` event wait for a line `{"go":true,"at_ns":T}` on standard input: before a phase is set up, before
    /// its lanes start, which they do at that time of this engine's monotonic clock, and before the data is removed.
    #[serde(default)]
    pub wait_for_go: bool,
    /// When standard input has brought no line for so long, the controller is gone and the job stops.
    #[serde(default)]
    #[schemars(range(min = 100_000_000, max = 3_600_000_000_000_u64))]
    pub lease_ns: Option<u64>,
    /// When nothing has ended for so long, the storage counts as hung: the job ends with status `stalled`, and what it has
    /// made stays. A flush of all that was written is one long silence. None: wait for ever.
    #[serde(default)]
    #[schemars(range(min = 1_000_000_000, max = 31_536_000_000_000_000_u64))]
    pub stall_limit_ns: Option<u64>,
    /// A lane stops after this many failed operations in a phase.
    #[serde(default = "hundred")]
    #[schemars(range(min = 1, max = 9_223_372_036_854_775_807_u64))]
    pub error_limit: u64,
    /// Leave the data where it is at the end instead of removing it.
    #[serde(default)]
    pub keep_files: bool,
    /// The data is already there, from a job with the same seed, layout and sizes that kept its files; in a tree, under
    /// the first names.
    #[serde(default)]
    pub reuse_files: bool,
    /// Block devices as `major:minor` whose counts of requests are wanted with each phase: those below the target.
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
fn mebibyte() -> u64 {
    1 << 20
}
fn minute() -> u64 {
    60_000_000_000
}

/// The place that is measured.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "snake_case")]
#[schemars(extend("discriminator" = {"propertyName": "kind"}))]
pub enum Target {
    /// No storage at all: instant, or as scripted.
    #[schemars(title = "NullTarget")]
    Null(NullTarget),
    /// Files below a marked directory.
    #[schemars(title = "FileTarget")]
    File(FileTarget),
    /// A whole block device, which is overwritten.
    #[schemars(title = "DeviceTarget")]
    Device(DeviceTarget),
    /// Files below an NFS export, reached without the kernel's client.
    #[schemars(title = "NfsTarget")]
    Nfs(NfsTarget),
}

/// A device that does nothing, instantly or after a scripted time. Measures the engine and tests the statistics.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct NullTarget {
    /// Service time of each operation; none means instant.
    #[serde(default)]
    pub latency: Option<LatencyModel>,
    /// Times at which the device does nothing.
    #[serde(default)]
    pub stalls: Vec<ScriptedStall>,
    /// Operations that fail.
    #[serde(default)]
    pub errors: Vec<ScriptedError>,
    /// Moments from which another service time holds.
    #[serde(default)]
    pub changes: Vec<ScriptedChange>,
    /// Each phase has its service times multiplied by a factor drawn between 1 - this and 1 + this percent.
    #[serde(default)]
    #[schemars(range(max = 99))]
    pub vary_percent: u32,
    /// The wall clock is seen to jump by this many nanoseconds during each phase, 365 days at most.
    #[serde(default)]
    #[schemars(range(min = -31_536_000_000_000_000_i64, max = 31_536_000_000_000_000_i64))]
    pub clock_step_ns: i64,
    /// Each operation copies its bytes from one block of memory of this size to another, what a host can move at most;
    /// 0 means that nothing is copied. Scripts are not followed then.
    #[serde(default)]
    #[schemars(range(max = 1_073_741_824))]
    pub memory_copy_bytes: u64,
    /// What is written is made as for storage that keeps it; so that a job costs the engine what it would there.
    #[serde(default)]
    pub make_data: bool,
}

/// Distribution of the scripted service time.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "distribution", rename_all = "snake_case", deny_unknown_fields)]
#[schemars(extend("discriminator" = {"propertyName": "distribution"}))]
pub enum LatencyModel {
    /// Always the same.
    #[schemars(title = "FixedLatency")]
    Fixed {
        /// Service time, 365 days at most.
        #[schemars(range(max = 31_536_000_000_000_000_u64))]
        ns: u64,
    },
    /// Equally likely between two bounds.
    #[schemars(title = "UniformLatency")]
    Uniform {
        /// Least service time.
        #[schemars(range(max = 31_536_000_000_000_000_u64))]
        min_ns: u64,
        /// Greatest service time, not below the least.
        #[schemars(range(max = 31_536_000_000_000_000_u64))]
        max_ns: u64,
    },
    /// Memoryless, with the given mean.
    #[schemars(title = "ExponentialLatency")]
    Exponential {
        /// Mean service time.
        #[schemars(range(max = 31_536_000_000_000_000_u64))]
        mean_ns: u64,
    },
}

/// From the submission of a lane's n-th operation the device stands still for that lane.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ScriptedStall {
    /// Number of the operation in the phase, counted from 0 per lane.
    pub at_op: u64,
    /// How long, in nanoseconds.
    #[schemars(range(max = 31_536_000_000_000_000_u64))]
    pub duration_ns: u64,
    /// Only this lane; none means every lane.
    #[serde(default)]
    pub lane: Option<u32>,
}

/// From the submission of a lane's n-th operation on, operations take another time.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ScriptedChange {
    /// Number of the operation in the phase, counted from 0 per lane.
    pub at_op: u64,
    /// Service time from then on.
    pub latency: LatencyModel,
    /// Only this lane; none means every lane.
    #[serde(default)]
    pub lane: Option<u32>,
}

/// A lane's n-th operation fails.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ScriptedError {
    /// Number of the operation in the phase, counted from 0 per lane.
    pub at_op: u64,
    /// The errno it fails with, e.g. 5 for EIO.
    #[schemars(range(min = 1, max = 4095))]
    pub errno: i32,
    /// Only this lane; none means every lane.
    #[serde(default)]
    pub lane: Option<u32>,
}

/// Files in `root`/`directory`. The engine creates and removes the directory and nothing else.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FileTarget {
    /// Absolute path of a directory that holds the marker file `.assay-target`.
    pub root: String,
    /// Name of the directory below it that this job uses: 1 to 128 of `A-Z a-z 0-9 . _ -`, not starting with a dot.
    pub directory: String,
    /// The `identity` in the marker: a root that another run has claimed is refused. None: a marker without one.
    #[serde(default)]
    pub run: Option<String>,
}

/// A block device. All that is on it is lost.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct DeviceTarget {
    /// Absolute path of the device.
    pub path: String,
    /// Must be true: the user has confirmed that the device may be overwritten.
    pub destroy: bool,
}

/// Files in `root`/`directory` of an export, through NFS version 3 over TCP (RFC 1813), spoken by the engine itself.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct NfsTarget {
    /// Servers of the same kind of export, each `HOST` or `HOST:PORT`; lane i uses the (i modulo n)-th.
    #[schemars(length(min = 1, max = 1024))]
    pub servers: Vec<String>,
    /// Path that the servers export.
    pub export: String,
    /// Name of the directory in the export that the engine makes and marks with a file `.assay-target`; one that is
    /// there without the mark is refused.
    pub root: String,
    /// Name of the directory below it that this job uses: 1 to 128 of `A-Z a-z 0-9 . _ -`, not starting with a dot.
    pub directory: String,
    /// Port of the mount service; none: the server's portmapper is asked.
    #[serde(default)]
    pub mount_port: Option<u16>,
    /// TCP connections of each lane (nfs(5) nconnect).
    #[serde(default = "one")]
    #[schemars(range(min = 1, max = 16))]
    pub nconnect: u32,
    /// Bytes of one READ call at most (nfs(5) rsize); the server may allow less.
    #[serde(default = "mebibyte")]
    #[schemars(range(min = 1024, max = 1_073_741_824))]
    pub rsize: u64,
    /// Bytes of one WRITE call at most (nfs(5) wsize); the server may allow less.
    #[serde(default = "mebibyte")]
    #[schemars(range(min = 1024, max = 1_073_741_824))]
    pub wsize: u64,
    /// User that calls are made as (AUTH_SYS); none: the engine's own.
    #[serde(default)]
    pub uid: Option<u32>,
    /// Group that calls are made as; none: the engine's own.
    #[serde(default)]
    pub gid: Option<u32>,
    /// A call without a reply for so long fails (ETIMEDOUT). Until then a broken connection is made anew and what is
    /// without a reply is sent again, as by a hard mount.
    #[serde(default = "minute")]
    #[schemars(range(min = 100_000_000, max = 3_600_000_000_000_u64))]
    pub timeout_ns: u64,
}

/// How lanes share files.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(title = "Layout")]
pub enum Layout {
    /// One file per lane (IOR: file per process).
    #[default]
    Separate,
    /// One file, of which each lane has a contiguous part (IOR: single shared file, one segment).
    Shared,
}

/// How operations reach the kernel.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(title = "Method")]
pub enum Method {
    /// `sync` for one operation in flight. For several `io_uring`, unless the kernel does not offer it or would give a
    /// ring's operations to worker threads of its own; then `threads`. The phase_start event says which and why.
    #[default]
    Auto,
    /// io_uring with a registered file, and with registered buffers where they pay.
    IoUring,
    /// pread and pwrite, one operation at a time.
    Sync,
    /// pread and pwrite in as many threads of each lane as it has operations in flight (as aio(7) of the C library).
    Threads,
    /// Memory copies from and to a shared mapping of the file, one operation at a time. Never chosen by `auto`.
    Mmap,
    /// The engine speaks the store's protocol itself; no file system of the host is between.
    Protocol,
}

/// What an expert may choose. Nothing of it is on by itself.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Tuning {
    /// A kernel thread takes the submissions (IORING_SETUP_SQPOLL; fio sqthread_poll). It keeps a CPU busy.
    #[serde(default)]
    pub sqpoll: bool,
    /// Completions are polled for, not signalled (IORING_SETUP_IOPOLL; fio hipri). Needs O_DIRECT and a polled device queue.
    #[serde(default)]
    pub iopoll: bool,
    /// I/O buffers in huge pages (MAP_HUGETLB; fio iomem=mmaphuge); the host must have reserved enough of them.
    #[serde(default)]
    pub huge_pages: bool,
    /// CPUs to pin lanes to: lane i runs on the (i modulo n)-th. Empty: wherever the kernel puts it.
    #[serde(default)]
    pub cpus: Vec<u32>,
    /// NUMA node whose memory holds the buffers and, unless `cpus` says otherwise, on whose CPUs the lanes run.
    #[serde(default)]
    pub numa_node: Option<u32>,
}

/// The files that metadata operations work on (vdbench: depth, width, files; mdtest: -z, -b, -n).
///
/// With layout `separate` each lane has a tree of its own, with `shared` all lanes work in the same directories.
/// A lane fills one of the deepest directories after the other.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Tree {
    /// Files of each lane, or directories where directories are made.
    #[schemars(range(min = 1, max = 1_000_000_000))]
    pub files: u64,
    /// Levels of directories below the top; 0: everything in one directory.
    #[serde(default)]
    #[schemars(range(max = 16))]
    pub depth: u32,
    /// Directories in each directory that is not one of the deepest.
    #[serde(default = "one")]
    #[schemars(range(min = 1, max = 10_000))]
    pub width: u32,
}

impl Tree {
    /// The deepest directories, which hold the files: width to the power of depth.
    pub fn leaves(&self) -> u64 {
        u64::from(self.width).saturating_pow(self.depth)
    }

    /// Files of a lane in each of the deepest directories; the last ones may hold fewer.
    pub fn files_per_leaf(&self) -> u64 {
        self.files.div_ceil(self.leaves())
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
    /// system, since no call flushes what one lane has made.
    #[default]
    Fsync,
    /// fdatasync by each lane at the end of each writing phase.
    Fdatasync,
    /// Files are opened with O_SYNC: every write is stable with its metadata.
    OSync,
    /// Files are opened with O_DSYNC: every write is stable.
    ODsync,
}

/// What is written. Each byte is a function of (seed, file, offset), so that any host can check it later; 8 bytes of each
/// 512 also say which write of which phase they come from, if records are whole multiples of 512 bytes.
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

/// A stretch of the job between two barriers.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Phase {
    /// What is done.
    pub operation: Operation,
    /// Whether this phase is a result or only prepares one.
    #[serde(default = "yes")]
    pub measured: bool,
    /// How its operations reach the kernel, and why; none: as the job says. Only where the job says `auto`.
    #[serde(default)]
    pub method: Option<MethodFound>,
    /// What is done to the page cache before the phase starts.
    #[serde(default)]
    pub cache_before: CacheAction,
    /// Run for this long, going over the data as often as needed. None: once over the data.
    #[serde(default)]
    #[schemars(range(min = 1, max = 31_536_000_000_000_000_u64))]
    pub runtime_ns: Option<u64>,
    /// Stop once over the data early after this long; the numbers then cover the part done.
    #[serde(default)]
    #[schemars(range(min = 1, max = 31_536_000_000_000_000_u64))]
    pub time_limit_ns: Option<u64>,
    /// Open loop: operations per second of all lanes together; latency counts from the intended start. None: closed loop.
    #[serde(default)]
    #[schemars(range(min = 0.001, max = 1e9))]
    pub rate_per_s: Option<f64>,
    /// Spacing of the intended starts in open loop.
    #[serde(default)]
    pub arrivals: Arrivals,
    /// Share of reads in the mixed operations, in percent.
    #[serde(default = "fifty")]
    #[schemars(range(max = 100))]
    pub read_percent: u8,
    /// Distance of successive records in stride_read, in records.
    #[serde(default = "seventeen")]
    #[schemars(range(min = 1, max = 1_048_576))]
    pub stride_records: u32,
}

fn yes() -> bool {
    true
}
fn fifty() -> u8 {
    50
}
fn seventeen() -> u32 {
    17
}

/// What is done, with iozone's meaning where iozone has the operation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(title = "Operation")]
pub enum Operation {
    /// Write whatever of the data set is missing, in large records, and flush it. Never measured.
    Prepare,
    /// Sequential write of a new file.
    Write,
    /// Sequential write of a file that exists.
    Rewrite,
    /// Sequential read.
    Read,
    /// Sequential read of what was just read.
    Reread,
    /// Read of each record once, in random order.
    RandomRead,
    /// Write of each record once, in random order.
    RandomWrite,
    /// Sequential read from the end to the start.
    BackwardRead,
    /// Write of the same record again and again.
    RecordRewrite,
    /// Read of every n-th record, then from the next one on, until all are read.
    StrideRead,
    /// Sequential write of a new file through C stdio, with a buffer of one record.
    Fwrite,
    /// Sequential write of a file that exists through C stdio.
    ReFwrite,
    /// Sequential read through C stdio.
    Fread,
    /// Sequential read through C stdio of what was just read.
    ReFread,
    /// Reads and writes of records in random order.
    RandomMix,
    /// Reads and writes of records in sequence.
    SequentialMix,
    /// Make each file: open with O_CREAT and O_EXCL, write its contents, close (mdtest file creation).
    Create,
    /// Ask for each file's attributes (statx(2)).
    Stat,
    /// Open each file for reading, and close it.
    Open,
    /// List one of the deepest directories whole; one operation is one directory.
    Readdir,
    /// Give each file another name in its directory; the next time, the first name again.
    Rename,
    /// Remove each file.
    Unlink,
    /// Make directories, as many as the tree has files.
    Mkdir,
    /// Remove them.
    Rmdir,
}

impl Operation {
    /// Operations on the data of files, objects or devices that can be measured.
    pub const DATA: [Operation; 15] = [
        Operation::Write,
        Operation::Rewrite,
        Operation::Read,
        Operation::Reread,
        Operation::RandomRead,
        Operation::RandomWrite,
        Operation::BackwardRead,
        Operation::RecordRewrite,
        Operation::StrideRead,
        Operation::Fwrite,
        Operation::ReFwrite,
        Operation::Fread,
        Operation::ReFread,
        Operation::RandomMix,
        Operation::SequentialMix,
    ];

    /// Operations on names and attributes; they need a tree.
    pub const METADATA: [Operation; 8] = [
        Operation::Create,
        Operation::Stat,
        Operation::Open,
        Operation::Readdir,
        Operation::Rename,
        Operation::Unlink,
        Operation::Mkdir,
        Operation::Rmdir,
    ];

    /// Every operation but `prepare`.
    pub fn measurable() -> impl Iterator<Item = Operation> {
        Operation::DATA.into_iter().chain(Operation::METADATA)
    }

    /// The name used in jobs and events.
    pub fn name(self) -> &'static str {
        match self {
            Operation::Prepare => "prepare",
            Operation::Write => "write",
            Operation::Rewrite => "rewrite",
            Operation::Read => "read",
            Operation::Reread => "reread",
            Operation::RandomRead => "random_read",
            Operation::RandomWrite => "random_write",
            Operation::BackwardRead => "backward_read",
            Operation::RecordRewrite => "record_rewrite",
            Operation::StrideRead => "stride_read",
            Operation::Fwrite => "fwrite",
            Operation::ReFwrite => "re_fwrite",
            Operation::Fread => "fread",
            Operation::ReFread => "re_fread",
            Operation::RandomMix => "random_mix",
            Operation::SequentialMix => "sequential_mix",
            Operation::Create => "create",
            Operation::Stat => "stat",
            Operation::Open => "open",
            Operation::Readdir => "readdir",
            Operation::Rename => "rename",
            Operation::Unlink => "unlink",
            Operation::Mkdir => "mkdir",
            Operation::Rmdir => "rmdir",
        }
    }

    /// Creates the file anew (truncates what is there).
    pub fn creates(self) -> bool {
        matches!(self, Operation::Write | Operation::Fwrite)
    }

    /// Works on names and attributes.
    pub fn metadata(self) -> bool {
        Operation::METADATA.contains(&self)
    }

    /// Issues reads.
    pub fn reads(self) -> bool {
        let writes_only = matches!(
            self,
            Operation::Prepare
                | Operation::Write
                | Operation::Rewrite
                | Operation::RandomWrite
                | Operation::RecordRewrite
                | Operation::Fwrite
                | Operation::ReFwrite
        );
        !writes_only && !self.metadata()
    }

    /// Issues writes.
    pub fn writes(self) -> bool {
        self.mixes() || !(self.reads() || self.metadata())
    }

    /// Changes names, so that it can be done only once over the tree, not for a given time.
    pub fn changes_names(self) -> bool {
        self.metadata() && !matches!(self, Operation::Stat | Operation::Open | Operation::Readdir)
    }

    /// Issues both.
    pub fn mixes(self) -> bool {
        matches!(self, Operation::RandomMix | Operation::SequentialMix)
    }

    /// Goes through C stdio.
    pub fn stdio(self) -> bool {
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
    /// The job's own files are flushed and taken out of the page cache (posix_fadvise DONTNEED).
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
