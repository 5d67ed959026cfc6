//! One worker's file, reached through io_uring, pread and pwrite, a mapping, or C stdio.

use crate::mmap::Mmap;
use crate::place::Place;
use crate::stdio::Stdio;
use crate::sync_io::SyncIo;
use crate::trial::Choice;
use crate::uring::{Queue, Ring, Uring};
use assay_core::{Completion, Lane, LaneSetup, MethodChoice, Op, PhasePlan, SetupError};
use assay_spec::{Method, Operation, SyncPolicy};
use rustix::fs::OFlags;
use rustix::io::Errno;
use std::sync::Arc;

/// With O_DIRECT a call hands over so many operations, or a quarter of those in flight: the device is at work on them
/// while the next are made. A call for all of them costs less, but leaves a fast device idle meanwhile.
const DIRECT_BATCH: u32 = 8;

/// How the current phase reaches the file.
enum Channel {
    Closed,
    Ring,
    Calls(SyncIo),
    Mapping(Mmap),
    Stdio(Stdio),
}

/// A worker's file.
pub(crate) struct FileLane {
    place: Arc<Place>,
    file: u32,
    file_size: u64,
    setup: LaneSetup,
    choice: Choice,
    ring: Option<Uring>,
    channel: Channel,
    /// Blocking channels have room for one operation, which is done when it is reaped.
    waiting: Option<Op>,
}

impl FileLane {
    /// Sets up the ring if that is the choice.
    pub(crate) fn open(
        place: Arc<Place>,
        file: u32,
        file_size: u64,
        setup: LaneSetup,
        mut choice: Choice,
    ) -> Result<Self, SetupError> {
        let mut ring = None;
        if choice.method == Method::IoUring {
            let (sqpoll, iopoll) = (setup.tuning.sqpoll, setup.tuning.iopoll);
            match Uring::new(&setup, Ring { registered: choice.registered, sqpoll, iopoll }) {
                Ok(made) => {
                    choice.reason = format!("{}; {}", choice.reason, made.description());
                    ring = Some(made);
                }
                Err(why) if setup.method == Method::Auto => {
                    choice.method = Method::Sync;
                    choice.reason = format!("no io_uring: {why}");
                }
                Err(why) => {
                    let message = format!("io_uring was asked for, but {why}: use method auto or sync");
                    return Err(SetupError::new("open", place.object_name(file), message));
                }
            }
        }
        Ok(FileLane { place, file, file_size, setup, choice, ring, channel: Channel::Closed, waiting: None })
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
        let fd = self.place.open(self.file, Self::flags(plan))?;
        if plan.operation.stdio() {
            let length = self.setup.buffers.length();
            self.channel = Channel::Stdio(Stdio::open(fd, plan, length, Arc::clone(&self.setup.buffers))?);
            return Ok(MethodChoice { method: Method::Sync, reason: "C stdio".to_owned(), depth: 1, batch: 1 });
        }
        let data_only = plan.sync == SyncPolicy::Fdatasync;
        let buffers = Arc::clone(&self.setup.buffers);
        let mut depth = 1;
        if let Some(ring) = &mut self.ring {
            ring.attach(fd, data_only).map_err(|errno| self.error(errno))?;
            self.channel = Channel::Ring;
            depth = self.setup.queue_depth;
        } else if self.choice.method == Method::Mmap {
            let (writes, random) = (plan.operation.writes(), is_random(plan.operation));
            let mapping = Mmap::new(fd, self.file_size, writes, random, data_only, buffers);
            self.channel = Channel::Mapping(mapping.map_err(|errno| self.error(errno))?);
        } else {
            self.channel = Channel::Calls(SyncIo::new(fd, data_only, buffers));
        }
        let batch = if plan.direct { depth.min(DIRECT_BATCH.max(depth / 4)) } else { depth };
        Ok(MethodChoice { method: self.choice.method, reason: self.choice.reason.clone(), depth, batch })
    }

    fn execute(&mut self, op: &Op) -> Result<u32, i32> {
        match &mut self.channel {
            Channel::Calls(calls) => calls.execute(op),
            Channel::Mapping(mapping) => mapping.execute(op),
            Channel::Stdio(stdio) => stdio.execute(op),
            Channel::Ring => self.ring.as_mut().map_or(Err(libc::EBADF), |ring| ring.execute(op)),
            Channel::Closed => Err(libc::EBADF),
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
            done.push(Completion { slot: op.slot, result: self.execute(&op) });
        }
    }

    fn end(&mut self) -> Result<(), SetupError> {
        let closed = match std::mem::replace(&mut self.channel, Channel::Closed) {
            Channel::Ring => self.ring.as_mut().map_or(Ok(()), Uring::detach),
            Channel::Calls(calls) => calls.close(),
            Channel::Mapping(mapping) => mapping.close(),
            Channel::Stdio(mut stdio) => stdio.close(),
            Channel::Closed => Ok(()),
        };
        closed.map_err(|errno| SetupError::os("close", self.place.object_name(self.file), errno))
    }
}

/// The next record is not the one after.
fn is_random(operation: Operation) -> bool {
    matches!(operation, Operation::RandomRead | Operation::RandomWrite | Operation::RandomMix)
}
