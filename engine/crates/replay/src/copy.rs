//! One copy of a trace that is replayed.

use crate::contents::{Contents, Maker};
use crate::crew::Crew;
use crate::descriptors::Borrowed;
use crate::reader::Reader;
use crate::survey::Survey;
use crate::tally::{Tally, Totals};
use crate::trace::Trace;
use crate::worker::Worker;
use assay_core::{heartbeat, SetupError};
use assay_spec::Pace;
use rustix::fd::OwnedFd;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{Builder, Scope};

/// Stack of a thread.
const STACK_BYTES: usize = 256 << 10;

/// When the operations of a trace start.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Pacing {
    pub(crate) pace: Pace,
    /// Recorded times are divided by this.
    pub(crate) rate: f64,
}

/// What the threads of a copy have in common.
pub(crate) struct CopyRun<'a> {
    pub(crate) survey: &'a Survey,
    pub(crate) maker: &'a Maker,
    pub(crate) contents: Contents,
    pub(crate) borrowed: Borrowed,
    pub(crate) tally: Tally,
    pub(crate) crew: Crew,
    pub(crate) folder: OwnedFd,
    pub(crate) lane: u32,
    pacing: Pacing,
    pulses: Mutex<Vec<Arc<AtomicU64>>>,
}

impl<'a> CopyRun<'a> {
    /// The copy of a lane, in its directory `folder`.
    pub(crate) fn new(
        survey: &'a Survey,
        maker: &'a Maker,
        folder: OwnedFd,
        lane: u32,
        pacing: Pacing,
        verify: bool,
    ) -> Self {
        CopyRun {
            survey,
            maker,
            contents: Contents::new(&survey.files, verify),
            borrowed: Borrowed::default(),
            tally: Tally::default(),
            crew: Crew::new(survey.files.len(), survey.max_live),
            folder,
            lane,
            pacing,
            pulses: Mutex::default(),
        }
    }

    /// A sign of life of a new thread.
    pub(crate) fn new_pulse(&self) -> Arc<AtomicU64> {
        let pulse = Arc::new(AtomicU64::new(0));
        self.pulses.lock().unwrap_or_else(PoisonError::into_inner).push(Arc::clone(&pulse));
        pulse
    }

    /// When an operation with a recorded start is due; None if the pace has no times.
    pub(crate) fn due(&self, start: u64) -> Option<u64> {
        let Pacing { pace, rate } = self.pacing;
        let after = if (rate - 1.0).abs() < f64::EPSILON { start } else { (start as f64 / rate) as u64 };
        (pace == Pace::Recorded).then(|| self.crew.begin().saturating_add(after))
    }

    /// Replay the trace at a path; returns when it began, and its counts.
    ///
    /// # Errors
    /// If the trace cannot be read any more, or the job is to stop.
    pub(crate) fn run(&self, path: &str) -> Result<(u64, Totals), SetupError> {
        let mut trace = Trace::open(path)?;
        std::thread::scope(|scope| {
            let reader = Builder::new().name("reader".to_owned()).stack_size(STACK_BYTES);
            let started = reader.spawn_scoped(scope, move || {
                let more = || self.spawn(scope);
                if let Err(error) = Reader::new(&self.crew, self.survey, &more).read(&mut trace) {
                    self.crew.fail(error);
                }
            });
            if let Err(error) = started {
                self.crew.fail(SetupError::new("start", "reader", error.to_string()));
            }
            self.watch();
        });
        match self.crew.failure() {
            Some(error) => Err(error),
            None => Ok((self.crew.begin(), self.tally.totals(&self.survey.recorded))),
        }
    }

    /// Start another thread that takes tasks.
    fn spawn<'scope>(&'scope self, scope: &'scope Scope<'scope, '_>) {
        let builder = Builder::new().name("task".to_owned()).stack_size(STACK_BYTES);
        let started = builder.spawn_scoped(scope, move || {
            // SAFETY: PR_SET_TIMERSLACK takes a number and touches no memory.
            unsafe { libc::prctl(libc::PR_SET_TIMERSLACK, 1_u64, 0_u64, 0_u64, 0_u64) };
            Worker::new(self).serve(&|| self.spawn(scope));
        });
        if let Err(error) = started {
            let message = format!("{error}: the trace has {} tasks at a time", self.survey.max_live);
            self.crew.fail(SetupError::new("start", "a task of the trace", message));
        }
    }

    /// Wait until all is over. As long as something ends, or nothing is in a call, the storage does not hang.
    fn watch(&self) {
        let mut before = 0;
        while !self.crew.is_over() {
            if heartbeat::stopping_ns().is_some() {
                self.crew.fail(SetupError::new("replay", "the trace", "stopped from outside"));
                return;
            }
            let pulses = self.pulses.lock().unwrap_or_else(PoisonError::into_inner);
            let now: Vec<u64> = pulses.iter().map(|pulse| pulse.load(Ordering::Relaxed)).collect();
            drop(pulses);
            let sum = now.iter().fold(0_u64, |sum, beats| sum.wrapping_add(*beats));
            if sum != before || now.iter().all(|beats| beats % 2 == 0) {
                heartbeat::beat();
            }
            before = sum;
        }
    }
}
