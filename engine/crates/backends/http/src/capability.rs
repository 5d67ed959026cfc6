//! What services over HTTP can do in general, and what a given place can do.

use assay_core::{PhasePlan, SetupError};
use assay_spec::{BackendCapabilities, CacheAction, Layout, Method, Operation, PlaceCapabilities, SyncPolicy};

/// What targets of a kind with these operations can do anywhere.
pub(crate) fn general(kind: &str, operations: &[Operation]) -> BackendCapabilities {
    BackendCapabilities {
        kind: kind.to_owned(),
        operations: operations.to_vec(),
        layouts: vec![Layout::Separate],
        methods: vec![Method::Protocol],
        direct: false,
        direct_bypasses_cache: false,
        direct_alignment_bytes: 0,
        // What is put is stable when that is answered.
        sync: vec![SyncPolicy::None, SyncPolicy::Fsync],
        cache: vec![CacheAction::Keep],
        file_sets: false,
        preallocate: false,
        verify: true,
        place: None,
    }
}

/// What is said of a bucket or table that is not there.
pub(crate) fn absent(what: &str, name: &str, region: &str) -> String {
    format!("{what} {name} is not there, in region {region}: the run makes it, and removes it at its end")
}

/// The same at a place.
pub(crate) fn at(path: String, general: BackendCapabilities, absent: String) -> BackendCapabilities {
    let limits = vec!["no cache on this side, but the service's cannot be bypassed or emptied".to_owned()];
    // Neither a bucket nor a table has a size.
    let place = PlaceCapabilities { path, filesystem: general.kind.clone(), free_bytes: None, limits, absent };
    BackendCapabilities { place: Some(place), ..general }
}

/// Nothing is done to a cache before a phase, and more is refused.
///
/// # Errors
/// If the phase wants more.
pub(crate) fn refuse_cache(plan: &PhasePlan, path: String) -> Result<String, SetupError> {
    if plan.cache == CacheAction::Keep {
        return Ok(String::new());
    }
    Err(SetupError::new("cache", path, "the service's cache cannot be emptied from here"))
}
