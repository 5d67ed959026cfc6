//! How a job ended.

use assay_spec::ByeStatus;
use std::fmt::Display;

/// The end of a job, and whether it left something on the storage.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ending {
    /// How it ended.
    pub status: ByeStatus,
    /// Why it did not end well, one line.
    pub reason: Option<String>,
    /// What the job created on the storage could not be removed.
    pub left_behind: bool,
}

impl Ending {
    /// A job without failures.
    pub fn ok() -> Ending {
        Ending { status: ByeStatus::Ok, reason: None, left_behind: false }
    }

    pub(crate) fn stopped() -> Ending {
        Ending { status: ByeStatus::Stopped, reason: Some("stopped from outside".to_owned()), ..Ending::ok() }
    }

    pub(crate) fn refused(error: &dyn Display) -> Ending {
        Ending { status: ByeStatus::Refused, reason: Some(error.to_string()), ..Ending::ok() }
    }

    /// The same, with errors and one more reason.
    pub(crate) fn and_failed(self, error: &str) -> Ending {
        let reason = self.reason.map_or(error.to_owned(), |before| format!("{before}; {error}"));
        Ending { status: ByeStatus::Errors, reason: Some(reason), ..self }
    }
}
