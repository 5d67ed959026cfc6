//! What several engines of one host say, as one engine would say it.

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

/// Failed operations of a lane that are told of in a phase, set-up included; whoever listens expects no more.
const MOST_SAMPLES: usize = 8;
/// Remarks that are passed on.
const MOST_REMARKS: usize = 900;

/// What one engine has said so far.
#[derive(Default)]
struct Said {
    hello: Option<Hello>,
    ready: Option<Ready>,
    waits: Option<Barrier>,
    bye: Option<Bye>,
    /// A phase of it has failed: it goes to its end by itself, and says there why.
    failed: bool,
}

/// A phase as far as the engines have told of it, each in its place.
struct Phase {
    starts: Vec<Option<PhaseStart>>,
    started: bool,
    ends: Vec<Option<PhaseEnd>>,
    intervals: Intervals,
}

/// Puts together what engines say; the job has been split among them evenly.
pub struct Gather {
    said: Vec<Said>,
    phases: BTreeMap<u32, Phase>,
    samples: usize,
    most_samples: usize,
    remarks: usize,
    job_sha256: String,
    controlled: bool,
    greeted: bool,
    ready: bool,
    failing: bool,
    stopping: bool,
    out: Vec<Event>,
}

impl Gather {
    /// Of so many engines; `job_sha256` is that of the job before it was split, in hex, and `controlled` says that they wait
    /// for words of the controller.
    pub fn new(engines: usize, job_sha256: String, controlled: bool) -> Self {
        Gather {
            said: (0..engines).map(|_| Said::default()).collect(),
            phases: BTreeMap::new(),
            samples: 0,
            most_samples: MOST_SAMPLES,
            remarks: 0,
            job_sha256,
            controlled,
            greeted: false,
            ready: false,
            failing: false,
            stopping: false,
            out: Vec::new(),
        }
    }

    /// Takes what an engine has said.
    pub fn take(&mut self, engine: usize, event: Event) {
        match event {
            Event::Hello(hello) => self.hello(engine, hello),
            // Each lists the same; the first tells how far it is.
            Event::Listing(listing) if engine == 0 => self.out.push(Event::Listing(listing)),
            Event::Listing(_) | Event::Pong(_) => {}
            Event::Ready(ready) => {
                self.said[engine].ready = Some(ready);
                self.all_ready();
            }
            Event::Barrier(barrier) => {
                self.said[engine].waits = Some(barrier);
                self.meet();
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
            // Each engine's own.
            Event::Upload(_) | Event::Beyond(_) => self.out.push(event),
            Event::ErrorSample(sample) => self.sample(sample),
            Event::Log(log) => self.remark(log),
            Event::PhaseEnd(end) => self.phase_ended(engine, end),
            Event::Bye(bye) => {
                self.failing |= bye.status != ByeStatus::Ok && self.said[engine].ready.is_none();
                self.said[engine].bye = Some(bye);
                self.meet();
            }
        }
    }

    /// An engine has ended, and all that it had to say was taken.
    pub fn gone(&mut self, engine: usize) {
        // One that has not taken its leave has died.
        self.failing |= self.said[engine].bye.is_none();
        self.meet();
    }

    /// The others are to be stopped: they would wait for one that cannot go on.
    pub fn failing(&self) -> bool {
        self.failing
    }

    /// Those that work were told to stop, whoever has said so.
    pub fn stopping(&self) -> bool {
        self.stopping
    }

    /// Those that work were told to stop: they wait at no barrier any more.
    pub fn stop(&mut self) {
        self.stopping = true;
        self.said.iter_mut().filter(|said| !said.failed).for_each(|said| said.waits = None);
    }

    /// Whether an engine has failed by itself, and need not be told to stop.
    pub fn failed(&self, engine: usize) -> bool {
        self.said[engine].failed
    }

    /// Engines that wait for others which were stopped: they are to go on alone.
    pub fn left_waiting(&mut self) -> Vec<usize> {
        let all = self.said.iter_mut().enumerate();
        all.filter_map(|(engine, said)| said.waits.take_if(|_| self.stopping).map(|_| engine)).collect()
    }

    /// All were told to go on.
    pub fn go(&mut self) {
        self.said.iter_mut().for_each(|said| said.waits = None);
    }

    /// All wait for a word.
    pub fn waits(&self) -> bool {
        self.said.iter().any(|said| said.waits.is_some())
    }

    /// What there is to say now.
    pub fn events(&mut self) -> Vec<Event> {
        std::mem::take(&mut self.out)
    }

    /// All have taken their leave: the worst status, with its reason; none if one has not.
    pub fn bye(&self) -> Option<Bye> {
        const WORST: [ByeStatus; 5] =
            [ByeStatus::Stalled, ByeStatus::Refused, ByeStatus::Errors, ByeStatus::Stopped, ByeStatus::Ok];
        let byes: Option<Vec<&Bye>> = self.said.iter().map(|said| said.bye.as_ref()).collect();
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
        self.said[engine].hello = Some(hello);
        let all: Option<Vec<&Hello>> = self.said.iter().map(|said| said.hello.as_ref()).collect();
        let Some(all) = all.filter(|_| !self.greeted) else { return };
        self.greeted = true;
        let cpus = all.iter().map(|hello| hello.cpus).sum::<u32>();
        let mut one = all[0].clone();
        // Where a launcher has given each engine CPUs of its own they have all of them; else each has the same ones.
        one.cpus = cpus.min(one.cpus.max(online()));
        split::join(&mut one.job, all.len() as u32);
        self.most_samples = MOST_SAMPLES * (one.job.lanes as usize + 1) * one.job.phases.len();
        one.job.wait_for_go &= self.controlled;
        one.job_sha256.clone_from(&self.job_sha256);
        self.out.push(Event::Hello(one));
    }

    fn all_ready(&mut self) {
        let all: Option<Vec<&Ready>> = self.said.iter().map(|said| said.ready.as_ref()).collect();
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

    /// Says that all wait, if all do and for the same.
    fn meet(&mut self) {
        if self.stopping {
            return;
        }
        let place = |barrier: &Barrier| (barrier.step, barrier.phase);
        let waiting: Option<Vec<&Barrier>> = self.said.iter().map(|said| said.waits.as_ref()).collect();
        let Some(waiting) = waiting else { return };
        let (first, at_ns) = (waiting[0], waiting.iter().map(|barrier| barrier.at_ns).max().unwrap_or(0));
        let (step, phase) = place(first);
        if waiting.iter().all(|barrier| place(barrier) == (step, phase)) {
            let most = waiting.iter().filter_map(|barrier| barrier.most).max();
            self.out.push(Event::Barrier(Barrier { step, phase, most, at_ns }));
        } else if waiting.iter().any(|barrier| barrier.step == BarrierStep::Cleanup) {
            self.failing = true;
        }
    }

    fn phase(&mut self, number: u32) -> &mut Phase {
        let engines = self.said.len();
        self.phases.entry(number).or_insert_with(|| Phase {
            starts: vec![None; engines],
            started: false,
            ends: vec![None; engines],
            intervals: Intervals::new(engines),
        })
    }

    /// Says that the phase has started once each engine has begun it or will not.
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
        self.failing |= end.status == PhaseStatus::Failed;
        self.said[engine].failed |= end.status == PhaseStatus::Failed;
        let phase = self.phase(number);
        phase.ends[engine] = Some(end);
        let rest = phase.intervals.ended(engine);
        self.out.extend(rest.into_iter().map(Event::Interval));
        self.phase_started(number);
        let shared =
            self.said.iter().flat_map(|said| &said.hello).any(|hello| hello.job.layout == assay_spec::Layout::Shared);
        let phase = self.phase(number);
        if phase.ends.iter().all(Option::is_some) {
            let ends: Vec<PhaseEnd> = phase.ends.iter().flatten().cloned().collect();
            let starts: Vec<u64> =
                phase.starts.iter().map(|start| start.as_ref().map_or(0, |start| start.at_ns)).collect();
            let merged = end::merge(&ends, &starts, &phase.intervals, shared);
            // An engine that is late with an interval says so before its end: nothing more comes of this phase.
            self.phases.remove(&number);
            self.out.push(Event::PhaseEnd(merged));
        }
    }

    fn sample(&mut self, sample: ErrorSample) {
        self.samples += 1;
        if self.samples <= self.most_samples {
            self.out.push(Event::ErrorSample(sample));
        }
    }

    fn remark(&mut self, log: Log) {
        self.remarks += 1;
        if self.remarks <= MOST_REMARKS {
            self.out.push(Event::Log(log));
        }
    }
}

/// CPUs of the host that are online, however few this process may use.
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

/// An answer to a ping.
pub fn pong(ping: u64) -> Event {
    Event::Pong(assay_spec::Pong { ping, at_ns: clock::now() })
}

#[cfg(test)]
mod tests;
