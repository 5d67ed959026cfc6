//! The kind of targets that are tables.

use super::backend::TableBackend;
use super::capability;
use super::place::Place;
use super::table::Ownership;
use crate::job_objects::JobObjects;
use assay_core::{wrong_kind, Backend, Kind, SetupError};
use assay_spec::{BackendCapabilities, Job, LeftJob, PlaceAnswer, Target};
use std::sync::Arc;

/// Items in tables of DynamoDB services.
pub struct Tables;

impl Kind for Tables {
    fn general(&self) -> BackendCapabilities {
        capability::general()
    }

    fn probe(&self, target: &Target) -> Result<BackendCapabilities, SetupError> {
        let Target::Dynamodb(target) = target else { return Err(wrong_kind(target, "dynamodb")) };
        let place = Place::open(target, None)?;
        let there = place.check()? != Ownership::Missing;
        Ok(capability::at(&place, there))
    }

    fn open(&self, job: &Job) -> Result<Arc<dyn Backend>, SetupError> {
        let Target::Dynamodb(target) = &job.target else { return Err(wrong_kind(&job.target, "dynamodb")) };
        Ok(Arc::new(TableBackend::open(target, job)?))
    }

    fn clean(&self, target: &Target, whole: bool, _lock_ns: u64) -> Result<PlaceAnswer, SetupError> {
        let Target::Dynamodb(target) = target else { return Err(wrong_kind(target, "dynamodb")) };
        Place::open(target, None)?.clean(whole)
    }

    fn clean_job(&self, left: &LeftJob, _lock_ns: u64) -> Result<PlaceAnswer, SetupError> {
        let Target::Dynamodb(target) = &left.job.target else { return Err(wrong_kind(&left.job.target, "dynamodb")) };
        Place::open(target, Some(JobObjects::of_left(left)))?.clean(false)
    }
}
