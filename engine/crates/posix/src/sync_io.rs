//! pread and pwrite.

use assay_core::{Buffers, Fault, Op, OpKind};
use assay_spec::{name_kinds, object_kinds};
use rustix::fd::{AsRawFd, IntoRawFd, OwnedFd};
use rustix::io::Errno;
use rustix::{fs, io};
use std::sync::Arc;

/// close(2) with its result.
pub fn close(fd: OwnedFd) -> io::Result<()> {
    // SAFETY: the descriptor is ours and is not used afterwards.
    match unsafe { libc::close(fd.into_raw_fd()) } {
        0 => Ok(()),
        _ => Err(io::Errno::from_io_error(&std::io::Error::last_os_error()).unwrap_or(io::Errno::IO)),
    }
}

/// An open file, for pread, pwrite and flushes.
pub struct SyncIo {
    fd: OwnedFd,
    data_only: bool,
    buffers: Arc<Buffers>,
}

impl SyncIo {
    /// Takes the file; `data_only` says that a flush is fdatasync(2).
    pub fn new(fd: OwnedFd, data_only: bool, buffers: Arc<Buffers>) -> Self {
        SyncIo { fd, data_only, buffers }
    }

    /// Closes the file; some file systems report a failed write only now.
    pub fn close(self) -> io::Result<()> {
        close(self.fd)
    }

    /// Does the operation; bytes moved, or errno.
    #[inline(always)]
    pub fn execute(&self, op: &Op) -> Result<u64, Fault> {
        let number = match op.kind {
            OpKind::Read => libc::SYS_pread64,
            OpKind::Write => libc::SYS_pwrite64,
            OpKind::Sync => return Self::flush(&self.fd, self.data_only).map(u64::from).map_err(Fault::os),
            name_kinds!() | object_kinds!() => return Err(Fault::os(libc::EINVAL)),
        };
        assert!(op.length as usize <= self.buffers.length());
        let data = self.buffers.pointer(op.slot);
        // SAFETY: the slot has that many bytes, and belongs to this operation until its completion.
        let moved = unsafe { transfer(number, self.fd.as_raw_fd(), data, op.length as usize, op.offset) };
        // EINTR is the storage's own answer, and a result: after this process's signals the kernel restarts the call.
        if moved >= 0 {
            Ok(moved as u64)
        } else {
            Err(Fault::os(-moved as i32))
        }
    }

    /// fsync(2) or fdatasync(2).
    #[cold]
    pub fn flush(fd: &OwnedFd, data_only: bool) -> Result<u32, i32> {
        let flushed = if data_only { fs::fdatasync(fd) } else { fs::fsync(fd) };
        flushed.map(|()| 0).map_err(Errno::raw_os_error)
    }
}

/// pread64 or pwrite64; bytes moved, or the negative errno.
///
/// Not pread(3): in a process of several threads it prepares for cancellation each time, with locked instructions, and
/// is reached by a jump that is mispredicted after most system calls. Convention: syscall(2), table of registers.
///
/// # Safety
/// `data` must be valid for `length` bytes, and nobody else may use them.
#[cfg(target_arch = "x86_64")]
#[inline(always)]
unsafe fn transfer(number: libc::c_long, fd: i32, data: *mut u8, length: usize, offset: u64) -> i64 {
    let moved;
    // SAFETY: the kernel changes only rax, rcx, r11 and the memory that the caller has granted.
    unsafe {
        std::arch::asm!(
            "syscall",
            inlateout("rax") number => moved,
            in("rdi") i64::from(fd),
            in("rsi") data,
            in("rdx") length,
            in("r10") offset,
            lateout("rcx") _,
            lateout("r11") _,
            options(nostack),
        );
    }
    moved
}

#[cfg(not(target_arch = "x86_64"))]
unsafe fn transfer(number: libc::c_long, fd: i32, data: *mut u8, length: usize, offset: u64) -> i64 {
    // SAFETY: the caller's promise.
    let moved = unsafe { libc::syscall(number, fd, data, length, offset) };
    if moved >= 0 {
        return moved;
    }
    -i64::from(std::io::Error::last_os_error().raw_os_error().unwrap_or(libc::EIO))
}
