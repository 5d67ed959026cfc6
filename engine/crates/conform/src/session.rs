//! State shared by all checks of a run: the storage, the directory they work in, and the stop flag.

use crate::check::Subject;
use crate::events::JobEvents;
use crate::finding::{Finding, Symptom};
use crate::job::Recipe;
use assay_core::{Backend, SetupError};
use assay_drive::StopFlag;
use assay_spec::{BackendCapabilities, ByeStatus, Job};
use std::cell::{Cell, RefCell};
use std::sync::atomic::Ordering;
use std::sync::Arc;

/// A run of the suite.
pub(crate) struct Session<'a> {
    pub(crate) subject: &'a dyn Subject,
    stop: &'a StopFlag,
    /// Number of the directory. Each check has its own directory, so that leftovers of one check do not disturb the
    /// next.
    directory: Cell<u32>,
    /// Findings about what could not be removed.
    remains: RefCell<Vec<Finding>>,
    /// Openings of this check by jobs on objects. Each removes what its own job can have made, and nothing else.
    opened: RefCell<Vec<Arc<dyn Backend>>>,
    /// Length of `remains` when the group of checks began.
    before: Cell<usize>,
}

/// When this many directories of a group could not be removed, the rest of the group is skipped.
const MAX_REMAINS: usize = 16;

impl From<SetupError> for Finding {
    fn from(error: SetupError) -> Self {
        Finding::new(Symptom::Refused, error.action, error.object).values("no error", error.message)
    }
}

impl<'a> Session<'a> {
    pub(crate) fn new(subject: &'a dyn Subject, stop: &'a StopFlag) -> Self {
        let (remains, opened) = (RefCell::default(), RefCell::default());
        Session { subject, stop, directory: Cell::new(1), remains, opened, before: Cell::new(0) }
    }

    pub(crate) fn able(&self) -> &BackendCapabilities {
        self.subject.capabilities()
    }

    pub(crate) fn stopped(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }

    /// Begins another group of checks.
    pub(crate) fn begin_group(&self) {
        self.before.set(self.remains.borrow().len());
    }

    /// Whether too many directories of this group could not be removed.
    pub(crate) fn is_littered(&self) -> bool {
        self.remains.borrow().len() >= self.before.get() + MAX_REMAINS
    }

    /// Takes the findings about what could not be removed so far.
    pub(crate) fn take_remains(&self) -> Vec<Finding> {
        self.remains.take()
    }

    /// The job of a recipe, in the directory of the current check.
    pub(crate) fn job(&self, recipe: &Recipe) -> Result<Job, Finding> {
        let refused = |why| Finding::new(Symptom::Refused, "describe", "the job").values("no error", why);
        recipe.job(&self.subject.target(self.directory.get())).map_err(refused)
    }

    /// Opens the target anew.
    pub(crate) fn open(&self, recipe: &Recipe) -> Result<(Arc<dyn Backend>, Job), Finding> {
        let job = self.job(recipe)?;
        let backend = self.subject.open(&job)?;
        if job.objects.is_some() {
            self.opened.borrow_mut().push(Arc::clone(&backend));
        }
        Ok((backend, job))
    }

    /// Runs a job in a new opening and keeps its files.
    ///
    /// # Errors
    /// If the job was refused as a whole.
    pub(crate) fn run_job(&self, recipe: &Recipe) -> Result<JobEvents, Finding> {
        let (backend, job) = self.open(recipe)?;
        let mut events = JobEvents::default();
        let ended = assay_drive::run(&job, &backend, &mut events, self.stop, &mut || None);
        match ended.status {
            ByeStatus::Ok | ByeStatus::Stopped => Ok(events),
            ByeStatus::Errors if !events.failures.is_empty() => Ok(events),
            _ => {
                Err(Finding::new(Symptom::Refused, "run", "the job")
                    .values("no error", ended.reason.unwrap_or_default()))
            }
        }
    }

    /// Removes what jobs of this recipe have made, if anything.
    fn clean_up(&self, recipe: &Recipe) {
        let plain = Recipe { preallocate: false, ..recipe.clone() };
        for backend in self.opened.take() {
            // Each opening removes only what it knows. The last one checks whether everything is gone.
            let _ = backend.cleanup();
        }
        let removed = self.open(&plain).and_then(|(backend, _)| Ok(backend.cleanup()?));
        self.opened.take();
        self.directory.set(self.directory.get() + 1);
        if let Err(finding) = removed {
            let finding = Finding { symptom: Symptom::Remains, expected: "it is removed".to_owned(), ..finding };
            self.remains.borrow_mut().push(finding);
        }
    }

    /// Runs the job, then removes what it has made. Returns what `judge` finds in its events.
    pub(crate) fn run_and_judge(
        &self,
        recipe: &Recipe,
        judge: impl FnOnce(&Self, &Recipe, &JobEvents) -> Vec<Finding>,
    ) -> Vec<Finding> {
        self.run_and_clean_up(recipe, |findings| {
            findings.extend(judge(self, recipe, &self.run_job(recipe)?));
            Ok(())
        })
    }

    /// Runs `act`, then removes what jobs of this recipe have made. Returns all findings.
    pub(crate) fn run_and_clean_up(
        &self,
        recipe: &Recipe,
        act: impl FnOnce(&mut Vec<Finding>) -> Result<(), Finding>,
    ) -> Vec<Finding> {
        let mut findings = Vec::new();
        let refused = act(&mut findings).err();
        findings.extend(refused);
        self.clean_up(recipe);
        findings
    }
}
