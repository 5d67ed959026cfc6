//! The kind of targets that are disks behind AoE.

use crate::backend::AoeBackend;
use crate::capability;
use crate::disk::Disk;
use assay_core::{wrong_kind, Backend, Kind, SetupError};
use assay_spec::{BackendCapabilities, Job, PlaceAnswer, Target};
use std::sync::Arc;

/// Disks behind ATA over Ethernet.
pub struct Disks;

impl Kind for Disks {
    fn general(&self) -> BackendCapabilities {
        capability::general()
    }

    fn probe(&self, target: &Target) -> Result<BackendCapabilities, SetupError> {
        let Target::Aoe(target) = target else { return Err(wrong_kind(target, "aoe")) };
        Ok(capability::at(&Disk::open(target)?))
    }

    fn open(&self, job: &Job) -> Result<Arc<dyn Backend>, SetupError> {
        let Target::Aoe(target) = &job.target else { return Err(wrong_kind(&job.target, "aoe")) };
        Ok(Arc::new(AoeBackend::open(target, job)?))
    }

    /// Nothing is removed: what jobs wrote has replaced what was there.
    fn clean(&self, target: &Target, _whole: bool, _lock_ns: u64) -> Result<PlaceAnswer, SetupError> {
        let Target::Aoe(_) = target else { return Err(wrong_kind(target, "aoe")) };
        Ok(PlaceAnswer::default())
    }
}
