//! Intervals: collected by lanes, added up and reported by the coordinator.

use crate::histogram::{Histogram, Merged, Sparse};
use assay_spec::{Counts, Interval};
use std::collections::BTreeMap;

/// One lane's completions of one interval.
#[derive(Default)]
pub(crate) struct LaneInterval {
    read: Counts,
    write: Counts,
    errors: u64,
    read_latency: Sparse,
    write_latency: Sparse,
}

/// Collects a lane's current interval.
#[derive(Default)]
pub(crate) struct Collector {
    pub(crate) read: Counts,
    pub(crate) write: Counts,
    pub(crate) errors: u64,
    pub(crate) read_latency: Histogram,
    pub(crate) write_latency: Histogram,
}

impl Collector {
    /// One more batch might overflow a bucket's 32 bits.
    #[inline]
    pub(crate) fn is_full(&self) -> bool {
        self.read.ops + self.write.ops > 1 << 31
    }

    /// What was collected, and start anew; none if nothing was.
    pub(crate) fn take(&mut self) -> Option<LaneInterval> {
        if self.read.ops + self.write.ops + self.errors == 0 {
            return None;
        }
        Some(LaneInterval {
            read: std::mem::take(&mut self.read),
            write: std::mem::take(&mut self.write),
            errors: std::mem::take(&mut self.errors),
            read_latency: self.read_latency.take(),
            write_latency: self.write_latency.take(),
        })
    }
}

#[derive(Default)]
struct Sum {
    read: Counts,
    write: Counts,
    errors: u64,
    read_latency: Merged,
    write_latency: Merged,
}

fn add(sum: &mut Counts, more: Counts) {
    sum.ops += more.ops;
    sum.bytes += more.bytes;
}

impl Sum {
    fn add(&mut self, part: &LaneInterval) {
        add(&mut self.read, part.read);
        add(&mut self.write, part.write);
        self.errors += part.errors;
        self.read_latency.add(&part.read_latency);
        self.write_latency.add(&part.write_latency);
    }
}

/// Adds up the lanes' intervals, and the phase's totals from the same parts.
pub(crate) struct Timeline {
    phase: u32,
    interval_ns: u64,
    open: BTreeMap<u64, Sum>,
    total: Sum,
}

impl Timeline {
    pub(crate) fn new(phase: u32, interval_ns: u64) -> Self {
        Timeline { phase, interval_ns, open: BTreeMap::new(), total: Sum::default() }
    }

    pub(crate) fn add(&mut self, index: u64, part: &LaneInterval) {
        self.open.entry(index).or_default().add(part);
        self.total.add(part);
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
            read: sum.read,
            write: sum.write,
            errors: sum.errors,
            read_histogram: sum.read_latency.encoded(),
            write_histogram: sum.write_latency.encoded(),
        }
    }

    /// Reads and writes of the phase.
    pub(crate) fn counts(&self) -> (Counts, Counts) {
        (self.total.read, self.total.write)
    }

    pub(crate) fn read_latency(&self) -> &Merged {
        &self.total.read_latency
    }

    pub(crate) fn write_latency(&self) -> &Merged {
        &self.total.write_latency
    }
}
