//! How long objects are.

use assay_core::sizes::size_of;
use assay_core::ExistingObject;
use assay_spec::{Job, Sizes};
use std::sync::Arc;

/// Lengths of a lane's objects.
#[derive(Debug, Clone)]
pub struct Lengths {
    seed: u64,
    /// Number of the lane's first object among all.
    first: u64,
    sizes: Option<Sizes>,
    size: u64,
    /// Bytes of each that are no contents.
    keys: u64,
    /// Those that were there before the job.
    existing: Option<Arc<[ExistingObject]>>,
}

impl Lengths {
    /// Of the lane whose first object is number `first` among all.
    pub fn new(job: &Job, first: u64) -> Self {
        let keys = job.target.rules().key_bytes();
        Lengths { seed: job.seed, first, sizes: job.sizes.clone(), size: job.file_size_bytes, keys, existing: None }
    }

    /// The lane's objects were there before the job.
    #[must_use]
    pub fn of_existing(self, existing: Option<Arc<[ExistingObject]>>) -> Self {
        Lengths { existing, ..self }
    }

    /// Number of the lane's first object among all.
    pub fn first(&self) -> u64 {
        self.first
    }

    /// All are the same.
    pub fn are_fixed(&self) -> bool {
        self.sizes.is_none() && self.existing.is_none()
    }

    /// Of an object of the lane, in bytes.
    pub fn of(&self, object: u64) -> u64 {
        if let Some(existing) = &self.existing {
            return existing.get(object as usize).map_or(0, |object| object.bytes);
        }
        let number = self.first.wrapping_add(object);
        self.sizes.as_ref().map_or(self.size, |sizes| size_of(sizes, self.seed, number))
    }

    /// Of its contents: keys that are stored with them are a part of its length.
    pub fn contents(&self, object: u64) -> u64 {
        self.of(object).saturating_sub(self.keys)
    }
}
