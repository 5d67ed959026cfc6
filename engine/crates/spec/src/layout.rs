//! How a job's data is divided among lanes, and which lane's part each lane works on.

use crate::validate::ensure;
use crate::{Group, Job, JobError, Operation, Phase};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// How lanes share files.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(title = "Layout")]
pub enum Layout {
    /// One file per lane (IOR: file per process).
    #[default]
    Separate,
    /// One file, of which each lane has a contiguous part or, with `block_size_bytes`, a block of each segment (IOR:
    /// single shared file).
    Shared,
}

/// Which lane's part of the data a lane works on in a phase, so that no lane reads data that is still in its own
/// memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "order", rename_all = "snake_case", deny_unknown_fields)]
#[schemars(extend("discriminator" = {"propertyName": "order"}))]
pub enum Reorder {
    /// The part of the lane `lanes` further on, the first lanes following the last (IOR -C with -Q, mdtest -N).
    #[schemars(title = "ShiftedPart")]
    Shift {
        /// Counted among the lanes of all ranks.
        #[schemars(range(min = 1, max = 67_108_864))]
        lanes: u32,
    },
    /// The part of another, random lane; each part belongs to one lane (IOR -Z given twice).
    #[schemars(title = "RandomPart")]
    Random,
}

impl Job {
    /// Contiguous records of a lane, if the file is divided into blocks.
    pub fn block_records(&self) -> Option<u64> {
        self.block_size_bytes.map(|bytes| bytes / self.record_size_bytes.max(1))
    }

    /// Blocks of one segment: one of each lane that works on the same file.
    pub fn segment_blocks(&self) -> u64 {
        match self.layout {
            Layout::Separate => 1,
            Layout::Shared => u64::from(self.all_lanes()),
        }
    }

    /// Check that a block holds whole transfers, a segment whole blocks, and the file whole segments.
    pub(crate) fn validate_blocks(&self) -> Result<(), JobError> {
        let Some(block) = self.block_size_bytes else { return Ok(()) };
        let field = "block_size_bytes";
        let one_file = self.tree.is_none() && self.objects.is_none();
        ensure(one_file, field, "is for operations on the data of one file: leave it out")?;
        ensure((1..=i64::MAX as u64).contains(&block), field, "must be 1 to 2^63 - 1")?;
        let record = self.record_size_bytes;
        let whole = block.is_multiple_of(record);
        ensure(whole, field, format!("must be a multiple of record_size_bytes, which is {record}"))?;
        let (blocks, size) = (self.segment_blocks(), self.file_size_bytes);
        let segment = block.checked_mul(blocks);
        ensure(
            segment.is_some_and(|segment| size >= segment && size.is_multiple_of(segment)),
            field,
            format!(
                "a segment has {blocks} blocks of it: file_size_bytes, which is {size}, must be a multiple of that"
            ),
        )
    }

    /// Check that `wear_out` comes with a time limit, and with an operation that can be counted lane by lane.
    pub(crate) fn validate_wear_out(&self, phase: &Phase, at: &dyn Fn(&str) -> String) -> Result<(), JobError> {
        if !phase.wear_out {
            return Ok(());
        }
        let field = at("wear_out");
        ensure(phase.time_limit_ns.is_some(), &field, "is for a phase with time_limit_ns")?;
        let counted = phase.operation == Operation::Create || self.tree.is_none() && phase.operation.creates();
        ensure(counted, &field, "is for write and fwrite of one file, and create: leave it out")?;
        ensure(phase.rate_per_s.is_none(), &field, "is for lanes that go as fast as they can: leave rate_per_s out")
    }

    /// Check the orders after a phase that wore out: files are as long as it has written, so that only orders that
    /// start at a lane's first record and skip none find everything.
    pub(crate) fn validate_worn_out(&self) -> Result<(), JobError> {
        let mut short = false;
        for (index, phase) in self.phases.iter().enumerate().filter(|_| self.tree.is_none()) {
            let operation = phase.operation;
            if operation == Operation::Prepare || operation.creates() {
                short = phase.wear_out;
                continue;
            }
            let shuffled = matches!(operation, Operation::RandomRead | Operation::RandomWrite | Operation::RandomMix);
            ensure(
                !(short && shuffled),
                &format!("phases[{index}].operation"),
                "not all of the file was written when time was up: put prepare before it, or go in sequence",
            )?;
        }
        Ok(())
    }

    /// Check that a lane works only on data that another lane has written.
    pub(crate) fn validate_reorder(&self, phase: &Phase, at: &dyn Fn(&str) -> String) -> Result<(), JobError> {
        let Some(reorder) = phase.reorder else { return Ok(()) };
        let field = at("reorder");
        let made = phase.operation.works_on_existing();
        ensure(made, &field, "is for operations that read, or look up or remove names: leave it out")?;
        if let Reorder::Shift { lanes } = reorder {
            ensure((1..=1 << 26).contains(&lanes), &field, "must be by 1 to 67,108,864 lanes")?;
        }
        let apart = self.layout == Layout::Separate || self.tree.is_some();
        let places = self.target.rules().places();
        ensure(
            places == 1 || !apart,
            &field,
            format!(
                "each lane keeps to one of the target's {places} places, which have files of their own: leave it out"
            ),
        )
    }
}

impl Operation {
    /// True if it works on existing data or names and does not change contents.
    pub fn works_on_existing(self) -> bool {
        match self.group() {
            Some(Group::Data) => self.reads() && !self.writes(),
            Some(Group::Names) => matches!(
                self,
                Operation::Stat | Operation::Open | Operation::Readdir | Operation::Unlink | Operation::Rmdir
            ),
            Some(Group::Objects | Group::Programs) | None => false,
        }
    }
}
