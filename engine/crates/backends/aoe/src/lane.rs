//! The lane of a disk: one worker's commands.

use crate::disk::Disk;
use crate::frame::{Command, SECTOR};
use crate::initiator::{Counts, Initiator, Memory, Transfer};
use crate::owner::Owner;
use crate::status::UNALIGNED;
use crate::wire::Socket;
use assay_core::{
    clock, Completion, Fault, HostCounts, Lane, LaneSetup, MethodChoice, Op, OpKind, PhasePlan, ServiceLane,
    ServiceUse, SetupError,
};
use assay_spec::{name_kinds, object_kinds, program_kinds, Method, SyncPolicy};
use std::sync::Arc;

/// A worker's access to the disk.
pub(crate) struct DiskLane {
    disk: Arc<Disk>,
    setup: LaneSetup,
    /// Lanes that share the disk.
    share: u32,
    initiator: Initiator<Socket>,
    _owner: Owner,
    /// Completions without a frame.
    early: Vec<Completion>,
    in_flight: usize,
}

impl DiskLane {
    pub(crate) fn open(disk: Arc<Disk>, setup: LaneSetup, share: u32) -> Result<Self, SetupError> {
        let slots = setup.buffers.count();
        let (initiator, owner) = disk.initiator(slots, share)?;
        Ok(DiskLane { disk, share, initiator, _owner: owner, early: Vec::with_capacity(slots), in_flight: 0, setup })
    }

    fn begin_op(&mut self, op: &Op) {
        let command = match op.kind {
            OpKind::Read => Some(Command::Read),
            OpKind::Write => Some(Command::Write),
            OpKind::Sync => self.disk.flush,
            name_kinds!() | object_kinds!() | program_kinds!() => None,
        };
        let whole = (op.offset | op.length).is_multiple_of(SECTOR as u64);
        let Some(command) = command.filter(|_| whole) else {
            debug_assert!(whole, "jobs have whole sectors, and a disk has neither names nor objects");
            return self.early.push(Completion::new(op.slot, Err(UNALIGNED)));
        };
        if op.length == 0 && op.kind != OpKind::Sync {
            return self.early.push(Completion::new(op.slot, Ok(0)));
        }
        self.in_flight += 1;
        self.initiator.start(Transfer {
            command,
            lba: op.offset / SECTOR as u64,
            sectors: op.length / SECTOR as u64,
            memory: Memory(self.setup.buffers.pointer(op.slot)),
            slot: op.slot,
            deadline: clock::now().saturating_add(self.disk.target.timeout_ns),
        });
    }

    /// The disk and the frames, for people.
    fn reason(&self, plan: &PhasePlan) -> String {
        let Disk { ways, sectors, .. } = &*self.disk;
        let windows: Vec<String> = ways
            .iter()
            .map(|way| format!("{} ({} of {} buffers)", way.interface, self.disk.window(way, self.share), way.buffers))
            .collect();
        let bytes = usize::from(*sectors) * SECTOR;
        let mut text = format!(
            "AoE to {} through {}, {sectors} sectors ({bytes} bytes) a frame",
            self.disk.target.address(),
            windows.join(" and ")
        );
        if plan.operation.writes() && matches!(plan.sync, SyncPolicy::Fsync | SyncPolicy::Fdatasync) {
            text += match self.disk.flush {
                Some(Command::FlushExt) => ", then FLUSH CACHE EXT",
                _ => ", then FLUSH CACHE",
            };
        }
        text
    }
}

impl Lane for DiskLane {
    fn begin(&mut self, plan: &PhasePlan) -> Result<MethodChoice, SetupError> {
        let depth = self.setup.queue_depth;
        Ok(MethodChoice { ahead: true, ..MethodChoice::of(Method::Protocol, self.reason(plan), depth) })
    }

    fn submit(&mut self, ops: &[Op]) -> usize {
        for op in ops {
            self.begin_op(op);
        }
        self.initiator.pump(clock::now());
        ops.len()
    }

    fn reap(&mut self, done: &mut Vec<Completion>, deadline: u64) {
        let before = done.len();
        let mut waited = false;
        loop {
            done.append(&mut self.early);
            let finished = self.initiator.finished();
            self.in_flight -= finished.len();
            done.extend(finished.map(|(slot, result)| Completion::new(slot, result)));
            if done.len() > before || self.in_flight == 0 || waited && clock::now() >= deadline {
                return;
            }
            self.initiator.run_once(deadline);
            waited = true;
        }
    }

    fn execute(&mut self, op: &Op) -> Result<u64, Fault> {
        let mut done = Vec::with_capacity(1);
        self.submit(std::slice::from_ref(op));
        while done.is_empty() {
            self.reap(&mut done, u64::MAX);
        }
        done[0].result
    }

    fn service(&mut self) -> Option<&mut dyn ServiceLane> {
        Some(self)
    }

    fn end(&mut self) -> Result<(), SetupError> {
        // A disk is an address, which need not be given back.
        Ok(())
    }
}

impl ServiceLane for DiskLane {
    fn host_counts(&mut self) -> Vec<HostCounts> {
        Vec::new()
    }

    fn service_counts(&mut self) -> Option<ServiceUse> {
        let Counts { sent, again, stray } = std::mem::take(&mut self.initiator.counts);
        Some(ServiceUse { frames: sent, frames_again: again, frames_stray: stray, ..ServiceUse::default() })
    }
}
