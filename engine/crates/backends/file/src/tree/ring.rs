//! A lane's ring for operations on the names of a tree.

use crate::tree::calls::{create_flags, flush};
use crate::tree::entries::{description, opcodes, stat_buffer, unpack, Entries, Slot, StatBuffer, CHAIN};
use crate::tree::leaves::Leaves;
use crate::tree::JobTree;
use assay_core::names::Names;
use assay_core::{Buffers, Completion, LaneSetup, Op, OpKind, PhasePlan, SetupError};
use assay_posix::uring::{self, Queue, Ring, State};
use assay_spec::{Group, Operation};
use io_uring::types::Fd;
use io_uring::{IoUring, Probe};
use rustix::process::{getrlimit, Resource};
use std::sync::Arc;

/// Most leaves that operations in flight may use.
const MAX_LEAVES: u64 = 64;
/// Descriptors that are reserved for other things.
const OTHER_DESCRIPTORS: u64 = 32;
/// The state of a phase.
struct Attached {
    leaves: Leaves,
    names: Names,
    create: libc::c_int,
}

/// A lane's ring.
pub(crate) struct TreeRing {
    // Dropped first: closing it ends what is in flight.
    ring: IoUring,
    probe: Probe,
    lane: u32,
    depth: u32,
    buffers: Arc<Buffers>,
    /// Some files have contents longer than a buffer.
    has_long_contents: bool,
    slots: Box<[Slot]>,
    /// By slot.
    found: Box<[StatBuffer]>,
    attached: Option<Attached>,
    state: State,
}

impl TreeRing {
    /// A ring for the lane; it must be used on the thread that made it.
    pub(crate) fn new(job_tree: &JobTree, setup: &LaneSetup) -> Result<Self, String> {
        let limit = getrlimit(Resource::Nofile).current.unwrap_or(u64::MAX);
        let leaves = limit.saturating_sub(OTHER_DESCRIPTORS).clamp(1, MAX_LEAVES);
        let most = leaves.saturating_mul(job_tree.names_per_leaf());
        let mut depth = setup.queue_depth.min(u32::try_from(most).unwrap_or(u32::MAX));
        let set_up = Ring { sqpoll: setup.tuning.sqpoll, ..Ring::default() };
        let entries = (CHAIN * depth).next_power_of_two();
        let (ring, _) = uring::open(entries, set_up)?;
        let mut probe = Probe::new();
        ring.submitter().register_probe(&mut probe).map_err(|error| format!("it cannot be probed ({error})"))?;
        // A process may have no more direct descriptors than ordinary ones.
        while let Err(error) = ring.submitter().register_files_sparse(depth) {
            depth /= 2;
            if depth == 0 {
                return Err(format!("no file table can be registered ({error})"));
            }
        }
        Ok(TreeRing {
            ring,
            probe,
            lane: setup.lane,
            depth,
            buffers: Arc::clone(&setup.buffers),
            has_long_contents: setup.source.is_some(),
            slots: (0..depth).map(|_| Slot::new()).collect(),
            found: (0..depth).map(|_| stat_buffer()).collect(),
            attached: None,
            state: State::default(),
        })
    }

    /// Most operations in flight: as many as asked for, unless that needs too many open leaves or files.
    pub(crate) fn depth(&self) -> u32 {
        self.depth
    }

    /// Why an operation cannot go through the ring; none if it can.
    pub(crate) fn obstacle(&self, operation: Operation) -> Option<String> {
        if operation == Operation::Readdir {
            return Some("io_uring cannot list directories".to_owned());
        }
        if operation.group() == Some(Group::Data) {
            return Some("one file after the other is open".to_owned());
        }
        if self.has_long_contents && matches!(operation, Operation::Prepare | Operation::Create) {
            return Some("the contents are longer than a buffer".to_owned());
        }
        let chained = opcodes(operation).len() > 1;
        let missing = opcodes(operation).iter().any(|code| !self.probe.is_supported(*code));
        let parameters = self.ring.params();
        let linked = parameters.is_feature_linked_file() && parameters.is_feature_skip_cqe_on_success();
        (missing || chained && !linked)
            .then(|| format!("this kernel's io_uring cannot do what {} needs", operation.name()))
    }

    /// Prepares a phase; returns a description for people.
    pub(crate) fn attach(&mut self, job_tree: &Arc<JobTree>, plan: &PhasePlan) -> Result<&'static str, SetupError> {
        let lane = plan.owners.of(self.lane);
        let leaves = Leaves::open(job_tree, lane)?;
        let names = Names::new(lane, plan);
        self.attached = Some(Attached { leaves, names, create: create_flags(plan) });
        Ok(description(plan.operation))
    }

    /// Closes the directories.
    pub(crate) fn detach(&mut self) {
        self.attached = None;
    }
}

impl Queue for TreeRing {
    fn state(&mut self) -> (&mut IoUring, &mut State) {
        (&mut self.ring, &mut self.state)
    }

    fn push(&mut self, ops: &[Op]) -> usize {
        let Some(attached) = &mut self.attached else { return 0 };
        let mut queue = self.ring.submission();
        for (taken, op) in ops.iter().enumerate() {
            if op.kind == OpKind::Sync {
                self.state.early.push(Completion::of_os(op.slot, flush(attached.leaves.job_folder())));
                continue;
            }
            let (fd, leaf) = match attached.leaves.enter(op.object) {
                Ok(entered) => entered,
                Err(errno) => {
                    self.state.early.push(Completion::of_os(op.slot, Err(errno)));
                    continue;
                }
            };
            let slot = &mut self.slots[op.slot as usize];
            slot.take(op, leaf, &mut attached.names);
            let found = &self.found[op.slot as usize];
            let entries = Entries { leaf: Fd(fd), slot, found, op, create: attached.create };
            let (chain, length) = entries.chain(&self.buffers);
            // SAFETY: what the entries point to belongs to the operation until its completion, and never moves.
            if unsafe { queue.push_multiple(&chain[..length]) }.is_err() {
                slot.busy = false;
                attached.leaves.leave(leaf);
                return taken;
            }
            self.state.in_flight += 1;
        }
        ops.len()
    }

    fn fail_all(&mut self, done: &mut Vec<Completion>, errno: i32) {
        for (number, slot) in self.slots.iter_mut().enumerate().filter(|(_, slot)| slot.busy) {
            slot.busy = false;
            done.push(Completion::of_os(number as u32, Err(errno)));
        }
        self.state.in_flight = 0;
    }

    fn collect(&mut self, done: &mut Vec<Completion>) {
        let Some(attached) = &mut self.attached else { return };
        for entry in self.ring.completion() {
            let (number, stage, generation) = unpack(entry.user_data());
            let slot = &mut self.slots[number as usize];
            if !slot.busy || slot.generation != generation {
                continue;
            }
            if let Some(result) = slot.note_completion(stage, entry.result(), &self.found[number as usize]) {
                slot.busy = false;
                attached.leaves.leave(slot.leaf);
                self.state.in_flight -= 1;
                done.push(Completion::of_os(number, result));
            }
        }
    }
}

impl Drop for TreeRing {
    fn drop(&mut self) {
        if self.state.broken.is_some() || self.state.in_flight > 0 {
            // What the kernel may still read and write must stay where it is.
            std::mem::forget(std::mem::take(&mut self.slots));
            std::mem::forget(std::mem::take(&mut self.found));
            std::mem::forget(Arc::clone(&self.buffers));
        }
    }
}
