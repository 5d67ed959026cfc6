//! The loop in which a lane executes its operations. Everything that is measured is measured here.

use crate::arrivals::Schedule;
use crate::data::{BufferContents, Data};
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
mod in_step;
mod slow_path;

/// Failed operations that a lane reports in full in a phase; the others are only counted.
const ERROR_SAMPLES: u64 = 5;

/// A waiting lane checks this often whether it is to stop.
const STOP_CHECK_NS: u64 = 200_000_000;

/// A lane reports what it has counted, and compares clocks, at least this often.
const LONGEST_REPORT_NS: u64 = 1_000_000_000;

/// Remaining steps of a phase that runs by time: never used up.
const ENDLESS: u64 = u64::MAX;

/// Makes everything that a lane has written stable.
const SYNC: Op = Op { kind: OpKind::Sync, count: 1, slot: 0, object: 0, offset: 0, length: 0 };

/// Flush what the lane has written and wait for it. Nothing else is in flight.
pub(crate) fn sync(channel: &mut dyn Lane) -> Result<(), Fault> {
    channel.execute(&SYNC).map(|_| ())
}

/// What a lane does in a phase.
pub(crate) struct LanePlan {
    pub(crate) phase: u32,
    pub(crate) lane: u32,
    pub(crate) lanes: u32,
    pub(crate) object: String,
    /// The objects that existed before the job; their names are appended to `object`.
    pub(crate) existing: Option<Arc<[ExistingObject]>>,
    pub(crate) pattern: Pattern,
    /// None for backends that keep no data.
    pub(crate) data: Option<Data>,
    pub(crate) verify: bool,
    /// Data of operations that are longer than a buffer; None if there are none.
    pub(crate) stream: Option<Arc<Stream>>,
    /// Number of the lane's first small file or object among all; None if the lane works on the data of one file.
    pub(crate) first_object: Option<u64>,
    /// Bytes of each object's keys, which follow its contents.
    pub(crate) key_bytes: u64,
    pub(crate) runtime_ns: Option<u64>,
    pub(crate) time_limit_ns: Option<u64>,
    /// At the time limit, the lane continues until it has done as much as any lane.
    pub(crate) wear_out: bool,
    pub(crate) schedule: Option<Schedule>,
    pub(crate) sync_at_end: bool,
    pub(crate) error_limit: u64,
    pub(crate) interval_ns: u64,
    pub(crate) depth: u32,
    /// Operations submitted at once, at most.
    pub(crate) batch: u32,
    /// The lane knows when the first byte of a response arrived.
    pub(crate) reports_first_byte: bool,
    /// The lane executes one operation while the data of the next is made.
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
    /// The same as in `links`.
    shared: &'a PhaseShared,
    /// The same as in `links`.
    stop: &'a AtomicBool,
    channel: &'a mut dyn Lane,
    buffers: &'a Buffers,
    collector: &'a mut Collector,
    clock: T,
    outcome: LaneOutcome,
    slots: Vec<InFlight>,
    /// Per slot: known contents of its buffer.
    slot_contents: Vec<Option<BufferContents>>,
    free: Vec<u32>,
    batch: Vec<Op>,
    done: Vec<Completion>,
    phase_start: u64,
    interval: u64,
    /// Start of the interval; operations that started earlier belong in part to intervals before. 0 in open loop, where
    /// the submission is not stored.
    interval_start: u64,
    boundary: u64,
    /// Remaining steps; `ENDLESS` if the phase runs by time.
    left: u64,
    /// No operation starts at or after this time.
    last_start: u64,
    /// Nanoseconds into the phase after which nothing was started although steps remained.
    cut_at: Option<u64>,
    noted_moments: u32,
    failed: u64,
    issuing: bool,
    has_begun: bool,
    /// Something other than operations took time, which must not count as the next operation's.
    must_reread_clock: bool,
    /// Some operations write data that must be made.
    makes_data: bool,
    /// Steps depend on the results of operations.
    follows_results: bool,
    /// Completed operations need more than counting: always, or while some are in flight that began in an earlier
    /// interval.
    needs_slow_path: bool,
    always_slow_path: bool,
    /// Operations in flight that began in an earlier interval.
    crossing_count: usize,
    /// The next step must wait for an operation in flight.
    must_wait: bool,
}

/// A lane's buffers before a phase.
pub(crate) struct PrefilledBuffers<'a> {
    buffers: &'a Buffers,
    /// Known contents of each slot that the phase uses.
    slot_contents: Vec<Option<BufferContents>>,
}

/// Make the data of the first operations, so that lanes that share a CPU need not make it when they are to start.
pub(crate) fn prefill<'a>(plan: &mut LanePlan, buffers: &'a Buffers) -> PrefilledBuffers<'a> {
    if let Some(stream) = &plan.stream {
        stream.forget();
    }
    let depth = plan.depth.min(buffers.count() as u32);
    let mut slot_contents = vec![None; depth as usize];
    plan.ahead &= depth == 1 && buffers.count() > 1 && plan.pattern.writes() && plan.schedule.is_none();
    slot_contents.resize((depth + u32::from(plan.ahead)) as usize, None);
    if plan.data.is_none() || !plan.pattern.writes() {
        return PrefilledBuffers { buffers, slot_contents };
    }
    let mut ahead = plan.pattern.clone();
    let first = plan.first_object;
    let steps = ahead.count().min(u64::from(depth)) as u32;
    for slot in 0..steps {
        let Some(step) = ahead.next_step() else { break };
        let op = op_of(step, slot);
        make_data(plan.data.as_mut(), first, buffers, &op, &mut slot_contents[slot as usize], || {});
    }
    PrefilledBuffers { buffers, slot_contents }
}

/// Write the operation's data into its slot, calling `after_piece` after each piece; returns whether there was data to
/// make.
#[inline]
fn make_data(
    data: Option<&mut Data>,
    first_object: Option<u64>,
    buffers: &Buffers,
    op: &Op,
    slot_contents: &mut Option<BufferContents>,
    after_piece: impl FnMut(),
) -> bool {
    let Some(data) = data.filter(|_| op.kind.moves() == Moves::Out) else {
        *slot_contents = None;
        return false;
    };
    if op.length == 0 {
        return false;
    }
    // Data that is longer than the buffer, or of several objects, is made while it is sent, perhaps in this buffer.
    if is_streamed(op, buffers) {
        *slot_contents = None;
        return false;
    }
    // SAFETY: the slot was free, so nothing is in flight on it.
    let buffer = unsafe { buffers.slice(op.slot, op.length as usize) };
    if let Some(first) = first_object {
        data.select(first + op.object);
    }
    data.fill_in_pieces(op.offset, buffer, slot_contents, after_piece);
    true
}

/// True if the operation's data is made and checked piece by piece, not in its buffer.
#[inline]
fn is_streamed(op: &Op, buffers: &Buffers) -> bool {
    op.length > buffers.length() as u64 || op.kind.moves_several()
}

/// True if the operation overwrites its buffer with something other than pieces of one object.
#[inline]
fn fills_slot(op: &Op, buffers: &Buffers) -> bool {
    match op.kind.moves() {
        Moves::In => true,
        Moves::Out => !is_streamed(op, buffers),
        Moves::Nothing => false,
    }
}

/// The operation of a step in a slot.
#[inline(always)]
fn op_of(step: Step, slot: u32) -> Op {
    Op { kind: step.kind, count: step.count, slot, object: step.object, offset: step.offset, length: step.length }
}

/// Run the phase by `clock`; the lanes start together at `phase_start`.
pub(crate) fn run(
    plan: &mut LanePlan,
    links: &Links,
    channel: &mut dyn Lane,
    prefilled: PrefilledBuffers<'_>,
    collector: &mut Collector,
    clock: impl TimeSource,
    phase_start: u64,
) -> LaneOutcome {
    let PrefilledBuffers { buffers, slot_contents } = prefilled;
    let mut kinds = plan.pattern.kinds();
    kinds.push(OpKind::Sync);
    let records = plan.pattern.is_on_files();
    collector.begin(&kinds, records);
    let depth = slot_contents.len() as u32 - u32::from(plan.ahead);
    let idle = InFlight { op: SYNC, start: 0 };
    let limit = plan
        .runtime_ns
        .map(|ns| if plan.schedule.is_some() { ns.saturating_mul(2) } else { ns })
        .or(plan.time_limit_ns);
    let once = plan.runtime_ns.is_none() || plan.pattern.count() == 0;
    let (makes_data, follows_results) = (plan.data.is_some() && plan.pattern.writes(), plan.pattern.needs_results());
    let mut run = Run {
        left: if once { plan.pattern.count() } else { ENDLESS },
        last_start: limit.map_or(u64::MAX, |ns| phase_start.saturating_add(ns)),
        boundary: phase_start.saturating_add(plan.interval_ns.min(LONGEST_REPORT_NS)),
        makes_data,
        follows_results,
        needs_slow_path: follows_results || plan.verify || plan.reports_first_byte,
        always_slow_path: follows_results || plan.verify || plan.reports_first_byte,
        crossing_count: 0,
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
        slot_contents,
        free: (0..depth).rev().collect(),
        batch: Vec::with_capacity(depth as usize),
        done: Vec::with_capacity(depth as usize),
        phase_start,
        interval: 0,
        interval_start: 0,
        cut_at: None,
        noted_moments: 0,
        failed: 0,
        issuing: true,
        has_begun: false,
        must_reread_clock: true,
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
            // A lane that got a CPU only after the time was over executes its first operations: otherwise nothing would
            // be measured.
            self.last_start = self.last_start.max(begin.saturating_add(1));
        }
        let mut end = self.work(begin);
        if self.plan.wear_out && self.may_wear_out(end) {
            let begin = self.clock.now();
            end = self.work(begin);
        }
        let end = if self.plan.schedule.is_some() { self.wait_for_phase_end(end) } else { end };
        self.shared.announce(Moment::FirstOut, end);
        self.flush(end);
        self.outcome.covered = self.covered();
        self.outcome.objects = self.plan.pattern.objects_left();
        self.outcome.unstarted = self.unstarted();
    }

    /// Execute operations until there are none to start; returns the end.
    fn work(&mut self, begin: u64) -> u64 {
        match (self.slots.len(), self.plan.schedule.is_some()) {
            _ if self.plan.in_step => self.in_step(begin),
            (1, false) if self.plan.ahead => self.one_by_one_ahead(),
            (1, false) => self.one_by_one(begin),
            (1, true) => self.one_by_one_open_loop(begin),
            _ => self.in_batches(begin),
        }
    }

    /// At the time limit, report this lane's progress, wait until the furthest lane's is known, and prepare to continue
    /// up to that; returns whether there is something to do.
    #[cold]
    fn may_wear_out(&mut self, now: u64) -> bool {
        let all = self.plan.pattern.count();
        let done = all - self.left.min(all);
        self.outcome.at_limit = Some((now, self.progress()));
        let _ = self.links.messages.send(LaneMessage::Reached(done));
        let most = loop {
            if let Some(most) = self.shared.wait_for_most(Duration::from_nanos(STOP_CHECK_NS)) {
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
        (self.issuing, self.must_reread_clock) = (true, true);
        true
    }

    /// Execute one operation after the other in closed loop; the end of one is the start of the next. Returns the end.
    fn one_by_one(&mut self, begin: u64) -> u64 {
        let (mut now, mut op) = (begin, SYNC);
        while self.may_start(now) {
            let Some(made) = self.next_op(0, &mut op) else { break };
            // Making data is not the storage's time.
            let start = if made { self.clock.now() } else { now };
            now = self.execute_one(&op, start);
        }
        now
    }

    /// The same in open loop: a late operation starts at once, and its latency counts from when it was due.
    fn one_by_one_open_loop(&mut self, begin: u64) -> u64 {
        let (mut now, mut op) = (begin, SYNC);
        while self.may_start(now) {
            let Some(due) = self.due() else { break };
            let tick = (now + STOP_CHECK_NS).min(self.boundary).min(self.last_start);
            if tick < due {
                now = self.clock.wait_until(tick);
                self.tick(now);
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
            now = self.execute_one(&op, due);
        }
        now
    }

    /// Execute an operation whose latency counts from `start`; returns the time after it.
    #[inline(always)]
    fn execute_one(&mut self, op: &Op, start: u64) -> u64 {
        let result = self.channel.execute(op);
        let now = self.clock.now();
        self.tick(now);
        if !self.count(op.kind, op.length, start, result, now) {
            self.complete_slow(op, start, result, now);
        }
        if self.must_reread_clock {
            self.reread_clock(now)
        } else {
            now
        }
    }

    /// When the next operation is due; None if that is after the end of the phase.
    #[inline(always)]
    fn due(&mut self) -> Option<u64> {
        let due = self.plan.schedule.as_ref()?.next_ns();
        if self.plan.runtime_ns.is_some_and(|runtime| due >= runtime) {
            self.issuing = false;
            return None;
        }
        Some(self.phase_start.saturating_add(due))
    }

    /// Wait for the end of the phase: in open loop it lasts its full time, even if the last operation was due long
    /// before.
    fn wait_for_phase_end(&mut self, mut now: u64) -> u64 {
        let end = self.plan.runtime_ns.map_or(0, |runtime| self.phase_start.saturating_add(runtime));
        while now < end && !self.outcome.gave_up && !self.stop.load(Ordering::Relaxed) {
            now = self.clock.wait_until(end.min(now + STOP_CHECK_NS).min(self.boundary));
            self.tick(now);
        }
        now
    }

    /// Execute operations with several in flight, or at given times.
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
                now = self.clock.wait_until(self.next_due().min(self.boundary).min(now + STOP_CHECK_NS));
                self.tick(now);
                continue;
            }
            let more = self.issuing
                && self.plan.schedule.is_none()
                && !self.free.is_empty()
                && self.left != 0
                && !self.must_wait;
            // Operations not yet submitted do not wait for those in flight.
            let deadline = if more { now } else { self.wake_up(now) };
            self.channel.exchange(&self.batch, &mut self.done, deadline);
            self.batch.clear();
            now = self.clock.now();
            self.complete(now);
            if self.must_reread_clock {
                now = self.reread_clock(now);
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

    /// Put into the batch what can be started now; returns the time at which it starts.
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

    /// The same in open loop: the operations that are due, with their intended times.
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

    /// Put the pattern's next step into the batch, with its latency counted from `start`; returns whether data was made
    /// for it. None, and the slot is free again, if there is no step now.
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

    /// Set `op` to the pattern's next step; returns whether data was made for it, None if there is no step now.
    /// Returning the operation itself would copy it.
    #[inline(always)]
    fn next_op(&mut self, slot: u32, op: &mut Op) -> Option<bool> {
        if self.follows_results {
            return self.next_following_result(slot, op);
        }
        self.left -= 1;
        *op = op_of(self.plan.pattern.step(), slot);
        Some(self.makes_data && self.make(op))
    }

    /// The same for patterns that may have no step now.
    #[inline(never)]
    fn next_following_result(&mut self, slot: u32, op: &mut Op) -> Option<bool> {
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

    /// Make the data that the operation writes; returns whether it writes any.
    #[inline(always)]
    fn make(&mut self, op: &Op) -> bool {
        let slot_contents = &mut self.slot_contents[op.slot as usize];
        make_data(self.plan.data.as_mut(), self.plan.first_object, self.buffers, op, slot_contents, || {})
    }

    /// Wait for operations in flight, or end the phase if there are none.
    #[cold]
    fn no_step(&mut self) {
        // The slot that was to be filled is in neither list.
        self.must_wait = self.free.len() + self.batch.len() + 1 < self.slots.len() || !self.batch.is_empty();
        if !self.must_wait {
            self.left = 0;
            self.issuing = false;
        }
    }

    /// Note that no operation will be started any more.
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

    /// Time of the next intended start; 0 in closed loop.
    fn next_due(&self) -> u64 {
        self.plan.schedule.map_or(0, |schedule| self.phase_start.saturating_add(schedule.next_ns()))
    }

    /// The latest time until which to wait for completions.
    fn wake_up(&self, now: u64) -> u64 {
        let latest = self.boundary.min(now + STOP_CHECK_NS);
        let open = self.issuing && self.plan.schedule.is_some() && !self.free.is_empty() && !self.must_wait;
        if open {
            latest.min(self.next_due())
        } else {
            latest
        }
    }

    /// Count the operations reaped at `now`.
    #[inline]
    fn complete(&mut self, now: u64) {
        self.tick(now);
        let mut done = std::mem::take(&mut self.done);
        for Completion { slot, result } in &done {
            let InFlight { op: Op { kind, length, .. }, start } = self.slots[*slot as usize];
            if !self.count(kind, length, start, *result, now) {
                let op = self.slots[*slot as usize].op;
                self.complete_slow(&op, start, *result, now);
            }
            self.free.push(*slot);
        }
        done.clear();
        self.done = done;
    }

    /// Switch to the next interval and note moments, before anything that completed at `now` is counted.
    #[inline(always)]
    fn tick(&mut self, now: u64) {
        if now >= self.boundary {
            self.turn_interval(now);
        }
        if self.shared.moment_count() != self.noted_moments {
            self.must_reread_clock = true;
            self.note_moments();
        }
    }

    /// The time after something other than operations; also notes whether the lane has begun.
    #[cold]
    fn reread_clock(&mut self, now: u64) -> u64 {
        if !self.has_begun && self.progress().ops > 0 {
            self.has_begun = true;
            self.shared.lane_begun(self.plan.lanes, now);
        }
        self.must_reread_clock = !self.has_begun;
        self.clock.now()
    }

    /// Count one operation that took from `start` to `now`; false if it needs `complete_slow` instead.
    #[inline(always)]
    fn count(&mut self, kind: OpKind, length: u64, start: u64, result: Result<u64, Fault>, now: u64) -> bool {
        let simple = result == Ok(length) && !self.needs_slow_path;
        if simple {
            self.collector.of(kind).count(length, now.saturating_sub(start));
        }
        simple
    }

    /// Operations and bytes so far.
    fn progress(&self) -> Counts {
        sum([self.outcome.progress(), self.collector.progress()])
    }

    /// Report the interval that has ended.
    #[cold]
    fn turn_interval(&mut self, now: u64) {
        self.must_reread_clock = true;
        self.send_interval();
        self.clock.adjust();
        self.interval = now.saturating_sub(self.phase_start) / self.plan.interval_ns;
        if self.plan.schedule.is_none() {
            self.interval_start = self.phase_start.saturating_add(self.interval.saturating_mul(self.plan.interval_ns));
            self.crossing_count = if self.slots.len() == 1 { 1 } else { self.slots.len() - self.free.len() };
            self.needs_slow_path = self.always_slow_path || self.crossing_count > 0;
        }
        let passed = (self.interval + 1).saturating_mul(self.plan.interval_ns);
        self.boundary = self.phase_start.saturating_add(passed).min(now + LONGEST_REPORT_NS);
    }

    fn send_interval(&mut self) {
        if let Some(interval) = self.collector.take() {
            interval.add_to(&mut self.outcome.totals);
            let _ = self.links.messages.send(LaneMessage::Interval(self.interval, interval));
        }
    }

    /// Store the progress at moments that came since the last call. Nothing was completed between the moment and the
    /// completions at hand, which are not counted yet.
    fn note_moments(&mut self) {
        self.noted_moments = self.shared.moment_count();
        let progress = self.progress();
        for moment in MOMENTS {
            let known = &mut self.outcome.at_moment[moment as usize];
            if known.is_none() && self.shared.time(moment).is_some() {
                *known = Some(progress);
            }
        }
    }

    /// Make the writes stable and end the phase.
    fn flush(&mut self, now: u64) {
        let mut end = now;
        let stopped = self.stop.load(Ordering::Relaxed);
        let wanted = self.has_changed_something() && !stopped;
        if self.plan.sync_at_end && self.channel.collective().map_or(wanted, |lanes| lanes.flushes(wanted)) {
            let begin = self.clock.now();
            let synced = sync(self.channel);
            end = self.clock.now();
            self.outcome.sync_ns = end.saturating_sub(begin);
            if let Err(fault) = synced {
                self.fail(&SYNC, 0, ErrorKind::Fault, Some(fault), fault_message(fault));
                // The written data is unreliable: later phases cannot use it.
                self.outcome.gave_up = true;
            }
        }
        self.note_moments();
        self.outcome.end = end;
        self.shared.announce(Moment::FirstEnd, end);
        self.send_interval();
    }

    /// True if a flush has something to make stable.
    fn has_changed_something(&self) -> bool {
        let before = self.outcome.totals.iter().any(|(kind, tally)| kind.changes() && tally.counts.ops > 0);
        before || self.collector.ops(OpKind::changes) > 0
    }

    /// Bytes of the lane's part that a sequential write has covered from its start without a gap, or the number of
    /// names or files of a tree that were created.
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
