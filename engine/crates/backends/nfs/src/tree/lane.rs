//! One worker's names in a tree.

use crate::calls::Outcome;
use crate::client::{Client, Handle};
use crate::place::Place;
use crate::stability::Stable;
use crate::tree::work::{Context, Work};
use crate::tree::Forest;
use assay_core::names::{top_name, Name, Names};
use assay_core::{clock, Completion, Fault, Lane, LaneSetup, MethodChoice, Op, OpKind, PhasePlan, SetupError};
use assay_spec::{data_operations, object_operations};
use assay_spec::{Method, Operation};
use std::sync::Arc;

/// A worker's names.
pub(crate) struct TreeLane {
    place: Arc<Place>,
    forest: Arc<Forest>,
    server: usize,
    setup: LaneSetup,
    client: Client,
    /// Handles of the leaves; found once, as they stay.
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
        let server = place.server_of(setup.lane);
        TreeLane {
            client: place.client(server, place.target.nconnect),
            place,
            forest,
            server,
            leaves: Vec::new(),
            stable: Stable::Unstable,
            names: Names { current: Name::new(b'f', setup.lane), other: Name::new(b'r', setup.lane) },
            slots: (0..setup.buffers.count()).map(|_| Work::default()).collect(),
            early: Vec::with_capacity(setup.buffers.count()),
            in_flight: 0,
            setup,
        }
    }

    /// Finds the leaves.
    fn find_leaves(&mut self) -> Result<(), SetupError> {
        if !self.leaves.is_empty() {
            return Ok(());
        }
        let folder = self.place.folder(&mut self.client, self.server)?;
        let top = self.forest.top(self.setup.lane);
        let found = self.forest.leaves(&mut self.client, &folder, top);
        let path = || format!("{}/{}", self.place.folder_path(self.server), top_name(top));
        self.leaves = found.map_err(|fault| self.place.error("open", path(), fault))?;
        Ok(())
    }

    fn collect(&mut self, done: &mut Vec<Completion>) {
        done.append(&mut self.early);
        while let Some(call) = self.client.transport.take_finished() {
            let slot = self.client.transport.calls.get(call).tag as u32;
            let (work, calls) = (&mut self.slots[slot as usize], &self.client.transport.calls);
            let judged = match calls.get(call).outcome {
                Outcome::Read(count, eof) => work.has_read(count, eof),
                Outcome::Results(_) | Outcome::Failed(_) => work.ended(calls.results(call)),
            };
            self.client.transport.calls.release(call);
            match judged {
                Some(result) => {
                    self.in_flight -= 1;
                    done.push(Completion::new(slot, result.map(u64::from)));
                }
                None => self.call(slot),
            }
        }
    }

    /// Makes the next call of an operation.
    fn call(&mut self, slot: u32) {
        let context = Context {
            leaves: &self.leaves,
            names_per_leaf: self.forest.names_per_leaf(),
            names: &self.names,
            stable: self.stable,
            read_bytes: self.place.sizes(self.server).0,
            write_bytes: self.place.sizes(self.server).1,
            listing_bytes: self.place.servers[self.server].listing_bytes,
            buffers: &self.setup.buffers,
        };
        if let Err(fault) = self.slots[slot as usize].call(&context, &mut self.client.transport) {
            self.in_flight -= 1;
            self.early.push(Completion::new(slot, Err(fault)));
        }
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
            data_operations!() | object_operations!() => "none".to_owned(),
        };
        let (address, links) = (self.place.servers[self.server].shown(), self.place.target.nconnect);
        format!("NFSv3 over TCP to {address}, connections: {links}, {calls}; handles of directories are kept")
    }
}

impl Lane for TreeLane {
    fn begin(&mut self, plan: &PhasePlan) -> Result<MethodChoice, SetupError> {
        self.find_leaves()?;
        self.stable = Stable::of_tree(plan.sync);
        self.names = Names::new(self.setup.lane, plan);
        let depth = self.setup.queue_depth;
        Ok(MethodChoice::of(Method::Protocol, self.reason(plan.operation), depth))
    }

    fn submit(&mut self, ops: &[Op]) -> usize {
        for op in ops {
            if op.kind == OpKind::Sync {
                // Names are stable when a server says that they are made (RFC 1813 section 1.5), and so are the
                // contents, unless nobody asked for that.
                self.early.push(Completion::new(op.slot, Ok(0)));
                continue;
            }
            self.slots[op.slot as usize].begin(op, clock::now() + self.client.timeout_ns);
            self.in_flight += 1;
            self.call(op.slot);
        }
        self.client.transport.flush();
        ops.len()
    }

    fn reap(&mut self, done: &mut Vec<Completion>, deadline: u64) {
        let before = done.len();
        let mut waited = false;
        loop {
            self.collect(done);
            done.append(&mut self.early);
            if done.len() > before || self.in_flight == 0 || waited && clock::now() >= deadline {
                return;
            }
            self.client.transport.wait(deadline);
            waited = true;
        }
    }

    fn execute(&mut self, op: &Op) -> Result<u64, Fault> {
        let mut done = Vec::with_capacity(1);
        self.submit(std::slice::from_ref(op));
        while done.is_empty() {
            self.reap(&mut done, u64::MAX);
        }
        done[0].result
    }

    fn end(&mut self) -> Result<(), SetupError> {
        // Handles are nothing that has to be given back.
        Ok(())
    }
}
