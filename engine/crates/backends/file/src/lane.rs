//! One worker's file, accessed by io_uring, pread and pwrite, threads, a mapping, or C stdio.

use crate::auto::{no_ring, Choice, Direction, KnownMethods};
use assay_core::{Completion, Fault, Lane, LaneSetup, MethodChoice, Op, PhasePlan, SetupError, REQUESTED_BY_JOB};
use assay_posix::place::Place;
use assay_posix::uring::{Queue, Ring, Uring};
use assay_posix::{Mmap, Stdio, SyncIo, Threads};
use assay_spec::{Method, MethodShape, Operation, SyncPolicy};
use rustix::fs::OFlags;
use rustix::io::Errno;
use std::sync::Arc;

/// With O_DIRECT a call submits so many operations, or a quarter of those in flight, so that the device works on them
/// while the next ones are made. One call for all costs less, but leaves a fast device idle meanwhile.
const DIRECT_BATCH: u32 = 8;

/// How the current phase accesses the file.
enum Channel {
    Closed,
    Ring,
    Calls(SyncIo),
    Threads(Threads),
    Mapping(Mmap),
    Stdio(Stdio),
}

/// The lane of a worker's file.
pub(crate) struct FileLane {
    place: Arc<Place>,
    /// The lane's own file.
    own: u32,
    /// The file of the phase.
    file: u32,
    file_size: u64,
    setup: LaneSetup,
    known: Arc<KnownMethods>,
    ring: Option<Uring>,
    channel: Channel,
    /// The operation that a blocking channel has accepted; it is executed when it is reaped.
    waiting: Option<Op>,
}

impl FileLane {
    pub(crate) fn new(
        place: Arc<Place>,
        file: u32,
        file_size: u64,
        setup: LaneSetup,
        known: Arc<KnownMethods>,
    ) -> Self {
        FileLane {
            place,
            own: file,
            file,
            file_size,
            setup,
            known,
            ring: None,
            channel: Channel::Closed,
            waiting: None,
        }
    }

    /// The phase's method. For io_uring the ring is set up.
    fn choose(&mut self, plan: &PhasePlan) -> Result<Choice, SetupError> {
        let auto = plan.method == Method::Auto;
        let mut choice = match plan.method {
            Method::Auto if plan.operation == Operation::Prepare => Choice::new(Method::IoUring, "large writes"),
            Method::Auto => self.known.choose(&self.place, &self.shape(plan), Direction::of(plan.operation)),
            method => Choice::new(method, REQUESTED_BY_JOB),
        };
        if choice.method != Method::IoUring {
            return Ok(choice);
        }
        if self.ring.is_none() {
            let (sqpoll, iopoll) = (self.setup.tuning.sqpoll, self.setup.tuning.iopoll);
            match Uring::new(&self.setup, Ring { registered: plan.direct, sqpoll, iopoll }) {
                Ok(made) => self.ring = Some(made),
                Err(why) if auto => return Ok(Choice::new(Method::Threads, format!("no io_uring: {why}"))),
                Err(why) => return Err(no_ring(self.place.object_name(self.file), &why, "auto, threads or sync")),
            }
        }
        if let Some(ring) = &self.ring {
            choice.reason = format!("{}; {}", choice.reason, ring.description());
        }
        Ok(choice)
    }

    fn shape(&self, plan: &PhasePlan) -> MethodShape {
        MethodShape {
            record_size_bytes: self.setup.buffers.length() as u64,
            queue_depth: self.setup.queue_depth,
            direct: plan.direct,
            sync: plan.sync,
            preallocate: plan.preallocate,
        }
    }

    fn error(&self, errno: Errno) -> SetupError {
        let object = self.place.object_name(self.file);
        if errno == Errno::OPNOTSUPP && self.setup.tuning.iopoll {
            return SetupError::new("open", object, "cannot be polled for completions here: leave iopoll out");
        }
        SetupError::os("open", object, errno)
    }

    fn flags(plan: &PhasePlan) -> OFlags {
        let access = match (plan.operation.reads(), plan.operation.writes()) {
            (true, false) => OFlags::RDONLY,
            _ => OFlags::RDWR,
        };
        let direct = if plan.direct { OFlags::DIRECT } else { OFlags::empty() };
        let sync = match plan.sync {
            SyncPolicy::OSync => OFlags::SYNC,
            SyncPolicy::ODsync => OFlags::DSYNC,
            _ => OFlags::empty(),
        };
        access | direct | sync
    }
}

impl Lane for FileLane {
    fn begin(&mut self, plan: &PhasePlan) -> Result<MethodChoice, SetupError> {
        self.file = plan.owners.of(self.own);
        let fd = self.place.open(self.file, Self::flags(plan))?;
        if plan.operation.stdio() {
            let length = self.setup.buffers.length();
            self.channel = Channel::Stdio(Stdio::open(fd, plan, length, Arc::clone(&self.setup.buffers))?);
            return Ok(MethodChoice::of(Method::Sync, "C stdio".to_owned(), 1));
        }
        let choice = self.choose(plan)?;
        let data_only = plan.sync == SyncPolicy::Fdatasync;
        let (buffers, depth) = (Arc::clone(&self.setup.buffers), self.setup.queue_depth);
        let (channel, depth) = match (choice.method, &mut self.ring) {
            (Method::IoUring, Some(ring)) => {
                ring.attach(fd, data_only).map_err(|errno| self.error(errno))?;
                (Channel::Ring, depth)
            }
            (Method::Threads, _) => {
                let started = Threads::start(SyncIo::new(fd, data_only, buffers), depth);
                let error = |why: std::io::Error| SetupError::new("start", format!("{depth} threads"), why.to_string());
                (Channel::Threads(started.map_err(error)?), depth)
            }
            (Method::Mmap, _) => {
                let (writes, random) = (plan.operation.writes(), is_random(plan.operation));
                let mapping = Mmap::new(fd, self.file_size, writes, random, data_only, buffers);
                (Channel::Mapping(mapping.map_err(|errno| self.error(errno))?), 1)
            }
            _ => (Channel::Calls(SyncIo::new(fd, data_only, buffers)), 1),
        };
        self.channel = channel;
        let batch = if plan.direct { depth.min(DIRECT_BATCH.max(depth / 4)) } else { depth };
        let ahead = matches!(self.channel, Channel::Ring);
        Ok(MethodChoice { batch, ahead, ..MethodChoice::of(choice.method, choice.reason, depth) })
    }

    #[inline]
    fn execute(&mut self, op: &Op) -> Result<u64, Fault> {
        let number = |result: Result<u32, i32>| result.map(u64::from).map_err(Fault::os);
        match &mut self.channel {
            Channel::Calls(calls) => calls.execute(op),
            Channel::Threads(threads) => threads.execute(op),
            Channel::Mapping(mapping) => number(mapping.execute(op)),
            Channel::Stdio(stdio) => number(stdio.execute(op)),
            Channel::Ring => self.ring.as_mut().map_or(Err(Fault::os(libc::EBADF)), |ring| ring.execute(op)),
            Channel::Closed => Err(Fault::os(libc::EBADF)),
        }
    }

    fn submit(&mut self, ops: &[Op]) -> usize {
        match (&mut self.channel, &mut self.ring) {
            (Channel::Ring, Some(ring)) => return ring.submit(ops),
            (Channel::Threads(threads), _) => return threads.submit(ops),
            _ => {}
        }
        let room = usize::from(self.waiting.is_none());
        self.waiting = self.waiting.or_else(|| ops.first().copied());
        room.min(ops.len())
    }

    fn reap(&mut self, done: &mut Vec<Completion>, deadline: u64) {
        match (&mut self.channel, &mut self.ring) {
            (Channel::Ring, Some(ring)) => return ring.reap(done, deadline),
            (Channel::Threads(threads), _) => return threads.reap(done, deadline),
            _ => {}
        }
        if let Some(op) = self.waiting.take() {
            let result = self.execute(&op);
            done.push(Completion::new(op.slot, result));
        }
    }

    fn end(&mut self) -> Result<(), SetupError> {
        let closed = match std::mem::replace(&mut self.channel, Channel::Closed) {
            Channel::Ring => self.ring.as_mut().map_or(Ok(()), Uring::detach),
            Channel::Calls(calls) => calls.close(),
            Channel::Threads(threads) => threads.close(),
            Channel::Mapping(mapping) => mapping.close(),
            Channel::Stdio(mut stdio) => stdio.close(),
            Channel::Closed => Ok(()),
        };
        closed.map_err(|errno| SetupError::os("close", self.place.object_name(self.file), errno))
    }
}

/// Whether the next record is not the one after.
fn is_random(operation: Operation) -> bool {
    matches!(operation, Operation::RandomRead | Operation::RandomWrite | Operation::RandomMix)
}

#[cfg(test)]
#[path = "lane_tests.rs"]
mod tests;
