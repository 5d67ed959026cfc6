//! The directories of a tree, and where a lane's names are in them.

mod calls;
mod entries;
pub(crate) mod lane;
mod leaves;
mod open_file;
pub(crate) mod ring;

use assay_core::{names, SetupError};
use assay_posix::place::{self, Place};
use assay_spec::{Layout, Tree};
use rustix::fd::OwnedFd;
use rustix::fs::{self, Mode, OFlags};
use rustix::io::Errno;
use std::ffi::CStr;
use std::ops::Range;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::Arc;

/// Flags for a directory in which only names are looked up: opening it like this costs least.
pub(crate) const LOOKUP: OFlags = OFlags::PATH.union(OFlags::DIRECTORY);

/// The tree of a job: in the job's directory a top directory for each lane, or one for all, and `depth` levels of
/// `width` directories below it. The deepest directories, the leaves, hold the names. Lanes use several places in turn;
/// a tree for all lanes then is one for each place.
pub(crate) struct JobTree {
    places: Vec<Arc<Place>>,
    tree: Tree,
    layout: Layout,
    /// Numbers of the lanes of this process.
    lanes: Range<u32>,
    /// All directories exist.
    made: AtomicBool,
}

impl JobTree {
    pub(crate) fn new(places: Vec<Arc<Place>>, tree: Tree, layout: Layout, lanes: Range<u32>) -> Self {
        JobTree { places, tree, layout, lanes, made: AtomicBool::new(false) }
    }

    fn place(&self, lane: u32) -> &Place {
        place::of_lane(&self.places, lane)
    }

    fn top(&self, lane: u32) -> u32 {
        names::top_of(self.layout, lane)
    }

    /// Path of a lane's top directory, for messages.
    pub(crate) fn object_name(&self, lane: u32) -> String {
        format!("{}/{}", self.place(lane).folder(), names::top_name(self.top(lane)))
    }

    /// The job's directory of a lane, open for flushing its contents.
    pub(crate) fn job_folder(&self, lane: u32) -> Result<OwnedFd, SetupError> {
        let place = self.place(lane);
        place.open_folder().map_err(|errno| place::directory_error(place.folder(), errno))
    }

    /// Names of a lane in a full leaf.
    pub(crate) fn names_per_leaf(&self) -> u64 {
        self.tree.files_per_leaf()
    }

    /// Opens the leaf that holds a lane's name `number`; returns it with the numbers of its names. `path` is a work
    /// buffer.
    pub(crate) fn leaf_of(
        &self,
        job_folder: &OwnedFd,
        lane: u32,
        number: u64,
        path: &mut Vec<u8>,
    ) -> Result<(OwnedFd, Range<u64>), Errno> {
        let names = self.names_per_leaf();
        let leaf = number / names;
        let fd = self.open_leaf(job_folder, lane, leaf, LOOKUP, path)?;
        Ok((fd, leaf * names..(leaf + 1) * names))
    }

    /// Opens the leaf of the first name, with an error for people.
    pub(crate) fn first_leaf(&self, job_folder: &OwnedFd, lane: u32) -> Result<(OwnedFd, Range<u64>), SetupError> {
        let opened = self.leaf_of(job_folder, lane, 0, &mut Vec::new());
        opened.map_err(|errno| {
            let mut path = Vec::new();
            names::put_leaf(self.top(lane), &self.tree, 0, &mut path);
            let path = String::from_utf8_lossy(&path).into_owned();
            place::directory_error(format!("{}/{path}", self.place(lane).folder()), errno)
        })
    }

    /// Opens a lane's leaf by its number, without following a link or leaving the job's directory.
    pub(crate) fn open_leaf(
        &self,
        job_folder: &OwnedFd,
        lane: u32,
        leaf: u64,
        flags: OFlags,
        path: &mut Vec<u8>,
    ) -> Result<OwnedFd, Errno> {
        names::put_leaf(self.top(lane), &self.tree, leaf, path);
        path.push(0);
        let path = CStr::from_bytes_with_nul(path).map_err(|_| Errno::INVAL)?;
        place::open_below(job_folder, path, flags | OFlags::DIRECTORY)
    }

    /// Makes all directories that do not exist yet.
    pub(crate) fn make(&self) -> Result<(), SetupError> {
        if self.made.load(Ordering::Relaxed) {
            return Ok(());
        }
        // A top directory of all lanes is made once in each place.
        let once = match self.layout {
            Layout::Separate => usize::MAX,
            Layout::Shared => self.places.len(),
        };
        for lane in self.lanes.clone().take(once) {
            let name = names::top_name(self.top(lane));
            let path = format!("{}/{name}", self.place(lane).folder());
            self.make_one(&self.job_folder(lane)?, &name, self.tree.depth, &path)?;
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
                let name = names::branch_name(branch);
                self.make_one(&here, &name, levels - 1, &format!("{path}/{name}"))?;
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests;
