//! The trait that a worker's connection to storage implements.

use crate::{Buffers, CollectiveLane, Completion, Op, PartOwners, ServiceLane, SetupError, Source};
use assay_spec::{CacheAction, Fault, Job, Method, MpiioUse, Operation, SyncPolicy, Tuning};
use std::sync::Arc;

/// The result of an operation that does not fit into the lane.
const NO_ROOM: Fault = Fault::os(rustix::io::Errno::AGAIN.raw_os_error());

/// A phase as the backend and its lanes see it.
#[derive(Debug, Clone, Copy)]
pub struct PhasePlan {
    /// The operation.
    pub operation: Operation,
    /// How operations reach the kernel.
    pub method: Method,
    /// What to do to the page cache before the phase.
    pub cache: CacheAction,
    /// Open with O_DIRECT.
    pub direct: bool,
    /// How writes are made stable.
    pub sync: SyncPolicy,
    /// Reserve space for files that are created.
    pub preallocate: bool,
    /// The files of a tree have their second name when the phase starts.
    pub renamed: bool,
    /// Some of the tree's files that are to be created may exist, complete or not, and are written anew.
    pub overwrite: bool,
    /// Gets fetch a range of each object.
    pub ranged: bool,
    /// Fetched objects must be in their slot when the operation ends, because their data is checked. Data of files
    /// always is.
    pub needs_data: bool,
    /// Which lane's files or names each lane works on.
    pub owners: PartOwners,
}

impl PhasePlan {
    /// A phase without options: lanes work on their own files, the page cache stays, nothing is flushed or reserved, and
    /// data is checked.
    pub fn of(operation: Operation) -> Self {
        PhasePlan {
            operation,
            method: Method::Auto,
            cache: CacheAction::Keep,
            direct: false,
            sync: SyncPolicy::None,
            preallocate: false,
            renamed: false,
            overwrite: false,
            ranged: false,
            needs_data: true,
            owners: PartOwners::own(),
        }
    }

    /// The same with the options of a job.
    pub fn of_job(job: &Job, operation: Operation) -> Self {
        let Job { method, direct, sync, preallocate, .. } = *job;
        PhasePlan { method, direct, sync, preallocate, ..PhasePlan::of(operation) }
    }
}

/// What a lane needs when it is opened.
#[derive(Clone)]
pub struct LaneSetup {
    /// Number of the lane among those of all processes of the job, from 0.
    pub lane: u32,
    /// Most operations that the driver keeps in flight.
    pub queue_depth: u32,
    /// Only the polling options concern lanes; the driver applies memory and CPU placement.
    pub tuning: Tuning,
    /// Files will be opened with O_DIRECT.
    pub direct: bool,
    /// Buffers of this lane; an operation's slot is an index into them.
    pub buffers: Arc<Buffers>,
    /// Source of data for operations that are longer than a buffer or work on several objects; None if there are none.
    pub source: Option<Arc<dyn Source>>,
}

impl LaneSetup {
    /// A lane without options and without a source.
    pub fn of(lane: u32, queue_depth: u32, buffers: Arc<Buffers>) -> Self {
        LaneSetup { lane, queue_depth, tuning: Tuning::default(), direct: false, buffers, source: None }
    }
}

/// The reason for a method that the job requests.
pub const REQUESTED_BY_JOB: &str = "requested";

/// How a lane reaches the kernel in a phase, and why.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MethodChoice {
    /// Any but `Auto`.
    pub method: Method,
    /// One line for users.
    pub reason: String,
    /// Most operations that the lane can have in flight.
    pub depth: u32,
    /// Operations best submitted at once, at least 1.
    pub batch: u32,
    /// The lane knows when the first byte of a response arrived.
    pub reports_first_byte: bool,
    /// The lane executes one operation while the data of the next is made, if there is a buffer for it.
    pub ahead: bool,
    /// What an MPI library reports of the file; None for all other kinds.
    pub mpiio: Option<MpiioUse>,
}

impl MethodChoice {
    /// A method with `depth` operations in flight and as many per batch; it reports no first byte and works on nothing
    /// ahead.
    pub fn of(method: Method, reason: String, depth: u32) -> Self {
        MethodChoice { method, reason, depth, batch: depth, reports_first_byte: false, ahead: false, mpiio: None }
    }
}

/// One worker's connection to the storage: operations are submitted and completed in batches.
pub trait Lane {
    /// Open what the phase needs. Called before the barrier.
    fn begin(&mut self, plan: &PhasePlan) -> Result<MethodChoice, SetupError>;

    /// Accept as many operations as there is room for, and return how many were accepted. The driver never has more in
    /// flight than `MethodChoice::depth`.
    fn submit(&mut self, ops: &[Op]) -> usize;

    /// Append completions to `done`: at least one if any operation is in flight, unless the monotonic time `deadline`
    /// comes first. A lane whose method blocks may overrun the deadline.
    fn reap(&mut self, done: &mut Vec<Completion>, deadline: u64);

    /// `submit` and `reap` in one call, for lanes that can combine them.
    fn exchange(&mut self, ops: &[Op], done: &mut Vec<Completion>, deadline: u64) {
        let taken = self.submit(ops);
        debug_assert_eq!(taken, ops.len(), "the driver keeps to the lane's depth");
        let refused = ops[taken..].iter().map(|op| Completion::new(op.slot, Err(NO_ROOM)));
        done.extend(refused);
        self.reap(done, deadline);
    }

    /// Execute one operation while nothing else is in flight, and return its result. The same rules apply.
    fn execute(&mut self, op: &Op) -> Result<u64, Fault>;

    /// Monotonic time at which the first byte of the response arrived, of the operation that just ended in a slot; 0 if
    /// unknown. Called, before the slot is used again, only if `MethodChoice::reports_first_byte`.
    fn first_byte(&self, _slot: u32) -> u64 {
        0
    }

    /// The storage's own message about the operation that just failed in a slot, such as a server's or a library's: one
    /// short line without secrets; None if there was none. Called before the slot is used again.
    fn failure_message(&self, _slot: u32) -> Option<String> {
        None
    }

    /// What lanes of several processes do together; None if each works alone.
    fn collective(&mut self) -> Option<&mut dyn CollectiveLane> {
        None
    }

    /// What a lane of a service over a network counts; None for all others.
    fn service(&mut self) -> Option<&mut dyn ServiceLane> {
        None
    }

    /// Close what `begin` opened. Nothing is in flight.
    fn end(&mut self) -> Result<(), SetupError>;
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::OpKind;

    /// A lane that accepts one operation, which takes no time.
    struct One(Vec<Completion>);

    impl Lane for One {
        fn begin(&mut self, _plan: &PhasePlan) -> Result<MethodChoice, SetupError> {
            Ok(MethodChoice::of(Method::Sync, String::new(), 1))
        }

        fn submit(&mut self, ops: &[Op]) -> usize {
            self.0.extend(ops.first().map(|op| Completion::new(op.slot, Ok(op.length))));
            ops.len().min(1)
        }

        fn reap(&mut self, done: &mut Vec<Completion>, _deadline: u64) {
            done.append(&mut self.0);
        }

        fn execute(&mut self, op: &Op) -> Result<u64, Fault> {
            Ok(op.length)
        }

        fn end(&mut self) -> Result<(), SetupError> {
            Ok(())
        }
    }

    #[test]
    fn an_exchange_is_a_submission_and_what_has_ended() {
        let op = Op { kind: OpKind::Read, count: 1, slot: 3, object: 0, offset: 0, length: 512 };
        let (mut lane, mut done) = (One(Vec::new()), Vec::new());
        lane.exchange(&[op], &mut done, 0);
        lane.exchange(&[], &mut done, 0);
        assert_eq!(done, [Completion::new(3, Ok(512))]);
    }

    #[test]
    fn a_lane_has_no_more_than_it_states() {
        let mut lane = One(Vec::new());
        assert_eq!((lane.first_byte(0), lane.failure_message(0)), (0, None));
        assert!(lane.collective().is_none() && lane.service().is_none());
    }

    #[test]
    fn a_batch_is_as_large_as_the_depth() {
        let choice = MethodChoice::of(Method::IoUring, "why".to_owned(), 32);
        assert_eq!((choice.depth, choice.batch, choice.reason.as_str()), (32, 32, "why"));
        assert!(!choice.ahead && !choice.reports_first_byte && choice.mpiio.is_none());
    }
}
