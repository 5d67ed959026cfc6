//! One worker's file, reached through io_uring, pread and pwrite, or C stdio.

use crate::place::Place;
use crate::stdio::Stdio;
use crate::sync_io::SyncIo;
use crate::uring::Uring;
use assay_core::{Completion, Lane, LaneSetup, MethodChoice, Op, PhasePlan, SetupError};
use assay_spec::{Method, SyncPolicy};
use rustix::fs::OFlags;
use std::sync::Arc;

/// How the current phase reaches the file.
enum Channel {
    Closed,
    Ring,
    Calls(SyncIo),
    Stdio(Stdio),
}

/// A worker's file.
pub(crate) struct FileLane {
    place: Arc<Place>,
    file: u32,
    setup: LaneSetup,
    ring: Option<Uring>,
    reason: String,
    channel: Channel,
    /// Blocking channels have room for one operation, which is done when it is reaped.
    waiting: Option<Op>,
}

impl FileLane {
    /// Sets up the ring, or finds out why there is none.
    pub(crate) fn open(place: Arc<Place>, file: u32, setup: LaneSetup) -> Result<Self, SetupError> {
        let (ring, reason) = match setup.method {
            Method::Sync => (None, "asked for".to_owned()),
            // Where a file system cannot do an operation without blocking, a ring hands each one to another thread.
            Method::Auto if setup.queue_depth == 1 => {
                (None, "one operation in flight: a ring has nothing to batch".to_owned())
            }
            Method::Auto | Method::IoUring => match Uring::new(&setup) {
                Ok(ring) => {
                    let reason = ring.description();
                    (Some(ring), reason)
                }
                Err(why) if setup.method == Method::Auto => (None, format!("no io_uring: {why}")),
                Err(why) => {
                    let message = format!("io_uring was asked for, but {why}: use method auto or sync");
                    return Err(SetupError::new("open", place.object_name(file), message));
                }
            },
        };
        Ok(FileLane { place, file, setup, ring, reason, channel: Channel::Closed, waiting: None })
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
            return Ok(MethodChoice { method: Method::Sync, reason: "C stdio".to_owned(), depth: 1 });
        }
        let data_only = plan.sync == SyncPolicy::Fdatasync;
        if let Some(ring) = &mut self.ring {
            ring.attach(fd, data_only).map_err(|e| SetupError::os("open", self.place.object_name(self.file), e))?;
            self.channel = Channel::Ring;
            return Ok(MethodChoice {
                method: Method::IoUring,
                reason: self.reason.clone(),
                depth: self.setup.queue_depth,
            });
        }
        self.channel = Channel::Calls(SyncIo::new(fd, data_only, Arc::clone(&self.setup.buffers)));
        Ok(MethodChoice { method: Method::Sync, reason: self.reason.clone(), depth: 1 })
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
        let Some(op) = self.waiting.take() else { return };
        let result = match &mut self.channel {
            Channel::Calls(calls) => calls.execute(&op),
            Channel::Stdio(stdio) => stdio.execute(&op),
            Channel::Ring | Channel::Closed => Err(rustix::io::Errno::BADF.raw_os_error()),
        };
        done.push(Completion { slot: op.slot, result });
    }

    fn end(&mut self) -> Result<(), SetupError> {
        let closed = match std::mem::replace(&mut self.channel, Channel::Closed) {
            Channel::Ring => self.ring.as_mut().map_or(Ok(()), Uring::detach),
            Channel::Calls(calls) => calls.close(),
            Channel::Stdio(mut stdio) => stdio.close(),
            Channel::Closed => Ok(()),
        };
        closed.map_err(|errno| SetupError::os("close", self.place.object_name(self.file), errno))
    }
}
