//! The backend for files and devices.

use crate::auto::{self, KnownMethods};
use crate::capability;
use crate::lane::FileLane;
use crate::tree::lane::TreeLane;
use crate::tree::JobTree;
use assay_core::{heartbeat, Backend, Lane, LaneSetup, PartOwners, PhasePlan, SetupError};
use assay_posix::allow_many_descriptors;
use assay_posix::place::cache::{self, Eviction};
use assay_posix::place::{self, Place};
use assay_spec::{
    BackendCapabilities, CacheAction, FileTarget, Job, Layout, MethodShape, MethodsFound, Operation, Tree,
};
use rustix::fs::{self, FallocateFlags, OFlags};
use std::ops::Range;
use std::sync::Arc;

/// Files of equal size, one for each lane or one for all; or a tree of small files; or a block device.
pub(crate) struct FileBackend {
    /// Directories or devices, which the lanes use in turn.
    places: Vec<Arc<Place>>,
    /// Numbers of this process's files.
    files: Range<u32>,
    /// Other processes work in the same directory.
    has_other_processes: bool,
    /// One file for the lanes of all processes.
    shared: bool,
    /// This process empties the files: only one process empties a file that the lanes of all processes share.
    empties: bool,
    file_size: u64,
    /// A device, which may hold data of others.
    foreign: bool,
    /// The tree that takes the place of the files.
    tree: Option<Arc<JobTree>>,
    reuse: bool,
    capabilities: BackendCapabilities,
    /// The methods that the first lane finds, for all lanes.
    known: Arc<KnownMethods>,
}

impl FileBackend {
    /// Files in `root`/`directory`, where `root` is marked, and in each of the target's shares.
    ///
    /// # Errors
    /// If the place may not be written to.
    pub(crate) fn directory(target: &FileTarget, files: Range<u32>, file_size: u64) -> Result<Self, SetupError> {
        let roots = std::iter::once(&target.root).chain(&target.shares);
        let at = |root: &String| Place::directory(root, &target.directory, target.run.as_deref());
        Self::at(roots.map(at).collect::<Result<_, _>>()?, files, file_size)
    }

    /// A block device, of which the first `file_size` bytes are used.
    ///
    /// # Errors
    /// If the device may not be written to, or is too small.
    pub(crate) fn device(path: &str, file_size: u64) -> Result<Self, SetupError> {
        let backend = FileBackend { foreign: true, ..Self::at(vec![Place::device(path)?], 0..1, file_size)? };
        let size = backend.capabilities.place.as_ref().and_then(|place| place.free_bytes).unwrap_or(0);
        if file_size > size {
            let message = format!("has {size} bytes: make file_size_bytes ({file_size}) smaller");
            return Err(SetupError::new("open", path, message));
        }
        Ok(backend)
    }

    fn at(places: Vec<Place>, files: Range<u32>, file_size: u64) -> Result<Self, SetupError> {
        let capabilities = capability::of_all(&places)?;
        let shared = files.len() == 1;
        Ok(FileBackend {
            places: places.into_iter().map(Arc::new).collect(),
            files,
            has_other_processes: false,
            shared,
            empties: true,
            file_size,
            foreign: false,
            tree: None,
            reuse: false,
            capabilities,
            known: Arc::default(),
        })
    }

    /// With `reuse`, the files exist already and `prepare` makes nothing.
    #[must_use]
    pub(crate) fn reusing(mut self, reuse: bool) -> Self {
        self.reuse = reuse;
        self
    }

    /// Makes the backend that of one process among those of a job.
    #[must_use]
    pub(crate) fn among(mut self, job: &Job) -> Self {
        self.has_other_processes = job.ranks > 1;
        self.shared = job.layout == Layout::Shared;
        self.empties = job.rank == 0 || job.layout == Layout::Separate;
        self
    }

    /// Puts a tree of small files, on whose names the job's lanes work, in the place of the files.
    #[must_use]
    pub(crate) fn with_tree(mut self, tree: Tree, job: &Job) -> Self {
        let lanes = job.first_lane()..job.first_lane() + job.lanes;
        self.tree = Some(Arc::new(JobTree::new(self.places.clone(), tree, job.layout, lanes)));
        self
    }

    /// Numbers of the files of this process, or of its top directories if the job has a tree.
    pub(crate) fn files_for(job: &Job) -> Range<u32> {
        match job.layout {
            Layout::Separate => job.first_lane()..job.first_lane() + job.lanes,
            Layout::Shared => 0..1,
        }
    }

    /// The methods that `auto` takes for each kind of case.
    pub(crate) fn methods(&self, shapes: &[MethodShape]) -> Vec<MethodsFound> {
        shapes.iter().map(|shape| auto::find(&self.places[0], shape)).collect()
    }

    fn file_of(&self, lane: u32) -> u32 {
        if self.shared {
            self.files.start
        } else {
            lane
        }
    }

    /// The files that the lanes of this process work on.
    fn files_in(&self, owners: PartOwners) -> impl Iterator<Item = u32> + '_ {
        self.files.clone().map(move |file| owners.of(file))
    }

    fn place_of(&self, file: u32) -> &Arc<Place> {
        place::of_lane(&self.places, file)
    }

    /// Makes the files: empty ones for an operation that starts anew, otherwise only missing ones.
    fn create_files(&self, anew: bool, preallocate: bool) -> Result<(), SetupError> {
        let truncate = if anew && self.empties { OFlags::TRUNC } else { OFlags::empty() };
        for file in self.files.clone() {
            heartbeat::beat();
            let fd = self.place_of(file).open(file, OFlags::RDWR | OFlags::CREATE | truncate)?;
            if preallocate {
                fs::fallocate(&fd, FallocateFlags::empty(), 0, self.file_size).map_err(|e| {
                    SetupError::os("preallocate", self.place_of(file).object_name(file), e).with_length(self.file_size)
                })?;
            }
        }
        Ok(())
    }

    fn evict(&self, owners: PartOwners) -> Result<String, SetupError> {
        let mut emptied = Eviction::default();
        for file in self.files_in(owners) {
            heartbeat::beat();
            let error = |e| SetupError::os("cache", self.place_of(file).object_name(file), e);
            emptied.evict(&self.place_of(file).open(file, OFlags::RDONLY)?).map_err(error)?;
        }
        Ok(emptied.description())
    }
}

impl Backend for FileBackend {
    fn may_hold_others_data(&self) -> bool {
        self.foreign
    }

    fn capabilities(&self) -> BackendCapabilities {
        self.capabilities.clone()
    }

    fn prepare(&self) -> Result<(), SetupError> {
        if self.tree.is_some() {
            allow_many_descriptors();
        }
        if self.reuse {
            return Ok(());
        }
        self.places.iter().try_for_each(|place| place.create(self.has_other_processes))
    }

    fn begin_phase(&self, plan: &PhasePlan) -> Result<String, SetupError> {
        if let Some(tree) = &self.tree {
            if matches!(plan.operation, Operation::Create | Operation::Mkdir | Operation::Prepare | Operation::Write) {
                tree.make()?;
            }
        } else if plan.operation.creates() || plan.operation == Operation::Prepare {
            self.create_files(plan.operation.creates(), plan.preallocate)?;
        }
        match plan.cache {
            CacheAction::Keep => Ok(String::new()),
            CacheAction::Evict => self.evict(plan.owners),
            CacheAction::Drop => cache::drop_caches(),
        }
    }

    fn open_lane(&self, setup: LaneSetup) -> Result<Box<dyn Lane>, SetupError> {
        if let Some(tree) = &self.tree {
            return Ok(Box::new(TreeLane::new(Arc::clone(tree), setup)));
        }
        let file = self.file_of(setup.lane);
        let place = Arc::clone(self.place_of(file));
        let lane = FileLane::new(place, file, self.file_size, setup, Arc::clone(&self.known));
        Ok(Box::new(lane))
    }

    fn object_name(&self, lane: u32) -> String {
        match &self.tree {
            Some(tree) => tree.object_name(lane),
            None => self.place_of(self.file_of(lane)).object_name(self.file_of(lane)),
        }
    }

    fn device(&self) -> Option<(u32, u32)> {
        // The counts of one device prove nothing if the data is spread over several.
        let first = self.places[0].device_number();
        first.filter(|_| self.places.iter().all(|place| place.device_number() == first))
    }

    fn cached_bytes(&self, plan: &PhasePlan) -> Option<u64> {
        if self.tree.is_some() {
            return None;
        }
        let pages = |file| cache::cached_pages(&self.place_of(file).open(file, OFlags::RDONLY).ok()?);
        let pages: Option<u64> = self.files_in(plan.owners).map(pages).sum();
        Some(pages? * rustix::param::page_size() as u64)
    }

    fn cleanup(&self) -> Result<(), SetupError> {
        let remove = |(number, place): (usize, &Arc<Place>)| match self.tree {
            Some(_) => place.remove_all(self.has_other_processes),
            None => {
                let here = |file: &u32| *file as usize % self.places.len() == number;
                place.remove(self.files.clone().filter(here), self.has_other_processes)
            }
        };
        // A failure in one place does not keep the others from being emptied.
        self.places.iter().enumerate().map(remove).fold(Ok(()), Result::and)
    }

    fn still_there(&self) -> Result<(), SetupError> {
        self.places.iter().try_for_each(|place| place.still_there())
    }
}

#[cfg(test)]
#[path = "backend_tests.rs"]
mod tests;
