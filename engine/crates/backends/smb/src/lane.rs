//! One worker's file: each record is one READ or WRITE, or several at once where it is larger than the server takes.

use crate::calls::About;
use crate::client::{fault_of, Client, TO_READ};
use crate::messages::{self, Opening, WRITE_DATA, WRITE_THROUGH};
use crate::place::Place;
use crate::session::Refusal;
use crate::status::{GARBAGE, TIMED_OUT};
use crate::wire::{Command, FileId};
use assay_core::{
    clock, Buffers, Completion, Fault, HostCounts, Lane, LaneSetup, MethodChoice, Op, OpKind, PhasePlan, ServiceLane,
    ServiceUse, SetupError,
};
use assay_remote::{execute, part_of, reap, tag_of, Outcome, Payload, Records, RemotePlace, Transport};
use assay_spec::{name_kinds, object_kinds, program_kinds};
use assay_spec::{Method, Operation, SyncPolicy};
use std::sync::Arc;
use std::time::Duration;

/// Calls under way at most, where records are so much larger than calls.
const MAX_CALLS: usize = 1024;

/// To open a session there is so long at least, in nanoseconds.
const MIN_NS: u64 = 1_000_000_000;

/// A worker's file.
pub(crate) struct FileLane {
    place: Arc<Place>,
    share: usize,
    /// Its own file.
    own: u32,
    /// The file of the phase.
    number: u32,
    setup: LaneSetup,
    pub(crate) client: Client,
    /// Path in the share of the file that is open; empty if none is.
    path: String,
    file: FileId,
    opening: Opening,
    pub(crate) records: Records,
    /// Parts of records, by slot, place and length, whose connection was lost: they are asked for again.
    again: Vec<(u32, u32, u32)>,
    buffers: Arc<Buffers>,
}

impl FileLane {
    /// Connects when the first phase begins.
    pub(crate) fn open(place: Arc<Place>, number: u32, setup: LaneSetup) -> Self {
        let share = place.volume_of(number);
        FileLane {
            client: place.client(share),
            records: Records::new(&setup, MAX_CALLS, place.sizes(share)),
            place,
            share,
            own: number,
            number,
            path: String::new(),
            file: FileId::default(),
            opening: TO_READ,
            again: Vec::new(),
            buffers: Arc::clone(&setup.buffers),
            setup,
        }
    }

    /// Gets ready for a phase in which files of a tree are taken one after the other.
    pub(crate) fn begin_set(&mut self, plan: &PhasePlan) {
        self.opening = opening(plan.sync);
        self.forget();
    }

    /// Goes on with a file that is open.
    pub(crate) fn take(&mut self, path: &str, file: FileId) {
        self.path.clear();
        self.path.push_str(path);
        self.file = file;
    }

    /// Is on no file any more.
    pub(crate) fn forget(&mut self) {
        self.path.clear();
    }

    /// The file that is open.
    pub(crate) fn current(&self) -> Option<FileId> {
        (!self.path.is_empty()).then_some(self.file)
    }

    /// Opens the file, in a new session if the last one is lost.
    fn open_file(&mut self) -> Result<(), SetupError> {
        let shown = format!("{}/{}", self.place.folder_path(self.share), assay_core::names::file_name(self.number));
        let mut tried = 0;
        loop {
            self.client.connect(self.client.timeout_ns)?;
            let mut opened = self.place.check_folder(&mut self.client, self.share);
            opened = opened.and_then(|()| self.place.check_file(&mut self.client, self.share, self.number));
            let opened = opened.and_then(|()| {
                let file = self.client.open(&self.place.file(self.number), self.opening);
                file.map_err(|fault| self.place.error("open", shown.clone(), fault))
            });
            tried += 1;
            match opened {
                // A server closes a connection on which nothing is said for long.
                Err(_) if self.client.transport.session().is_none() && tried == 1 => {}
                opened => {
                    let (path, file) = (self.place.file(self.number), opened?.file);
                    self.take(&path, file);
                    return Ok(());
                }
            }
        }
    }

    fn begin_op(&mut self, op: &Op) {
        let deadline = clock::now() + self.client.timeout_ns;
        match op.kind {
            OpKind::Read | OpKind::Write => {
                self.records.begin(op, deadline, 0);
                self.call_on(op.slot);
            }
            OpKind::Sync => {
                self.records.begin(op, deadline, 1);
                self.call_part(op.slot, 0, 0);
            }
            name_kinds!() | object_kinds!() | program_kinds!() => self.records.refuse(op.slot),
        }
    }

    /// Makes calls for what is left of a record, as long as there is room.
    #[inline]
    fn call_on(&mut self, slot: u32) {
        while let Some((at, length)) = self.records.next_part(slot, self.client.transport.calls.under_way()) {
            self.call_part(slot, at, length);
        }
    }

    /// Makes the call for a part of a record, or for a flush.
    fn call_part(&mut self, slot: u32, at: u32, length: u32) {
        let (op, deadline) = self.records.get(slot);
        let data = self.buffers.pointer(slot).wrapping_add(at as usize);
        let (file, offset) = (self.file, op.offset + u64::from(at));
        let about = About { bytes: length, ..About::plain(tag_of(slot, at), deadline) };
        let transport = &mut self.client.transport;
        match op.kind {
            OpKind::Read => {
                let about = About { payload: Payload::In(data, length as usize), ..about };
                transport.start(about, |chain| {
                    chain.add(Command::Read, |out| messages::put_read(out, &file, offset, length));
                });
            }
            OpKind::Write => {
                let about = About { payload: Payload::Out(data.cast_const(), length as usize), ..about };
                transport.start(about, |chain| {
                    chain.add(Command::Write, |out| messages::put_write(out, &file, offset, length));
                });
            }
            OpKind::Sync | name_kinds!() | object_kinds!() | program_kinds!() => {
                transport.start(about, |chain| {
                    chain.add(Command::Flush, |out| messages::put_flush(out, &file));
                });
            }
        }
    }

    /// Takes what has ended, and makes the calls that follow from it.
    fn collect(&mut self, done: &mut Vec<Completion>) {
        done.append(&mut self.records.early);
        while let Some(call) = self.client.transport.take_finished() {
            let about = self.client.transport.calls.get(call);
            let (slot, at) = part_of(about.tag);
            let (op, _) = self.records.get(slot);
            let size = if op.kind == OpKind::Read { self.records.sizes.0 } else { self.records.sizes.1 };
            let asked = size.min((op.length as u32).saturating_sub(at));
            let moved = match about.outcome {
                Outcome::Read(count, _) => Ok(count),
                Outcome::Failed(fault) => Err(fault),
                Outcome::Reply(_) if op.kind == OpKind::Write => {
                    let answer = self.client.transport.calls.results(call);
                    answer.and_then(|answer| messages::written(answer).filter(|count| *count <= asked).ok_or(GARBAGE))
                }
                Outcome::Reply(_) => Ok(0),
                Outcome::Lost(_) => {
                    self.client.transport.calls.release(call);
                    self.again.push((slot, at, asked));
                    continue;
                }
            };
            self.client.transport.calls.release(call);
            self.part_ended(slot, (at, asked), moved, done);
            if let Some(next) = self.records.next_waiting() {
                self.call_on(next);
            }
        }
    }

    fn part_ended(&mut self, slot: u32, part: (u32, u32), moved: Result<u32, Fault>, done: &mut Vec<Completion>) {
        let moved = moved.map(|count| (count, count == 0));
        if let Some((at, length)) = self.records.part_ended(slot, part, moved, done) {
            self.call_part(slot, at, length);
        }
    }

    /// Opens a new session and asks again for what was lost with the last one; gives up what is too late, or all if the
    /// server does not want this user any more. Waits until then, or a second longer.
    #[cold]
    fn recover(&mut self, until: u64, done: &mut Vec<Completion>) {
        let now = clock::now();
        let lost = std::mem::take(&mut self.again);
        let late = |part: &(u32, u32, u32)| self.records.get(part.0).1 <= now;
        let (over, again): (Vec<_>, Vec<_>) = lost.into_iter().partition(late);
        self.again = again;
        for (slot, at, asked) in over {
            self.part_ended(slot, (at, asked), Err(TIMED_OUT), done);
        }
        let first = self.again.iter().map(|(slot, ..)| self.records.get(*slot).1).min();
        let Some(first) = first else { return };
        let rest = self.client.transport.rest_until().min(first).min(until).saturating_sub(now);
        std::thread::sleep(Duration::from_nanos(rest));
        if self.client.transport.rest_until() > clock::now() {
            return;
        }
        // Whoever only looks in for a moment would never see a session made.
        let limit = first.min(until.max(clock::now() + MIN_NS));
        let back = self.client.transport.connect(limit).and_then(|()| {
            let opened = self.client.open(&self.path, self.opening);
            opened.map_err(|fault| Refusal::Refused("file", fault))
        });
        match back {
            Ok(opened) => {
                self.file = opened.file;
                for (slot, at, asked) in std::mem::take(&mut self.again) {
                    self.call_part(slot, at, asked);
                }
                self.client.transport.flush();
            }
            // It may come back, and so may a connection that was lost once more.
            Err(Refusal::Unreachable(_)) => {}
            Err(_) if self.client.transport.session().is_none() && self.client.transport.rest_until() == 0 => {}
            Err(refusal) => {
                for (slot, at, asked) in std::mem::take(&mut self.again) {
                    self.part_ended(slot, (at, asked), Err(fault_of(refusal)), done);
                }
            }
        }
    }

    /// For people: where to, and how.
    fn reason(&self, plan: &PhasePlan) -> String {
        let share = &self.place.shares[self.share];
        let connections = match self.place.target.channels {
            1 => "1 connection".to_owned(),
            count => format!("{count} channels"),
        };
        let mut text = format!(
            "{} to {} ({}), {connections}, rsize {}, wsize {} (server allows {} and {})",
            share.about,
            share.peer.shown(),
            share.peer.address,
            self.records.sizes.0,
            self.records.sizes.1,
            share.limits.0,
            share.limits.1
        );
        if plan.operation.writes() {
            text += safety(plan.sync);
        }
        text
    }
}

/// How what was written is made safe, for people.
fn safety(sync: SyncPolicy) -> &'static str {
    match sync {
        SyncPolicy::None => "",
        SyncPolicy::Fsync | SyncPolicy::Fdatasync => ", then FLUSH",
        SyncPolicy::OSync | SyncPolicy::ODsync => ", opened with WRITE_THROUGH",
    }
}

/// What is asked of the records of a file that is open.
pub(crate) fn requests_of(operation: Operation, sync: SyncPolicy) -> String {
    match (operation.reads(), operation.writes()) {
        (true, true) => format!("READ, or WRITE{}", safety(sync)),
        (true, false) => "READ".to_owned(),
        _ => format!("WRITE{}", safety(sync)),
    }
}

/// How a file that is there is opened for a phase.
pub(crate) fn opening(sync: SyncPolicy) -> Opening {
    let through = matches!(sync, SyncPolicy::OSync | SyncPolicy::ODsync);
    let options = TO_READ.options | if through { WRITE_THROUGH } else { 0 };
    Opening { access: TO_READ.access | WRITE_DATA, options, ..TO_READ }
}

impl Lane for FileLane {
    fn begin(&mut self, plan: &PhasePlan) -> Result<MethodChoice, SetupError> {
        self.opening = opening(plan.sync);
        self.number = plan.owners.of(self.own);
        self.open_file()?;
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
        let collect = |lane: &mut Self, done: &mut Vec<Completion>| {
            lane.collect(done);
            if !lane.again.is_empty() {
                lane.recover(deadline, done);
            }
            lane.records.in_flight
        };
        reap(self, done, deadline, collect, |lane, until| lane.client.transport.wait(until));
    }

    fn execute(&mut self, op: &Op) -> Result<u64, Fault> {
        execute(self, op, |lane| &mut lane.records.early)
    }

    fn service(&mut self) -> Option<&mut dyn ServiceLane> {
        Some(self)
    }

    fn end(&mut self) -> Result<(), SetupError> {
        // A file whose session is lost is closed.
        if let Some(file) = self.current().filter(|_| self.client.transport.session().is_some()) {
            let _ = self.client.close(&file);
        }
        self.forget();
        Ok(())
    }
}

impl ServiceLane for FileLane {
    fn host_counts(&mut self) -> Vec<HostCounts> {
        vec![self.client.transport.take_counts()]
    }

    fn service_counts(&mut self) -> Option<ServiceUse> {
        self.client.transport.take_lost()
    }
}
