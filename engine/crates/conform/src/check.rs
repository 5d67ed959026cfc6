//! A single check, and the storage it runs on.

use crate::finding::Finding;
use crate::session::Session;
use assay_core::{Backend, SetupError};
use assay_spec::{BackendCapabilities, Job, Target};
use std::sync::Arc;

/// The storage to be checked, supplied by the caller that knows the backends.
pub trait Subject {
    /// What the storage can do, as found out by probing.
    fn capabilities(&self) -> &BackendCapabilities;

    /// The target of a job that works in the directory with this number. A subject without directories, such as a
    /// device, has one target for all numbers.
    fn target(&self, directory: u32) -> Target;

    /// Opens the target of a job. Lanes of this opening open the files anew and share nothing with earlier openings.
    ///
    /// # Errors
    /// If the target cannot be opened, or cannot do what the job asks for.
    fn open(&self, job: &Job) -> Result<Arc<dyn Backend>, SetupError>;
}

/// Runs a check and returns what it found wrong.
pub(crate) type Act = Box<dyn Fn(&Session<'_>) -> Vec<Finding>>;

/// One expectation, checked in one way.
pub(crate) struct Check {
    /// Checks of one group are listed together in the table.
    pub(crate) group: &'static str,
    pub(crate) name: String,
    /// Description of the way it is checked; empty if there is only one.
    pub(crate) way: String,
    pub(crate) expects: &'static str,
    pub(crate) act: Act,
}
