//! The loop in which a lane does its operations. Everything measured is measured here.

use crate::arrivals::Schedule;
use crate::data::Data;
use crate::interval::Collector;
use crate::outcome::{LaneMessage, LaneOutcome};
use crate::pattern::Pattern;
use crate::phase::{Moment, PhaseShared, MOMENTS};
use assay_core::{clock, os_message, Buffers, Completion, Lane, Op, OpKind};
use assay_spec::{ErrorKind, ErrorSample};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::Sender;
use std::sync::Arc;

/// Failed operations that a lane reports whole in a phase; the others are only counted.
const ERROR_SAMPLES: u64 = 5;

/// A waiting lane looks up this often to see whether it shall stop.
const PATIENCE_NS: u64 = 200_000_000;

/// Makes everything a lane has written stable.
const SYNC: Op = Op { kind: OpKind::Sync, slot: 0, length: 0, offset: 0 };

/// Flushes what the lane has written and waits for it; the errno if that fails. Nothing else is in flight; `done` is
/// empty before and afterwards.
pub(crate) fn sync(channel: &mut dyn Lane, done: &mut Vec<Completion>) -> Result<(), i32> {
    channel.submit(&[SYNC]);
    while done.is_empty() {
        channel.reap(done, u64::MAX);
    }
    done.pop().map_or(Ok(()), |completion| completion.result.map(|_| ()))
}

/// What a lane does in a phase.
pub(crate) struct LanePlan {
    pub(crate) phase: u32,
    pub(crate) lane: u32,
    pub(crate) lanes: u32,
    pub(crate) object: String,
    pub(crate) pattern: Pattern,
    /// None for backends that keep no data.
    pub(crate) data: Option<Data>,
    pub(crate) verify: bool,
    pub(crate) runtime_ns: Option<u64>,
    pub(crate) time_limit_ns: Option<u64>,
    pub(crate) schedule: Option<Schedule>,
    pub(crate) sync_at_end: bool,
    pub(crate) error_limit: u64,
    pub(crate) interval_ns: u64,
    pub(crate) depth: u32,
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
struct Run<'a> {
    plan: &'a mut LanePlan,
    links: &'a Links,
    channel: &'a mut dyn Lane,
    buffers: &'a Buffers,
    collector: &'a mut Collector,
    outcome: LaneOutcome,
    slots: Vec<InFlight>,
    free: Vec<u32>,
    batch: Vec<Op>,
    done: Vec<Completion>,
    phase_start: u64,
    interval: u64,
    boundary: u64,
    /// Steps left; none when the phase runs by time.
    left: Option<u64>,
    /// No operation is started at or after this time.
    last_start: u64,
    /// Nanoseconds into the phase after which nothing was started although something was left to do.
    cut_at: Option<u64>,
    seen: u32,
    failed: u64,
    issuing: bool,
}

/// Does the phase; `phase_start` is the time at which the lanes were to start.
pub(crate) fn run(
    plan: &mut LanePlan,
    links: &Links,
    channel: &mut dyn Lane,
    buffers: &Buffers,
    collector: &mut Collector,
    phase_start: u64,
) -> LaneOutcome {
    let depth = plan.depth.min(buffers.count() as u32);
    let idle = InFlight { op: SYNC, start: 0 };
    let limit = plan.runtime_ns.map(|ns| if plan.schedule.is_some() { 2 * ns } else { ns }).or(plan.time_limit_ns);
    let mut run = Run {
        left: plan.runtime_ns.is_none().then(|| plan.pattern.count()),
        last_start: limit.map_or(u64::MAX, |ns| phase_start + ns),
        boundary: phase_start + plan.interval_ns,
        plan,
        links,
        channel,
        buffers,
        collector,
        outcome: LaneOutcome::default(),
        slots: vec![idle; depth as usize],
        free: (0..depth).rev().collect(),
        batch: Vec::with_capacity(depth as usize),
        done: Vec::with_capacity(depth as usize),
        phase_start,
        interval: 0,
        cut_at: None,
        seen: 0,
        failed: 0,
        issuing: true,
    };
    run.all();
    run.outcome
}

impl Run<'_> {
    fn all(&mut self) {
        let mut now = clock::now();
        self.outcome.start = now;
        loop {
            if self.issuing {
                now = self.issue(now);
            }
            if self.free.len() == self.slots.len() {
                if !self.issuing {
                    break;
                }
                now = clock::wait_until(self.next_due().min(self.boundary).min(now + PATIENCE_NS));
                self.turn_interval(now);
                continue;
            }
            let deadline = self.wake_up(now);
            self.channel.reap(&mut self.done, deadline);
            now = self.complete(clock::now());
        }
        self.links.shared.announce(Moment::FirstOut, now);
        self.flush(now);
        self.outcome.covered = self.covered();
        self.outcome.unstarted = self.unstarted();
    }

    /// Starts what can be started now; returns the time.
    fn issue(&mut self, now: u64) -> u64 {
        if now >= self.last_start || self.left == Some(0) || self.links.stop.load(Ordering::Relaxed) {
            self.stop_issuing(now);
            return now;
        }
        let mut filled = false;
        while !self.free.is_empty() && self.left != Some(0) {
            let due = self.plan.schedule.map(|schedule| schedule.next_ns());
            if let Some(due) = due {
                if self.plan.runtime_ns.is_some_and(|runtime| due >= runtime) {
                    self.issuing = false;
                    break;
                }
                if self.phase_start + due > now {
                    break;
                }
            }
            filled |= self.prepare_next(due);
        }
        if self.batch.is_empty() {
            return now;
        }
        let now = if filled { clock::now() } else { now };
        self.submit(now);
        now
    }

    /// Puts the pattern's next step into the batch; returns whether data was made for it.
    fn prepare_next(&mut self, due: Option<u64>) -> bool {
        let Some(slot) = self.free.pop() else {
            return false;
        };
        let step = self.plan.pattern.step();
        let op = Op { kind: step.kind, slot, length: step.length, offset: step.offset };
        if let Some(left) = &mut self.left {
            *left -= 1;
        }
        if let Some(schedule) = &mut self.plan.schedule {
            schedule.advance();
        }
        let start = due.map_or(0, |ns| self.phase_start + ns);
        self.slots[slot as usize] = InFlight { op, start };
        self.batch.push(op);
        match &self.plan.data {
            Some(data) if op.kind == OpKind::Write => {
                // SAFETY: the slot was free, so nothing is in flight on it.
                data.fill(op.offset, unsafe { self.buffers.slice(slot, op.length as usize) });
                true
            }
            _ => false,
        }
    }

    fn submit(&mut self, now: u64) {
        if self.plan.schedule.is_none() {
            for op in &self.batch {
                self.slots[op.slot as usize].start = now;
            }
        }
        let taken = self.channel.submit(&self.batch);
        debug_assert_eq!(taken, self.batch.len(), "the driver keeps to the lane's depth");
        self.batch.clear();
    }

    /// No operation will be started any more.
    fn stop_issuing(&mut self, now: u64) {
        self.issuing = false;
        let stopped = self.links.stop.load(Ordering::Relaxed) || self.outcome.gave_up;
        if stopped || self.left == Some(0) {
            return;
        }
        self.outcome.limited = self.plan.runtime_ns.is_none();
        self.cut_at = Some(self.plan.runtime_ns.unwrap_or(now - self.phase_start));
    }

    /// Operations that were due before the phase was cut short, but never started.
    fn unstarted(&self) -> u64 {
        match (&self.plan.schedule, self.cut_at) {
            (Some(schedule), Some(end)) => self.left.unwrap_or(u64::MAX).min(schedule.due_before(end)),
            _ => 0,
        }
    }

    /// Time of the next intended start; now, in closed loop.
    fn next_due(&self) -> u64 {
        self.plan.schedule.map_or(0, |schedule| self.phase_start + schedule.next_ns())
    }

    /// Until when to wait for completions.
    fn wake_up(&self, now: u64) -> u64 {
        let latest = self.boundary.min(now + PATIENCE_NS);
        let open = self.issuing && self.plan.schedule.is_some() && !self.free.is_empty();
        if open {
            latest.min(self.next_due())
        } else {
            latest
        }
    }

    /// Counts what has been reaped; returns the time afterwards.
    fn complete(&mut self, now: u64) -> u64 {
        self.turn_interval(now);
        if self.links.shared.news() != self.seen {
            self.note_moments();
        }
        let before = self.outcome.progress().ops;
        let mut checked = false;
        let mut done = std::mem::take(&mut self.done);
        for completion in done.drain(..) {
            checked |= self.one_done(completion, now);
            self.free.push(completion.slot);
        }
        self.done = done;
        if self.collector.is_full() {
            self.hand_over();
        }
        if before == 0 && self.outcome.progress().ops > 0 {
            self.links.shared.lane_begun(self.plan.lanes, now);
        }
        if checked {
            clock::now()
        } else {
            now
        }
    }

    /// Counts one completion; returns whether its data was checked.
    fn one_done(&mut self, completion: Completion, now: u64) -> bool {
        let InFlight { op, start } = self.slots[completion.slot as usize];
        let reading = op.kind == OpKind::Read;
        match completion.result {
            Ok(bytes) if bytes == op.length => {}
            Ok(bytes) => {
                let kind = if reading { ErrorKind::ShortRead } else { ErrorKind::ShortWrite };
                let message = format!("{bytes} of {} bytes moved", op.length);
                self.fail(op, op.offset, kind, None, message);
                return false;
            }
            Err(errno) => {
                self.fail(op, op.offset, ErrorKind::Os, Some(errno), os_message(errno));
                return false;
            }
        }
        let verify = reading && self.plan.verify;
        if verify && !self.verified(op) {
            return true;
        }
        let latency = now.saturating_sub(start);
        let bytes = u64::from(op.length);
        let (counts, total, histogram) = if reading {
            (&mut self.collector.read, &mut self.outcome.read, &mut self.collector.read_latency)
        } else {
            (&mut self.collector.write, &mut self.outcome.write, &mut self.collector.write_latency)
        };
        counts.ops += 1;
        counts.bytes += bytes;
        total.ops += 1;
        total.bytes += bytes;
        histogram.record(latency);
        verify
    }

    fn verified(&mut self, op: Op) -> bool {
        let Some(data) = self.plan.data else {
            return true;
        };
        // SAFETY: the operation has completed and the slot is not yet free.
        let bytes = unsafe { self.buffers.slice(op.slot, op.length as usize) };
        let Some(wrong) = data.check(op.offset, bytes) else {
            self.outcome.verified_bytes += u64::from(op.length);
            return true;
        };
        let message =
            format!("byte {} of the file is 0x{:02x}, written was 0x{:02x}", wrong.offset, wrong.found, wrong.expected);
        self.fail(op, wrong.offset, ErrorKind::Corrupt, None, message);
        false
    }

    fn fail(&mut self, op: Op, offset: u64, kind: ErrorKind, errno: Option<i32>, message: String) {
        *self.outcome.errors.entry((kind, errno)).or_default() += 1;
        self.failed += 1;
        self.collector.errors += 1;
        if self.failed <= ERROR_SAMPLES {
            let sample = ErrorSample {
                phase: self.plan.phase,
                lane: Some(self.plan.lane),
                action: op.kind.name().to_owned(),
                object: self.plan.object.clone(),
                offset,
                length: u64::from(op.length),
                kind,
                errno,
                message,
            };
            let _ = self.links.messages.send(LaneMessage::Error(sample));
        }
        if self.failed >= self.plan.error_limit {
            self.outcome.gave_up = true;
            self.issuing = false;
        }
    }

    /// Hands over the interval that has ended, if one has.
    #[inline]
    fn turn_interval(&mut self, now: u64) {
        if now >= self.boundary {
            self.hand_over();
            self.interval = (now - self.phase_start) / self.plan.interval_ns;
            self.boundary = self.phase_start + (self.interval + 1) * self.plan.interval_ns;
        }
    }

    fn hand_over(&mut self) {
        if let Some(interval) = self.collector.take() {
            let _ = self.links.messages.send(LaneMessage::Interval(self.interval, interval));
        }
    }

    /// Remembers the progress at moments that came since the last look. Nothing was completed between the
    /// moment and the completions at hand, which are not counted yet.
    fn note_moments(&mut self) {
        self.seen = self.links.shared.news();
        let progress = self.outcome.progress();
        for moment in MOMENTS {
            let known = &mut self.outcome.at_moment[moment as usize];
            if known.is_none() && self.links.shared.time(moment).is_some() {
                *known = Some(progress);
            }
        }
    }

    /// Makes the writes stable and ends.
    fn flush(&mut self, now: u64) {
        let mut end = now;
        let stopped = self.links.stop.load(Ordering::Relaxed);
        if self.plan.sync_at_end && self.outcome.write.ops > 0 && !stopped {
            let begin = clock::now();
            let synced = sync(self.channel, &mut self.done);
            end = clock::now();
            self.outcome.sync_ns = end - begin;
            if let Err(errno) = synced {
                self.fail(SYNC, 0, ErrorKind::Os, Some(errno), os_message(errno));
                // What was written cannot be relied on: the phases to come have nothing to stand on.
                self.outcome.gave_up = true;
            }
        }
        self.note_moments();
        self.outcome.end = end;
        self.links.shared.announce(Moment::FirstEnd, end);
        self.hand_over();
    }

    /// How much of the lane's part a sequential write has covered from its start without a gap.
    fn covered(&self) -> u64 {
        if self.failed > 0 {
            return 0;
        }
        self.outcome.write.bytes.min(self.plan.pattern.bytes())
    }
}
