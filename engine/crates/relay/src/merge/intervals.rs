//! Intervals of several engines added up. They lie on the same grid: phases start together, on one clock.

use super::totals::{added, histogram, kinds};
use assay_spec::{Interval, OpInterval, OpKind, PhaseEnd};
use std::collections::BTreeMap;

/// Intervals of one phase.
pub(crate) struct Intervals {
    /// Of each engine the number of the interval behind its last; all when it has ended the phase.
    upto: Vec<u64>,
    waiting: BTreeMap<u64, Vec<Interval>>,
    /// What was done, of each engine: start, end, operations and bytes that count as progress.
    done: Vec<Vec<Done>>,
}

/// What an engine did in an interval.
#[derive(Debug, Clone, Copy)]
struct Done {
    start_ns: u64,
    end_ns: u64,
    ops: u64,
    bytes: u64,
}

impl Intervals {
    pub(crate) fn new(engines: usize) -> Self {
        Intervals { upto: vec![0; engines], waiting: BTreeMap::new(), done: vec![Vec::new(); engines] }
    }

    /// Takes one; those that all engines have told of are returned, added up.
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
        self.upto[engine] = self.upto[engine].max(interval.index + 1);
        self.waiting.entry(interval.index).or_default().push(interval);
        self.whole()
    }

    /// An engine has ended the phase.
    pub(crate) fn ended(&mut self, engine: usize) -> Vec<Interval> {
        self.upto[engine] = u64::MAX;
        self.whole()
    }

    fn whole(&mut self) -> Vec<Interval> {
        let upto = self.upto.iter().copied().min().unwrap_or(0);
        let rest = if upto == u64::MAX { BTreeMap::new() } else { self.waiting.split_off(&upto) };
        std::mem::replace(&mut self.waiting, rest).into_values().map(|parts| added_up(&parts)).collect()
    }

    /// Operations and bytes that an engine had completed at a moment of its phase: linear within an interval, and exact at
    /// its own last lane's end. As `done_by` of the workbench's `analyse/ranks.py`.
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

fn added_up(parts: &[Interval]) -> Interval {
    let all = || parts.iter().flat_map(|part| &part.operations);
    let of_kind = |kind| {
        let same: Vec<&OpInterval> = all().filter(|part| part.operation == kind).collect();
        OpInterval {
            operation: kind,
            ops: added(same.iter().map(|part| part.ops)),
            bytes: added(same.iter().map(|part| part.bytes)),
            errors: added(same.iter().map(|part| part.errors)),
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
