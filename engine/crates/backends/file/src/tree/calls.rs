//! Operations on the names of a tree by plain system calls, one at a time.

use crate::tree::open_file::{Access, OpenFile};
use crate::tree::JobTree;
use assay_core::names::Names;
use assay_core::{Buffers, Fault, LaneSetup, Op, OpKind, PhasePlan, SetupError, Source, OPEN_TO_READ};
use assay_spec::{name_kinds, object_kinds, program_kinds};
use assay_spec::{Operation, SyncPolicy};
use libc::{c_char, c_int, mode_t};
use rustix::fd::{AsRawFd, OwnedFd, RawFd};
use rustix::fs::{self, OFlags, RawDir};
use rustix::io::Errno;
use rustix::process;
use std::ops::Range;
use std::sync::Arc;

/// Mode of new files: accessible to the owner only.
pub(crate) const FILE_MODE: mode_t = 0o600;
/// Mode of new directories.
pub(crate) const DIRECTORY_MODE: mode_t = 0o700;
/// Flags for opening: a link in a name's place is not followed, and a pipe does not block the lane.
pub(crate) const OPEN: c_int = libc::O_RDONLY | libc::O_NOFOLLOW | libc::O_NONBLOCK;
/// Bytes for the entries that are listed at once.
const ENTRIES_BYTES: usize = 32 << 10;

/// Flags that make each write stable, if the phase wants that.
pub(crate) fn sync_flags(plan: &PhasePlan) -> c_int {
    match plan.sync {
        SyncPolicy::OSync => libc::O_SYNC,
        SyncPolicy::ODsync => libc::O_DSYNC,
        _ => 0,
    }
}

/// Flags for opening new files.
pub(crate) fn create_flags(plan: &PhasePlan) -> c_int {
    let anew = if plan.overwrite { libc::O_TRUNC } else { libc::O_EXCL };
    libc::O_CREAT | anew | libc::O_WRONLY | libc::O_NOFOLLOW | sync_flags(plan)
}

/// The size that statx(2) has found. A size too large for a result cannot be a small file's size either.
pub(crate) fn size(found: &libc::statx) -> u32 {
    u32::try_from(found.stx_size).unwrap_or(u32::MAX)
}

/// Writes everything below the job's directory to stable storage. For what one lane has made there is only syncfs(2),
/// which flushes the whole file system, names included.
pub(crate) fn flush(job_folder: &OwnedFd) -> Result<u32, i32> {
    fs::syncfs(job_folder).map(|()| 0).map_err(Errno::raw_os_error)
}

/// A lane's names in one phase.
pub(crate) struct Calls {
    job_tree: Arc<JobTree>,
    lane: u32,
    buffers: Arc<Buffers>,
    job_folder: OwnedFd,
    /// The leaf of the last operation, and the numbers of its names.
    leaf: OwnedFd,
    leaf_names: Range<u64>,
    /// The base of names: the leaf, by its descriptor or as the thread's working directory.
    base: RawFd,
    /// The thread has a working directory of its own.
    has_own_directory: bool,
    names: Names,
    create: c_int,
    /// The attributes of the last file.
    found: Box<libc::statx>,
    /// Buffer for entries; empty unless directories are listed.
    entries: Vec<u8>,
    path: Vec<u8>,
    /// The open file; none in a phase that is not on the data of files.
    open_file: Option<OpenFile>,
    /// The source of contents longer than a slot; none if there are no such contents.
    source: Option<Arc<dyn Source>>,
    /// A flush covers everything. Otherwise what is written to a file is flushed before it is closed.
    flushes_all: bool,
}

impl Calls {
    /// Opens the first leaf.
    pub(crate) fn open(job_tree: Arc<JobTree>, setup: &LaneSetup, plan: &PhasePlan) -> Result<Self, SetupError> {
        let (lane, buffers) = (plan.owners.of(setup.lane), Arc::clone(&setup.buffers));
        let job_folder = job_tree.job_folder(lane)?;
        let (leaf, leaf_names) = job_tree.first_leaf(&job_folder, lane)?;
        let entries = if plan.operation == Operation::Readdir { ENTRIES_BYTES } else { 0 };
        let mut calls = Calls {
            names: Names::new(lane, plan),
            create: create_flags(plan) | libc::O_CLOEXEC,
            // SAFETY: all-zero is a valid statx, which has nothing but integers.
            found: Box::new(unsafe { std::mem::zeroed() }),
            entries: Vec::with_capacity(entries),
            open_file: OpenFile::new(plan, &buffers),
            source: setup.source.clone(),
            flushes_all: plan.operation.creates() || plan.sync == SyncPolicy::None,
            job_tree,
            lane,
            buffers,
            job_folder,
            base: leaf.as_raw_fd(),
            // SAFETY: the call touches no memory.
            has_own_directory: unsafe { libc::unshare(libc::CLONE_FS) } == 0,
            leaf,
            leaf_names,
            path: Vec::new(),
        };
        calls.use_leaf_as_base();
        Ok(calls)
    }

    /// Executes the operation; returns the completion's result, or a fault.
    #[inline]
    pub(crate) fn execute(&mut self, op: &Op) -> Result<u64, Fault> {
        if let Some(current) = &mut self.open_file {
            match op.kind {
                OpKind::Read | OpKind::Write => return current.execute(op),
                OpKind::Sync if current.is_open() => return current.execute(op),
                // What was written to earlier files was flushed when each was closed.
                OpKind::Sync if !self.flushes_all => return Ok(0),
                OpKind::Close => return current.close(),
                OpKind::Sync | name_kinds!() | object_kinds!() | program_kinds!() => {}
            }
        }
        if let (OpKind::Open | OpKind::Create, true) = (op.kind, self.open_file.is_some()) {
            return self.open_current(op);
        }
        if op.kind == OpKind::Create {
            return self.create(op).map_err(Fault::os);
        }
        self.execute_by_name(op).map(u64::from).map_err(Fault::os)
    }

    /// Closes the file that an interrupted phase has left open.
    pub(crate) fn close(&mut self) -> Result<(), Fault> {
        match &mut self.open_file {
            Some(current) if current.is_open() => current.close().map(drop),
            _ => Ok(()),
        }
    }

    /// Opens or creates a file of the lane, and keeps it open.
    fn open_current(&mut self, op: &Op) -> Result<u64, Fault> {
        self.enter_leaf_of(op.object).map_err(Fault::os)?;
        let (base, name) = (self.base, self.names.current.as_ptr());
        let current = self.open_file.as_mut().ok_or(Fault::os(libc::EBADF))?;
        let how = if op.kind == OpKind::Create {
            Access::Making
        } else if op.offset == OPEN_TO_READ {
            Access::Reading
        } else {
            Access::Phase
        };
        current.open(base, name, how, FILE_MODE)
    }

    /// Sets the current name, and changes to the leaf that holds it.
    #[inline]
    fn enter_leaf_of(&mut self, number: u64) -> Result<(), i32> {
        if !self.leaf_names.contains(&number) {
            self.change_leaf(number)?;
        }
        self.names.current.set(number);
        Ok(())
    }

    /// Executes an operation on one name, a flush, or a listing.
    #[inline]
    fn execute_by_name(&mut self, op: &Op) -> Result<u32, i32> {
        if op.kind == OpKind::Sync {
            return flush(&self.job_folder);
        }
        if op.kind == OpKind::Readdir {
            return self.list(op.object);
        }
        self.enter_leaf_of(op.object)?;
        self.execute_on_name(op)
    }

    /// Opens the leaf that holds the name.
    #[cold]
    fn change_leaf(&mut self, number: u64) -> Result<(), i32> {
        let opened = self.job_tree.leaf_of(&self.job_folder, self.lane, number, &mut self.path);
        (self.leaf, self.leaf_names) = opened.map_err(Errno::raw_os_error)?;
        self.use_leaf_as_base();
        Ok(())
    }

    /// Makes the leaf the working directory: names are found from there 5 % faster than by a descriptor, which the
    /// kernel must look up and hold each time. A thread without a working directory of its own uses the descriptor.
    fn use_leaf_as_base(&mut self) {
        let moved = self.has_own_directory && process::fchdir(&self.leaf).is_ok();
        self.base = if moved { libc::AT_FDCWD } else { self.leaf.as_raw_fd() };
    }

    #[inline]
    fn execute_on_name(&mut self, op: &Op) -> Result<u32, i32> {
        let (base, name) = (self.base, self.names.current.as_ptr());
        match op.kind {
            OpKind::Stat => self.stat(),
            OpKind::Open => open(base, name, OPEN | libc::O_CLOEXEC).and_then(close),
            OpKind::Rename => {
                self.names.other.set(op.object);
                let other = self.names.other.as_ptr();
                // SAFETY: both names are C strings.
                checked(unsafe { libc::renameat(base, name, base, other) })
            }
            // SAFETY: the name is a C string.
            OpKind::Unlink => checked(unsafe { libc::unlinkat(base, name, 0) }),
            // SAFETY: as above.
            OpKind::Mkdir => checked(unsafe { libc::mkdirat(base, name, DIRECTORY_MODE) }),
            // SAFETY: as above.
            OpKind::Rmdir => checked(unsafe { libc::unlinkat(base, name, libc::AT_REMOVEDIR) }),
            OpKind::Read => self.read(op),
            OpKind::Readdir
            | OpKind::Create
            | OpKind::Write
            | OpKind::Close
            | OpKind::Sync
            | object_kinds!()
            | program_kinds!() => {
                debug_assert!(false, "no file is open in this phase");
                Err(libc::EINVAL)
            }
        }
    }

    #[inline]
    fn create(&mut self, op: &Op) -> Result<u64, i32> {
        self.enter_leaf_of(op.object)?;
        let fd = open(self.base, self.names.current.as_ptr(), self.create)?;
        if op.length == 0 {
            return close(fd).map(u64::from);
        }
        let written = if op.length <= self.buffers.length() as u64 {
            self.write_slot(fd, op.slot, op.length as usize, 0)
        } else {
            self.write_pieces(fd, op)
        };
        let closed = close(fd);
        written.and_then(|bytes| closed.map(|_| bytes))
    }

    /// Writes the bytes of a slot.
    #[inline]
    fn write_slot(&self, fd: RawFd, slot: u32, length: usize, offset: u64) -> Result<u64, i32> {
        let data = self.buffers.pointer(slot).cast();
        // SAFETY: the slot has as many bytes, and belongs to this operation until its completion.
        let written = unsafe { libc::pwrite64(fd, data, length, offset as i64) };
        u64::try_from(written).map_err(|_| last_errno())
    }

    /// Writes contents longer than a slot, generated in it piece by piece; stops after a short write.
    #[cold]
    fn write_pieces(&self, fd: RawFd, op: &Op) -> Result<u64, i32> {
        let source = self.source.as_ref().ok_or(libc::EINVAL)?;
        let mut at = 0;
        while at < op.length {
            let length = (op.length - at).min(self.buffers.length() as u64);
            // SAFETY: the slot belongs to this operation until its completion, and nothing else uses it meanwhile.
            let piece = unsafe { self.buffers.slice(op.slot, length as usize) };
            source.fill_slot((op.slot, 0), op.object, at, piece);
            let written = self.write_slot(fd, op.slot, length as usize, at)?;
            at += written;
            if written < length {
                break;
            }
        }
        Ok(at)
    }

    /// Opens a file, reads what fits into the slot, and closes it.
    fn read(&self, op: &Op) -> Result<u32, i32> {
        let fd = open(self.base, self.names.current.as_ptr(), OPEN | libc::O_CLOEXEC)?;
        let (data, length) = (self.buffers.pointer(op.slot).cast(), op.length as usize);
        // SAFETY: the slot has as many bytes, and belongs to this operation until its completion.
        let read = checked(unsafe { libc::pread(fd, data, length, 0) as c_int });
        let closed = close(fd);
        read.and_then(|bytes| closed.map(|_| bytes))
    }

    #[inline]
    fn stat(&mut self) -> Result<u32, i32> {
        let (base, name, found) = (self.base, self.names.current.as_ptr(), &raw mut *self.found);
        // SAFETY: the name is a C string, and the answer is written to a statx that is ours.
        checked(unsafe { libc::statx(base, name, libc::AT_SYMLINK_NOFOLLOW, libc::STATX_BASIC_STATS, found) })?;
        Ok(size(&self.found))
    }

    /// Opens a leaf and lists it, as a program would that has not opened it before.
    fn list(&mut self, leaf: u64) -> Result<u32, i32> {
        let opened = self.job_tree.open_leaf(&self.job_folder, self.lane, leaf, OFlags::RDONLY, &mut self.path);
        let listed = opened.map_err(Errno::raw_os_error)?;
        let mut entries = RawDir::new(&listed, self.entries.spare_capacity_mut());
        let mut count = 0;
        while let Some(entry) = entries.next() {
            match entry {
                Ok(entry) if [c".", c".."].contains(&entry.file_name()) => {}
                Ok(_) => count += 1,
                Err(errno) => return Err(errno.raw_os_error()),
            }
        }
        Ok(count)
    }
}

impl Drop for Calls {
    fn drop(&mut self) {
        if self.has_own_directory {
            // The thread must not keep the leaf busy.
            let _ = process::chdir("/");
        }
    }
}

/// openat(2), not through the C library: there it is a cancellation point of threads, which costs four locked
/// instructions for each file that is opened and closed.
#[inline]
fn open(base: RawFd, name: *const c_char, flags: c_int) -> Result<RawFd, i32> {
    // SAFETY: the name is a C string, and the call takes these four arguments.
    checked(unsafe { libc::syscall(libc::SYS_openat, base, name, flags, FILE_MODE) as c_int }).map(|fd| fd as RawFd)
}

/// close(2), not through the C library either. The file is closed even on failure: there is no second attempt.
#[inline]
fn close(fd: RawFd) -> Result<u32, i32> {
    // SAFETY: the descriptor was opened for this operation, and nothing else uses it.
    match unsafe { libc::syscall(libc::SYS_close, fd) } {
        0 => Ok(0),
        _ => Err(last_errno()),
    }
}

/// The result of a system call, or errno; EINTR counts as the storage's own answer (see `SyncIo::execute`).
#[inline]
pub(crate) fn checked(code: c_int) -> Result<u32, i32> {
    if code >= 0 {
        Ok(code as u32)
    } else {
        Err(last_errno())
    }
}

fn last_errno() -> i32 {
    std::io::Error::last_os_error().raw_os_error().unwrap_or(libc::EIO)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::test_dir::plan;

    #[test]
    fn new_files_are_new_unless_they_are_made_over() {
        let flags = |overwrite, sync| create_flags(&PhasePlan { overwrite, sync, ..plan(Operation::Create) });
        let always = libc::O_CREAT | libc::O_WRONLY | libc::O_NOFOLLOW;
        assert_eq!(flags(false, SyncPolicy::None), always | libc::O_EXCL);
        assert_eq!(flags(true, SyncPolicy::Fsync), always | libc::O_TRUNC);
        assert_eq!(flags(false, SyncPolicy::OSync), always | libc::O_EXCL | libc::O_SYNC);
        assert_eq!(flags(false, SyncPolicy::ODsync), always | libc::O_EXCL | libc::O_DSYNC);
    }

    /// A size of 4 GiB or more is not that of a small file, and must not be cut to its lower bits.
    #[test]
    fn sizes_that_are_too_large_stay_large() {
        for (size_found, want) in [(0, 0), (7, 7), (u64::from(u32::MAX), u32::MAX), (1 << 32, u32::MAX)] {
            // SAFETY: all-zero is a valid statx.
            let mut found: libc::statx = unsafe { std::mem::zeroed() };
            found.stx_size = size_found;
            assert_eq!(size(&found), want);
        }
    }
}
