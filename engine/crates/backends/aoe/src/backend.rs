//! The backend for disks behind AoE.

use crate::capability;
use crate::disk::Disk;
use crate::lane::DiskLane;
use assay_core::{Backend, Lane, LaneSetup, PhasePlan, SetupError};
use assay_spec::{AoeTarget, BackendCapabilities, CacheAction, Job, SECTOR_BYTES};
use std::sync::Arc;

/// The first bytes of a disk behind AoE.
pub(crate) struct AoeBackend {
    disk: Arc<Disk>,
    /// Lanes of all processes, which share the disk.
    share: u32,
}

impl AoeBackend {
    /// Finds the disk. Nothing is written.
    ///
    /// # Errors
    /// If it does not answer, is in use, or is too small for the job.
    pub(crate) fn open(target: &AoeTarget, job: &Job) -> Result<Self, SetupError> {
        let disk = Disk::open(target)?;
        let (size, wanted) = (disk.identity.sectors * SECTOR_BYTES, job.file_size_bytes);
        if wanted > size {
            let message = format!("has {size} bytes: make file_size_bytes ({wanted}) smaller");
            return Err(SetupError::new("open", disk.shown(), message));
        }
        Ok(AoeBackend { disk: Arc::new(disk), share: job.lanes.saturating_mul(job.ranks) })
    }
}

impl Backend for AoeBackend {
    fn may_hold_others_data(&self) -> bool {
        true
    }

    fn capabilities(&self) -> BackendCapabilities {
        capability::at(&self.disk)
    }

    fn prepare(&self) -> Result<(), SetupError> {
        Ok(())
    }

    fn begin_phase(&self, plan: &PhasePlan) -> Result<String, SetupError> {
        if plan.cache == CacheAction::Keep {
            return Ok(String::new());
        }
        let message = "the cache of the disk's server cannot be emptied from here";
        Err(SetupError::new("cache", self.disk.shown(), message))
    }

    fn open_lane(&self, setup: LaneSetup) -> Result<Box<dyn Lane>, SetupError> {
        Ok(Box::new(DiskLane::open(Arc::clone(&self.disk), setup, self.share)?))
    }

    fn object_name(&self, _lane: u32) -> String {
        self.disk.target.address()
    }

    fn still_there(&self) -> Result<(), SetupError> {
        self.disk.check_unchanged()
    }

    fn cleanup(&self) -> Result<(), SetupError> {
        // What jobs wrote has replaced what was there.
        Ok(())
    }
}
