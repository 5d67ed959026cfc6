//! The SMB backend.

use crate::capability;
use crate::lane::FileLane;
use crate::place::Place;
use crate::tree::lane::TreeLane;
use crate::tree::Forest;
use assay_core::{names, Backend, Lane, LaneSetup, PhasePlan, SetupError};
use assay_spec::{BackendCapabilities, CacheAction, Job, Layout, Operation, SmbTarget};
use std::ops::Range;
use std::sync::Arc;

/// Files of equal size, one per lane or one for all, or a tree of small files, in SMB shares.
pub(crate) struct SmbBackend {
    place: Arc<Place>,
    layout: Layout,
    /// Numbers of this process's lanes among those of all.
    lanes: Range<u32>,
    rank: u32,
    /// No other process works in the same directory.
    alone: bool,
    reuse: bool,
    /// Instead of the files.
    forest: Option<Arc<Forest>>,
    capabilities: BackendCapabilities,
}

impl SmbBackend {
    /// Signs in at each share. Nothing is written yet.
    ///
    /// # Errors
    /// If a server is not there or refuses, or if lanes would share a file across several shares.
    pub(crate) fn open(target: &SmbTarget, job: &Job) -> Result<Self, SetupError> {
        let place = Place::open(target)?;
        if job.layout == Layout::Shared && place.shares.len() > 1 && job.tree.is_none() {
            let message = "the shares do not share files: with layout shared, name one server and one share";
            return Err(SetupError::new("open", place.root_shown(0), message));
        }
        Ok(SmbBackend {
            capabilities: capability::at(&place),
            place: Arc::new(place),
            layout: job.layout,
            lanes: job.first_lane()..job.first_lane() + job.lanes,
            rank: job.rank,
            alone: job.ranks == 1,
            reuse: job.reuse_files,
            forest: job.tree.as_ref().map(|tree| Arc::new(Forest::new(tree.clone(), job.layout))),
        })
    }

    fn file_of(&self, lane: u32) -> u32 {
        match self.layout {
            Layout::Separate => lane,
            Layout::Shared => 0,
        }
    }

    /// Numbers of this process's files, or of its trees' top directories, in a share.
    fn numbers_in(&self, share: usize) -> Vec<u32> {
        let numbers = match &self.forest {
            // One for all of a share.
            Some(_) if self.layout == Layout::Shared => {
                let used = self.lanes.clone().any(|lane| self.place.share_of(lane) == share);
                return if used { vec![0] } else { vec![] };
            }
            Some(forest) => forest.tops(self.lanes.clone()),
            None if self.layout == Layout::Shared => 0..1,
            None => self.lanes.clone(),
        };
        numbers.filter(|number| self.place.share_of(*number) == share).collect()
    }

    /// Does something with each share and the numbers that are in it; the first error.
    fn in_each(&self, mut work: impl FnMut(usize, &[u32]) -> Result<(), SetupError>) -> Result<(), SetupError> {
        let all = (0..self.place.shares.len()).map(|share| work(share, &self.numbers_in(share)));
        all.fold(Ok(()), Result::and)
    }

    /// Makes the directories of trees.
    fn make_trees(&self, forest: &Forest) -> Result<(), SetupError> {
        self.in_each(|share, tops| {
            if tops.is_empty() {
                return Ok(());
            }
            let mut client = self.place.connected(share)?;
            self.place.check_folder(&mut client, share)?;
            let made = forest.make(&mut client, &self.place.folder(), tops);
            made.map_err(|fault| self.place.error("create", self.place.folder_shown(share), fault))
        })
    }

    /// Makes the files: empty ones for an operation that starts anew, otherwise only those that are missing.
    fn make_files(&self, anew: bool) -> Result<(), SetupError> {
        // Of a file for all, one process alone may throw away what is in it.
        let empty = anew && (self.layout == Layout::Separate || self.rank == 0);
        self.in_each(|share, files| match files {
            [] => Ok(()),
            _ => self.place.make_files(share, files, empty),
        })
    }
}

impl Backend for SmbBackend {
    fn capabilities(&self) -> BackendCapabilities {
        self.capabilities.clone()
    }

    fn prepare(&self) -> Result<(), SetupError> {
        if self.reuse {
            return Ok(());
        }
        self.place.prepare(self.alone)
    }

    fn begin_phase(&self, plan: &PhasePlan) -> Result<String, SetupError> {
        if plan.cache != CacheAction::Keep {
            let message = "the server's cache cannot be emptied from here";
            return Err(SetupError::new("cache", self.place.root_shown(0), message));
        }
        match &self.forest {
            Some(forest) => {
                if matches!(
                    plan.operation,
                    Operation::Create | Operation::Mkdir | Operation::Prepare | Operation::Write
                ) {
                    self.make_trees(forest)?;
                }
            }
            None if plan.operation.creates() || plan.operation == Operation::Prepare => {
                self.make_files(plan.operation.creates())?;
            }
            None => {}
        }
        Ok(String::new())
    }

    fn open_lane(&self, setup: LaneSetup) -> Result<Box<dyn Lane>, SetupError> {
        let place = Arc::clone(&self.place);
        Ok(match &self.forest {
            Some(forest) => Box::new(TreeLane::open(place, Arc::clone(forest), setup)),
            None => Box::new(FileLane::open(place, self.file_of(setup.lane), setup)),
        })
    }

    fn object_name(&self, lane: u32) -> String {
        let number = self.file_of(lane);
        let name = match self.forest {
            Some(_) => names::top_name(number),
            None => names::file_name(number),
        };
        let share = self.place.share_of(if self.forest.is_some() { lane } else { number });
        format!("{}/{name}", self.place.folder_shown(share))
    }

    fn cleanup(&self) -> Result<(), SetupError> {
        self.in_each(|share, numbers| {
            let name = |number: &u32| match self.forest {
                Some(_) => names::top_name(*number),
                None => names::file_name(*number),
            };
            self.place.remove_folder(share, &numbers.iter().map(name).collect::<Vec<_>>())
        })
    }
}
