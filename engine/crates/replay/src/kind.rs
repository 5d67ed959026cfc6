//! The kind of targets that replay traces.

use crate::backend::{place, read, ReplayBackend};
use assay_core::{wrong_kind, Backend, Kind, SetupError};
use assay_posix::place::claim::clean;
use assay_spec::{BackendCapabilities, CacheAction, Job, Layout, Method, Operation, PlaceAnswer, SyncPolicy, Target};
use std::sync::Arc;

/// Traces that are replayed below a marked directory.
pub struct Traces;

impl Kind for Traces {
    fn general(&self) -> BackendCapabilities {
        BackendCapabilities {
            kind: "replay".to_owned(),
            operations: vec![Operation::Replay],
            layouts: vec![Layout::Separate],
            methods: vec![Method::Sync],
            direct: false,
            direct_bypasses_cache: false,
            direct_alignment_bytes: 0,
            sync: vec![SyncPolicy::None, SyncPolicy::Fsync],
            cache: vec![CacheAction::Keep, CacheAction::Drop],
            file_sets: false,
            preallocate: false,
            verify: true,
            place: None,
        }
    }

    fn probe(&self, target: &Target) -> Result<BackendCapabilities, SetupError> {
        let Target::Replay(target) = target else { return Err(wrong_kind(target, "replay")) };
        place(target)?;
        read(target)?;
        Ok(self.general())
    }

    fn open(&self, job: &Job) -> Result<Arc<dyn Backend>, SetupError> {
        let Target::Replay(target) = &job.target else { return Err(wrong_kind(&job.target, "replay")) };
        Ok(Arc::new(ReplayBackend::new(target.clone(), job, self.general())?))
    }

    fn clean(&self, target: &Target, whole: bool, lock_ns: u64) -> Result<PlaceAnswer, SetupError> {
        let Target::Replay(target) = target else { return Err(wrong_kind(target, "replay")) };
        clean(&target.root, &target.directory, target.run.as_deref(), whole, lock_ns)
    }
}
