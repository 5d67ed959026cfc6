//! The leaves that a lane with several operations in flight is in.

use crate::tree::Forest;
use assay_core::SetupError;
use rustix::fd::{AsRawFd, OwnedFd, RawFd};
use rustix::io::Errno;
use std::ops::Range;
use std::sync::Arc;

/// A leaf that is open, and how many operations in flight are in it.
struct Leaf {
    fd: OwnedFd,
    users: u32,
}

/// The leaves of a lane that are open: that of the last operation, and those that operations in flight are in.
pub(crate) struct Leaves {
    forest: Arc<Forest>,
    lane: u32,
    folder: OwnedFd,
    /// Where there is none, there is room for one.
    open: Vec<Option<Leaf>>,
    /// The leaf of the last operation, and the numbers of its names.
    current: usize,
    here: Range<u64>,
    path: Vec<u8>,
}

impl Leaves {
    /// Opens the lane's first leaf.
    pub(crate) fn open(forest: &Arc<Forest>, lane: u32) -> Result<Self, SetupError> {
        let folder = forest.folder(lane)?;
        let (fd, here) = forest.first_leaf(&folder, lane)?;
        let open = vec![Some(Leaf { fd, users: 0 })];
        Ok(Leaves { forest: Arc::clone(forest), lane, folder, open, current: 0, here, path: Vec::new() })
    }

    /// The job's directory.
    pub(crate) fn folder(&self) -> &OwnedFd {
        &self.folder
    }

    /// The leaf of a name, for one operation, which must `leave` it at its end: the descriptor, and its place here.
    #[inline]
    pub(crate) fn enter(&mut self, number: u64) -> Result<(RawFd, usize), i32> {
        if !self.here.contains(&number) {
            self.go_to(number)?;
        }
        let leaf = self.open[self.current].as_mut().ok_or(libc::EBADF)?;
        leaf.users += 1;
        Ok((leaf.fd.as_raw_fd(), self.current))
    }

    #[cold]
    fn go_to(&mut self, number: u64) -> Result<(), i32> {
        let opened = self.forest.leaf_of(&self.folder, self.lane, number, &mut self.path);
        let (fd, here) = opened.map_err(Errno::raw_os_error)?;
        let room = self.open.iter().position(Option::is_none).unwrap_or(self.open.len());
        if room == self.open.len() {
            self.open.push(None);
        }
        self.open[room] = Some(Leaf { fd, users: 0 });
        let left = std::mem::replace(&mut self.current, room);
        self.here = here;
        self.close_if_unused(left);
        Ok(())
    }

    /// An operation in a leaf has ended.
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
