//! Open files of a copy.

use crate::files::FileInfo;
use crate::ids::ById;
use rustix::fd::{AsRawFd, IntoRawFd, OwnedFd, RawFd};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// An open file.
#[derive(Debug)]
pub(crate) struct Handle {
    fd: OwnedFd,
    task: u32,
    pub(crate) is_readable: bool,
    pub(crate) is_writable: bool,
    /// Writes go to its end, whatever their offset.
    pub(crate) appends: bool,
}

impl Handle {
    pub(crate) fn new(fd: OwnedFd, task: u32, (is_readable, is_writable): (bool, bool)) -> Self {
        Handle { fd, task, is_readable, is_writable, appends: false }
    }

    pub(crate) fn raw(&self) -> RawFd {
        self.fd.as_raw_fd()
    }
}

/// What an operation needs an open file for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Use {
    Read,
    Write,
    Any,
}

impl Use {
    fn fits(self, handle: &Handle) -> bool {
        match self {
            Use::Read => handle.is_readable,
            Use::Write => handle.is_writable,
            Use::Any => true,
        }
    }
}

/// Files that a task has opened, which no other uses.
pub(crate) type Own = ById<u32, Vec<Arc<Handle>>>;

/// Files that tasks have opened and others use, too.
#[derive(Debug, Default)]
pub(crate) struct Borrowed(Mutex<Own>);

fn find(handles: &Own, file: u32, task: u32, wanted: Use) -> Option<Arc<Handle>> {
    let opened = handles.get(&file)?;
    let fits = |handle: &&Arc<Handle>| wanted.fits(handle);
    let own = opened.iter().rev().find(|handle| handle.task == task && wanted.fits(handle));
    own.or_else(|| opened.iter().rev().find(fits)).map(Arc::clone)
}

fn take(handles: &mut Own, file: u32, task: u32) -> Option<Arc<Handle>> {
    let opened = handles.get_mut(&file)?;
    let place = opened.iter().rposition(|handle| handle.task == task).or(opened.len().checked_sub(1))?;
    let taken = opened.remove(place);
    if opened.is_empty() {
        handles.remove(&file);
    }
    Some(taken)
}

impl Borrowed {
    fn all(&self) -> MutexGuard<'_, Own> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Open files as one task sees them.
pub(crate) struct Descriptors<'a> {
    own: Own,
    borrowed: &'a Borrowed,
    files: &'a [FileInfo],
    task: u32,
}

impl<'a> Descriptors<'a> {
    pub(crate) fn new(borrowed: &'a Borrowed, files: &'a [FileInfo]) -> Self {
        Descriptors { own: Own::default(), borrowed, files, task: 0 }
    }

    /// Close what is open, and begin with another task.
    pub(crate) fn begin(&mut self, task: u32) {
        self.own.clear();
        self.task = task;
    }

    pub(crate) fn task(&self) -> u32 {
        self.task
    }

    fn is_borrowed(&self, file: u32) -> bool {
        self.files[file as usize].is_borrowed
    }

    pub(crate) fn add(&mut self, file: u32, handle: Handle) -> Arc<Handle> {
        let handle = Arc::new(handle);
        if self.is_borrowed(file) {
            self.borrowed.all().entry(file).or_default().push(Arc::clone(&handle));
        } else {
            self.own.entry(file).or_default().push(Arc::clone(&handle));
        }
        handle
    }

    /// The file that was opened last by this task, else by another, for such a use.
    pub(crate) fn find(&self, file: u32, wanted: Use) -> Option<Arc<Handle>> {
        if self.is_borrowed(file) {
            find(&self.borrowed.all(), file, self.task, wanted)
        } else {
            find(&self.own, file, self.task, wanted)
        }
    }

    /// Take what is to be closed.
    pub(crate) fn take(&mut self, file: u32) -> Option<Arc<Handle>> {
        if self.is_borrowed(file) {
            take(&mut self.borrowed.all(), file, self.task)
        } else {
            take(&mut self.own, file, self.task)
        }
    }
}

/// Close a file, and return the errno if that fails. If another thread uses it at this moment, it is closed after that.
pub(crate) fn close(handle: Arc<Handle>) -> Result<(), i32> {
    let Ok(handle) = Arc::try_unwrap(handle) else { return Ok(()) };
    // SAFETY: the descriptor is open, and nothing else has it.
    let result = unsafe { libc::close(handle.fd.into_raw_fd()) };
    if result == 0 {
        Ok(())
    } else {
        Err(crate::calls::last_errno())
    }
}
