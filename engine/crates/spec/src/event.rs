//! The engine's events, one JSON object a line.

use crate::{BackendCapabilities, Fault, Job, Method, OpKind, Operation, Replay, Task};
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
    /// Existing objects are being listed.
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
    /// The operations completed in an interval.
    #[schemars(title = "IntervalEvent")]
    Interval(Interval),
    /// A multipart upload has begun, or has been completed or aborted.
    #[schemars(title = "UploadEvent")]
    Upload(Upload),
    /// A lane stores more objects than the job's count.
    #[schemars(title = "BeyondEvent")]
    Beyond(Beyond),
    /// One failed operation, with all details.
    #[schemars(title = "ErrorSampleEvent")]
    ErrorSample(ErrorSample),
    /// A task of a command has ended.
    #[schemars(title = "TaskEvent")]
    Task(Task),
    /// A copy of a trace was replayed.
    #[schemars(title = "ReplayEvent")]
    Replay(Replay),
    /// A message for users.
    #[schemars(title = "LogEvent")]
    Log(Log),
    /// Totals of a phase.
    #[schemars(title = "PhaseEndEvent")]
    PhaseEnd(PhaseEnd),
    /// The last line.
    #[schemars(title = "ByeEvent")]
    Bye(Bye),
}

/// The engine, its host and the job that it has read.
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
    /// The source of time stamps.
    pub clock: String,
    /// CPUs that this process may use.
    pub cpus: u32,
    /// Memory of the host in bytes.
    pub memory_bytes: u64,
    /// Kernel release.
    pub kernel: String,
    /// Identity of the machine since its start (/proc/sys/kernel/random/boot_id): the same for hosts that are
    /// containers or namespaces of one machine; empty if unknown.
    #[serde(default)]
    pub boot_id: String,
    /// What the job's backend can do at the job's target, found by trying.
    pub backend: BackendCapabilities,
}

/// A long list is still being read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Listing {
    /// Monotonic time.
    pub at_ns: u64,
    /// Objects listed so far.
    pub objects: u64,
}

/// Everything is open.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Ready {
    /// Monotonic time.
    pub at_ns: u64,
    /// Bytes of the I/O buffers of all lanes.
    pub buffer_bytes: u64,
    /// The objects that existed before; none in jobs that create their objects.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub existing: Option<ExistingObjects>,
}

/// Objects that existed before a job: those that were listed, and those of them that the lanes of all its processes
/// work on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ExistingObjects {
    /// Objects in the list.
    pub listed: u64,
    /// Bytes of all of them.
    pub listed_bytes: u64,
    /// Objects that were drawn for the lanes.
    pub objects: u64,
    /// Bytes of the drawn objects.
    pub bytes: u64,
    /// Size of the smallest drawn object.
    pub smallest_bytes: u64,
    /// Median size of the drawn objects.
    pub median_bytes: u64,
    /// Size of the largest drawn object.
    pub largest_bytes: u64,
}

/// A multipart upload, whose parts a service keeps until it is completed or aborted. Sent before the first part, so
/// that it can be aborted later without relying on a list.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Upload {
    /// Key of the object.
    pub key: String,
    /// The service's id of the upload.
    pub id: String,
    /// True: it has begun; false: it is completed or aborted.
    pub open: bool,
}

/// A lane is about to store objects beyond the job's count, as mixes of puts and deletes do.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Beyond {
    /// Number of the lane among those of all processes.
    pub lane: u32,
    /// From now on the numbers of its objects are below this.
    pub objects: u64,
}

/// The step that engines of one job wait to start together.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(title = "BarrierStep")]
pub enum BarrierStep {
    /// Creating and opening what the phase needs.
    Setup,
    /// Starting the lanes.
    Start,
    /// Continuing after a phase's time limit until each lane has done as much as any.
    WearOut,
    /// Removing the data of the job.
    Cleanup,
}

/// The engine waits for `go`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Barrier {
    /// The step that waits.
    pub step: BarrierStep,
    /// Number of the phase; none before the data is removed.
    pub phase: Option<u32>,
    /// With `wear_out`, the operations of this engine's furthest lane; the controller answers with the most of all
    /// engines, `{"go":true,"most":N}`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub most: Option<u64>,
    /// Monotonic time.
    pub at_ns: u64,
}

/// Answer to a line `{"ping":N}` on standard input.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Pong {
    /// The number of the ping.
    pub ping: u64,
    /// Monotonic time of the answer.
    pub at_ns: u64,
}

/// A phase has started.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct PhaseStart {
    /// Number of the phase in the job, from 0.
    pub phase: u32,
    /// The phase's operation.
    pub operation: Operation,
    /// Whether it is a result.
    pub measured: bool,
    /// Monotonic time of the barrier's release.
    pub at_ns: u64,
    /// How operations actually reach the kernel.
    pub method: Method,
    /// Why that method, if the job left it open or it differs from the job's.
    pub method_reason: String,
    /// Operations planned for all lanes; none if the phase runs by time.
    pub planned_ops: Option<u64>,
    /// Bytes planned for all lanes; none if the phase runs by time.
    pub planned_bytes: Option<u64>,
    /// With MPI-IO, what the library reports of the file that it has opened; none for all other methods.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mpiio: Option<MpiioUse>,
}

/// What an MPI library reports of a file that it has opened.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct MpiioUse {
    /// The library's version text.
    pub library: String,
    /// The library's MPI-IO component, such as `romio`; for Open MPI the loaded components, `ompio` or `romio321` or
    /// both; empty if unknown.
    pub component: String,
    /// The hints that the library reports to use (MPI_File_get_info); Open MPI 4 repeats the given ones.
    pub hints: BTreeMap<String, String>,
}

/// The operations completed in an interval. The sums over a phase's intervals are its totals exactly.
///
/// The same index can come twice: a delayed lane reports late.
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
    /// Counts by kind of operation; kinds without a completed operation are left out.
    pub operations: Vec<OpInterval>,
    /// Shares of the operations that ended here which belong to earlier intervals, if an operation is spread evenly
    /// from its start to its end. Closed loop only: in open loop an operation may have waited for its turn.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub earlier: Vec<Earlier>,
}

/// Shares per interval, in a stretch of intervals, of operations that ended later.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Earlier {
    /// Number of the first interval.
    pub from: u64,
    /// Number of the interval after the last.
    pub to: u64,
    /// Operations per interval, a fraction.
    pub ops: f64,
    /// Bytes per interval.
    pub bytes: f64,
}

/// One kind of operation in an interval.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct OpInterval {
    /// The kind.
    pub operation: OpKind,
    /// Operations that succeeded.
    pub ops: u64,
    /// Bytes they moved.
    pub bytes: u64,
    /// Operations that failed.
    pub errors: u64,
    /// Latencies: HDR histogram, nanoseconds, V2-deflate, base64; none if none succeeded.
    pub latency: Option<String>,
    /// Times until the first byte arrived, in the same form; none if the protocol does not report it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub first_byte: Option<String>,
}

/// One kind of operation in a phase.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct OpTotals {
    /// The kind.
    pub operation: OpKind,
    /// Operations that succeeded.
    pub ops: u64,
    /// Bytes they moved.
    pub bytes: u64,
    /// Operations that failed.
    pub errors: u64,
    /// Latencies; none if none succeeded.
    pub latency: Option<LatencySummary>,
    /// Times until the first byte arrived; none if the protocol does not report it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub first_byte: Option<LatencySummary>,
    /// Latencies of operations that fetched an object which the same job had already fetched since it was stored; none
    /// if there were none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub repeated: Option<LatencySummary>,
}

/// One kind of operation of one lane in a phase.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct OpCounts {
    /// The kind.
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
    /// The storage returned an error; see the fault.
    Fault,
    /// Fewer bytes were read than requested.
    ShortRead,
    /// Fewer bytes were written than requested.
    ShortWrite,
    /// The bytes read are not those written.
    Corrupt,
}

/// One failed operation.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ErrorSample {
    /// Number of the phase.
    pub phase: u32,
    /// Lane in which it failed; none for the set-up of a phase.
    pub lane: Option<u32>,
    /// The attempted action: a kind of operation, or open, preallocate, cache, ...
    pub action: String,
    /// File or device.
    pub object: String,
    /// Number of the lane's object or name.
    #[serde(default)]
    pub number: u64,
    /// Offset of the record, or of the first wrong byte.
    pub offset: u64,
    /// Requested bytes.
    pub length: u64,
    /// The reason.
    pub kind: ErrorKind,
    /// The fault that the storage reported, if any.
    pub fault: Option<Fault>,
    /// One line for users.
    pub message: String,
}

/// Severity of a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(title = "Level")]
pub enum Level {
    /// Good to know.
    Info,
    /// Something differs from what was requested.
    Warning,
}

/// A message for users.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Log {
    /// Severity.
    pub level: Level,
    /// One line for users.
    pub message: String,
}

/// How a phase ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(title = "PhaseStatus")]
pub enum PhaseStatus {
    /// Everything planned was executed, though operations may have failed.
    Done,
    /// The time limit came first; the numbers cover the executed part.
    TimeLimit,
    /// A lane gave up: too many errors, or the phase could not be set up.
    Failed,
    /// Not started, because an earlier phase failed.
    Skipped,
    /// Stopped from outside.
    Stopped,
}

/// Bytes and operations between two moments: while all lanes were busy, or until the first or last had finished.
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

/// Progress of the lanes at the time limit of a phase that wears out.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Stonewall {
    /// From the release of the barrier until the last lane had ended what it had begun before the limit.
    pub window: Window,
    /// Operations of the lane with the fewest.
    pub min_ops: u64,
    /// Operations of the lane with the most, of all engines: what each lane did in the end, if it had that many to do.
    pub max_ops: u64,
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
    /// The reason.
    pub kind: ErrorKind,
    /// The fault that the storage reported, if any.
    pub fault: Option<Fault>,
    /// The fault's name, such as EIO; none if it has none.
    #[serde(default)]
    pub name: Option<String>,
    /// Number of failures.
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
    /// Counts by kind of operation; kinds without a completed operation are left out.
    pub operations: Vec<OpCounts>,
    /// Time in which the lane was ready to run while all CPUs it may use ran something else (run delay of
    /// /proc/PID/schedstat); none if unknown.
    #[serde(default)]
    pub cpu_wait_ns: Option<u64>,
}

/// Resources that the engine's process used during a phase.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Resources {
    /// CPU time in user space.
    pub user_ns: u64,
    /// CPU time in the kernel.
    pub system_ns: u64,
    /// The part of both that a service in the same process used, which is not the engine's work; none without one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub service_ns: Option<u64>,
    /// Bytes fetched from the storage layer (read_bytes of proc_pid_io(5)); none if unknown.
    pub read_bytes: Option<u64>,
    /// Bytes sent to the storage layer (write_bytes of proc_pid_io(5)); none if unknown.
    pub write_bytes: Option<u64>,
    /// All CPUs of the host together (proc_stat(5)); none if unknown.
    #[serde(default)]
    pub host: Option<HostCpu>,
    /// The block device below the target, used by any process; none if there is none or its use is unknown.
    #[serde(default)]
    pub device: Option<DeviceUse>,
    /// The block devices that the job names in `watch`, in that order, used by any process; none where unknown.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub watched: Vec<Option<DeviceUse>>,
}

/// CPU time of all CPUs of a host, used by any process, in steps of 10 milliseconds.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[allow(clippy::struct_field_names)]
pub struct HostCpu {
    /// Busy, interrupts included.
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

/// Moments at which the process did not run although it was due: from the phase's start on, a thread wakes on a grid of
/// time and notes how late it was (Gil Tene, jHiccup). It may use the CPUs of the lanes.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[allow(clippy::struct_field_names)]
pub struct Watch {
    /// Distance of the grid's points.
    pub interval_ns: u64,
    /// Duration of the watch.
    pub elapsed_ns: u64,
    /// Lateness at each point of the grid: a point that passed in a stall counts with the rest of the stall.
    pub lateness: LatencySummary,
    /// Number of times that it was so late that the next point had come.
    pub stalls: u64,
    /// Sum of the lateness in these stalls.
    pub stalled_ns: u64,
    /// Longest stall.
    pub longest_ns: u64,
    /// Time of the stalls in which the thread was not waiting for a CPU that ran something else: the process was
    /// stopped, or the CPU itself was not available; none if unknown.
    pub away_ns: Option<u64>,
    /// CPU time of the thread.
    pub cpu_ns: u64,
}

/// Connections of all lanes to one host, from the preparation of a phase to its end. An operation that had to wait for
/// a new connection took that much longer.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct HostConnections {
    /// The host as the target names it.
    pub host: String,
    /// Sent requests.
    pub requests: u64,
    /// Opened connections.
    pub opened: u64,
    /// Connections that could not be opened.
    pub refused: u64,
    /// Connections that ended before their lane did.
    pub closed: u64,
    /// Most requests on one connection since it was opened.
    pub max_requests: u64,
    /// Times to open a connection, TLS included; none if none was opened.
    pub setup: Option<LatencySummary>,
}

/// What a service reported of the work of a phase.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ServiceUse {
    /// Objects that operations on several at once have stored, fetched, found or removed.
    #[serde(default)]
    pub objects: u64,
    /// Objects of such operations that the service left unprocessed while it processed others (UnprocessedItems and
    /// UnprocessedKeys of DynamoDB).
    #[serde(default)]
    pub unprocessed: u64,
    /// Read capacity units consumed.
    #[serde(default)]
    pub read_units: f64,
    /// Write capacity units consumed.
    #[serde(default)]
    pub write_units: f64,
    /// Frames sent to disks by the engine's own protocol (AoE), retransmissions included.
    #[serde(default)]
    pub frames: u64,
    /// Frames retransmitted because no response came in time: they, or their responses, were lost or late.
    #[serde(default)]
    pub frames_again: u64,
    /// Responses without a matching request: late, duplicate, or from another disk or station.
    #[serde(default)]
    pub frames_stray: u64,
    /// Sessions lost with their connections and the requests in flight on them (SMB).
    #[serde(default)]
    pub sessions_lost: u64,
    /// Checks by another client for an object that had just been put.
    #[serde(default)]
    pub looks: u64,
    /// The part of these checks that did not see what had been put, but nothing or an older object.
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
    /// The phase's operation.
    pub operation: Operation,
    /// Whether it is a result.
    pub measured: bool,
    /// How it ended.
    pub status: PhaseStatus,
    /// Totals of all lanes by kind of operation; kinds without a completed operation are left out.
    pub operations: Vec<OpTotals>,
    /// From the release of the barrier to the last lane's end, flush included.
    pub last_finisher: Window,
    /// From the release of the barrier to the first lane's end (stonewall).
    pub first_finisher: Window,
    /// From the moment when every lane had finished one operation to the moment when the first lane ran out; none if
    /// there is no such time.
    pub steady: Option<Window>,
    /// With `wear_out`, the progress at the time limit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stonewall: Option<Stonewall>,
    /// Greatest difference between two lanes' starts.
    pub start_skew_ns: u64,
    /// Open loop: times from the intended start of each operation to its submission. It is late if every slot held an
    /// unfinished operation, or if the engine itself was late.
    #[serde(default)]
    pub start_delay: Option<LatencySummary>,
    /// Failures by reason: of operations, and of the actions around them.
    pub errors: Vec<ErrorCount>,
    /// Open loop: requested operations per second.
    pub target_per_s: Option<f64>,
    /// Open loop: operations that were due in the time but never started.
    pub unstarted_ops: u64,
    /// Bytes that were checked and correct.
    pub verified_bytes: u64,
    /// What was done to the cache before the phase, as text; empty if nothing.
    pub cache_done: String,
    /// Bytes of the phase's files in the host's page cache when it started (cachestat(2), mincore(2)); none for names,
    /// devices, and if unknown.
    #[serde(default)]
    pub cached_bytes: Option<u64>,
    /// By how much the wall clock was set during the phase: its time less the monotonic clock's.
    #[serde(default)]
    pub wall_shift_ns: i64,
    /// Moments at which the process did not run; none for a phase that is no result or too short.
    #[serde(default)]
    pub watch: Option<Watch>,
    /// Connections, host by host; empty if the engine itself opens none for this target.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub connections: Vec<HostConnections>,
    /// What the service reported; none if it reports nothing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub service: Option<ServiceUse>,
    /// Lane by lane.
    pub lanes: Vec<LaneResult>,
    /// Resources that the process used.
    pub resources: Resources,
}

/// How a job ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(title = "ByeStatus")]
pub enum ByeStatus {
    /// Every phase was executed, without a failed operation.
    Ok,
    /// There were failed operations or phases.
    Errors,
    /// The job was refused, or nothing could be set up.
    Refused,
    /// Stopped from outside.
    Stopped,
    /// The storage does not respond: nothing had ended for the job's `stall_limit_ns`. The job's data is still there,
    /// and the process itself may remain until the storage responds.
    Stalled,
}

/// The last line.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Bye {
    /// How the job ended.
    pub status: ByeStatus,
    /// Why, if it did not end well; one line.
    pub reason: Option<String>,
    /// The job's data may still be on the storage: it could not be removed.
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

    /// Successful operations of all kinds.
    pub fn all_ops(&self) -> u64 {
        self.operations.iter().fold(0, |sum, totals| sum.saturating_add(totals.ops))
    }
}
