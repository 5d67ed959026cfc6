//! A host's view of the file system: the machine's, with some directories of its own.
//!
//! The root is a small file system in memory into which each entry of the machine's root is bound. A host can so have
//! directories such as /export that the machine does not have, and nothing is made on the machine.

use crate::init::Host;
use crate::Outcome;
use rustix::mount::{
    mount, mount_bind, mount_bind_recursive, mount_change, unmount, MountFlags, MountPropagationFlags, UnmountFlags,
};
use std::fs::{create_dir_all, read_dir, read_link, write, DirEntry};
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

/// Where the new root is put together: the one directory of which each host has a new one anyhow.
const NEW: &str = "/proc";
const OWN: [&str; 3] = ["proc", "run", "sys"];
const GROUPS: &str = "/sys/fs/cgroup";

/// Build the view and make it this process's root.
pub(crate) fn build(host: &Host) -> Outcome<()> {
    let private = MountPropagationFlags::PRIVATE | MountPropagationFlags::REC;
    told("/", mount_change("/", private))?;
    told("new root", mount("assay-host", NEW, "tmpfs", MountFlags::empty(), Some(c"mode=755")))?;
    for entry in told("/", read_dir("/"))? {
        take_over(&told("/", entry)?, &host.empty)?;
    }
    for path in OWN.iter().copied().chain(host.empty.iter().map(String::as_str)) {
        make(&inside(path))?;
    }
    own_run(&host.folder)?;
    own_sys()?;
    enter()?;
    told("/proc", mount("proc", "/proc", "proc", MountFlags::NOSUID | MountFlags::NODEV | MountFlags::NOEXEC, None))?;
    told("host name", rustix::system::sethostname(host.name.as_bytes()))?;
    told("/run/assay-host", write("/run/assay-host", format!("{}\n", host.name)))?;
    for (from, to) in &host.binds {
        told(&format!("{from} at {to}"), mount_bind_recursive(from, to))?;
    }
    Ok(())
}

fn take_over(entry: &DirEntry, empty: &[String]) -> Outcome<()> {
    let (path, name) = (entry.path(), entry.file_name());
    let own = OWN.iter().any(|own| name == *own);
    if own || empty.iter().any(|one| Path::new(one).starts_with(&path)) {
        return Ok(());
    }
    let place = Path::new(NEW).join(&name);
    let kind = told(&path.display().to_string(), entry.file_type())?;
    if kind.is_symlink() {
        let target = told(&path.display().to_string(), read_link(&path))?;
        return told(&path.display().to_string(), symlink(target, place));
    }
    if kind.is_dir() {
        make(&place)?;
    } else {
        told(&path.display().to_string(), write(&place, ""))?;
    }
    told(&path.display().to_string(), mount_bind_recursive(&path, &place))
}

/// An empty /run, in which the box's folder is seen if it lies there.
fn own_run(folder: &str) -> Outcome<()> {
    let run = inside("run");
    let flags = MountFlags::NOSUID | MountFlags::NODEV;
    told("/run", mount("assay-run", &run, "tmpfs", flags, Some(c"mode=755")))?;
    make(&run.join("sshd"))?;
    make(&run.join("lock"))?;
    if Path::new(folder).starts_with("/run") {
        let place = inside(folder);
        make(&place)?;
        told(folder, mount_bind(folder, &place))?;
    }
    Ok(())
}

/// A /sys that shows this host's network, with the machine's control groups.
fn own_sys() -> Outcome<()> {
    let flags = MountFlags::NOSUID | MountFlags::NODEV | MountFlags::NOEXEC;
    told("/sys", mount("sysfs", inside("sys"), "sysfs", flags, None))?;
    if Path::new(GROUPS).is_dir() && inside(GROUPS).is_dir() {
        told(GROUPS, mount_bind_recursive(GROUPS, inside(GROUPS)))?;
    }
    Ok(())
}

/// pivot_root(2) as its manual describes it without a directory for the old root.
fn enter() -> Outcome<()> {
    told("new root", rustix::process::chdir(NEW))?;
    told("new root", rustix::process::pivot_root(".", "."))?;
    told("old root", unmount(".", UnmountFlags::DETACH))?;
    told("new root", rustix::process::chdir("/"))
}

fn inside(path: &str) -> PathBuf {
    Path::new(NEW).join(path.trim_start_matches('/'))
}

fn make(path: &Path) -> Outcome<()> {
    told(&path.display().to_string(), create_dir_all(path))
}

fn told<T, E: std::fmt::Display>(what: &str, result: Result<T, E>) -> Outcome<T> {
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
