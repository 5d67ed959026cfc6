//! One worker's names in a tree.

use crate::client::{fault_of, Client, NEW_FILE};
use crate::lane::{opening, requests_of, FileLane};
use crate::messages::{Opening, MAKE_ANEW};
use crate::place::Place;
use crate::tree::put_leaf;
use crate::tree::work::{Context, Work};
use assay_core::names::{Name, Names};
use assay_core::{
    clock, Completion, Fault, HostCounts, Lane, LaneSetup, MethodChoice, Op, OpKind, PhasePlan, ServiceLane,
    ServiceUse, SetupError,
};
use assay_remote::{execute, reap, Forest, Outcome, RemotePlace, Transport};
use assay_spec::{data_operations, name_kinds, object_kinds, object_operations, program_kinds, program_operations};
use assay_spec::{Group, Method, Operation, SyncPolicy};
use std::sync::Arc;
use std::time::Duration;

/// A worker's names.
pub(crate) struct TreeLane {
    place: Arc<Place>,
    forest: Arc<Forest>,
    share: usize,
    /// Path of the job's directory in the share.
    folder: String,
    setup: LaneSetup,
    /// The file that is open, in a phase on the data of files, and the way to the server at all times.
    file: FileLane,
    /// How files are opened in such a phase; none in any other.
    data_opening: Option<Opening>,
    /// An operation on the data of the open file is under way.
    moving: bool,
    /// How files are made.
    making: Opening,
    sync: SyncPolicy,
    /// Those that the phase works on.
    names: Names,
    /// Whose they are.
    owner: u32,
    /// The leaf that the last name was in, and its path.
    leaf: (Option<u64>, String),
    slots: Vec<Work>,
    early: Vec<Completion>,
    in_flight: usize,
}

impl TreeLane {
    /// Connects when the first phase begins.
    pub(crate) fn open(place: Arc<Place>, forest: Arc<Forest>, setup: LaneSetup) -> Self {
        let share = place.volume_of(setup.lane);
        TreeLane {
            file: FileLane::open(Arc::clone(&place), setup.lane, setup.clone()),
            data_opening: None,
            moving: false,
            making: NEW_FILE,
            folder: place.folder(),
            place,
            forest,
            share,
            sync: SyncPolicy::None,
            names: Names { current: Name::new(b'f', setup.lane), other: Name::new(b'r', setup.lane) },
            owner: setup.lane,
            leaf: (None, String::new()),
            slots: (0..setup.buffers.count()).map(|_| Work::default()).collect(),
            early: Vec::with_capacity(setup.buffers.count()),
            in_flight: 0,
            setup,
        }
    }

    fn client(&mut self) -> &mut Client {
        &mut self.file.client
    }

    /// Takes what has ended, and makes the requests that follow from it; how many operations are in flight.
    fn collect(&mut self, done: &mut Vec<Completion>) -> usize {
        done.append(&mut self.early);
        while let Some(call) = self.client().transport.take_finished() {
            let calls = &self.file.client.transport.calls;
            let slot = calls.get(call).tag as u32;
            let work = &mut self.slots[slot as usize];
            let judged = match calls.get(call).outcome {
                Outcome::Read(count, _) => {
                    work.has_read(count);
                    None
                }
                // What was open is closed with its session.
                Outcome::Lost(_) if work.is_closing() => Some(Ok(0)),
                // It may have been done or not: to ask again could find its own work.
                Outcome::Lost(errno) => Some(Err(Fault::os(errno))),
                Outcome::Reply(_) | Outcome::Failed(_) => work.ended(calls.results(call), self.sync),
            };
            self.client().transport.calls.release(call);
            match judged {
                Some(result) => {
                    self.in_flight -= 1;
                    if self.data_opening.is_some() && result.is_ok() {
                        self.keep(slot);
                    }
                    done.push(Completion::new(slot, result));
                }
                None => self.call(slot),
            }
        }
        done.append(&mut self.early);
        self.in_flight
    }

    /// In a phase on the data of files an operation on a name has ended: the file is open now, or closed.
    fn keep(&mut self, slot: u32) {
        let work = &self.slots[slot as usize];
        if work.is_closing() {
            self.file.forget();
        } else if work.opens() {
            let (path, file) = work.opened_file();
            self.file.take(path, file);
        }
    }

    /// Takes an operation on the file that is open, or on none, if it is such a one.
    fn on_open_file(&mut self, op: &Op) -> bool {
        let open = self.file.current();
        match (op.kind, open) {
            (OpKind::Read | OpKind::Write | OpKind::Sync, Some(_)) => {
                self.file.submit(std::slice::from_ref(op));
                self.moving = true;
            }
            (OpKind::Close, Some(file)) if self.client().transport.session().is_some() => {
                let deadline = clock::now() + self.client().timeout_ns;
                self.slots[op.slot as usize].begin_close(op, deadline, file);
                self.in_flight += 1;
                self.call(op.slot);
            }
            (OpKind::Close, _) => {
                self.file.forget();
                self.early.push(Completion::new(op.slot, Ok(0)));
            }
            (OpKind::Read | OpKind::Write, None) => {
                self.early.push(Completion::new(op.slot, Err(Fault::os(libc::EBADF))));
            }
            (OpKind::Sync | name_kinds!() | object_kinds!() | program_kinds!(), _) => return false,
        }
        true
    }

    /// Begins an operation, in a new session if the last one was lost.
    fn begin_op(&mut self, op: &Op) {
        let deadline = clock::now() + self.client().timeout_ns;
        self.in_flight += 1;
        let ready = if self.client().transport.session().is_some() { Ok(()) } else { self.reconnect(deadline) };
        let put = ready.and_then(|()| self.put_paths(op, deadline));
        match put {
            Ok(()) => self.call(op.slot),
            Err(fault) => self.refuse(op.slot, fault),
        }
    }

    /// Opens a new session; tries until then.
    #[cold]
    fn reconnect(&mut self, until: u64) -> Result<(), Fault> {
        loop {
            let rest = self.client().transport.rest_until().min(until).saturating_sub(clock::now());
            std::thread::sleep(Duration::from_nanos(rest));
            match self.client().transport.connect(until) {
                Ok(()) => return Ok(()),
                Err(crate::session::Refusal::Unreachable(_)) if clock::now() < until => {}
                Err(refusal) => return Err(fault_of(refusal)),
            }
        }
    }

    fn put_paths(&mut self, op: &Op, deadline: u64) -> Result<(), Fault> {
        let listing = op.kind == OpKind::Readdir;
        let leaf = if listing { op.object } else { op.object / self.forest.names_per_leaf() };
        if leaf >= self.forest.tree.leaves() {
            return Err(Fault::os(libc::ENOENT));
        }
        if self.leaf.0 != Some(leaf) {
            let top = self.forest.top(self.owner);
            put_leaf(&self.forest, &self.folder, top, leaf, &mut self.leaf.1);
            self.leaf.0 = Some(leaf);
        }
        self.names.current.set(op.object);
        self.names.other.set(op.object);
        let (path, other) = self.slots[op.slot as usize].begin(op, deadline);
        for (path, name) in [(path, &self.names.current), (other, &self.names.other)] {
            path.clone_from(&self.leaf.1);
            if !listing {
                path.push('\\');
                path.extend(name.bytes().iter().map(|byte| char::from(*byte)));
            }
        }
        Ok(())
    }

    fn refuse(&mut self, slot: u32, fault: Fault) {
        self.in_flight -= 1;
        self.early.push(Completion::new(slot, Err(fault)));
    }

    /// Makes the next request of an operation.
    fn call(&mut self, slot: u32) {
        let context = Context {
            sizes: self.file.records.sizes,
            buffers: &self.setup.buffers,
            source: self.setup.source.as_deref(),
            data_opening: self.data_opening,
            making: self.making,
        };
        if let Err(fault) = self.slots[slot as usize].call(&context, &mut self.file.client.transport) {
            self.refuse(slot, fault);
        }
    }

    /// For people: where to, and which requests.
    fn reason(&self, operation: Operation) -> String {
        let requests = match operation {
            data_operations!() => {
                let others = if operation == Operation::FileMix { "; of others what stat and unlink take" } else { "" };
                return format!(
                    "{}, CREATE, then {} of each record, CLOSE{others}",
                    self.about(),
                    requests_of(operation, self.sync)
                );
            }
            Operation::Stat | Operation::Open => "CREATE and CLOSE in one message",
            Operation::Mkdir => "CREATE of a directory and CLOSE in one message",
            Operation::Readdir => "CREATE, QUERY_DIRECTORY of 64 KiB at a time, CLOSE",
            Operation::Rename => "CREATE, SET_INFO of the name and CLOSE in one message",
            Operation::Unlink | Operation::Rmdir => "CREATE, SET_INFO of the end and CLOSE in one message",
            Operation::Prepare | Operation::Create if self.sync == SyncPolicy::None => {
                "CREATE, WRITE if there are contents, CLOSE"
            }
            Operation::Prepare | Operation::Create => "CREATE, WRITE and FLUSH if there are contents, CLOSE",
            object_operations!() | program_operations!() => "none",
        };
        format!("{}, {requests}", self.about())
    }

    fn about(&self) -> String {
        let share = &self.place.shares[self.share];
        format!("{} to {} ({})", share.about, share.peer.shown(), share.peer.address)
    }
}

impl Lane for TreeLane {
    fn begin(&mut self, plan: &PhasePlan) -> Result<MethodChoice, SetupError> {
        let timeout_ns = self.client().timeout_ns;
        self.client().connect(timeout_ns)?;
        self.place.check_folder(&mut self.file.client, self.share)?;
        self.sync = plan.sync;
        self.file.begin_set(plan);
        let anew = |wanted: bool, how: Opening| if wanted { Opening { disposition: MAKE_ANEW, ..how } } else { how };
        self.making = anew(plan.overwrite, NEW_FILE);
        let on_data = plan.operation.group() == Some(Group::Data);
        self.data_opening = on_data.then(|| anew(plan.operation.creates(), opening(plan.sync)));
        let owner = plan.owners.of(self.setup.lane);
        if owner != self.owner {
            self.leaf.0 = None;
        }
        self.owner = owner;
        self.names = Names::new(owner, plan);
        let depth = self.setup.queue_depth;
        Ok(MethodChoice::of(Method::Protocol, self.reason(plan.operation), depth))
    }

    fn submit(&mut self, ops: &[Op]) -> usize {
        for op in ops {
            if self.data_opening.is_some() && self.on_open_file(op) {
                continue;
            }
            if op.kind == OpKind::Sync {
                // There is no request that makes names stable; contents are flushed before their file is closed.
                self.early.push(Completion::new(op.slot, Ok(0)));
                continue;
            }
            self.begin_op(op);
        }
        self.client().transport.flush();
        ops.len()
    }

    fn reap(&mut self, done: &mut Vec<Completion>, deadline: u64) {
        if self.moving {
            let before = done.len();
            self.file.reap(done, deadline);
            self.moving = done.len() == before;
            return;
        }
        reap(self, done, deadline, Self::collect, |lane, until| lane.client().transport.wait(until));
    }

    fn execute(&mut self, op: &Op) -> Result<u64, Fault> {
        if self.data_opening.is_some() && matches!(op.kind, OpKind::Read | OpKind::Write) {
            return self.file.execute(op);
        }
        execute(self, op, |lane| &mut lane.early)
    }

    fn service(&mut self) -> Option<&mut dyn ServiceLane> {
        Some(self)
    }

    fn end(&mut self) -> Result<(), SetupError> {
        self.file.end()
    }
}

impl ServiceLane for TreeLane {
    fn host_counts(&mut self) -> Vec<HostCounts> {
        vec![self.client().transport.take_counts()]
    }

    fn service_counts(&mut self) -> Option<ServiceUse> {
        self.client().transport.take_lost()
    }
}
