//! A trace that is replayed in a directory below a marked one.

use super::{job_directory, TargetRules};
use crate::validate::{absolute_without_dots, ensure, is_sha256, ABSOLUTE, SHA256};
use crate::{Job, JobError, Layout};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Least and greatest factor by which a replay is faster than the recorded program.
const RATES: std::ops::RangeInclusive<f64> = 0.001..=1000.0;
/// Bytes of a copy: operations read ahead, histograms, buffers of usual length.
const COPY_BYTES: u64 = 32 << 20;

/// When the operations of a trace start.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(title = "Pace")]
pub enum Pace {
    /// At their recorded times, divided by `rate`. What starts late counts as slower by that.
    #[default]
    Recorded,
    /// As soon as all that they follow has ended: the operation before of the same task, and what other tasks have done
    /// to the same files.
    Fast,
}

/// The trace of a program (format 1), whose operations are executed again: one copy by each lane, in a directory of its
/// own, with files that are made anew.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ReplayTarget {
    /// Absolute path of a directory that holds the marker file `.assay-target`.
    pub root: String,
    /// Name of the directory below it that this job uses: 1 to 128 of `A-Z a-z 0-9 . _ -`, not starting with a dot.
    pub directory: String,
    /// The `identity` in the marker: a root that another run has claimed is refused. None: a marker without one.
    #[serde(default)]
    pub run: Option<String>,
    /// Absolute path of the trace on this host.
    pub trace: String,
    /// SHA-256 of the trace's file in hex; another one is refused. None: not checked.
    #[serde(default)]
    pub sha256: Option<String>,
    /// When its operations start.
    #[serde(default)]
    pub pace: Pace,
    /// Recorded times are divided by this.
    #[serde(default = "recorded_rate")]
    #[schemars(range(min = 0.001, max = 1000.0))]
    pub rate: f64,
}

fn recorded_rate() -> f64 {
    1.0
}

impl TargetRules for ReplayTarget {
    fn validate(&self, job: &Job) -> Result<(), JobError> {
        ensure(absolute_without_dots(&self.root), "target.root", ABSOLUTE)?;
        job_directory(&self.directory, self.run.as_ref())?;
        ensure(absolute_without_dots(&self.trace), "target.trace", ABSOLUTE)?;
        ensure(self.sha256.as_deref().is_none_or(is_sha256), "target.sha256", SHA256)?;
        ensure(RATES.contains(&self.rate), "target.rate", "must be 0.001 to 1000")?;
        let fast = self.pace == Pace::Fast;
        ensure(!fast || (self.rate - 1.0).abs() < f64::EPSILON, "target.rate", "must be 1 with pace fast, which has no times")?;
        let one = job.tree.as_ref().map(|tree| tree.all_files(job.all_lanes())) == Some(u64::from(job.all_lanes()));
        ensure(one, "tree", "must have one file for each lane: each replays one copy")?;
        ensure(job.phases.len() == 1, "phases", "must be one: a replay changes the files that it begins with")?;
        let whole = job.phases.iter().all(|phase| phase.runtime_ns.is_none());
        ensure(whole, "phases[0].runtime_ns", "must be left out: a trace is replayed once")?;
        ensure(job.layout == Layout::Separate, "layout", "must be separate: copies share no file")?;
        ensure(job.queue_depth == 1, "queue_depth", "must be 1: the trace has what is in flight")
    }

    fn lane_bytes(&self, _job: &Job) -> u64 {
        COPY_BYTES
    }

    fn set_directory(&mut self, name: &str) {
        name.clone_into(&mut self.directory);
    }
}
