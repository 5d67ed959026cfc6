//! Rules of jobs that work on a tree of files: on their names, or on their data.

use super::{ensure, JobError};
use crate::{CacheAction, Group, Job, Layout, Method, Operation, Phase, Tree};

/// Most files of one lane.
const MAX_FILES: u64 = 1_000_000_000;
/// Most leaf directories of all trees together.
const MAX_LEAVES: u64 = 1_000_000;

impl Operation {
    /// True if it works on the data of a tree's files one after the other.
    pub fn on_file_sets(self) -> bool {
        use Operation::{Prepare, RandomRead, RandomWrite, Read, Reread, Rewrite, Write};
        let mixes = self.mixes() && self.group() == Some(Group::Data);
        mixes || matches!(self, Prepare | Write | Rewrite | Read | Reread | RandomRead | RandomWrite)
    }
}

impl Job {
    /// True if some phase works on the data of a tree's files.
    pub fn on_file_set(&self) -> bool {
        let data = |phase: &Phase| phase.operation.group() == Some(Group::Data);
        let only_made = || self.phases.iter().all(|phase| phase.operation == Operation::Prepare);
        self.tree.is_some() && (self.phases.iter().any(data) || only_made())
    }

    fn on_names(&self) -> bool {
        self.phases.iter().any(|phase| phase.operation.metadata())
    }

    pub(super) fn validate_tree(&self, tree: &Tree) -> Result<(), JobError> {
        let some = tree.files >= 1 || tree.more >= 1;
        ensure(some && tree.files <= MAX_FILES, "tree.files", "must be 1 to 1,000,000,000")?;
        let lanes = self.all_lanes();
        ensure(tree.more < lanes, "tree.more", format!("must be below the lanes of all ranks, which are {lanes}"))?;
        ensure(tree.depth <= 16, "tree.depth", "must be 0 to 16")?;
        ensure((1..=10_000).contains(&tree.width), "tree.width", "must be 1 to 10,000")?;
        let leaves = tree.leaves();
        let trees = if self.layout == Layout::Shared { 1 } else { u64::from(lanes) };
        ensure(
            leaves <= tree.max_files() && leaves.saturating_mul(trees) <= MAX_LEAVES,
            "tree.width",
            format!(
                "makes {leaves} directories in each of {trees} trees (width to the power of depth{}): at most one per \
                 file, and 1,000,000 in all",
                if tree.inner { ", and those above" } else { "" }
            ),
        )?;
        if !self.on_file_set() {
            ensure(
                self.largest_size() <= self.record_size_bytes,
                if self.sizes.is_some() { "sizes" } else { "file_size_bytes" },
                "the contents of a small file are written at once: at most record_size_bytes",
            )?;
        }
        ensure(
            !self.direct || !self.on_names(),
            "direct",
            "metadata operations have no O_DIRECT: set direct to false",
        )?;
        let known = matches!(self.method, Method::Auto | Method::Sync | Method::IoUring | Method::Protocol);
        ensure(known, "method", "metadata operations have neither mmap nor threads: use auto, sync or io_uring")?;
        ensure(!self.preallocate, "preallocate", "nothing is preallocated in a tree: set it to false")?;
        self.validate_set()?;
        self.validate_order()
    }

    /// Check that each lane has one file of a set open, and one operation in flight.
    fn validate_set(&self) -> Result<(), JobError> {
        if !self.on_file_set() {
            return Ok(());
        }
        let one = "in a set of files a lane has one operation in flight: set queue_depth to 1, or use more lanes";
        ensure(self.queue_depth == 1, "queue_depth", one)?;
        let plain = self.method != Method::IoUring;
        ensure(plain, "method", "a set of files is read and written by plain calls: use auto or sync")
    }

    /// Follow the files through the phases: what a phase works on must exist, what it creates must not.
    fn validate_order(&self) -> Result<(), JobError> {
        let (mut files, mut directories) = (self.reuse_files, false);
        // Some of the files exist, and some do not.
        let mut some = false;
        for (index, phase) in self.phases.iter().enumerate() {
            let field = format!("phases[{index}].operation");
            let name = phase.operation.name();
            let there = |ok: bool, what: &str, maker: &str| {
                ensure(ok, &field, format!("{name}: there are no {what}: put {maker} before it"))
            };
            let absent = |ok: bool, what: &str, remover: &str| {
                ensure(ok, &field, format!("{name}: the {what} exist already: put {remover} before it"))
            };
            let takes = phase.operation.group().is_some() && !matches!(phase.operation, Operation::Write);
            if some && takes && !matches!(phase.operation, Operation::Mkdir | Operation::Rmdir) {
                return ensure(false, &field, format!("{name}: file_mix leaves some files out: put prepare before it"));
            }
            match phase.operation {
                Operation::Create => absent(!files, "files", "unlink")?,
                Operation::Mkdir => absent(!directories, "directories", "rmdir")?,
                Operation::Rmdir => there(directories, "directories", "mkdir")?,
                // Writes them anew, whether they exist or not.
                Operation::Write | Operation::Prepare => {}
                operation if operation.group() == Some(Group::Data) => there(files, "files", "write or prepare")?,
                operation if operation.group() == Some(Group::Names) => there(files, "files", "create or prepare")?,
                _ => {}
            }
            let makes = matches!(phase.operation, Operation::Create | Operation::Prepare | Operation::Write);
            some = (some || phase.operation == Operation::FileMix) && !makes;
            files = (files || makes) && phase.operation != Operation::Unlink;
            directories = (directories || phase.operation == Operation::Mkdir) && phase.operation != Operation::Rmdir;
        }
        Ok(())
    }

    /// Check what a phase requires of the tree, and the tree of a phase.
    pub(super) fn validate_files(&self, phase: &Phase, at: &dyn Fn(&str) -> String) -> Result<(), JobError> {
        let operation = phase.operation;
        let tree = self.tree.is_some();
        ensure(tree || !operation.needs_tree(), &at("operation"), "needs a tree: say how many files")?;
        let able = !tree
            || operation.metadata()
            || operation.on_file_sets()
            || operation.objects()
            || operation.runs_programs();
        let message = format!("{} works on one file, not on those of a tree: leave tree out", operation.name());
        ensure(able, &at("operation"), message)?;
        let ordered = phase.file_order.is_sequential() || tree && operation.group() == Some(Group::Data);
        ensure(ordered, &at("file_order"), "is for operations on the data of a tree's files: leave it out")?;
        ensure(
            phase.runtime_ns.is_none() || !operation.changes_names(),
            &at("runtime_ns"),
            "each name can be changed only once: leave it out",
        )?;
        let whole = matches!(operation, Operation::Rename | Operation::Unlink | Operation::Rmdir);
        ensure(
            phase.time_limit_ns.is_none() || !whole,
            &at("time_limit_ns"),
            "rename, unlink and rmdir are done whole: leave it out",
        )?;
        ensure(
            !tree || phase.cache_before != CacheAction::Evict,
            &at("cache_before"),
            "names and attributes cannot be evicted: use drop or keep",
        )
    }
}
