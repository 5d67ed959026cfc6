//! Removes a directory with everything in it, and nothing else: below descriptors that are opened without following
//! links or crossing mounts.

use crate::place::open_inside;
use rustix::fd::OwnedFd;
use rustix::fs::{self, AtFlags, FileType, Mode, OFlags, RawDir};
use rustix::io::Errno;
use std::ffi::CStr;

/// Room for the entries that are read at once in each directory on the way down.
const ENTRIES_BYTES: usize = 32 << 10;
/// So many directories are open at a time. What lies deeper is first moved up.
const MAX_LEVELS: u32 = 64;

/// What could not be removed: the first such thing, and why.
#[derive(Debug)]
pub(crate) struct Left {
    /// Relative to where the removal started.
    pub(crate) path: String,
    pub(crate) errno: Errno,
}

impl Left {
    fn new(name: &CStr, errno: Errno) -> Self {
        Left { path: name.to_string_lossy().into_owned(), errno }
    }

    fn below(self, name: &CStr) -> Self {
        Left { path: format!("{}/{}", name.to_string_lossy(), self.path), ..self }
    }
}

/// Removes the directory `name` right below `parent`. If something in it cannot be removed, all else is.
pub(crate) fn remove(parent: &OwnedFd, name: &str) -> Result<(), Left> {
    let here = |errno| Left { path: name.to_owned(), errno };
    let c_name = std::ffi::CString::new(name).map_err(|_| here(Errno::INVAL))?;
    let mut walk = Walk { top: None, level: 0, moved: 0 };
    walk.directory(parent, &c_name)
}

/// The way down to where things are being removed.
struct Walk {
    /// The directory that is being removed.
    top: Option<OwnedFd>,
    level: u32,
    /// Directories moved up so far.
    moved: u64,
}

impl Walk {
    fn directory(&mut self, parent: &OwnedFd, name: &CStr) -> Result<(), Left> {
        loop {
            match fs::unlinkat(parent, name, AtFlags::REMOVEDIR) {
                Ok(()) | Err(Errno::NOENT) => return Ok(()),
                Err(Errno::NOTEMPTY | Errno::EXIST) => {}
                Err(errno) => return Err(Left::new(name, errno)),
            }
            if self.level == MAX_LEVELS {
                return self.move_up(parent, name).map_err(|errno| Left::new(name, errno));
            }
            let folder = match open_inside(parent, name, OFlags::DIRECTORY, Mode::empty()) {
                Err(Errno::NOENT) => return Ok(()),
                opened => opened.map_err(|errno| Left::new(name, errno))?,
            };
            if self.empty(&folder).map_err(|left| left.below(name))? == 0 {
                return Err(Left::new(name, Errno::NOTEMPTY));
            }
        }
    }

    /// Goes once through a directory and removes what it finds; returns how much that was. Some file systems pass over
    /// entries when others are removed meanwhile, so this is done until the directory itself can be removed.
    fn empty(&mut self, folder: &OwnedFd) -> Result<u64, Left> {
        if self.level == 0 {
            self.top = folder.try_clone().ok();
        }
        self.level += 1;
        let mut room = Vec::with_capacity(ENTRIES_BYTES);
        let mut entries = RawDir::new(folder, room.spare_capacity_mut());
        let (mut removed, mut failed) = (0, None);
        while let Some(entry) = entries.next() {
            let done = match entry {
                Ok(entry) if [c".", c".."].contains(&entry.file_name()) => continue,
                Ok(entry) => self.entry(folder, entry.file_name(), entry.file_type()),
                Err(Errno::INTR) => continue,
                // Somebody else has removed it.
                Err(Errno::NOENT) => break,
                Err(errno) => {
                    failed = failed.or(Some(Left::new(c"", errno)));
                    break;
                }
            };
            match done {
                Ok(()) => removed += 1,
                Err(left) => failed = failed.or(Some(left)),
            }
        }
        self.level -= 1;
        failed.map_or(Ok(removed), Err)
    }

    fn entry(&mut self, folder: &OwnedFd, name: &CStr, kind: FileType) -> Result<(), Left> {
        if kind == FileType::Directory {
            return self.directory(folder, name);
        }
        match fs::unlinkat(folder, name, AtFlags::empty()) {
            Ok(()) | Err(Errno::NOENT) => Ok(()),
            // Not every file system says in the listing what is a directory.
            Err(Errno::ISDIR | Errno::PERM) if kind == FileType::Unknown => self.directory(folder, name),
            Err(errno) => Err(Left::new(name, errno)),
        }
    }

    /// Moves a directory that lies too deep right below the top, where the next round finds it.
    fn move_up(&mut self, parent: &OwnedFd, name: &CStr) -> Result<(), Errno> {
        let top = self.top.as_ref().ok_or(Errno::MFILE)?;
        loop {
            self.moved += 1;
            match fs::renameat(parent, name, top, format!("deep{}", self.moved)) {
                Err(Errno::NOTEMPTY | Errno::EXIST | Errno::NOTDIR) => {}
                done => return done,
            }
        }
    }
}
