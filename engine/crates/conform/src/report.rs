//! What came of a run of the suite.

use crate::finding::Finding;
use serde::Serialize;

/// What came of a check.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// It is as it should be.
    Holds,
    /// It is not.
    DoesNotHold,
    /// The run was stopped before.
    NotDone,
}

/// One check.
#[derive(Debug, Clone, Serialize)]
pub struct Row {
    /// Checks of one kind: data, flush, ends, names.
    pub group: String,
    /// What is checked.
    pub check: String,
    /// In which of several ways; empty if there is only one.
    pub way: String,
    /// What should be.
    pub expects: String,
    /// What came of it.
    pub verdict: Verdict,
    /// What is wrong; the first of what looks the same.
    pub findings: Vec<Finding>,
}

/// A run of the suite.
#[derive(Debug, Clone, Serialize)]
pub struct Report {
    /// Kind of the target.
    pub kind: String,
    /// Directory, device or export.
    pub place: String,
    /// Type of the file system, as far as there is one.
    pub filesystem: String,
    /// All checks, in their order.
    pub rows: Vec<Row>,
    /// What the target does not offer, so that it is not checked.
    pub not_offered: Vec<String>,
    /// What the target offers, and no check is for.
    pub unchecked: Vec<String>,
    /// What is said of the target, such as why something is not offered.
    pub remarks: Vec<String>,
    /// How long it took.
    pub elapsed_ns: u64,
    /// It was stopped before the last check.
    pub stopped: bool,
}

impl Report {
    /// How many checks came to this.
    pub fn count(&self, verdict: Verdict) -> usize {
        self.rows.iter().filter(|row| row.verdict == verdict).count()
    }
}
