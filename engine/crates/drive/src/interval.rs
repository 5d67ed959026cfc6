//! Intervals: collected by lanes, added up and reported by the coordinator.

use crate::histogram::{Histogram, Merged, Sparse};
use assay_core::OpKind;
use assay_spec::{Counts, Interval};
use std::collections::BTreeMap;

/// What is counted apart: reads, writes, metadata operations.
pub(crate) const CLASSES: usize = 3;
pub(crate) const READ: usize = 0;
pub(crate) const WRITE: usize = 1;
pub(crate) const META: usize = 2;

/// The class in which an operation is counted.
#[inline]
pub(crate) fn class(kind: OpKind) -> usize {
    match kind {
        OpKind::Read => READ,
        OpKind::Write => WRITE,
        _ => META,
    }
}

/// Operations and bytes by class.
pub(crate) type Totals = [Counts; CLASSES];

pub(crate) fn sum(parts: impl IntoIterator<Item = Counts>) -> Counts {
    let add = |total: Counts, part: Counts| Counts {
        ops: total.ops.saturating_add(part.ops),
        // Memory that is only pretended to be moved adds up to 64 bits in minutes.
        bytes: total.bytes.saturating_add(part.bytes),
    };
    parts.into_iter().fold(Counts::default(), add)
}

pub(crate) fn add(totals: &mut Totals, more: &Totals) {
    for (total, part) in totals.iter_mut().zip(more) {
        total.ops = total.ops.saturating_add(part.ops);
        total.bytes = total.bytes.saturating_add(part.bytes);
    }
}

/// One lane's completions of one interval.
pub(crate) struct LaneInterval {
    pub(crate) counts: Totals,
    errors: u64,
    latency: [Sparse; CLASSES],
    delay: Sparse,
}

/// Collects a lane's current interval.
#[derive(Default)]
pub(crate) struct Collector {
    pub(crate) counts: Totals,
    pub(crate) errors: u64,
    pub(crate) latency: [Histogram; CLASSES],
    /// Open loop: from the intended start to the submission.
    pub(crate) delay: Histogram,
}

impl Collector {
    /// Operations and bytes of all classes.
    pub(crate) fn progress(&self) -> Counts {
        sum(self.counts)
    }

    /// What was collected, and start anew; none if nothing was.
    pub(crate) fn take(&mut self) -> Option<LaneInterval> {
        if self.progress().ops + self.errors == 0 {
            return None;
        }
        Some(LaneInterval {
            counts: std::mem::take(&mut self.counts),
            errors: std::mem::take(&mut self.errors),
            latency: self.latency.each_mut().map(Histogram::take),
            delay: self.delay.take(),
        })
    }
}

#[derive(Default)]
struct Sum {
    counts: Totals,
    errors: u64,
    latency: [Merged; CLASSES],
}

impl Sum {
    fn add(&mut self, part: &LaneInterval) {
        add(&mut self.counts, &part.counts);
        self.errors += part.errors;
        for (merged, sparse) in self.latency.iter_mut().zip(&part.latency) {
            merged.add(sparse);
        }
    }
}

/// Adds up the lanes' intervals, and the phase's totals from the same parts.
pub(crate) struct Timeline {
    phase: u32,
    interval_ns: u64,
    open: BTreeMap<u64, Sum>,
    total: Sum,
    delay: Merged,
}

impl Timeline {
    pub(crate) fn new(phase: u32, interval_ns: u64) -> Self {
        Timeline { phase, interval_ns, open: BTreeMap::new(), total: Sum::default(), delay: Merged::default() }
    }

    pub(crate) fn add(&mut self, index: u64, part: &LaneInterval) {
        self.open.entry(index).or_default().add(part);
        self.total.add(part);
        self.delay.add(&part.delay);
    }

    /// Intervals that ended before `elapsed` nanoseconds into the phase; all with none.
    pub(crate) fn take(&mut self, elapsed: Option<u64>) -> Vec<Interval> {
        let later = match elapsed {
            Some(ns) => self.open.split_off(&(ns / self.interval_ns)),
            None => BTreeMap::new(),
        };
        let ready = std::mem::replace(&mut self.open, later);
        ready.into_iter().map(|(index, sum)| self.event(index, &sum)).collect()
    }

    fn event(&self, index: u64, sum: &Sum) -> Interval {
        Interval {
            phase: self.phase,
            index,
            start_ns: index * self.interval_ns,
            end_ns: (index + 1) * self.interval_ns,
            read: sum.counts[READ],
            write: sum.counts[WRITE],
            meta: sum.counts[META],
            errors: sum.errors,
            read_histogram: sum.latency[READ].encoded(),
            write_histogram: sum.latency[WRITE].encoded(),
            meta_histogram: sum.latency[META].encoded(),
        }
    }

    /// Reads, writes and metadata operations of the phase.
    pub(crate) fn counts(&self) -> Totals {
        self.total.counts
    }

    /// Latencies of a class.
    pub(crate) fn latency(&self, class: usize) -> &Merged {
        &self.total.latency[class]
    }

    /// From intended starts to submissions.
    pub(crate) fn delay(&self) -> &Merged {
        &self.delay
    }
}
