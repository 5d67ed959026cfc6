//! The directory or device a job writes to. Nothing outside it can be opened through this type.

use crate::capability::MARKER;
use assay_core::SetupError;
use rustix::fd::{AsFd, OwnedFd};
use rustix::fs::{self, AtFlags, FileType, Mode, OFlags, ResolveFlags, CWD};
use rustix::io::Errno;

/// Names below a directory are resolved without leaving it and without following any symbolic link.
const INSIDE: ResolveFlags = ResolveFlags::BENEATH.union(ResolveFlags::NO_SYMLINKS).union(ResolveFlags::NO_XDEV);

/// Where the files are.
pub(crate) enum Place {
    /// A marked directory, and the job's own directory in it.
    Directory { root: String, root_fd: OwnedFd, name: String },
    /// A block device.
    Device { path: String },
}

impl Place {
    /// A marked directory.
    ///
    /// # Errors
    /// If it is not a directory, is a symbolic link, or has no marker.
    pub(crate) fn directory(root: &str, name: &str) -> Result<Self, SetupError> {
        let flags = OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let root_fd = fs::open(root, flags, Mode::empty()).map_err(|e| match e {
            Errno::LOOP | Errno::NOTDIR => {
                SetupError::new("open", root, "not a directory, or a symbolic link: name the directory itself")
            }
            other => SetupError::os("open", root, other),
        })?;
        let marker = fs::statat(&root_fd, MARKER, AtFlags::SYMLINK_NOFOLLOW);
        if !marker.is_ok_and(|stat| FileType::from_raw_mode(stat.st_mode) == FileType::RegularFile) {
            let message = format!("has no {MARKER}: only a directory that Assay has marked is written to");
            return Err(SetupError::new("open", root, message));
        }
        Ok(Place::Directory { root: root.to_owned(), root_fd, name: name.to_owned() })
    }

    /// A block device that nobody uses.
    ///
    /// # Errors
    /// If it is no block device, or is mounted or otherwise held.
    pub(crate) fn device(path: &str) -> Result<Self, SetupError> {
        let place = Place::Device { path: path.to_owned() };
        let stat = fs::stat(path).map_err(|e| SetupError::os("open", path, e))?;
        if FileType::from_raw_mode(stat.st_mode) != FileType::BlockDevice {
            return Err(SetupError::new("open", path, "is not a block device"));
        }
        place.open(0, OFlags::RDWR | OFlags::EXCL)?;
        Ok(place)
    }

    /// Makes the job's own directory.
    pub(crate) fn create(&self) -> Result<(), SetupError> {
        let Place::Directory { root_fd, name, .. } = self else {
            return Ok(());
        };
        fs::mkdirat(root_fd, name, Mode::RWXU).map_err(|e| match e {
            Errno::EXIST => {
                SetupError::new("create", self.folder(), "is already there: another job, or remains of one")
            }
            other => SetupError::os("create", self.folder(), other),
        })
    }

    /// Path of the job's own directory or of the device.
    pub(crate) fn folder(&self) -> String {
        match self {
            Place::Directory { root, name, .. } => format!("{root}/{name}"),
            Place::Device { path } => path.clone(),
        }
    }

    /// Path of a file, for messages.
    pub(crate) fn object_name(&self, file: u32) -> String {
        match self {
            Place::Directory { .. } => format!("{}/f{file}", self.folder()),
            Place::Device { path } => path.clone(),
        }
    }

    /// Opens a file; `flags` may create and truncate it.
    pub(crate) fn open(&self, file: u32, flags: OFlags) -> Result<OwnedFd, SetupError> {
        let flags = flags | OFlags::CLOEXEC;
        let opened = match self {
            Place::Directory { root_fd, name, .. } => {
                let path = format!("{name}/f{file}");
                let mode = if flags.contains(OFlags::CREATE) { Mode::RUSR | Mode::WUSR } else { Mode::empty() };
                fs::openat2(root_fd, path, flags | OFlags::NOFOLLOW, mode, INSIDE)
            }
            Place::Device { path } => {
                let kept = flags.difference(OFlags::CREATE | OFlags::TRUNC);
                fs::openat(CWD, path.as_str(), kept | OFlags::NOFOLLOW, Mode::empty())
            }
        };
        opened.map_err(|e| self.open_error(file, flags, e))
    }

    fn open_error(&self, file: u32, flags: OFlags, errno: Errno) -> SetupError {
        let object = self.object_name(file);
        match (self, errno) {
            (Place::Device { .. }, Errno::BUSY) => {
                SetupError::new("open", object, "is mounted or in use: only a device that nobody uses is overwritten")
            }
            (_, Errno::LOOP | Errno::XDEV) => {
                SetupError::new("open", object, "leads out of the marked directory (symbolic link or mount): refused")
            }
            (_, Errno::INVAL) if flags.contains(OFlags::DIRECT) => {
                SetupError::new("open", object, "this file system has no O_DIRECT: use another cache policy")
            }
            (_, other) => SetupError::os("open", object, other),
        }
    }

    /// Removes the given files and the job's directory; what is not there is no error.
    pub(crate) fn remove(&self, files: u32) -> Result<(), SetupError> {
        let Place::Directory { root_fd, name, .. } = self else {
            return Ok(());
        };
        let flags = OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let folder = match fs::openat2(root_fd, name, flags, Mode::empty(), INSIDE) {
            Ok(folder) => folder,
            Err(Errno::NOENT) => return Ok(()),
            Err(errno) => return Err(SetupError::os("remove", self.folder(), errno)),
        };
        for file in 0..files {
            match fs::unlinkat(folder.as_fd(), format!("f{file}"), AtFlags::empty()) {
                Ok(()) | Err(Errno::NOENT) => {}
                Err(errno) => return Err(SetupError::os("remove", self.object_name(file), errno)),
            }
        }
        match fs::unlinkat(root_fd, name, AtFlags::REMOVEDIR) {
            Ok(()) | Err(Errno::NOENT) => Ok(()),
            Err(errno) => Err(SetupError::os("remove", self.folder(), errno)),
        }
    }
}
