//! The directory or device that a job writes to. Nothing outside it can be opened through this type.

use self::mark::MarkFile;
use self::remove::LeftItem;
use assay_core::names::{job_mark, MARKER};
use assay_core::refusals::{ALREADY_THERE, NOT_A_DIRECTORY, NOT_PLAIN};
use assay_core::Fault;
use assay_core::{heartbeat, SetupError};
use rustix::fd::{AsFd, OwnedFd};
use rustix::fs::{self, AtFlags, FileType, Mode, OFlags, RawDir, ResolveFlags, CWD};
use rustix::io::Errno;
use rustix::path::Arg;
use std::ffi::CStr;
use std::sync::{Arc, OnceLock};

pub mod cache;
pub mod claim;
pub mod facts;
pub mod mark;
pub mod remove;

/// Names below a directory are resolved without leaving it and without following any symbolic link.
const INSIDE: ResolveFlags = ResolveFlags::BENEATH.union(ResolveFlags::NO_SYMLINKS).union(ResolveFlags::NO_XDEV);

/// Attempts to remove a directory that other processes remove as well.
const REMOVALS: u32 = 10;

const NOT_OURS: &str = "holds something that Assay has not made: left alone";
const OUTSIDE: &str = "leads out of the marked directory (symbolic link or mount): refused";

/// Open `name`, directly below `folder`.
///
/// Kernels before 5.6 have no openat2(2). As the name has no slashes, not following a link is enough to stay inside;
/// only a mount on it goes unnoticed there.
pub fn open_inside(folder: &OwnedFd, name: impl Arg + Copy, flags: OFlags, mode: Mode) -> Result<OwnedFd, Errno> {
    let flags = flags | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    match fs::openat2(folder, name, flags, mode, INSIDE) {
        Err(Errno::NOSYS) => fs::openat(folder, name, flags, mode),
        done => done,
    }
}

/// Open a directory by its path below `folder`.
pub fn open_below(folder: &OwnedFd, path: &CStr, flags: OFlags) -> Result<OwnedFd, Errno> {
    let flags = flags | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    match fs::openat2(folder, path, flags, Mode::empty(), INSIDE) {
        Err(Errno::NOSYS) => open_by_steps(folder, path, flags),
        done => done,
    }
}

/// The same without openat2(2), name after name.
fn open_by_steps(folder: &OwnedFd, path: &CStr, flags: OFlags) -> Result<OwnedFd, Errno> {
    let mut here: Option<OwnedFd> = None;
    for name in path.to_bytes().split(|byte| *byte == b'/') {
        here = Some(fs::openat(here.as_ref().unwrap_or(folder), name, flags, Mode::empty())?);
    }
    here.ok_or(Errno::NOENT)
}

/// The error for a directory that could not be opened.
pub fn directory_error(path: impl Into<String>, errno: Errno) -> SetupError {
    match errno {
        Errno::LOOP | Errno::XDEV => SetupError::new("open", path, OUTSIDE),
        Errno::NOTDIR => SetupError::new("open", path, NOT_A_DIRECTORY),
        other => SetupError::os("open", path, other),
    }
}

/// Check that it is a plain file with one name; MLINK if not.
fn plain(stat: &fs::Stat) -> Result<(), Errno> {
    let regular = FileType::from_raw_mode(stat.st_mode) == FileType::RegularFile;
    if regular && stat.st_nlink == 1 {
        Ok(())
    } else {
        Err(Errno::MLINK)
    }
}

/// Open a plain file. Checks before opening, because opening a pipe would wait, and again afterwards, before anything
/// is truncated.
fn open_plain(folder: &OwnedFd, name: &str, flags: OFlags) -> Result<OwnedFd, Errno> {
    match fs::statat(folder, name, AtFlags::SYMLINK_NOFOLLOW) {
        Ok(stat) if FileType::from_raw_mode(stat.st_mode) == FileType::Symlink => return Err(Errno::LOOP),
        Ok(stat) => plain(&stat)?,
        Err(Errno::NOENT) if flags.contains(OFlags::CREATE) => {}
        Err(errno) => return Err(errno),
    }
    let mode = if flags.contains(OFlags::CREATE) { Mode::RUSR | Mode::WUSR } else { Mode::empty() };
    let fd = open_inside(folder, name, flags.difference(OFlags::TRUNC), mode)?;
    plain(&fs::fstat(&fd)?)?;
    if flags.contains(OFlags::TRUNC) {
        fs::ftruncate(&fd, 0)?;
    }
    Ok(fd)
}

/// Identity of a directory on this host: device and inode.
pub fn file_id(folder: &OwnedFd) -> Result<(u64, u64), Errno> {
    fs::fstat(folder).map(|stat| (stat.st_dev, stat.st_ino))
}

/// Create a file in a directory that is removed when it is closed.
///
/// If the file system has no unnamed files, it has a name for a moment.
pub fn open_unnamed(folder: &OwnedFd, flags: OFlags) -> Result<OwnedFd, Errno> {
    let (flags, mode) = (flags | OFlags::CLOEXEC, Mode::RUSR | Mode::WUSR);
    match fs::openat(folder, ".", flags | OFlags::TMPFILE, mode) {
        Err(Errno::OPNOTSUPP | Errno::ISDIR | Errno::NOENT) => {}
        done => return done,
    }
    let name = format!(".assay-probe-{}-{}", rustix::process::getpid().as_raw_nonzero(), assay_core::clock::wall());
    let file = fs::openat(folder, name.as_str(), flags | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW, mode)?;
    fs::unlinkat(folder, name.as_str(), AtFlags::empty())?;
    Ok(file)
}

/// Open the directory at a path, which must not be a symbolic link.
pub fn open_root(root: &str) -> Result<OwnedFd, SetupError> {
    let flags = OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    fs::open(root, flags, Mode::empty()).map_err(|e| match e {
        Errno::LOOP | Errno::NOTDIR => {
            SetupError::new("open", root, "not a directory, or a symbolic link: name the directory itself")
        }
        other => SetupError::os("open", root, other),
    })
}

/// The place of the files.
pub enum Place {
    /// A marked directory, and the job's own directory in it.
    Directory {
        /// Path of the marked directory.
        root: String,
        /// The marked directory, open.
        root_fd: OwnedFd,
        /// Name of the job's directory in it.
        name: String,
        /// The run whose mark the directory has.
        run: Option<String>,
        /// Identity of the job's directory, once this process has created or found it.
        own: OnceLock<(u64, u64)>,
    },
    /// A block device, and the exclusive claim on it: while that is open, nothing can mount the device.
    Device {
        /// Path without links.
        path: String,
        /// Open as long as the device is used.
        _claim: OwnedFd,
    },
}

/// The place in which a lane, or the lane of a file, works: lanes are distributed in turn.
pub fn of_lane(places: &[Arc<Place>], lane: u32) -> &Arc<Place> {
    &places[lane as usize % places.len()]
}

impl Place {
    /// A directory that is marked by this run or, without one, by hand.
    ///
    /// # Errors
    /// If it is not a directory, is a symbolic link, has no marker or that of another run.
    pub fn directory(root: &str, name: &str, run: Option<&str>) -> Result<Self, SetupError> {
        let root_fd = open_root(root)?;
        let found = mark::read(&root_fd).map_err(|errno| SetupError::os("open", format!("{root}/{MARKER}"), errno))?;
        if matches!(found, MarkFile::Nothing | MarkFile::Other) {
            let message = format!("has no {MARKER}: only a directory that Assay has marked is written to");
            return Err(SetupError::new("open", root, message));
        }
        if !found.admits(run) {
            let message = format!("its {MARKER} is not that of this job's run: it is left alone");
            return Err(SetupError::new("open", root, message));
        }
        let run = run.map(str::to_owned);
        Ok(Place::Directory { root: root.to_owned(), root_fd, name: name.to_owned(), run, own: OnceLock::new() })
    }

    /// An unused block device.
    ///
    /// # Errors
    /// If it is no block device, or is mounted or otherwise held.
    pub fn device(path: &str) -> Result<Self, SetupError> {
        // Devices are often named by links, such as those in /dev/disk/by-id.
        let resolved = std::fs::canonicalize(path).map_err(|e| SetupError::new("open", path, e.to_string()))?;
        let path = resolved.to_string_lossy().into_owned();
        let stat = fs::stat(&path).map_err(|e| SetupError::os("open", &path, e))?;
        if FileType::from_raw_mode(stat.st_mode) != FileType::BlockDevice {
            return Err(SetupError::new("open", path, "is not a block device"));
        }
        let flags = OFlags::RDWR | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let claim = fs::open(&path, flags, Mode::empty()).map_err(|e| match e {
            Errno::BUSY => {
                SetupError::new("open", &path, "is mounted or in use: only a device that nobody uses is overwritten")
            }
            other => SetupError::os("open", &path, other),
        })?;
        Ok(Place::Device { path, _claim: claim })
    }

    /// Major and minor number of the device, or of the one below the directory's file system; None if the file system
    /// has no block device of its own (major number 0).
    pub fn device_number(&self) -> Option<(u32, u32)> {
        let number = match self {
            Place::Directory { root_fd, .. } => fs::fstat(root_fd).ok()?.st_dev,
            Place::Device { path, .. } => fs::stat(path).ok()?.st_rdev,
        };
        let parts = (fs::major(number), fs::minor(number));
        (parts.0 != 0).then_some(parts)
    }

    /// Create the job's directory, which may exist already if the job is `accompanied` by other processes.
    pub fn create(&self, accompanied: bool) -> Result<(), SetupError> {
        let Place::Directory { root_fd, name, .. } = self else {
            return Ok(());
        };
        let error = |errno| SetupError::os("create", self.folder(), errno);
        match fs::mkdirat(root_fd, name, Mode::RWXU) {
            Ok(()) => {
                let joined = self.mark_folder();
                if joined.is_err() {
                    let _ = fs::unlinkat(root_fd, name, AtFlags::REMOVEDIR);
                }
                joined
            }
            Err(Errno::EXIST) if accompanied => self.mark_folder(),
            Err(Errno::EXIST) => Err(SetupError::new("create", self.folder(), ALREADY_THERE)),
            Err(other) => Err(error(other)),
        }
    }

    /// Make a directory in the job's directory; it may exist.
    ///
    /// # Errors
    /// If it cannot be made.
    pub fn make_directory(&self, name: &str) -> Result<(), SetupError> {
        let error = |errno| SetupError::os("create", format!("{}/{name}", self.folder()), errno);
        match fs::mkdirat(self.open_folder().map_err(error)?, name, Mode::RWXU) {
            Ok(()) | Err(Errno::EXIST) => Ok(()),
            Err(errno) => Err(error(errno)),
        }
    }

    /// Open and mark the job's directory, which is new or was created by another process of the job. That process marks
    /// it before it creates anything in it, so a directory that holds anything and has no mark belongs to others.
    fn mark_folder(&self) -> Result<(), SetupError> {
        let Place::Directory { run, .. } = self else {
            return Ok(());
        };
        let error = |errno| SetupError::os("create", self.folder(), errno);
        let marked = job_mark(run.as_deref());
        let folder = self.open_folder().map_err(error)?;
        let new = only_the_mark(&folder, &marked).map_err(error)?;
        if fs::statat(&folder, marked.as_str(), AtFlags::SYMLINK_NOFOLLOW).is_ok() {
            return Ok(());
        }
        if !new {
            return Err(SetupError::new("create", self.folder(), NOT_OURS));
        }
        // Some file systems in user space (s3fs) store only files that were opened for writing.
        let flags = OFlags::WRONLY | OFlags::CREATE;
        match open_inside(&folder, marked.as_str(), flags, Mode::RUSR | Mode::WUSR) {
            // Some network file systems (GlusterFS) report EEXIST when another host creates it at this moment.
            Ok(_) | Err(Errno::EXIST) => Ok(()),
            Err(errno) => Err(error(errno)),
        }
    }

    /// Check that the path of the marked directory still leads to it.
    ///
    /// # Errors
    /// If it has been unmounted, moved or replaced since it was opened.
    pub fn still_there(&self) -> Result<(), SetupError> {
        let Place::Directory { root, root_fd, .. } = self else {
            return Ok(());
        };
        let here = open_root(root).and_then(|now| file_id(&now).map_err(|errno| SetupError::os("open", root, errno)));
        let before = file_id(root_fd).map_err(|errno| SetupError::os("open", root, errno))?;
        match here {
            Ok(now) if now == before => Ok(()),
            Err(SetupError { fault: Some(fault), message, .. }) if fault != Fault::os(Errno::NOENT.raw_os_error()) => {
                Err(SetupError::new("open", root, message).because(fault))
            }
            _ => {
                let message = "is not the directory any more that it was: unmounted, moved or replaced meanwhile";
                Err(SetupError::new("open", root, message))
            }
        }
    }

    /// Path of the job's directory or of the device.
    pub fn folder(&self) -> String {
        match self {
            Place::Directory { root, name, .. } => format!("{root}/{name}"),
            Place::Device { path, .. } => path.clone(),
        }
    }

    /// Path of a file, for messages.
    pub fn object_name(&self, file: u32) -> String {
        match self {
            Place::Directory { .. } => format!("{}/f{file}", self.folder()),
            Place::Device { path, .. } => path.clone(),
        }
    }

    /// Open the job's directory, always the same one.
    pub fn open_folder(&self) -> Result<OwnedFd, Errno> {
        let Place::Directory { root_fd, name, own, .. } = self else {
            return Err(Errno::NOTDIR);
        };
        let folder = open_inside(root_fd, name, OFlags::DIRECTORY, Mode::empty())?;
        let id = file_id(&folder)?;
        if *own.get_or_init(|| id) == id {
            Ok(folder)
        } else {
            Err(Errno::STALE)
        }
    }

    /// Open a file; `flags` may create and truncate it. Only a plain file with one name is opened: a link, pipe or
    /// device in its place is not written to.
    pub fn open(&self, file: u32, flags: OFlags) -> Result<OwnedFd, SetupError> {
        let opened = match self {
            Place::Directory { .. } => {
                self.open_folder().and_then(|folder| open_plain(&folder, &assay_core::names::file_name(file), flags))
            }
            Place::Device { path, .. } => {
                let allowed = flags.difference(OFlags::CREATE | OFlags::TRUNC);
                fs::openat(CWD, path.as_str(), allowed | OFlags::NOFOLLOW | OFlags::CLOEXEC, Mode::empty())
            }
        };
        opened.map_err(|errno| self.open_error(file, flags, errno))
    }

    /// Remove a file that will be created anew; a missing one is no error.
    ///
    /// # Errors
    /// If it exists and cannot be removed.
    pub fn discard(&self, file: u32) -> Result<(), SetupError> {
        let name = assay_core::names::file_name(file);
        let gone = self.open_folder().and_then(|folder| fs::unlinkat(folder, name.as_str(), AtFlags::empty()));
        match gone {
            Ok(()) | Err(Errno::NOENT) => Ok(()),
            Err(errno) => Err(SetupError::os("remove", self.object_name(file), errno)),
        }
    }

    /// An unnamed file below the marked directory, which is removed when it is closed; None if that is impossible.
    pub fn scratch(&self, flags: OFlags) -> Option<OwnedFd> {
        match self {
            Place::Directory { root_fd, .. } => open_unnamed(root_fd, flags).ok(),
            Place::Device { .. } => None,
        }
    }

    fn open_error(&self, file: u32, flags: OFlags, errno: Errno) -> SetupError {
        let object = self.object_name(file);
        match errno {
            Errno::LOOP | Errno::XDEV => SetupError::new("open", object, OUTSIDE),
            Errno::MLINK => SetupError::new("open", object, NOT_PLAIN),
            Errno::INVAL if flags.contains(OFlags::DIRECT) => {
                SetupError::new("open", object, "this file system has no O_DIRECT: use another cache policy")
            }
            other => SetupError::os("open", object, other),
        }
    }

    /// Remove the given files and the job's directory; missing ones are no error. The last of several processes that
    /// share a directory finds it empty.
    pub fn remove(&self, files: impl Iterator<Item = u32>, accompanied: bool) -> Result<(), SetupError> {
        let Place::Directory { root_fd, name, run, .. } = self else {
            return Ok(());
        };
        let folder = match self.open_folder() {
            Ok(folder) => folder,
            Err(errno) if self.is_missing(errno, accompanied) => return Ok(()),
            Err(errno) => return Err(self.remove_error(errno)),
        };
        let names: Vec<(u32, String)> = files.map(|file| (file, assay_core::names::file_name(file))).collect();
        for (file, name) in &names {
            heartbeat::beat();
            match fs::unlinkat(folder.as_fd(), name.as_str(), AtFlags::empty()) {
                Ok(()) | Err(Errno::NOENT) => {}
                Err(errno) => return Err(SetupError::os("remove", self.object_name(*file), errno)),
            }
        }
        let marked = job_mark(run.as_deref());
        let error = |errno| SetupError::os("remove", self.folder(), errno);
        // A shared file system may report a stale handle for a directory that another host has removed.
        let gone = |errno| errno == Errno::NOENT || (accompanied && errno == Errno::STALE);
        let alone = match only_the_mark(&folder, &marked) {
            // Another process of the job has removed it at this moment.
            Err(errno) if gone(errno) => return Ok(()),
            found => found.map_err(error)?,
        };
        if !alone && !accompanied {
            return Err(SetupError::new("remove", self.folder(), why_not_empty(&folder, &names)));
        }
        if !alone {
            return Ok(());
        }
        match mark::unlink(&folder, &marked) {
            Ok(()) => {}
            Err(errno) if gone(errno) => return Ok(()),
            Err(errno) => return Err(error(errno)),
        }
        match fs::unlinkat(root_fd, name, AtFlags::REMOVEDIR) {
            Ok(()) => Ok(()),
            Err(errno) if gone(errno) => Ok(()),
            Err(Errno::NOTEMPTY | Errno::EXIST) if accompanied => Ok(()),
            Err(errno) => Err(error(errno)),
        }
    }

    /// Remove the job's directory with everything that the job created in it; a missing one is no error.
    pub fn remove_all(&self, accompanied: bool) -> Result<(), SetupError> {
        let Place::Directory { root_fd, name, root, run, .. } = self else {
            return Ok(());
        };
        match self.open_folder() {
            Ok(_) => {}
            Err(errno) if self.is_missing(errno, accompanied) => return Ok(()),
            Err(errno) => return Err(self.remove_error(errno)),
        }
        // Processes that remove the same directory at once take entries away from each other.
        let tries = if accompanied { REMOVALS } else { 1 };
        let mut left: Vec<LeftItem> = Vec::new();
        for _ in 0..tries {
            left = remove::remove(root_fd, name, run.as_deref());
            if !left.iter().any(|left| left.busy) {
                break;
            }
        }
        match left.into_iter().next() {
            // Another process has removed the mark, and removes the rest.
            Some(left) if accompanied && left.path == *name => Ok(()),
            Some(left) => Err(SetupError::new("remove", format!("{root}/{}", left.path), left.why)),
            None => Ok(()),
        }
    }

    /// True if the directory could not be opened because it no longer exists. When another process of the job has just
    /// removed it, a shared file system may report a stale handle; if another directory has taken its place, that one
    /// still exists.
    fn is_missing(&self, errno: Errno, accompanied: bool) -> bool {
        let Place::Directory { root_fd, name, .. } = self else { return false };
        let looked = || fs::statat(root_fd, name, AtFlags::SYMLINK_NOFOLLOW);
        errno == Errno::NOENT
            || accompanied && errno == Errno::STALE && matches!(looked(), Err(Errno::NOENT | Errno::STALE))
    }

    fn remove_error(&self, errno: Errno) -> SetupError {
        match errno {
            Errno::LOOP | Errno::XDEV | Errno::NOTDIR => {
                SetupError::new("remove", self.folder(), "is a mount or leads elsewhere: left alone")
            }
            Errno::STALE => SetupError::new("remove", self.folder(), "is not the directory of this job: left alone"),
            other => SetupError::os("remove", self.folder(), other),
        }
    }
}

/// Why a directory from which these files were removed is not empty.
fn why_not_empty(folder: &OwnedFd, removed: &[(u32, String)]) -> String {
    let is_there = |name: &str| fs::statat(folder, name, AtFlags::SYMLINK_NOFOLLOW).is_ok();
    match removed.iter().find(|(_, name)| is_there(name)) {
        Some((_, name)) => format!("{name} is still there, though the storage has answered that it is removed"),
        None => NOT_OURS.to_owned(),
    }
}

/// True if only the job's mark is left in its directory.
fn only_the_mark(folder: &OwnedFd, marked: &str) -> Result<bool, Errno> {
    let mut room = Vec::with_capacity(4 << 10);
    fs::seek(folder, fs::SeekFrom::Start(0))?;
    let mut entries = RawDir::new(folder, room.spare_capacity_mut());
    while let Some(entry) = entries.next() {
        let entry = entry?;
        let name = entry.file_name().to_bytes();
        if ![b".".as_slice(), b"..", marked.as_bytes()].contains(&name) {
            return Ok(false);
        }
    }
    Ok(true)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::test_folder::TestFolder;
    use std::sync::Barrier;

    /// Attempts to have two processes remove the same directory at the same moment.
    const TRIES: u32 = 300;

    /// A directory that was marked by hand, and its path.
    fn marked(name: &str) -> (TestFolder, String) {
        let test_folder = TestFolder::new(name);
        std::fs::write(test_folder.at(MARKER), "").unwrap();
        let path = test_folder.0.display().to_string();
        (test_folder, path)
    }

    #[test]
    fn a_foreign_directory_is_never_shared() {
        let (test_folder, path) = marked("place-foreign");
        let folder = test_folder.at("c0001-r1");
        std::fs::create_dir(&folder).unwrap();
        std::fs::write(folder.join("f0"), "precious").unwrap();
        let share = || Place::directory(&path, "c0001-r1", None).unwrap().create(true);
        assert_eq!(share().unwrap_err().message, NOT_OURS);
        assert_eq!(std::fs::read(folder.join("f0")).unwrap(), b"precious");
        assert_eq!(std::fs::read_dir(&folder).unwrap().count(), 1);
        // With the mark it is another process of the job that created the file.
        std::fs::write(folder.join(".assay-job"), "").unwrap();
        share().unwrap();
    }

    /// GlusterFS reports ESTALE to a host that opens a directory which another one has removed meanwhile.
    #[test]
    fn a_stale_handle_of_a_directory_that_is_gone_is_no_failure_of_its_removal() {
        let (test_folder, path) = marked("place-stale");
        let place = Place::directory(&path, "c0001-r1", None).unwrap();
        assert!(place.is_missing(Errno::STALE, true) && place.is_missing(Errno::NOENT, false));
        assert!(!place.is_missing(Errno::STALE, false) && !place.is_missing(Errno::IO, true));
        place.create(true).unwrap();
        // A foreign directory in its place.
        std::fs::rename(test_folder.at("c0001-r1"), test_folder.at("moved")).unwrap();
        std::fs::create_dir(test_folder.at("c0001-r1")).unwrap();
        assert!(!place.is_missing(Errno::STALE, true));
        let refused = place.remove(0..1, true).unwrap_err();
        assert_eq!(refused.message, "is not the directory of this job: left alone");
    }

    #[test]
    fn processes_that_share_a_directory_remove_it_at_once() {
        let (test_folder, path) = marked("place");
        let together = Barrier::new(2);
        // A process that fails continues, because the other one waits for it.
        let share = || {
            let mut faults = Vec::new();
            for _ in 0..TRIES {
                let place = Place::directory(&path, "c0001-r1", None).unwrap();
                faults.extend(place.create(true).err());
                together.wait();
                faults.extend(place.remove(0..1, true).err());
                together.wait();
            }
            faults
        };
        let faults = std::thread::scope(|scope| {
            let other = scope.spawn(share);
            let mut faults = share();
            faults.extend(other.join().unwrap());
            faults
        });
        assert!(faults.is_empty(), "{}: {}", faults.len(), faults[0]);
        assert!(!test_folder.at("c0001-r1").exists());
    }
}
