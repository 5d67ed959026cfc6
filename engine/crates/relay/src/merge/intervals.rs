//! Sums of the intervals of several engines. They have the same grid: phases start together, on one clock.

use super::totals::{histogram, kinds, saturating_sum};
use assay_spec::{Interval, OpInterval, OpKind, PhaseEnd};
use std::collections::BTreeMap;

/// Intervals of one phase.
pub(crate) struct Intervals {
    /// Per engine, the number after its last interval; the maximum once it has ended the phase.
    next_index: Vec<u64>,
    waiting: BTreeMap<u64, Vec<Interval>>,
    /// Per engine, the intervals with the operations and bytes that count as progress.
    done: Vec<Vec<Done>>,
}

/// An engine's progress in an interval.
#[derive(Debug, Clone, Copy)]
struct Done {
    start_ns: u64,
    end_ns: u64,
    ops: u64,
    bytes: u64,
}

impl Intervals {
    pub(crate) fn new(engines: usize) -> Self {
        Intervals { next_index: vec![0; engines], waiting: BTreeMap::new(), done: vec![Vec::new(); engines] }
    }

    /// Add an interval; returns the sums of those that all engines have reported.
    pub(crate) fn take(&mut self, engine: usize, interval: Interval) -> Vec<Interval> {
        let moving = |part: &&OpInterval| matches!(part.operation, OpKind::Read | OpKind::Write);
        let data = interval.operations.iter().any(|part| moving(&part));
        let progress = interval.operations.iter().filter(|part| !data || moving(part));
        self.done[engine].push(Done {
            start_ns: interval.start_ns,
            end_ns: interval.end_ns,
            ops: progress.map(|part| part.ops).sum(),
            bytes: interval.operations.iter().map(|part| part.bytes).sum(),
        });
        self.next_index[engine] = self.next_index[engine].max(interval.index + 1);
        self.waiting.entry(interval.index).or_default().push(interval);
        self.take_complete()
    }

    /// Note that an engine has ended the phase; returns the intervals that are complete now.
    pub(crate) fn end_engine(&mut self, engine: usize) -> Vec<Interval> {
        self.next_index[engine] = u64::MAX;
        self.take_complete()
    }

    fn take_complete(&mut self) -> Vec<Interval> {
        let next_index = self.next_index.iter().copied().min().unwrap_or(0);
        let rest = if next_index == u64::MAX { BTreeMap::new() } else { self.waiting.split_off(&next_index) };
        std::mem::replace(&mut self.waiting, rest).into_values().map(|parts| sum_intervals(&parts)).collect()
    }

    /// Operations and bytes that an engine had completed at a moment of its phase: linear within an interval, and exact
    /// at its last lane's end, like `done_by` of the workbench's `analyse/ranks.py`.
    pub(crate) fn done_by(&self, engine: usize, end: &PhaseEnd, moment_ns: i64) -> (u64, u64) {
        let last = &end.last_finisher;
        if moment_ns >= last.end_ns as i64 {
            return (last.ops, last.bytes);
        }
        let (mut ops, mut bytes) = (0.0, 0.0);
        for done in &self.done[engine] {
            let length = done.end_ns.min(last.end_ns) as i64 - done.start_ns as i64;
            let passed = moment_ns - done.start_ns as i64;
            let share = if length > 0 {
                (passed as f64 / length as f64).clamp(0.0, 1.0)
            } else {
                f64::from(u8::from(passed >= 0))
            };
            ops += share * done.ops as f64;
            bytes += share * done.bytes as f64;
        }
        (ops.round() as u64, bytes.round() as u64)
    }
}

fn sum_intervals(parts: &[Interval]) -> Interval {
    let all = || parts.iter().flat_map(|part| &part.operations);
    let of_kind = |kind| {
        let same: Vec<&OpInterval> = all().filter(|part| part.operation == kind).collect();
        OpInterval {
            operation: kind,
            ops: saturating_sum(same.iter().map(|part| part.ops)),
            bytes: saturating_sum(same.iter().map(|part| part.bytes)),
            errors: saturating_sum(same.iter().map(|part| part.errors)),
            latency: histogram(same.iter().filter_map(|part| part.latency.as_deref())).encoded(),
            first_byte: histogram(same.iter().filter_map(|part| part.first_byte.as_deref())).encoded(),
        }
    };
    Interval {
        end_ns: parts.iter().map(|part| part.end_ns).max().unwrap_or(0),
        operations: kinds(all().map(|part| part.operation)).into_iter().map(of_kind).collect(),
        earlier: parts.iter().flat_map(|part| part.earlier.iter().copied()).collect(),
        ..parts[0].clone()
    }
}
