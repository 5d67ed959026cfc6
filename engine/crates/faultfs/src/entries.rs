//! Creates, changes and removes directory entries.

use crate::nodes::{readable, Node, Nodes};
use fuser::{RenameFlags, TimeOrNow};
use rustix::fs::{AtFlags, Mode, OFlags, Timespec, Timestamps, UTIME_NOW, UTIME_OMIT};
use rustix::io::Errno;
use std::ffi::{CString, OsStr};
use std::fs::File;
use std::os::unix::ffi::OsStrExt;
use std::sync::Arc;
use std::time::UNIX_EPOCH;

/// Owner of a new entry.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Owner {
    pub(crate) uid: u32,
    pub(crate) gid: u32,
}

impl Owner {
    /// Sets the owner of a new entry and looks it up for the kernel.
    fn claim(self, nodes: &Nodes, parent: &Node, name: &OsStr) -> Result<Arc<Node>, Errno> {
        change_owner(parent, name, Some(self.uid), Some(self.gid), AtFlags::SYMLINK_NOFOLLOW)?;
        nodes.look_up(parent, name)
    }
}

/// Creates and opens a file.
pub(crate) fn create(
    nodes: &Nodes,
    parent: &Node,
    name: &OsStr,
    mode: u32,
    flags: i32,
    owner: Owner,
) -> Result<(Arc<Node>, File), Errno> {
    let allowed = OFlags::RWMODE | OFlags::EXCL | OFlags::TRUNC | OFlags::SYNC | OFlags::DSYNC;
    let flags = readable(OFlags::from_bits_retain(flags as u32)) & allowed;
    let flags = flags | OFlags::CREATE | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let file = rustix::fs::openat(&parent.fd, name, flags, Mode::from_raw_mode(mode))?;
    Ok((owner.claim(nodes, parent, name)?, file.into()))
}

pub(crate) fn make_node(
    nodes: &Nodes,
    parent: &Node,
    name: &OsStr,
    mode: u32,
    device: u32,
    owner: Owner,
) -> Result<Arc<Node>, Errno> {
    let kind = rustix::fs::FileType::from_raw_mode(mode);
    rustix::fs::mknodat(&parent.fd, name, kind, Mode::from_raw_mode(mode), device.into())?;
    owner.claim(nodes, parent, name)
}

pub(crate) fn make_directory(
    nodes: &Nodes,
    parent: &Node,
    name: &OsStr,
    mode: u32,
    owner: Owner,
) -> Result<Arc<Node>, Errno> {
    rustix::fs::mkdirat(&parent.fd, name, Mode::from_raw_mode(mode))?;
    owner.claim(nodes, parent, name)
}

pub(crate) fn make_link(
    nodes: &Nodes,
    parent: &Node,
    name: &OsStr,
    target: &OsStr,
    owner: Owner,
) -> Result<Arc<Node>, Errno> {
    rustix::fs::symlinkat(target, &parent.fd, name)?;
    owner.claim(nodes, parent, name)
}

pub(crate) fn rename(
    nodes: &Nodes,
    (parent, name): (&Node, &OsStr),
    (new_parent, new_name): (&Node, &OsStr),
    flags: RenameFlags,
) -> Result<(), Errno> {
    let flags = rustix::fs::RenameFlags::from_bits_retain(flags.bits());
    rustix::fs::renameat_with(&parent.fd, name, &new_parent.fd, new_name, flags)?;
    nodes.renamed(&parent.below(name), &new_parent.below(new_name));
    Ok(())
}

/// Creates a hard link to a file.
pub(crate) fn second_name(nodes: &Nodes, node: &Node, parent: &Node, name: &OsStr) -> Result<Arc<Node>, Errno> {
    rustix::fs::linkat(rustix::fs::CWD, node.link(), &parent.fd, name, AtFlags::SYMLINK_FOLLOW)?;
    nodes.look_up(parent, name)
}

/// The names in a directory. With `omit_last`, all but the last one.
pub(crate) fn list(node: &Node, omit_last: bool) -> Result<Vec<Vec<u8>>, Errno> {
    let fd = node.open(OFlags::DIRECTORY.bits() as i32)?;
    let mut names = Vec::new();
    for entry in rustix::fs::Dir::read_from(&fd)? {
        names.push(entry?.file_name().to_bytes().to_vec());
    }
    let last = names.iter().max().filter(|name| omit_last && ![b".".to_vec(), b"..".to_vec()].contains(name)).cloned();
    names.retain(|name| Some(name) != last.as_ref());
    Ok(names)
}

/// Changes to a file's attributes. `None` leaves an attribute as it is.
#[derive(Debug)]
pub(crate) struct Change {
    pub(crate) mode: Option<u32>,
    pub(crate) uid: Option<u32>,
    pub(crate) gid: Option<u32>,
    pub(crate) size: Option<u64>,
    pub(crate) accessed: Option<TimeOrNow>,
    pub(crate) modified: Option<TimeOrNow>,
}

impl Change {
    pub(crate) fn apply(&self, node: &Node) -> Result<(), Errno> {
        if let Some(mode) = self.mode {
            rustix::fs::chmod(node.link(), Mode::from_raw_mode(mode))?;
        }
        if self.uid.is_some() || self.gid.is_some() {
            change_owner(node, OsStr::new(""), self.uid, self.gid, AtFlags::EMPTY_PATH)?;
        }
        if let Some(size) = self.size {
            rustix::fs::ftruncate(node.open(OFlags::WRONLY.bits() as i32)?, size)?;
        }
        if self.accessed.is_some() || self.modified.is_some() {
            let times = Timestamps { last_access: timespec(self.accessed), last_modification: timespec(self.modified) };
            rustix::fs::utimensat(rustix::fs::CWD, node.link(), &times, AtFlags::empty())?;
        }
        Ok(())
    }
}

fn change_owner(node: &Node, name: &OsStr, uid: Option<u32>, gid: Option<u32>, flags: AtFlags) -> Result<(), Errno> {
    let (uid, gid) = (uid.map(rustix::fs::Uid::from_raw), gid.map(rustix::fs::Gid::from_raw));
    let name = CString::new(name.as_bytes()).map_err(|_| Errno::INVAL)?;
    rustix::fs::chownat(&node.fd, name, uid, gid, flags)
}

fn timespec(time: Option<TimeOrNow>) -> Timespec {
    match time {
        None => Timespec { tv_sec: 0, tv_nsec: UTIME_OMIT },
        Some(TimeOrNow::Now) => Timespec { tv_sec: 0, tv_nsec: UTIME_NOW },
        Some(TimeOrNow::SpecificTime(time)) => {
            let since = time.duration_since(UNIX_EPOCH).unwrap_or_default();
            Timespec { tv_sec: since.as_secs() as i64, tv_nsec: since.subsec_nanos().into() }
        }
    }
}
