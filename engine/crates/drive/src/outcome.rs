//! A lane's results of a phase.

use crate::interval::{progress, Counts, Totals};
use crate::objects::PresentObjects;
use assay_core::{HostCounts, ServiceUse};
use assay_spec::{ErrorKind, ErrorSample, Fault};
use std::collections::BTreeMap;

/// Failed operations by reason.
pub(crate) type ErrorTally = BTreeMap<(ErrorKind, Option<Fault>), u64>;

/// Progress at a moment: operations and bytes completed.
pub(crate) type Progress = Counts;

/// A lane's totals. Times are monotonic nanoseconds.
#[derive(Debug, Clone, Default)]
pub(crate) struct LaneOutcome {
    pub(crate) start: u64,
    pub(crate) end: u64,
    pub(crate) sync_ns: u64,
    /// The phase was on a set of files: only operations on records count as progress.
    pub(crate) records: bool,
    /// Sums of the reported intervals.
    pub(crate) totals: Totals,
    pub(crate) errors: ErrorTally,
    /// Progress when each moment came (see `phase::MOMENTS`); None if the lane had ended before.
    pub(crate) at_moment: [Option<Progress>; 3],
    /// Time, and progress then, of the time limit of a phase that wears out.
    pub(crate) at_limit: Option<(u64, Progress)>,
    pub(crate) unstarted: u64,
    pub(crate) verified_bytes: u64,
    /// The lane stopped because of too many errors.
    pub(crate) gave_up: bool,
    /// The time limit came before the work was done.
    pub(crate) limited: bool,
    /// Bytes from the start of the lane's part that are known to be on the storage after a sequential write; in a tree,
    /// number of names or files created.
    pub(crate) covered: u64,
    /// The objects that exist now; None if the phase was not on objects.
    pub(crate) objects: Option<PresentObjects>,
    /// Time in which the lane was ready to run but had no CPU; None if unknown.
    pub(crate) cpu_wait_ns: Option<u64>,
    /// Counts of the lane's connections.
    pub(crate) hosts: Vec<HostCounts>,
    /// What the service reported; None if it reports nothing.
    pub(crate) service: Option<ServiceUse>,
}

impl LaneOutcome {
    pub(crate) fn progress(&self) -> Progress {
        progress(&self.totals, self.records)
    }

    pub(crate) fn error_count(&self) -> u64 {
        self.errors.values().sum()
    }
}

/// Messages of a lane to the coordinator.
pub(crate) enum LaneMessage {
    /// The lane is ready for the phase, or failed to prepare.
    Began(Result<assay_core::MethodChoice, assay_core::SetupError>),
    /// The operations that completed in an interval.
    Interval(u64, crate::interval::LaneInterval),
    /// A failed operation.
    Error(ErrorSample),
    /// At the time limit of a phase that wears out, the number of operations that the lane has begun.
    Reached(u64),
    /// The lane has ended the phase.
    Ended(u32, Box<LaneOutcome>),
}
