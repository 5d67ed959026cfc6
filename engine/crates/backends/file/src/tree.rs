//! The directories of a tree, and where in them a lane's names are.

use crate::place::{self, Place};
use assay_core::SetupError;
use assay_spec::{Layout, Tree};
use rustix::fd::OwnedFd;
use rustix::fs::{self, Mode, OFlags};
use rustix::io::Errno;
use std::ffi::CStr;
use std::io::Write;
use std::ops::Range;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::Arc;

/// A directory that names are looked up in, and nothing else: opening it so costs least.
pub(crate) const LOOKUP: OFlags = OFlags::PATH.union(OFlags::DIRECTORY);

/// The tree of a job: in the job's directory a top directory for each lane, or one for all, and `depth` levels of
/// `width` directories below it. The deepest ones, the leaves, hold the names.
pub(crate) struct Forest {
    place: Arc<Place>,
    tree: Tree,
    layout: Layout,
    /// Numbers of the top directories that this process makes.
    tops: Range<u32>,
    /// All directories were made by this job, or found to be there.
    made: AtomicBool,
}

impl Forest {
    pub(crate) fn new(place: Arc<Place>, tree: Tree, layout: Layout, tops: Range<u32>) -> Self {
        Forest { place, tree, layout, tops, made: AtomicBool::new(false) }
    }

    /// Number of the top directory in which a lane works.
    fn top(&self, lane: u32) -> u32 {
        match self.layout {
            Layout::Separate => lane,
            Layout::Shared => 0,
        }
    }

    /// Path of a lane's top directory, for messages.
    pub(crate) fn object_name(&self, lane: u32) -> String {
        format!("{}/t{}", self.place.folder(), self.top(lane))
    }

    /// The job's directory, open for flushing what is in it.
    pub(crate) fn folder(&self) -> Result<OwnedFd, SetupError> {
        self.place.open_folder().map_err(|errno| place::directory_error(self.place.folder(), errno))
    }

    /// Names of a lane in a full leaf.
    pub(crate) fn names_per_leaf(&self) -> u64 {
        self.tree.files_per_leaf()
    }

    /// Opens the leaf that holds a lane's name `number`; says which names are in it. `path` is room to work in.
    pub(crate) fn leaf_of(
        &self,
        folder: &OwnedFd,
        lane: u32,
        number: u64,
        path: &mut Vec<u8>,
    ) -> Result<(OwnedFd, Range<u64>), Errno> {
        let names = self.names_per_leaf();
        let leaf = number / names;
        let fd = self.open_leaf(folder, lane, leaf, LOOKUP, path)?;
        Ok((fd, leaf * names..(leaf + 1) * names))
    }

    /// The same for the first name of all, with an error for people.
    pub(crate) fn first_leaf(&self, folder: &OwnedFd, lane: u32) -> Result<(OwnedFd, Range<u64>), SetupError> {
        let opened = self.leaf_of(folder, lane, 0, &mut Vec::new());
        opened.map_err(|errno| {
            let mut path = Vec::new();
            write_path(self.top(lane), &self.tree, 0, &mut path);
            let path = String::from_utf8_lossy(&path[..path.len() - 1]).into_owned();
            place::directory_error(format!("{}/{path}", self.place.folder()), errno)
        })
    }

    /// Opens a lane's leaf by its number, without following a link or leaving the job's directory.
    pub(crate) fn open_leaf(
        &self,
        folder: &OwnedFd,
        lane: u32,
        leaf: u64,
        flags: OFlags,
        path: &mut Vec<u8>,
    ) -> Result<OwnedFd, Errno> {
        write_path(self.top(lane), &self.tree, leaf, path);
        let path = CStr::from_bytes_with_nul(path).map_err(|_| Errno::INVAL)?;
        place::open_below(folder, path, flags | OFlags::DIRECTORY)
    }

    /// Makes all directories that are not there yet.
    pub(crate) fn make(&self) -> Result<(), SetupError> {
        if self.made.load(Ordering::Relaxed) {
            return Ok(());
        }
        let folder = self.folder()?;
        for top in self.tops.clone() {
            let path = format!("{}/t{top}", self.place.folder());
            self.make_one(&folder, &format!("t{top}"), self.tree.depth, &path)?;
        }
        self.made.store(true, Ordering::Relaxed);
        Ok(())
    }

    /// Makes one directory and `levels` levels below it.
    fn make_one(&self, parent: &OwnedFd, name: &str, levels: u32, path: &str) -> Result<(), SetupError> {
        let made = match fs::mkdirat(parent, name, Mode::RWXU) {
            Ok(()) => true,
            Err(Errno::EXIST) => false,
            Err(errno) => return Err(SetupError::os("create", path, errno)),
        };
        if made && levels == 0 {
            return Ok(());
        }
        let refused = |errno| place::directory_error(path, errno);
        let here = place::open_inside(parent, name, LOOKUP, Mode::empty()).map_err(refused)?;
        if levels > 0 {
            for branch in 0..self.tree.width {
                let name = format!("b{branch}");
                self.make_one(&here, &name, levels - 1, &format!("{path}/{name}"))?;
            }
        }
        Ok(())
    }
}

/// `t<top>/b<n>/...` with a closing zero; the last number changes fastest from leaf to leaf.
fn write_path(top: u32, tree: &Tree, leaf: u64, path: &mut Vec<u8>) {
    path.clear();
    // Writing to a Vec cannot fail.
    let _ = write!(path, "t{top}");
    let width = u64::from(tree.width);
    for level in (0..tree.depth).rev() {
        let _ = write!(path, "/b{}", leaf / width.saturating_pow(level) % width);
    }
    path.push(0);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn paths(top: u32, depth: u32, width: u32) -> Vec<String> {
        let tree = Tree { files: 100, depth, width };
        let mut path = Vec::new();
        let text = |leaf| {
            write_path(top, &tree, leaf, &mut path);
            CStr::from_bytes_with_nul(&path).unwrap().to_str().unwrap().to_owned()
        };
        (0..tree.leaves()).map(text).collect()
    }

    #[test]
    fn leaves_follow_each_other() {
        assert_eq!(paths(3, 0, 5), ["t3"]);
        assert_eq!(paths(0, 1, 2), ["t0/b0", "t0/b1"]);
        assert_eq!(paths(10, 2, 2), ["t10/b0/b0", "t10/b0/b1", "t10/b1/b0", "t10/b1/b1"]);
    }
}
