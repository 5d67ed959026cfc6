//! One worker's file: each record is one READ or WRITE, or several at once where it is larger than a call may be.

use crate::calls::MAX_CALLS;
use crate::client::{Client, Handle};
use crate::place::Place;
use crate::replies;
use crate::rpc::Procedure;
use crate::stability::{Stable, Uncommitted};
use crate::status::GARBAGE;
use crate::xdr::{put_opaque, put_u32, put_u64};
use assay_core::{clock, Buffers, Completion, Fault, Lane, LaneSetup, MethodChoice, Op, OpKind, PhasePlan, SetupError};
use assay_remote::{execute, part_of, reap, tag_of, Outcome, Payload, Records, RemotePlace, Transport};
use assay_spec::{name_kinds, object_kinds, program_kinds};
use assay_spec::{Method, Operation, SyncPolicy};
use nfs3_types::nfs3::NFS_PROGRAM as P;
use std::sync::Arc;

/// Calls under way at least, where records are so much larger than calls.
const MIN_CALLS: usize = 1024;

/// A worker's file.
pub(crate) struct FileLane {
    place: Arc<Place>,
    server: usize,
    /// Its own.
    file: u32,
    setup: LaneSetup,
    pub(crate) client: Client,
    handle: Handle,
    stable: Stable,
    /// What was written is committed at the end.
    commits: bool,
    uncommitted: Uncommitted,
    pub(crate) records: Records,
    buffers: Arc<Buffers>,
}

impl FileLane {
    /// How long operations submitted from now on have.
    #[cfg(test)]
    pub(crate) fn set_timeout(&mut self, ns: u64) {
        self.client.timeout_ns = ns;
    }

    /// Connects when the first phase begins.
    pub(crate) fn open(place: Arc<Place>, server: usize, file: u32, setup: LaneSetup) -> Self {
        let max_calls = MIN_CALLS.max(setup.queue_depth as usize).min(MAX_CALLS);
        FileLane {
            client: place.client(server, place.target.nconnect),
            records: Records::new(&setup, max_calls, place.sizes(server)),
            place,
            server,
            file,
            handle: Handle::new(),
            stable: Stable::Unstable,
            commits: false,
            uncommitted: Uncommitted::default(),
            buffers: Arc::clone(&setup.buffers),
            setup,
        }
    }

    /// Gets ready for a phase in which files of a tree are taken one after the other.
    pub(crate) fn begin_set(&mut self, plan: &PhasePlan) {
        self.stable = Stable::of(plan.sync);
        self.commits = matches!(plan.sync, SyncPolicy::Fsync | SyncPolicy::Fdatasync);
        self.forget();
    }

    /// Goes on with the file that the server knows by this handle.
    pub(crate) fn take(&mut self, handle: &[u8]) {
        self.uncommitted = Uncommitted::default();
        self.handle.clear();
        self.handle.extend_from_slice(handle);
    }

    /// Is on no file any more.
    pub(crate) fn forget(&mut self) {
        self.take(&[]);
    }

    /// Is on a file.
    pub(crate) fn is_open(&self) -> bool {
        !self.handle.is_empty()
    }

    #[cfg(test)]
    pub(crate) fn with_handle(place: Arc<Place>, setup: LaneSetup, handle: &[u8]) -> Self {
        FileLane { handle: handle.to_vec(), ..FileLane::open(place, 0, 0, setup) }
    }

    fn begin_op(&mut self, op: &Op) {
        let deadline = clock::now() + self.client.timeout_ns;
        match op.kind {
            OpKind::Read | OpKind::Write => {
                self.records.begin(op, deadline, 0);
                self.call_on(op.slot);
            }
            OpKind::Sync if self.uncommitted.any() => {
                self.records.begin(op, deadline, 1);
                self.call_part(op.slot, 0, 0);
            }
            // The server has made everything stable already.
            OpKind::Sync => self.records.end_early(op.slot, Ok(0)),
            name_kinds!() | object_kinds!() | program_kinds!() => self.records.refuse(op.slot),
        }
    }

    /// Makes calls for what is left of a record, as long as there is room.
    #[inline]
    fn call_on(&mut self, slot: u32) {
        while let Some((at, length)) = self.records.next_part(slot, self.client.transport.calls.table.under_way()) {
            self.call_part(slot, at, length);
        }
    }

    /// Makes the call for a part of a record, or for a flush.
    fn call_part(&mut self, slot: u32, at: u32, length: u32) {
        let (op, deadline) = self.records.get(slot);
        let about = (tag_of(slot, at), deadline);
        let data = self.buffers.pointer(slot).wrapping_add(at as usize);
        let offset = op.offset + u64::from(at);
        let (handle, stable) = (&self.handle, self.stable as u32);
        let fill = |out: &mut Vec<u8>| {
            put_opaque(out, handle);
            put_u64(out, offset);
            put_u32(out, length);
        };
        let transport = &mut self.client.transport;
        match op.kind {
            OpKind::Read => {
                let payload = Payload::In(data, length as usize);
                transport.start(Procedure::nfs(P::NFSPROC3_READ), about, payload, fill);
            }
            OpKind::Write => {
                let payload = Payload::Out(data.cast_const(), length as usize);
                transport.start(Procedure::nfs(P::NFSPROC3_WRITE), about, payload, |out| {
                    fill(out);
                    put_u32(out, stable);
                    put_u32(out, length);
                });
            }
            // Of the whole file.
            OpKind::Sync | name_kinds!() | object_kinds!() | program_kinds!() => {
                transport.start(Procedure::nfs(P::NFSPROC3_COMMIT), about, Payload::None, |out| {
                    put_opaque(out, handle);
                    put_u64(out, 0);
                    put_u32(out, 0);
                });
            }
        }
    }

    /// What a call has moved, and whether there is nothing more to move behind it.
    fn moved(&mut self, call: u32, kind: OpKind, length: u32) -> Result<(u32, bool), Fault> {
        let calls = &self.client.transport.calls.table;
        if let Outcome::Read(count, eof) = calls.get(call).outcome {
            return Ok((count, eof || count == 0));
        }
        let results = calls.results(call)?;
        match kind {
            OpKind::Write => {
                let written = replies::written(results).filter(|written| written.count <= length);
                let written = written.ok_or(GARBAGE)?;
                self.uncommitted.note(&written, self.stable)?;
                Ok((written.count, written.count == 0))
            }
            OpKind::Sync => {
                let verifier = replies::committed(results).ok_or(GARBAGE)?;
                self.uncommitted.commit(verifier).map(|()| (0, true))
            }
            OpKind::Read | name_kinds!() | object_kinds!() | program_kinds!() => Err(GARBAGE),
        }
    }

    /// Takes what has ended, and makes the calls that follow from it; how many operations are in flight.
    fn collect(&mut self, done: &mut Vec<Completion>) -> usize {
        done.append(&mut self.records.early);
        while let Some(call) = self.client.transport.take_finished() {
            let about = self.client.transport.calls.table.get(call);
            let (slot, at) = part_of(about.tag);
            let length = match about.payload {
                Payload::In(_, length) | Payload::Out(_, length) => length as u32,
                Payload::None => 0,
            };
            let moved = self.moved(call, self.records.get(slot).0.kind, length);
            self.client.transport.calls.table.release(call);
            if let Some((at, length)) = self.records.part_ended(slot, (at, length), moved, done) {
                self.call_part(slot, at, length);
            }
            if let Some(next) = self.records.next_waiting() {
                self.call_on(next);
            }
        }
        self.records.in_flight
    }

    /// For people: where to, and how.
    fn reason(&self, plan: &PhasePlan) -> String {
        let server = &self.place.servers[self.server];
        let connections = match self.place.target.nconnect {
            1 => "1 connection".to_owned(),
            count => format!("{count} connections"),
        };
        let mut text = format!(
            "NFSv3 over TCP to {}, {connections}, rsize {}, wsize {} (server allows {} and {})",
            server.shown(),
            self.records.sizes.0,
            self.records.sizes.1,
            server.read_limit,
            server.write_limit
        );
        if plan.operation.writes() {
            text += ", ";
            text += &self.writes();
        }
        text
    }

    /// How it writes.
    fn writes(&self) -> String {
        format!("{} writes{}", self.stable.name(), if self.commits { ", then COMMIT" } else { "" })
    }

    /// What is done to the records of a file that is open.
    pub(crate) fn calls_of(&self, operation: Operation) -> String {
        match (operation.reads(), operation.writes()) {
            (true, true) => format!("READ, or {}", self.writes()),
            (true, false) => "READ".to_owned(),
            _ => self.writes(),
        }
    }
}

impl Lane for FileLane {
    fn begin(&mut self, plan: &PhasePlan) -> Result<MethodChoice, SetupError> {
        self.handle = self.place.file(&mut self.client, self.server, plan.owners.of(self.file))?;
        self.stable = Stable::of(plan.sync);
        self.commits = matches!(plan.sync, SyncPolicy::Fsync | SyncPolicy::Fdatasync);
        let depth = self.setup.queue_depth;
        Ok(MethodChoice { ahead: true, ..MethodChoice::of(Method::Protocol, self.reason(plan), depth) })
    }

    fn submit(&mut self, ops: &[Op]) -> usize {
        for op in ops {
            self.begin_op(op);
        }
        self.client.transport.flush();
        ops.len()
    }

    fn reap(&mut self, done: &mut Vec<Completion>, deadline: u64) {
        reap(self, done, deadline, Self::collect, |lane, until| lane.client.transport.wait(until));
    }

    fn execute(&mut self, op: &Op) -> Result<u64, Fault> {
        execute(self, op, |lane| &mut lane.records.early)
    }

    fn end(&mut self) -> Result<(), SetupError> {
        // A file is a handle, which nobody has to give back.
        Ok(())
    }
}

#[cfg(test)]
#[path = "lane_tests.rs"]
mod tests;
