//! What S3 services can do in general, and what a given bucket can do.

use super::place::Place;
use crate::capability;
use assay_spec::{BackendCapabilities, Operation};

/// The operations that S3 has a request for.
const OPERATIONS: [Operation; 10] = [
    Operation::Put,
    Operation::Get,
    Operation::Head,
    Operation::Delete,
    Operation::List,
    Operation::Copy,
    Operation::MultiDelete,
    Operation::ReadAfterPut,
    Operation::ListAfterPut,
    Operation::ObjectMix,
];

/// What buckets can do anywhere.
pub(crate) fn general() -> BackendCapabilities {
    capability::general("s3", &OPERATIONS)
}

/// The operations that only read.
const READING: [Operation; 4] = [Operation::Get, Operation::Head, Operation::List, Operation::ObjectMix];

/// What can be done at `place`.
pub(crate) fn at(place: &Place, there: bool) -> BackendCapabilities {
    let target = &place.target;
    let absent = if there { String::new() } else { capability::absent("bucket", &target.bucket, &target.region) };
    let Some(start) = &target.existing else { return capability::at(place.root_path(), general(), absent) };
    // The contents of these objects are unknown, so they cannot be verified.
    let able = BackendCapabilities { operations: READING.to_vec(), verify: false, ..general() };
    capability::at(format!("{}/{start}", place.bucket_path()), able, absent)
}
