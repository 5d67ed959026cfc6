//! pread and pwrite.

use assay_core::{Buffers, Fault, Op, OpKind};
use assay_spec::{name_kinds, object_kinds, program_kinds};
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
    /// Use an open file; with `data_only` a flush is fdatasync(2).
    pub fn new(fd: OwnedFd, data_only: bool, buffers: Arc<Buffers>) -> Self {
        SyncIo { fd, data_only, buffers }
    }

    /// Close the file; some file systems report a failed write only now.
    pub fn close(self) -> io::Result<()> {
        close(self.fd)
    }

    /// Execute the operation; returns bytes moved, or a fault.
    #[inline(always)]
    pub fn execute(&self, op: &Op) -> Result<u64, Fault> {
        let number = match op.kind {
            OpKind::Read => libc::SYS_pread64,
            OpKind::Write => libc::SYS_pwrite64,
            OpKind::Sync => return Self::flush(&self.fd, self.data_only).map(u64::from).map_err(Fault::os),
            name_kinds!() | object_kinds!() | program_kinds!() => return Err(Fault::os(libc::EINVAL)),
        };
        assert!(op.length as usize <= self.buffers.length());
        let data = self.buffers.pointer(op.slot);
        // SAFETY: the slot has that many bytes, and belongs to this operation until its completion.
        let moved = unsafe { transfer(number, self.fd.as_raw_fd(), data, op.length as usize, op.offset) };
        // EINTR comes from the storage, and is a result: after signals to this process the kernel restarts the call.
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

/// pread64 or pwrite64; returns bytes moved, or the negative errno.
///
/// Not pread(3): in a process of several threads it prepares for cancellation in each call, with locked instructions,
/// and is reached by a jump that is mispredicted after most system calls. Convention: syscall(2), table of registers.
///
/// # Safety
/// `data` must be valid for `length` bytes, and nothing else may use them.
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::test_folder::{buffers, fill_slot, op, slot_bytes, TestFolder};

    #[test]
    fn bytes_go_where_they_belong_and_ends_are_short() {
        let test_folder = TestFolder::new("sync");
        let buffers = buffers(2, 512);
        let file = SyncIo::new(test_folder.file("f0", b""), true, Arc::clone(&buffers));
        fill_slot(&buffers, 1, 9);
        assert_eq!(file.execute(&op(OpKind::Write, 1, 1000, 300)), Ok(300));
        for (offset, length, there) in [(0, 512, 512), (900, 512, 400), (1299, 512, 1), (1300, 512, 0), (1000, 0, 0)] {
            assert_eq!(file.execute(&op(OpKind::Read, 0, offset, length)), Ok(there), "at {offset}");
        }
        assert_eq!(file.execute(&op(OpKind::Read, 0, 999, 2)), Ok(2));
        assert_eq!(slot_bytes(&buffers, 0, 2), [0, 9]);
        assert_eq!(file.execute(&op(OpKind::Sync, 0, 0, 0)), Ok(0));
        assert_eq!(file.execute(&op(OpKind::Stat, 0, 0, 0)), Err(Fault::os(libc::EINVAL)));
        assert_eq!(file.execute(&op(OpKind::Read, 0, 1 << 63, 1)), Err(Fault::os(libc::EINVAL)));
        file.close().unwrap();
    }

    #[test]
    fn a_full_device_is_a_fault() {
        let Ok(full) = std::fs::OpenOptions::new().write(true).open("/dev/full") else { return };
        let file = SyncIo::new(full.into(), false, buffers(1, 512));
        assert_eq!(file.execute(&op(OpKind::Write, 0, 0, 512)), Err(Fault::os(libc::ENOSPC)));
        assert_eq!(file.execute(&op(OpKind::Read, 0, 0, 512)), Err(Fault::os(libc::EBADF)), "opened for writing");
    }
}
