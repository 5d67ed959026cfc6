//! Files and handles that the kernel knows by number. Each file is kept by an open descriptor.

use crate::data::{OldData, Undo};
use crate::Outcome;
use fuser::{FileAttr, FileType, INodeNo};
use rustix::fs::{AtFlags, Mode, OFlags};
use rustix::io::Errno;
use std::collections::HashMap;
use std::ffi::OsStr;
use std::fs::File;
use std::os::fd::{AsRawFd, OwnedFd};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

const ROOT: u64 = 1;

/// One file or directory of the backing directory.
#[derive(Debug)]
pub(crate) struct Node {
    /// Descriptor opened with O_PATH, which refers to the same file whatever happens to its name.
    pub(crate) fd: OwnedFd,
    pub(crate) number: u64,
    /// Path below the root when it was last looked up or renamed.
    path: Mutex<String>,
    pub(crate) old_data: Mutex<OldData>,
}

impl Node {
    pub(crate) fn path(&self) -> String {
        lock(&self.path).clone()
    }

    /// Path of a name in this directory.
    pub(crate) fn below(&self, name: &OsStr) -> String {
        let (path, name) = (self.path(), name.to_string_lossy());
        if path.is_empty() {
            name.into_owned()
        } else {
            format!("{path}/{name}")
        }
    }

    pub(crate) fn attributes(&self) -> Result<FileAttr, Errno> {
        Ok(attributes(&rustix::fs::fstat(&self.fd)?, self.number))
    }

    /// A path that leads to exactly this file.
    pub(crate) fn link(&self) -> String {
        format!("/proc/self/fd/{}", self.fd.as_raw_fd())
    }

    /// Opens the file with the kernel's flags, except those that the kernel implements itself.
    pub(crate) fn open(&self, flags: i32) -> Result<File, Errno> {
        let kernels = OFlags::DIRECT | OFlags::APPEND | OFlags::NOFOLLOW | OFlags::CREATE | OFlags::EXCL;
        let flags = readable(OFlags::from_bits_retain(flags as u32)).difference(kernels) | OFlags::CLOEXEC;
        Ok(rustix::fs::open(self.link(), flags, Mode::empty())?.into())
    }
}

/// Adds read access to write-only flags, since writes read the data they replace.
pub(crate) fn readable(flags: OFlags) -> OFlags {
    if flags & OFlags::RWMODE == OFlags::WRONLY {
        flags.difference(OFlags::RWMODE) | OFlags::RDWR
    } else {
        flags
    }
}

/// An open file or directory.
#[derive(Debug)]
pub(crate) struct Handle {
    pub(crate) node: Arc<Node>,
    /// `None` for a directory.
    pub(crate) file: Option<File>,
    /// Writes to undo when it is closed.
    pub(crate) undo: Mutex<Undo>,
}

impl Drop for Handle {
    fn drop(&mut self) {
        if let Some(file) = &self.file {
            // A file that cannot be restored stays as it is, since no caller is left to get an error.
            let _ = lock(&self.undo).apply(file);
        }
    }
}

/// The tables of nodes and handles.
#[derive(Debug)]
pub(crate) struct Nodes {
    nodes: Mutex<HashMap<u64, (Arc<Node>, u64)>>,
    handles: Mutex<(HashMap<u64, Arc<Handle>>, u64)>,
}

impl Nodes {
    pub(crate) fn new(backing: &str) -> Outcome<Self> {
        let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let fd = rustix::fs::open(backing, flags, Mode::empty()).map_err(|error| format!("{backing}: {error}"))?;
        let root = Node { fd, number: ROOT, path: Mutex::default(), old_data: Mutex::default() };
        let nodes = HashMap::from([(ROOT, (Arc::new(root), 1))]);
        Ok(Self { nodes: Mutex::new(nodes), handles: Mutex::default() })
    }

    pub(crate) fn get(&self, number: INodeNo) -> Result<Arc<Node>, Errno> {
        lock(&self.nodes).get(&number.0).map(|(node, _)| node.clone()).ok_or(Errno::STALE)
    }

    /// Looks up the node of a name in a directory. This adds one to the kernel's references to it.
    pub(crate) fn look_up(&self, parent: &Node, name: &OsStr) -> Result<Arc<Node>, Errno> {
        let flags = OFlags::PATH | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let fd = rustix::fs::openat(&parent.fd, name, flags, Mode::empty())?;
        let number = rustix::fs::fstat(&fd)?.st_ino;
        let path = parent.below(name);
        let mut nodes = lock(&self.nodes);
        // The number is not reused for another file while the descriptor is open.
        let (node, known) = nodes
            .entry(number)
            .or_insert_with(|| (Arc::new(Node { fd, number, path: Mutex::default(), old_data: Mutex::default() }), 0));
        *known += 1;
        *lock(&node.path) = path;
        Ok(node.clone())
    }

    pub(crate) fn forget(&self, number: INodeNo, times: u64) {
        let mut nodes = lock(&self.nodes);
        if let Some((_, known)) = nodes.get_mut(&number.0) {
            *known = known.saturating_sub(times);
            if *known == 0 && number.0 != ROOT {
                nodes.remove(&number.0);
            }
        }
    }

    /// Updates the paths of a renamed file or directory and everything below it.
    pub(crate) fn renamed(&self, from: &str, to: &str) {
        for (node, _) in lock(&self.nodes).values() {
            let mut path = lock(&node.path);
            let rest = path.strip_prefix(from).filter(|rest| rest.is_empty() || rest.starts_with('/'));
            if let Some(rest) = rest {
                *path = format!("{to}{rest}");
            }
        }
    }

    pub(crate) fn add_handle(&self, node: Arc<Node>, file: Option<File>) -> u64 {
        let mut handles = lock(&self.handles);
        handles.1 += 1;
        let number = handles.1;
        handles.0.insert(number, Arc::new(Handle { node, file, undo: Mutex::default() }));
        number
    }

    pub(crate) fn handle(&self, number: u64) -> Result<Arc<Handle>, Errno> {
        lock(&self.handles).0.get(&number).cloned().ok_or(Errno::BADF)
    }

    pub(crate) fn close(&self, number: u64) {
        lock(&self.handles).0.remove(&number);
    }
}

/// Locks a mutex. Ignores poisoning by a panicked thread.
pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Number and kind of a name, without adding a reference for the kernel.
pub(crate) fn entry(parent: &Node, name: &OsStr) -> Result<(u64, FileType), Errno> {
    let found = rustix::fs::statat(&parent.fd, name, AtFlags::SYMLINK_NOFOLLOW)?;
    Ok((found.st_ino, kind(found.st_mode)))
}

fn kind(mode: u32) -> FileType {
    match rustix::fs::FileType::from_raw_mode(mode) {
        rustix::fs::FileType::Directory => FileType::Directory,
        rustix::fs::FileType::Symlink => FileType::Symlink,
        rustix::fs::FileType::Fifo => FileType::NamedPipe,
        rustix::fs::FileType::Socket => FileType::Socket,
        rustix::fs::FileType::CharacterDevice => FileType::CharDevice,
        rustix::fs::FileType::BlockDevice => FileType::BlockDevice,
        _ => FileType::RegularFile,
    }
}

fn attributes(found: &rustix::fs::Stat, number: u64) -> FileAttr {
    FileAttr {
        ino: INodeNo(number),
        size: found.st_size as u64,
        blocks: found.st_blocks as u64,
        atime: time(found.st_atime, found.st_atime_nsec),
        mtime: time(found.st_mtime, found.st_mtime_nsec),
        ctime: time(found.st_ctime, found.st_ctime_nsec),
        crtime: UNIX_EPOCH,
        kind: kind(found.st_mode),
        perm: (found.st_mode & 0o7777) as u16,
        nlink: found.st_nlink as u32,
        uid: found.st_uid,
        gid: found.st_gid,
        rdev: found.st_rdev as u32,
        blksize: found.st_blksize as u32,
        flags: 0,
    }
}

fn time(seconds: i64, nanoseconds: i64) -> SystemTime {
    UNIX_EPOCH + Duration::new(seconds.max(0) as u64, nanoseconds as u32)
}
