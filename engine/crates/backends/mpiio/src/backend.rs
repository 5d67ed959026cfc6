//! The storage of a job as one rank sees it.

use crate::capability;
use crate::ffi::RankInfo;
use crate::lane::MpiLane;
use crate::ranks::{self, Ranks};
use assay_core::{clock, heartbeat, Backend, CollectiveBackend, Lane, LaneSetup, PartOwners, PhasePlan, SetupError};
use assay_posix::place::cache::{self, Eviction};
use assay_posix::place::Place;
use assay_spec::{BackendCapabilities, CacheAction, Job, Layout, MpiioTarget, Operation};
use rustix::fs::OFlags;
use rustix::io::Errno;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

/// The storage that a rank works on.
pub(crate) struct Site {
    pub(crate) place: Place,
    pub(crate) target: MpiioTarget,
    pub(crate) layout: Layout,
    pub(crate) ranks: Ranks,
    pub(crate) file_size: u64,
    /// Bytes of an operation; bytes that a rank has in a row for the driver; bytes that it has in a row in a view.
    pub(crate) record: u64,
    pub(crate) block: u64,
    pub(crate) piece: u32,
    /// A failure before the lane begins a phase, which the lane reports to all ranks.
    failed: Mutex<Option<SetupError>>,
}

impl Site {
    /// The number of the file of the rank on whose part of the data a lane works.
    pub(crate) fn file_of(&self, lane: u32) -> u32 {
        match self.layout {
            Layout::Separate => lane,
            Layout::Shared => 0,
        }
    }

    /// The number of the file that this rank works on in a phase.
    pub(crate) fn file_in(&self, owners: PartOwners) -> u32 {
        self.file_of(owners.of(self.ranks.0.rank))
    }

    /// Whether all ranks open one file together.
    pub(crate) fn shared(&self) -> bool {
        self.layout == Layout::Shared
    }

    /// Whether this rank does what only one rank does with a file.
    pub(crate) fn owns(&self) -> bool {
        !self.shared() || self.ranks.0.rank == 0
    }

    /// Whether this rank does what only one rank of a host does.
    fn first_on_host(&self) -> bool {
        self.ranks.0.on_host == 0
    }

    /// Takes out the failure before the phase.
    pub(crate) fn failure(&self) -> Result<(), SetupError> {
        self.failed.lock().unwrap_or_else(PoisonError::into_inner).take().map_or(Ok(()), Err)
    }

    /// Makes the file: empty for an operation that starts anew, or just present for `prepare`, whichever rank opens it
    /// next. The lane that begins the operation has the library make it once more.
    fn make_file(&self, plan: &PhasePlan) -> Result<(), SetupError> {
        let anew = plan.operation.creates();
        if !self.owns() || !(anew || plan.operation == Operation::Prepare) {
            return Ok(());
        }
        let truncate = if anew { OFlags::TRUNC } else { OFlags::empty() };
        self.place.open(self.file_in(plan.owners), OFlags::RDWR | OFlags::CREATE | truncate).map(drop)
    }

    fn evict(&self, file: u32) -> Result<String, SetupError> {
        let mut emptied = Eviction::default();
        let fd = match self.place.open(file, OFlags::RDONLY) {
            Ok(fd) => fd,
            Err(error) if error.errno() == Some(Errno::NOENT.raw_os_error()) => return Ok(emptied.description()),
            Err(error) => return Err(error),
        };
        let error = |errno| SetupError::os("cache", self.place.object_name(file), errno);
        emptied.evict(&fd).map_err(error)?;
        Ok(emptied.description())
    }

    /// Empties the cache. Ranks of a host share it, and a file that they share is in it once.
    fn empty_cache(&self, plan: &PhasePlan) -> Result<String, SetupError> {
        match plan.cache {
            CacheAction::Evict if !self.shared() || self.first_on_host() => self.evict(self.file_in(plan.owners)),
            CacheAction::Drop if self.first_on_host() => cache::drop_caches(),
            CacheAction::Evict | CacheAction::Drop => Ok("done by the first rank of this host".to_owned()),
            CacheAction::Keep => Ok(String::new()),
        }
    }
}

/// Files that are accessed through MPI-IO, one for each rank or one for all.
pub(crate) struct MpiBackend {
    site: Arc<Site>,
    capabilities: BackendCapabilities,
    has_other_processes: bool,
    reuse: bool,
}

impl MpiBackend {
    /// Starts MPI. Nothing is written yet.
    ///
    /// # Errors
    /// If the place may not be written to, or this process is not the rank that the job is for.
    pub(crate) fn open(target: &MpiioTarget, job: &Job) -> Result<Self, SetupError> {
        let place = Place::directory(&target.root, &target.directory, target.run.as_deref())?;
        let capabilities = capability::at(&place)?;
        Self::of_rank(ranks::start()?, place, capabilities, (target, job))
    }

    /// The backend of one rank.
    pub(crate) fn of_rank(
        own: RankInfo,
        place: Place,
        capabilities: BackendCapabilities,
        (target, job): (&MpiioTarget, &Job),
    ) -> Result<Self, SetupError> {
        if own.size != job.ranks {
            let message = format!(
                "the job has {} ranks, and MPI has started {}: start as many, such as by mpirun -n {}",
                job.ranks, own.size, job.ranks
            );
            return Err(SetupError::new("start", "MPI", message));
        }
        if own.rank != job.rank {
            let message = format!("the job is that of rank {}, and this process is MPI's rank {}", job.rank, own.rank);
            return Err(SetupError::new("start", "MPI", message));
        }
        let site = Site {
            place,
            target: target.clone(),
            layout: job.layout,
            ranks: Ranks(own),
            file_size: job.file_size_bytes,
            record: job.record_size_bytes,
            block: job.block_size_bytes.unwrap_or(job.file_size_bytes),
            piece: target.piece_bytes.unwrap_or(1),
            failed: Mutex::new(None),
        };
        Ok(MpiBackend {
            site: Arc::new(site),
            capabilities,
            has_other_processes: job.ranks > 1,
            reuse: job.reuse_files,
        })
    }
}

impl Backend for MpiBackend {
    fn capabilities(&self) -> BackendCapabilities {
        self.capabilities.clone()
    }

    fn prepare(&self) -> Result<(), SetupError> {
        if self.reuse {
            return Ok(());
        }
        self.site.place.create(self.has_other_processes)
    }

    /// Calls nothing of MPI, as the lane may still be closing the last phase's file. A failure is left to the lane to
    /// report, since all ranks must fail then.
    fn begin_phase(&self, plan: &PhasePlan) -> Result<String, SetupError> {
        let ready = self.site.place.still_there().and_then(|()| self.site.make_file(plan));
        let done = ready.and_then(|()| self.site.empty_cache(plan));
        done.or_else(|error| {
            *self.site.failed.lock().unwrap_or_else(PoisonError::into_inner) = Some(error);
            Ok(String::new())
        })
    }

    fn open_lane(&self, setup: LaneSetup) -> Result<Box<dyn Lane>, SetupError> {
        Ok(Box::new(MpiLane::new(Arc::clone(&self.site), setup)))
    }

    fn object_name(&self, lane: u32) -> String {
        self.site.place.object_name(self.site.file_of(lane))
    }

    fn device(&self) -> Option<(u32, u32)> {
        self.site.place.device_number()
    }

    fn cached_bytes(&self, plan: &PhasePlan) -> Option<u64> {
        if self.site.shared() && !self.site.first_on_host() {
            return Some(0);
        }
        let fd = self.site.place.open(self.site.file_in(plan.owners), OFlags::RDONLY).ok()?;
        Some(cache::cached_pages(&fd)? * rustix::param::page_size() as u64)
    }

    fn collective(&self) -> Option<&dyn CollectiveBackend> {
        Some(self)
    }

    fn cleanup(&self) -> Result<(), SetupError> {
        self.site.place.still_there()?;
        self.site.place.remove(std::iter::once(self.site.file_of(self.site.ranks.0.rank)), self.has_other_processes)
    }
}

impl CollectiveBackend for MpiBackend {
    /// Starts the ranks once all of them are here, and not before `at`: MPI's barrier is more precise than the clocks
    /// of several hosts.
    fn barrier(&self, at: Option<u64>) -> Option<u64> {
        let wait = at.unwrap_or(0).saturating_sub(clock::now());
        if wait > 0 {
            std::thread::sleep(Duration::from_nanos(wait));
            heartbeat::beat();
        }
        let [go] = self.site.ranks.least([i64::from(at.is_some())]).ok()?;
        (go == 1).then(clock::now)
    }
}
