//! One worker's names in a tree.

use crate::client::{Client, Existing, Handle};
use crate::lane::FileLane;
use crate::place::Place;
use crate::stability::Stable;
use crate::tree::leaves;
use crate::tree::work::{Context, Opening, Work};
use assay_core::names::{top_name, Name, Names};
use assay_core::{clock, Completion, Fault, Lane, LaneSetup, MethodChoice, Op, OpKind, PhasePlan, SetupError};
use assay_remote::{execute, reap, Forest, Outcome, RemotePlace, Transport};
use assay_spec::{data_operations, name_kinds, object_kinds, object_operations, program_kinds, program_operations};
use assay_spec::{Group, Method, Operation};
use nfs3_types::nfs3::{ACCESS3_MODIFY, ACCESS3_READ};
use std::sync::Arc;

/// A worker's names.
pub(crate) struct TreeLane {
    place: Arc<Place>,
    forest: Arc<Forest>,
    server: usize,
    setup: LaneSetup,
    /// The file that is open, in a phase on the data of files, and the way to the server at all times.
    file: FileLane,
    /// The phase is on the data of files.
    on_data: bool,
    /// An operation on the data of the open file is under way.
    moving: bool,
    opening: Opening,
    existing: Existing,
    /// Whose names the phase works on.
    owner: u32,
    /// Handles of the leaves; found once for each owner, as they stay.
    leaves: Vec<Handle>,
    stable: Stable,
    /// Those that the phase works on.
    names: Names,
    slots: Vec<Work>,
    early: Vec<Completion>,
    in_flight: usize,
}

impl TreeLane {
    /// Connects when the first phase begins.
    pub(crate) fn open(place: Arc<Place>, forest: Arc<Forest>, setup: LaneSetup) -> Self {
        let server = place.volume_of(setup.lane);
        TreeLane {
            file: FileLane::open(Arc::clone(&place), server, 0, setup.clone()),
            on_data: false,
            moving: false,
            opening: Opening::For(ACCESS3_READ),
            existing: Existing::Refused,
            place,
            forest,
            server,
            owner: setup.lane,
            leaves: Vec::new(),
            stable: Stable::Unstable,
            names: Names { current: Name::new(b'f', setup.lane), other: Name::new(b'r', setup.lane) },
            slots: (0..setup.buffers.count()).map(|_| Work::default()).collect(),
            early: Vec::with_capacity(setup.buffers.count()),
            in_flight: 0,
            setup,
        }
    }

    fn client(&mut self) -> &mut Client {
        &mut self.file.client
    }

    /// Finds the leaves.
    fn find_leaves(&mut self, owner: u32) -> Result<(), SetupError> {
        let same = self.forest.top(owner) == self.forest.top(self.owner);
        self.owner = owner;
        if same && !self.leaves.is_empty() {
            return Ok(());
        }
        let client = &mut self.file.client;
        let folder = self.place.folder(client, self.server)?;
        let top = self.forest.top(owner);
        let found = leaves(&self.forest, client, &folder, top);
        let path = || format!("{}/{}", self.place.folder_path(self.server), top_name(top));
        self.leaves = found.map_err(|fault| self.place.error("open", path(), fault))?;
        Ok(())
    }

    /// Takes what has ended, and makes the calls that follow from it; how many operations are in flight.
    fn collect(&mut self, done: &mut Vec<Completion>) -> usize {
        done.append(&mut self.early);
        while let Some(call) = self.client().transport.take_finished() {
            let calls = &self.file.client.transport.calls.table;
            let slot = calls.get(call).tag as u32;
            let work = &mut self.slots[slot as usize];
            let judged = match calls.get(call).outcome {
                Outcome::Read(count, eof) => work.has_read(count, eof),
                Outcome::Reply(_) | Outcome::Failed(_) | Outcome::Lost(_) => work.ended(calls.results(call)),
            };
            self.client().transport.calls.table.release(call);
            match judged {
                Some(result) => {
                    self.in_flight -= 1;
                    if self.on_data && result.is_ok() && self.slots[slot as usize].opens() {
                        self.file.take(self.slots[slot as usize].handle());
                    }
                    done.push(Completion::new(slot, result));
                }
                None => self.call(slot),
            }
        }
        done.append(&mut self.early);
        self.in_flight
    }

    /// Makes the next call of an operation.
    fn call(&mut self, slot: u32) {
        let context = Context {
            leaves: &self.leaves,
            names_per_leaf: self.forest.names_per_leaf(),
            names: &self.names,
            stable: self.stable,
            sizes: self.file.records.sizes,
            listing_bytes: self.place.servers[self.server].listing_bytes,
            buffers: &self.setup.buffers,
            source: self.setup.source.as_deref(),
            opening: self.opening,
            on_data: self.on_data,
            existing: self.existing,
        };
        if let Err(fault) = self.slots[slot as usize].call(&context, &mut self.file.client.transport) {
            self.in_flight -= 1;
            self.early.push(Completion::new(slot, Err(fault)));
        }
    }

    /// Takes an operation on the file that is open, or on none, if it is such a one.
    fn on_open_file(&mut self, op: &Op) -> bool {
        match op.kind {
            OpKind::Read | OpKind::Write | OpKind::Sync if self.file.is_open() => {
                self.file.submit(std::slice::from_ref(op));
                self.moving = true;
            }
            // A file is a handle, which nobody has to give back.
            OpKind::Close => {
                self.file.forget();
                self.early.push(Completion::new(op.slot, Ok(0)));
            }
            OpKind::Read | OpKind::Write => self.early.push(Completion::new(op.slot, Err(Fault::os(libc::EBADF)))),
            OpKind::Sync | name_kinds!() | object_kinds!() | program_kinds!() => return false,
        }
        true
    }

    /// For people: where to, and which calls.
    fn reason(&self, operation: Operation) -> String {
        let calls = match operation {
            Operation::Stat => "LOOKUP, which tells the attributes".to_owned(),
            Operation::Open => "LOOKUP, ACCESS".to_owned(),
            Operation::Readdir => {
                format!("READDIR of {} bytes at a time", self.place.servers[self.server].listing_bytes)
            }
            Operation::Rename => "RENAME".to_owned(),
            Operation::Unlink => "REMOVE".to_owned(),
            Operation::Mkdir => "MKDIR".to_owned(),
            Operation::Rmdir => "RMDIR".to_owned(),
            Operation::Prepare | Operation::Create => {
                let kind = self.stable.name();
                format!("CREATE, and {kind} WRITE if there are contents; nothing is committed at the end")
            }
            data_operations!() => {
                let open = if operation.creates() { "CREATE" } else { "LOOKUP, ACCESS" };
                let others = if operation == Operation::FileMix { ", CREATE, LOOKUP and REMOVE of others" } else { "" };
                format!("{open}, then {} of each record, and no call to close{others}", self.file.calls_of(operation))
            }
            object_operations!() | program_operations!() => "none".to_owned(),
        };
        let (address, links) = (self.place.servers[self.server].shown(), self.place.target.nconnect);
        format!("NFSv3 over TCP to {address}, connections: {links}, {calls}; handles of directories are kept")
    }
}

impl Lane for TreeLane {
    fn begin(&mut self, plan: &PhasePlan) -> Result<MethodChoice, SetupError> {
        self.find_leaves(plan.owners.of(self.setup.lane))?;
        self.stable = Stable::of_tree(plan.sync);
        self.names = Names::new(self.owner, plan);
        self.on_data = plan.operation.group() == Some(Group::Data);
        self.file.begin_set(plan);
        self.existing = if plan.overwrite { Existing::Emptied } else { Existing::Refused };
        let rights = |wanted: bool, right: u32| if wanted { right } else { 0 };
        let of_data = rights(plan.operation.reads(), ACCESS3_READ) | rights(plan.operation.writes(), ACCESS3_MODIFY);
        self.opening = match self.on_data {
            true if plan.operation.creates() => Opening::Anew,
            true => Opening::For(of_data),
            false => Opening::For(ACCESS3_READ),
        };
        let depth = self.setup.queue_depth;
        Ok(MethodChoice::of(Method::Protocol, self.reason(plan.operation), depth))
    }

    fn submit(&mut self, ops: &[Op]) -> usize {
        for op in ops {
            if self.on_data && self.on_open_file(op) {
                continue;
            }
            if op.kind == OpKind::Sync {
                // Names are stable when a server says that they are made (RFC 1813 section 1.5), and so are the
                // contents, unless nobody asked for that.
                self.early.push(Completion::new(op.slot, Ok(0)));
                continue;
            }
            let deadline = clock::now() + self.client().timeout_ns;
            self.slots[op.slot as usize].begin(op, deadline);
            self.in_flight += 1;
            self.call(op.slot);
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
        if self.on_data && matches!(op.kind, OpKind::Read | OpKind::Write) {
            return self.file.execute(op);
        }
        execute(self, op, |lane| &mut lane.early)
    }

    fn end(&mut self) -> Result<(), SetupError> {
        // Handles are nothing that has to be given back.
        self.file.forget();
        Ok(())
    }
}
