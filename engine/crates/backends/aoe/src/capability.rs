//! What disks behind AoE can do in general, and what a given one can do.

use crate::disk::Disk;
use assay_spec::{
    BackendCapabilities, CacheAction, Layout, Method, Operation, PlaceCapabilities, SyncPolicy, SECTOR_BYTES,
};

/// What disks behind AoE can do anywhere.
pub(crate) fn general() -> BackendCapabilities {
    BackendCapabilities {
        kind: "aoe".to_owned(),
        // A disk has no names, and C stdio is a library for files of the host.
        operations: Operation::of_files().filter(|one| !one.needs_tree() && !one.stdio()).collect(),
        layouts: vec![Layout::Shared],
        methods: vec![Method::Protocol],
        // There is no cache on this host: each operation goes to the disk.
        direct: true,
        direct_bypasses_cache: true,
        direct_alignment_bytes: SECTOR_BYTES,
        sync: vec![SyncPolicy::None, SyncPolicy::Fsync, SyncPolicy::Fdatasync],
        cache: vec![CacheAction::Keep],
        file_sets: false,
        preallocate: false,
        verify: true,
        place: None,
    }
}

/// What can be done with `disk`.
pub(crate) fn at(disk: &Disk) -> BackendCapabilities {
    let mut found = general();
    if disk.flush.is_none() {
        found.sync = vec![SyncPolicy::None];
    }
    found.place = Some(PlaceCapabilities {
        path: disk.shown(),
        filesystem: "aoe".to_owned(),
        free_bytes: Some(disk.identity.sectors * SECTOR_BYTES),
        limits: disk.limits.clone(),
        absent: String::new(),
    });
    found
}
