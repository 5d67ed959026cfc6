//! Counts and times of a replay.

use crate::record::Action;
use assay_drive::histogram::{Histogram, Merged};
use assay_spec::{RecordedOps, ReplayDifference, ReplayedOps};
use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

/// Most differences that are reported one by one.
const MAX_SAMPLES: usize = 20;
/// Most bytes of a difference's message and name.
const MAX_WORDS: usize = 300;
/// Operations that a thread counts before it adds them to those of all.
const AT_ONCE: usize = 256;
/// Operations whose histograms are merged before the counts of a bucket could overflow.
const BEFORE_MERGE: u64 = 1 << 31;

/// An operation that has ended.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Timed {
    pub(crate) action: Action,
    /// It failed, as it did when it was recorded.
    pub(crate) failed: bool,
    pub(crate) bytes: u64,
    /// From when it was due until its end; None if the pace has no times.
    pub(crate) latency: Option<u64>,
    /// Nanoseconds from its start to its end.
    pub(crate) service: u64,
    /// Monotonic time of its end.
    pub(crate) end: u64,
}

#[derive(Default)]
struct Kind {
    count: u64,
    failed: u64,
    bytes: u64,
    spent: u64,
    service: Histogram,
    latency: Histogram,
    all_service: Merged,
    all_latency: Merged,
}

impl Kind {
    fn add(&mut self, timed: &Timed) {
        self.count += 1;
        self.failed += u64::from(timed.failed);
        self.bytes += timed.bytes;
        self.spent = self.spent.saturating_add(timed.service);
        self.service.record(timed.service);
        if let Some(latency) = timed.latency {
            self.latency.record(latency);
        }
        if self.count.is_multiple_of(BEFORE_MERGE) {
            self.merge();
        }
    }

    fn merge(&mut self) {
        self.all_service.add(&self.service.take());
        self.all_latency.add(&self.latency.take());
    }
}

#[derive(Default)]
struct All {
    /// By number of the action.
    kinds: [Option<Box<Kind>>; Action::ALL.len()],
    last_end: u64,
    max_delay: u64,
    opened: u64,
    differences: u64,
    samples: Vec<ReplayDifference>,
}

/// Counts of all threads.
#[derive(Default)]
pub(crate) struct Tally(Mutex<All>);

/// What a tally has at the end.
pub(crate) struct Totals {
    pub(crate) operations: BTreeMap<String, ReplayedOps>,
    pub(crate) last_end: u64,
    pub(crate) max_delay: u64,
    pub(crate) opened: u64,
    pub(crate) differences: u64,
    pub(crate) samples: Vec<ReplayDifference>,
}

fn short(text: &str) -> String {
    text.chars().take(MAX_WORDS).collect()
}

impl Tally {
    fn all(&self) -> std::sync::MutexGuard<'_, All> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Count a file that was opened because the trace does not say when.
    pub(crate) fn opened(&self) {
        self.all().opened += 1;
    }

    /// Count an operation that ended otherwise than recorded.
    pub(crate) fn differs(&self, line: u64, action: Action, file: &str, message: &str) {
        let mut all = self.all();
        all.differences += 1;
        if all.samples.len() < MAX_SAMPLES {
            let operation = action.name().to_owned();
            all.samples.push(ReplayDifference { line, operation, file: short(file), message: short(message) });
        }
    }

    /// All counts, beside what was recorded by number of the action.
    pub(crate) fn totals(&self, recorded: &[RecordedOps]) -> Totals {
        let mut all = self.all();
        let mut operations = BTreeMap::new();
        for (action, kind) in Action::ALL.iter().zip(&mut all.kinds) {
            let Some(kind) = kind else { continue };
            kind.merge();
            let Some(service) = kind.all_service.summary() else { continue };
            let counted = ReplayedOps {
                count: kind.count,
                failed: kind.failed,
                bytes: kind.bytes,
                recorded_ns: recorded[*action as usize].recorded_ns,
                replayed_ns: kind.spent,
                service,
                latency: kind.all_latency.summary(),
            };
            operations.insert(action.name().to_owned(), counted);
        }
        Totals {
            operations,
            last_end: all.last_end,
            max_delay: all.max_delay,
            opened: all.opened,
            differences: all.differences,
            samples: all.samples.clone(),
        }
    }
}

/// Counts of one thread, which it adds to those of all from time to time.
pub(crate) struct Counter<'a> {
    tally: &'a Tally,
    timed: Vec<Timed>,
}

impl<'a> Counter<'a> {
    pub(crate) fn new(tally: &'a Tally) -> Self {
        Counter { tally, timed: Vec::with_capacity(AT_ONCE) }
    }

    pub(crate) fn add(&mut self, timed: Timed) {
        self.timed.push(timed);
        if self.timed.len() >= AT_ONCE {
            self.flush();
        }
    }

    /// Add what was counted to the counts of all.
    pub(crate) fn flush(&mut self) {
        if self.timed.is_empty() {
            return;
        }
        let mut all = self.tally.all();
        for timed in &self.timed {
            all.kinds[timed.action as usize].get_or_insert_default().add(timed);
            all.last_end = all.last_end.max(timed.end);
            all.max_delay = all.max_delay.max(timed.latency.unwrap_or(0).saturating_sub(timed.service));
        }
        drop(all);
        self.timed.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_threads_count_is_added() {
        let tally = Tally::default();
        std::thread::scope(|scope| {
            for thread in 0..2_u64 {
                let tally = &tally;
                scope.spawn(move || {
                    let mut counter = Counter::new(tally);
                    for number in 0..300 {
                        let latency = Some(number + 7);
                        let (action, failed) = (Action::Read, number == 0);
                        counter.add(Timed { action, failed, bytes: 10, latency, service: number, end: thread * 1000 });
                    }
                    counter.flush();
                });
            }
        });
        for line in 0..30 {
            tally.differs(line, Action::Stat, "a", "why");
        }
        let totals = tally.totals(&[RecordedOps { recorded_ns: 5, ..RecordedOps::default() }; Action::ALL.len()]);
        let reads = &totals.operations["read"];
        assert_eq!((reads.count, reads.failed, reads.bytes, reads.recorded_ns), (600, 2, 6000, 5));
        assert_eq!((reads.replayed_ns, reads.service.count), (2 * 299 * 300 / 2, 600));
        assert_eq!(reads.latency.as_ref().map(|latency| latency.min_ns), Some(7));
        assert_eq!((totals.last_end, totals.max_delay, totals.differences), (1000, 7, 30));
        assert_eq!(totals.samples.len(), MAX_SAMPLES);
    }
}
