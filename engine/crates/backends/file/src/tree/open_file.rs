//! The open file of a lane in a tree, in a phase on the data of files.

use crate::tree::calls::{checked, sync_flags};
use assay_core::{Buffers, Fault, Op, PhasePlan};
use assay_posix::SyncIo;
use assay_spec::{Group, SyncPolicy};
use libc::{c_char, c_int};
use rustix::fd::{FromRawFd, OwnedFd, RawFd};
use std::sync::Arc;

/// How a file is opened.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Access {
    /// As the phase's operation needs.
    Phase,
    /// For reading only.
    Reading,
    /// By creating it.
    Making,
}

/// The open file, if there is one, and the flags for opening files.
pub(crate) struct OpenFile {
    file: Option<SyncIo>,
    flags: c_int,
    /// A flush is fdatasync(2).
    data_only: bool,
    buffers: Arc<Buffers>,
}

impl OpenFile {
    /// The state for a phase; none if the phase is not on the data of files.
    pub(crate) fn new(plan: &PhasePlan, buffers: &Arc<Buffers>) -> Option<Self> {
        if plan.operation.group() != Some(Group::Data) {
            return None;
        }
        let access = match (plan.operation.reads(), plan.operation.writes()) {
            (true, false) => libc::O_RDONLY,
            (false, true) => libc::O_WRONLY,
            _ => libc::O_RDWR,
        };
        let anew = if plan.operation.creates() { libc::O_CREAT | libc::O_TRUNC } else { 0 };
        let direct = if plan.direct { libc::O_DIRECT } else { 0 };
        // A link in a name's place is not followed, and a pipe does not block the lane.
        let inside = libc::O_NOFOLLOW | libc::O_NONBLOCK | libc::O_CLOEXEC;
        Some(OpenFile {
            file: None,
            flags: access | anew | direct | inside | sync_flags(plan),
            data_only: plan.sync == SyncPolicy::Fdatasync,
            buffers: Arc::clone(buffers),
        })
    }

    /// Opens a file of the directory `base`, and keeps it open.
    pub(crate) fn open(
        &mut self,
        base: RawFd,
        name: *const c_char,
        how: Access,
        mode: libc::mode_t,
    ) -> Result<u64, Fault> {
        let flags = match how {
            Access::Phase => self.flags,
            Access::Reading => self.flags & !libc::O_ACCMODE | libc::O_RDONLY,
            Access::Making => self.flags | libc::O_CREAT | libc::O_EXCL,
        };
        // SAFETY: the name is a C string, and the call takes these four arguments.
        let fd = checked(unsafe { libc::syscall(libc::SYS_openat, base, name, flags, mode) as c_int });
        let fd = fd.map_err(Fault::os)? as RawFd;
        // SAFETY: it was opened just now, and nothing else uses it.
        self.file = Some(SyncIo::new(unsafe { OwnedFd::from_raw_fd(fd) }, self.data_only, Arc::clone(&self.buffers)));
        Ok(0)
    }

    /// Reads, writes or flushes the open file.
    #[inline]
    pub(crate) fn execute(&self, op: &Op) -> Result<u64, Fault> {
        self.file.as_ref().map_or(Err(Fault::os(libc::EBADF)), |file| file.execute(op))
    }

    /// Whether a file is open.
    pub(crate) fn is_open(&self) -> bool {
        self.file.is_some()
    }

    /// Closes the file; some file systems report a failed write only now.
    pub(crate) fn close(&mut self) -> Result<u64, Fault> {
        let file = self.file.take().ok_or(Fault::os(libc::EBADF))?;
        file.close().map(|()| 0).map_err(|errno| Fault::os(errno.raw_os_error()))
    }
}
