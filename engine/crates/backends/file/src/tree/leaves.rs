//! The leaves that a lane with several operations in flight has open.

use crate::tree::JobTree;
use assay_core::SetupError;
use rustix::fd::{AsRawFd, OwnedFd, RawFd};
use rustix::io::Errno;
use std::ops::Range;
use std::sync::Arc;

/// An open leaf, and how many operations in flight use it.
struct Leaf {
    fd: OwnedFd,
    users: u32,
}

/// The open leaves of a lane: that of the last operation, and those of operations in flight.
pub(crate) struct Leaves {
    job_tree: Arc<JobTree>,
    lane: u32,
    job_folder: OwnedFd,
    /// `None` is a free place.
    open: Vec<Option<Leaf>>,
    /// The leaf of the last operation, and the numbers of its names.
    current: usize,
    leaf_names: Range<u64>,
    path: Vec<u8>,
}

impl Leaves {
    /// Opens the lane's first leaf.
    pub(crate) fn open(job_tree: &Arc<JobTree>, lane: u32) -> Result<Self, SetupError> {
        let job_folder = job_tree.job_folder(lane)?;
        let (fd, leaf_names) = job_tree.first_leaf(&job_folder, lane)?;
        let open = vec![Some(Leaf { fd, users: 0 })];
        Ok(Leaves { job_tree: Arc::clone(job_tree), lane, job_folder, open, current: 0, leaf_names, path: Vec::new() })
    }

    /// The job's directory.
    pub(crate) fn job_folder(&self) -> &OwnedFd {
        &self.job_folder
    }

    /// Returns the leaf of a name for one operation, which must `leave` it at its end: its descriptor, and its place
    /// here.
    #[inline]
    pub(crate) fn enter(&mut self, number: u64) -> Result<(RawFd, usize), i32> {
        if !self.leaf_names.contains(&number) {
            self.change_leaf(number)?;
        }
        let leaf = self.open[self.current].as_mut().ok_or(libc::EBADF)?;
        leaf.users += 1;
        Ok((leaf.fd.as_raw_fd(), self.current))
    }

    #[cold]
    fn change_leaf(&mut self, number: u64) -> Result<(), i32> {
        let opened = self.job_tree.leaf_of(&self.job_folder, self.lane, number, &mut self.path);
        let (fd, leaf_names) = opened.map_err(Errno::raw_os_error)?;
        let room = self.open.iter().position(Option::is_none).unwrap_or(self.open.len());
        if room == self.open.len() {
            self.open.push(None);
        }
        self.open[room] = Some(Leaf { fd, users: 0 });
        let left = std::mem::replace(&mut self.current, room);
        self.leaf_names = leaf_names;
        self.close_if_unused(left);
        Ok(())
    }

    /// Notes that an operation in a leaf has ended.
    #[inline]
    pub(crate) fn leave(&mut self, place: usize) {
        if let Some(leaf) = &mut self.open[place] {
            leaf.users -= 1;
        }
        if place != self.current {
            self.close_if_unused(place);
        }
    }

    fn close_if_unused(&mut self, place: usize) {
        if self.open[place].as_ref().is_some_and(|leaf| leaf.users == 0) {
            self.open[place] = None;
        }
    }
}

#[cfg(test)]
impl Leaves {
    /// How many are open.
    pub(crate) fn count(&self) -> usize {
        self.open.iter().flatten().count()
    }
}
