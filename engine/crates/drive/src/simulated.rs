//! Phases without storage and without time passing: lanes do what a script says, and each waits by setting its own
//! clock forward. Only the lane whose clock is behind all others runs, so that a phase has the same course on any machine.

use crate::arrivals::Schedule;
use crate::data::{Base, Data};
use crate::interval::Collector;
use crate::lane::{lay_first, run, LanePlan, Links};
use crate::outcome::LaneMessage;
use crate::pattern::{Pattern, Share};
use crate::phase::PhaseShared;
use crate::runner::Work;
use crate::totals;
use assay_core::clock::TimeSource;
use assay_core::{Buffers, Completion, Fault, Lane, MethodChoice, Op, OpKind, PhasePlan, SetupError};
use assay_spec::{
    Arrivals, DataSpec, ErrorSample, Interval, LatencySummary, Layout, Operation, Phase, PhaseEnd, PhaseStatus,
};
use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::channel;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

pub(crate) const MS: u64 = 1_000_000;
pub(crate) const SECOND: u64 = 1_000 * MS;
pub(crate) const RECORD: u64 = 512;
/// When phases start.
pub(crate) const START: u64 = 7 * SECOND;
/// A lane that has ended is behind nobody.
const ENDED: u64 = u64::MAX;

/// The clocks of all lanes.
struct World {
    clocks: Mutex<Vec<u64>>,
    moved: Condvar,
}

impl World {
    fn clocks(&self) -> MutexGuard<'_, Vec<u64>> {
        self.clocks.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// One lane's clock, which counts how often it is read.
#[derive(Clone)]
struct VirtualClock {
    world: Arc<World>,
    lane: usize,
    readings: Arc<Mutex<u64>>,
}

impl VirtualClock {
    fn time(&self) -> u64 {
        self.world.clocks()[self.lane]
    }

    /// Sets the clock forward, and lets those run that are behind then.
    fn pass_to(&self, moment: u64) -> u64 {
        let mut clocks = self.world.clocks();
        let time = clocks[self.lane].max(moment);
        clocks[self.lane] = time;
        self.world.moved.notify_all();
        let behind = |clocks: &[u64]| (0..clocks.len()).min_by_key(|lane| clocks[*lane]);
        while time != ENDED && behind(&clocks) != Some(self.lane) {
            clocks = self.world.moved.wait(clocks).unwrap_or_else(PoisonError::into_inner);
        }
        time
    }
}

impl TimeSource for VirtualClock {
    fn now(&self) -> u64 {
        *self.readings.lock().unwrap() += 1;
        self.time()
    }

    fn wait_until(&self, moment: u64) -> u64 {
        self.pass_to(moment)
    }

    fn adjust(&mut self) {}
}

/// Leaves the world also when a test fails, so that no other lane waits for ever.
struct Leaving(VirtualClock);

impl Drop for Leaving {
    fn drop(&mut self) {
        self.0.pass_to(ENDED);
    }
}

/// What a script is asked: an operation, and the phase around it.
pub(crate) struct Asked<'a> {
    /// Number of the operation of this lane.
    pub(crate) number: u64,
    pub(crate) op: Op,
    /// When it was submitted, in nanoseconds after the phase's start.
    pub(crate) at: u64,
    /// Set by whoever stops the phase.
    pub(crate) stop: &'a AtomicBool,
}

/// How long after its submission an operation ends, and how.
pub(crate) type Answer = (u64, Result<u64, Fault>);
pub(crate) type Script = Box<dyn FnMut(&Asked<'_>) -> Answer + Send>;

/// Every operation succeeds after the time that `service` gives its number.
pub(crate) fn takes(mut service: impl FnMut(u64) -> u64 + Send + 'static) -> Script {
    Box::new(move |asked| (service(asked.number), Ok(asked.op.length)))
}

/// An operation as a scripted lane has seen it; times are in nanoseconds after the phase's start.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Seen {
    pub(crate) op: Op,
    pub(crate) at: u64,
    pub(crate) end: u64,
}

/// A lane that does what its script says, when the clock says so.
struct ScriptedLane {
    clock: VirtualClock,
    script: Script,
    stop: Arc<AtomicBool>,
    in_flight: Vec<(u64, Completion)>,
    seen: Vec<Seen>,
    most: usize,
    piece_ns: u64,
}

impl ScriptedLane {
    fn ask(&mut self, op: Op) -> Answer {
        let at = self.clock.time() - START;
        let (service, result) = (self.script)(&Asked { number: self.seen.len() as u64, op, at, stop: &self.stop });
        self.seen.push(Seen { op, at, end: at + service });
        (START + at + service, result)
    }
}

impl Lane for ScriptedLane {
    fn begin(&mut self, _plan: &PhasePlan) -> Result<MethodChoice, SetupError> {
        unreachable!("a phase is begun by a worker")
    }

    fn submit(&mut self, ops: &[Op]) -> usize {
        for op in ops {
            let (end, result) = self.ask(*op);
            self.in_flight.push((end, Completion::new(op.slot, result)));
        }
        self.most = self.most.max(self.in_flight.len());
        ops.len()
    }

    fn reap(&mut self, done: &mut Vec<Completion>, deadline: u64) {
        let Some(first) = self.in_flight.iter().map(|(end, _)| *end).min() else { return };
        // Who looks without waiting has just made a piece of data.
        let until = if deadline == 0 { self.clock.time() + self.piece_ns } else { first.min(deadline) };
        let now = self.clock.pass_to(until);
        self.in_flight.sort_by_key(|(end, _)| *end);
        let ended = self.in_flight.partition_point(|(end, _)| *end <= now);
        done.extend(self.in_flight.drain(..ended).map(|(_, completion)| completion));
    }

    fn execute(&mut self, op: &Op) -> Result<u64, Fault> {
        assert!(self.in_flight.is_empty());
        let (end, result) = self.ask(*op);
        self.clock.pass_to(end);
        result
    }

    /// Half of its time after the submission.
    fn first_byte(&self, slot: u32) -> u64 {
        let ended =
            self.seen.iter().rev().find(|seen| seen.op.slot == slot).expect("an operation of the slot has ended");
        START + ended.at + (ended.end - ended.at) / 2
    }

    fn end(&mut self) -> Result<(), SetupError> {
        Ok(())
    }
}

/// What a lane is to do in a simulated phase, and what its storage makes of it.
pub(crate) struct Part {
    pub(crate) script: Script,
    /// Records of its file.
    pub(crate) records: u64,
    pub(crate) depth: u32,
    pub(crate) batch: u32,
}

/// A simulated phase.
pub(crate) struct Scene {
    pub(crate) phase: Phase,
    pub(crate) interval_ns: u64,
    pub(crate) sync_at_end: bool,
    pub(crate) error_limit: u64,
    pub(crate) tells_first_byte: bool,
    /// There is a second buffer.
    pub(crate) ahead: bool,
    /// There is data, and to make that of a record takes so long; 0: there is none.
    pub(crate) piece_ns: u64,
    pub(crate) parts: Vec<Part>,
}

impl Scene {
    /// One lane, one operation at a time.
    pub(crate) fn of(operation: Operation, records: u64, script: Script) -> Self {
        Scene {
            phase: Phase {
                operation,
                measured: true,
                method: None,
                cache_before: assay_spec::CacheAction::Keep,
                runtime_ns: None,
                time_limit_ns: None,
                wear_out: false,
                rate_per_s: None,
                arrivals: Arrivals::Constant,
                access: None,
                mix: None,
                range_bytes: None,
                stride_records: 17,
                file_order: assay_spec::FileOrder::Sequential,
                reorder: None,
            },
            interval_ns: SECOND,
            sync_at_end: false,
            error_limit: 100,
            tells_first_byte: false,
            ahead: false,
            piece_ns: 0,
            parts: vec![Part { script, records, depth: 1, batch: 1 }],
        }
    }

    /// With so many in flight in each lane.
    pub(crate) fn deep(mut self, depth: u32, batch: u32) -> Self {
        for part in &mut self.parts {
            (part.depth, part.batch) = (depth, batch);
        }
        self
    }

    /// And another lane.
    pub(crate) fn and(mut self, records: u64, script: Script) -> Self {
        self.parts.push(Part { script, records, depth: 1, batch: 1 });
        self
    }

    pub(crate) fn runtime(mut self, ns: u64) -> Self {
        self.phase.runtime_ns = Some(ns);
        self
    }

    pub(crate) fn time_limit(mut self, ns: u64) -> Self {
        self.phase.time_limit_ns = Some(ns);
        self
    }

    pub(crate) fn rate(mut self, per_second: f64) -> Self {
        self.phase.rate_per_s = Some(per_second);
        self
    }

    fn plan(&self, lane: u32) -> LanePlan {
        let part = &self.parts[lane as usize];
        let lanes = self.parts.len() as u32;
        let spec = DataSpec::default();
        let share = Share::new(Layout::Separate, lane, lanes, part.records * RECORD, RECORD);
        LanePlan {
            phase: 0,
            lane,
            lanes,
            object: format!("scripted{lane}"),
            existing: None,
            pattern: Pattern::new(&self.phase, share, 1),
            data: (self.piece_ns > 0).then(|| Data::new(&Base::new(&spec, 1), &spec, 1, 0)),
            verify: false,
            stream: None,
            key_bytes: 0,
            first_object: None,
            runtime_ns: self.phase.runtime_ns,
            wear_out: false,
            time_limit_ns: self.phase.time_limit_ns,
            schedule: self.phase.rate_per_s.map(|rate| Schedule::new(self.phase.arrivals, rate, lane, lanes, 1)),
            sync_at_end: self.sync_at_end,
            error_limit: self.error_limit,
            interval_ns: self.interval_ns,
            depth: part.depth,
            batch: part.batch,
            tells_first_byte: self.tells_first_byte,
            ahead: self.ahead,
            in_step: false,
        }
    }

    /// Plays it through.
    pub(crate) fn play(mut self) -> Played {
        let (lanes, piece_ns) = (self.parts.len(), self.piece_ns);
        let world = Arc::new(World { clocks: Mutex::new(vec![0; lanes]), moved: Condvar::new() });
        let (messages, inbox) = channel();
        let links = Links { shared: Arc::new(PhaseShared::default()), stop: Arc::default(), messages };
        let mut played = Vec::new();
        let plans: Vec<LanePlan> = (0..lanes as u32).map(|lane| self.plan(lane)).collect();
        std::thread::scope(|scope| {
            let threads: Vec<_> = self
                .parts
                .drain(..)
                .zip(plans)
                .enumerate()
                .map(|(lane, (part, plan))| {
                    let clock = VirtualClock { world: Arc::clone(&world), lane, readings: Arc::default() };
                    let links = links.clone();
                    scope.spawn(move || play_lane(clock, plan, part, piece_ns, &links))
                })
                .collect();
            played.extend(threads.into_iter().map(|thread| thread.join().expect("a lane ends")));
        });
        let mut work = Work::new(0, self.interval_ns, 0, lanes as u32, false);
        let stopped = links.stop.load(Ordering::Relaxed);
        let shared = Arc::clone(&links.shared);
        drop(links);
        let mut errors = Vec::new();
        for message in inbox {
            match message {
                LaneMessage::Interval(index, part) => work.timeline.add(index, &part),
                LaneMessage::Error(sample) => errors.push(sample),
                LaneMessage::Ended(lane, outcome) => work.outcomes[lane as usize] = Some(*outcome),
                LaneMessage::Began(_) | LaneMessage::Reached(_) => {
                    unreachable!("a phase is begun by a worker, and wears out by the word of a runner")
                }
            }
        }
        let end = totals::of(0, &self.phase, PhaseStatus::Done, START, &shared, &work);
        let intervals = work.timeline.rest(work.elapsed(START, START));
        Played { work, end, intervals, errors, lanes: played, stopped }
    }
}

fn play_lane(clock: VirtualClock, mut plan: LanePlan, part: Part, piece_ns: u64, links: &Links) -> PlayedLane {
    let leaving = Leaving(clock.clone());
    let buffers = Buffers::new(plan.depth as usize + usize::from(plan.ahead), RECORD as usize, false).unwrap();
    let mut channel = ScriptedLane {
        clock: clock.clone(),
        script: part.script,
        stop: Arc::clone(&links.stop),
        in_flight: vec![],
        seen: vec![],
        most: 0,
        piece_ns,
    };
    let laid = lay_first(&mut plan, &buffers);
    let readings = Arc::clone(&clock.readings);
    let outcome = run(&mut plan, links, &mut channel, laid, &mut Collector::default(), clock, START);
    links.messages.send(LaneMessage::Ended(plan.lane, Box::new(outcome))).unwrap();
    drop(leaving);
    assert!(channel.in_flight.is_empty(), "what was started has ended");
    let readings = *readings.lock().unwrap();
    PlayedLane { seen: channel.seen, most_in_flight: channel.most, readings }
}

/// What a lane's storage has seen.
pub(crate) struct PlayedLane {
    pub(crate) seen: Vec<Seen>,
    pub(crate) most_in_flight: usize,
    /// How often the clock was read.
    pub(crate) readings: u64,
}

impl PlayedLane {
    /// Operations without flushes, in order.
    pub(crate) fn operations(&self) -> Vec<Seen> {
        self.seen.iter().copied().filter(|seen| seen.op.kind != OpKind::Sync).collect()
    }
}

/// What came of a simulated phase.
pub(crate) struct Played {
    pub(crate) work: Work,
    pub(crate) end: PhaseEnd,
    pub(crate) intervals: Vec<Interval>,
    pub(crate) errors: Vec<ErrorSample>,
    pub(crate) lanes: Vec<PlayedLane>,
    pub(crate) stopped: bool,
}

/// Values of a summary above `ns`.
pub(crate) fn above(summary: &LatencySummary, ns: u64) -> u64 {
    let histogram = decoded(&summary.histogram);
    let above = histogram.iter_recorded().filter(|bucket| bucket.value_iterated_to() > ns);
    above.map(|bucket| bucket.count_at_value()).sum()
}

/// A histogram as it is written.
pub(crate) fn decoded(text: &str) -> hdrhistogram::Histogram<u64> {
    use base64::Engine as _;
    let bytes = base64::engine::general_purpose::STANDARD.decode(text).unwrap();
    hdrhistogram::serialization::Deserializer::new().deserialize(&mut bytes.as_slice()).unwrap()
}

/// When operations are started and how long they are late, of storage that does `depth` at once in the order in which
/// they are due: the textbook's queue, in nanoseconds. The third is from being due to the end.
pub(crate) fn queue(due: &[u64], service: &[u64], depth: usize) -> Vec<(u64, u64, u64)> {
    let mut free: VecDeque<u64> = vec![0; depth].into();
    let mut served = Vec::new();
    for (due, service) in due.iter().zip(service) {
        let at = (*due).max(free.pop_front().expect("a depth above 0"));
        let end = at + service;
        free.insert(free.partition_point(|other| *other <= end), end);
        served.push((at, at - due, end - due));
    }
    served
}
