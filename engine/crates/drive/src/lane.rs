//! The loop in which a lane does its operations. Everything measured is measured here.

use crate::arrivals::Schedule;
use crate::data::{Data, Lying};
use crate::interval::{sum, Collector, Counts};
use crate::outcome::{LaneMessage, LaneOutcome};
use crate::pattern::{Pattern, Step};
use crate::phase::{Moment, PhaseShared, MOMENTS};
use crate::placement::Urgent;
use crate::stream::Stream;
use assay_core::clock::TimeSource;
use assay_core::{fault_message, Buffers, Completion, ExistingObject, Fault, Lane, Op, OpKind};
use assay_spec::{ErrorKind, Moves};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::Sender;
use std::sync::Arc;
use std::time::Duration;

mod ahead;
mod careful;
mod in_step;

/// Failed operations that a lane reports whole in a phase; the others are only counted.
const ERROR_SAMPLES: u64 = 5;

/// A waiting lane looks up this often to see whether it shall stop.
const PATIENCE_NS: u64 = 200_000_000;

/// A lane hands over what it has counted, and compares clocks, at least this often.
const LONGEST_ACCOUNT_NS: u64 = 1_000_000_000;

/// Steps that are left where the phase runs by time: never used up.
const ENDLESS: u64 = u64::MAX;

/// Makes everything a lane has written stable.
const SYNC: Op = Op { kind: OpKind::Sync, count: 1, slot: 0, object: 0, offset: 0, length: 0 };

/// Flushes what the lane has written and waits for it. Nothing else is in flight.
pub(crate) fn sync(channel: &mut dyn Lane) -> Result<(), Fault> {
    channel.execute(&SYNC).map(|_| ())
}

/// What a lane does in a phase.
pub(crate) struct LanePlan {
    pub(crate) phase: u32,
    pub(crate) lane: u32,
    pub(crate) lanes: u32,
    pub(crate) object: String,
    /// The objects that were there before the job; their names follow `object`.
    pub(crate) existing: Option<Arc<[ExistingObject]>>,
    pub(crate) pattern: Pattern,
    /// None for backends that keep no data.
    pub(crate) data: Option<Data>,
    pub(crate) verify: bool,
    /// Data of operations that are longer than a buffer; none if there are none.
    pub(crate) stream: Option<Arc<Stream>>,
    /// Number of the lane's first small file or object among all; none where the lane works on the data of one file.
    pub(crate) first_object: Option<u64>,
    /// Bytes of each object that are no contents, and come after them.
    pub(crate) key_bytes: u64,
    pub(crate) runtime_ns: Option<u64>,
    pub(crate) time_limit_ns: Option<u64>,
    /// At the limit the lane goes on until it has done as much as any.
    pub(crate) wear_out: bool,
    pub(crate) schedule: Option<Schedule>,
    pub(crate) sync_at_end: bool,
    pub(crate) error_limit: u64,
    pub(crate) interval_ns: u64,
    pub(crate) depth: u32,
    /// Operations handed over at once, at most.
    pub(crate) batch: u32,
    /// The lane knows when the first byte of an answer came.
    pub(crate) tells_first_byte: bool,
    /// The lane is at work on an operation while the data of the next is made.
    pub(crate) ahead: bool,
    /// The lane starts as many operations as those of other processes.
    pub(crate) in_step: bool,
}

/// What a lane shares with others.
#[derive(Clone)]
pub(crate) struct Links {
    pub(crate) shared: Arc<PhaseShared>,
    pub(crate) stop: Arc<AtomicBool>,
    pub(crate) messages: Sender<LaneMessage>,
}

/// An operation in flight.
#[derive(Clone, Copy)]
struct InFlight {
    op: Op,
    /// Closed loop: submission; open loop: intended start.
    start: u64,
}

/// The state of the loop.
struct Run<'a, T> {
    plan: &'a mut LanePlan,
    links: &'a Links,
    /// Of the links.
    shared: &'a PhaseShared,
    /// Of the links.
    stop: &'a AtomicBool,
    channel: &'a mut dyn Lane,
    buffers: &'a Buffers,
    collector: &'a mut Collector,
    clock: T,
    outcome: LaneOutcome,
    slots: Vec<InFlight>,
    /// Per slot: what lies in its buffer.
    lying: Vec<Option<Lying>>,
    free: Vec<u32>,
    batch: Vec<Op>,
    done: Vec<Completion>,
    phase_start: u64,
    interval: u64,
    /// When it began; what started before belongs in part to intervals before. 0 in open loop, where that is not known.
    interval_start: u64,
    boundary: u64,
    /// Steps left; `ENDLESS` when the phase runs by time.
    left: u64,
    /// No operation is started at or after this time.
    last_start: u64,
    /// Nanoseconds into the phase after which nothing was started although something was left to do.
    cut_at: Option<u64>,
    seen: u32,
    failed: u64,
    issuing: bool,
    begun: bool,
    /// Something else than operations took time, which must not count as the next one's.
    distracted: bool,
    /// Some operations write data that has to be made.
    makes_data: bool,
    /// Steps depend on how operations have ended.
    follows: bool,
    /// There is more to do after an operation than to count it: always, or while some are under way that began in an
    /// interval before.
    watches: bool,
    always_watches: bool,
    /// How many those are.
    crossing: usize,
    /// The next step has to wait for something in flight.
    must_wait: bool,
}

/// A lane's buffers before a phase.
pub(crate) struct Laid<'a> {
    buffers: &'a Buffers,
    /// Per slot that the phase uses: what lies in it.
    lying: Vec<Option<Lying>>,
}

/// Makes the data of the first operations, so that lanes which share a CPU need not make it when they are to start.
pub(crate) fn lay_first<'a>(plan: &mut LanePlan, buffers: &'a Buffers) -> Laid<'a> {
    if let Some(stream) = &plan.stream {
        stream.forget();
    }
    let depth = plan.depth.min(buffers.count() as u32);
    let mut lying = vec![None; depth as usize];
    plan.ahead &= depth == 1 && buffers.count() > 1 && plan.pattern.writes() && plan.schedule.is_none();
    lying.resize((depth + u32::from(plan.ahead)) as usize, None);
    if plan.data.is_none() || !plan.pattern.writes() {
        return Laid { buffers, lying };
    }
    let mut ahead = plan.pattern.clone();
    let first = plan.first_object;
    let steps = ahead.count().min(u64::from(depth)) as u32;
    for slot in 0..steps {
        let Some(step) = ahead.next_step() else { break };
        let op = op_of(step, slot);
        make_data(plan.data.as_mut(), first, buffers, &op, &mut lying[slot as usize], || {});
    }
    Laid { buffers, lying }
}

/// Puts into the slot what the operation shall write, and looks after each piece of it; returns whether there was
/// anything to make.
#[inline]
fn make_data(
    data: Option<&mut Data>,
    first_object: Option<u64>,
    buffers: &Buffers,
    op: &Op,
    lying: &mut Option<Lying>,
    look: impl FnMut(),
) -> bool {
    let Some(data) = data.filter(|_| op.kind.moves() == Moves::Out) else {
        *lying = None;
        return false;
    };
    if op.length == 0 {
        return false;
    }
    // What is longer than the buffer, or on several objects, is made while it is sent, perhaps in this buffer.
    if is_streamed(op, buffers) {
        *lying = None;
        return false;
    }
    // SAFETY: the slot was free, so nothing is in flight on it.
    let buffer = unsafe { buffers.slice(op.slot, op.length as usize) };
    if let Some(first) = first_object {
        data.select(first + op.object);
    }
    data.fill_looking(op.offset, buffer, lying, look);
    true
}

/// Its data is made and looked at piece by piece, not in its buffer.
#[inline]
fn is_streamed(op: &Op, buffers: &Buffers) -> bool {
    op.length > buffers.length() as u64 || op.kind.moves_several()
}

/// Something else than the pieces of one object comes to lie in its buffer.
#[inline]
fn fills_slot(op: &Op, buffers: &Buffers) -> bool {
    match op.kind.moves() {
        Moves::In => true,
        Moves::Out => !is_streamed(op, buffers),
        Moves::Nothing => false,
    }
}

/// A step of the pattern, on its way to the lane.
#[inline(always)]
fn op_of(step: Step, slot: u32) -> Op {
    Op { kind: step.kind, count: step.count, slot, object: step.object, offset: step.offset, length: step.length }
}

/// Does the phase by `clock`; `phase_start` is the time at which the lanes start together.
pub(crate) fn run(
    plan: &mut LanePlan,
    links: &Links,
    channel: &mut dyn Lane,
    laid: Laid<'_>,
    collector: &mut Collector,
    clock: impl TimeSource,
    phase_start: u64,
) -> LaneOutcome {
    let Laid { buffers, lying } = laid;
    let mut kinds = plan.pattern.kinds();
    kinds.push(OpKind::Sync);
    let records = plan.pattern.is_on_files();
    collector.begin(&kinds, records);
    let depth = lying.len() as u32 - u32::from(plan.ahead);
    let idle = InFlight { op: SYNC, start: 0 };
    let limit = plan
        .runtime_ns
        .map(|ns| if plan.schedule.is_some() { ns.saturating_mul(2) } else { ns })
        .or(plan.time_limit_ns);
    let once = plan.runtime_ns.is_none() || plan.pattern.count() == 0;
    let (makes_data, follows) = (plan.data.is_some() && plan.pattern.writes(), plan.pattern.follows());
    let mut run = Run {
        left: if once { plan.pattern.count() } else { ENDLESS },
        last_start: limit.map_or(u64::MAX, |ns| phase_start.saturating_add(ns)),
        boundary: phase_start.saturating_add(plan.interval_ns.min(LONGEST_ACCOUNT_NS)),
        makes_data,
        follows,
        watches: follows || plan.verify || plan.tells_first_byte,
        always_watches: follows || plan.verify || plan.tells_first_byte,
        crossing: 0,
        must_wait: false,
        plan,
        links,
        shared: &links.shared,
        stop: &links.stop,
        channel,
        buffers,
        collector,
        clock,
        outcome: LaneOutcome { records, ..LaneOutcome::default() },
        slots: vec![idle; depth as usize],
        lying,
        free: (0..depth).rev().collect(),
        batch: Vec::with_capacity(depth as usize),
        done: Vec::with_capacity(depth as usize),
        phase_start,
        interval: 0,
        interval_start: 0,
        cut_at: None,
        seen: 0,
        failed: 0,
        issuing: true,
        begun: false,
        distracted: true,
    };
    run.all();
    run.outcome
}

impl<T: TimeSource> Run<'_, T> {
    fn all(&mut self) {
        let urgent = Urgent::new();
        self.outcome.start = self.clock.wait_until(self.phase_start);
        drop(urgent);
        let begin = self.clock.now();
        if self.plan.schedule.is_none() {
            // Who was run only after the time was over does what it would have begun with: else nothing were measured.
            self.last_start = self.last_start.max(begin.saturating_add(1));
        }
        let mut end = self.work(begin);
        if self.plan.wear_out && self.may_wear_out(end) {
            let begin = self.clock.now();
            end = self.work(begin);
        }
        let end = if self.plan.schedule.is_some() { self.sit_out(end) } else { end };
        self.shared.announce(Moment::FirstOut, end);
        self.flush(end);
        self.outcome.covered = self.covered();
        self.outcome.objects = self.plan.pattern.objects_left();
        self.outcome.unstarted = self.unstarted();
    }

    /// Does operations until there are no more to start; returns the end.
    fn work(&mut self, begin: u64) -> u64 {
        match (self.slots.len(), self.plan.schedule.is_some()) {
            _ if self.plan.in_step => self.in_step(begin),
            (1, false) if self.plan.ahead => self.one_by_one_ahead(),
            (1, false) => self.one_by_one(begin),
            (1, true) => self.one_by_one_in_time(begin),
            _ => self.in_batches(begin),
        }
    }

    /// At the time limit says how far the lane is, waits to hear how far the furthest is, and gets ready to go on until
    /// there; whether there is something to do.
    #[cold]
    fn may_wear_out(&mut self, now: u64) -> bool {
        let all = self.plan.pattern.count();
        let done = all - self.left.min(all);
        self.outcome.at_limit = Some((now, self.progress()));
        let _ = self.links.messages.send(LaneMessage::Reached(done));
        let most = loop {
            if let Some(most) = self.shared.wait_for_most(Duration::from_nanos(PATIENCE_NS)) {
                break most;
            }
            if self.stop.load(Ordering::Relaxed) {
                return false;
            }
        };
        let rest = self.left.min(most.saturating_sub(done));
        self.outcome.limited = self.left > rest;
        if rest == 0 || self.outcome.gave_up {
            return false;
        }
        (self.left, self.last_start, self.cut_at) = (rest, u64::MAX, None);
        (self.issuing, self.distracted) = (true, true);
        true
    }

    /// One operation after the other, as fast as they come; the end of one is the start of the next. Returns the end.
    fn one_by_one(&mut self, begin: u64) -> u64 {
        let (mut now, mut op) = (begin, SYNC);
        while self.may_start(now) {
            let Some(made) = self.next_op(0, &mut op) else { break };
            // Making data is not the storage's time.
            let start = if made { self.clock.now() } else { now };
            now = self.one(&op, start);
        }
        now
    }

    /// The same in open loop: an operation that is late starts at once, and counts from when it was due.
    fn one_by_one_in_time(&mut self, begin: u64) -> u64 {
        let (mut now, mut op) = (begin, SYNC);
        while self.may_start(now) {
            let Some(due) = self.due() else { break };
            let look_up = (now + PATIENCE_NS).min(self.boundary).min(self.last_start);
            if look_up < due {
                now = self.clock.wait_until(look_up);
                self.look_up(now);
                continue;
            }
            let Some(made) = self.next_op(0, &mut op) else { break };
            if let Some(schedule) = &mut self.plan.schedule {
                schedule.advance();
            }
            if made || now < due {
                now = self.clock.wait_until(due);
            }
            self.collector.delay.record(now.saturating_sub(due));
            now = self.one(&op, due);
        }
        now
    }

    /// Does an operation that counts from `start`; returns the time afterwards.
    #[inline(always)]
    fn one(&mut self, op: &Op, start: u64) -> u64 {
        let result = self.channel.execute(op);
        let now = self.clock.now();
        self.look_up(now);
        if !self.count(op.kind, op.length, start, result, now) {
            self.count_with_care(op, start, result, now);
        }
        if self.distracted {
            self.regain(now)
        } else {
            now
        }
    }

    /// When the next operation is due, if it is within the phase.
    #[inline(always)]
    fn due(&mut self) -> Option<u64> {
        let due = self.plan.schedule.as_ref()?.next_ns();
        if self.plan.runtime_ns.is_some_and(|runtime| due >= runtime) {
            self.issuing = false;
            return None;
        }
        Some(self.phase_start.saturating_add(due))
    }

    /// In open loop the phase lasts as long as it should, even if the last operation was due long before the end.
    fn sit_out(&mut self, mut now: u64) -> u64 {
        let end = self.plan.runtime_ns.map_or(0, |runtime| self.phase_start.saturating_add(runtime));
        while now < end && !self.outcome.gave_up && !self.stop.load(Ordering::Relaxed) {
            now = self.clock.wait_until(end.min(now + PATIENCE_NS).min(self.boundary));
            self.look_up(now);
        }
        now
    }

    /// Several in flight, or at given times.
    fn in_batches(&mut self, begin: u64) -> u64 {
        let mut now = begin;
        loop {
            if self.issuing {
                now = self.issue(now);
            }
            if self.free.len() == self.slots.len() {
                if !self.issuing {
                    return now;
                }
                now = self.clock.wait_until(self.next_due().min(self.boundary).min(now + PATIENCE_NS));
                self.look_up(now);
                continue;
            }
            let more = self.issuing
                && self.plan.schedule.is_none()
                && !self.free.is_empty()
                && self.left != 0
                && !self.must_wait;
            // What is not handed over yet does not wait for what is.
            let deadline = if more { now } else { self.wake_up(now) };
            self.channel.exchange(&self.batch, &mut self.done, deadline);
            self.batch.clear();
            now = self.clock.now();
            self.complete(now);
            if self.distracted {
                now = self.regain(now);
            }
        }
    }

    /// Whether another operation may be started; if not, none will be any more.
    #[inline(always)]
    fn may_start(&mut self, now: u64) -> bool {
        let may = now < self.last_start && self.left != 0 && !self.stop.load(Ordering::Relaxed);
        if !may {
            self.stop_issuing(now);
        }
        may && self.issuing
    }

    /// Puts into the batch what can be started now; returns the time at which it starts.
    fn issue(&mut self, now: u64) -> u64 {
        if !self.may_start(now) {
            return now;
        }
        if self.plan.schedule.is_some() {
            return self.issue_due(now);
        }
        let mut filled = false;
        while self.left != 0 && self.batch.len() < self.plan.batch as usize {
            let Some(slot) = self.free.pop() else { break };
            let Some(made) = self.prepare_next(slot, now) else { break };
            filled |= made;
        }
        if !filled {
            return now;
        }
        let now = self.clock.now();
        for op in &self.batch {
            self.slots[op.slot as usize].start = now;
        }
        now
    }

    /// The same in open loop: what is due, with its intended time.
    fn issue_due(&mut self, now: u64) -> u64 {
        while self.left != 0 {
            let Some(due) = self.due().filter(|due| *due <= now) else { break };
            let Some(slot) = self.free.pop() else { break };
            if self.prepare_next(slot, due).is_none() {
                break;
            }
            if let Some(schedule) = &mut self.plan.schedule {
                schedule.advance();
            }
        }
        if self.batch.is_empty() {
            return now;
        }
        let now = self.clock.now();
        for op in &self.batch {
            self.collector.delay.record(now.saturating_sub(self.slots[op.slot as usize].start));
        }
        now
    }

    /// Puts the pattern's next step into the batch, to count from `start`; whether data was made for it. None, and the
    /// slot is free again, if there is no step now.
    #[inline(always)]
    fn prepare_next(&mut self, slot: u32, start: u64) -> Option<bool> {
        let mut op = SYNC;
        let Some(made) = self.next_op(slot, &mut op) else {
            self.free.push(slot);
            return None;
        };
        self.slots[slot as usize] = InFlight { op, start };
        self.batch.push(op);
        Some(made)
    }

    /// Makes `op` the pattern's next step; returns whether data was made for it, none if there is no step now. Not the
    /// operation itself, which would be copied on its way.
    #[inline(always)]
    fn next_op(&mut self, slot: u32, op: &mut Op) -> Option<bool> {
        if self.follows {
            return self.next_that_follows(slot, op);
        }
        self.left -= 1;
        *op = op_of(self.plan.pattern.step(), slot);
        Some(self.makes_data && self.make(op))
    }

    /// The same where there may be no step now.
    #[inline(never)]
    fn next_that_follows(&mut self, slot: u32, op: &mut Op) -> Option<bool> {
        let Some(step) = self.plan.pattern.next_step() else {
            self.no_step();
            return None;
        };
        self.left -= 1;
        *op = op_of(step, slot);
        if let Some(stream) = self.plan.stream.as_ref().filter(|_| fills_slot(op, self.buffers)) {
            stream.forget_slot(slot);
        }
        Some(self.makes_data && self.make(op))
    }

    /// Makes what the operation writes, if it writes something; returns whether it does.
    #[inline(always)]
    fn make(&mut self, op: &Op) -> bool {
        let lying = &mut self.lying[op.slot as usize];
        make_data(self.plan.data.as_mut(), self.plan.first_object, self.buffers, op, lying, || {})
    }

    /// Waits for what is in flight, or, if that is nothing, ends.
    #[cold]
    fn no_step(&mut self) {
        // The slot that was to be filled is in neither list.
        self.must_wait = self.free.len() + self.batch.len() + 1 < self.slots.len() || !self.batch.is_empty();
        if !self.must_wait {
            self.left = 0;
            self.issuing = false;
        }
    }

    /// No operation will be started any more.
    fn stop_issuing(&mut self, now: u64) {
        self.issuing = false;
        let stopped = self.stop.load(Ordering::Relaxed) || self.outcome.gave_up;
        if stopped || self.left == 0 {
            return;
        }
        self.outcome.limited = self.plan.runtime_ns.is_none();
        self.cut_at = Some(self.plan.runtime_ns.unwrap_or(now.saturating_sub(self.phase_start)));
    }

    /// Operations that were due before the phase was cut short, but never started.
    fn unstarted(&self) -> u64 {
        match (&self.plan.schedule, self.cut_at) {
            (Some(schedule), Some(end)) => self.left.min(schedule.due_before(end)),
            _ => 0,
        }
    }

    /// Time of the next intended start; now, in closed loop.
    fn next_due(&self) -> u64 {
        self.plan.schedule.map_or(0, |schedule| self.phase_start.saturating_add(schedule.next_ns()))
    }

    /// Until when to wait for completions.
    fn wake_up(&self, now: u64) -> u64 {
        let latest = self.boundary.min(now + PATIENCE_NS);
        let open = self.issuing && self.plan.schedule.is_some() && !self.free.is_empty() && !self.must_wait;
        if open {
            latest.min(self.next_due())
        } else {
            latest
        }
    }

    /// Counts what has been reaped at `now`.
    #[inline]
    fn complete(&mut self, now: u64) {
        self.look_up(now);
        let mut done = std::mem::take(&mut self.done);
        for Completion { slot, result } in &done {
            let InFlight { op: Op { kind, length, .. }, start } = self.slots[*slot as usize];
            if !self.count(kind, length, start, *result, now) {
                let op = self.slots[*slot as usize].op;
                self.count_with_care(&op, start, *result, now);
            }
            self.free.push(*slot);
        }
        done.clear();
        self.done = done;
    }

    /// Turns the interval and notes moments, before anything completed at `now` is counted.
    #[inline(always)]
    fn look_up(&mut self, now: u64) {
        if now >= self.boundary {
            self.turn_interval(now);
        }
        if self.shared.news() != self.seen {
            self.distracted = true;
            self.note_moments();
        }
    }

    /// The time after something else than operations, and whether the lane has begun.
    #[cold]
    fn regain(&mut self, now: u64) -> u64 {
        if !self.begun && self.progress().ops > 0 {
            self.begun = true;
            self.shared.lane_begun(self.plan.lanes, now);
        }
        self.distracted = !self.begun;
        self.clock.now()
    }

    /// Counts one operation that took from `start` to `now`. If there is more to it, only says so: false.
    #[inline(always)]
    fn count(&mut self, kind: OpKind, length: u64, start: u64, result: Result<u64, Fault>, now: u64) -> bool {
        let simple = result == Ok(length) && !self.watches;
        if simple {
            self.collector.of(kind).count(length, now.saturating_sub(start));
        }
        simple
    }

    /// Operations and bytes so far.
    fn progress(&self) -> Counts {
        sum([self.outcome.progress(), self.collector.progress()])
    }

    /// Hands over the interval that has ended.
    #[cold]
    fn turn_interval(&mut self, now: u64) {
        self.distracted = true;
        self.hand_over();
        self.clock.adjust();
        self.interval = now.saturating_sub(self.phase_start) / self.plan.interval_ns;
        if self.plan.schedule.is_none() {
            self.interval_start = self.phase_start.saturating_add(self.interval.saturating_mul(self.plan.interval_ns));
            self.crossing = if self.slots.len() == 1 { 1 } else { self.slots.len() - self.free.len() };
            self.watches = self.always_watches || self.crossing > 0;
        }
        let passed = (self.interval + 1).saturating_mul(self.plan.interval_ns);
        self.boundary = self.phase_start.saturating_add(passed).min(now + LONGEST_ACCOUNT_NS);
    }

    fn hand_over(&mut self) {
        if let Some(interval) = self.collector.take() {
            interval.add_to(&mut self.outcome.totals);
            let _ = self.links.messages.send(LaneMessage::Interval(self.interval, interval));
        }
    }

    /// Remembers the progress at moments that came since the last look. Nothing was completed between the
    /// moment and the completions at hand, which are not counted yet.
    fn note_moments(&mut self) {
        self.seen = self.shared.news();
        let progress = self.progress();
        for moment in MOMENTS {
            let known = &mut self.outcome.at_moment[moment as usize];
            if known.is_none() && self.shared.time(moment).is_some() {
                *known = Some(progress);
            }
        }
    }

    /// Makes the writes stable and ends.
    fn flush(&mut self, now: u64) {
        let mut end = now;
        let stopped = self.stop.load(Ordering::Relaxed);
        let wanted = self.has_changed_something() && !stopped;
        if self.plan.sync_at_end && self.channel.flushes(wanted) {
            let begin = self.clock.now();
            let synced = sync(self.channel);
            end = self.clock.now();
            self.outcome.sync_ns = end.saturating_sub(begin);
            if let Err(fault) = synced {
                self.fail(&SYNC, 0, ErrorKind::Fault, Some(fault), fault_message(fault));
                // What was written cannot be relied on: the phases to come have nothing to stand on.
                self.outcome.gave_up = true;
            }
        }
        self.note_moments();
        self.outcome.end = end;
        self.shared.announce(Moment::FirstEnd, end);
        self.hand_over();
    }

    /// Something was done that a flush makes stable.
    fn has_changed_something(&self) -> bool {
        let before = self.outcome.totals.iter().any(|(kind, tally)| kind.changes() && tally.counts.ops > 0);
        before || self.collector.ops(OpKind::changes) > 0
    }

    /// How much of the lane's part a sequential write has covered from its start without a gap, or how many names or
    /// files of a tree were made.
    fn covered(&self) -> u64 {
        if let Some(whole) = self.plan.pattern.whole_files() {
            return whole;
        }
        if self.plan.first_object.is_some() {
            return self.outcome.progress().ops;
        }
        if self.failed > 0 {
            return 0;
        }
        let written = self.outcome.totals.get(&OpKind::Write).map_or(0, |tally| tally.counts.bytes);
        written.min(self.plan.pattern.bytes())
    }
}
