//! The kind of targets without storage.

use crate::backend::NullBackend;
use assay_core::{wrong_kind, Backend, Kind, SetupError};
use assay_spec::{BackendCapabilities, Job, PlaceAnswer, Target};
use std::sync::Arc;

/// No storage at all.
pub struct Nothing;

impl Kind for Nothing {
    fn general(&self) -> BackendCapabilities {
        NullBackend::general_capabilities()
    }

    fn probe(&self, target: &Target) -> Result<BackendCapabilities, SetupError> {
        let Target::Null(target) = target else { return Err(wrong_kind(target, "null")) };
        Ok(NullBackend::new(target.clone(), 0).capabilities())
    }

    fn open(&self, job: &Job) -> Result<Arc<dyn Backend>, SetupError> {
        let Target::Null(target) = &job.target else { return Err(wrong_kind(&job.target, "null")) };
        Ok(Arc::new(NullBackend::new(target.clone(), job.seed)))
    }

    /// There is nothing to remove.
    fn clean(&self, target: &Target, _whole: bool, _lock_ns: u64) -> Result<PlaceAnswer, SetupError> {
        let Target::Null(_) = target else { return Err(wrong_kind(target, "null")) };
        Ok(PlaceAnswer::default())
    }
}
