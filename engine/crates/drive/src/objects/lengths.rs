//! How long the contents of objects are.

use assay_core::sizes::size_of;
use assay_spec::{Job, Sizes};

/// Lengths of the contents of a lane's objects.
#[derive(Debug, Clone)]
pub struct Lengths {
    seed: u64,
    /// Number of the lane's first object among all.
    first: u64,
    sizes: Option<Sizes>,
    size: u64,
    /// Bytes of each that are no contents.
    keys: u64,
}

impl Lengths {
    /// Of the lane whose first object is number `first` among all.
    pub fn new(job: &Job, first: u64) -> Self {
        let keys = job.target.rules().key_bytes();
        Lengths { seed: job.seed, first, sizes: job.sizes.clone(), size: job.file_size_bytes, keys }
    }

    /// Number of the lane's first object among all.
    pub fn first(&self) -> u64 {
        self.first
    }

    /// Bytes of each object that are no contents.
    pub fn keys(&self) -> u64 {
        self.keys
    }

    /// All are the same.
    pub fn are_fixed(&self) -> bool {
        self.sizes.is_none()
    }

    /// Of an object of the lane, in bytes.
    pub fn of(&self, object: u64) -> u64 {
        let number = self.first.wrapping_add(object);
        let whole = self.sizes.as_ref().map_or(self.size, |sizes| size_of(sizes, self.seed, number));
        whole.saturating_sub(self.keys)
    }
}
