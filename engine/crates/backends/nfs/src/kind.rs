//! The kind of targets that are NFS exports.

use crate::backend::NfsBackend;
use crate::capability;
use crate::place::Place;
use assay_core::{wrong_kind, Backend, Kind, SetupError};
use assay_spec::{BackendCapabilities, Job, PlaceAnswer, Target};
use std::sync::Arc;

/// Files in NFS exports.
pub struct Exports;

impl Kind for Exports {
    fn general(&self) -> BackendCapabilities {
        capability::general()
    }

    fn probe(&self, target: &Target) -> Result<BackendCapabilities, SetupError> {
        let Target::Nfs(target) = target else { return Err(wrong_kind(target, "nfs")) };
        let place = Place::open(target)?;
        place.check_roots()?;
        Ok(capability::at(&place))
    }

    fn open(&self, job: &Job) -> Result<Arc<dyn Backend>, SetupError> {
        let Target::Nfs(target) = &job.target else { return Err(wrong_kind(&job.target, "nfs")) };
        Ok(Arc::new(NfsBackend::open(target, job)?))
    }

    fn clean(&self, target: &Target, whole: bool, _lock_ns: u64) -> Result<PlaceAnswer, SetupError> {
        let Target::Nfs(target) = target else { return Err(wrong_kind(target, "nfs")) };
        Ok(PlaceAnswer { removed: Place::open(target)?.clean(whole)?, ..PlaceAnswer::default() })
    }
}
