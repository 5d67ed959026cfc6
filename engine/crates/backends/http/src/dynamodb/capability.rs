//! What DynamoDB services can do in general, and what a given table can do.

use super::place::Place;
use assay_spec::{BackendCapabilities, CacheAction, Layout, Method, Operation, PlaceCapabilities, SyncPolicy};

/// Those that DynamoDB has a request for.
const OPERATIONS: [Operation; 9] = [
    Operation::Put,
    Operation::Get,
    Operation::Delete,
    Operation::Update,
    Operation::BatchPut,
    Operation::BatchGet,
    Operation::Query,
    Operation::Scan,
    Operation::ObjectMix,
];

/// What tables can do anywhere.
pub(crate) fn general() -> BackendCapabilities {
    BackendCapabilities {
        kind: "dynamodb".to_owned(),
        operations: OPERATIONS.to_vec(),
        layouts: vec![Layout::Separate],
        methods: vec![Method::Protocol],
        direct: false,
        direct_bypasses_cache: false,
        direct_alignment_bytes: 0,
        // An item is stable when its put is answered.
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
        filesystem: "dynamodb".to_owned(),
        // A table has no size.
        free_bytes: None,
        limits,
    });
    found
}
