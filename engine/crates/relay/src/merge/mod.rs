//! Merges the events of several engines of one host into those of one engine.

mod end;
mod intervals;
mod totals;

use crate::split;
use assay_core::clock;
use assay_spec::{
    Barrier, BarrierStep, Bye, ByeStatus, ErrorSample, Event, Hello, Log, PhaseEnd, PhaseStart, PhaseStatus, Ready,
};
use intervals::Intervals;
use std::collections::BTreeMap;

/// Most error samples per lane and phase, set-up included; readers of events expect no more.
const MAX_SAMPLES: usize = 8;
/// Most log events that are passed on.
const MAX_LOGS: usize = 900;

/// The events of one engine so far.
#[derive(Default)]
struct EngineState {
    hello: Option<Hello>,
    ready: Option<Ready>,
    waiting_at: Option<Barrier>,
    bye: Option<Bye>,
    /// One of its phases has failed: it ends by itself, and reports why at the end.
    failed: bool,
}

/// The events of a phase so far, by engine.
struct Phase {
    starts: Vec<Option<PhaseStart>>,
    started: bool,
    ends: Vec<Option<PhaseEnd>>,
    intervals: Intervals,
}

/// Merges the events of engines among which a job was split evenly.
pub struct Merger {
    engines: Vec<EngineState>,
    phases: BTreeMap<u32, Phase>,
    samples: usize,
    max_samples: usize,
    logs: usize,
    job_sha256: String,
    controlled: bool,
    hello_sent: bool,
    ready: bool,
    is_failing: bool,
    is_stopping: bool,
    out: Vec<Event>,
}

impl Merger {
    /// A merger for `engines` engines; `job_sha256` is that of the job before it was split, in hex; `controlled`: they
    /// wait for the controller's commands.
    pub fn new(engines: usize, job_sha256: String, controlled: bool) -> Self {
        Merger {
            engines: (0..engines).map(|_| EngineState::default()).collect(),
            phases: BTreeMap::new(),
            samples: 0,
            max_samples: MAX_SAMPLES,
            logs: 0,
            job_sha256,
            controlled,
            hello_sent: false,
            ready: false,
            is_failing: false,
            is_stopping: false,
            out: Vec::new(),
        }
    }

    /// Add an event of an engine.
    pub fn take(&mut self, engine: usize, event: Event) {
        match event {
            Event::Hello(hello) => self.hello(engine, hello),
            // All list the same; the first reports the progress.
            Event::Listing(listing) if engine == 0 => self.out.push(Event::Listing(listing)),
            Event::Listing(_) | Event::Pong(_) => {}
            Event::Ready(ready) => {
                self.engines[engine].ready = Some(ready);
                self.all_ready();
            }
            Event::Barrier(barrier) => {
                self.engines[engine].waiting_at = Some(barrier);
                self.merge_barrier();
            }
            Event::PhaseStart(start) => {
                let number = start.phase;
                self.phase(number).starts[engine] = Some(start);
                self.phase_started(number);
            }
            Event::Interval(interval) => {
                let phase = self.phase(interval.phase);
                let whole = phase.intervals.take(engine, interval);
                self.out.extend(whole.into_iter().map(Event::Interval));
            }
            // Each engine has its own.
            Event::Upload(_) | Event::Beyond(_) | Event::Task(_) | Event::Replay(_) => self.out.push(event),
            Event::ErrorSample(sample) => self.sample(sample),
            Event::Log(log) => self.log_event(log),
            Event::PhaseEnd(end) => self.phase_ended(engine, end),
            Event::Bye(bye) => {
                self.is_failing |= bye.status != ByeStatus::Ok && self.engines[engine].ready.is_none();
                self.engines[engine].bye = Some(bye);
                self.merge_barrier();
            }
        }
    }

    /// Note that an engine has ended, and that all of its events were added.
    pub fn engine_ended(&mut self, engine: usize) {
        // An engine that has sent no `bye` has died.
        self.is_failing |= self.engines[engine].bye.is_none();
        self.merge_barrier();
    }

    /// True if the engines are to be stopped because they would wait for one that cannot continue.
    pub fn is_failing(&self) -> bool {
        self.is_failing
    }

    /// True if the engines were asked to stop, by whatever cause.
    pub fn is_stopping(&self) -> bool {
        self.is_stopping
    }

    /// Note that the engines were asked to stop: they wait at no barrier any more.
    pub fn stop(&mut self) {
        self.is_stopping = true;
        self.engines.iter_mut().filter(|state| !state.failed).for_each(|state| state.waiting_at = None);
    }

    /// True if an engine has failed by itself, and need not be asked to stop.
    pub fn failed(&self, engine: usize) -> bool {
        self.engines[engine].failed
    }

    /// Engines that wait for others which were stopped: they are to continue alone.
    pub fn left_waiting(&mut self) -> Vec<usize> {
        let all = self.engines.iter_mut().enumerate();
        all.filter_map(|(engine, state)| state.waiting_at.take_if(|_| self.is_stopping).map(|_| engine)).collect()
    }

    /// Note that all engines were allowed to continue.
    pub fn go(&mut self) {
        self.engines.iter_mut().for_each(|state| state.waiting_at = None);
    }

    /// True if some engine waits at a barrier.
    pub fn waits(&self) -> bool {
        self.engines.iter().any(|state| state.waiting_at.is_some())
    }

    /// The merged events since the last call.
    pub fn events(&mut self) -> Vec<Event> {
        std::mem::take(&mut self.out)
    }

    /// The worst status of all engines, with its reason; None if one has not ended.
    pub fn bye(&self) -> Option<Bye> {
        const WORST: [ByeStatus; 5] =
            [ByeStatus::Stalled, ByeStatus::Refused, ByeStatus::Errors, ByeStatus::Stopped, ByeStatus::Ok];
        let byes: Option<Vec<&Bye>> = self.engines.iter().map(|state| state.bye.as_ref()).collect();
        let byes = byes?;
        let place = |bye: &Bye| WORST.iter().position(|status| *status == bye.status);
        let worst = byes.iter().min_by_key(|bye| place(bye))?;
        Some(Bye {
            status: worst.status,
            reason: worst.reason.clone(),
            left_behind: byes.iter().any(|bye| bye.left_behind),
            max_rss_bytes: byes.iter().map(|bye| bye.max_rss_bytes).sum(),
            at_ns: byes.iter().map(|bye| bye.at_ns).max()?,
        })
    }

    fn hello(&mut self, engine: usize, hello: Hello) {
        self.engines[engine].hello = Some(hello);
        let all: Option<Vec<&Hello>> = self.engines.iter().map(|state| state.hello.as_ref()).collect();
        let Some(all) = all.filter(|_| !self.hello_sent) else { return };
        self.hello_sent = true;
        let cpus = all.iter().map(|hello| hello.cpus).sum::<u32>();
        let mut one = all[0].clone();
        // If a launcher has given each engine its own CPUs, they have all of them; else each has the same ones.
        one.cpus = cpus.min(one.cpus.max(online()));
        split::join(&mut one.job, all.len() as u32);
        self.max_samples = MAX_SAMPLES * (one.job.lanes as usize + 1) * one.job.phases.len();
        one.job.wait_for_go &= self.controlled;
        one.job_sha256.clone_from(&self.job_sha256);
        self.out.push(Event::Hello(one));
    }

    fn all_ready(&mut self) {
        let all: Option<Vec<&Ready>> = self.engines.iter().map(|state| state.ready.as_ref()).collect();
        let Some(all) = all.filter(|_| !self.ready) else { return };
        self.ready = true;
        let existing = all[0].existing;
        let ready = Ready {
            at_ns: all.iter().map(|ready| ready.at_ns).max().unwrap_or(0),
            buffer_bytes: all.iter().map(|ready| ready.buffer_bytes).sum(),
            existing: existing.filter(|_| all.iter().all(|ready| ready.existing == existing)),
        };
        self.out.push(Event::Ready(ready));
    }

    /// Emit a barrier if all engines wait at the same one.
    fn merge_barrier(&mut self) {
        if self.is_stopping {
            return;
        }
        let place = |barrier: &Barrier| (barrier.step, barrier.phase);
        let waiting: Option<Vec<&Barrier>> = self.engines.iter().map(|state| state.waiting_at.as_ref()).collect();
        let Some(waiting) = waiting else { return };
        let (first, at_ns) = (waiting[0], waiting.iter().map(|barrier| barrier.at_ns).max().unwrap_or(0));
        let (step, phase) = place(first);
        if waiting.iter().all(|barrier| place(barrier) == (step, phase)) {
            let most = waiting.iter().filter_map(|barrier| barrier.most).max();
            self.out.push(Event::Barrier(Barrier { step, phase, most, at_ns }));
        } else if waiting.iter().any(|barrier| barrier.step == BarrierStep::Cleanup) {
            self.is_failing = true;
        }
    }

    fn phase(&mut self, number: u32) -> &mut Phase {
        let engines = self.engines.len();
        self.phases.entry(number).or_insert_with(|| Phase {
            starts: vec![None; engines],
            started: false,
            ends: vec![None; engines],
            intervals: Intervals::new(engines),
        })
    }

    /// Emit the start of a phase once each engine has begun it or will not.
    fn phase_started(&mut self, number: u32) {
        let phase = self.phase(number);
        let settled = phase.starts.iter().zip(&phase.ends).all(|(start, end)| start.is_some() || end.is_some());
        let begun: Vec<&PhaseStart> = phase.starts.iter().flatten().collect();
        let Some(first) = begun.first().filter(|_| settled && !phase.started) else { return };
        let sum = |of: fn(&PhaseStart) -> Option<u64>| begun.iter().map(|start| of(start)).sum();
        let start = PhaseStart {
            at_ns: begun.iter().map(|start| start.at_ns).min().unwrap_or(first.at_ns),
            planned_ops: sum(|start| start.planned_ops),
            planned_bytes: sum(|start| start.planned_bytes),
            ..(*first).clone()
        };
        phase.started = true;
        self.out.push(Event::PhaseStart(start));
    }

    fn phase_ended(&mut self, engine: usize, end: PhaseEnd) {
        let number = end.phase;
        self.is_failing |= end.status == PhaseStatus::Failed;
        self.engines[engine].failed |= end.status == PhaseStatus::Failed;
        let phase = self.phase(number);
        phase.ends[engine] = Some(end);
        let rest = phase.intervals.end_engine(engine);
        self.out.extend(rest.into_iter().map(Event::Interval));
        self.phase_started(number);
        let shared = self
            .engines
            .iter()
            .flat_map(|state| &state.hello)
            .any(|hello| hello.job.layout == assay_spec::Layout::Shared);
        let phase = self.phase(number);
        if phase.ends.iter().all(Option::is_some) {
            let ends: Vec<PhaseEnd> = phase.ends.iter().flatten().cloned().collect();
            let starts: Vec<u64> =
                phase.starts.iter().map(|start| start.as_ref().map_or(0, |start| start.at_ns)).collect();
            let merged = end::merge(&ends, &starts, &phase.intervals, shared);
            // An engine reports late intervals before its end: nothing more of this phase follows.
            self.phases.remove(&number);
            self.out.push(Event::PhaseEnd(merged));
        }
    }

    fn sample(&mut self, sample: ErrorSample) {
        self.samples += 1;
        if self.samples <= self.max_samples {
            self.out.push(Event::ErrorSample(sample));
        }
    }

    fn log_event(&mut self, log: Log) {
        self.logs += 1;
        if self.logs <= MAX_LOGS {
            self.out.push(Event::Log(log));
        }
    }
}

/// Online CPUs of the host, however few this process may use.
fn online() -> u32 {
    std::fs::read_to_string("/sys/devices/system/cpu/online").map_or(0, |text| {
        text.trim()
            .split(',')
            .filter_map(|part| {
                let (first, last) = part.split_once('-').unwrap_or((part, part));
                Some(last.parse::<u32>().ok()?.saturating_sub(first.parse().ok()?) + 1)
            })
            .sum()
    })
}

/// The answer to a ping.
pub fn pong(ping: u64) -> Event {
    Event::Pong(assay_spec::Pong { ping, at_ns: clock::now() })
}

#[cfg(test)]
mod tests;
