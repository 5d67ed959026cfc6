//! The system calls of operations. Each operation is one call, as it was in the recorded program.

use crate::buffer::Buffer;
use crate::contents::{Contents, CopyData};
use crate::crew::Step;
use crate::descriptors::{close, Descriptors, Handle, Use};
use crate::files::FileInfo;
use crate::layout::{FILE_MODE, FOLDER_MODE};
use crate::record::{Action, FileKind, OpenFlags};
use assay_drive::data::BufferContents;
use rustix::fd::{AsRawFd, FromRawFd, OwnedFd, RawFd};
use std::ffi::{CStr, CString};
use std::sync::Arc;

/// Bytes for entries of a directory, as in the C library.
const ENTRIES_BYTES: usize = 32 << 10;
/// What a symbolic link leads to. Where the recorded one led is unknown.
const NOWHERE: &CStr = c"assay-unknown";

/// errno of the call that failed last on this thread.
pub(crate) fn last_errno() -> i32 {
    std::io::Error::last_os_error().raw_os_error().unwrap_or(libc::EIO)
}

/// The result of a call: a number, or errno.
fn checked(result: isize) -> Result<u64, i32> {
    u64::try_from(result).map_err(|_| last_errno())
}

fn simple(result: i32) -> Result<u64, i32> {
    checked(result as isize)
}

/// Flags of open(2).
fn open_flags(flags: OpenFlags, kind: FileKind) -> i32 {
    let access = match (flags.read, flags.write) {
        (true, true) => libc::O_RDWR,
        (false, true) => libc::O_WRONLY,
        (_, false) => libc::O_RDONLY,
    };
    let set = |wanted: bool, flag: i32| if wanted { flag } else { 0 };
    access
        | libc::O_CLOEXEC
        | set(kind == FileKind::Directory, libc::O_DIRECTORY)
        | set(flags.create, libc::O_CREAT)
        | set(flags.truncate, libc::O_TRUNC)
        | set(flags.exclusive, libc::O_EXCL)
        | set(flags.append, libc::O_APPEND)
        | set(flags.direct, libc::O_DIRECT)
        | set(flags.sync, libc::O_SYNC)
}

fn open(folder: RawFd, name: &CStr, flags: i32) -> Result<OwnedFd, i32> {
    // SAFETY: the name ends with a zero and lives during the call.
    let fd = unsafe { libc::openat(folder, name.as_ptr(), flags, FILE_MODE.bits()) };
    if fd < 0 {
        return Err(last_errno());
    }
    // SAFETY: the call has returned a new descriptor.
    Ok(unsafe { OwnedFd::from_raw_fd(fd) })
}

/// What operations of one thread work with.
pub(crate) struct Calls<'a> {
    /// The copy's directory.
    folder: RawFd,
    files: &'a [FileInfo],
    contents: &'a Contents,
    data: CopyData,
    pub(crate) descriptors: Descriptors<'a>,
    writes: Buffer,
    /// What is in the buffer for writes.
    made: Option<BufferContents>,
    reads: Buffer,
}

/// An operation that is ready to be executed: what it needs is open and made.
pub(crate) struct Ready {
    /// The open file; None if it works on a name.
    handle: Option<Arc<Handle>>,
    /// A file had to be opened that the trace does not open.
    pub(crate) opened: bool,
}

impl<'a> Calls<'a> {
    pub(crate) fn new(
        folder: &OwnedFd,
        files: &'a [FileInfo],
        contents: &'a Contents,
        data: CopyData,
        descriptors: Descriptors<'a>,
    ) -> Self {
        let folder = folder.as_raw_fd();
        let (writes, reads) = (Buffer::default(), Buffer::default());
        Calls { folder, files, contents, data, descriptors, writes, made: None, reads }
    }

    fn name(&self, file: u32) -> &'a CStr {
        &self.files[file as usize].name
    }

    /// Find or open the file that an operation works on, and make the data that it writes. None of this is the
    /// storage's time.
    pub(crate) fn prepare(&mut self, step: &Step) -> Result<Ready, i32> {
        let wanted = match step.action {
            Action::Read | Action::List => Use::Read,
            Action::Write => Use::Write,
            Action::Close | Action::Fsync | Action::Fdatasync => Use::Any,
            // A file that is open for writing is truncated by its descriptor, any other by its name.
            Action::Truncate => {
                let handle = self.descriptors.find(step.file, Use::Write);
                return Ok(Ready { handle, opened: false });
            }
            _ => return Ok(Ready { handle: None, opened: false }),
        };
        let found = if step.action == Action::Close {
            self.descriptors.take(step.file)
        } else {
            self.descriptors.find(step.file, wanted)
        };
        let opened = found.is_none();
        let handle = match found {
            Some(handle) => handle,
            None => self.open_anyway(step.file, wanted)?,
        };
        // What was just opened is closed again.
        let handle = if opened && step.action == Action::Close {
            drop(handle);
            self.descriptors.take(step.file).ok_or(libc::EBADF)?
        } else {
            handle
        };
        match step.action {
            Action::Write => self.make(step, &handle),
            Action::Read => self.reads.hold(step.length as usize),
            Action::List => self.reads.hold(ENTRIES_BYTES),
            _ => {}
        }
        Ok(Ready { handle: Some(handle), opened })
    }

    /// Open a file that the program had open when the trace began.
    fn open_anyway(&mut self, file: u32, wanted: Use) -> Result<Arc<Handle>, i32> {
        let kind = self.files[file as usize].kind;
        let name = self.name(file);
        let both = OpenFlags { read: true, write: true, create: wanted == Use::Write, ..OpenFlags::default() };
        let only = OpenFlags { read: true, ..OpenFlags::default() };
        let first = if kind == FileKind::Directory { only } else { both };
        let (fd, flags) = match open(self.folder, name, open_flags(first, kind)) {
            Err(libc::EISDIR) => (open(self.folder, name, open_flags(only, kind))?, only),
            done => (done?, first),
        };
        let handle = Handle::new(fd, self.descriptors.task(), (true, flags.write));
        Ok(self.descriptors.add(file, handle))
    }

    fn make(&mut self, step: &Step, handle: &Handle) {
        let buffer = self.writes.hold_changed(step.length as usize, &mut self.made);
        self.data.fill(self.contents.key(step.file), step.offset, buffer, &mut self.made);
        if handle.appends && self.files[step.file as usize].is_shared {
            self.contents.unknown(step.file);
        }
    }

    /// Execute an operation; returns its bytes, or errno.
    pub(crate) fn execute(&mut self, step: &Step, ready: &mut Ready) -> Result<u64, i32> {
        let Some(handle) = ready.handle.take() else { return self.on_name(step) };
        if step.action == Action::Close {
            return close(handle).map(|()| 0);
        }
        let (fd, length, offset) = (handle.raw(), step.length as usize, step.offset as i64);
        // SAFETY: the buffers hold the length, which `prepare` has seen to, and live during the calls.
        unsafe {
            match step.action {
                Action::Read => checked(libc::pread(fd, self.reads.start(), length, offset)),
                Action::Write => checked(libc::pwrite(fd, self.writes.start(), length, offset)),
                Action::Fsync => simple(libc::fsync(fd)),
                Action::Fdatasync => simple(libc::fdatasync(fd)),
                Action::Truncate => simple(libc::ftruncate(fd, step.length as i64)),
                _ => {
                    let entries = self.reads.start();
                    checked(libc::syscall(libc::SYS_getdents64, fd, entries, ENTRIES_BYTES) as isize).map(|_| 0)
                }
            }
        }
    }

    fn on_name(&mut self, step: &Step) -> Result<u64, i32> {
        let (folder, name) = (self.folder, self.name(step.file));
        let other = step.other().map_or(name, |other| self.name(other));
        if step.action == Action::Open {
            return self.open(step);
        }
        if step.action == Action::Truncate {
            return self.truncate(name, step.length);
        }
        let (from, to) = (name.as_ptr(), other.as_ptr());
        // SAFETY: all names end with a zero and live during the calls.
        unsafe {
            simple(match step.action {
                Action::Stat => {
                    let mut found = std::mem::MaybeUninit::<libc::stat>::uninit();
                    libc::fstatat(folder, from, found.as_mut_ptr(), libc::AT_SYMLINK_NOFOLLOW)
                }
                Action::Mkdir => libc::mkdirat(folder, from, FOLDER_MODE.bits()),
                Action::Rmdir => libc::unlinkat(folder, from, libc::AT_REMOVEDIR),
                Action::Unlink => libc::unlinkat(folder, from, 0),
                Action::Rename => libc::renameat(folder, from, folder, to),
                Action::Link => libc::linkat(folder, from, folder, to, 0),
                Action::Symlink => libc::symlinkat(NOWHERE.as_ptr(), folder, from),
                _ => return Err(libc::EINVAL),
            })
        }
    }

    fn open(&mut self, step: &Step) -> Result<u64, i32> {
        let flags = step.flags;
        let kind = self.files[step.file as usize].kind;
        let fd = open(self.folder, self.name(step.file), open_flags(flags, kind))?;
        if step.result >= 0 {
            let access = (flags.read || !flags.write, flags.write);
            let mut handle = Handle::new(fd, self.descriptors.task(), access);
            handle.appends = flags.append;
            self.descriptors.add(step.file, handle);
        }
        Ok(0)
    }

    /// truncate(2), which has no form for a path below a directory. Lanes have tables of descriptors of their own.
    fn truncate(&self, name: &CStr, length: u64) -> Result<u64, i32> {
        let path = [format!("/proc/thread-self/fd/{}/", self.folder).as_bytes(), name.to_bytes()].concat();
        let path = CString::new(path).map_err(|_| libc::EINVAL)?;
        // SAFETY: the path ends with a zero and lives during the call.
        simple(unsafe { libc::truncate(path.as_ptr(), length as i64) })
    }

    /// Note what an operation that has succeeded has changed, and check what it has read; returns what is wrong.
    pub(crate) fn note(&mut self, step: &Step, bytes: u64) -> Option<String> {
        match step.action {
            Action::Write => self.contents.written(step.file, step.offset, bytes),
            Action::Truncate => self.contents.truncated(step.file, step.length),
            Action::Open if step.flags.truncate => self.contents.truncated(step.file, 0),
            Action::Unlink => self.contents.truncated(step.file, 0),
            Action::Rename | Action::Link => self.contents.named(step.file, step.other),
            Action::Read => {
                let found = self.reads.bytes(bytes as usize);
                return self.contents.wrong(&mut self.data, step.file, step.offset, found);
            }
            _ => {}
        }
        None
    }

    /// Give back the memory of long operations.
    pub(crate) fn release(&mut self) {
        self.reads.release();
        if self.writes.release() {
            self.made = None;
        }
    }
}
