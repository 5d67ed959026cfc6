//! The backend for tables.

use super::capability;
use super::keys;
use super::lane;
use super::place::Place;
use crate::job_objects::JobObjects;
use assay_core::{Backend, Lane, LaneSetup, PhasePlan, SetupError};
use assay_spec::{BackendCapabilities, DynamodbTarget, Job};
use std::ops::Range;
use std::sync::Arc;

/// Most marks, and other items that the count may miss.
const ROOM: u64 = 100;

/// The items of a job's lanes in a table.
pub(crate) struct TableBackend {
    place: Arc<Place>,
    /// No other process works on the same job.
    alone: bool,
    reuse: bool,
    /// Lanes of all processes.
    lanes: u32,
    /// Numbers of this process's lanes among them.
    own: Range<u32>,
}

impl TableBackend {
    /// Finds endpoints and credentials; sends nothing to the service yet.
    ///
    /// # Errors
    /// If an endpoint or the credentials cannot be found.
    pub(crate) fn open(target: &DynamodbTarget, job: &Job) -> Result<Self, SetupError> {
        Ok(TableBackend {
            place: Arc::new(Place::open(target, Some(JobObjects::of(job)))?),
            alone: job.ranks == 1,
            reuse: job.reuse_files,
            lanes: job.all_lanes(),
            own: job.first_lane()..job.first_lane() + job.lanes,
        })
    }
}

impl Backend for TableBackend {
    fn capabilities(&self) -> BackendCapabilities {
        capability::at(&self.place, true)
    }

    fn prepare(&self) -> Result<(), SetupError> {
        if self.reuse {
            return self.place.check().map(drop);
        }
        self.place.prepare(self.alone)
    }

    fn begin_phase(&self, plan: &PhasePlan) -> Result<String, SetupError> {
        crate::capability::refuse_cache(plan, self.place.table_path())
    }

    fn open_lane(&self, setup: LaneSetup) -> Result<Box<dyn Lane>, SetupError> {
        Ok(Box::new(lane::open(Arc::clone(&self.place), setup, self.lanes)?))
    }

    fn object_name(&self, lane: u32) -> String {
        format!("{}/{}", self.place.table_path(), keys::lane_prefix(&self.place.target, lane))
    }

    fn cleanup(&self) -> Result<(), SetupError> {
        let own = (!self.alone).then_some(&self.own);
        // Items that another job has made are not counted.
        let most = (!self.reuse).then(|| self.place.made_count() + ROOM);
        self.place.remove_all(own, most).map(drop)
    }
}
