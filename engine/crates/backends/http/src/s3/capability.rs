//! What S3 services can do in general, and what a given bucket can do.

use super::place::Place;
use crate::capability;
use assay_spec::{BackendCapabilities, Operation};

/// Those that S3 has a request for.
const OPERATIONS: [Operation; 8] = [
    Operation::Put,
    Operation::Get,
    Operation::Head,
    Operation::Delete,
    Operation::List,
    Operation::Copy,
    Operation::MultiDelete,
    Operation::ObjectMix,
];

/// What buckets can do anywhere.
pub(crate) fn general() -> BackendCapabilities {
    capability::general("s3", &OPERATIONS)
}

/// What can be done at `place`.
pub(crate) fn at(place: &Place) -> BackendCapabilities {
    capability::at(place.root_path(), general())
}
