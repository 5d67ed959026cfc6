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
use assay_remote::{Outcome, Payload, RemotePlace, Transport};
use assay_spec::{name_kinds, object_kinds};
use assay_spec::{Method, Operation, SyncPolicy};
use nfs3_types::nfs3::NFS_PROGRAM as P;
use std::collections::VecDeque;
use std::sync::Arc;

/// Calls under way at least, where records are so much larger than calls.
const LEAST_CALLS: usize = 1024;

/// An operation under way.
#[derive(Debug, Clone, Copy)]
struct Work {
    op: Op,
    deadline: u64,
    /// Bytes of the record for which calls have been made.
    called: u32,
    /// Calls without an answer.
    pending: u32,
    /// Where the first gap is.
    end: u32,
    /// The first part that failed, and its fault.
    error: Option<(u32, Fault)>,
}

/// A worker's file.
pub(crate) struct FileLane {
    place: Arc<Place>,
    server: usize,
    /// Its own.
    file: u32,
    setup: LaneSetup,
    pub(crate) client: Client,
    handle: Handle,
    /// Bytes of a READ and of a WRITE.
    sizes: (u32, u32),
    stable: Stable,
    /// What was written is committed at the end.
    commits: bool,
    uncommitted: Uncommitted,
    slots: Vec<Work>,
    /// Slots whose records wait for room for more calls.
    waiting: VecDeque<u32>,
    /// Ended without a call.
    early: Vec<Completion>,
    in_flight: usize,
    most_calls: usize,
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
        let idle = Op { kind: OpKind::Sync, count: 1, slot: 0, object: 0, offset: 0, length: 0 };
        let work = Work { op: idle, deadline: 0, called: 0, pending: 0, end: 0, error: None };
        FileLane {
            client: place.client(server, place.target.nconnect),
            sizes: place.sizes(server),
            place,
            server,
            file,
            handle: Handle::new(),
            stable: Stable::Unstable,
            commits: false,
            uncommitted: Uncommitted::default(),
            slots: vec![work; setup.buffers.count()],
            waiting: VecDeque::new(),
            early: Vec::with_capacity(setup.buffers.count()),
            in_flight: 0,
            most_calls: LEAST_CALLS.max(setup.queue_depth as usize).min(MAX_CALLS),
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
        self.slots[op.slot as usize] =
            Work { op: *op, deadline, called: 0, pending: 0, end: op.length as u32, error: None };
        match op.kind {
            OpKind::Read | OpKind::Write => {
                self.in_flight += 1;
                self.call_on(op.slot);
            }
            OpKind::Sync if self.uncommitted.any() => {
                self.in_flight += 1;
                self.slots[op.slot as usize].pending = 1;
                let handle = &self.handle;
                let about = (u64::from(op.slot) << 32, deadline);
                self.client.transport.start(Procedure::nfs(P::NFSPROC3_COMMIT), about, Payload::None, |out| {
                    put_opaque(out, handle);
                    put_u64(out, 0);
                    put_u32(out, 0);
                });
            }
            // The server has made everything stable already.
            OpKind::Sync => self.early.push(Completion::new(op.slot, Ok(0))),
            name_kinds!() | object_kinds!() => {
                debug_assert!(false, "a lane of one file has neither names nor objects");
                self.early.push(Completion::new(op.slot, Err(Fault::os(libc::EINVAL))));
            }
        }
    }

    /// Makes calls for what is left of a record, as long as there is room.
    fn call_on(&mut self, slot: u32) {
        let Op { kind, length, .. } = self.slots[slot as usize].op;
        let length = length as u32;
        let size = if kind == OpKind::Read { self.sizes.0 } else { self.sizes.1 };
        while self.slots[slot as usize].called < length {
            if self.client.transport.calls.table.under_way() >= self.most_calls {
                self.waiting.push_back(slot);
                return;
            }
            let work = &mut self.slots[slot as usize];
            let at = work.called;
            let part = size.min(length - at);
            work.called += part;
            work.pending += 1;
            self.call_part(slot, at, part);
        }
    }

    /// Makes the call for a part of a record.
    fn call_part(&mut self, slot: u32, at: u32, length: u32) {
        let Work { op, deadline, .. } = self.slots[slot as usize];
        let about = (u64::from(slot) << 32 | u64::from(at), deadline);
        let data = self.buffers.pointer(slot).wrapping_add(at as usize);
        let offset = op.offset + u64::from(at);
        let (handle, stable) = (&self.handle, self.stable as u32);
        let fill = |out: &mut Vec<u8>| {
            put_opaque(out, handle);
            put_u64(out, offset);
            put_u32(out, length);
        };
        let transport = &mut self.client.transport;
        if op.kind == OpKind::Read {
            let payload = Payload::In(data, length as usize);
            transport.start(Procedure::nfs(P::NFSPROC3_READ), about, payload, fill);
        } else {
            let payload = Payload::Out(data.cast_const(), length as usize);
            transport.start(Procedure::nfs(P::NFSPROC3_WRITE), about, payload, |out| {
                fill(out);
                put_u32(out, stable);
                put_u32(out, length);
            });
        }
    }

    /// What a call has moved, and whether there is nothing more to move behind it.
    fn moved(&mut self, call: u32, kind: OpKind, asked: u32) -> Result<(u32, bool), Fault> {
        let calls = &self.client.transport.calls.table;
        if let Outcome::Read(count, eof) = calls.get(call).outcome {
            return Ok((count, eof || count == 0));
        }
        let results = calls.results(call)?;
        match kind {
            OpKind::Write => {
                let written = replies::written(results).filter(|written| written.count <= asked);
                let written = written.ok_or(GARBAGE)?;
                self.uncommitted.note(&written, self.stable)?;
                Ok((written.count, written.count == 0))
            }
            OpKind::Sync => {
                let verifier = replies::committed(results).ok_or(GARBAGE)?;
                self.uncommitted.commit(verifier).map(|()| (0, true))
            }
            OpKind::Read | name_kinds!() | object_kinds!() => Err(GARBAGE),
        }
    }

    /// Takes what has ended, and makes the calls that follow from it.
    fn collect(&mut self, done: &mut Vec<Completion>) {
        done.append(&mut self.early);
        while let Some(call) = self.client.transport.take_finished() {
            let about = self.client.transport.calls.table.get(call);
            let (slot, at) = ((about.tag >> 32) as u32, about.tag as u32);
            let asked = match about.payload {
                Payload::In(_, length) | Payload::Out(_, length) => length as u32,
                Payload::None => 0,
            };
            let moved = self.moved(call, self.slots[slot as usize].op.kind, asked);
            self.client.transport.calls.table.release(call);
            self.part_ended(slot, (at, asked), moved, done);
            if let Some(next) = self.waiting.pop_front() {
                self.call_on(next);
            }
        }
    }

    fn part_ended(
        &mut self,
        slot: u32,
        (at, asked): (u32, u32),
        moved: Result<(u32, bool), Fault>,
        done: &mut Vec<Completion>,
    ) {
        let work = &mut self.slots[slot as usize];
        match moved {
            Ok((count, false)) if count < asked => {
                // The server has done a part of it: the rest is another call.
                return self.call_part(slot, at + count, asked - count);
            }
            Ok((count, _)) if count < asked => work.end = work.end.min(at + count),
            Ok(_) => {}
            Err(fault) => {
                work.error = Some(work.error.map_or((at, fault), |known| known.min((at, fault))));
                // What has not been asked for will not be.
                work.called = work.op.length as u32;
                self.waiting.retain(|other| *other != slot);
            }
        }
        work.pending -= 1;
        if work.pending == 0 && u64::from(work.called) >= work.op.length {
            self.in_flight -= 1;
            done.push(Completion::new(slot, work.error.map_or(Ok(u64::from(work.end)), |(_, fault)| Err(fault))));
        }
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
            self.sizes.0,
            self.sizes.1,
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
        let before = done.len();
        let mut waited = false;
        loop {
            self.collect(done);
            if done.len() > before || self.in_flight == 0 || waited && clock::now() >= deadline {
                return;
            }
            self.client.transport.wait(deadline);
            waited = true;
        }
    }

    fn execute(&mut self, op: &Op) -> Result<u64, Fault> {
        let mut done = std::mem::take(&mut self.early);
        self.submit(std::slice::from_ref(op));
        done.append(&mut self.early);
        while done.is_empty() {
            self.reap(&mut done, u64::MAX);
        }
        let result = done[0].result;
        done.clear();
        self.early = done;
        result
    }

    fn end(&mut self) -> Result<(), SetupError> {
        // A file is a handle, which nobody has to give back.
        Ok(())
    }
}

#[cfg(test)]
#[path = "lane_tests.rs"]
mod tests;
