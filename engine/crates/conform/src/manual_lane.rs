//! A lane that executes single operations in an order chosen by the check, which no job could have. The only place that
//! knows operations and completions.

use assay_core::{
    as_errno, fault_message, heartbeat, Backend, Buffers, Fault, Lane, LaneSetup, Op, OpKind, PhasePlan, SetupError,
};
use assay_spec::{data_kinds, name_kinds, object_kinds, program_kinds, Job, Operation};
use std::sync::Arc;

/// The error that the storage returned for an operation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Failed(Fault);

impl Failed {
    /// Whether the error means that there is no such name.
    pub(crate) fn is_missing(self) -> bool {
        as_errno(self.0) == Some(libc::ENOENT)
    }

    /// Whether the error means that the name exists already.
    pub(crate) fn is_taken(self) -> bool {
        as_errno(self.0) == Some(libc::EEXIST)
    }
}

impl std::fmt::Display for Failed {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.write_str(&fault_message(self.0))
    }
}

/// Kind of an operation.
pub(crate) use assay_core::OpKind as Kind;

/// An open lane for single operations.
pub(crate) struct ManualLane {
    lane: Box<dyn Lane>,
    buffers: Arc<Buffers>,
    plan: PhasePlan,
    object: String,
    /// Bytes of each object that belong to its key, not to its contents.
    keys: u64,
    /// Whether it works on the small files of a tree.
    names: bool,
}

/// Creates the files or names that the job's operations need. `Write` empties the files.
pub(crate) fn make(backend: &dyn Backend, job: &Job, operation: Operation) -> Result<(), SetupError> {
    backend.begin_phase(&PhasePlan::of_job(job, operation)).map(drop)
}

impl ManualLane {
    /// Opens a lane of the job, ready for the operations of a phase. `length` is the size of the largest operation in
    /// bytes.
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
        let setup = LaneSetup::of(lane, 1, Arc::clone(&buffers));
        let setup = LaneSetup { tuning: job.tuning.clone(), direct: job.direct, ..setup };
        let mut manual_lane = ManualLane {
            lane: backend.open_lane(setup)?,
            buffers,
            plan: PhasePlan::of_job(job, operation),
            object: backend.object_name(lane),
            keys,
            names: job.tree.is_some(),
        };
        manual_lane.lane.begin(&manual_lane.plan)?;
        Ok(manual_lane)
    }

    /// Starts another phase with this operation. `renamed` states whether the files of a tree have their second name.
    pub(crate) fn switch_phase(&mut self, operation: Operation, renamed: bool) -> Result<(), SetupError> {
        self.lane.end()?;
        (self.plan.operation, self.plan.renamed) = (operation, renamed);
        self.lane.begin(&self.plan).map(drop)
    }

    /// Starts a phase of gets, either of a part of each object or of whole objects.
    pub(crate) fn set_ranged(&mut self, ranged: bool) -> Result<(), SetupError> {
        self.plan.ranged = ranged;
        self.switch_phase(Operation::Get, false)
    }

    /// Ends the phase and closes the lane.
    pub(crate) fn close(mut self) -> Result<(), SetupError> {
        self.lane.end()
    }

    /// Name of the object it works on, for reports.
    pub(crate) fn object(&self) -> &str {
        &self.object
    }

    fn execute(&mut self, kind: OpKind, place: u64, length: usize) -> Result<u64, Failed> {
        // For names, the number is the object; for data, it is the offset in the only object.
        let (object, offset) = match kind {
            OpKind::Read if self.names => (place, 0),
            data_kinds!() => (0, place),
            name_kinds!() | object_kinds!() | program_kinds!() => (place, 0),
        };
        self.do_one(&Op { kind, count: 1, slot: 0, object, offset, length: length as u64 })
    }

    fn do_one(&mut self, op: &Op) -> Result<u64, Failed> {
        let done = self.lane.execute(op).map_err(Failed);
        heartbeat::beat();
        done
    }

    /// Stores an object, or a part of an object that is stored in parts, with these contents.
    pub(crate) fn put(&mut self, kind: Kind, number: u64, offset: u64, contents: &[u8]) -> Result<u64, Failed> {
        // SAFETY: nothing is in flight, and the slice ends here.
        unsafe { self.buffers.slice(0, contents.len()) }.copy_from_slice(contents);
        let length = contents.len() as u64 + self.keys;
        let taken = self.do_one(&Op { kind, count: 1, slot: 0, object: number, offset, length })?;
        Ok(taken.saturating_sub(self.keys))
    }

    /// Fetches up to `length` bytes of an object.
    pub(crate) fn get(&mut self, number: u64, offset: u64, length: usize) -> Result<Vec<u8>, Failed> {
        // SAFETY: nothing is in flight, and the slice ends here.
        unsafe { self.buffers.slice(0, length) }.fill(0xEE);
        let whole = length as u64 + self.keys;
        let op = Op { kind: OpKind::Get, count: 1, slot: 0, object: number, offset, length: whole };
        let got = self.do_one(&op)?.saturating_sub(self.keys) as usize;
        // SAFETY: as above.
        Ok(unsafe { self.buffers.slice(0, length) }[..got.min(length)].to_vec())
    }

    /// Runs another kind of operation on the object with this number. The meaning of `length` depends on the kind.
    pub(crate) fn object_of(&mut self, kind: Kind, number: u64, length: u64) -> Result<u64, Failed> {
        self.do_one(&Op { kind, count: 1, slot: 0, object: number, offset: 0, length })
    }

    /// Runs one operation on `count` objects at once.
    pub(crate) fn several(&mut self, kind: Kind, first: u64, count: u16) -> Result<u64, Failed> {
        self.do_one(&Op { kind, count, slot: 0, object: first, offset: 0, length: 0 })
    }

    /// Writes bytes and returns how many were written.
    pub(crate) fn write(&mut self, offset: u64, bytes: &[u8]) -> Result<u64, Failed> {
        // SAFETY: nothing is in flight, and the slice ends here.
        unsafe { self.buffers.slice(0, bytes.len()) }.copy_from_slice(bytes);
        self.execute(OpKind::Write, offset, bytes.len())
    }

    /// Reads up to `length` bytes. In a tree, `offset` is the number of the file to read.
    pub(crate) fn read(&mut self, offset: u64, length: usize) -> Result<Vec<u8>, Failed> {
        // SAFETY: nothing is in flight, and the slice ends here.
        unsafe { self.buffers.slice(0, length) }.fill(0xEE);
        let got = self.execute(OpKind::Read, offset, length)? as usize;
        // SAFETY: as above.
        Ok(unsafe { self.buffers.slice(0, length) }[..got.min(length)].to_vec())
    }

    /// Flushes what was written to stable storage.
    pub(crate) fn sync(&mut self) -> Result<(), Failed> {
        self.execute(OpKind::Sync, 0, 0).map(drop)
    }

    /// Creates a file with these contents.
    pub(crate) fn create(&mut self, number: u64, contents: &[u8]) -> Result<u64, Failed> {
        // SAFETY: nothing is in flight, and the slice ends here.
        unsafe { self.buffers.slice(0, contents.len()) }.copy_from_slice(contents);
        self.execute(OpKind::Create, number, contents.len())
    }

    /// Runs another kind of operation on the name with this number. Returns the size for `Stat` and the number of names
    /// for `Readdir`.
    pub(crate) fn name(&mut self, kind: Kind, number: u64) -> Result<u64, Failed> {
        self.execute(kind, number, 0)
    }
}
