//! A disk as a file of this host (FUSE): for loop devices, and for file systems over several disks.

mod apart;
mod shown;
mod worker;

use crate::disk::Disk;
use assay_core::SetupError;
use assay_spec::AoeTarget;
use fuser::{Config, MountOption, Session, SessionACL};
use std::path::Path;
use std::sync::Arc;

/// Shows a disk as the only file of `folder`, until the folder is unmounted.
///
/// The file is called as the disk, such as `e1.0`. Any bytes of it can be read and written; parts of sectors are read
/// before they are written. Needs root. No thread of this process may run yet: this one then sees no mounts any more.
///
/// # Errors
/// If the disk does not answer, or nothing can be mounted there.
pub fn serve(target: &AoeTarget, folder: &Path, ready: impl FnOnce()) -> Result<(), SetupError> {
    let disk = Arc::new(Disk::open(target)?);
    let waiting = worker::prepare(&disk)?;
    let shown = shown::Shown::new(target.address(), &disk, waiting.queue());
    let mut config = Config::default();
    config.mount_options = vec![
        MountOption::FSName(format!("assay-aoe-{}", target.address())),
        MountOption::DefaultPermissions,
        MountOption::NoAtime,
        MountOption::NoDev,
        MountOption::NoSuid,
        MountOption::NoExec,
    ];
    // Whoever uses a loop device on it is the kernel.
    config.acl = SessionACL::All;
    let place = folder.display().to_string();
    let failed = |error: std::io::Error| SetupError::new("mount", &place, error.to_string());
    let session = Session::new(shown, folder, &config).map_err(failed)?;
    apart::leave_mounts().map_err(|errno| SetupError::os("leave the mounts of", &place, errno))?;
    let worker = waiting.start();
    let session = session.spawn().map_err(failed)?;
    ready();
    let ended = session.join();
    worker.end();
    ended.map_err(failed)
}
