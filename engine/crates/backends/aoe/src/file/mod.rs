//! A disk as a file of this host (FUSE): for loop devices, and for file systems over several disks.

mod shown;
mod worker;

use crate::disk::Disk;
use assay_core::SetupError;
use assay_spec::AoeTarget;
use fuser::{Config, MountOption, Session, SessionACL};
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

/// The end is noticed this late at most.
const LOOK: Duration = Duration::from_millis(50);

/// Shows a disk as the only file of `folder`, until the folder is unmounted or `stop` says so.
///
/// The file is called as the disk, such as `e1.0`. Any bytes of it can be read and written; parts of sectors are read
/// before they are written. Needs root.
///
/// # Errors
/// If the disk does not answer, or nothing can be mounted there.
pub fn serve(
    target: &AoeTarget,
    folder: &Path,
    ready: impl FnOnce(),
    stop: impl Fn() -> bool,
) -> Result<(), SetupError> {
    let disk = Arc::new(Disk::open(target)?);
    let worker = worker::start(&disk)?;
    let shown = shown::Shown::new(target.address(), &disk, worker.queue());
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
    let failed = |error: std::io::Error| SetupError::new("mount", folder.display().to_string(), error.to_string());
    let session = Session::new(shown, folder, &config).and_then(Session::spawn).map_err(failed)?;
    ready();
    while !session.guard.is_finished() && !stop() {
        std::thread::sleep(LOOK);
    }
    let ended = if session.guard.is_finished() { session.join() } else { session.umount_and_join() };
    worker.end();
    ended.map_err(failed)
}
