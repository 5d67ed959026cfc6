//! What MPI-IO can do in general, and what it can do in a given directory.

use assay_core::SetupError;
use assay_posix::place::{facts, Place};
use assay_spec::{BackendCapabilities, CacheAction, Group, Layout, Method, Operation, PlaceCapabilities, SyncPolicy};
use rustix::fd::AsFd;
use rustix::fs;

/// What MPI-IO can do anywhere.
pub(crate) fn general() -> BackendCapabilities {
    BackendCapabilities {
        kind: "mpiio".to_owned(),
        // MPI-IO works on open files only, and C stdio is another library.
        operations: Operation::of_group(Group::Data).filter(|one| !one.needs_tree() && !one.stdio()).collect(),
        layouts: vec![Layout::Separate, Layout::Shared],
        methods: vec![Method::MpiIo],
        // MPI-IO has no O_DIRECT; some libraries have hints for it.
        direct: false,
        direct_bypasses_cache: false,
        direct_alignment_bytes: 0,
        sync: vec![SyncPolicy::None, SyncPolicy::Fsync],
        cache: vec![CacheAction::Keep, CacheAction::Evict, CacheAction::Drop],
        file_sets: false,
        preallocate: true,
        verify: true,
        place: None,
    }
}

/// What can be done in a directory.
///
/// # Errors
/// If the directory cannot be examined.
pub(crate) fn at(place: &Place) -> Result<BackendCapabilities, SetupError> {
    let Place::Directory { root, root_fd, .. } = place else { unreachable!("a target is a directory") };
    let mut found = general();
    let mut limits = Vec::new();
    let space = fs::fstatvfs(root_fd).map_err(|e| SetupError::os("statvfs", root, e))?;
    if facts::is_memory(root_fd).map_err(|e| SetupError::os("statfs", root, e))? {
        found.cache = vec![CacheAction::Keep];
        limits.push(facts::MEMORY.to_owned());
    } else {
        found.cache = facts::cache_actions(&mut limits);
    }
    found.place = Some(PlaceCapabilities {
        path: root.clone(),
        filesystem: facts::filesystem_name(root_fd.as_fd()),
        free_bytes: Some(space.f_bavail.saturating_mul(space.f_frsize)),
        limits,
        absent: String::new(),
    });
    Ok(found)
}
