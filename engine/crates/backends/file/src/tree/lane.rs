//! One worker's names in a tree, accessed by plain calls or io_uring.

use crate::auto::{no_ring, ONE_IN_FLIGHT, SEVERAL_IN_FLIGHT};
use crate::tree::calls::Calls;
use crate::tree::ring::TreeRing;
use crate::tree::JobTree;
use assay_core::{
    fault_message, Completion, Fault, Lane, LaneSetup, MethodChoice, Op, PhasePlan, SetupError, REQUESTED_BY_JOB,
};
use assay_posix::uring::Queue;
use assay_spec::{data_operations, object_operations, program_operations};
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
        object_operations!() | program_operations!() => "none",
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::test_dir::{self, plan};
    use assay_core::{Buffers, OpKind};
    use assay_posix::place::Place;
    use assay_spec::{Layout, Tree};

    /// A tree in a marked directory.
    struct TestDir {
        job_tree: Arc<JobTree>,
        _directory: test_dir::TestDir,
    }

    impl TestDir {
        fn new(name: &str, files: u64, width: u32) -> Self {
            let test_dir = test_dir::TestDir::new(&format!("tree-{name}"));
            std::fs::create_dir(test_dir.at("")).unwrap();
            let place = Arc::new(Place::directory(&test_dir.root(), "job", None).unwrap());
            let tree = Tree { files, depth: 1, width, more: 0, inner: false };
            let job_tree = JobTree::new(vec![place], tree, Layout::Separate, 0..1);
            job_tree.make().unwrap();
            TestDir { job_tree: Arc::new(job_tree), _directory: test_dir }
        }

        fn lane(&self, method: Method, queue_depth: u32) -> TreeLane {
            let buffers = Arc::new(Buffers::new(queue_depth as usize, 100, false).unwrap());
            let setup = LaneSetup::of(0, queue_depth, buffers);
            let mut lane = TreeLane::new(Arc::clone(&self.job_tree), setup);
            lane.choose(method).unwrap();
            lane
        }
    }

    /// Executes an operation on each number; returns the results in order of the numbers.
    fn each(lane: &mut TreeLane, plan: &PhasePlan, kind: OpKind, numbers: u64, length: u64) -> Vec<Result<u64, Fault>> {
        let depth = u64::from(lane.begin(plan).unwrap().depth);
        let mut results = Vec::new();
        for first in (0..numbers).step_by(depth as usize) {
            let count = depth.min(numbers - first);
            let op = |slot| Op { kind, count: 1, slot: slot as u32, object: first + slot, offset: 0, length };
            let ops: Vec<Op> = (0..count).map(op).collect();
            assert_eq!(lane.submit(&ops), ops.len());
            let mut done = Vec::new();
            while done.len() < ops.len() {
                lane.reap(&mut done, u64::MAX);
            }
            // A second completion of an operation would come now or with the next batch.
            lane.reap(&mut done, 0);
            done.sort_unstable_by_key(|completion| completion.slot);
            let slots: Vec<u32> = done.iter().map(|completion| completion.slot).collect();
            assert_eq!(slots, (0..count as u32).collect::<Vec<_>>(), "one completion for each operation");
            results.extend(done.iter().map(|completion| completion.result));
        }
        lane.end().unwrap();
        results
    }

    fn both_ways(name: &str, files: u64, width: u32, test: impl Fn(&mut TreeLane)) {
        for (method, depth) in [(Method::Sync, 1), (Method::IoUring, 1), (Method::IoUring, 7)] {
            let test_dir = TestDir::new(&format!("{name}-{depth}-{}", method as u8), files, width);
            test(&mut test_dir.lane(method, depth));
        }
    }

    #[test]
    fn a_listing_counts_the_names() {
        both_ways("list", 2500, 2, |lane| {
            assert_eq!(each(lane, &plan(Operation::Create), OpKind::Create, 1300, 0), vec![Ok(0); 1300]);
            assert_eq!(each(lane, &plan(Operation::Readdir), OpKind::Readdir, 2, 0), [Ok(1250), Ok(50)]);
        });
    }

    #[test]
    fn results_are_sizes_and_each_operation_ends_once() {
        both_ways("once", 20, 20, |lane| {
            let mut one = |operation, kind, numbers, length| each(lane, &plan(operation), kind, numbers, length);
            assert_eq!(one(Operation::Create, OpKind::Create, 10, 100), vec![Ok(100); 10]);
            let again = one(Operation::Create, OpKind::Create, 20, 100);
            assert_eq!(again, [vec![Err(Fault::os(libc::EEXIST)); 10], vec![Ok(100); 10]].concat());
            assert_eq!(one(Operation::Stat, OpKind::Stat, 20, 5), vec![Ok(100); 20]);
            assert_eq!(one(Operation::Open, OpKind::Open, 20, 0), vec![Ok(0); 20]);
            assert_eq!(one(Operation::Unlink, OpKind::Unlink, 10, 0), vec![Ok(0); 10]);
            let (gone, there) = (vec![Err(Fault::os(libc::ENOENT)); 10], vec![Ok(0); 10]);
            for (operation, kind) in [(Operation::Open, OpKind::Open), (Operation::Rename, OpKind::Rename)] {
                assert_eq!(one(operation, kind, 20, 0), [gone.clone(), there.clone()].concat());
            }
            assert_eq!(one(Operation::Stat, OpKind::Stat, 20, 0), vec![Err(Fault::os(libc::ENOENT)); 20]);
            assert_eq!(one(Operation::Mkdir, OpKind::Mkdir, 20, 0), vec![Ok(0); 20]);
            assert_eq!(one(Operation::Rmdir, OpKind::Rmdir, 20, 0), vec![Ok(0); 20]);
            assert_eq!(one(Operation::Create, OpKind::Sync, 1, 0), [Ok(0)]);
        });
    }
}
