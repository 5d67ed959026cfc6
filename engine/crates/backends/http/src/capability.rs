//! What services over HTTP can do in general, and what a given bucket or table can do.

use assay_core::{PhasePlan, SetupError};
use assay_spec::{BackendCapabilities, CacheAction, Layout, Method, Operation, PlaceCapabilities, SyncPolicy};

/// The capabilities of a kind of target with these operations, wherever it is.
pub(crate) fn general(kind: &str, operations: &[Operation]) -> BackendCapabilities {
    BackendCapabilities {
        kind: kind.to_owned(),
        operations: operations.to_vec(),
        layouts: vec![Layout::Separate],
        methods: vec![Method::Protocol],
        direct: false,
        direct_bypasses_cache: false,
        direct_alignment_bytes: 0,
        // The service has stored what is put before it answers.
        sync: vec![SyncPolicy::None, SyncPolicy::Fsync],
        cache: vec![CacheAction::Keep],
        file_sets: false,
        preallocate: false,
        verify: true,
        place: None,
    }
}

/// The text for a bucket or table that does not exist.
pub(crate) fn absent(what: &str, name: &str, region: &str) -> String {
    format!("{what} {name} is not there, in region {region}: the run makes it, and removes it at its end")
}

/// The capabilities at one place.
pub(crate) fn at(path: String, general: BackendCapabilities, absent: String) -> BackendCapabilities {
    let limits = vec!["no cache on this side, but the service's cannot be bypassed or emptied".to_owned()];
    // Neither a bucket nor a table has a total size.
    let place = PlaceCapabilities { path, filesystem: general.kind.clone(), free_bytes: None, limits, absent };
    BackendCapabilities { place: Some(place), ..general }
}

/// Refuses every cache action but `keep`, and returns an empty note.
///
/// # Errors
/// If the phase asks for another cache action.
pub(crate) fn refuse_cache(plan: &PhasePlan, path: String) -> Result<String, SetupError> {
    if plan.cache == CacheAction::Keep {
        return Ok(String::new());
    }
    Err(SetupError::new("cache", path, "the service's cache cannot be emptied from here"))
}
