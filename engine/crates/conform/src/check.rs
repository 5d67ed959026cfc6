//! What is checked, and on what.

use crate::finding::Finding;
use crate::session::Session;
use assay_core::{Backend, SetupError};
use assay_spec::{BackendCapabilities, Job, Target};
use std::sync::Arc;

/// The storage that is checked, handed in by whoever knows which backends there are.
pub trait Subject {
    /// What it says it can do, as found by trying.
    fn capabilities(&self) -> &BackendCapabilities;

    /// The target of a job that works in the directory of this number. A subject without directories, such as a device,
    /// has one target for all.
    fn target(&self, directory: u32) -> Target;

    /// Opens the target of a job. Lanes of it open the files anew: they share nothing with earlier ones.
    ///
    /// # Errors
    /// If it cannot be opened, or cannot do what the job asks for.
    fn open(&self, job: &Job) -> Result<Arc<dyn Backend>, SetupError>;
}

/// What a check does; what it found wrong.
pub(crate) type Act = Box<dyn Fn(&Session<'_>) -> Vec<Finding>>;

/// One expectation, in one way.
pub(crate) struct Check {
    /// Checks of one kind stand together in the table.
    pub(crate) group: &'static str,
    pub(crate) name: String,
    /// In which of several ways, in words; empty if there is only one.
    pub(crate) way: String,
    pub(crate) expects: &'static str,
    pub(crate) act: Act,
}
