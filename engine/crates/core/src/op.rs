//! One operation, and how it ended.

use assay_spec::{Fault, OpKind};

/// A lane's objects have numbers below 2 to the power of this: object n of lane l is number l x 2^40 + n among all. Of another
/// lane's object a lane speaks as of its own with the difference of the two numbers.
pub const OBJECT_BITS: u32 = 40;

/// `offset` of an `Open` that opens a file for reading only, in a phase that writes to others.
pub const OPEN_TO_READ: u64 = 1;

/// Names that one page of a list has at most (S3 ListObjectsV2).
pub const LIST_PAGE: u64 = 1000;

/// One operation on one of a lane's objects, or on a part of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Op {
    /// What to do.
    pub kind: OpKind,
    /// Objects that it works on, from `object` on: of batches and `MultiDelete` how many numbers, of `Scan` how many a page
    /// has at most, else 1.
    pub count: u16,
    /// Buffer slot of the data; comes back in the completion.
    pub slot: u32,
    /// Which of the lane's objects: number of a file, name, directory (for `Readdir`, `List` and `Scan` of the page) or object in
    /// its tree or collection, from 0. Operations on the data of a file or device have only one.
    /// In a tree `Read` and `Write` of a phase on data work on the file that `Open` has opened; in any other phase `Read`
    /// opens a small file, reads it whole and closes it, which no job does: checks do it.
    pub object: u64,
    /// Where in the object, in bytes; of `Open` 0 or `OPEN_TO_READ`.
    pub offset: u64,
    /// Bytes to move: of `Create` the file's contents, of `Stat` and `Head` the size that is expected, of `CompleteUpload`
    /// that of the whole object; of several objects that of all together, of `Query` and `Scan` what must be found, 0 if that
    /// is not known; for all else that moves no data 0.
    /// What is longer than a slot of the buffers is made, or checked, piece by piece (see `Source`).
    pub length: u64,
}

/// An operation has ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Completion {
    /// Slot of the operation.
    pub slot: u32,
    /// Bytes moved; for `Stat` and `Head` the size found, for `CompleteUpload` that of the whole object, for `Readdir` and
    /// `List` the entries found, for `Query` and `Scan` the bytes (see `OpKind::expects`); or why it failed.
    pub result: Result<u64, Fault>,
}

impl Completion {
    /// Of the operation in a slot.
    #[inline]
    pub fn new(slot: u32, result: Result<u64, Fault>) -> Self {
        Completion { slot, result }
    }

    /// Of an operation that the kernel has done: a number, or errno.
    #[inline]
    pub fn of_os(slot: u32, result: Result<u32, i32>) -> Self {
        Completion::new(slot, result.map(u64::from).map_err(Fault::os))
    }
}

/// Makes and checks data for operations that are longer than their slot, or on several objects. The driver makes it and judges it; a lane only
/// asks, piece by piece, in any order.
pub trait Source: Send + Sync {
    /// Writes what belongs into the lane's object at `offset` into `piece`.
    fn fill(&self, object: u64, offset: u64, piece: &mut [u8]);

    /// The same, where the piece is the part of a slot's buffer from `at` on, in which nobody else writes as long as
    /// operations of the slot do it so: what lies there already may be of use.
    fn fill_slot(&self, (slot, at): (u32, usize), object: u64, offset: u64, piece: &mut [u8]) {
        let _ = (slot, at);
        self.fill(object, offset, piece);
    }

    /// Bytes of the contents of the lane's object.
    fn length(&self, object: u64) -> u64;

    /// Looks at what was read from the lane's object at `offset` by the operation in `slot`. What is wrong with it the
    /// driver keeps until the operation ends.
    fn look(&self, slot: u32, object: u64, offset: u64, piece: &[u8]);
}
