//! Rules of a job that its types alone cannot express.

use crate::{Job, Layout, Method, Phase, SyncPolicy, Target, SPEC_VERSION};

/// Most lanes of one engine.
pub const MAX_LANES: u32 = 1024;
/// Most operations in flight per lane.
pub const MAX_QUEUE_DEPTH: u32 = 4096;
/// Largest record.
pub const MAX_RECORD_BYTES: u64 = 1 << 30;
/// Buffers start on pages.
const SLOT_BYTES: u64 = 4096;
/// Most bytes of I/O buffers of all lanes together.
const MAX_BUFFER_BYTES: u64 = 64 << 30;

/// What is wrong with a job: where, and what to do.
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

fn ensure(ok: bool, field: &str, message: impl Into<String>) -> Result<(), JobError> {
    if ok {
        return Ok(());
    }
    Err(JobError { field: field.to_owned(), message: message.into() })
}

/// A plain name: no separator, not hidden, not empty.
fn plain_name(name: &str) -> bool {
    (1..=128).contains(&name.len())
        && !name.starts_with('.')
        && name.bytes().all(|b| b.is_ascii_alphanumeric() || b"._-".contains(&b))
}

fn absolute_without_dots(path: &str) -> bool {
    path.starts_with('/') && !path.contains('\0') && path.split('/').all(|part| part != ".." && part != ".")
}

impl Job {
    /// Checks every rule that needs no look at the host.
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
        self.validate_target()?;
        ensure(self.data.compressible_percent <= 100, "data.compressible_percent", "must be 0 to 100")?;
        ensure(self.data.duplicate_percent <= 100, "data.duplicate_percent", "must be 0 to 100")?;
        ensure((1..=64).contains(&self.phases.len()), "phases", "must be 1 to 64")?;
        for (index, phase) in self.phases.iter().enumerate() {
            self.validate_phase(phase, &format!("phases[{index}]"))?;
        }
        Ok(())
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
        ensure((1..=i64::MAX as u64).contains(&self.file_size_bytes), "file_size_bytes", "must be 1 to 2^63 - 1")?;
        let share = match self.layout {
            Layout::Separate => self.file_size_bytes,
            Layout::Shared => self.file_size_bytes / u64::from(self.lanes),
        };
        ensure(
            self.record_size_bytes <= share,
            "record_size_bytes",
            format!("a lane's part of the file is {share} bytes: make records smaller, the file larger or lanes fewer"),
        )?;
        let slot = self.record_size_bytes.next_multiple_of(SLOT_BYTES);
        let buffers = u64::from(self.lanes) * u64::from(self.queue_depth) * slot;
        ensure(
            buffers <= MAX_BUFFER_BYTES,
            "queue_depth",
            format!(
                "lanes x queue_depth x record_size_bytes (whole pages) is {buffers} bytes of buffers, at most {MAX_BUFFER_BYTES}"
            ),
        )?;
        let blocking = self.method == Method::Sync && !matches!(self.target, Target::Null(_));
        ensure(
            !blocking || self.queue_depth == 1,
            "queue_depth",
            "method sync has one operation in flight: set queue_depth to 1, or use more lanes or method io_uring",
        )?;
        ensure(self.error_limit >= 1, "error_limit", "must be at least 1")?;
        ensure((10_000_000..=3_600_000_000_000).contains(&self.interval_ns), "interval_ns", "must be 10 ms to 1 h")
    }

    fn validate_target(&self) -> Result<(), JobError> {
        match &self.target {
            Target::Null(null) => ensure(
                null.stalls.len() + null.errors.len() <= 10_000,
                "target.stalls",
                "at most 10,000 scripted stalls and errors",
            ),
            Target::File(file) => {
                ensure(
                    absolute_without_dots(&file.root),
                    "target.root",
                    "must be an absolute path without . or .. parts",
                )?;
                ensure(
                    plain_name(&file.directory),
                    "target.directory",
                    "must be a plain name: 1 to 128 of A-Z a-z 0-9 . _ -, not starting with a dot",
                )
            }
            Target::Device(device) => {
                ensure(
                    absolute_without_dots(&device.path),
                    "target.path",
                    "must be an absolute path without . or .. parts",
                )?;
                ensure(device.destroy, "target.destroy", "must be true: everything on the device is lost")?;
                ensure(self.layout == Layout::Shared, "layout", "must be shared for a device")
            }
        }
    }

    fn validate_phase(&self, phase: &Phase, field: &str) -> Result<(), JobError> {
        let at = |name: &str| format!("{field}.{name}");
        let bound = |value: Option<u64>| value.is_none_or(|ns| (1..=31_536_000_000_000_000).contains(&ns));
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
        ensure(phase.read_percent <= 100, &at("read_percent"), "must be 0 to 100")?;
        ensure((1..=1 << 20).contains(&phase.stride_records), &at("stride_records"), "must be 1 to 1048576")?;
        if phase.operation == crate::Operation::Prepare {
            ensure(!phase.measured, &at("measured"), "prepare is never a result")?;
            let plain = phase.runtime_ns.is_none() && phase.rate_per_s.is_none() && phase.time_limit_ns.is_none();
            ensure(plain, &at("operation"), "prepare takes neither a time nor a rate")?;
        }
        if phase.operation.stdio() {
            ensure(!self.direct, &at("operation"), "C stdio has no O_DIRECT: set direct to false")?;
            ensure(
                !matches!(self.sync, SyncPolicy::OSync | SyncPolicy::ODsync),
                &at("operation"),
                "C stdio has neither O_SYNC nor O_DSYNC: use fsync or fdatasync",
            )?;
            ensure(
                self.method != Method::IoUring,
                &at("operation"),
                "C stdio does not go through io_uring: use method auto or sync",
            )?;
            ensure(
                self.queue_depth == 1,
                &at("operation"),
                "C stdio has one operation in flight: set queue_depth to 1",
            )?;
        }
        Ok(())
    }
}
