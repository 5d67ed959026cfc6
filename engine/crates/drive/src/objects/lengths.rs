//! Lengths of objects.

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
    /// Bytes of each object that are its keys.
    key_bytes: u64,
    /// The objects that existed before the job.
    existing: Option<Arc<[ExistingObject]>>,
}

impl Lengths {
    /// The lengths of a lane whose first object is number `first` among all.
    pub fn new(job: &Job, first: u64) -> Self {
        let key_bytes = job.target.rules().key_bytes();
        Lengths {
            seed: job.seed,
            first,
            sizes: job.sizes.clone(),
            size: job.file_size_bytes,
            key_bytes,
            existing: None,
        }
    }

    /// The same for a lane whose objects existed before the job.
    #[must_use]
    pub fn of_existing(self, existing: Option<Arc<[ExistingObject]>>) -> Self {
        Lengths { existing, ..self }
    }

    /// Number of the lane's first object among all.
    pub fn first(&self) -> u64 {
        self.first
    }

    /// True if all have the same length.
    pub fn are_fixed(&self) -> bool {
        self.sizes.is_none() && self.existing.is_none()
    }

    /// Length of an object of the lane, in bytes.
    pub fn of(&self, object: u64) -> u64 {
        if let Some(existing) = &self.existing {
            return existing.get(object as usize).map_or(0, |object| object.bytes);
        }
        let number = self.first.wrapping_add(object);
        self.sizes.as_ref().map_or(self.size, |sizes| size_of(sizes, self.seed, number))
    }

    /// Length of an object's contents, in bytes, without the keys that are stored with them.
    pub fn contents(&self, object: u64) -> u64 {
        self.of(object).saturating_sub(self.key_bytes)
    }
}
