//! The lane of a rank.

use crate::backend::Site;
use crate::component;
use crate::ffi::{self, op_flag, open, shape, File};
use crate::ranks;
use crate::status;
use assay_core::{
    clock, CollectiveLane, Completion, Fault, Lane, LaneSetup, MethodChoice, Op, OpKind, PhasePlan, SetupError,
};
use assay_spec::{name_kinds, object_kinds, program_kinds, Method, MpiioUse, Operation, Pointer, View};
use rustix::fs::OFlags;
use rustix::io::Errno;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

/// Longest stretch of operations between two agreements on how many come next. Each makes the ranks wait for the
/// slowest.
const LONGEST_STRETCH_NS: i64 = 1_000_000_000;
/// Near the end of a phase with a time limit, a stretch lasts the time left divided by this, as operations may become
/// slower; but no shorter than `SHORTEST_STRETCH_NS`.
const TIME_LEFT_DIVISOR: i64 = 2;
/// Shortest stretch in a phase with a time limit.
const SHORTEST_STRETCH_NS: i64 = 50_000_000;
/// A stretch has at most so many times the operations of the one before, as the next ones may be slower.
const GROWTH: i64 = 64;
/// The number of operations left in a phase that runs by time.
const ENDLESS: i64 = i64::MAX;
/// How long a lane only yields its CPU between polls for what is in flight.
const YIELD_NS: u64 = 50_000;
/// After that it sleeps for the time waited divided by this, which bounds the error of each latency.
const SLEEP_DIVISOR: u64 = 32;
const LONGEST_SLEEP_NS: u64 = 1_000_000;

/// The stretch of operations that all ranks are in.
#[derive(Default)]
struct Stretch {
    count: i64,
    begun: u64,
    /// The stretch has all operations that are left.
    last: bool,
}

/// How many operations come next, after a stretch of `before` operations that took the slowest rank `each` nanoseconds
/// apiece, with `time` nanoseconds left.
pub(crate) fn stretch(before: i64, each: i64, time: i64) -> i64 {
    let long = (time / TIME_LEFT_DIVISOR).clamp(SHORTEST_STRETCH_NS, LONGEST_STRETCH_NS);
    if each == 0 {
        1
    } else {
        (long / each).min(before.saturating_mul(GROWTH)).max(1)
    }
}

/// The blocks of one rank in a shared file, which are all that it sees in a view.
#[derive(Debug, Clone, Copy)]
pub(crate) struct OwnBlocks {
    pub(crate) block: u64,
    pub(crate) ranks: u64,
    pub(crate) rank: u64,
}

impl OwnBlocks {
    /// The position of a file offset in the rank's own blocks, as if they lay one after the other.
    pub(crate) fn offset(self, offset: u64) -> u64 {
        let segment = self.block * self.ranks;
        offset / segment * self.block + (offset % segment - self.rank * self.block)
    }
}

/// The lane of a rank, with a file of its own or one of all ranks.
pub(crate) struct MpiLane {
    site: Arc<Site>,
    setup: LaneSetup,
    /// The number of the phase's file.
    number: u32,
    file: Option<File>,
    /// The flags that all operations of the phase have in common.
    op_flags: i32,
    /// The blocks that the rank sees, if a view hides the others.
    own: Option<OwnBlocks>,
    writes: bool,
    stretch: Stretch,
    /// Slots with an operation in flight.
    busy: Vec<bool>,
    in_flight: usize,
    /// Completions without a call.
    early: Vec<Completion>,
    /// The library's message by slot, if the slot's last operation failed.
    messages: Vec<Option<String>>,
    slots: Vec<i32>,
    results: Vec<i64>,
}

/// The file is not open.
const CLOSED: Fault = Fault::os(Errno::BADF.raw_os_error());
const UNSUPPORTED: Fault = Fault::os(Errno::INVAL.raw_os_error());

impl MpiLane {
    pub(crate) fn new(site: Arc<Site>, setup: LaneSetup) -> Self {
        let slots = setup.buffers.count();
        MpiLane {
            number: site.file_of(setup.lane),
            site,
            file: None,
            op_flags: 0,
            own: None,
            writes: false,
            stretch: Stretch::default(),
            busy: vec![false; slots],
            in_flight: 0,
            early: Vec::with_capacity(slots),
            messages: vec![None; slots],
            slots: vec![0; slots],
            results: vec![0; slots],
            setup,
        }
    }

    fn object(&self) -> String {
        self.site.place.object_name(self.number)
    }

    /// What one rank does before the file is opened: for a new file it removes the old one, so that hints for new files
    /// take effect; otherwise it checks that the file is a plain one.
    fn prepare_file(&self, plan: &PhasePlan) -> Result<(), SetupError> {
        self.site.failure()?;
        let file = self.number;
        if !self.site.owns() {
            return Ok(());
        }
        if plan.operation.creates() {
            return self.site.place.discard(file);
        }
        match self.site.place.open(file, OFlags::RDONLY) {
            Err(error)
                if plan.operation == Operation::Prepare && error.errno() == Some(Errno::NOENT.raw_os_error()) =>
            {
                Ok(())
            }
            other => other.map(drop),
        }
    }

    fn open(&self, plan: &PhasePlan) -> Result<File, SetupError> {
        let (operation, target) = (plan.operation, &self.site.target);
        let flag = |wanted: bool, flag: i32| if wanted { flag } else { 0 };
        let flags = flag(operation.creates() || operation == Operation::Prepare, open::CREATE)
            | flag(operation.creates(), open::EXCLUSIVE)
            | flag(!operation.writes(), open::READ_ONLY)
            | flag(self.site.shared(), open::SHARED)
            | flag(target.atomic, open::ATOMIC);
        let path = match &target.prefix {
            Some(prefix) => format!("{prefix}:{}", self.object()),
            None => self.object(),
        };
        let hints: Vec<_> = target.hints.iter().map(|(key, value)| (key.clone(), value.clone())).collect();
        File::open(&path, flags, &hints, self.setup.buffers.count())
            .map_err(|number| status::error("open", &path, number))
    }

    fn reserve(&self, plan: &PhasePlan, file: &File) -> Result<(), SetupError> {
        let makes = plan.operation.creates() || plan.operation == Operation::Prepare;
        if !plan.preallocate || !makes {
            return Ok(());
        }
        match file.preallocate(self.site.file_size) {
            0 => Ok(()),
            number => Err(status::error("preallocate", self.object(), number).with_length(self.site.file_size)),
        }
    }

    /// Sets the view of this rank's part, or of the part of another rank that it works on. A type is one record.
    fn set_view(&self, plan: &PhasePlan, file: &mut File) -> Result<Option<OwnBlocks>, SetupError> {
        let (site, ranks) = (&self.site, self.site.ranks.0);
        let shape = match site.target.view {
            View::None => return Ok(None),
            View::Vector => shape::VECTOR,
            View::Subarray => shape::SUBARRAY,
        };
        let rank = plan.owners.of(ranks.rank);
        let pieces = (site.record / u64::from(site.piece)).max(1);
        match file.set_view(shape, (site.piece, pieces as u32), (ranks.size, rank)) {
            0 => Ok(Some(OwnBlocks { block: site.block, ranks: u64::from(ranks.size), rank: u64::from(rank) })),
            number => Err(status::error("set the view of", self.object(), number)),
        }
    }

    /// The offset that the library expects for an operation.
    #[inline]
    fn offset(&self, op: &Op) -> u64 {
        match self.own {
            // An operation without bytes, while other ranks of a collective operation have some.
            Some(_) if op.length == 0 => 0,
            Some(own) => own.offset(op.offset),
            None => op.offset,
        }
    }

    /// What the library reports of the open file.
    fn library_use(file: &File) -> MpiioUse {
        let hints: BTreeMap<_, _> = file.hints().into_iter().collect();
        MpiioUse { library: ffi::library(), component: component::loaded_component(&hints), hints }
    }

    /// The names of the phase's calls.
    fn name(&self, plan: &PhasePlan, blocking: bool) -> String {
        let verbs = match (plan.operation.reads(), plan.operation.writes()) {
            (true, true) => &["read", "write"][..],
            (true, false) => &["read"],
            _ => &["write"],
        };
        let start = if blocking { "" } else { "i" };
        let (at, all) = match (self.op_flags & op_flag::COMMON != 0, self.op_flags & op_flag::TOGETHER != 0) {
            (true, false) => ("_shared", ""),
            (true, true) => ("_ordered", ""),
            (false, together) => {
                (if self.op_flags & op_flag::INDIVIDUAL == 0 { "_at" } else { "" }, if together { "_all" } else { "" })
            }
        };
        let view = match self.own.map(|_| self.site.target.view) {
            Some(View::Vector) => ", in a view of MPI_Type_vector",
            Some(View::Subarray) => ", in a view of MPI_Type_create_subarray",
            Some(View::None) | None => "",
        };
        let calls = verbs.iter().map(|verb| format!("MPI_File_{start}{verb}{at}{all}")).collect::<Vec<_>>();
        calls.join(", ") + view
    }

    fn op_flags_of(&self, kind: OpKind) -> Option<i32> {
        match kind {
            OpKind::Read => Some(self.op_flags),
            OpKind::Write => Some(self.op_flags | op_flag::WRITES),
            OpKind::Sync | name_kinds!() | object_kinds!() | program_kinds!() => None,
        }
    }

    /// Stores the library's message of a failure.
    #[cold]
    fn note_failure(&mut self, slot: u32, fault: Fault) -> Fault {
        self.messages[slot as usize] = Some(ffi::error_message());
        fault
    }

    fn sync(&mut self, slot: u32) -> Result<u64, Fault> {
        let file = self.file.as_ref().ok_or(CLOSED)?;
        let answer = file.sync();
        status::bytes_or_fault(i64::from(answer)).map_err(|fault| self.note_failure(slot, fault))
    }

    fn start(&mut self, op: &Op) {
        let offset = self.offset(op);
        let started = match (self.op_flags_of(op.kind), &mut self.file) {
            (_, None) => Err(CLOSED),
            (None, _) if op.kind == OpKind::Sync => {
                let result = self.sync(op.slot);
                return self.early.push(Completion::new(op.slot, result));
            }
            (None, _) => Err(UNSUPPORTED),
            (Some(flags), Some(file)) => {
                let answer = file.start(flags, offset, &self.setup.buffers, (op.slot, op.length));
                status::bytes_or_fault(i64::from(answer))
            }
        };
        match started {
            Ok(_) => {
                self.busy[op.slot as usize] = true;
                self.in_flight += 1;
            }
            Err(fault) => {
                let fault = self.note_failure(op.slot, fault);
                self.early.push(Completion::new(op.slot, Err(fault)));
            }
        }
    }

    /// Takes the completions of what has ended.
    fn collect(&mut self, done: &mut Vec<Completion>) {
        let Some(file) = &mut self.file else { return };
        let count = file.some(&mut self.slots, &mut self.results);
        if count < 0 {
            return self.all_failed(i64::from(count), done);
        }
        for place in 0..count as usize {
            let (slot, number) = (self.slots[place] as u32, self.results[place]);
            let result = status::bytes_or_fault(number).map_err(|fault| self.note_failure(slot, fault));
            self.busy[slot as usize] = false;
            self.in_flight -= 1;
            done.push(Completion::new(slot, result));
        }
    }

    /// Completes all operations in flight with an error, as the library does not say which has failed.
    #[cold]
    fn all_failed(&mut self, number: i64, done: &mut Vec<Completion>) {
        for slot in 0..self.busy.len() {
            if std::mem::take(&mut self.busy[slot]) {
                let fault = self.note_failure(slot as u32, status::fault(number));
                done.push(Completion::new(slot as u32, Err(fault)));
            }
        }
        self.in_flight = 0;
    }
}

impl Lane for MpiLane {
    fn begin(&mut self, plan: &PhasePlan) -> Result<MethodChoice, SetupError> {
        ranks::lane_started();
        self.number = self.site.file_in(plan.owners);
        let (ranks, object) = (self.site.ranks, self.object());
        ranks.all(self.prepare_file(plan), &object)?;
        let mut file = ranks.all(self.open(plan), &object)?;
        ranks.all(self.reserve(plan, &file), &object)?;
        self.own = match self.site.target.view {
            View::None => None,
            View::Vector | View::Subarray => ranks.all(self.set_view(plan, &mut file), &object)?,
        };
        let together = self.site.target.collective && plan.operation != Operation::Prepare;
        // `prepare` writes missing data to its place in the file, whatever the pointer.
        let pointer = match self.site.target.pointer {
            Pointer::Individual => op_flag::INDIVIDUAL,
            Pointer::Shared if plan.operation != Operation::Prepare => op_flag::COMMON,
            Pointer::Explicit | Pointer::Shared => 0,
        };
        self.op_flags = pointer | if together { op_flag::TOGETHER } else { 0 };
        self.writes = plan.operation.writes();
        self.stretch = Stretch::default();
        let (used, depth) = (Self::library_use(&file), self.setup.queue_depth);
        self.file = Some(file);
        // `end` closes the file, as all ranks get here.
        component::check_supported(&used.component, together && depth > 1)
            .map_err(|message| SetupError::new("open", object, message))?;
        Ok(MethodChoice { mpiio: Some(used), ..MethodChoice::of(Method::MpiIo, self.name(plan, depth == 1), depth) })
    }

    #[inline]
    fn execute(&mut self, op: &Op) -> Result<u64, Fault> {
        let Some(flags) = self.op_flags_of(op.kind) else {
            return if op.kind == OpKind::Sync { self.sync(op.slot) } else { Err(UNSUPPORTED) };
        };
        let offset = self.offset(op);
        let Some(file) = &mut self.file else { return Err(CLOSED) };
        let number = file.transfer(flags, offset, &self.setup.buffers, (op.slot, op.length));
        match status::bytes_or_fault(number) {
            Ok(bytes) => Ok(bytes),
            Err(fault) => Err(self.note_failure(op.slot, fault)),
        }
    }

    fn submit(&mut self, ops: &[Op]) -> usize {
        for op in ops {
            self.start(op);
        }
        ops.len()
    }

    fn reap(&mut self, done: &mut Vec<Completion>, deadline: u64) {
        let before = done.len();
        done.append(&mut self.early);
        if self.in_flight == 0 {
            return;
        }
        self.collect(done);
        let begun = clock::now();
        let mut now = begun;
        while done.len() == before && now < deadline {
            let waited = now - begun;
            if waited < YIELD_NS {
                std::thread::yield_now();
            } else {
                std::thread::sleep(Duration::from_nanos((waited / SLEEP_DIVISOR).min(LONGEST_SLEEP_NS)));
            }
            self.collect(done);
            now = clock::now();
        }
    }

    fn failure_message(&self, slot: u32) -> Option<String> {
        self.messages[slot as usize].clone()
    }

    fn collective(&mut self) -> Option<&mut dyn CollectiveLane> {
        Some(self)
    }

    fn end(&mut self) -> Result<(), SetupError> {
        let closed = match self.file.take().map_or(0, File::close) {
            0 => Ok(()),
            number => Err(status::error("close", self.object(), number)),
        };
        ranks::lane_ended();
        closed
    }
}

impl CollectiveLane for MpiLane {
    fn in_step(&self) -> bool {
        self.op_flags & op_flag::TOGETHER != 0 && self.site.shared()
    }

    fn agree_count(&mut self, left: Option<u64>, time_ns: u64) -> Result<u64, Fault> {
        if self.stretch.last {
            return Ok(0);
        }
        let each = match self.stretch.count {
            0 => 0,
            count => (clock::now().saturating_sub(self.stretch.begun) as i64 / count).max(1),
        };
        let (most, time) = (i64::try_from(left.unwrap_or(0)).unwrap_or(ENDLESS), time_ns.min(ENDLESS as u64) as i64);
        let mine = [i64::from(left.is_some()), -most, -each, time];
        let agreed = self.site.ranks.least(mine).map_err(|number| status::fault(i64::from(number)))?;
        let [goes_on, most, each, time] = [agreed[0], -agreed[1], -agreed[2], agreed[3]];
        let count = if goes_on == 1 { stretch(self.stretch.count, each, time).min(most) } else { 0 };
        self.stretch = Stretch { count, begun: clock::now(), last: count == most && most != ENDLESS };
        Ok(count as u64)
    }

    fn flushes(&mut self, wanted: bool) -> bool {
        if !self.site.shared() || !self.writes {
            return wanted;
        }
        self.site.ranks.least([-i64::from(wanted)]).map_or(wanted, |[any]| any != 0)
    }
}
