//! Rules of a job that its types cannot express.

mod files;
mod objects;
#[cfg(test)]
mod properties;
#[cfg(test)]
mod tests;

use crate::{Claim, Job, Layout, Method, MethodShape, Phase, SyncPolicy, SPEC_VERSION};

/// Most lanes of one engine.
pub const MAX_LANES: u32 = 1024;
/// Most operations in flight per lane.
pub const MAX_QUEUE_DEPTH: u32 = 4096;
/// Most engine processes that do a job together.
pub const MAX_RANKS: u32 = 65_536;
/// Largest record.
pub const MAX_RECORD_BYTES: u64 = 1 << 30;
/// Most bytes of memory of one process, I/O buffers and all else together.
const MAX_MEMORY_BYTES: u64 = 64 << 30;
/// Most bytes of the files of all processes together: sums of bytes and offsets stay whole numbers of 63 bits.
const MAX_DATA_BYTES: u128 = i64::MAX as u128;
/// Longest time that a job may request for anything: 365 days, so that moments fit into 64 bits.
pub(crate) const MAX_TIME_NS: u64 = 31_536_000_000_000_000;
/// Longest path that the kernel accepts (PATH_MAX, with its closing zero).
const MAX_PATH_BYTES: usize = 4096;
/// Most block devices whose counts a job may request.
const MAX_WATCHED: usize = 64;
/// The message for a blocking method with several operations in flight.
const ONE_IN_FLIGHT: &str =
    "methods sync and mmap have one operation in flight: set queue_depth to 1, or use more lanes or method io_uring";

/// The message for an invalid path.
pub(crate) const ABSOLUTE: &str = "must be an absolute path without . or .. parts";
/// The message for an invalid name.
pub(crate) const PLAIN: &str = "must be a plain name: 1 to 128 of A-Z a-z 0-9 . _ -, not starting with a dot";

/// The message for an invalid SHA-256.
pub(crate) const SHA256: &str = "must be 64 hexadecimal digits in lower case";

/// A broken rule of a job: where, and how to mend it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct JobError {
    /// Path of the field, e.g. `phases[2].rate_per_s`.
    pub field: String,
    /// What is wrong and how to mend it.
    pub message: String,
}

impl std::fmt::Display for JobError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}: {}", self.field, self.message)
    }
}

impl std::error::Error for JobError {}

/// True for numbers such as `259:0`, which become part of a path.
fn is_device_number(text: &str) -> bool {
    text.split_once(':').is_some_and(|parts| {
        [parts.0, parts.1]
            .iter()
            .all(|part| !part.is_empty() && part.len() <= 10 && part.bytes().all(|byte| byte.is_ascii_digit()))
    })
}

pub(crate) fn ensure(ok: bool, field: &str, message: impl Into<String>) -> Result<(), JobError> {
    if ok {
        return Ok(());
    }
    Err(JobError { field: field.to_owned(), message: message.into() })
}

/// True for a plain name: no separator, not hidden, not empty.
pub(crate) fn plain_name(name: &str) -> bool {
    (1..=128).contains(&name.len())
        && !name.starts_with('.')
        && name.bytes().all(|b| b.is_ascii_alphanumeric() || b"._-".contains(&b))
}

pub(crate) fn absolute_without_dots(path: &str) -> bool {
    path.len() < MAX_PATH_BYTES
        && path.starts_with('/')
        && !path.contains('\0')
        && path.split('/').all(|part| part != ".." && part != ".")
}

pub(crate) fn is_sha256(text: &str) -> bool {
    text.len() == 64 && text.bytes().all(|byte| byte.is_ascii_hexdigit() && !byte.is_ascii_uppercase())
}

impl Claim {
    /// Check a claim.
    ///
    /// # Errors
    /// The field that is wrong.
    pub fn validate(&self) -> Result<(), JobError> {
        ensure(absolute_without_dots(&self.root), "root", "must be an absolute path without . or .. parts")?;
        ensure(plain_name(&self.mark.identity), "mark.identity", "must be 1 to 128 of A-Z a-z 0-9 . _ -")
    }
}

impl MethodShape {
    /// Check the rules that the types cannot express.
    ///
    /// # Errors
    /// The first broken rule.
    pub fn validate(&self) -> Result<(), JobError> {
        let record = (1..=MAX_RECORD_BYTES).contains(&self.record_size_bytes);
        ensure(record, "record_size_bytes", format!("must be 1 to {MAX_RECORD_BYTES}"))?;
        let depth = (1..=MAX_QUEUE_DEPTH).contains(&self.queue_depth);
        ensure(depth, "queue_depth", format!("must be 1 to {MAX_QUEUE_DEPTH}"))
    }
}

impl Job {
    /// Lanes of all engine processes that do this job together.
    pub fn all_lanes(&self) -> u32 {
        self.lanes.saturating_mul(self.ranks)
    }

    /// Number of the first lane of this process among all.
    pub fn first_lane(&self) -> u32 {
        self.lanes.saturating_mul(self.rank)
    }

    /// Check every rule that can be checked without looking at the host.
    ///
    /// # Errors
    /// The first rule that is broken.
    pub fn validate(&self) -> Result<(), JobError> {
        ensure(
            self.spec_version == SPEC_VERSION,
            "spec_version",
            format!("this engine speaks version {SPEC_VERSION}, the job version {}", self.spec_version),
        )?;
        ensure(plain_name(&self.id), "id", "must be 1 to 128 of A-Z a-z 0-9 . _ - and not start with a dot")?;
        self.validate_sizes()?;
        self.target.rules().validate(self)?;
        self.validate_tuning()?;
        self.tree.as_ref().map_or(Ok(()), |tree| self.validate_tree(tree))?;
        self.validate_contents()?;
        ensure(self.data.compressible_percent <= 100, "data.compressible_percent", "must be 0 to 100")?;
        ensure(self.data.duplicate_percent <= 100, "data.duplicate_percent", "must be 0 to 100")?;
        ensure((1..=64).contains(&self.phases.len()), "phases", "must be 1 to 64")?;
        for (index, phase) in self.phases.iter().enumerate() {
            self.validate_phase(phase, &format!("phases[{index}]"))?;
        }
        self.validate_worn_out()?;
        self.validate_totals()
    }

    /// Check the totals of data and memory.
    fn validate_totals(&self) -> Result<(), JobError> {
        let data = self.data_bytes();
        ensure(
            data <= MAX_DATA_BYTES,
            "file_size_bytes",
            format!("all files together have {data} bytes, at most 2^63 - 1: make files smaller or fewer"),
        )?;
        let memory = self.memory_bytes();
        ensure(
            memory <= MAX_MEMORY_BYTES,
            "lanes",
            format!(
                "the lanes need {memory} bytes of memory together, at most {MAX_MEMORY_BYTES}: make lanes fewer, or what \
                 each of them keeps smaller"
            ),
        )
    }

    fn validate_sizes(&self) -> Result<(), JobError> {
        ensure((1..=MAX_LANES).contains(&self.lanes), "lanes", format!("must be 1 to {MAX_LANES}"))?;
        ensure(
            (1..=MAX_QUEUE_DEPTH).contains(&self.queue_depth),
            "queue_depth",
            format!("must be 1 to {MAX_QUEUE_DEPTH}"),
        )?;
        ensure(
            (1..=MAX_RECORD_BYTES).contains(&self.record_size_bytes),
            "record_size_bytes",
            format!("must be 1 to {MAX_RECORD_BYTES}"),
        )?;
        let small = self.tree.is_some() || self.objects.is_some();
        let least = u64::from(!small);
        ensure(
            (least..=i64::MAX as u64).contains(&self.file_size_bytes),
            "file_size_bytes",
            format!("must be {least} to 2^63 - 1"),
        )?;
        ensure((1..=MAX_RANKS).contains(&self.ranks), "ranks", format!("must be 1 to {MAX_RANKS}"))?;
        ensure(self.rank < self.ranks, "rank", format!("must be below ranks, which is {}", self.ranks))?;
        ensure(
            self.lease_ns.is_none_or(|ns| (100_000_000..=3_600_000_000_000).contains(&ns)),
            "lease_ns",
            "must be 100 ms to 1 h",
        )?;
        ensure(
            self.stall_limit_ns.is_none_or(|ns| (1_000_000_000..=31_536_000_000_000_000).contains(&ns)),
            "stall_limit_ns",
            "must be 1 s to a year",
        )?;
        let share = match self.layout {
            Layout::Separate => self.file_size_bytes,
            Layout::Shared => self.file_size_bytes / u64::from(self.all_lanes()),
        };
        ensure(
            small || self.record_size_bytes <= share,
            "record_size_bytes",
            format!("a lane's part of the file is {share} bytes: make records smaller, the file larger or lanes fewer"),
        )?;
        self.validate_blocks()?;
        let buffers = self.buffer_bytes();
        ensure(
            buffers <= MAX_MEMORY_BYTES,
            "queue_depth",
            format!(
                "lanes x queue_depth x record_size_bytes (whole pages) is {buffers} bytes of buffers, at most {MAX_MEMORY_BYTES}"
            ),
        )?;
        let blocking = matches!(self.method, Method::Sync | Method::Mmap) && !self.target.rules().accepts_any_method();
        ensure(!blocking || self.queue_depth == 1, "queue_depth", ONE_IN_FLIGHT)?;
        ensure(self.error_limit >= 1, "error_limit", "must be at least 1")?;
        ensure(
            self.watch.len() <= MAX_WATCHED && self.watch.iter().all(|device| is_device_number(device)),
            "watch",
            format!("must be at most {MAX_WATCHED} block devices as major:minor, such as 259:0"),
        )?;
        ensure((10_000_000..=3_600_000_000_000).contains(&self.interval_ns), "interval_ns", "must be 10 ms to 1 h")
    }

    fn validate_tuning(&self) -> Result<(), JobError> {
        let tuning = &self.tuning;
        let ring = self.method == Method::IoUring;
        ensure(ring || !tuning.sqpoll, "tuning.sqpoll", "needs method io_uring")?;
        ensure(ring || !tuning.iopoll, "tuning.iopoll", "needs method io_uring")?;
        ensure(self.direct || !tuning.iopoll, "tuning.iopoll", "needs direct: only O_DIRECT can be polled for")?;
        ensure(tuning.cpus.len() <= 1024, "tuning.cpus", "at most 1024")?;
        ensure(tuning.cpus.iter().all(|cpu| *cpu < 1024), "tuning.cpus", "CPUs are numbered 0 to 1023")?;
        ensure(tuning.numa_node.is_none_or(|node| node < 1024), "tuning.numa_node", "nodes are numbered 0 to 1023")?;
        if self.method != Method::Mmap {
            return Ok(());
        }
        ensure(!self.direct, "method", "mmap goes through the page cache: set direct to false")?;
        let each_write = matches!(self.sync, SyncPolicy::OSync | SyncPolicy::ODsync);
        ensure(!each_write, "method", "mmap has neither O_SYNC nor O_DSYNC: use fsync or fdatasync")
    }

    fn validate_phase(&self, phase: &Phase, field: &str) -> Result<(), JobError> {
        let at = |name: &str| format!("{field}.{name}");
        let bound = |value: Option<u64>| value.is_none_or(|ns| (1..=MAX_TIME_NS).contains(&ns));
        ensure(bound(phase.runtime_ns), &at("runtime_ns"), "must be 1 ns to 365 days")?;
        ensure(bound(phase.time_limit_ns), &at("time_limit_ns"), "must be 1 ns to 365 days")?;
        ensure(
            phase.runtime_ns.is_none() || phase.time_limit_ns.is_none(),
            &at("time_limit_ns"),
            "a phase that runs for a given time has no other time limit",
        )?;
        if let Some(rate) = phase.rate_per_s {
            ensure(
                rate.is_finite() && (0.001..=1e9).contains(&rate),
                &at("rate_per_s"),
                "must be 0.001 to 1e9 operations per second",
            )?;
        }
        ensure((1..=1 << 20).contains(&phase.stride_records), &at("stride_records"), "must be 1 to 1048576")?;
        if phase.operation == crate::Operation::Prepare {
            ensure(!phase.measured, &at("measured"), "prepare is never a result")?;
            let plain = phase.runtime_ns.is_none() && phase.rate_per_s.is_none() && phase.time_limit_ns.is_none();
            ensure(plain, &at("operation"), "prepare takes neither a time nor a rate")?;
        }
        self.validate_wear_out(phase, &at)?;
        self.validate_files(phase, &at)?;
        self.validate_reorder(phase, &at)?;
        self.validate_object_phase(phase, &at)?;
        if let Some(found) = &phase.method {
            self.validate_phase_method(phase, found.method, &at("method"))?;
        }
        if phase.operation.stdio() {
            ensure(
                self.method != Method::Mmap,
                &at("operation"),
                "C stdio does not go through a mapping: use method auto or sync",
            )?;
            ensure(!self.direct, &at("operation"), "C stdio has no O_DIRECT: set direct to false")?;
            ensure(
                !matches!(self.sync, SyncPolicy::OSync | SyncPolicy::ODsync),
                &at("operation"),
                "C stdio has neither O_SYNC nor O_DSYNC: use fsync or fdatasync",
            )?;
            ensure(
                !matches!(self.method, Method::IoUring | Method::Threads),
                &at("operation"),
                "C stdio does not go through io_uring or threads: use method auto or sync",
            )?;
            ensure(
                self.queue_depth == 1,
                &at("operation"),
                "C stdio has one operation in flight: set queue_depth to 1",
            )?;
        }
        Ok(())
    }

    /// Check a phase's own method: the job must leave it open, and several must be possible.
    fn validate_phase_method(&self, phase: &Phase, method: Method, field: &str) -> Result<(), JobError> {
        ensure(self.method == Method::Auto, field, "needs method auto of the job, which leaves it open")?;
        ensure(
            matches!(method, Method::Sync | Method::Threads | Method::IoUring),
            field,
            "must be sync, threads or io_uring",
        )?;
        ensure(method != Method::Sync || self.queue_depth == 1, field, ONE_IN_FLIGHT)?;
        let files = self.target.rules().kernel_files() && self.tree.is_none();
        let plain = !phase.operation.stdio() && phase.operation != crate::Operation::Prepare;
        ensure(files && plain, field, "only for operations on the data of files and devices")
    }
}
