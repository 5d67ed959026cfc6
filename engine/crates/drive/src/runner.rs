//! Runs a job: lanes, phases, barriers, intervals, totals.

use crate::arrivals::Schedule;
use crate::control;
use crate::data::{Base, Data, Writes};
use crate::data_set::{first_object, on_files, owners, phase_seed, DataSet};
use crate::ending::Ending;
use crate::interval::Timeline;
use crate::lane::{LanePlan, Links};
use crate::objects::Lengths;
use crate::outcome::{LaneMessage, LaneOutcome};
use crate::phase::PhaseShared;
use crate::resources;
use crate::stream::Stream;
use crate::totals;
use crate::watcher::Watcher;
use crate::worker::{Command, Worker};
use assay_core::{clock, heartbeat, Backend, Existing, MethodChoice, OpKind, PhasePlan, SetupError, REQUESTED_BY_JOB};
use assay_spec::{
    Barrier, BarrierStep, ByeStatus, ErrorCount, ErrorKind, ErrorSample, Event, Group, Job, Layout, Level, Listing,
    Log, Operation, Phase, PhaseStart, PhaseStatus, Ready, SyncPolicy,
};
use std::collections::BTreeSet;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{channel, Receiver, RecvTimeoutError, Sender};
use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::Duration;

/// Receives the events in order.
pub trait EventSink {
    /// Pass one event on; an error means that nothing receives events any more.
    fn emit(&mut self, event: &Event) -> std::io::Result<()>;
}

/// Set from outside to end a job early.
pub type StopFlag = Arc<AtomicBool>;

/// How long to wait for lanes that were asked to stop.
const STOP_PATIENCE_NS: u64 = 5_000_000_000;
/// The lanes start this long after they are released, so that all are ready: waking one takes microseconds.
const HEADSTART_NS: u64 = 500_000;
const HEADSTART_PER_LANE_NS: u64 = 8_000;
/// The coordinator checks for a stop this often.
const TICK: Duration = Duration::from_millis(50);
/// While the engine lists existing objects, it reports its progress this often.
const LISTING_NS: u64 = 20_000_000_000;
/// A lane's thread needs little stack: no recursion, no large locals.
const STACK_BYTES: usize = 256 << 10;

/// A running job.
struct Runner<'a> {
    job: &'a Job,
    backend: Arc<dyn Backend>,
    sink: &'a mut dyn EventSink,
    stop: StopFlag,
    commands: Vec<Sender<Command>>,
    threads: Vec<JoinHandle<()>>,
    data: DataSet<'a>,
    /// Per lane: data of operations that are longer than a buffer; None if there are none.
    streams: Vec<Option<Arc<Stream>>>,
    /// The base of all data; None if nothing is written or checked, or the backend does not return what was written.
    base: Option<Arc<Base>>,
    /// The first failure, as text.
    first_error: Option<String>,
    /// Failures of the current phase outside operations.
    setup_errors: Vec<ErrorCount>,
    /// When to stop waiting for lanes that were asked to stop.
    give_up_at: Option<u64>,
}

/// The results of a phase.
pub(crate) struct Work {
    /// Per lane; None if it was abandoned.
    pub(crate) outcomes: Vec<Option<LaneOutcome>>,
    pub(crate) timeline: Timeline,
    /// Number of this process's first lane among those of all processes.
    pub(crate) first_lane: u32,
    /// A file could not be closed or flushed after the phase.
    close_failed: bool,
}

impl Work {
    pub(crate) fn new(number: u32, interval_ns: u64, first_lane: u32, lanes: u32, records: bool) -> Self {
        Work {
            outcomes: vec![None; lanes as usize],
            timeline: Timeline::new(number, interval_ns, records),
            first_lane,
            close_failed: false,
        }
    }

    /// Nanoseconds from a phase's start until its last lane ended, or until `now` if one has not.
    pub(crate) fn elapsed(&self, start: u64, now: u64) -> u64 {
        let ended = |outcome: &Option<LaneOutcome>| outcome.as_ref().map_or(now, |lane| lane.end);
        self.outcomes.iter().map(ended).max().unwrap_or(now).saturating_sub(start)
    }
}

/// Waits at a barrier; returns when to continue and for how many operations, None if the job is to stop.
pub type WaitForGo<'a> = dyn FnMut() -> Option<control::Go> + 'a;

/// True if some phase writes data, or data that is read is checked.
fn needs_data(job: &Job) -> bool {
    let makes = |phase: &Phase| match phase.operation.group() {
        None => true,
        Some(Group::Data) => phase.operation.writes(),
        Some(Group::Names) => phase.operation == Operation::Create,
        Some(Group::Objects) => phase.operation.stores_objects(),
        Some(Group::Programs) => false,
    };
    !job.target.rules().only_reads() && (job.data.verify || job.phases.iter().any(makes))
}

/// Refuse a job that needs more memory than the host has, before it takes memory from other processes.
fn fits(job: &Job) -> Result<(), SetupError> {
    let (needed, there) = (job.memory_bytes(), resources::host_memory_bytes());
    if needed <= there {
        return Ok(());
    }
    let mend = if job.target.rules().only_reads() { "fewer objects" } else { "smaller records" };
    let message =
        format!("{needed} bytes are needed and the host has {there}: use fewer lanes, a smaller queue_depth or {mend}");
    Err(SetupError::new("allocate", "memory of the lanes", message))
}

/// A lane's data of operations that are longer than its buffers or work on several objects; None if there are none.
fn stream(job: &Job, base: Option<&Arc<Base>>, lane: u32) -> Option<Arc<Stream>> {
    let several = job.phases.iter().any(|phase| phase.operation.moves_several());
    let streams = several || job.largest_size() > job.record_size_bytes;
    let first = first_object(job, lane).filter(|_| streams)?;
    Some(Arc::new(Stream::new(base?, job, Lengths::new(job, first))))
}

/// The objects that existed before the job, if the job only reads them.
fn existing(
    backend: &dyn Backend,
    sink: &mut dyn EventSink,
    stop: &StopFlag,
) -> Result<Option<Arc<Existing>>, SetupError> {
    let Some(service) = backend.service() else { return Ok(None) };
    let mut last_report = clock::now();
    service.existing(&mut |objects| {
        let now = clock::now();
        if now.saturating_sub(last_report) < LISTING_NS {
            return !stop.load(Ordering::Relaxed);
        }
        last_report = now;
        sink.emit(&Event::Listing(Listing { at_ns: now, objects })).is_ok() && !stop.load(Ordering::Relaxed)
    })
}

/// Run `job` on `backend`. `go` is called at each barrier if the job waits there.
///
/// What the job created on the storage is removed unless the job keeps it.
pub fn run(
    job: &Job,
    backend: &Arc<dyn Backend>,
    sink: &mut dyn EventSink,
    stop: &StopFlag,
    go: &mut WaitForGo<'_>,
) -> Ending {
    heartbeat::begin("making the job's directory", 0);
    if let Err(error) = fits(job).and_then(|()| backend.prepare()) {
        return Ending::refused(&error);
    }
    let existing = match existing(backend.as_ref(), sink, stop) {
        Ok(existing) => existing,
        Err(_) if stop.load(Ordering::Relaxed) => return Ending::stopped(),
        Err(error) => return Ending::refused(&error),
    };
    let base = (backend.capabilities().verify && needs_data(job)).then(|| Base::new(&job.data, job.seed));
    let mut runner = Runner {
        job,
        backend: Arc::clone(backend),
        sink,
        stop: Arc::clone(stop),
        commands: Vec::new(),
        threads: Vec::new(),
        data: DataSet::new(job, existing),
        streams: (0..job.lanes).map(|index| stream(job, base.as_ref(), job.first_lane() + index)).collect(),
        base,
        first_error: None,
        setup_errors: Vec::new(),
        give_up_at: None,
    };
    let mut ended = runner.all(go);
    heartbeat::begin("looking for the place that was measured", 0);
    if let Err(error) = backend.still_there() {
        ended = ended.and_failed(&error.to_string());
    }
    if !job.keep_files && ended.status != ByeStatus::Stopped {
        // Other processes may still use the same files.
        let _ = runner.barrier(BarrierStep::Cleanup, None, None, go);
    }
    runner.commands.clear();
    let stuck = ended.status == ByeStatus::Stopped && !runner.join_until(runner.give_up_at.unwrap_or(u64::MAX));
    if !stuck {
        runner.threads.drain(..).for_each(|thread| drop(thread.join()));
    }
    if !job.keep_files {
        heartbeat::begin("removing the data", 0);
        if let Err(error) = backend.cleanup() {
            ended = ended.and_failed(&format!("the data could not be removed: {error}"));
            ended.left_behind = true;
        }
    }
    ended
}

impl Runner<'_> {
    fn all(&mut self, go: &mut WaitForGo<'_>) -> Ending {
        heartbeat::begin("opening lanes", 0);
        let buffer_bytes = match self.open_lanes() {
            Ok(bytes) => bytes,
            Err(error) => return Ending::refused(&error),
        };
        let existing = self.data.found();
        self.emit(&Event::Ready(Ready { at_ns: clock::now(), buffer_bytes, existing }));
        let mut failed = None;
        for (number, phase) in self.job.phases.iter().enumerate() {
            let status = match failed {
                None if !self.stopped() => self.phase(number as u32, phase, go),
                _ => {
                    let status = if failed.is_some() { PhaseStatus::Skipped } else { PhaseStatus::Stopped };
                    self.end_without_work(number as u32, phase, status)
                }
            };
            if status == PhaseStatus::Failed {
                let why = self.first_error.as_deref().unwrap_or("a lane gave up");
                failed = Some(format!("phase {number} ({}) failed: {why}", phase.operation.name()));
            }
        }
        if self.stopped() {
            return Ending::stopped();
        }
        match (failed, &self.first_error) {
            (Some(reason), _) => Ending::ok().and_failed(&reason),
            (None, Some(error)) => Ending::ok().and_failed(&format!("operations failed, the first: {error}")),
            (None, None) => Ending::ok(),
        }
    }

    /// Wait for the other engines, if the job requests it; returns when to continue, None if the job is to stop.
    fn barrier(
        &mut self,
        step: BarrierStep,
        phase: Option<u32>,
        most: Option<u64>,
        go: &mut WaitForGo<'_>,
    ) -> Option<control::Go> {
        if !self.job.wait_for_go {
            return Some(control::Go { at_ns: 0, most });
        }
        self.emit(&Event::Barrier(Barrier { step, phase, most, at_ns: clock::now() }));
        let at = go();
        heartbeat::beat();
        if at.is_none() {
            self.stop.store(true, Ordering::Relaxed);
        }
        at
    }

    fn stopped(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }

    /// Emit an event; stop the job if nothing receives events any more.
    fn emit(&mut self, event: &Event) {
        if self.sink.emit(event).is_err() {
            self.stop.store(true, Ordering::Relaxed);
        }
    }

    /// Start the lanes' threads; returns the bytes of their buffers.
    fn open_lanes(&mut self) -> Result<u64, SetupError> {
        let cpus = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
        let pinned = self.job.tuning.cpus.iter().collect::<BTreeSet<_>>().len();
        let cpus = if pinned > 0 { pinned.min(cpus) } else { cpus };
        clock::allow_spinning((self.job.lanes as usize) < cpus);
        let (opened, answers) = channel();
        for lane in 0..self.job.lanes {
            let (sender, commands) = channel();
            let worker = self.worker(lane, commands);
            let opened = opened.clone();
            let thread = std::thread::Builder::new()
                .name(format!("lane{lane}"))
                .stack_size(STACK_BYTES)
                .spawn(move || worker.serve(&opened))
                .map_err(|error| SetupError::new("start", format!("lane {lane}"), error.to_string()))?;
            self.commands.push(sender);
            self.threads.push(thread);
        }
        drop(opened);
        let answers: Vec<_> = answers.into_iter().take(self.job.lanes as usize).collect();
        if answers.len() < self.job.lanes as usize {
            return Err(SetupError::new("start", "lanes", "a lane has ended before it was open: a defect"));
        }
        answers.into_iter().sum()
    }

    fn worker(&self, index: u32, commands: Receiver<Command>) -> Worker {
        let job = self.job;
        let small = job.tree.is_some() || job.objects.is_some();
        let bytes = if small { job.largest_size().clamp(1, job.record_size_bytes) } else { job.record_size_bytes };
        Worker {
            backend: Arc::clone(&self.backend),
            index,
            lane: job.first_lane() + index,
            queue_depth: job.queue_depth,
            buffers: job.buffers_per_lane(),
            buffer_bytes: bytes as usize,
            tuning: job.tuning.clone(),
            direct: job.direct,
            stream: self.streams[index as usize].clone(),
            commands,
        }
    }

    /// Whether all lanes' threads have ended by the time `end`.
    fn join_until(&self, end: u64) -> bool {
        loop {
            if self.threads.iter().all(JoinHandle::is_finished) {
                return true;
            }
            if clock::now() >= end {
                return false;
            }
            std::thread::sleep(TICK);
        }
    }

    fn lane_plan(&self, number: u32, phase: &Phase, plan: &PhasePlan, index: u32) -> LanePlan {
        let job = self.job;
        let own = job.first_lane() + index;
        let lane = owners(job, number, phase).of(own);
        let seed = phase_seed(job, number);
        let file = if job.layout == Layout::Shared { 0 } else { u64::from(lane) };
        let first = first_object(job, lane);
        let pattern = self.data.pattern(number, phase, index, lane);
        let data = self.base.as_ref().map(|base| Data::new(base, &job.data, job.seed, file));
        let others_wrote = job.reuse_files || self.backend.may_hold_others_data();
        let writes = Writes::in_phase(number, job.record_size_bytes, self.data.rewritten, others_wrote);
        LanePlan {
            phase: number,
            lane: own,
            lanes: job.lanes,
            object: self.backend.object_name(lane),
            existing: self.data.existing_of(index),
            pattern,
            data: if first.is_none() || on_files(job, phase) { data.map(|it| it.with_writes(writes)) } else { data },
            verify: job.data.verify,
            stream: self.streams[index as usize].clone(),
            first_object: first,
            key_bytes: job.target.rules().key_bytes(),
            runtime_ns: phase.runtime_ns,
            time_limit_ns: phase.time_limit_ns,
            wear_out: phase.wear_out,
            schedule: phase.rate_per_s.map(|rate| Schedule::new(phase.arrivals, rate, own, job.all_lanes(), seed)),
            sync_at_end: matches!(plan.sync, SyncPolicy::Fsync | SyncPolicy::Fdatasync),
            error_limit: job.error_limit,
            interval_ns: job.interval_ns,
            depth: job.queue_depth,
            batch: job.queue_depth,
            reports_first_byte: false,
            ahead: false,
            in_step: false,
        }
    }

    fn phase(&mut self, number: u32, phase: &Phase, go: &mut WaitForGo<'_>) -> PhaseStatus {
        if self.barrier(BarrierStep::Setup, Some(number), None, go).is_none() {
            return self.end_without_work(number, phase, PhaseStatus::Stopped);
        }
        heartbeat::begin(format!("phase {number} ({})", phase.operation.name()), self.expected_silence(phase));
        let plan = self.data.phase_plan(number, phase);
        let cache_done = match self.backend.still_there().and_then(|()| self.backend.begin_phase(&plan)) {
            Ok(done) => done,
            Err(error) => {
                self.setup_failed(number, &error);
                return self.end_without_work(number, phase, PhaseStatus::Failed);
            }
        };
        self.data.note_begin(phase.operation);
        let shared = Arc::new(PhaseShared::default());
        let (messages, inbox) = channel();
        let links = Links { shared: Arc::clone(&shared), stop: Arc::clone(&self.stop), messages };
        let mut planned = (0_u64, 0_u64);
        for lane in 0..self.job.lanes {
            let lane_plan = self.lane_plan(number, phase, &plan, lane);
            let (count, bytes) = (lane_plan.pattern.operations(), lane_plan.pattern.bytes());
            planned = (u64::saturating_add(planned.0, count), u64::saturating_add(planned.1, bytes));
            let begin = Command::Begin(plan, Box::new(lane_plan), links.clone());
            let _ = self.commands[lane as usize].send(begin);
        }
        drop(links);
        let Some(choice) = self.wait_until_ready(number, &inbox) else {
            self.commands.iter().for_each(|lane| drop(lane.send(Command::Abort)));
            return self.end_without_work(number, phase, PhaseStatus::Failed);
        };
        let cached_bytes = phase.measured.then(|| self.backend.cached_bytes(&plan)).flatten();
        let released = self.barrier(BarrierStep::Start, Some(number), None, go);
        let at = released.map(|leave| leave.at_ns);
        let Some(at) = self.backend.collective().map_or(at, |processes| processes.barrier(at)) else {
            self.stop.store(true, Ordering::Relaxed);
            self.commands.iter().for_each(|lane| drop(lane.send(Command::Abort)));
            return self.end_without_work(number, phase, PhaseStatus::Stopped);
        };
        let device = self.backend.device();
        let (before, offset) = (resources::snapshot(device, &self.job.watch), resources::wall_offset_ns());
        let headstart = HEADSTART_NS + HEADSTART_PER_LANE_NS * u64::from(self.job.lanes);
        let start = at.max(clock::now() + headstart);
        self.commands.iter().for_each(|lane| drop(lane.send(Command::Go(start))));
        let watcher = if phase.measured { Watcher::start(&self.job.tuning, self.job.lanes, start) } else { None };
        self.started(number, phase, start, choice, planned);
        let (work, most) = self.follow(number, on_files(self.job, phase), start, &inbox, &mut |runner, most| {
            let leave = runner.barrier(BarrierStep::WearOut, Some(number), Some(most), go);
            let most = leave.map_or(0, |leave| leave.most.unwrap_or(most));
            shared.set_most(most);
            most
        });
        let watch = watcher.and_then(Watcher::finish);
        let mut end = totals::of(number, phase, self.status_of(phase.operation, &work), start, &shared, &work);
        end.stonewall = totals::stonewall(&work, start, most);
        end.errors.append(&mut self.setup_errors);
        end.cache_done = cache_done;
        end.cached_bytes = cached_bytes;
        end.watch = watch;
        end.resources = resources::between(&before, &resources::snapshot(device, &self.job.watch));
        let shift = resources::wall_offset_ns().saturating_sub(offset);
        end.wall_shift_ns = shift.saturating_add(self.backend.wall_step_ns());
        let is_complete = end.status == PhaseStatus::Done && self.first_error.is_none();
        self.data.note_end(number, phase, &work.outcomes, most, is_complete);
        let status = end.status;
        self.emit(&Event::PhaseEnd(end));
        status
    }

    /// Lanes report once an interval, and at a low rate only when an operation is due.
    fn expected_silence(&self, phase: &Phase) -> u64 {
        let apart = phase.rate_per_s.map_or(0.0, |rate| 1e9 * f64::from(self.job.all_lanes()) / rate);
        self.job.interval_ns.saturating_add((2.0 * apart) as u64)
    }

    fn status_of(&self, operation: Operation, work: &Work) -> PhaseStatus {
        let outcomes = || work.outcomes.iter().flatten();
        // Incomplete data is no basis for later phases.
        let makes = matches!(operation, Operation::Prepare | Operation::Create | Operation::Mkdir | Operation::Rename);
        let unprepared = makes && outcomes().any(|lane| lane.error_count() > 0);
        if work.close_failed || unprepared || outcomes().any(|lane| lane.gave_up) {
            PhaseStatus::Failed
        } else if self.stopped() {
            PhaseStatus::Stopped
        } else if outcomes().any(|lane| lane.limited) {
            PhaseStatus::TimeLimit
        } else {
            PhaseStatus::Done
        }
    }

    /// Wait until every lane is ready; None if one failed to prepare.
    fn wait_until_ready(&mut self, number: u32, inbox: &Receiver<LaneMessage>) -> Option<MethodChoice> {
        let mut chosen: Option<MethodChoice> = None;
        let mut failed = false;
        for _ in 0..self.job.lanes {
            let answer = inbox.recv();
            heartbeat::beat();
            match answer {
                // If lanes differ, the weakest choice is reported for all.
                Ok(LaneMessage::Began(Ok(choice))) => {
                    chosen = chosen.filter(|known| known.depth <= choice.depth).or(Some(choice));
                }
                Ok(LaneMessage::Began(Err(error))) => {
                    self.setup_failed(number, &error);
                    failed = true;
                }
                _ => failed = true,
            }
        }
        chosen.filter(|_| !failed)
    }

    fn setup_failed(&mut self, number: u32, error: &SetupError) {
        self.setup_errors.push(totals::error_count(ErrorKind::Fault, error.fault, 1));
        self.failed(ErrorSample {
            phase: number,
            lane: None,
            action: error.action.to_owned(),
            object: error.object.clone(),
            number: 0,
            offset: 0,
            length: error.length,
            kind: ErrorKind::Fault,
            fault: error.fault,
            message: error.message.clone(),
        });
    }

    /// Emit a failure, and store the first one.
    fn failed(&mut self, sample: ErrorSample) {
        self.first_error.get_or_insert_with(|| {
            let (action, object, offset, length) = (&sample.action, &sample.object, sample.offset, sample.length);
            let many = self.job.tree.is_some() || self.job.objects.is_some();
            let named = self.data.found().is_some() && action != OpKind::List.name();
            let numbered = many && !named && sample.lane.is_some() && action != OpKind::Sync.name();
            let place = match (numbered, length) {
                (true, _) => format!(" of number {}", sample.number),
                (false, 0) => String::new(),
                (false, _) => format!(" at {offset}, {length} bytes"),
            };
            format!("{action} {object}{place}: {}", sample.message)
        });
        self.emit(&Event::ErrorSample(sample));
    }

    fn started(&mut self, number: u32, phase: &Phase, at_ns: u64, choice: MethodChoice, planned: (u64, u64)) {
        if choice.depth < self.job.queue_depth && phase.operation != Operation::Prepare {
            let message = format!(
                "queue_depth is {} but only {} operation is in flight per lane: {}",
                self.job.queue_depth, choice.depth, choice.reason
            );
            self.emit(&Event::Log(Log { level: Level::Warning, message }));
        }
        let by_time = phase.runtime_ns.is_some();
        let reason = match &phase.method {
            // The method came from an earlier search: give its reason.
            Some(found) => choice.reason.replacen(REQUESTED_BY_JOB, &found.reason, 1),
            None => choice.reason,
        };
        self.emit(&Event::PhaseStart(PhaseStart {
            phase: number,
            operation: phase.operation,
            measured: phase.measured,
            at_ns,
            method: choice.method,
            method_reason: reason,
            planned_ops: (!by_time && phase.operation != Operation::FileMix).then_some(planned.0),
            planned_bytes: (!by_time && !matches!(phase.operation, Operation::FileMix | Operation::ObjectMix))
                .then_some(planned.1),
            mpiio: choice.mpiio,
        }));
    }

    /// Emit intervals and errors until every lane has ended or, after a stop, until patience is at an end. In a phase
    /// that wears out, `exchange_most` returns the progress of the furthest lane of all engines, which is returned,
    /// too.
    fn follow(
        &mut self,
        number: u32,
        records: bool,
        start: u64,
        inbox: &Receiver<LaneMessage>,
        exchange_most: &mut dyn FnMut(&mut Self, u64) -> u64,
    ) -> (Work, Option<u64>) {
        let (mut reached, mut most) = (Vec::new(), None);
        let mut work = Work::new(number, self.job.interval_ns, self.job.first_lane(), self.job.lanes, records);
        while work.outcomes.iter().any(Option::is_none) {
            let message = inbox.recv_timeout(TICK);
            if message.is_ok() {
                heartbeat::beat();
            }
            match message {
                Ok(LaneMessage::Interval(index, part)) => work.timeline.add(index, &part),
                Ok(LaneMessage::Reached(done)) => {
                    reached.push(done);
                    if reached.len() == self.job.lanes as usize {
                        most = Some(exchange_most(self, reached.iter().copied().max().unwrap_or(0)));
                    }
                }
                Ok(LaneMessage::Error(sample)) => self.failed(sample),
                Ok(LaneMessage::Ended(lane, outcome)) => work.outcomes[lane as usize] = Some(*outcome),
                Ok(LaneMessage::Began(Err(error))) => {
                    self.setup_failed(number, &error);
                    work.close_failed = true;
                }
                Ok(LaneMessage::Began(Ok(_))) | Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => break,
            }
            let now = clock::now();
            // Lanes report an interval at its end; a little later all have.
            let settled = now.saturating_sub(start).saturating_sub(self.job.interval_ns / 4);
            for interval in work.timeline.take(settled) {
                self.emit(&Event::Interval(interval));
            }
            if self.stopped() && now > *self.give_up_at.get_or_insert(now + STOP_PATIENCE_NS) {
                self.abandoned(&work);
                break;
            }
        }
        for interval in work.timeline.rest(work.elapsed(start, clock::now())) {
            self.emit(&Event::Interval(interval));
        }
        (work, most)
    }

    fn abandoned(&mut self, work: &Work) {
        let stuck = work.outcomes.iter().enumerate().filter(|(_, outcome)| outcome.is_none());
        let lanes: Vec<String> = stuck.map(|(lane, _)| lane.to_string()).collect();
        let message = format!("told to stop, but stuck in an operation: lane {}", lanes.join(", "));
        self.emit(&Event::Log(Log { level: Level::Warning, message }));
    }

    fn end_without_work(&mut self, number: u32, phase: &Phase, status: PhaseStatus) -> PhaseStatus {
        let nothing = Work::new(number, self.job.interval_ns, self.job.first_lane(), 0, false);
        let mut end = totals::of(number, phase, status, 0, &PhaseShared::default(), &nothing);
        end.errors.append(&mut self.setup_errors);
        self.emit(&Event::PhaseEnd(end));
        status
    }
}
