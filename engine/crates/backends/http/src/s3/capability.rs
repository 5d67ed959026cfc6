//! What S3 services can do in general, and what a given bucket can do.

use super::place::Place;
use assay_spec::{BackendCapabilities, CacheAction, Layout, Method, Operation, PlaceCapabilities, SyncPolicy};

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
    BackendCapabilities {
        kind: "s3".to_owned(),
        operations: OPERATIONS.to_vec(),
        layouts: vec![Layout::Separate],
        methods: vec![Method::Protocol],
        direct: false,
        direct_bypasses_cache: false,
        direct_alignment_bytes: 0,
        // An object is stable when its put is answered.
        sync: vec![SyncPolicy::None, SyncPolicy::Fsync],
        cache: vec![CacheAction::Keep],
        preallocate: false,
        verify: true,
        place: None,
    }
}

/// What can be done at `place`.
pub(crate) fn at(place: &Place) -> BackendCapabilities {
    let limits = vec!["no cache on this side, but the service's cannot be bypassed or emptied".to_owned()];
    let mut found = general();
    found.place = Some(PlaceCapabilities {
        path: place.root_path(),
        filesystem: "s3".to_owned(),
        // A bucket has no size.
        free_bytes: None,
        limits,
    });
    found
}
