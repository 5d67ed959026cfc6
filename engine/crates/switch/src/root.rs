//! A host's view of the file system: the machine's file system, with some directories of its own.
//!
//! The root is a small in-memory file system into which each entry of the machine's root is bound. A host can therefore
//! have directories such as /export that the machine does not have, without creating anything on the machine.

use crate::init::Host;
use crate::Outcome;
use rustix::mount::{
    mount, mount_bind, mount_bind_recursive, mount_change, unmount, MountFlags, MountPropagationFlags, UnmountFlags,
};
use std::fs::{create_dir_all, read_dir, read_link, write, DirEntry};
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

/// Where the new root is assembled. /proc is the one directory that each host replaces anyway.
const NEW: &str = "/proc";
const OWN: [&str; 3] = ["proc", "run", "sys"];
const GROUPS: &str = "/sys/fs/cgroup";

/// Builds the view and makes it the root of this process.
pub(crate) fn build(host: &Host) -> Outcome<()> {
    let private = MountPropagationFlags::PRIVATE | MountPropagationFlags::REC;
    with_context("/", mount_change("/", private))?;
    with_context("new root", mount("assay-host", NEW, "tmpfs", MountFlags::empty(), Some(c"mode=755")))?;
    for entry in with_context("/", read_dir("/"))? {
        bind_entry(&with_context("/", entry)?, &host.empty)?;
    }
    for path in OWN.iter().copied().chain(host.empty.iter().map(String::as_str)) {
        make_directory(&inside(path))?;
    }
    own_run(&host.folder)?;
    own_sys()?;
    enter_new_root()?;
    with_context(
        "/proc",
        mount("proc", "/proc", "proc", MountFlags::NOSUID | MountFlags::NODEV | MountFlags::NOEXEC, None),
    )?;
    with_context("host name", rustix::system::sethostname(host.name.as_bytes()))?;
    with_context("/run/assay-host", write("/run/assay-host", format!("{}\n", host.name)))?;
    for (from, to) in &host.binds {
        with_context(&format!("{from} at {to}"), mount_bind_recursive(from, to))?;
    }
    Ok(())
}

fn bind_entry(entry: &DirEntry, empty: &[String]) -> Outcome<()> {
    let (path, name) = (entry.path(), entry.file_name());
    let own = OWN.iter().any(|own| name == *own);
    if own || empty.iter().any(|one| Path::new(one).starts_with(&path)) {
        return Ok(());
    }
    let place = Path::new(NEW).join(&name);
    let kind = with_context(&path.display().to_string(), entry.file_type())?;
    if kind.is_symlink() {
        let target = with_context(&path.display().to_string(), read_link(&path))?;
        return with_context(&path.display().to_string(), symlink(target, place));
    }
    if kind.is_dir() {
        make_directory(&place)?;
    } else {
        with_context(&path.display().to_string(), write(&place, ""))?;
    }
    with_context(&path.display().to_string(), mount_bind_recursive(&path, &place))
}

/// Mounts an empty /run. If the box's directory is below /run, it is bound into it.
fn own_run(folder: &str) -> Outcome<()> {
    let run = inside("run");
    let flags = MountFlags::NOSUID | MountFlags::NODEV;
    with_context("/run", mount("assay-run", &run, "tmpfs", flags, Some(c"mode=755")))?;
    make_directory(&run.join("sshd"))?;
    make_directory(&run.join("lock"))?;
    if Path::new(folder).starts_with("/run") {
        let place = inside(folder);
        make_directory(&place)?;
        with_context(folder, mount_bind(folder, &place))?;
    }
    Ok(())
}

/// Mounts a /sys that shows this host's network, with the machine's control groups.
fn own_sys() -> Outcome<()> {
    let flags = MountFlags::NOSUID | MountFlags::NODEV | MountFlags::NOEXEC;
    with_context("/sys", mount("sysfs", inside("sys"), "sysfs", flags, None))?;
    if Path::new(GROUPS).is_dir() && inside(GROUPS).is_dir() {
        with_context(GROUPS, mount_bind_recursive(GROUPS, inside(GROUPS)))?;
    }
    Ok(())
}

/// Changes the root with pivot_root(2), without a directory for the old root, as its manual page describes.
fn enter_new_root() -> Outcome<()> {
    with_context("new root", rustix::process::chdir(NEW))?;
    with_context("new root", rustix::process::pivot_root(".", "."))?;
    with_context("old root", unmount(".", UnmountFlags::DETACH))?;
    with_context("new root", rustix::process::chdir("/"))
}

fn inside(path: &str) -> PathBuf {
    Path::new(NEW).join(path.trim_start_matches('/'))
}

fn make_directory(path: &Path) -> Outcome<()> {
    with_context(&path.display().to_string(), create_dir_all(path))
}

fn with_context<T, E: std::fmt::Display>(what: &str, result: Result<T, E>) -> Outcome<T> {
    result.map_err(|error| format!("{what}: {error}"))
}

#[cfg(test)]
mod tests {
    use super::inside;

    #[test]
    fn paths_stay_inside_the_new_root() {
        assert_eq!(inside("/export/a").to_str(), Some("/proc/export/a"));
        assert_eq!(inside("run").to_str(), Some("/proc/run"));
    }
}
