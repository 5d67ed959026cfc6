//! A disk as a file of this host (FUSE): for loop devices, and for file systems over several disks.

mod filesystem;
mod mounts;
mod worker;

use crate::disk::Disk;
use assay_core::SetupError;
use assay_spec::AoeTarget;
use fuser::{Config, MountOption, Session, SessionACL};
use std::path::Path;
use std::sync::Arc;

/// Shows a disk as the only file of `folder`, until the folder is unmounted.
///
/// The file is named like the disk, such as `e1.0`. Any of its bytes can be read and written; sectors that are written
/// in part are read before. Needs root. No other thread of this process may run yet: afterwards this one sees no mounts
/// any more.
///
/// # Errors
/// If the disk does not answer, or nothing can be mounted there.
pub fn serve(target: &AoeTarget, folder: &Path, ready: impl FnOnce()) -> Result<(), SetupError> {
    let disk = Arc::new(Disk::open(target)?);
    let prepared = worker::prepare(&disk)?;
    let filesystem = filesystem::DiskFilesystem::new(target.address(), &disk, prepared.queue());
    let mut config = Config::default();
    config.mount_options = vec![
        MountOption::FSName(format!("assay-aoe-{}", target.address())),
        MountOption::DefaultPermissions,
        MountOption::NoAtime,
        MountOption::NoDev,
        MountOption::NoSuid,
        MountOption::NoExec,
    ];
    // A loop device accesses the file as the kernel, not as this user.
    config.acl = SessionACL::All;
    let place = folder.display().to_string();
    let failed = |error: std::io::Error| SetupError::new("mount", &place, error.to_string());
    let session = Session::new(filesystem, folder, &config).map_err(failed)?;
    mounts::leave_mounts().map_err(|errno| SetupError::os("leave the mounts of", &place, errno))?;
    let worker = prepared.start();
    let session = session.spawn().map_err(failed)?;
    ready();
    let ended = session.join();
    worker.end();
    ended.map_err(failed)
}
