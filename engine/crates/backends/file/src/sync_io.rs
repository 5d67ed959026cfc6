//! pread and pwrite.

use assay_core::{Buffers, Op, OpKind};
use rustix::fd::{IntoRawFd, OwnedFd};
use rustix::{fs, io};
use std::sync::Arc;

/// close(2) with its result.
pub(crate) fn close(fd: OwnedFd) -> io::Result<()> {
    // SAFETY: the descriptor is ours and is not used afterwards.
    match unsafe { libc::close(fd.into_raw_fd()) } {
        0 => Ok(()),
        _ => Err(io::Errno::from_io_error(&std::io::Error::last_os_error()).unwrap_or(io::Errno::IO)),
    }
}

pub(crate) struct SyncIo {
    fd: OwnedFd,
    data_only: bool,
    buffers: Arc<Buffers>,
}

impl SyncIo {
    pub(crate) fn new(fd: OwnedFd, data_only: bool, buffers: Arc<Buffers>) -> Self {
        SyncIo { fd, data_only, buffers }
    }

    /// Closes the file; some file systems report a failed write only now.
    pub(crate) fn close(self) -> io::Result<()> {
        close(self.fd)
    }

    /// Does the operation; bytes moved, or errno.
    pub(crate) fn execute(&self, op: &Op) -> Result<u32, i32> {
        loop {
            match self.call(op) {
                // A signal came before anything was done: nothing has happened yet, so this is still the first try.
                Err(io::Errno::INTR) => {}
                done => return done.map(|bytes| bytes as u32).map_err(io::Errno::raw_os_error),
            }
        }
    }

    fn call(&self, op: &Op) -> io::Result<usize> {
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
