//! No storage at all.

use super::TargetRules;
use crate::validate::{ensure, MAX_TIME_NS};
use crate::{Job, JobError};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

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
    /// Operations from which on another service time applies.
    #[serde(default)]
    pub changes: Vec<ScriptedChange>,
    /// Each phase multiplies its service times by a factor drawn between 1 - this and 1 + this percent.
    #[serde(default)]
    #[schemars(range(max = 99))]
    pub vary_percent: u32,
    /// The wall clock appears to jump by this many nanoseconds during each phase, 365 days at most.
    #[serde(default)]
    #[schemars(range(min = -31_536_000_000_000_000_i64, max = 31_536_000_000_000_000_i64))]
    pub clock_step_ns: i64,
    /// Each operation copies its bytes from one block of memory of this size to another, which shows the most a host
    /// can move; 0 means that nothing is copied. Scripts are ignored then.
    #[serde(default)]
    #[schemars(range(max = 1_073_741_824))]
    pub memory_copy_bytes: u64,
    /// Written data is made as for storage that keeps it, so that a job costs the engine as much as there.
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

/// The device stalls for a lane from the submission of the lane's n-th operation.
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

/// A lane's memory for a scripted stall, error or change.
const SCRIPTED_BYTES: u64 = 128;

fn scripted_time(ns: u64, field: &str) -> Result<(), JobError> {
    ensure(ns <= MAX_TIME_NS, field, "must be at most 365 days")
}

impl LatencyModel {
    fn validate(&self, field: &str) -> Result<(), JobError> {
        match *self {
            LatencyModel::Fixed { ns } => scripted_time(ns, &format!("{field}.ns")),
            LatencyModel::Uniform { min_ns, max_ns } => {
                ensure(min_ns <= max_ns, &format!("{field}.min_ns"), format!("is above max_ns, which is {max_ns}"))?;
                scripted_time(max_ns, &format!("{field}.max_ns"))
            }
            LatencyModel::Exponential { mean_ns } => scripted_time(mean_ns, &format!("{field}.mean_ns")),
        }
    }
}

impl TargetRules for NullTarget {
    fn validate(&self, _job: &Job) -> Result<(), JobError> {
        ensure(self.vary_percent < 100, "target.vary_percent", "must be at most 99")?;
        ensure(self.memory_copy_bytes <= 1 << 30, "target.memory_copy_bytes", "must be at most 1 GiB")?;
        ensure(
            self.stalls.len() + self.errors.len() + self.changes.len() <= 10_000,
            "target.stalls",
            "at most 10,000 scripted stalls, errors and changes",
        )?;
        let step = self.clock_step_ns.unsigned_abs();
        ensure(step <= MAX_TIME_NS, "target.clock_step_ns", "must be at most 365 days, forward or back")?;
        self.latency.as_ref().map_or(Ok(()), |latency| latency.validate("target.latency"))?;
        for (index, stall) in self.stalls.iter().enumerate() {
            scripted_time(stall.duration_ns, &format!("target.stalls[{index}].duration_ns"))?;
        }
        for (index, error) in self.errors.iter().enumerate() {
            let field = format!("target.errors[{index}].errno");
            ensure((1..=4095).contains(&error.errno), &field, "must be 1 to 4095")?;
        }
        for (index, change) in self.changes.iter().enumerate() {
            change.latency.validate(&format!("target.changes[{index}].latency"))?;
        }
        Ok(())
    }

    fn lane_bytes(&self, _job: &Job) -> u64 {
        let scripted = self.stalls.len() + self.errors.len() + self.changes.len();
        let copies = self.memory_copy_bytes.saturating_mul(2);
        copies.saturating_add((scripted as u64).saturating_mul(SCRIPTED_BYTES))
    }

    fn accepts_any_method(&self) -> bool {
        true
    }
}
