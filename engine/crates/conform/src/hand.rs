//! One lane by hand: one operation after the other, in an order that no job has. The only place that knows operations
//! and completions.

use assay_core::{
    as_errno, fault_message, pulse, Backend, Buffers, Fault, Lane, LaneSetup, Op, OpKind, PhasePlan, SetupError,
};
use assay_spec::{data_kinds, name_kinds, object_kinds, CacheAction, Job, Operation};
use std::sync::Arc;

/// An operation that failed: what the storage said.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Failed(Fault);

impl Failed {
    /// There is no such name.
    pub(crate) fn is_missing(self) -> bool {
        as_errno(self.0) == Some(libc::ENOENT)
    }

    /// There is such a name already.
    pub(crate) fn is_taken(self) -> bool {
        as_errno(self.0) == Some(libc::EEXIST)
    }
}

impl std::fmt::Display for Failed {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.write_str(&fault_message(self.0))
    }
}

/// What is done to a name.
pub(crate) use assay_core::OpKind as Kind;

/// A lane that is open.
pub(crate) struct Hand {
    lane: Box<dyn Lane>,
    buffers: Arc<Buffers>,
    plan: PhasePlan,
    object: String,
    /// Bytes of each object that are no contents.
    keys: u64,
    /// It works on the small files of a tree.
    names: bool,
}

/// What a phase of this operation would be in a job.
fn plan(job: &Job, operation: Operation) -> PhasePlan {
    PhasePlan {
        owners: assay_core::Owners::own(),
        operation,
        method: job.method,
        cache: CacheAction::Keep,
        direct: job.direct,
        sync: job.sync,
        preallocate: job.preallocate,
        renamed: false,
        over: false,
        ranged: false,
        looked_at: true,
    }
}

/// Makes what the job's operations on files or names need; `Write` empties the files.
pub(crate) fn make(backend: &dyn Backend, job: &Job, operation: Operation) -> Result<(), SetupError> {
    backend.begin_phase(&plan(job, operation)).map(drop)
}

impl Hand {
    /// Opens a lane of the job, ready for the operations of a phase. `length` is the largest of them, in bytes.
    pub(crate) fn open(
        backend: &dyn Backend,
        job: &Job,
        lane: u32,
        operation: Operation,
        length: usize,
    ) -> Result<Self, SetupError> {
        let keys = job.target.rules().key_bytes();
        let made = Buffers::new(1, length.max(1) + keys as usize, false);
        let buffers = Arc::new(made.map_err(|errno| SetupError::os("allocate", "a buffer", errno))?);
        let setup = LaneSetup {
            lane,
            queue_depth: 1,
            tuning: job.tuning.clone(),
            direct: job.direct,
            buffers: Arc::clone(&buffers),
            source: None,
        };
        let mut hand = Hand {
            lane: backend.open_lane(setup)?,
            buffers,
            plan: plan(job, operation),
            object: backend.object_name(lane),
            keys,
            names: job.tree.is_some(),
        };
        hand.lane.begin(&hand.plan)?;
        Ok(hand)
    }

    /// Goes on with operations of another phase; the files of a tree have their second name if they are `renamed`.
    pub(crate) fn turn(&mut self, operation: Operation, renamed: bool) -> Result<(), SetupError> {
        self.lane.end()?;
        (self.plan.operation, self.plan.renamed) = (operation, renamed);
        self.lane.begin(&self.plan).map(drop)
    }

    /// Goes on with gets of a part of each object, or of all of it.
    pub(crate) fn ask_for_ranges(&mut self, ranged: bool) -> Result<(), SetupError> {
        self.plan.ranged = ranged;
        self.turn(Operation::Get, false)
    }

    /// Closes what is open.
    pub(crate) fn close(mut self) -> Result<(), SetupError> {
        self.lane.end()
    }

    /// Name of what it works on, for people.
    pub(crate) fn object(&self) -> &str {
        &self.object
    }

    fn execute(&mut self, kind: OpKind, place: u64, length: usize) -> Result<u64, Failed> {
        // A name's number is that of its object; the data of a file has one object.
        let (object, offset) = match kind {
            OpKind::Read if self.names => (place, 0),
            data_kinds!() => (0, place),
            name_kinds!() | object_kinds!() => (place, 0),
        };
        self.do_one(&Op { kind, count: 1, slot: 0, object, offset, length: length as u64 })
    }

    fn do_one(&mut self, op: &Op) -> Result<u64, Failed> {
        let done = self.lane.execute(op).map_err(Failed);
        pulse::beat();
        done
    }

    /// Stores an object, or a part of one that is stored in parts, with these contents.
    pub(crate) fn put(&mut self, kind: Kind, number: u64, offset: u64, contents: &[u8]) -> Result<u64, Failed> {
        // SAFETY: nothing is in flight, and the slice ends here.
        unsafe { self.buffers.slice(0, contents.len()) }.copy_from_slice(contents);
        let length = contents.len() as u64 + self.keys;
        let taken = self.do_one(&Op { kind, count: 1, slot: 0, object: number, offset, length })?;
        Ok(taken.saturating_sub(self.keys))
    }

    /// Fetches so many bytes of an object, or as many as there are.
    pub(crate) fn get(&mut self, number: u64, offset: u64, length: usize) -> Result<Vec<u8>, Failed> {
        // SAFETY: nothing is in flight, and the slice ends here.
        unsafe { self.buffers.slice(0, length) }.fill(0xEE);
        let whole = length as u64 + self.keys;
        let op = Op { kind: OpKind::Get, count: 1, slot: 0, object: number, offset, length: whole };
        let got = self.do_one(&op)?.saturating_sub(self.keys) as usize;
        // SAFETY: as above.
        Ok(unsafe { self.buffers.slice(0, length) }[..got.min(length)].to_vec())
    }

    /// Does something else to the object of this number; `length` as of the operation's kind.
    pub(crate) fn object_of(&mut self, kind: Kind, number: u64, length: u64) -> Result<u64, Failed> {
        self.do_one(&Op { kind, count: 1, slot: 0, object: number, offset: 0, length })
    }

    /// Does something to so many objects at once.
    pub(crate) fn several(&mut self, kind: Kind, first: u64, count: u16) -> Result<u64, Failed> {
        self.do_one(&Op { kind, count, slot: 0, object: first, offset: 0, length: 0 })
    }

    /// Writes bytes; how many were taken.
    pub(crate) fn write(&mut self, offset: u64, bytes: &[u8]) -> Result<u64, Failed> {
        // SAFETY: nothing is in flight, and the slice ends here.
        unsafe { self.buffers.slice(0, bytes.len()) }.copy_from_slice(bytes);
        self.execute(OpKind::Write, offset, bytes.len())
    }

    /// Reads so many bytes, or as many as there are; of a tree those of the file of this number.
    pub(crate) fn read(&mut self, offset: u64, length: usize) -> Result<Vec<u8>, Failed> {
        // SAFETY: nothing is in flight, and the slice ends here.
        unsafe { self.buffers.slice(0, length) }.fill(0xEE);
        let got = self.execute(OpKind::Read, offset, length)? as usize;
        // SAFETY: as above.
        Ok(unsafe { self.buffers.slice(0, length) }[..got.min(length)].to_vec())
    }

    /// Makes what was written stable.
    pub(crate) fn sync(&mut self) -> Result<(), Failed> {
        self.execute(OpKind::Sync, 0, 0).map(drop)
    }

    /// Makes a file with these contents.
    pub(crate) fn create(&mut self, number: u64, contents: &[u8]) -> Result<u64, Failed> {
        // SAFETY: nothing is in flight, and the slice ends here.
        unsafe { self.buffers.slice(0, contents.len()) }.copy_from_slice(contents);
        self.execute(OpKind::Create, number, contents.len())
    }

    /// Does something else to the name of this number: the size for `Stat`, how many names for `Readdir`.
    pub(crate) fn name(&mut self, kind: Kind, number: u64) -> Result<u64, Failed> {
        self.execute(kind, number, 0)
    }
}
