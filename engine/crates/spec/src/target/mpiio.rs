//! Files that are reached through MPI-IO.

use super::TargetRules;
use crate::validate::{absolute_without_dots, ensure, plain_name, ABSOLUTE, PLAIN};
use crate::{Job, JobError, Layout};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Most hints of a job.
const MAX_HINTS: usize = 64;
/// Longest name of a hint (MPI_MAX_INFO_KEY of Open MPI).
const MAX_KEY_BYTES: usize = 35;
/// Longest value of a hint (MPI_MAX_INFO_VAL of Open MPI).
const MAX_VALUE_BYTES: usize = 255;
/// Longest name of a file system before a path.
const MAX_PREFIX_BYTES: usize = 16;

/// Files in `root`/`directory`, reached through the MPI-IO of the MPI that the engine is linked to, one engine a rank of
/// it. With `layout` shared all ranks open the one file together (MPI_COMM_WORLD), else each its own (MPI_COMM_SELF).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct MpiioTarget {
    /// Absolute path of a directory that holds the marker file `.assay-target`, and which all ranks see.
    pub root: String,
    /// Name of the directory below it that this job uses: 1 to 128 of `A-Z a-z 0-9 . _ -`, not starting with a dot.
    pub directory: String,
    /// The `identity` in the marker: a root that another run has claimed is refused. None: a marker without one.
    #[serde(default)]
    pub run: Option<String>,
    /// What stands before the path, without its colon: the file system that the MPI-IO library shall take it for, such as
    /// `ufs` or `lustre` (ROMIO). None: the library finds out.
    #[serde(default)]
    pub prefix: Option<String>,
    /// Each operation is one of all ranks together (MPI_File_write_at_all and its kin).
    #[serde(default)]
    pub collective: bool,
    /// Which pointer says where an operation is.
    #[serde(default)]
    pub pointer: Pointer,
    /// Files are in atomic mode (MPI_File_set_atomicity).
    #[serde(default)]
    pub atomic: bool,
    /// Hints for the library, name and value, as it gets them when it opens a file (MPI_Info).
    #[serde(default)]
    #[schemars(length(max = 64))]
    pub hints: BTreeMap<String, String>,
}

/// Which pointer says where an operation of MPI-IO is.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(title = "Pointer")]
pub enum Pointer {
    /// None: each operation says it (MPI_File_write_at).
    #[default]
    Explicit,
    /// The individual file pointer, moved by MPI_File_seek where it does not stand there already (MPI_File_write).
    Individual,
}

/// A name or value of a hint: printable, and without what separates hints in the files that MPIs read.
fn plain_hint(text: &str, most: usize) -> bool {
    (1..=most).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_graphic() || byte == b' ')
}

impl MpiioTarget {
    /// Ranks must make the same calls: one operation is one of all of them.
    pub fn in_step(&self, layout: Layout) -> bool {
        self.collective && layout == Layout::Shared
    }

    fn validate_hints(&self) -> Result<(), JobError> {
        ensure(self.hints.len() <= MAX_HINTS, "target.hints", format!("must be at most {MAX_HINTS}"))?;
        for (key, value) in &self.hints {
            let message = format!("names have 1 to {MAX_KEY_BYTES} printable letters, values 1 to {MAX_VALUE_BYTES}");
            let good = plain_hint(key, MAX_KEY_BYTES) && plain_hint(value, MAX_VALUE_BYTES);
            ensure(good, "target.hints", message)?;
        }
        Ok(())
    }
}

impl TargetRules for MpiioTarget {
    fn validate(&self, job: &Job) -> Result<(), JobError> {
        ensure(absolute_without_dots(&self.root), "target.root", ABSOLUTE)?;
        ensure(plain_name(&self.directory), "target.directory", PLAIN)?;
        ensure(self.run.as_ref().is_none_or(|run| plain_name(run)), "target.run", PLAIN)?;
        let word = |prefix: &String| {
            (1..=MAX_PREFIX_BYTES).contains(&prefix.len()) && prefix.bytes().all(|byte| byte.is_ascii_alphanumeric())
        };
        ensure(
            self.prefix.as_ref().is_none_or(word),
            "target.prefix",
            format!("must be 1 to {MAX_PREFIX_BYTES} letters and digits, such as ufs"),
        )?;
        self.validate_hints()?;
        ensure(job.lanes == 1, "lanes", "a rank of MPI has one lane: set lanes to 1, and use more ranks")?;
        if !self.in_step(job.layout) {
            return Ok(());
        }
        for (number, phase) in job.phases.iter().enumerate() {
            ensure(
                !phase.operation.mixes(),
                &format!("phases[{number}].operation"),
                "in collective operations on one file all ranks do the same: a mix needs collective false",
            )?;
            ensure(
                phase.rate_per_s.is_none(),
                &format!("phases[{number}].rate_per_s"),
                "collective operations on one file start when all ranks are there, not at a rate: leave it out",
            )?;
        }
        Ok(())
    }

    fn lane_bytes(&self, _job: &Job) -> u64 {
        0
    }

    fn set_directory(&mut self, name: &str) {
        name.clone_into(&mut self.directory);
    }

    fn kernel_files(&self) -> bool {
        false
    }

    fn any_method(&self) -> bool {
        false
    }
}
