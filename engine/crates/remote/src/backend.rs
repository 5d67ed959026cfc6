//! The backend of a target that several servers or shares hold.

use crate::{capabilities, Forest, RemotePlace};
use assay_core::{names, Backend, Lane, LaneSetup, PhasePlan, SetupError};
use assay_spec::{BackendCapabilities, CacheAction, Job, Layout, Operation};
use std::ops::Range;
use std::sync::Arc;

/// Files of equal size, one per lane or one for all, or a tree of small files, in exports or shares.
pub struct RemoteBackend<P> {
    place: Arc<P>,
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

impl<P: RemotePlace> RemoteBackend<P> {
    /// The storage of a job. Nothing is written yet.
    pub fn new(place: P, job: &Job) -> Self {
        RemoteBackend {
            capabilities: capabilities(&place),
            place: Arc::new(place),
            layout: job.layout,
            lanes: job.first_lane()..job.first_lane() + job.lanes,
            rank: job.rank,
            alone: job.ranks == 1,
            reuse: job.reuse_files,
            forest: job.tree.as_ref().map(|tree| Arc::new(Forest::new(tree.clone(), job.layout))),
        }
    }

    fn file_of(&self, lane: u32) -> u32 {
        match self.layout {
            Layout::Separate => lane,
            Layout::Shared => 0,
        }
    }

    /// Name of a file, or of a tree's top directory.
    fn name(&self, number: u32) -> String {
        match self.forest {
            Some(_) => names::top_name(number),
            None => names::file_name(number),
        }
    }

    /// Numbers of this process's files, or of its trees' top directories, in a volume.
    pub fn numbers_in(&self, volume: usize) -> Vec<u32> {
        let numbers = match &self.forest {
            // One for all of a volume.
            Some(_) if self.layout == Layout::Shared => {
                let used = self.lanes.clone().any(|lane| self.place.volume_of(lane) == volume);
                return if used { vec![0] } else { vec![] };
            }
            Some(forest) => forest.tops(self.lanes.clone()),
            None if self.layout == Layout::Shared => 0..1,
            None => self.lanes.clone(),
        };
        numbers.filter(|number| self.place.volume_of(*number) == volume).collect()
    }

    /// Does something with each volume and the numbers that are in it; the first error.
    fn in_each(&self, work: impl Fn(usize, &[u32]) -> Result<(), SetupError> + Sync) -> Result<(), SetupError> {
        let in_one = |volume| work(volume, &self.numbers_in(volume));
        let in_one = &in_one;
        let volumes = 0..self.place.volume_count();
        if !P::PARALLEL || volumes.len() == 1 {
            return volumes.map(in_one).fold(Ok(()), Result::and);
        }
        std::thread::scope(|scope| {
            let threads: Vec<_> = volumes.map(|volume| scope.spawn(move || in_one(volume))).collect();
            let results = threads.into_iter().map(|thread| thread.join().expect("does not panic"));
            results.fold(Ok(()), Result::and)
        })
    }

    /// Makes what a phase works on: directories of trees, or files, which are empty ones for an operation that starts anew,
    /// otherwise only those that are missing.
    fn make(&self, operation: Operation) -> Result<(), SetupError> {
        let anew = operation.creates();
        // Of a file for all, one process alone may throw away what is in it.
        let empty = anew && (self.layout == Layout::Separate || self.rank == 0);
        let (place, forest) = (&self.place, self.forest.as_ref());
        let wanted = match forest {
            Some(_) => {
                matches!(operation, Operation::Create | Operation::Mkdir | Operation::Prepare | Operation::Write)
            }
            None => anew || operation == Operation::Prepare,
        };
        if !wanted {
            return Ok(());
        }
        self.in_each(|volume, numbers| match forest {
            _ if numbers.is_empty() => Ok(()),
            Some(forest) => place.make_trees(volume, forest, numbers),
            None => place.make_files(volume, numbers, empty),
        })
    }
}

impl<P: RemotePlace> Backend for RemoteBackend<P> {
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
            return Err(SetupError::new("cache", self.place.root_path(0), message));
        }
        self.make(plan.operation).map(|()| String::new())
    }

    fn open_lane(&self, setup: LaneSetup) -> Result<Box<dyn Lane>, SetupError> {
        let place = Arc::clone(&self.place);
        Ok(match &self.forest {
            Some(forest) => place.tree_lane(Arc::clone(forest), setup),
            None => place.file_lane(self.file_of(setup.lane), setup),
        })
    }

    fn object_name(&self, lane: u32) -> String {
        let number = self.file_of(lane);
        let volume = self.place.volume_of(if self.forest.is_some() { lane } else { number });
        format!("{}/{}", self.place.folder_path(volume), self.name(number))
    }

    fn cleanup(&self) -> Result<(), SetupError> {
        self.in_each(|volume, numbers| {
            let names: Vec<String> = numbers.iter().map(|number| self.name(*number)).collect();
            self.place.remove_folder(volume, &names)
        })
    }
}
