//! What the engine says, one JSON object a line.

use crate::{BackendCapabilities, Fault, Job, Method, OpKind, Operation};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// One line of the engine's output.
///
/// A run without a `bye` has crashed. Readers ignore fields they do not know.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "event", rename_all = "snake_case")]
#[schemars(extend("discriminator" = {"propertyName": "event"}))]
#[allow(clippy::large_enum_variant)]
pub enum Event {
    /// The engine has read the job.
    #[schemars(title = "HelloEvent")]
    Hello(Hello),
    /// Objects that were there before are being listed.
    #[schemars(title = "ListingEvent")]
    Listing(Listing),
    /// Lanes and files are ready.
    #[schemars(title = "ReadyEvent")]
    Ready(Ready),
    /// Waiting for `go`.
    #[schemars(title = "BarrierEvent")]
    Barrier(Barrier),
    /// Answer to a `ping`.
    #[schemars(title = "PongEvent")]
    Pong(Pong),
    /// The lanes have been released from the barrier.
    #[schemars(title = "PhaseStartEvent")]
    PhaseStart(PhaseStart),
    /// What was completed in a stretch of time.
    #[schemars(title = "IntervalEvent")]
    Interval(Interval),
    /// An upload in parts has begun, or is over.
    #[schemars(title = "UploadEvent")]
    Upload(Upload),
    /// A lane makes more objects than the job says.
    #[schemars(title = "BeyondEvent")]
    Beyond(Beyond),
    /// One failed operation, whole.
    #[schemars(title = "ErrorSampleEvent")]
    ErrorSample(ErrorSample),
    /// A remark.
    #[schemars(title = "LogEvent")]
    Log(Log),
    /// Totals of a phase.
    #[schemars(title = "PhaseEndEvent")]
    PhaseEnd(PhaseEnd),
    /// The last line.
    #[schemars(title = "ByeEvent")]
    Bye(Bye),
}

/// Who speaks, on what, about which job.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Hello {
    /// Version of the contract.
    pub spec_version: u32,
    /// Version of the engine.
    pub engine_version: String,
    /// SHA-256 of the engine's own executable, in hex.
    pub engine_sha256: String,
    /// SHA-256 of the job text as read, in hex.
    pub job_sha256: String,
    /// The job with every default filled in.
    pub job: Job,
    /// Process id.
    pub pid: u32,
    /// Wall clock at the moment of `mono_ns`, nanoseconds since 1970.
    pub wall_ns: u64,
    /// Monotonic clock at the same moment.
    pub mono_ns: u64,
    /// Where the time stamps come from.
    pub clock: String,
    /// CPUs this process may use.
    pub cpus: u32,
    /// Memory of the host in bytes.
    pub memory_bytes: u64,
    /// Kernel release.
    pub kernel: String,
    /// Identity of the machine since its start (/proc/sys/kernel/random/boot_id): hosts that are containers or namespaces
    /// of one machine have the same; empty if unknown.
    #[serde(default)]
    pub boot_id: String,
    /// What the job's backend can do at the job's target, as found by trying.
    pub backend: BackendCapabilities,
}

/// A list that takes long goes on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Listing {
    /// Monotonic time.
    pub at_ns: u64,
    /// Objects that were listed so far.
    pub objects: u64,
}

/// Everything is open.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Ready {
    /// Monotonic time.
    pub at_ns: u64,
    /// Bytes of the I/O buffers of all lanes.
    pub buffer_bytes: u64,
    /// The objects that were there before; none in jobs that make what they work on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub existing: Option<ExistingObjects>,
}

/// Objects that were there before a job: those that were listed, and those of them that its lanes work on, of all
/// processes that do the job together.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ExistingObjects {
    /// Objects in the list.
    pub listed: u64,
    /// Bytes of all of them.
    pub listed_bytes: u64,
    /// Those that were drawn.
    pub objects: u64,
    /// Bytes of these.
    pub bytes: u64,
    /// Size of the smallest that was drawn.
    pub smallest_bytes: u64,
    /// Half of those that were drawn are at most so large.
    pub median_bytes: u64,
    /// Size of the largest that was drawn.
    pub largest_bytes: u64,
}

/// An upload in parts, of which a service keeps the parts until it is completed or aborted. Said before the first part is sent:
/// whoever aborts it later need not rely on a list.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Upload {
    /// Key of the object.
    pub key: String,
    /// What the service calls the upload.
    pub id: String,
    /// It has begun; else it is completed or aborted.
    pub open: bool,
}

/// A lane is about to make objects beyond the number that the job says, as mixes of puts and deletes do.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Beyond {
    /// Number of the lane among those of all processes.
    pub lane: u32,
    /// The numbers of its objects are below this from now on.
    pub objects: u64,
}

/// What engines that do a job together wait for each other with.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(title = "BarrierStep")]
pub enum BarrierStep {
    /// Creating and opening what the phase needs.
    Setup,
    /// Starting the lanes.
    Start,
    /// Going on, at a phase's time limit, until each lane has done as much as any.
    WearOut,
    /// Removing the data of the job.
    Cleanup,
}

/// The engine waits for `go`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Barrier {
    /// With what.
    pub step: BarrierStep,
    /// Number of the phase; none before the data is removed.
    pub phase: Option<u32>,
    /// With `wear_out`, the operations of the lane here that has done most; the controller answers with the most of all
    /// engines, `{"go":true,"most":N}`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub most: Option<u64>,
    /// Monotonic time.
    pub at_ns: u64,
}

/// Answer to a line `{"ping":N}` on standard input.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Pong {
    /// The number that came with it.
    pub ping: u64,
    /// Monotonic time of the answer.
    pub at_ns: u64,
}

/// A phase has started.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct PhaseStart {
    /// Number of the phase in the job, from 0.
    pub phase: u32,
    /// What it does.
    pub operation: Operation,
    /// Whether it is a result.
    pub measured: bool,
    /// Monotonic time of the barrier's release.
    pub at_ns: u64,
    /// How operations reach the kernel in fact.
    pub method: Method,
    /// Why that method, where the job left it open or it differs from the job's.
    pub method_reason: String,
    /// Operations planned for all lanes; none when the phase runs by time.
    pub planned_ops: Option<u64>,
    /// Bytes planned for all lanes; none when the phase runs by time.
    pub planned_bytes: Option<u64>,
    /// Of MPI-IO what the library says of the file that it has opened; none of all else.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mpiio: Option<MpiioUse>,
}

/// What an MPI library says of a file that it has opened.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct MpiioUse {
    /// The library's version in its own words.
    pub library: String,
    /// What does MPI-IO in it, such as `romio`; of Open MPI the components that are loaded, `ompio` or `romio321` or both;
    /// empty if nothing tells.
    pub component: String,
    /// The hints that it says it uses (MPI_File_get_info); Open MPI 4 repeats what it was given.
    pub hints: BTreeMap<String, String>,
}

/// What was completed between two instants. Adding up the intervals of a phase gives its totals exactly.
///
/// The same index can come twice: a lane that was held up reports late.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Interval {
    /// Number of the phase.
    pub phase: u32,
    /// Number of the interval in the phase, from 0.
    pub index: u64,
    /// Its start, nanoseconds after the phase's start.
    pub start_ns: u64,
    /// Its end, nanoseconds after the phase's start.
    pub end_ns: u64,
    /// What was done, kind by kind; kinds of which nothing ended are left out.
    pub operations: Vec<OpInterval>,
    /// Of what ended here the part that was done in intervals before, if an operation is taken to be done evenly from its
    /// start to its end. Closed loop only: in open loop an operation may have waited for its turn.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub earlier: Vec<Earlier>,
}

/// What was done, in each of a stretch of intervals, of operations that ended later.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Earlier {
    /// Number of the first interval.
    pub from: u64,
    /// Number of the interval behind the last.
    pub to: u64,
    /// Operations in each of them, in parts of one.
    pub ops: f64,
    /// Bytes in each of them.
    pub bytes: f64,
}

/// One kind of operation in an interval.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct OpInterval {
    /// Which.
    pub operation: OpKind,
    /// Operations that succeeded.
    pub ops: u64,
    /// Bytes they moved.
    pub bytes: u64,
    /// Operations that failed.
    pub errors: u64,
    /// Latencies: HDR histogram, nanoseconds, V2-deflate, base64; none if none succeeded.
    pub latency: Option<String>,
    /// Times until the first byte came, likewise; none where the protocol does not tell.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub first_byte: Option<String>,
}

/// One kind of operation in a phase.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct OpTotals {
    /// Which.
    pub operation: OpKind,
    /// Operations that succeeded.
    pub ops: u64,
    /// Bytes they moved.
    pub bytes: u64,
    /// Operations that failed.
    pub errors: u64,
    /// Latencies; none if none succeeded.
    pub latency: Option<LatencySummary>,
    /// Times until the first byte came; none where the protocol does not tell.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub first_byte: Option<LatencySummary>,
    /// Latencies of those that fetched an object that the same job had fetched before since it was stored; none if there
    /// were none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub repeated: Option<LatencySummary>,
}

/// One kind of operation of one lane in a phase.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct OpCounts {
    /// Which.
    pub operation: OpKind,
    /// Operations that succeeded.
    pub ops: u64,
    /// Bytes they moved.
    pub bytes: u64,
    /// Operations that failed.
    pub errors: u64,
}

/// Why an operation failed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(title = "ErrorKind")]
pub enum ErrorKind {
    /// The storage said no; see the fault.
    Fault,
    /// Fewer bytes came back than were asked for.
    ShortRead,
    /// Fewer bytes were taken than were given.
    ShortWrite,
    /// The bytes read are not those written.
    Corrupt,
}

/// One failed operation.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ErrorSample {
    /// Number of the phase.
    pub phase: u32,
    /// Lane that met it; none for the set-up of a phase.
    pub lane: Option<u32>,
    /// What was being done: a kind of operation, or open, preallocate, cache, ...
    pub action: String,
    /// File or device.
    pub object: String,
    /// Number of the lane's object or name.
    #[serde(default)]
    pub number: u64,
    /// Offset of the record, or of the first wrong byte.
    pub offset: u64,
    /// Bytes asked for.
    pub length: u64,
    /// Why.
    pub kind: ErrorKind,
    /// What the storage said, if it said something.
    pub fault: Option<Fault>,
    /// One line for people.
    pub message: String,
}

/// How grave a remark is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(title = "Level")]
pub enum Level {
    /// Good to know.
    Info,
    /// Something is not as asked.
    Warning,
}

/// A remark.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Log {
    /// How grave.
    pub level: Level,
    /// One line for people.
    pub message: String,
}

/// How a phase ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(title = "PhaseStatus")]
pub enum PhaseStatus {
    /// Everything planned was done, though operations may have failed.
    Done,
    /// The time limit came first; the numbers cover the part done.
    TimeLimit,
    /// A lane gave up: too many errors, or the phase could not be set up.
    Failed,
    /// Not started, because an earlier phase failed.
    Skipped,
    /// Stopped from outside.
    Stopped,
}

/// Bytes and operations between two instants in which every lane was at work or until the first or last had finished.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Window {
    /// Start, nanoseconds after the phase's start.
    pub start_ns: u64,
    /// End, nanoseconds after the phase's start.
    pub end_ns: u64,
    /// Operations completed between them.
    pub ops: u64,
    /// Bytes completed between them.
    pub bytes: u64,
}

/// How far the lanes were at the time limit of a phase that wears out.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Stonewall {
    /// From the release of the barrier until the last lane had ended what it had begun before the limit.
    pub window: Window,
    /// Operations of the lane that had done least.
    pub least_ops: u64,
    /// Operations of the lane that had done most, of all engines: what each lane did in the end, if it had so many to do.
    pub most_ops: u64,
}

/// Order statistics of latencies in nanoseconds, from the histogram merged over all lanes.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct LatencySummary {
    /// Number of operations.
    pub count: u64,
    /// Least.
    pub min_ns: u64,
    /// Arithmetic mean.
    pub mean_ns: f64,
    /// Half are at most this.
    pub p50_ns: u64,
    /// 90 percent are at most this.
    pub p90_ns: u64,
    /// 99 percent are at most this.
    pub p99_ns: u64,
    /// 99.9 percent are at most this.
    pub p999_ns: u64,
    /// 99.99 percent are at most this.
    pub p9999_ns: u64,
    /// Greatest.
    pub max_ns: u64,
    /// The histogram itself: HDR, three significant digits, V2-deflate, base64.
    pub histogram: String,
}

/// Failed operations of one kind.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ErrorCount {
    /// Why.
    pub kind: ErrorKind,
    /// What the storage said, if it said something.
    pub fault: Option<Fault>,
    /// The fault's name, such as EIO; none if it has none.
    #[serde(default)]
    pub name: Option<String>,
    /// How many.
    pub count: u64,
}

/// One lane's share of a phase.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct LaneResult {
    /// Number of the lane.
    pub lane: u32,
    /// Left the barrier, nanoseconds after the phase's start.
    pub start_ns: u64,
    /// Finished, flush included, nanoseconds after the phase's start.
    pub end_ns: u64,
    /// Time of the flush at the end.
    pub sync_ns: u64,
    /// What it did, kind by kind; kinds of which nothing ended are left out.
    pub operations: Vec<OpCounts>,
    /// Time the lane was ready to run while all CPUs it may use ran something else (run delay of /proc/PID/schedstat);
    /// none if the kernel does not tell.
    #[serde(default)]
    pub cpu_wait_ns: Option<u64>,
}

/// What the engine's process used during a phase.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Resources {
    /// CPU time in user space.
    pub user_ns: u64,
    /// CPU time in the kernel.
    pub system_ns: u64,
    /// Of both together what a service in the process itself has used, which is not the engine's work; none without one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub service_ns: Option<u64>,
    /// Bytes fetched from the storage layer (read_bytes of proc_pid_io(5)); none if the kernel does not tell.
    pub read_bytes: Option<u64>,
    /// Bytes sent to the storage layer (write_bytes of proc_pid_io(5)); none if the kernel does not tell.
    pub write_bytes: Option<u64>,
    /// All CPUs of the host together (proc_stat(5)); none if the kernel does not tell.
    #[serde(default)]
    pub host: Option<HostCpu>,
    /// The block device below the target, whoever used it; none if there is none or the kernel does not tell.
    #[serde(default)]
    pub device: Option<DeviceUse>,
    /// The block devices that the job names in `watch`, in that order, whoever used them; none where the kernel does not
    /// tell.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub watched: Vec<Option<DeviceUse>>,
}

/// CPU time of all CPUs of a host, whoever used it, in steps of 10 milliseconds.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[allow(clippy::struct_field_names)]
pub struct HostCpu {
    /// At work, interrupts included.
    pub busy_ns: u64,
    /// Idle, or idle with I/O outstanding.
    pub idle_ns: u64,
    /// Ready to work, but the hypervisor ran something else.
    pub stolen_ns: u64,
}

/// Requests that a block device has completed (Documentation/admin-guide/iostats.rst of the kernel).
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct DeviceUse {
    /// Bytes read.
    pub read_bytes: u64,
    /// Bytes written.
    pub write_bytes: u64,
    /// Read requests.
    pub reads: u64,
    /// Write requests.
    pub writes: u64,
    /// Time that read requests spent in the device and its queue, added up.
    pub read_ns: u64,
    /// Time that write requests spent in the device and its queue, added up.
    pub write_ns: u64,
    /// Time with at least one request in the device or its queue.
    pub busy_ns: u64,
    /// Flushes of the device's own cache; none if the kernel does not count them. Not counted for partitions.
    #[serde(default)]
    pub flushes: Option<u64>,
}

/// When the process was not run although it was due: a thread asks to be woken on a grid of time, from the phase's start
/// on, and notes how late it was (Gil Tene, jHiccup). It may use the CPUs of the lanes.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[allow(clippy::struct_field_names)]
pub struct Watch {
    /// Distance of the points of the grid.
    pub interval_ns: u64,
    /// How long it watched.
    pub elapsed_ns: u64,
    /// How late it was, once for each point of the grid: a point that passed in a stall counts with what was left of it.
    pub lateness: LatencySummary,
    /// How often it was so late that the next point had come.
    pub stalls: u64,
    /// How late it was then, added up.
    pub stalled_ns: u64,
    /// Longest stall.
    pub longest_ns: u64,
    /// Of the time of the stalls that in which the thread was not waiting for a CPU that ran something else: the process
    /// was stopped, or the CPU itself was not there; none if the kernel does not tell.
    pub away_ns: Option<u64>,
    /// CPU time of the thread.
    pub cpu_ns: u64,
}

/// Connections of all lanes to one host, from when they got ready for a phase to its end. An operation that had to wait for
/// a new connection took that much longer.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct HostConnections {
    /// As the target names it.
    pub host: String,
    /// Requests that were sent to it.
    pub requests: u64,
    /// Connections that were made.
    pub opened: u64,
    /// Connections that could not be made.
    pub refused: u64,
    /// Connections that have ended before their lane did.
    pub closed: u64,
    /// Most requests that one connection has carried since it was made.
    pub most_requests: u64,
    /// Times to make a connection, TLS included; none if none was made.
    pub setup: Option<LatencySummary>,
}

/// What a service has told of the work of a phase.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ServiceUse {
    /// Objects that operations on several at once have stored, fetched, found or removed.
    #[serde(default)]
    pub objects: u64,
    /// Of the objects of such operations those that the service has left undone, while it took others (UnprocessedItems
    /// and UnprocessedKeys of DynamoDB).
    #[serde(default)]
    pub unprocessed: u64,
    /// Read capacity units consumed.
    #[serde(default)]
    pub read_units: f64,
    /// Write capacity units consumed.
    #[serde(default)]
    pub write_units: f64,
    /// Of disks behind frames of the engine's own (AoE): frames sent, those that were sent again among them.
    #[serde(default)]
    pub frames: u64,
    /// Frames sent again because no answer had come in time: they, or their answers, were lost or late.
    #[serde(default)]
    pub frames_again: u64,
    /// Answers to nothing that was under way: late, doubled, of another disk or station.
    #[serde(default)]
    pub frames_stray: u64,
    /// Sessions that were lost with their connections, and with what was under way on them (SMB).
    #[serde(default)]
    pub sessions_lost: u64,
    /// Times that another client asked for an object that had just been put.
    #[serde(default)]
    pub looks: u64,
    /// Of these the ones that were not shown what had been put: nothing, or what was there before.
    #[serde(default)]
    pub stale_looks: u64,
}

impl std::ops::Add for ServiceUse {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        ServiceUse {
            objects: self.objects + other.objects,
            unprocessed: self.unprocessed + other.unprocessed,
            read_units: self.read_units + other.read_units,
            write_units: self.write_units + other.write_units,
            frames: self.frames + other.frames,
            frames_again: self.frames_again + other.frames_again,
            frames_stray: self.frames_stray + other.frames_stray,
            sessions_lost: self.sessions_lost + other.sessions_lost,
            looks: self.looks + other.looks,
            stale_looks: self.stale_looks + other.stale_looks,
        }
    }
}

/// Totals of a phase.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct PhaseEnd {
    /// Number of the phase.
    pub phase: u32,
    /// What it did.
    pub operation: Operation,
    /// Whether it is a result.
    pub measured: bool,
    /// How it ended.
    pub status: PhaseStatus,
    /// What all lanes did, kind by kind; kinds of which nothing ended are left out.
    pub operations: Vec<OpTotals>,
    /// From the release of the barrier to the last lane's end, flush included.
    pub last_finisher: Window,
    /// From the release of the barrier to the first lane's end (stonewall).
    pub first_finisher: Window,
    /// From when every lane had finished one operation to when the first lane ran out; none if there is no such time.
    pub steady: Option<Window>,
    /// With `wear_out`, what had been done at the time limit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stonewall: Option<Stonewall>,
    /// Greatest difference between two lanes' starts.
    pub start_skew_ns: u64,
    /// Open loop: from the intended start of each operation to its submission. Late because every slot was taken by
    /// an operation the storage had not finished, or because the engine itself was late.
    #[serde(default)]
    pub start_delay: Option<LatencySummary>,
    /// What failed, by reason: operations, and what had to be done around them.
    pub errors: Vec<ErrorCount>,
    /// Open loop: operations per second asked for.
    pub target_per_s: Option<f64>,
    /// Open loop: operations that were due in the time but never started.
    pub unstarted_ops: u64,
    /// Bytes that were checked and found right.
    pub verified_bytes: u64,
    /// What was done to the cache before the phase, in words; empty if nothing.
    pub cache_done: String,
    /// Bytes of the phase's files in the host's page cache when it started (cachestat(2), mincore(2)); none for names,
    /// devices, and where the kernel does not tell.
    #[serde(default)]
    pub cached_bytes: Option<u64>,
    /// How far the wall clock was moved during the phase: its time less the monotonic clock's.
    #[serde(default)]
    pub wall_shift_ns: i64,
    /// When the process was not run; none of a phase that is no result or too short to tell.
    #[serde(default)]
    pub watch: Option<Watch>,
    /// Connections, host by host; none where the target has none that the engine itself makes and counts.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub connections: Vec<HostConnections>,
    /// What the service has told; none where it tells nothing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub service: Option<ServiceUse>,
    /// Lane by lane.
    pub lanes: Vec<LaneResult>,
    /// What the process used.
    pub resources: Resources,
}

/// How a job ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(title = "ByeStatus")]
pub enum ByeStatus {
    /// Every phase was done, without a failed operation.
    Ok,
    /// There were failed operations or phases.
    Errors,
    /// The job was refused, or nothing could be set up.
    Refused,
    /// Stopped from outside.
    Stopped,
    /// The storage does not answer: nothing had ended for the job's `stall_limit_ns`. What the job made is still there,
    /// and the process itself may stay for as long as the storage is silent.
    Stalled,
}

/// The last line.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Bye {
    /// How the job ended.
    pub status: ByeStatus,
    /// Why, if it did not end well; one line.
    pub reason: Option<String>,
    /// What the job made on the storage may still be there: it could not be removed.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub left_behind: bool,
    /// Greatest resident memory of the process in bytes.
    pub max_rss_bytes: u64,
    /// Monotonic time.
    pub at_ns: u64,
}

impl PhaseEnd {
    /// Totals of one kind of operation; none if none ended.
    pub fn of(&self, kind: OpKind) -> Option<&OpTotals> {
        self.operations.iter().find(|totals| totals.operation == kind)
    }

    /// Operations of one kind that succeeded.
    pub fn ops(&self, kind: OpKind) -> u64 {
        self.of(kind).map_or(0, |totals| totals.ops)
    }

    /// Bytes that operations of one kind moved.
    pub fn bytes(&self, kind: OpKind) -> u64 {
        self.of(kind).map_or(0, |totals| totals.bytes)
    }

    /// Latencies of one kind of operation; none if none succeeded.
    pub fn latency(&self, kind: OpKind) -> Option<&LatencySummary> {
        self.of(kind).and_then(|totals| totals.latency.as_ref())
    }

    /// Operations of all kinds that succeeded.
    pub fn all_ops(&self) -> u64 {
        self.operations.iter().fold(0, |sum, totals| sum.saturating_add(totals.ops))
    }
}
