//! The end of a phase, as if one engine had had all lanes.

use super::intervals::Intervals;
use super::totals::{connections, errors, latency, operations, resources, saturating_sum, sum_if_known, watch};
use assay_spec::{LaneResult, PhaseEnd, PhaseStatus, ServiceUse, Stonewall, Window};
use std::ops::Add;

/// Statuses, the worst first.
const WORST: [PhaseStatus; 5] =
    [PhaseStatus::Failed, PhaseStatus::Stopped, PhaseStatus::Skipped, PhaseStatus::TimeLimit, PhaseStatus::Done];

/// Merge the ends of all engines.
///
/// `starts` is the time at which each started the phase (0: it did not); `shared`: all work on one file.
pub(crate) fn merge(ends: &[PhaseEnd], starts: &[u64], intervals: &Intervals, shared: bool) -> PhaseEnd {
    let place = |end: &&PhaseEnd| WORST.iter().position(|status| *status == end.status);
    let worst = ends.iter().min_by_key(place).expect("there is at least one engine");
    let failures = errors(ends.iter().flat_map(|end| &end.errors));
    if ends.iter().any(|end| end.lanes.is_empty()) {
        // One engine has done nothing at all: there is no common work.
        let nothing = ends.iter().find(|end| end.lanes.is_empty()).unwrap_or(worst);
        return PhaseEnd { status: worst.status, errors: failures, ..nothing.clone() };
    }
    let origin = starts.iter().copied().min().unwrap_or(0);
    let shifts: Vec<i64> = starts.iter().map(|start| (start - origin) as i64).collect();
    let all = Together { ends, shifts: &shifts, intervals };
    let lanes = all.lanes();
    let begun = || lanes.iter().map(|lane| lane.start_ns);
    let last = lanes.iter().map(|lane| lane.end_ns).max().unwrap_or(0);
    let first = lanes.iter().map(|lane| lane.end_ns).min().unwrap_or(0);
    let cached = ends.iter().map(|end| end.cached_bytes);
    PhaseEnd {
        status: worst.status,
        operations: operations(&ends.iter().map(|end| &end.operations[..]).collect::<Vec<_>>()),
        last_finisher: Window {
            start_ns: 0,
            end_ns: last,
            ops: saturating_sum(ends.iter().map(|end| end.last_finisher.ops)),
            bytes: saturating_sum(ends.iter().map(|end| end.last_finisher.bytes)),
        },
        first_finisher: all.window(0, first),
        stonewall: all.stonewall(),
        steady: all.steady(),
        start_skew_ns: begun().max().unwrap_or(0) - begun().min().unwrap_or(0),
        start_delay: latency(ends.iter().map(|end| end.start_delay.as_ref())),
        errors: failures,
        unstarted_ops: saturating_sum(ends.iter().map(|end| end.unstarted_ops)),
        verified_bytes: saturating_sum(ends.iter().map(|end| end.verified_bytes)),
        // The same file is in the same page cache for all.
        cached_bytes: if shared { cached.max().flatten() } else { sum_if_known(cached) },
        wall_shift_ns: ends.iter().map(|end| end.wall_shift_ns).max_by_key(|shift| shift.unsigned_abs()).unwrap_or(0),
        watch: watch(&ends.iter().map(|end| end.watch.as_ref()).collect::<Vec<_>>()),
        connections: connections(ends.iter().flat_map(|end| &end.connections)),
        service: ends.iter().filter_map(|end| end.service).reduce(ServiceUse::add),
        resources: resources(&ends.iter().map(|end| &end.resources).collect::<Vec<_>>()),
        lanes,
        ..ends[0].clone()
    }
}

/// The ends of engines on a time axis that starts with the first of them.
struct Together<'a> {
    ends: &'a [PhaseEnd],
    shifts: &'a [i64],
    intervals: &'a Intervals,
}

impl Together<'_> {
    fn lanes(&self) -> Vec<LaneResult> {
        let moved = |lane: &LaneResult, shift: i64| LaneResult {
            start_ns: lane.start_ns.saturating_add_signed(shift),
            end_ns: lane.end_ns.saturating_add_signed(shift),
            ..lane.clone()
        };
        self.ends
            .iter()
            .zip(self.shifts)
            .flat_map(|(end, shift)| end.lanes.iter().map(|lane| moved(lane, *shift)))
            .collect()
    }

    fn done_by(&self, moment_ns: u64) -> (u64, u64) {
        let parts = self.ends.iter().zip(self.shifts).enumerate();
        parts.fold((0, 0), |(ops, bytes), (engine, (end, shift))| {
            let (more, moved) = self.intervals.done_by(engine, end, moment_ns as i64 - shift);
            (u64::saturating_add(ops, more), u64::saturating_add(bytes, moved))
        })
    }

    fn window(&self, start_ns: u64, end_ns: u64) -> Window {
        let ((ops, bytes), (ops_before, bytes_before)) = (self.done_by(end_ns), self.done_by(start_ns));
        Window { start_ns, end_ns, ops: ops.saturating_sub(ops_before), bytes: bytes.saturating_sub(bytes_before) }
    }

    /// The progress at the time limit of a phase that wears out; None unless all reached it.
    fn stonewall(&self) -> Option<Stonewall> {
        let walls: Vec<Stonewall> = self.ends.iter().map(|end| end.stonewall).collect::<Option<Vec<_>>>()?;
        let last = walls.iter().zip(self.shifts).map(|(wall, shift)| wall.window.end_ns.saturating_add_signed(*shift));
        Some(Stonewall {
            window: Window {
                start_ns: 0,
                end_ns: last.max()?,
                ops: saturating_sum(walls.iter().map(|wall| wall.window.ops)),
                bytes: saturating_sum(walls.iter().map(|wall| wall.window.bytes)),
            },
            min_ops: walls.iter().map(|wall| wall.min_ops).min()?,
            max_ops: walls.iter().map(|wall| wall.max_ops).max()?,
        })
    }

    /// The window in which every lane of every engine worked.
    fn steady(&self) -> Option<Window> {
        let moved = self.ends.iter().zip(self.shifts).map(|(end, shift)| {
            let steady = end.steady?;
            Some((steady.start_ns.saturating_add_signed(*shift), steady.end_ns.saturating_add_signed(*shift)))
        });
        let windows: Vec<(u64, u64)> = moved.collect::<Option<Vec<_>>>()?;
        let start = windows.iter().map(|(start, _)| *start).max()?;
        let end = windows.iter().map(|(_, end)| *end).min()?;
        (start < end).then(|| self.window(start, end))
    }
}
