//! Files reached through MPI-IO.

use super::{job_directory, TargetRules};
use crate::validate::{absolute_without_dots, ensure, ABSOLUTE};
use crate::{Job, JobError, Layout, Operation};
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

/// Files in `root`/`directory`, reached through the MPI-IO of the MPI that the engine is linked to, one engine per
/// rank. With `layout` shared all ranks open one file together (MPI_COMM_WORLD), else each its own (MPI_COMM_SELF).
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
    /// Prefix of the path, without its colon: the file system that the MPI-IO library is to assume, such as `ufs` or
    /// `lustre` (ROMIO). None: the library detects it.
    #[serde(default)]
    pub prefix: Option<String>,
    /// Each operation is a collective one of all ranks (MPI_File_write_at_all and similar calls).
    #[serde(default)]
    pub collective: bool,
    /// The file pointer that gives an operation's offset.
    #[serde(default)]
    pub pointer: Pointer,
    /// What each rank sees of the shared file: all of it, or its own part (MPI_File_set_view).
    #[serde(default)]
    pub view: View,
    /// In a view, contiguous bytes of a rank in the file, followed by those of the other ranks. A block of the job
    /// consists of whole pieces.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 1_073_741_824))]
    pub piece_bytes: Option<u32>,
    /// Files are in atomic mode (MPI_File_set_atomicity).
    #[serde(default)]
    pub atomic: bool,
    /// Hints for the library, name and value, passed when it opens a file (MPI_Info).
    #[serde(default)]
    #[schemars(length(max = 64))]
    pub hints: BTreeMap<String, String>,
}

/// The file pointer that gives the offset of an MPI-IO operation.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(title = "Pointer")]
pub enum Pointer {
    /// None: each operation states its offset (MPI_File_write_at).
    #[default]
    Explicit,
    /// The individual file pointer, moved by MPI_File_seek if it is not there already (MPI_File_write).
    Individual,
    /// The file pointer that all ranks share: each operation works on the next record, in the order of arrival
    /// (MPI_File_write_shared), or for collective operations in the order of the ranks (MPI_File_write_ordered).
    Shared,
}

/// What a rank sees of a file.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(title = "View")]
pub enum View {
    /// All of the file.
    #[default]
    None,
    /// Its own pieces, by MPI_Type_vector.
    Vector,
    /// Its own pieces, as its columns of an array of two dimensions, by MPI_Type_create_subarray.
    Subarray,
}

/// True for a valid name or value of a hint: printable, and without separators of the hint files that MPIs read.
fn plain_hint(text: &str, most: usize) -> bool {
    (1..=most).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_graphic() || byte == b' ')
}

impl MpiioTarget {
    /// True if ranks must make the same calls, because each operation is a collective one.
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

impl MpiioTarget {
    /// Check the view, which shows one rank's blocks in the shared file.
    fn validate_view(&self, job: &Job) -> Result<(), JobError> {
        let piece = self.piece_bytes.map(u64::from);
        if self.view == View::None {
            return ensure(piece.is_none(), "target.piece_bytes", "is for a view: leave it out");
        }
        ensure(job.layout == Layout::Shared, "target.view", "is of a file that all ranks share: set layout to shared")?;
        let message = "ranks that share a pointer must see the same: set it to none";
        ensure(self.pointer != Pointer::Shared, "target.view", message)?;
        let Some(block) = job.block_size_bytes else {
            return ensure(false, "block_size_bytes", "a view is of blocks of each rank: say how large they are");
        };
        let (piece, record) = (piece.unwrap_or(0), job.record_size_bytes);
        let fits = |piece: u64| piece.is_multiple_of(record) || record.is_multiple_of(piece);
        let whole = piece > 0 && block.is_multiple_of(piece) && fits(piece);
        let message = "records and blocks must be made of whole pieces, or pieces of whole records";
        ensure(whole, "target.piece_bytes", message)?;
        let wide = piece.saturating_mul(u64::from(job.all_lanes()));
        ensure(i32::try_from(wide).is_ok(), "target.piece_bytes", "those of all ranks together must be at most 2 GiB")?;
        for (number, phase) in job.phases.iter().enumerate() {
            let shuffled =
                matches!(phase.operation, Operation::RandomRead | Operation::RandomWrite | Operation::RandomMix);
            let message = "a rank sees only its own part, and random orders go over that of others: set view to none";
            ensure(!shuffled, &format!("phases[{number}].operation"), message)?;
        }
        Ok(())
    }

    /// Check the shared pointer: the offset of its operations is unknown beforehand, unless all ranks take turns.
    fn validate_pointer(&self, job: &Job) -> Result<(), JobError> {
        if self.pointer != Pointer::Shared {
            return Ok(());
        }
        let field = "target.pointer";
        let message = "all ranks share the pointer of a file that they share: set layout to shared";
        ensure(job.layout == Layout::Shared, field, message)?;
        let ordered = self.collective && job.block_size_bytes == Some(job.record_size_bytes);
        let message = "which rank has which record follows from who comes first: set it to false, or collective to true with \
                       blocks of one record";
        ensure(ordered || !job.data.verify, "data.verify", message)?;
        let message = "MPI has no nonblocking collective operations by a shared pointer: set queue_depth to 1";
        ensure(!self.collective || job.queue_depth == 1, "queue_depth", message)?;
        for (number, phase) in job.phases.iter().enumerate() {
            let at = |name: &str| format!("phases[{number}].{name}");
            let onward = matches!(
                phase.operation,
                Operation::Prepare | Operation::Write | Operation::Rewrite | Operation::Read | Operation::Reread
            );
            let message = "a shared pointer goes once from the beginning to the end of the file: use write, rewrite, read or \
                           reread";
            ensure(onward, &at("operation"), message)?;
            let message = "a shared pointer goes once over the file: use time_limit_ns";
            ensure(phase.runtime_ns.is_none(), &at("runtime_ns"), message)?;
            let message = "a shared pointer gives no rank a part of its own: leave it out";
            ensure(phase.reorder.is_none(), &at("reorder"), message)?;
        }
        Ok(())
    }
}

impl TargetRules for MpiioTarget {
    fn validate(&self, job: &Job) -> Result<(), JobError> {
        ensure(absolute_without_dots(&self.root), "target.root", ABSOLUTE)?;
        job_directory(&self.directory, self.run.as_ref())?;
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
        self.validate_view(job)?;
        self.validate_pointer(job)?;
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

    fn set_directory(&mut self, name: &str) {
        name.clone_into(&mut self.directory);
    }
}
