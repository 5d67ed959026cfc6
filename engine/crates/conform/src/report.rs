//! The report of a run of the suite.

use crate::finding::Finding;
use serde::Serialize;

/// Result of a check.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// The expectation holds.
    Holds,
    /// The expectation does not hold.
    DoesNotHold,
    /// The run was stopped before the check was finished.
    NotDone,
}

/// Result of one check.
#[derive(Debug, Clone, Serialize)]
pub struct Row {
    /// Group of the check, for example data, flush, ends or names.
    pub group: String,
    /// Name of the check.
    pub check: String,
    /// Description of the way it was checked; empty if there is only one.
    pub way: String,
    /// What is expected.
    pub expects: String,
    /// The result.
    pub verdict: Verdict,
    /// What is wrong; the first of several similar findings.
    pub findings: Vec<Finding>,
}

/// Report of a run of the suite.
#[derive(Debug, Clone, Serialize)]
pub struct Report {
    /// Kind of the target.
    pub kind: String,
    /// Directory, device or export.
    pub place: String,
    /// Type of the file system, if there is one.
    pub filesystem: String,
    /// All checks, in the order they ran.
    pub rows: Vec<Row>,
    /// What the target does not offer and is therefore not checked.
    pub not_offered: Vec<String>,
    /// What the target offers and no check covers.
    pub unchecked: Vec<String>,
    /// Remarks about the target, such as why something is not offered.
    pub remarks: Vec<String>,
    /// Duration of the run in nanoseconds.
    pub elapsed_ns: u64,
    /// Whether it was stopped before the last check.
    pub stopped: bool,
}

impl Report {
    /// Number of checks with this verdict.
    pub fn count(&self, verdict: Verdict) -> usize {
        self.rows.iter().filter(|row| row.verdict == verdict).count()
    }
}
