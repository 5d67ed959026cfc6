//! Files below a marked directory.

use super::{job_directory, TargetRules};
use crate::validate::{absolute_without_dots, ensure, ABSOLUTE};
use crate::{Job, JobError, Layout};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Files in `root`/`directory`. The engine creates and removes the directory and nothing else.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FileTarget {
    /// Absolute path of a directory that holds the marker file `.assay-target`.
    pub root: String,
    /// Name of the directory below it that this job uses: 1 to 128 of `A-Z a-z 0-9 . _ -`, not starting with a dot.
    pub directory: String,
    /// Further such directories, for example of other mounts: lane i works in the (i modulo n)-th of `root` and these.
    #[serde(default)]
    #[schemars(length(max = 1023))]
    pub shares: Vec<String>,
    /// The `identity` in the marker: a root that another run has claimed is refused. None: a marker without one.
    #[serde(default)]
    pub run: Option<String>,
}

impl TargetRules for FileTarget {
    fn validate(&self, job: &Job) -> Result<(), JobError> {
        ensure(absolute_without_dots(&self.root), "target.root", ABSOLUTE)?;
        ensure(self.shares.len() < 1024, "target.shares", "must be at most 1023")?;
        ensure(self.shares.iter().all(|share| absolute_without_dots(share)), "target.shares", ABSOLUTE)?;
        let apart = self.shares.is_empty() || job.layout == Layout::Separate || job.tree.is_some();
        ensure(apart, "target.shares", "no file lies in several directories: set layout to separate, or leave it out")?;
        job_directory(&self.directory, self.run.as_ref())
    }

    fn set_directory(&mut self, name: &str) {
        name.clone_into(&mut self.directory);
    }

    fn kernel_files(&self) -> bool {
        true
    }

    fn places(&self) -> usize {
        1 + self.shares.len()
    }
}
