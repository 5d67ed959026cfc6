//! The kind of targets that are buckets.

use super::backend::BucketBackend;
use super::bucket::Ownership;
use super::capability;
use super::place::Place;
use crate::job_objects::JobObjects;
use assay_core::{wrong_kind, Backend, Kind, SetupError};
use assay_spec::{BackendCapabilities, Job, LeftJob, PlaceAnswer, Target};
use std::sync::Arc;

/// Objects in buckets of S3 services.
pub struct Buckets;

impl Kind for Buckets {
    fn general(&self) -> BackendCapabilities {
        capability::general()
    }

    fn probe(&self, target: &Target) -> Result<BackendCapabilities, SetupError> {
        let Target::S3(target) = target else { return Err(wrong_kind(target, "s3")) };
        let place = Place::open(target, None)?;
        let there = match &target.existing {
            Some(start) => place.check_any(start).map(|()| true)?,
            None => place.check()? != Ownership::Missing,
        };
        Ok(capability::at(&place, there))
    }

    fn open(&self, job: &Job) -> Result<Arc<dyn Backend>, SetupError> {
        let Target::S3(target) = &job.target else { return Err(wrong_kind(&job.target, "s3")) };
        Ok(Arc::new(BucketBackend::open(target, job)?))
    }

    fn clean(&self, target: &Target, whole: bool, _lock_ns: u64) -> Result<PlaceAnswer, SetupError> {
        let Target::S3(target) = target else { return Err(wrong_kind(target, "s3")) };
        Place::open(target, None)?.clean(whole)
    }

    fn clean_job(&self, left: &LeftJob, _lock_ns: u64) -> Result<PlaceAnswer, SetupError> {
        let Target::S3(target) = &left.job.target else { return Err(wrong_kind(&left.job.target, "s3")) };
        let place = Place::open(target, Some(JobObjects::of_left(left)))?;
        place.add_uploads_of(left);
        place.clean(false)
    }
}
