//! The NFS backend.

use crate::capability;
use crate::lane::FileLane;
use crate::place::Place;
use crate::tree::lane::TreeLane;
use crate::tree::Forest;
use assay_core::{names, Backend, Lane, LaneSetup, PhasePlan, SetupError};
use assay_spec::{BackendCapabilities, CacheAction, Job, Layout, NfsTarget, Operation};
use std::ops::Range;
use std::sync::Arc;

/// Files of equal size, one per lane or one for all, or a tree of small files, in NFS exports.
pub(crate) struct NfsBackend {
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

impl NfsBackend {
    /// Mounts the export from each server. Nothing is written yet.
    ///
    /// # Errors
    /// If a server is not there or refuses, or if lanes would share a file across several servers.
    pub(crate) fn open(target: &NfsTarget, job: &Job) -> Result<Self, SetupError> {
        if job.layout == Layout::Shared && target.servers.len() > 1 && job.tree.is_none() {
            let message = "the servers do not share files: with layout shared, name one server";
            return Err(SetupError::new("open", target.servers.join(", "), message));
        }
        let place = Place::open(target)?;
        Ok(NfsBackend {
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

    /// Numbers of this process's files, or of its trees' top directories, on a server.
    fn numbers_on(&self, server: usize) -> Vec<u32> {
        let numbers = match &self.forest {
            // One for all of a server.
            Some(_) if self.layout == Layout::Shared => {
                return if self.lanes.clone().any(|lane| self.place.server_of(lane) == server) {
                    vec![0]
                } else {
                    vec![]
                };
            }
            Some(forest) => forest.tops(self.lanes.clone()),
            None if self.layout == Layout::Shared => 0..1,
            None => self.lanes.clone(),
        };
        numbers.filter(|number| self.place.server_of(*number) == server).collect()
    }

    /// Does something with each server and the numbers that are on it, at the same time, so that one that does not
    /// answer holds up no other; the first error.
    fn on_each(&self, work: impl Fn(usize, &[u32]) -> Result<(), SetupError> + Sync) -> Result<(), SetupError> {
        let on = |server| work(server, &self.numbers_on(server));
        let on = &on;
        match self.place.servers.len() {
            1 => on(0),
            count => std::thread::scope(|scope| {
                let threads: Vec<_> = (0..count).map(|server| scope.spawn(move || on(server))).collect();
                let results = threads.into_iter().map(|thread| thread.join().expect("does not panic"));
                results.fold(Ok(()), Result::and)
            }),
        }
    }

    /// Makes the directories of trees.
    fn make_trees(&self, forest: &Forest) -> Result<(), SetupError> {
        self.on_each(|server, tops| {
            if tops.is_empty() {
                return Ok(());
            }
            let mut client = self.place.client(server, 1);
            let folder = self.place.folder(&mut client, server)?;
            let made = forest.make(&mut client, &folder, tops);
            made.map_err(|fault| self.place.error("create", self.place.folder_path(server), fault))
        })
    }

    /// Makes the files: empty ones for an operation that starts anew, otherwise only those that are missing.
    fn make_files(&self, anew: bool) -> Result<(), SetupError> {
        // Of a file for all, one process alone may throw away what is in it.
        let empty = anew && (self.layout == Layout::Separate || self.rank == 0);
        self.on_each(|server, files| match files {
            [] => Ok(()),
            _ => self.place.make_files(server, files, empty),
        })
    }
}

impl Backend for NfsBackend {
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
            return Err(SetupError::new(
                "cache",
                self.place.root_path(0),
                "the server's cache cannot be emptied from here",
            ));
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
            None => {
                let file = self.file_of(setup.lane);
                Box::new(FileLane::open(place, self.place.server_of(file), file, setup))
            }
        })
    }

    fn object_name(&self, lane: u32) -> String {
        let number = self.file_of(lane);
        let server = self.place.server_of(if self.forest.is_some() { lane } else { number });
        let name = match self.forest {
            Some(_) => names::top_name(number),
            None => Place::file_name(number),
        };
        format!("{}/{name}", self.place.folder_path(server))
    }

    fn cleanup(&self) -> Result<(), SetupError> {
        self.on_each(|server, numbers| {
            let name = |number: &u32| match self.forest {
                Some(_) => names::top_name(*number),
                None => Place::file_name(*number),
            };
            self.place.remove_folder(server, &numbers.iter().map(name).collect::<Vec<_>>())
        })
    }
}

#[cfg(test)]
#[path = "backend_tests.rs"]
mod tests;
