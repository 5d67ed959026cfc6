//! pread and pwrite: one operation at a time, done when it is reaped.

use assay_core::{Buffers, Completion, Op, OpKind};
use rustix::fd::OwnedFd;
use rustix::{fs, io};
use std::sync::Arc;

pub(crate) struct SyncIo {
    fd: OwnedFd,
    data_only: bool,
    buffers: Arc<Buffers>,
    waiting: Option<Op>,
}

impl SyncIo {
    pub(crate) fn new(fd: OwnedFd, data_only: bool, buffers: Arc<Buffers>) -> Self {
        SyncIo { fd, data_only, buffers, waiting: None }
    }

    pub(crate) fn submit(&mut self, ops: &[Op]) -> usize {
        match ops.first() {
            Some(op) if self.waiting.is_none() => {
                self.waiting = Some(*op);
                1
            }
            _ => 0,
        }
    }

    pub(crate) fn reap(&mut self, done: &mut Vec<Completion>) {
        let Some(op) = self.waiting.take() else {
            return;
        };
        let result = loop {
            match self.execute(&op) {
                // A signal came before anything was done: nothing has happened yet, so this is still the first try.
                Err(io::Errno::INTR) => {}
                other => break other,
            }
        };
        let result = result.map(|bytes| bytes as u32).map_err(io::Errno::raw_os_error);
        done.push(Completion { slot: op.slot, result });
    }

    fn execute(&self, op: &Op) -> io::Result<usize> {
        match op.kind {
            OpKind::Sync if self.data_only => fs::fdatasync(&self.fd).map(|()| 0),
            OpKind::Sync => fs::fsync(&self.fd).map(|()| 0),
            // SAFETY: the slot belongs to this operation until its completion.
            OpKind::Read => unsafe { io::pread(&self.fd, self.buffers.slice(op.slot, op.length as usize), op.offset) },
            // SAFETY: as above.
            OpKind::Write => unsafe {
                io::pwrite(&self.fd, self.buffers.slice(op.slot, op.length as usize), op.offset)
            },
        }
    }
}
