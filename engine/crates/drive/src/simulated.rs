//! Phases without storage and real time: lanes do what a script returns, and each waits by setting its own clock
//! forward. Only the lane whose clock is furthest behind runs, so that a phase is the same on any machine.

use crate::arrivals::Schedule;
use crate::data::{Base, Data};
use crate::interval::Collector;
use crate::lane::{prefill, run, LanePlan, Links};
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
/// The time of a lane that has ended, which no lane waits for.
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

    /// Set the clock forward, and let the lanes run that are behind then.
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

/// Sets a lane's clock to its end also when a test fails, so that no other lane waits for ever.
struct LeaveGuard(VirtualClock);

impl Drop for LeaveGuard {
    fn drop(&mut self) {
        self.0.pass_to(ENDED);
    }
}

/// The input of a script: an operation, and the phase around it.
pub(crate) struct Request<'a> {
    /// Number of the operation in this lane.
    pub(crate) number: u64,
    pub(crate) op: Op,
    /// When it was submitted, in nanoseconds after the phase's start.
    pub(crate) at: u64,
    /// Set to stop the phase.
    pub(crate) stop: &'a AtomicBool,
}

/// The time from its submission after which an operation ends, and its result.
pub(crate) type Answer = (u64, Result<u64, Fault>);
pub(crate) type Script = Box<dyn FnMut(&Request<'_>) -> Answer + Send>;

/// Every operation succeeds after the time that `service` returns for its number.
pub(crate) fn takes(mut service: impl FnMut(u64) -> u64 + Send + 'static) -> Script {
    Box::new(move |request| (service(request.number), Ok(request.op.length)))
}

/// An operation of a scripted lane; times are in nanoseconds after the phase's start.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ScriptedOp {
    pub(crate) op: Op,
    pub(crate) at: u64,
    pub(crate) end: u64,
}

/// A lane that does what its script returns, at the clock's time.
struct ScriptedLane {
    clock: VirtualClock,
    script: Script,
    stop: Arc<AtomicBool>,
    in_flight: Vec<(u64, Completion)>,
    history: Vec<ScriptedOp>,
    most: usize,
    piece_ns: u64,
}

impl ScriptedLane {
    fn run_script(&mut self, op: Op) -> Answer {
        let at = self.clock.time() - START;
        let (service, result) = (self.script)(&Request { number: self.history.len() as u64, op, at, stop: &self.stop });
        self.history.push(ScriptedOp { op, at, end: at + service });
        (START + at + service, result)
    }
}

impl Lane for ScriptedLane {
    fn begin(&mut self, _plan: &PhasePlan) -> Result<MethodChoice, SetupError> {
        unreachable!("a phase is begun by a worker")
    }

    fn submit(&mut self, ops: &[Op]) -> usize {
        for op in ops {
            let (end, result) = self.run_script(*op);
            self.in_flight.push((end, Completion::new(op.slot, result)));
        }
        self.most = self.most.max(self.in_flight.len());
        ops.len()
    }

    fn reap(&mut self, done: &mut Vec<Completion>, deadline: u64) {
        let Some(first) = self.in_flight.iter().map(|(end, _)| *end).min() else { return };
        // A check without waiting comes after a piece of data was made.
        let until = if deadline == 0 { self.clock.time() + self.piece_ns } else { first.min(deadline) };
        let now = self.clock.pass_to(until);
        self.in_flight.sort_by_key(|(end, _)| *end);
        let ended = self.in_flight.partition_point(|(end, _)| *end <= now);
        done.extend(self.in_flight.drain(..ended).map(|(_, completion)| completion));
    }

    fn execute(&mut self, op: &Op) -> Result<u64, Fault> {
        assert!(self.in_flight.is_empty());
        let (end, result) = self.run_script(*op);
        self.clock.pass_to(end);
        result
    }

    /// Half of the operation's time after its submission.
    fn first_byte(&self, slot: u32) -> u64 {
        let ended =
            self.history.iter().rev().find(|each| each.op.slot == slot).expect("an operation of the slot has ended");
        START + ended.at + (ended.end - ended.at) / 2
    }

    fn end(&mut self) -> Result<(), SetupError> {
        Ok(())
    }
}

/// A lane of a simulated phase, and its storage.
pub(crate) struct Part {
    pub(crate) script: Script,
    /// Records of the lane's file.
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
    pub(crate) reports_first_byte: bool,
    /// There is a second buffer.
    pub(crate) ahead: bool,
    /// Time to make a record's data; 0 if there is no data.
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
            reports_first_byte: false,
            ahead: false,
            piece_ns: 0,
            parts: vec![Part { script, records, depth: 1, batch: 1 }],
        }
    }

    /// The same with `depth` in flight in each lane.
    pub(crate) fn deep(mut self, depth: u32, batch: u32) -> Self {
        for part in &mut self.parts {
            (part.depth, part.batch) = (depth, batch);
        }
        self
    }

    /// The same with another lane.
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
            reports_first_byte: self.reports_first_byte,
            ahead: self.ahead,
            in_step: false,
        }
    }

    /// Run the phase to its end.
    pub(crate) fn play(mut self) -> SceneResult {
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
        SceneResult { work, end, intervals, errors, lanes: played, stopped }
    }
}

fn play_lane(clock: VirtualClock, mut plan: LanePlan, part: Part, piece_ns: u64, links: &Links) -> SceneLane {
    let leaving = LeaveGuard(clock.clone());
    let buffers = Buffers::new(plan.depth as usize + usize::from(plan.ahead), RECORD as usize, false).unwrap();
    let mut channel = ScriptedLane {
        clock: clock.clone(),
        script: part.script,
        stop: Arc::clone(&links.stop),
        in_flight: vec![],
        history: vec![],
        most: 0,
        piece_ns,
    };
    let prefilled = prefill(&mut plan, &buffers);
    let readings = Arc::clone(&clock.readings);
    let outcome = run(&mut plan, links, &mut channel, prefilled, &mut Collector::default(), clock, START);
    links.messages.send(LaneMessage::Ended(plan.lane, Box::new(outcome))).unwrap();
    drop(leaving);
    assert!(channel.in_flight.is_empty(), "what was started has ended");
    let readings = *readings.lock().unwrap();
    SceneLane { history: channel.history, max_in_flight: channel.most, readings }
}

/// What a lane's storage was asked to do.
pub(crate) struct SceneLane {
    pub(crate) history: Vec<ScriptedOp>,
    pub(crate) max_in_flight: usize,
    /// Number of readings of the clock.
    pub(crate) readings: u64,
}

impl SceneLane {
    /// Operations without flushes, in order.
    pub(crate) fn operations(&self) -> Vec<ScriptedOp> {
        self.history.iter().copied().filter(|each| each.op.kind != OpKind::Sync).collect()
    }
}

/// The results of a simulated phase.
pub(crate) struct SceneResult {
    pub(crate) work: Work,
    pub(crate) end: PhaseEnd,
    pub(crate) intervals: Vec<Interval>,
    pub(crate) errors: Vec<ErrorSample>,
    pub(crate) lanes: Vec<SceneLane>,
    pub(crate) stopped: bool,
}

/// Values of a summary above `ns`.
pub(crate) fn above(summary: &LatencySummary, ns: u64) -> u64 {
    let histogram = decoded(&summary.histogram);
    let above = histogram.iter_recorded().filter(|bucket| bucket.value_iterated_to() > ns);
    above.map(|bucket| bucket.count_at_value()).sum()
}

/// Decode a histogram from its contract form.
pub(crate) fn decoded(text: &str) -> hdrhistogram::Histogram<u64> {
    use base64::Engine as _;
    let bytes = base64::engine::general_purpose::STANDARD.decode(text).unwrap();
    hdrhistogram::serialization::Deserializer::new().deserialize(&mut bytes.as_slice()).unwrap()
}

/// For each operation of storage that serves `depth` at once in the order in which they are due: start, delay of the
/// start, and time from being due to the end, in nanoseconds. This is the textbook's queue.
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
