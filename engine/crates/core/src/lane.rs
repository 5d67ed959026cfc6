//! What a worker's connection to storage implements.

use crate::{Buffers, Completion, Op, Owners, SetupError, Source};
use assay_spec::{CacheAction, Fault, Method, MpiioUse, Operation, ServiceUse, SyncPolicy, Tuning};
use std::sync::Arc;

/// Of an operation for which a lane has no room.
const NO_ROOM: Fault = Fault::os(rustix::io::Errno::AGAIN.raw_os_error());

/// What the lanes are about to do together.
#[derive(Debug, Clone, Copy)]
pub struct PhasePlan {
    /// The operation.
    pub operation: Operation,
    /// How operations shall reach the kernel.
    pub method: Method,
    /// What to do to the page cache first.
    pub cache: CacheAction,
    /// Open with O_DIRECT.
    pub direct: bool,
    /// How writes are made stable.
    pub sync: SyncPolicy,
    /// Reserve space for files that are created.
    pub preallocate: bool,
    /// The files of a tree have their second name when the phase starts.
    pub renamed: bool,
    /// Some files of a tree that are to be made may be there, whole or not: they are made anew.
    pub over: bool,
    /// Gets ask for a part of each object.
    pub ranged: bool,
    /// Somebody looks at what is fetched of objects: it must lie in its slot then. Of files it always does.
    pub looked_at: bool,
    /// Whose files or names each lane works on.
    pub owners: Owners,
}

/// What a lane has counted of its connections to one host.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct HostCounts {
    /// As the target names it.
    pub host: String,
    /// Requests that were sent.
    pub requests: u64,
    /// Connections that were made.
    pub opened: u64,
    /// Connections that could not be made.
    pub refused: u64,
    /// Connections that have ended before the lane did.
    pub closed: u64,
    /// Most requests that one connection has carried.
    pub most_requests: u64,
    /// How long it took to make each connection, TLS included, in nanoseconds.
    pub setup_ns: Vec<u64>,
}

/// What a lane needs to know when it is opened.
#[derive(Clone)]
pub struct LaneSetup {
    /// Number of the lane among those of all processes that do the job together, from 0.
    pub lane: u32,
    /// Operations in flight that the driver will want.
    pub queue_depth: u32,
    /// Polling; memory and placement are the driver's affair.
    pub tuning: Tuning,
    /// Files will be opened with O_DIRECT.
    pub direct: bool,
    /// Buffers of this lane; an operation's slot is an index into them.
    pub buffers: Arc<Buffers>,
    /// Data of operations that are longer than a buffer, or on several objects; none if there are none.
    pub source: Option<Arc<dyn Source>>,
}

/// The reason for a method that the job names.
pub const ASKED_FOR: &str = "asked for";

/// How a lane reaches the kernel in a phase, and why.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MethodChoice {
    /// Any but `Auto`.
    pub method: Method,
    /// One line for people.
    pub reason: String,
    /// Operations it can have in flight.
    pub depth: u32,
    /// Operations that are best handed over at once, at least 1.
    pub batch: u32,
    /// The protocol tells when the first byte of an answer comes.
    pub tells_first_byte: bool,
    /// It is at work on one operation while the data of the next is made, if there is a buffer for it.
    pub ahead: bool,
    /// Lanes of all processes start the same number of operations: `Lane::agree` is asked before each stretch of them.
    pub in_step: bool,
    /// What an MPI library says of the file; none of all else.
    pub mpiio: Option<MpiioUse>,
}

impl MethodChoice {
    /// So many operations in flight, handed over at once; no first byte is told, and nothing is made ahead.
    pub fn of(method: Method, reason: String, depth: u32) -> Self {
        MethodChoice {
            method,
            reason,
            depth,
            batch: depth,
            tells_first_byte: false,
            ahead: false,
            in_step: false,
            mpiio: None,
        }
    }
}

/// One worker's connection to the storage: operations go in and come out in batches.
pub trait Lane {
    /// Opens what the phase needs. Called before the barrier.
    fn begin(&mut self, plan: &PhasePlan) -> Result<MethodChoice, SetupError>;

    /// Takes operations, as many as it has room for, and returns how many it took.
    /// The driver never has more in flight than `MethodChoice::depth`.
    fn submit(&mut self, ops: &[Op]) -> usize;

    /// Appends completions to `done`: at least one if any operation is in flight, unless the
    /// monotonic time `deadline` comes first. A lane whose method blocks may overrun the deadline.
    fn reap(&mut self, done: &mut Vec<Completion>, deadline: u64);

    /// `submit` and `reap` in one call, for lanes that can do it with less between the two.
    fn exchange(&mut self, ops: &[Op], done: &mut Vec<Completion>, deadline: u64) {
        let taken = self.submit(ops);
        debug_assert_eq!(taken, ops.len(), "the driver keeps to the lane's depth");
        let refused = ops[taken..].iter().map(|op| Completion::new(op.slot, Err(NO_ROOM)));
        done.extend(refused);
        self.reap(done, deadline);
    }

    /// Does one operation while nothing else is in flight, and returns its result. Same rules.
    fn execute(&mut self, op: &Op) -> Result<u64, Fault>;

    /// Of a lane that is `MethodChoice::in_step` with those of other processes: how many operations each of them starts
    /// until they agree again; 0 if the phase is over for all. `left` is what this lane has still to start, none if it
    /// must end now, which ends the phase for all. A lane with fewer left than the others starts operations of no bytes
    /// instead, which are not counted. After `_time_ns` the phase's time is over; `u64::MAX` if it has none.
    ///
    /// # Errors
    /// If the others cannot be asked.
    fn agree(&mut self, left: Option<u64>, _time_ns: u64) -> Result<u64, Fault> {
        Ok(left.unwrap_or(0))
    }

    /// Whether what a phase has written is flushed at its end. Where a flush is one call of the lanes of several
    /// processes, they agree, whether this one wants it or not.
    fn flushes(&mut self, wanted: bool) -> bool {
        wanted
    }

    /// Monotonic time at which the first byte of the answer to the operation came that has just ended in a slot; 0 where
    /// none was told. Asked, before the slot is used again, only if `MethodChoice::tells_first_byte`.
    fn first_byte(&self, _slot: u32) -> u64 {
        0
    }

    /// What the service said, in its own words, of the operation that has just failed in a slot: one short line without
    /// secrets; none if it said nothing. Asked before the slot is used again.
    fn said(&self, _slot: u32) -> Option<String> {
        None
    }

    /// What was counted of its connections since the last time, host by host; empty where there is nothing to count.
    fn host_counts(&mut self) -> Vec<HostCounts> {
        Vec::new()
    }

    /// What the service has told since the last time; none where it tells nothing.
    fn service_counts(&mut self) -> Option<ServiceUse> {
        None
    }

    /// Closes what `begin` opened. Nothing is in flight.
    fn end(&mut self) -> Result<(), SetupError>;
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::OpKind;

    /// Takes one operation, and needs no time.
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

    /// A lane that needs no other starts what it has left, and ends when it must.
    #[test]
    fn a_lane_alone_agrees_with_itself() {
        let mut lane = One(Vec::new());
        assert_eq!((lane.agree(Some(7), u64::MAX), lane.agree(None, 0)), (Ok(7), Ok(0)));
        assert!(lane.flushes(true) && !lane.flushes(false));
        assert_eq!((lane.first_byte(0), lane.said(0), lane.host_counts().len()), (0, None, 0));
    }

    #[test]
    fn a_choice_hands_over_all_that_may_be_in_flight() {
        let choice = MethodChoice::of(Method::IoUring, "why".to_owned(), 32);
        assert_eq!((choice.depth, choice.batch, choice.reason.as_str()), (32, 32, "why"));
        assert!(!choice.ahead && !choice.in_step && !choice.tells_first_byte && choice.mpiio.is_none());
    }
}
