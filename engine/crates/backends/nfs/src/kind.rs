//! The kind of targets that are NFS exports.

use crate::place::Place;
use assay_core::{files_by_protocol, wrong_kind, Backend, Kind, SetupError};
use assay_remote::{capabilities, RemoteBackend, RemotePlace};
use assay_spec::{BackendCapabilities, Job, Layout, NfsTarget, PlaceAnswer, Target};
use std::sync::Arc;

/// Mounts the export from each server. Nothing is written yet.
///
/// # Errors
/// If a server is not there or refuses, or if lanes would share a file across several servers.
pub(crate) fn open(target: &NfsTarget, job: &Job) -> Result<RemoteBackend<Place>, SetupError> {
    if job.layout == Layout::Shared && target.servers.len() > 1 && job.tree.is_none() {
        let message = "the servers do not share files: with layout shared, name one server";
        return Err(SetupError::new("open", target.servers.join(", "), message));
    }
    Ok(RemoteBackend::new(Place::open(target)?, job))
}

/// Files in NFS exports.
pub struct Exports;

impl Kind for Exports {
    fn general(&self) -> BackendCapabilities {
        files_by_protocol(Place::KIND)
    }

    fn probe(&self, target: &Target) -> Result<BackendCapabilities, SetupError> {
        let Target::Nfs(target) = target else { return Err(wrong_kind(target, "nfs")) };
        let place = Place::open(target)?;
        place.check_roots()?;
        Ok(capabilities(&place))
    }

    fn open(&self, job: &Job) -> Result<Arc<dyn Backend>, SetupError> {
        let Target::Nfs(target) = &job.target else { return Err(wrong_kind(&job.target, "nfs")) };
        Ok(Arc::new(open(target, job)?))
    }

    fn clean(&self, target: &Target, whole: bool, _lock_ns: u64) -> Result<PlaceAnswer, SetupError> {
        let Target::Nfs(target) = target else { return Err(wrong_kind(target, "nfs")) };
        Ok(PlaceAnswer { removed: Place::open(target)?.clean(whole)?, ..PlaceAnswer::default() })
    }
}
