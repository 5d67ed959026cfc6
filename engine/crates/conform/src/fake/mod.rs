//! In-memory storage that works correctly or has one defect. The suite must find the defect, and only the checks for it
//! may fail.

mod files;
mod keys;
mod names;

use crate::check::Subject;
use assay_core::names::{file_name, top_name, top_of};
use assay_core::{
    Backend, Buffers, Completion, Fault, Lane, LaneSetup, MethodChoice, Op, PhasePlan, SetupError, Source,
};
use assay_spec::{
    BackendCapabilities, CacheAction, Job, Layout, Method, NullTarget, Operation, PlaceCapabilities, SyncPolicy,
    Target, Tree,
};
use files::FileWork;
use keys::KeyWork;
use names::NameWork;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, MutexGuard};

/// The defect of the storage.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Defect {
    /// No defect.
    None,
    /// One overwritten record is confirmed but not changed.
    LosesOverwrites,
    /// Only the first sector of an overwritten record arrives.
    TearsOverwrites,
    /// Other openings see written data only after a flush.
    HidesUntilFlush,
    /// Other openings see written data only after its writer has closed the file.
    HidesUntilClose,
    /// Written data is lost when the writer closes the file.
    ForgetsAtClose,
    /// A lane that has read data once gets the same data again.
    RemembersReads,
    FailsFlushes,
    /// One bit of the read data is wrong.
    FlipsBits,
    /// One bit is wrong on the first read only.
    FlipsBitsOnce,
    ReadsShort,
    PadsTheEnd,
    FailsBeyondTheEnd,
    FillsHoles,
    /// Loses writes that begin at the end of the file, in the middle of a sector.
    LosesAppends,
    /// A file that should have been emptied is not.
    KeepsWhatItWas,
    MakesWhatIsOpened,
    FailsToReserve,
    EvictsUnwritten,
    /// The highest bits of addresses are ignored.
    WrapsAddresses,
    ReportsOtherSizes,
    CutsContents,
    ReplacesTaken,
    FindsMissing,
    KeepsUnlinked,
    RevivesContents,
    CopiesOnRename,
    RefusesToReplace,
    MakesDirectoriesTwice,
    ListsRemoved,
    ListsOnePage,
    EmptiesOnOpen,
    FailsRemoval,
    IgnoresRanges,
    KeepsLongerTail,
    GetsMissing,
    KeepsDeleted,
    LeavesOneOfMany,
    EmptiesOnCopy,
    /// The first incomplete upload is visible.
    ShowsIncomplete,
    MixesParts,
}

/// Everything that is stored.
#[derive(Default)]
pub(crate) struct World {
    /// Files and objects by path.
    files: BTreeMap<String, Vec<u8>>,
    folders: BTreeSet<String>,
    /// What was stored under these names before they were removed.
    removed: BTreeMap<String, Vec<u8>>,
    /// Parts of incomplete uploads, by offset.
    uploads: BTreeMap<String, BTreeMap<u64, Vec<u8>>>,
    /// Where bits have been flipped.
    flipped: BTreeSet<(String, u64)>,
    /// Size of the device in bytes, or `None` if there are files.
    device: Option<usize>,
}

/// The subject of the checks.
pub(crate) struct Fake {
    pub(crate) able: BackendCapabilities,
    pub(crate) defect: Defect,
    world: Arc<Mutex<World>>,
}

fn able(operations: impl Iterator<Item = Operation>) -> BackendCapabilities {
    BackendCapabilities {
        kind: "null".to_owned(),
        operations: operations.filter(|one| !one.stdio()).collect(),
        layouts: vec![Layout::Separate],
        methods: vec![Method::Sync],
        direct: false,
        direct_bypasses_cache: false,
        direct_alignment_bytes: 0,
        sync: vec![SyncPolicy::None, SyncPolicy::Fsync],
        cache: vec![CacheAction::Keep, CacheAction::Evict],
        file_sets: true,
        preallocate: true,
        verify: true,
        place: None,
    }
}

impl Fake {
    pub(crate) fn files(defect: Defect) -> Self {
        Fake { able: able(Operation::of_files()), defect, world: Arc::default() }
    }

    /// A device of `bytes` bytes.
    pub(crate) fn device(defect: Defect, bytes: usize) -> Self {
        let place = PlaceCapabilities {
            path: "/dev/fake".to_owned(),
            filesystem: "block".to_owned(),
            free_bytes: Some(bytes as u64),
            limits: vec!["is none".to_owned()],
            absent: String::new(),
        };
        let able = BackendCapabilities {
            layouts: vec![Layout::Shared],
            preallocate: false,
            place: Some(place),
            ..able(Operation::of_files().filter(|one| !one.needs_tree()))
        };
        let mut world = World { device: Some(bytes), ..World::default() };
        world.files.insert(file_name(0), vec![0; bytes]);
        Fake { able, defect, world: Arc::new(Mutex::new(world)) }
    }

    /// Objects, as in an S3 store.
    pub(crate) fn objects(defect: Defect) -> Self {
        use Operation::{Copy, Delete, Get, Head, List, MultiDelete, ObjectMix, Put};
        let operations = [Put, Get, Head, Delete, List, Copy, MultiDelete, ObjectMix];
        Fake { able: able(operations.into_iter()), defect, world: Arc::default() }
    }

    /// Names of everything that is left.
    pub(crate) fn left(&self) -> Vec<String> {
        self.world.lock().unwrap().files.keys().cloned().collect()
    }
}

impl Subject for Fake {
    fn capabilities(&self) -> &BackendCapabilities {
        &self.able
    }

    fn target(&self, _directory: u32) -> Target {
        Target::Null(NullTarget::default())
    }

    fn open(&self, job: &Job) -> Result<Arc<dyn Backend>, SetupError> {
        let shared = Shared {
            defect: self.defect,
            world: Arc::clone(&self.world),
            layout: job.layout,
            lanes: job.lanes,
            tree: job.tree.clone(),
            objects: job.objects.is_some(),
        };
        Ok(Arc::new(Opening { shared: Arc::new(shared), able: self.able.clone() }))
    }
}

/// State shared by an opening and its lanes.
struct Shared {
    defect: Defect,
    world: Arc<Mutex<World>>,
    layout: Layout,
    lanes: u32,
    tree: Option<Tree>,
    objects: bool,
}

impl Shared {
    fn world(&self) -> MutexGuard<'_, World> {
        self.world.lock().unwrap()
    }

    fn has_defect(&self, defect: Defect) -> bool {
        self.defect == defect
    }
}

fn refused(action: &'static str, path: &str, errno: i32) -> SetupError {
    let fault = Fault::os(errno);
    SetupError::new(action, path, assay_core::fault_message(fault)).because(fault)
}

struct Opening {
    shared: Arc<Shared>,
    able: BackendCapabilities,
}

impl Opening {
    fn paths(&self) -> Vec<String> {
        match self.shared.layout {
            Layout::Separate => (0..self.shared.lanes).map(file_name).collect(),
            Layout::Shared => vec![file_name(0)],
        }
    }
}

impl Backend for Opening {
    fn capabilities(&self) -> BackendCapabilities {
        self.able.clone()
    }

    fn prepare(&self) -> Result<(), SetupError> {
        Ok(())
    }

    fn begin_phase(&self, plan: &PhasePlan) -> Result<String, SetupError> {
        let shared = &self.shared;
        let mut world = shared.world();
        if shared.objects || shared.tree.is_some() || world.device.is_some() {
            return Ok(String::new());
        }
        if plan.operation.creates() || plan.operation == Operation::Prepare {
            if plan.preallocate && shared.has_defect(Defect::FailsToReserve) {
                return Err(refused("preallocate", "f0", libc::ENOSPC));
            }
            let empties = plan.operation.creates() && !shared.has_defect(Defect::KeepsWhatItWas);
            for path in self.paths() {
                let file = world.files.entry(path).or_default();
                if empties {
                    file.clear();
                }
            }
        }
        if plan.cache == CacheAction::Evict && shared.has_defect(Defect::EvictsUnwritten) {
            world.files.values_mut().for_each(|file| file.fill(0));
        }
        Ok(String::new())
    }

    fn open_lane(&self, setup: LaneSetup) -> Result<Box<dyn Lane>, SetupError> {
        Ok(Box::new(FakeLane { shared: Arc::clone(&self.shared), setup, work: Work::None, ended: Vec::new() }))
    }

    fn object_name(&self, lane: u32) -> String {
        match self.shared.tree {
            Some(_) => top_name(top_of(self.shared.layout, lane)),
            None => file_name(top_of(self.shared.layout, lane)),
        }
    }

    fn cleanup(&self) -> Result<(), SetupError> {
        let mut world = self.shared.world();
        if world.device.is_none() {
            *world = World::default();
        }
        if self.shared.has_defect(Defect::FailsRemoval) {
            return Err(refused("remove", "f0", libc::EBUSY));
        }
        Ok(())
    }
}

/// What a lane works on in a phase.
enum Work {
    None,
    File(FileWork),
    Names(NameWork),
    Keys(KeyWork),
}

struct FakeLane {
    shared: Arc<Shared>,
    setup: LaneSetup,
    work: Work,
    ended: Vec<Completion>,
}

/// The bytes that an operation moves, in its slot or, if they do not fit, piece by piece.
struct OpData<'a> {
    buffers: &'a Buffers,
    source: Option<&'a dyn Source>,
    op: &'a Op,
}

impl OpData<'_> {
    fn pieces(&self) -> impl Iterator<Item = (u64, usize)> {
        let (all, most) = (self.op.length, self.buffers.length() as u64);
        (0..all.div_ceil(most)).map(move |number| (number * most, (all - number * most).min(most) as usize))
    }

    /// The bytes to be stored.
    fn data_to_store(&self) -> Vec<u8> {
        let mut bytes = Vec::new();
        for (at, length) in self.pieces() {
            // SAFETY: the slot belongs to this operation until its completion.
            let piece = unsafe { self.buffers.slice(self.op.slot, length) };
            if self.op.length > length as u64 || at > 0 {
                self.source.unwrap().fill(self.op.object, self.op.offset + at, piece);
            }
            bytes.extend_from_slice(piece);
        }
        bytes
    }

    /// Copies stored bytes to the buffer and returns their number.
    fn deliver(&self, found: &[u8]) -> u64 {
        for (at, length) in self.pieces() {
            let rest = found.get(at as usize..).unwrap_or_default();
            let rest = &rest[..rest.len().min(length)];
            // SAFETY: as above.
            unsafe { self.buffers.slice(self.op.slot, rest.len()) }.copy_from_slice(rest);
            if self.op.length > self.buffers.length() as u64 {
                self.source.unwrap().check(self.op.slot, self.op.object, self.op.offset + at, rest);
            }
        }
        found.len() as u64
    }
}

impl Lane for FakeLane {
    fn begin(&mut self, plan: &PhasePlan) -> Result<MethodChoice, SetupError> {
        let lane = plan.owners.of(self.setup.lane);
        let shared = Arc::clone(&self.shared);
        self.work = match (&self.shared.tree, self.shared.objects) {
            (_, true) => Work::Keys(KeyWork::new(shared, lane)),
            (Some(_), _) => Work::Names(NameWork::new(shared, lane, plan)),
            (None, false) => Work::File(FileWork::open(shared, lane)?),
        };
        Ok(MethodChoice::of(Method::Sync, String::new(), self.setup.queue_depth))
    }

    fn submit(&mut self, ops: &[Op]) -> usize {
        for op in ops {
            let result = self.execute(op);
            self.ended.push(Completion::new(op.slot, result));
        }
        ops.len()
    }

    fn reap(&mut self, done: &mut Vec<Completion>, _deadline: u64) {
        done.append(&mut self.ended);
    }

    fn execute(&mut self, op: &Op) -> Result<u64, Fault> {
        let op_data = OpData { buffers: &self.setup.buffers, source: self.setup.source.as_deref(), op };
        let done = match &mut self.work {
            Work::File(work) => work.execute(&op_data),
            Work::Names(work) => work.execute(&op_data),
            Work::Keys(work) => work.execute(&op_data),
            Work::None => Err(libc::EBADF),
        };
        done.map_err(Fault::os)
    }

    fn end(&mut self) -> Result<(), SetupError> {
        if let Work::File(work) = std::mem::replace(&mut self.work, Work::None) {
            work.close();
        }
        Ok(())
    }
}
