//! The trace of a job, and the directory in which its copies are.

use crate::contents::Maker;
use crate::copy::Pacing;
use crate::lane::ReplayLane;
use crate::layout;
use crate::record::Action;
use crate::survey::{survey, Survey};
use crate::trace::Trace;
use assay_core::names::PROGRAMS;
use assay_core::{clock, Backend, Lane, LaneSetup, PhasePlan, SetupError};
use assay_posix::place::cache;
use assay_posix::place::{open_inside, Place};
use assay_posix::{allow_many_descriptors, expect_sha256, read_hashed};
use assay_spec::{BackendCapabilities, CacheAction, Job, ReplayTarget, TraceContents};
use rustix::fs::{self, Mode, OFlags};
use std::path::Path;
use std::sync::Arc;

/// Directory of a lane's copy in that of the job.
pub(crate) fn directory_of(lane: u32) -> String {
    format!("{PROGRAMS}/{}", name_of(lane))
}

fn name_of(lane: u32) -> String {
    format!("copy{lane}")
}

/// What the lanes of a process have in common.
pub(crate) struct Traces {
    pub(crate) target: ReplayTarget,
    pub(crate) survey: Survey,
    pub(crate) maker: Maker,
    pub(crate) place: Place,
    pub(crate) pacing: Pacing,
    pub(crate) verify: bool,
}

/// A trace that one job replays.
pub(crate) struct ReplayBackend {
    traces: Arc<Traces>,
    first_lane: u32,
    lanes: u32,
    has_other_processes: bool,
    capabilities: BackendCapabilities,
}

/// The place of a target.
///
/// # Errors
/// If it may not be written to.
pub(crate) fn place(target: &ReplayTarget) -> Result<Place, SetupError> {
    Place::directory(&target.root, &target.directory, target.run.as_deref())
}

/// Read a target's trace to its end.
///
/// # Errors
/// If it is missing, damaged, another one, or none that can be replayed.
pub(crate) fn read(target: &ReplayTarget) -> Result<Survey, SetupError> {
    if target.sha256.is_some() {
        let found = read_hashed(Path::new(&target.trace), |_| Ok(()))?;
        expect_sha256(&target.trace, &found, target.sha256.as_deref())?;
    }
    survey(&mut Trace::open(&target.trace)?)
}

/// What a trace holds.
///
/// # Errors
/// If it is missing, damaged, or none that can be replayed.
pub fn contents(trace: &str) -> Result<TraceContents, SetupError> {
    let sha256 = read_hashed(Path::new(trace), |_| Ok(()))?;
    let survey = survey(&mut Trace::open(trace)?)?;
    let initial_bytes = layout::bytes(&survey);
    let counted = Action::ALL.iter().zip(&survey.recorded).filter(|(_, recorded)| recorded.count > 0);
    Ok(TraceContents {
        sha256,
        recorded_ns: survey.recorded_ns,
        tasks: u64::from(survey.tasks),
        max_tasks: survey.max_live as u64,
        files: survey.files.len() as u64,
        initial_bytes,
        space_bytes: initial_bytes.saturating_add(survey.max_growth),
        operations: counted.map(|(action, recorded)| (action.name().to_owned(), *recorded)).collect(),
    })
}

impl ReplayBackend {
    /// The trace of a job; nothing is written.
    ///
    /// # Errors
    /// If it cannot be replayed, or the place may not be written to.
    pub(crate) fn new(target: ReplayTarget, job: &Job, capabilities: BackendCapabilities) -> Result<Self, SetupError> {
        let place = place(&target)?;
        let survey = read(&target)?;
        let threads = survey.max_live.saturating_mul(job.lanes as usize);
        if threads >= std::thread::available_parallelism().map_or(1, std::num::NonZero::get) {
            // Threads that wait for their time would take the CPUs from those that work.
            clock::allow_spinning(false);
        }
        allow_many_descriptors();
        let pacing = Pacing { pace: target.pace, rate: target.rate };
        let traces = Traces { target, survey, maker: Maker::new(job), place, pacing, verify: job.data.verify };
        Ok(ReplayBackend {
            traces: Arc::new(traces),
            first_lane: job.first_lane(),
            lanes: job.lanes,
            has_other_processes: job.ranks > 1,
            capabilities,
        })
    }

    /// Make the copies of this process.
    fn make_copies(&self) -> Result<(), SetupError> {
        let traces = &self.traces;
        let path = traces.place.folder();
        let error = |errno| SetupError::os("create", path.as_str(), errno);
        let folder = traces.place.open_folder().map_err(error)?;
        traces.place.make_directory(PROGRAMS)?;
        let above = open_inside(&folder, PROGRAMS, OFlags::DIRECTORY, Mode::empty()).map_err(error)?;
        layout::fits(&traces.survey, self.lanes, &above, &path)?;
        for lane in self.first_lane..self.first_lane + self.lanes {
            let mut data = traces.maker.of_copy(lane);
            layout::make(&traces.survey, &mut data, &above, &name_of(lane))?;
        }
        fs::syncfs(&above).map_err(|errno| SetupError::os("flush", path.as_str(), errno))
    }
}

impl Backend for ReplayBackend {
    fn capabilities(&self) -> BackendCapabilities {
        self.capabilities.clone()
    }

    fn prepare(&self) -> Result<(), SetupError> {
        self.traces.place.create(self.has_other_processes)?;
        let made = self.make_copies();
        if made.is_err() {
            // Nothing else removes it: the job has not begun.
            let _ = self.cleanup();
        }
        made
    }

    fn begin_phase(&self, plan: &PhasePlan) -> Result<String, SetupError> {
        match plan.cache {
            CacheAction::Keep | CacheAction::Evict => Ok(String::new()),
            CacheAction::Drop => cache::drop_caches(),
        }
    }

    fn open_lane(&self, setup: LaneSetup) -> Result<Box<dyn Lane>, SetupError> {
        Ok(Box::new(ReplayLane::new(Arc::clone(&self.traces), setup.lane)))
    }

    fn object_name(&self, lane: u32) -> String {
        format!("{}, copy {lane}", self.traces.place.folder())
    }

    fn device(&self) -> Option<(u32, u32)> {
        self.traces.place.device_number()
    }

    fn still_there(&self) -> Result<(), SetupError> {
        self.traces.place.still_there()
    }

    fn cleanup(&self) -> Result<(), SetupError> {
        self.traces.place.remove_all(self.has_other_processes)
    }
}
