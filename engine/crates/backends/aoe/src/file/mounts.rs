//! Mounts on the file must not depend on the process that serves it.

use rustix::io::Errno;
use rustix::mount::{mount, mount_change, unmount, MountFlags, MountPropagationFlags, UnmountFlags};
use rustix::process::{chdir, pivot_root};
use rustix::thread::{unshare_unsafe, UnshareFlags};

/// A directory that always exists, to become an empty root.
const EMPTY: &str = "/proc";

/// Leaves the mounts of this host for an empty set of its own. The last process of a mount namespace to end unmounts
/// what is in it. If that were the process behind the file, a file system on the file would wait for it for ever.
///
/// In a process with several threads, only the calling thread leaves, and those that it starts later.
pub(super) fn leave_mounts() -> Result<(), Errno> {
    // SAFETY: only the set of mounts and the working directory are unshared, no memory and no descriptors.
    unsafe { unshare_unsafe(UnshareFlags::NEWNS) }?;
    mount_change("/", MountPropagationFlags::PRIVATE | MountPropagationFlags::REC)?;
    mount("assay", EMPTY, "tmpfs", MountFlags::NOSUID | MountFlags::NODEV | MountFlags::NOEXEC, None)?;
    chdir(EMPTY)?;
    pivot_root(".", ".")?;
    unmount(".", UnmountFlags::DETACH)?;
    chdir("/")
}
