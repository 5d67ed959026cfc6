//! Operations on the names of a tree by plain system calls, one at a time.

use crate::tree::current::{Access, Current};
use crate::tree::Forest;
use assay_core::names::Names;
use assay_core::{Buffers, Fault, LaneSetup, Op, OpKind, PhasePlan, SetupError, Source, OPEN_TO_READ};
use assay_spec::{name_kinds, object_kinds};
use assay_spec::{Operation, SyncPolicy};
use libc::{c_char, c_int, mode_t};
use rustix::fd::{AsRawFd, OwnedFd, RawFd};
use rustix::fs::{self, OFlags, RawDir};
use rustix::io::Errno;
use rustix::process;
use std::ops::Range;
use std::sync::Arc;

/// Mode of new files: the owner's alone.
pub(crate) const FILE_MODE: mode_t = 0o600;
/// Mode of new directories.
pub(crate) const DIRECTORY_MODE: mode_t = 0o700;
/// A link in a name's place is not followed, and a pipe does not keep the lane waiting.
pub(crate) const OPEN: c_int = libc::O_RDONLY | libc::O_NOFOLLOW | libc::O_NONBLOCK;
/// Room for the entries that are listed at once.
const ENTRIES_BYTES: usize = 32 << 10;

/// Flags that make each write stable, if that is asked for.
pub(crate) fn sync_flags(plan: &PhasePlan) -> c_int {
    match plan.sync {
        SyncPolicy::OSync => libc::O_SYNC,
        SyncPolicy::ODsync => libc::O_DSYNC,
        _ => 0,
    }
}

/// Flags that new files are opened with.
pub(crate) fn create_flags(plan: &PhasePlan) -> c_int {
    let anew = if plan.overwrite { libc::O_TRUNC } else { libc::O_EXCL };
    libc::O_CREAT | anew | libc::O_WRONLY | libc::O_NOFOLLOW | sync_flags(plan)
}

/// The size that statx(2) has found; what is too large for a result cannot be a small file's size either.
pub(crate) fn size(found: &libc::statx) -> u32 {
    u32::try_from(found.stx_size).unwrap_or(u32::MAX)
}

/// Writes everything below the job's directory to stable storage. There is no call for what one lane has made but
/// syncfs(2), which flushes the whole file system, names included.
pub(crate) fn flush(folder: &OwnedFd) -> Result<u32, i32> {
    fs::syncfs(folder).map(|()| 0).map_err(Errno::raw_os_error)
}

/// A lane's names in one phase.
pub(crate) struct Calls {
    forest: Arc<Forest>,
    lane: u32,
    buffers: Arc<Buffers>,
    folder: OwnedFd,
    /// The leaf that the last operation was in, and the numbers of its names.
    leaf: OwnedFd,
    here: Range<u64>,
    /// What names are relative to: the leaf, by its descriptor or as the thread's working directory.
    base: RawFd,
    /// The thread has a working directory of its own.
    can_move: bool,
    names: Names,
    create: c_int,
    /// The last file's attributes.
    found: Box<libc::statx>,
    /// Room for entries; only where directories are listed.
    entries: Vec<u8>,
    path: Vec<u8>,
    /// The file that is open; none in a phase that is not on the data of files.
    current: Option<Current>,
    /// What is longer than a slot; none if nothing is.
    source: Option<Arc<dyn Source>>,
    /// A flush is of everything, though what is written to a file is flushed before it is closed.
    flushes_all: bool,
}

impl Calls {
    /// Opens the first leaf.
    pub(crate) fn open(forest: Arc<Forest>, setup: &LaneSetup, plan: &PhasePlan) -> Result<Self, SetupError> {
        let (lane, buffers) = (plan.owners.of(setup.lane), Arc::clone(&setup.buffers));
        let folder = forest.folder(lane)?;
        let (leaf, here) = forest.first_leaf(&folder, lane)?;
        let entries = if plan.operation == Operation::Readdir { ENTRIES_BYTES } else { 0 };
        let mut calls = Calls {
            names: Names::new(lane, plan),
            create: create_flags(plan) | libc::O_CLOEXEC,
            // SAFETY: all-zero is a valid statx, which has nothing but integers.
            found: Box::new(unsafe { std::mem::zeroed() }),
            entries: Vec::with_capacity(entries),
            current: Current::new(plan, &buffers),
            source: setup.source.clone(),
            flushes_all: plan.operation.creates() || plan.sync == SyncPolicy::None,
            forest,
            lane,
            buffers,
            folder,
            base: leaf.as_raw_fd(),
            // SAFETY: the call touches no memory.
            can_move: unsafe { libc::unshare(libc::CLONE_FS) } == 0,
            leaf,
            here,
            path: Vec::new(),
        };
        calls.move_in();
        Ok(calls)
    }

    /// Does the operation; what the completion says, or errno.
    #[inline]
    pub(crate) fn execute(&mut self, op: &Op) -> Result<u64, Fault> {
        if let Some(current) = &mut self.current {
            match op.kind {
                OpKind::Read | OpKind::Write => return current.execute(op),
                OpKind::Sync if current.is_open() => return current.execute(op),
                // What was written to the files before was flushed as each was closed.
                OpKind::Sync if !self.flushes_all => return Ok(0),
                OpKind::Close => return current.close(),
                OpKind::Sync | name_kinds!() | object_kinds!() => {}
            }
        }
        if let (OpKind::Open | OpKind::Create, true) = (op.kind, self.current.is_some()) {
            return self.open_current(op);
        }
        if op.kind == OpKind::Create {
            return self.create(op).map_err(Fault::os);
        }
        self.by_name(op).map(u64::from).map_err(Fault::os)
    }

    /// Closes the file that a phase which was cut short has left open.
    pub(crate) fn close(&mut self) -> Result<(), Fault> {
        match &mut self.current {
            Some(current) if current.is_open() => current.close().map(drop),
            _ => Ok(()),
        }
    }

    /// Opens a file of the lane, or makes it, and keeps it open.
    fn open_current(&mut self, op: &Op) -> Result<u64, Fault> {
        self.go_to(op.object).map_err(Fault::os)?;
        let (base, name) = (self.base, self.names.current.as_ptr());
        let current = self.current.as_mut().ok_or(Fault::os(libc::EBADF))?;
        let how = if op.kind == OpKind::Create {
            Access::Making
        } else if op.offset == OPEN_TO_READ {
            Access::Reading
        } else {
            Access::Phase
        };
        current.open(base, name, how, FILE_MODE)
    }

    /// Names are those of the leaf that holds this one from now on.
    #[inline]
    fn go_to(&mut self, number: u64) -> Result<(), i32> {
        if !self.here.contains(&number) {
            self.enter(number)?;
        }
        self.names.current.set(number);
        Ok(())
    }

    /// What is done to a name, or to all that there are.
    #[inline]
    fn by_name(&mut self, op: &Op) -> Result<u32, i32> {
        if op.kind == OpKind::Sync {
            return flush(&self.folder);
        }
        if op.kind == OpKind::Readdir {
            return self.list(op.object);
        }
        self.go_to(op.object)?;
        self.on_name(op)
    }

    /// Makes the leaf that holds the name the lane's own.
    #[cold]
    fn enter(&mut self, number: u64) -> Result<(), i32> {
        let opened = self.forest.leaf_of(&self.folder, self.lane, number, &mut self.path);
        (self.leaf, self.here) = opened.map_err(Errno::raw_os_error)?;
        self.move_in();
        Ok(())
    }

    /// Makes the leaf the working directory: names are found from there a twentieth faster than by a descriptor, which
    /// the kernel must look up and hold each time. Where a thread may not have its own, the descriptor does.
    fn move_in(&mut self) {
        let moved = self.can_move && process::fchdir(&self.leaf).is_ok();
        self.base = if moved { libc::AT_FDCWD } else { self.leaf.as_raw_fd() };
    }

    #[inline]
    fn on_name(&mut self, op: &Op) -> Result<u32, i32> {
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
            OpKind::Readdir | OpKind::Create | OpKind::Write | OpKind::Close | OpKind::Sync | object_kinds!() => {
                debug_assert!(false, "no file is open in this phase");
                Err(libc::EINVAL)
            }
        }
    }

    #[inline]
    fn create(&mut self, op: &Op) -> Result<u64, i32> {
        self.go_to(op.object)?;
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

    /// Writes what lies in a slot.
    #[inline]
    fn write_slot(&self, fd: RawFd, slot: u32, length: usize, offset: u64) -> Result<u64, i32> {
        let data = self.buffers.pointer(slot).cast();
        // SAFETY: the slot has as many bytes, and belongs to this operation until its completion.
        let written = unsafe { libc::pwrite64(fd, data, length, offset as i64) };
        u64::try_from(written).map_err(|_| last_errno())
    }

    /// Writes contents that are longer than a slot, made in it piece by piece; stops where not all of one is taken.
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

    /// Opens a file, reads what fits in the slot, closes it.
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

    /// Lists a leaf that is opened for that, as a program would that comes across it.
    fn list(&mut self, leaf: u64) -> Result<u32, i32> {
        let opened = self.forest.open_leaf(&self.folder, self.lane, leaf, OFlags::RDONLY, &mut self.path);
        let folder = opened.map_err(Errno::raw_os_error)?;
        let mut entries = RawDir::new(&folder, self.entries.spare_capacity_mut());
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
        if self.can_move {
            // The thread shall not keep the leaf busy.
            let _ = process::chdir("/");
        }
    }
}

/// openat(2). Not through the C library, where it is a point at which a thread may be cancelled, which costs four locked
/// instructions for each file that is opened and closed.
#[inline]
fn open(base: RawFd, name: *const c_char, flags: c_int) -> Result<RawFd, i32> {
    // SAFETY: the name is a C string, and the call takes these four arguments.
    checked(unsafe { libc::syscall(libc::SYS_openat, base, name, flags, FILE_MODE) as c_int }).map(|fd| fd as RawFd)
}

/// close(2), likewise. Whatever the answer, the file is closed: there is no second try.
#[inline]
fn close(fd: RawFd) -> Result<u32, i32> {
    // SAFETY: the descriptor was opened for this operation, and nobody else knows it.
    match unsafe { libc::syscall(libc::SYS_close, fd) } {
        0 => Ok(0),
        _ => Err(last_errno()),
    }
}

/// What a system call returned, or errno; EINTR, too, is the storage's own answer (see `SyncIo::execute`).
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
    use crate::ground::plan;

    #[test]
    fn new_files_are_new_unless_they_are_made_over() {
        let flags = |overwrite, sync| create_flags(&PhasePlan { overwrite, sync, ..plan(Operation::Create) });
        let always = libc::O_CREAT | libc::O_WRONLY | libc::O_NOFOLLOW;
        assert_eq!(flags(false, SyncPolicy::None), always | libc::O_EXCL);
        assert_eq!(flags(true, SyncPolicy::Fsync), always | libc::O_TRUNC);
        assert_eq!(flags(false, SyncPolicy::OSync), always | libc::O_EXCL | libc::O_SYNC);
        assert_eq!(flags(false, SyncPolicy::ODsync), always | libc::O_EXCL | libc::O_DSYNC);
    }

    /// A size of 4 GiB and more is that of no small file: it must not be taken for its lower bits.
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
