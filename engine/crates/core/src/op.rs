//! Operations and completions.

use assay_spec::{Fault, OpKind};

/// Bits of an object's number within its lane: object n of lane l is number l x 2^40 + n among all. A lane addresses an
/// object of another lane as its own, with the difference of the two numbers.
pub const OBJECT_BITS: u32 = 40;

/// `offset` of an `Open` that opens a file for reading only, in a phase that writes to other files.
pub const OPEN_TO_READ: u64 = 1;

/// Most names in one page of a list (S3 ListObjectsV2).
pub const LIST_PAGE: u64 = 1000;

/// One operation on one of a lane's objects, or on a part of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Op {
    /// What to do.
    pub kind: OpKind,
    /// Number of objects from `object` on: for batches and `MultiDelete` how many numbers, for `Scan` how many a page
    /// has at most, else 1.
    pub count: u16,
    /// Buffer slot of the data, repeated in the completion.
    pub slot: u32,
    /// Number, from 0, of the lane's file, name, directory (for `Readdir`), page (for `List` and `Scan`) or object.
    /// Operations on the data of a file or device have only one. In a tree, `Read` and `Write` of a phase on data work
    /// on the file that `Open` opened; in any other phase `Read` opens a small file, reads all of it and closes it,
    /// which only checks do, no job.
    pub object: u64,
    /// Offset in the object, in bytes; for `Open` 0 or `OPEN_TO_READ`.
    pub offset: u64,
    /// Bytes to move. For `Create` the file's contents, for `Stat` and `Head` the expected size, for `CompleteUpload`
    /// the whole object's; for several objects the sum of all; for `Query` and `Scan` the bytes that must be found, 0
    /// if unknown; 0 for all else that moves no data. What is longer than a buffer's slot is made or checked piece by
    /// piece (see `Source`).
    pub length: u64,
}

/// The end of an operation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Completion {
    /// Slot of the operation.
    pub slot: u32,
    /// Bytes moved, or why the operation failed. For `Stat` and `Head` the size found, for `CompleteUpload` the whole
    /// object's, for `Readdir` and `List` the entries found, for `Query` and `Scan` the bytes found (see
    /// `OpKind::expects`).
    pub result: Result<u64, Fault>,
}

impl Completion {
    /// The completion of the operation in a slot.
    #[inline]
    pub fn new(slot: u32, result: Result<u64, Fault>) -> Self {
        Completion { slot, result }
    }

    /// The completion of an operation of the kernel: a number, or errno.
    #[inline]
    pub fn of_os(slot: u32, result: Result<u32, i32>) -> Self {
        Completion::new(slot, result.map(u64::from).map_err(Fault::os))
    }
}

/// Makes and checks data for operations that are longer than their slot or work on several objects. The driver
/// implements it; a lane calls it piece by piece, in any order.
pub trait Source: Send + Sync {
    /// Write into `piece` the data of the lane's object at `offset`.
    fn fill(&self, object: u64, offset: u64, piece: &mut [u8]);

    /// The same, for a piece of a slot's buffer that starts at `at` and that nothing else writes to as long as the
    /// slot's operations use this method: the data that is already there may be reused.
    fn fill_slot(&self, (slot, at): (u32, usize), object: u64, offset: u64, piece: &mut [u8]) {
        let _ = (slot, at);
        self.fill(object, offset, piece);
    }

    /// Bytes of the contents of the lane's object.
    fn length(&self, object: u64) -> u64;

    /// Check what the operation in `slot` read from the lane's object at `offset`. The driver keeps a mismatch until
    /// the operation ends.
    fn check(&self, slot: u32, object: u64, offset: u64, piece: &[u8]);
}
