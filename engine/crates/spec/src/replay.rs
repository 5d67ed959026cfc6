//! What is reported of a trace that was replayed.

use crate::LatencySummary;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// One copy of a trace that was replayed to its end.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Replay {
    /// Number of the lane among those of all processes: each replays one copy.
    pub lane: u32,
    /// Monotonic time of its start.
    pub at_ns: u64,
    /// Time from its start until the end of its last operation.
    pub elapsed_ns: u64,
    /// Time from the trace's beginning until the end of its last operation, as recorded.
    pub recorded_ns: u64,
    /// Tasks of the trace.
    pub tasks: u64,
    /// By kind of operation, as it is named in traces.
    pub operations: BTreeMap<String, ReplayedOps>,
    /// Operations that ended otherwise than recorded, or read other data than was written.
    pub differences: u64,
    /// The first of these.
    pub first_differences: Vec<ReplayDifference>,
    /// Files that were opened without such an operation in the trace, which had them open when it began.
    pub opened: u64,
    /// The most that an operation started after its recorded time; 0 if the pace has no times.
    pub max_delay_ns: u64,
}

/// Operations of one kind.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ReplayedOps {
    /// Operations that ended as recorded, or otherwise.
    pub count: u64,
    /// Of these, those that failed as they did when they were recorded.
    pub failed: u64,
    /// Bytes read or written.
    pub bytes: u64,
    /// Sum of their recorded times.
    pub recorded_ns: u64,
    /// Sum of their times in the replay.
    pub replayed_ns: u64,
    /// Times from the start of each to its end.
    pub service: LatencySummary,
    /// Times from when each was due to its end; none if the pace has no times.
    pub latency: Option<LatencySummary>,
}

/// What a trace holds, found by reading it to its end.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct TraceContents {
    /// SHA-256 of the file in hex.
    pub sha256: String,
    /// Time from the trace's beginning until the end of its last operation.
    pub recorded_ns: u64,
    /// Tasks.
    pub tasks: u64,
    /// Tasks at the same time at most: a replay has a thread for each.
    pub max_tasks: u64,
    /// Files and directories.
    pub files: u64,
    /// Bytes that one copy has at its beginning.
    pub initial_bytes: u64,
    /// Bytes that one copy needs at most, without what is freed when files of the beginning are removed.
    pub space_bytes: u64,
    /// By kind of operation, as it is named in traces.
    pub operations: BTreeMap<String, RecordedOps>,
}

/// Recorded operations of one kind.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct RecordedOps {
    /// Operations.
    pub count: u64,
    /// Bytes read or written.
    pub bytes: u64,
    /// Sum of their times.
    pub recorded_ns: u64,
}

/// An operation that ended otherwise than recorded.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ReplayDifference {
    /// The line of the trace.
    pub line: u64,
    /// The kind of operation, as it is named in traces.
    pub operation: String,
    /// The file, as it is named in the trace.
    pub file: String,
    /// What differs, in words.
    pub message: String,
}
