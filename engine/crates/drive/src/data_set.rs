//! The data that a job's phases work on: what of it exists, from phase to phase.

use crate::names::Names;
use crate::objects::{Lengths, ObjectSteps, PresentObjects};
use crate::outcome::LaneOutcome;
use crate::pattern::{Contents, Pattern, Share};
use assay_core::random::mix2;
use assay_core::{Existing, ExistingObject, PartOwners, PhasePlan, OBJECT_BITS};
use assay_spec::{ExistingObjects, Group, Job, Layout, Method, Operation, Phase, SyncPolicy};
use std::sync::Arc;

/// The part of the data that belongs to a lane, numbered among all.
pub(crate) fn share(job: &Job, lane: u32) -> Share {
    let whole = Share::new(job.layout, lane, job.all_lanes(), job.file_size_bytes, job.record_size_bytes);
    whole.in_blocks(job.block_records())
}

/// Seed of what is random in a phase.
pub(crate) fn phase_seed(job: &Job, number: u32) -> u64 {
    mix2(job.order_seed.unwrap_or(job.seed), u64::from(number) + 1)
}

/// Which lane's part of the data each lane works on in a phase.
pub(crate) fn owners(job: &Job, number: u32, phase: &Phase) -> PartOwners {
    PartOwners::new(phase.reorder, job.all_lanes(), phase_seed(job, number))
}

/// True if all lanes of all processes work on one file.
pub(crate) fn shares_file(job: &Job) -> bool {
    job.layout == Layout::Shared && job.tree.is_none()
}

/// True if the phase works on the data of the files of a tree.
pub(crate) fn on_files(job: &Job, phase: &Phase) -> bool {
    job.tree.is_some() && phase.operation.group() == Some(Group::Data)
}

/// Number of a lane's first object or small file among all; None if the job works on the data of files.
pub(crate) fn first_object(job: &Job, lane: u32) -> Option<u64> {
    match (&job.tree, &job.objects) {
        (Some(tree), _) => Some(u64::from(lane) * tree.max_files()),
        // Puts may continue beyond the count.
        (None, Some(_)) => Some(u64::from(lane) << OBJECT_BITS),
        (None, None) => None,
    }
}

/// The data of a job.
pub(crate) struct DataSet<'a> {
    job: &'a Job,
    /// Per lane: bytes from the start of its part that are known to exist.
    covered: Vec<u64>,
    names: Names,
    /// A phase on the data of a tree's files has created some, which may be incomplete.
    wrote_tree_files: bool,
    /// The objects that the job only reads; None if it creates its objects.
    existing: Option<Arc<Existing>>,
    /// Per lane: the objects that exist.
    objects: Vec<PresentObjects>,
    /// Records of each lane that were written by a phase that wore out; None: all records.
    worn_out: Option<u64>,
    /// The last phase that has written all of the data that is read here.
    pub(crate) rewritten: Option<u32>,
}

/// Per lane: the objects that exist before the first phase.
fn initial_objects(job: &Job, existing: Option<&Existing>) -> Vec<PresentObjects> {
    if let Some(existing) = existing {
        return existing.lanes.iter().map(|lane| PresentObjects::first(lane.len() as u64)).collect();
    }
    let count = job.objects.as_ref().filter(|_| job.reuse_files).map_or(0, |objects| objects.count);
    vec![PresentObjects::first(count); job.lanes as usize]
}

impl<'a> DataSet<'a> {
    /// The data before the first phase.
    pub(crate) fn new(job: &'a Job, existing: Option<Arc<Existing>>) -> Self {
        let bytes = |index| if job.reuse_files { share(job, job.first_lane() + index).bytes() } else { 0 };
        DataSet {
            job,
            covered: (0..job.lanes).map(bytes).collect(),
            names: Names::new(job),
            wrote_tree_files: false,
            objects: initial_objects(job, existing.as_deref()),
            existing,
            worn_out: None,
            rewritten: None,
        }
    }

    /// Totals of the objects that the job only reads; None if it creates its objects.
    pub(crate) fn found(&self) -> Option<ExistingObjects> {
        self.existing.as_ref().map(|existing| existing.found)
    }

    /// A phase as the backend and its lanes see it.
    pub(crate) fn phase_plan(&self, number: u32, phase: &Phase) -> PhasePlan {
        let job = self.job;
        let preparing = phase.operation == Operation::Prepare;
        let (method, sync) = if preparing {
            (Method::Auto, SyncPolicy::Fsync)
        } else {
            (phase.method.as_ref().map_or(job.method, |found| found.method), job.sync)
        };
        PhasePlan {
            method,
            sync,
            cache: phase.cache_before,
            renamed: self.names.renamed(),
            overwrite: preparing && self.wrote_tree_files,
            ranged: phase.range_bytes.is_some(),
            needs_data: job.data.verify,
            // All lanes work on the file that they share.
            owners: if shares_file(job) { PartOwners::own() } else { owners(job, number, phase) },
            ..PhasePlan::of_job(job, phase.operation)
        }
    }

    /// The steps of this process's lane `index` on the part of `lane`, which is usually its own.
    pub(crate) fn pattern(&self, number: u32, phase: &Phase, index: u32, lane: u32) -> Pattern {
        let (job, share, seed) = (self.job, share(self.job, lane), phase_seed(self.job, number));
        let seed = if job.layout == Layout::Shared { seed } else { mix2(seed, u64::from(lane)) };
        let first = first_object(job, lane).unwrap_or(0);
        if let Some(tree) = &job.tree {
            let contents = job.sizes.as_ref().map_or(Contents::Fixed(job.file_size_bytes), |sizes| Contents::Drawn {
                sizes: sizes.clone(),
                seed: job.seed,
                first,
            });
            let (from, to) = self.names.range(phase.operation, index, lane);
            if on_files(job, phase) {
                let flushes = matches!(job.sync, SyncPolicy::Fsync | SyncPolicy::Fdatasync);
                let seed = mix2(seed, u64::from(lane));
                return Pattern::files(phase, job.record_size_bytes, to, contents, flushes, seed);
            }
            return Pattern::names(phase.operation, tree, from, to, contents);
        }
        if let Some(objects) = &job.objects {
            let there = self.objects[index as usize].clone();
            let lengths = Lengths::new(job, first).of_existing(self.existing_of(index));
            let steps = ObjectSteps::new(job, phase, objects.count, there, lengths, mix2(seed, u64::from(lane)));
            return Pattern::objects(steps.listing(self.found().map(|found| found.listed)));
        }
        if phase.operation == Operation::Prepare {
            return Pattern::fill(share, self.covered[index as usize]);
        }
        let records = self.worn_out.filter(|_| !phase.operation.creates());
        Pattern::new(phase, share, seed).limited(records)
    }

    /// The objects of this process's lane `index` that existed before the job.
    pub(crate) fn existing_of(&self, index: u32) -> Option<Arc<[ExistingObject]>> {
        self.existing.as_ref().map(|existing| Arc::clone(&existing.lanes[index as usize]))
    }

    /// Note that a phase begins.
    pub(crate) fn note_begin(&mut self, operation: Operation) {
        if operation.creates() {
            self.covered.fill(0);
        }
        self.wrote_tree_files |= operation.creates() || operation == Operation::FileMix;
    }

    /// Note what a phase has done. `most` is the number of records after which a phase that wears out has ended,
    /// `is_complete` whether nothing has failed so far.
    pub(crate) fn note_end(
        &mut self,
        number: u32,
        phase: &Phase,
        outcomes: &[Option<LaneOutcome>],
        most: Option<u64>,
        is_complete: bool,
    ) {
        self.note_covered(phase.operation, outcomes);
        if phase.operation == Operation::Prepare || phase.operation.creates() {
            self.worn_out = most.filter(|_| self.job.tree.is_none());
        }
        if is_complete && self.writes_all(phase) {
            self.rewritten = Some(number);
        }
        if self.job.tree.is_some() && matches!(phase.operation, Operation::Create | Operation::Prepare) {
            // Files that it created, if any, are older than every write.
            self.rewritten = None;
        }
    }

    /// True if this process's lanes write each record that they will read exactly once. Writes of other processes to a
    /// shared file are unknown: one may have failed, or a client's cache may hold the data before.
    fn writes_all(&self, phase: &Phase) -> bool {
        let whole = matches!(
            phase.operation,
            Operation::Write | Operation::Rewrite | Operation::RandomWrite | Operation::Fwrite | Operation::ReFwrite
        );
        let apart = self.job.layout == Layout::Separate || self.job.tree.is_some();
        let stays = self.job.phases.iter().all(|phase| phase.reorder.is_none());
        let alone = self.job.ranks == 1 || apart && stays;
        whole && alone && phase.runtime_ns.is_none() && phase.time_limit_ns.is_none()
    }

    fn note_covered(&mut self, operation: Operation, outcomes: &[Option<LaneOutcome>]) {
        if self.job.tree.is_some() {
            let made = |lane: &Option<LaneOutcome>| lane.as_ref().map_or(0, |lane| lane.covered);
            self.names.note(operation, &outcomes.iter().map(made).collect::<Vec<_>>());
            return;
        }
        for (there, lane) in self.objects.iter_mut().zip(outcomes) {
            if let Some(now) = lane.as_ref().and_then(|lane| lane.objects.clone()) {
                *there = now;
            }
        }
        for (covered, lane) in self.covered.iter_mut().zip(outcomes) {
            let written = lane.as_ref().map_or(0, |lane| lane.covered);
            if operation == Operation::Prepare {
                *covered += written;
            } else if operation.creates() {
                *covered = written;
            }
        }
    }
}
