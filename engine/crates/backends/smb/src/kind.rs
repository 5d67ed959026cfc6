//! The kind of targets that are SMB shares.

use crate::backend::SmbBackend;
use crate::capability;
use crate::place::Place;
use assay_core::{wrong_kind, Backend, Kind, SetupError};
use assay_spec::{BackendCapabilities, Job, PlaceAnswer, Target};
use std::sync::Arc;

/// Files in SMB shares.
pub struct Shares;

impl Kind for Shares {
    fn general(&self) -> BackendCapabilities {
        capability::general()
    }

    fn probe(&self, target: &Target) -> Result<BackendCapabilities, SetupError> {
        let Target::Smb(target) = target else { return Err(wrong_kind(target, "smb")) };
        let place = Place::open(target)?;
        place.check_roots()?;
        Ok(capability::at(&place))
    }

    fn open(&self, job: &Job) -> Result<Arc<dyn Backend>, SetupError> {
        let Target::Smb(target) = &job.target else { return Err(wrong_kind(&job.target, "smb")) };
        Ok(Arc::new(SmbBackend::open(target, job)?))
    }

    fn clean(&self, target: &Target, whole: bool, _lock_ns: u64) -> Result<PlaceAnswer, SetupError> {
        let Target::Smb(target) = target else { return Err(wrong_kind(target, "smb")) };
        Ok(PlaceAnswer { removed: Place::open(target)?.clean(whole)?, ..PlaceAnswer::default() })
    }
}
