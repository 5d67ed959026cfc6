//! Reads and writes through a shared mapping of the file.

use crate::sync_io::{close, SyncIo};
use assay_core::{Buffers, Op, OpKind};
use assay_spec::{name_kinds, object_kinds, program_kinds};
use rustix::fd::OwnedFd;
use rustix::fs;
use rustix::io::{self, Errno};
use rustix::mm::{self, Advice, MapFlags, ProtFlags};
use std::cell::Cell;
use std::ffi::c_void;
use std::sync::{Arc, Once};

/// Handling of SIGBUS, which the kernel sends if it cannot provide a page of a mapping (no space, an I/O error, a file
/// cut short).
mod fault {
    use super::{c_void, Cell, MapFlags, Once, ProtFlags};
    use std::sync::atomic::{AtomicUsize, Ordering};

    /// Bytes of a page; set before the handler can run.
    static PAGE: AtomicUsize = AtomicUsize::new(4096);

    thread_local! {
        /// The mapping that this thread copies from or to: address and length.
        static WATCHED_RANGE: Cell<(usize, usize)> = const { Cell::new((0, 0)) };
        static FAULT_OCCURRED: Cell<bool> = const { Cell::new(false) };
    }

    /// From now on, note faults of this thread in this mapping instead of ending the process.
    pub(super) fn watch(address: usize, length: usize) {
        static INSTALL: Once = Once::new();
        INSTALL.call_once(install);
        WATCHED_RANGE.set((address, length));
    }

    /// Whether there was a fault since the last call.
    pub(super) fn take_fault() -> bool {
        FAULT_OCCURRED.replace(false)
    }

    fn install() {
        PAGE.store(rustix::param::page_size(), Ordering::Relaxed);
        // SAFETY: the action is zeroed and then filled as sigaction(2) says; the handler is async-signal-safe: it reads
        // and writes thread-locals without destructors and calls mmap, sigaction and nothing else.
        unsafe {
            let mut action: libc::sigaction = std::mem::zeroed();
            action.sa_sigaction = handle as *const () as usize;
            action.sa_flags = libc::SA_SIGINFO;
            libc::sigaction(libc::SIGBUS, &raw const action, std::ptr::null_mut());
        }
    }

    /// Map a page of zeros in place of the missing one, so that the copy can continue, and note it.
    extern "C" fn handle(_signal: libc::c_int, info: *mut libc::siginfo_t, _context: *mut c_void) {
        // SAFETY: the kernel passes a valid siginfo to a handler with SA_SIGINFO.
        let address = unsafe { (*info).si_addr() } as usize;
        let (start, length) = WATCHED_RANGE.get();
        let ours = address >= start && address < start + length;
        let bytes = PAGE.load(Ordering::Relaxed);
        let page = (address / bytes * bytes) as *mut c_void;
        let flags = MapFlags::PRIVATE | MapFlags::FIXED;
        // SAFETY: the page lies in a mapping of ours that this thread alone uses.
        let mended = ours
            && unsafe { super::mm::mmap_anonymous(page, bytes, ProtFlags::READ | ProtFlags::WRITE, flags) }.is_ok();
        if mended {
            FAULT_OCCURRED.set(true);
        } else {
            // SAFETY: restores the default; the instruction is tried again and ends the process as it would have.
            unsafe { libc::signal(libc::SIGBUS, libc::SIG_DFL) };
        }
    }
}

/// A file mapped into memory.
pub struct Mmap {
    fd: OwnedFd,
    base: *mut u8,
    length: usize,
    regular: bool,
    writable: bool,
    data_only: bool,
    buffers: Arc<Buffers>,
    /// A page of zeros could not be replaced by the file's: no result of this mapping is valid any more.
    broken: Cell<bool>,
}

impl Mmap {
    /// Map the first `length` bytes of a file, which is extended to that length if it is shorter and is written to.
    pub fn new(
        fd: OwnedFd,
        length: u64,
        writable: bool,
        random: bool,
        data_only: bool,
        buffers: Arc<Buffers>,
    ) -> io::Result<Self> {
        let stat = fs::fstat(&fd)?;
        let regular = fs::FileType::from_raw_mode(stat.st_mode) == fs::FileType::RegularFile;
        if writable && regular && (stat.st_size as u64) < length {
            fs::ftruncate(&fd, length)?;
        }
        let length = usize::try_from(length).map_err(|_| Errno::OVERFLOW)?;
        let protection = if writable { ProtFlags::READ | ProtFlags::WRITE } else { ProtFlags::READ };
        // SAFETY: a new mapping at an address of the kernel's choice touches nothing of ours.
        let base = unsafe { mm::mmap(std::ptr::null_mut(), length, protection, MapFlags::SHARED, &fd, 0)? };
        let advice = if random { Advice::Random } else { Advice::Normal };
        // SAFETY: advice on a mapping of ours changes no contents.
        let _ = unsafe { mm::madvise(base, length, advice) };
        fault::watch(base as usize, length);
        let broken = Cell::new(false);
        Ok(Mmap { fd, base: base.cast(), length, regular, writable, data_only, buffers, broken })
    }

    /// Execute the operation; returns bytes moved, or errno.
    pub fn execute(&self, op: &Op) -> Result<u32, i32> {
        if op.kind == OpKind::Sync {
            return self.flush();
        }
        let end = op.offset.checked_add(op.length);
        if end.is_none_or(|end| end > self.length as u64) {
            return Ok(0);
        }
        let slot = self.buffers.pointer(op.slot);
        // SAFETY: inside the mapping by the check above, and the slot has as many bytes and belongs to this operation.
        unsafe {
            let place = self.base.add(op.offset as usize);
            match op.kind {
                OpKind::Read => std::ptr::copy_nonoverlapping(place, slot, op.length as usize),
                OpKind::Write => std::ptr::copy_nonoverlapping(slot, place, op.length as usize),
                OpKind::Sync | name_kinds!() | object_kinds!() | program_kinds!() => return Err(libc::EINVAL),
            }
        }
        if fault::take_fault() || self.broken.get() {
            return self.mend(op).map_err(Errno::raw_os_error);
        }
        Ok(op.length as u32)
    }

    /// Map the file again in place of pages of zeros; returns the bytes that the file has there, or the probable errno,
    /// which the kernel does not report.
    fn mend(&self, op: &Op) -> io::Result<u32> {
        if self.broken.get() {
            return Err(Errno::IO);
        }
        let page = rustix::param::page_size();
        let first = op.offset as usize / page * page;
        let length = op.offset as usize + op.length as usize - first;
        let protection = if self.writable { ProtFlags::READ | ProtFlags::WRITE } else { ProtFlags::READ };
        // SAFETY: replaces pages of our own mapping by the same pages of the file.
        let mapped = unsafe {
            let place = self.base.add(first).cast();
            mm::mmap(place, length, protection, MapFlags::SHARED | MapFlags::FIXED, &self.fd, first as u64)
        };
        mapped.inspect_err(|_| self.broken.set(true))?;
        let end = fs::fstat(&self.fd)?.st_size as u64;
        // A device has no size of that kind.
        if self.regular && end < op.offset + op.length && op.kind == OpKind::Read {
            return Ok(end.saturating_sub(op.offset) as u32);
        }
        let full = fs::fstatvfs(&self.fd).is_ok_and(|space| space.f_bavail == 0);
        Err(if full && op.kind == OpKind::Write { Errno::NOSPC } else { Errno::IO })
    }

    fn flush(&self) -> Result<u32, i32> {
        // Not rustix's msync: on the C library it returns -1 as the errno.
        // SAFETY: the mapping is valid and belongs to `self`.
        if unsafe { libc::msync(self.base.cast(), self.length, libc::MS_SYNC) } != 0 {
            return Err(std::io::Error::last_os_error().raw_os_error().unwrap_or(libc::EIO));
        }
        SyncIo::flush(&self.fd, self.data_only)
    }

    /// Unmap and close the file.
    pub fn close(self) -> io::Result<()> {
        fault::watch(0, 0);
        // SAFETY: the mapping is ours and nobody uses it any more.
        unsafe { mm::munmap(self.base.cast(), self.length)? };
        close(self.fd)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::test_folder::{buffers, fill_slot, op, slot_bytes, TestFolder};

    const PAGE: usize = 4096;

    fn mapped(test_folder: &TestFolder, contents: &[u8], length: u64, writable: bool) -> (Mmap, Arc<Buffers>) {
        let buffers = buffers(1, PAGE);
        let fd = test_folder.file("f0", contents);
        (Mmap::new(fd, length, writable, false, true, Arc::clone(&buffers)).unwrap(), buffers)
    }

    #[test]
    fn a_mapping_is_the_file() {
        let test_folder = TestFolder::new("mmap");
        let (mapping, buffers) = mapped(&test_folder, b"old", 2 * PAGE as u64, true);
        fill_slot(&buffers, 0, 7);
        assert_eq!(mapping.execute(&op(OpKind::Write, 0, 100, 50)), Ok(50));
        assert_eq!(mapping.execute(&op(OpKind::Sync, 0, 0, 0)), Ok(0));
        fill_slot(&buffers, 0, 0);
        assert_eq!(mapping.execute(&op(OpKind::Read, 0, 99, 52)), Ok(52));
        assert_eq!(slot_bytes(&buffers, 0, 52), [&[0][..], &[7; 50], &[0]].concat());
        mapping.close().unwrap();
        let found = std::fs::read(test_folder.at("f0")).unwrap();
        assert_eq!((found.len(), &found[..3], &found[149..151]), (2 * PAGE, &b"old"[..], &[7, 0][..]));
    }

    #[test]
    fn reads_beyond_a_mapping_are_empty() {
        let test_folder = TestFolder::new("mmap-beyond");
        let (mapping, _) = mapped(&test_folder, &[1; PAGE], PAGE as u64, false);
        assert_eq!(mapping.execute(&op(OpKind::Read, 0, 0, PAGE as u64)), Ok(PAGE as u32));
        for (offset, length) in [(1, PAGE as u64), (PAGE as u64, 1), (u64::MAX, 1), (u64::MAX, u64::MAX)] {
            assert_eq!(mapping.execute(&op(OpKind::Read, 0, offset, length)), Ok(0), "{offset}");
        }
        assert_eq!(mapping.execute(&op(OpKind::Stat, 0, 0, 0)), Err(libc::EINVAL));
    }

    /// The kernel sends a signal then, which must not end the process.
    #[test]
    fn a_file_that_was_cut_short_is_a_short_read_and_no_end() {
        let test_folder = TestFolder::new("mmap-cut");
        let (mapping, buffers) = mapped(&test_folder, &[5; 3 * PAGE], 3 * PAGE as u64, true);
        std::fs::OpenOptions::new().write(true).open(test_folder.at("f0")).unwrap().set_len(PAGE as u64 + 100).unwrap();
        let page = |number: usize| (number * PAGE) as u64;
        assert_eq!(mapping.execute(&op(OpKind::Read, 0, page(0), PAGE as u64)), Ok(PAGE as u32));
        assert_eq!(mapping.execute(&op(OpKind::Read, 0, page(2), PAGE as u64)), Ok(0));
        assert_eq!(mapping.execute(&op(OpKind::Write, 0, page(2), PAGE as u64)), Err(libc::EIO));
        // Restored data is read again: no page of zeros remains.
        std::fs::write(test_folder.at("f0"), [6; 3 * PAGE]).unwrap();
        assert_eq!(mapping.execute(&op(OpKind::Read, 0, page(2), PAGE as u64)), Ok(PAGE as u32));
        assert_eq!(slot_bytes(&buffers, 0, PAGE), [6; PAGE]);
        mapping.close().unwrap();
    }
}
