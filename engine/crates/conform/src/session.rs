//! What all checks of a run share: the storage, the directory they work in, and the wish to stop.

use crate::check::Subject;
use crate::events::Heard;
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
    /// Number of the directory: each check has its own, so that none stumbles over what another one could not remove.
    directory: Cell<u32>,
    /// What could not be removed.
    remains: RefCell<Vec<Finding>>,
    /// Openings of this check by jobs on objects: each removes what its own job can have made, and nothing else.
    opened: RefCell<Vec<Arc<dyn Backend>>>,
    /// So much of it was there when the group of checks began.
    before: Cell<usize>,
}

/// When so many directories of a group of checks could not be removed, no more are made for it.
const MOST_REMAINS: usize = 16;

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

    /// Another group of checks begins.
    pub(crate) fn begin_group(&self) {
        self.before.set(self.remains.borrow().len());
    }

    /// The storage is full of what cannot be removed.
    pub(crate) fn is_littered(&self) -> bool {
        self.remains.borrow().len() >= self.before.get() + MOST_REMAINS
    }

    /// What could not be removed, so far.
    pub(crate) fn take_remains(&self) -> Vec<Finding> {
        self.remains.take()
    }

    /// The job of a recipe, at the place where checks work now.
    pub(crate) fn job(&self, recipe: &Recipe) -> Result<Job, Finding> {
        let refused = |why| Finding::new(Symptom::Refused, "describe", "the job").values("no error", why);
        recipe.job(&self.subject.target(self.directory.get())).map_err(refused)
    }

    /// A new opening of the target.
    pub(crate) fn open(&self, recipe: &Recipe) -> Result<(Arc<dyn Backend>, Job), Finding> {
        let job = self.job(recipe)?;
        let backend = self.subject.open(&job)?;
        if job.objects.is_some() {
            self.opened.borrow_mut().push(Arc::clone(&backend));
        }
        Ok((backend, job))
    }

    /// Runs a job in a new opening. Its files stay.
    ///
    /// # Errors
    /// If it was refused as a whole.
    pub(crate) fn play(&self, recipe: &Recipe) -> Result<Heard, Finding> {
        let (backend, job) = self.open(recipe)?;
        let mut heard = Heard::default();
        let ended = assay_drive::run(&job, &backend, &mut heard, self.stop, &mut || None);
        match ended.status {
            ByeStatus::Ok | ByeStatus::Stopped => Ok(heard),
            ByeStatus::Errors if !heard.wrong.is_empty() => Ok(heard),
            _ => {
                Err(Finding::new(Symptom::Refused, "run", "the job")
                    .values("no error", ended.reason.unwrap_or_default()))
            }
        }
    }

    /// Removes what jobs of this recipe have made, which may be nothing.
    fn tidy(&self, recipe: &Recipe) {
        let plain = Recipe { preallocate: false, ..recipe.clone() };
        for backend in self.opened.take() {
            // What one of them does not know is another's; the last looks whether all is gone.
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

    /// Does something, then removes what jobs of this recipe have made; all that is wrong.
    pub(crate) fn and_tidy(
        &self,
        recipe: &Recipe,
        act: impl FnOnce(&mut Vec<Finding>) -> Result<(), Finding>,
    ) -> Vec<Finding> {
        let mut findings = Vec::new();
        let refused = act(&mut findings).err();
        findings.extend(refused);
        self.tidy(recipe);
        findings
    }
}
