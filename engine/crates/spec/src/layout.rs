//! How the lanes of a job share out its data, and whose part each of them works on.

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

/// Whose part of the data a lane works on in a phase, so that nobody reads what is still in its own memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "order", rename_all = "snake_case", deny_unknown_fields)]
#[schemars(extend("discriminator" = {"propertyName": "order"}))]
pub enum Reorder {
    /// That of the lane so many further, the first lanes following the last (IOR -C with -Q, mdtest -N).
    #[schemars(title = "ShiftedPart")]
    Shift {
        /// Lanes of all ranks are counted.
        #[schemars(range(min = 1, max = 67_108_864))]
        lanes: u32,
    },
    /// That of another lane, which is random; each part is that of one lane (IOR -Z given twice).
    #[schemars(title = "RandomPart")]
    Random,
}

impl Job {
    /// Records that a lane has one after the other, if the file is shared out in blocks.
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

    /// Whole transfers in a block, whole blocks in a segment, whole segments in the file.
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

    /// Lanes go on only where they were stopped, and only with what can be counted lane by lane.
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

    /// After a phase that wore out, files are as long as it has written: only orders that begin at a lane's first record
    /// and leave none out find it all.
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

    /// Only what another lane has made can be worked on by this one.
    pub(crate) fn validate_reorder(&self, phase: &Phase, at: &dyn Fn(&str) -> String) -> Result<(), JobError> {
        let Some(reorder) = phase.reorder else { return Ok(()) };
        let field = at("reorder");
        let made = phase.operation.takes_what_is_there();
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
    /// Works on what is there and leaves its contents as they are.
    pub fn takes_what_is_there(self) -> bool {
        match self.group() {
            Some(Group::Data) => self.reads() && !self.writes(),
            Some(Group::Names) => matches!(
                self,
                Operation::Stat | Operation::Open | Operation::Readdir | Operation::Unlink | Operation::Rmdir
            ),
            Some(Group::Objects) | None => false,
        }
    }
}
