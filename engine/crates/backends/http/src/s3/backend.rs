//! The backend for buckets.

use super::capability;
use super::existing::Draw;
use super::keys;
use super::lane;
use super::place::Place;
use super::remove::Scope;
use crate::job_objects::JobObjects;
use assay_core::{Backend, Existing, Lane, LaneSetup, PhasePlan, ServiceBackend, SetupError};
use assay_spec::{BackendCapabilities, Job, S3Target};
use std::ops::Range;
use std::sync::{Arc, OnceLock};

/// Most marks of runs and jobs, and other objects that the count may miss.
const ROOM: u64 = 100;

/// The objects of a job's lanes in a bucket.
pub(crate) struct BucketBackend {
    place: Arc<Place>,
    /// Numbers of this process's lanes among those of all processes.
    lanes: Range<u32>,
    /// No other process works on the same job.
    alone: bool,
    reuse: bool,
    part_bytes: u64,
    /// Which of the objects that exist already are drawn.
    draw: Draw,
    existing: OnceLock<Arc<Existing>>,
}

impl BucketBackend {
    /// Finds endpoints and credentials; sends nothing to the service yet.
    ///
    /// # Errors
    /// If an endpoint or the credentials cannot be found.
    pub(crate) fn open(target: &S3Target, job: &Job) -> Result<Self, SetupError> {
        let part = job.objects.as_ref().and_then(|objects| objects.part_size_bytes);
        Ok(BucketBackend {
            place: Arc::new(Place::open(target, Some(JobObjects::of(job)))?),
            lanes: job.first_lane()..job.first_lane() + job.lanes,
            alone: job.ranks == 1,
            reuse: job.reuse_files,
            part_bytes: part.unwrap_or(u64::MAX),
            draw: Draw::of(job),
            existing: OnceLock::new(),
        })
    }

    /// The objects that this process may have made.
    fn scope(&self) -> Scope {
        let target = &self.place.target;
        // Objects that another job has made are not counted.
        let max_count = (!self.reuse).then(|| 2 * self.place.made_count() + ROOM);
        if self.alone {
            return Scope { prefixes: vec![keys::job_prefix(target)], lanes: None, max_count };
        }
        let of = |lane| keys::LETTERS.map(|letter| keys::lane_prefix(target, letter, lane));
        let mut prefixes: Vec<String> = self.lanes.clone().flat_map(of).collect();
        if target.run.is_none() {
            prefixes.push(keys::use_mark_key(target, self.lanes.start));
        }
        Scope { prefixes, lanes: Some(self.lanes.clone()), max_count }
    }
}

impl Backend for BucketBackend {
    fn capabilities(&self) -> BackendCapabilities {
        capability::at(&self.place, true)
    }

    fn prepare(&self) -> Result<(), SetupError> {
        if self.place.target.existing.is_some() {
            return Ok(());
        }
        if self.reuse {
            return self.place.open_existing();
        }
        self.place.prepare(self.alone, self.lanes.start)
    }

    fn begin_phase(&self, plan: &PhasePlan) -> Result<String, SetupError> {
        crate::capability::refuse_cache(plan, self.place.bucket_path())
    }

    fn open_lane(&self, setup: LaneSetup) -> Result<Box<dyn Lane>, SetupError> {
        let lane = (setup.lane - self.lanes.start) as usize;
        let existing = self.existing.get().map(|existing| Arc::clone(&existing.lanes[lane]));
        Ok(Box::new(lane::open(Arc::clone(&self.place), setup, self.part_bytes, existing)?))
    }

    fn object_name(&self, lane: u32) -> String {
        if self.place.target.existing.is_some() {
            return format!("{}/", self.place.bucket_path());
        }
        format!("{}/{}", self.place.bucket_path(), keys::lane_prefix(&self.place.target, keys::LETTERS[0], lane))
    }

    fn service(&self) -> Option<&dyn ServiceBackend> {
        Some(self)
    }

    fn cleanup(&self) -> Result<(), SetupError> {
        if self.place.target.existing.is_some() {
            return Ok(());
        }
        let answer = self.place.remove_all(&self.scope())?;
        answer.left.into_iter().next().map_or(Ok(()), |left| Err(SetupError::new("remove", left.path, left.why)))
    }
}

impl ServiceBackend for BucketBackend {
    fn existing(&self, go_on: &mut dyn FnMut(u64) -> bool) -> Result<Option<Arc<Existing>>, SetupError> {
        let Some(start) = &self.place.target.existing else { return Ok(None) };
        let found = Arc::new(self.place.draw(start, &self.draw, go_on)?);
        Ok(Some(Arc::clone(self.existing.get_or_init(|| found))))
    }
}
