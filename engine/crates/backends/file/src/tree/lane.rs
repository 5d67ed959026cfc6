//! One worker's names in a tree, accessed by plain calls or io_uring.

use crate::auto::{no_ring, ONE_IN_FLIGHT, SEVERAL_IN_FLIGHT};
use crate::tree::calls::Calls;
use crate::tree::ring::TreeRing;
use crate::tree::JobTree;
use assay_core::{
    fault_message, Completion, Fault, Lane, LaneSetup, MethodChoice, Op, PhasePlan, SetupError, REQUESTED_BY_JOB,
};
use assay_posix::uring::Queue;
use assay_spec::{data_operations, object_operations};
use assay_spec::{Method, Operation};
use std::sync::Arc;

/// How the current phase accesses the names.
enum Channel {
    Closed,
    Ring,
    Calls(Box<Calls>),
}

/// The lane of a worker's names.
pub(crate) struct TreeLane {
    job_tree: Arc<JobTree>,
    setup: LaneSetup,
    ring: Option<TreeRing>,
    /// Why there is a ring, or why not.
    reason: String,
    channel: Channel,
    /// The operation that plain calls have accepted; it is executed when it is reaped.
    waiting: Option<Op>,
}

impl TreeLane {
    pub(crate) fn new(job_tree: Arc<JobTree>, setup: LaneSetup) -> Self {
        TreeLane { job_tree, setup, ring: None, reason: String::new(), channel: Channel::Closed, waiting: None }
    }

    /// Sets up a ring, once, if the method asks for it or there are several operations in flight.
    fn choose(&mut self, method: Method) -> Result<(), SetupError> {
        if !self.reason.is_empty() {
            return Ok(());
        }
        let auto = method == Method::Auto;
        REQUESTED_BY_JOB.clone_into(&mut self.reason);
        match (method, self.setup.queue_depth) {
            (Method::Auto, 1) => ONE_IN_FLIGHT.clone_into(&mut self.reason),
            (Method::Auto | Method::IoUring, _) => match TreeRing::new(&self.job_tree, &self.setup) {
                Ok(ring) => {
                    self.ring = Some(ring);
                    if auto {
                        SEVERAL_IN_FLIGHT.clone_into(&mut self.reason);
                    }
                }
                Err(why) if auto => self.reason = format!("no io_uring: {why}"),
                Err(why) => return Err(no_ring(self.job_tree.object_name(self.setup.lane), &why, "auto or sync")),
            },
            _ => {}
        }
        Ok(())
    }

    /// Why the ring cannot be used for an operation; none if it can.
    fn obstacle(&self, operation: Operation) -> Option<String> {
        self.ring.as_ref().and_then(|ring| ring.obstacle(operation))
    }
}

/// The plain calls of an operation.
fn calls(operation: Operation) -> &'static str {
    match operation {
        Operation::Stat => "statx",
        Operation::Open => "openat, close",
        Operation::Readdir => "openat2, getdents64, close",
        Operation::Rename => "renameat",
        Operation::Unlink | Operation::Rmdir => "unlinkat",
        Operation::Mkdir => "mkdirat",
        Operation::Prepare | Operation::Create => "openat, pwrite if there are contents, close",
        Operation::FileMix => "openat, pread or pwrite, close; statx; unlinkat",
        operation if operation.writes() && operation.reads() => "openat, pread or pwrite, close",
        operation if operation.writes() => "openat, pwrite, close",
        data_operations!() => "openat, pread, close",
        object_operations!() => "none",
    }
}

impl Lane for TreeLane {
    fn begin(&mut self, plan: &PhasePlan) -> Result<MethodChoice, SetupError> {
        self.choose(plan.method)?;
        let obstacle = self.obstacle(plan.operation);
        if let (Some(ring), None) = (&mut self.ring, &obstacle) {
            let words = ring.attach(&self.job_tree, plan)?;
            self.channel = Channel::Ring;
            let reason = format!("{}; {words}", self.reason);
            return Ok(MethodChoice::of(Method::IoUring, reason, ring.depth()));
        }
        let calls_of = Calls::open(Arc::clone(&self.job_tree), &self.setup, plan)?;
        self.channel = Channel::Calls(Box::new(calls_of));
        let reason = format!("{}; plain calls: {}", obstacle.as_ref().unwrap_or(&self.reason), calls(plan.operation));
        Ok(MethodChoice::of(Method::Sync, reason, 1))
    }

    fn execute(&mut self, op: &Op) -> Result<u64, Fault> {
        match (&mut self.channel, &mut self.ring) {
            (Channel::Calls(calls), _) => calls.execute(op),
            (Channel::Ring, Some(ring)) => ring.execute(op),
            _ => Err(Fault::os(libc::EBADF)),
        }
    }

    fn submit(&mut self, ops: &[Op]) -> usize {
        if let (Channel::Ring, Some(ring)) = (&self.channel, &mut self.ring) {
            return ring.submit(ops);
        }
        let room = usize::from(self.waiting.is_none());
        self.waiting = self.waiting.or_else(|| ops.first().copied());
        room.min(ops.len())
    }

    fn reap(&mut self, done: &mut Vec<Completion>, deadline: u64) {
        if let (Channel::Ring, Some(ring)) = (&self.channel, &mut self.ring) {
            ring.reap(done, deadline);
            return;
        }
        if let Some(op) = self.waiting.take() {
            let result = self.execute(&op);
            done.push(Completion::new(op.slot, result));
        }
    }

    fn end(&mut self) -> Result<(), SetupError> {
        // Closing directories cannot fail.
        let closed = match &mut self.channel {
            Channel::Calls(calls) => calls.close(),
            Channel::Ring | Channel::Closed => Ok(()),
        };
        self.channel = Channel::Closed;
        if let Some(ring) = &mut self.ring {
            ring.detach();
        }
        closed.map_err(|fault| {
            let object = self.job_tree.object_name(self.setup.lane);
            SetupError::new("close", object, fault_message(fault)).because(fault)
        })
    }
}
