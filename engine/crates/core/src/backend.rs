//! What a kind of storage implements.

use crate::{Buffers, SetupError};
use assay_spec::{BackendCapabilities, CacheAction, Method, Operation, SyncPolicy, Tuning};
use std::sync::Arc;

/// Of an operation for which a lane has no room.
const EAGAIN: i32 = rustix::io::Errno::AGAIN.raw_os_error();

/// One operation on a lane's object, or on one name of its tree.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Op {
    /// What to do.
    pub kind: OpKind,
    /// Buffer slot of the data; comes back in the completion.
    pub slot: u32,
    /// Bytes to move; for `Create` the file's contents, for all else 0.
    pub length: u32,
    /// Where in the object, in bytes. In a tree: number of the lane's file or directory, for `Readdir` of the deepest
    /// directory.
    pub offset: u64,
}

/// What an operation does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OpKind {
    /// Fill the slot from the object.
    Read,
    /// Write the slot to the object.
    Write,
    /// Make everything this lane has written stable.
    Sync,
    /// Make a file that is not there, write the slot to it if `length` is not 0, close it.
    Create,
    /// Get a file's attributes.
    Stat,
    /// Open a file for reading and close it.
    Open,
    /// List a directory whole.
    Readdir,
    /// Give a file its other name (see `PhasePlan::renamed`).
    Rename,
    /// Remove a file.
    Unlink,
    /// Make a directory.
    Mkdir,
    /// Remove a directory.
    Rmdir,
}

impl OpKind {
    /// The word used in error samples.
    pub fn name(self) -> &'static str {
        match self {
            OpKind::Read => "read",
            OpKind::Write => "write",
            OpKind::Sync => "sync",
            OpKind::Create => "create",
            OpKind::Stat => "stat",
            OpKind::Open => "open",
            OpKind::Readdir => "readdir",
            OpKind::Rename => "rename",
            OpKind::Unlink => "unlink",
            OpKind::Mkdir => "mkdir",
            OpKind::Rmdir => "rmdir",
        }
    }
}

/// An operation has ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Completion {
    /// Slot of the operation.
    pub slot: u32,
    /// Bytes moved, for `Stat` the file's size (at most `u32::MAX`), for `Readdir` the entries found; or errno.
    pub result: Result<u32, i32>,
}

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
}

/// A kind of storage at one place.
///
/// A backend never paces, retries, picks offsets, makes or checks data, keeps statistics or prints:
/// the driver does. An operation that fails once yields exactly one failed completion.
pub trait Backend: Send + Sync {
    /// What it can do at its place.
    fn capabilities(&self) -> BackendCapabilities;

    /// Makes the place ready. Called once, before anything else; other processes may do the same for the same job.
    fn prepare(&self) -> Result<(), SetupError>;

    /// Creates or empties files and treats the cache. Called by one thread before the lanes begin a phase.
    ///
    /// Returns what was done to the cache, in words; empty if nothing.
    fn begin_phase(&self, plan: &PhasePlan) -> Result<String, SetupError>;

    /// Opens a worker's own connection. Called on the worker's thread.
    fn open_lane(&self, setup: LaneSetup) -> Result<Box<dyn Lane>, SetupError>;

    /// Name of a lane's object, for error samples; lanes are numbered as in `LaneSetup`.
    fn object_name(&self, lane: u32) -> String;

    /// Major and minor number of the block device that holds the data; none if there is none.
    fn device(&self) -> Option<(u32, u32)> {
        None
    }

    /// Bytes of the files in the host's page cache; none where that is unknown or means nothing.
    fn cached_bytes(&self) -> Option<u64> {
        None
    }

    /// The place is the one that was opened: nobody has unmounted, moved or replaced it. Asked before each phase and
    /// after the last.
    fn still_there(&self) -> Result<(), SetupError> {
        Ok(())
    }

    /// Removes everything `prepare` and the phases have made. May be called at any time, also twice.
    fn cleanup(&self) -> Result<(), SetupError>;
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
        let refused = ops[taken..].iter().map(|op| Completion { slot: op.slot, result: Err(EAGAIN) });
        done.extend(refused);
        self.reap(done, deadline);
    }

    /// Does one operation while nothing else is in flight, and returns its result. Same rules.
    fn execute(&mut self, op: &Op) -> Result<u32, i32>;

    /// Closes what `begin` opened. Nothing is in flight.
    fn end(&mut self) -> Result<(), SetupError>;
}
