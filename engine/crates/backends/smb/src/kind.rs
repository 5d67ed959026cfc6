//! The kind of targets that are SMB shares.

use crate::place::Place;
use assay_core::{files_by_protocol, wrong_kind, Backend, Kind, SetupError};
use assay_remote::{capabilities, RemoteBackend, RemotePlace};
use assay_spec::{BackendCapabilities, Job, Layout, PlaceAnswer, SmbTarget, Target};
use std::sync::Arc;

/// Signs in at each share. Nothing is written yet.
///
/// # Errors
/// If a server is not there or refuses, or if lanes would share a file across several shares.
fn open(target: &SmbTarget, job: &Job) -> Result<RemoteBackend<Place>, SetupError> {
    let place = Place::open(target)?;
    if job.layout == Layout::Shared && place.shares.len() > 1 && job.tree.is_none() {
        let message = "the shares do not share files: with layout shared, name one server and one share";
        return Err(SetupError::new("open", place.root_path(0), message));
    }
    Ok(RemoteBackend::new(place, job))
}

/// Files in SMB shares.
pub struct Shares;

impl Kind for Shares {
    fn general(&self) -> BackendCapabilities {
        files_by_protocol(Place::KIND)
    }

    fn probe(&self, target: &Target) -> Result<BackendCapabilities, SetupError> {
        let Target::Smb(target) = target else { return Err(wrong_kind(target, "smb")) };
        let place = Place::open(target)?;
        place.check_roots()?;
        Ok(capabilities(&place))
    }

    fn open(&self, job: &Job) -> Result<Arc<dyn Backend>, SetupError> {
        let Target::Smb(target) = &job.target else { return Err(wrong_kind(&job.target, "smb")) };
        Ok(Arc::new(open(target, job)?))
    }

    fn clean(&self, target: &Target, whole: bool, _lock_ns: u64) -> Result<PlaceAnswer, SetupError> {
        let Target::Smb(target) = target else { return Err(wrong_kind(target, "smb")) };
        Ok(PlaceAnswer { removed: Place::open(target)?.clean(whole)?, ..PlaceAnswer::default() })
    }
}
