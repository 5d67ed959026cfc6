//! A phase's totals from its lanes.

use crate::histogram::{Histogram, Merged};
use crate::interval::{op_counts, sum, Counts};
use crate::outcome::LaneOutcome;
use crate::phase::{Moment, PhaseShared};
use crate::runner::Work;
use assay_core::fault_name;
use assay_spec::{
    ErrorCount, ErrorKind, Fault, HostConnections, LaneResult, Phase, PhaseEnd, PhaseStatus, Resources, ServiceUse,
    Stonewall, Window,
};
use std::collections::BTreeMap;
use std::ops::Add;

/// Progress of all lanes when `moment` came.
fn progress_at(outcomes: &[(u32, &LaneOutcome)], moment: Moment) -> Counts {
    sum(outcomes.iter().map(|(_, lane)| lane.at_moment[moment as usize].unwrap_or_else(|| lane.progress())))
}

fn window(start_ns: u64, end_ns: u64, from: Counts, to: Counts) -> Window {
    Window { start_ns, end_ns, ops: to.ops.saturating_sub(from.ops), bytes: to.bytes.saturating_sub(from.bytes) }
}

/// The event that ends a phase which started at `start`; the resources are left empty.
pub(crate) fn of(
    number: u32,
    phase: &Phase,
    status: PhaseStatus,
    start: u64,
    shared: &PhaseShared,
    work: &Work,
) -> PhaseEnd {
    let since = |time: u64| time.saturating_sub(start);
    let outcomes: Vec<(u32, &LaneOutcome)> =
        (work.first_lane..).zip(&work.outcomes).filter_map(|(lane, outcome)| Some((lane, outcome.as_ref()?))).collect();
    let total = work.timeline.progress();
    let last = outcomes.iter().map(|(_, lane)| since(lane.end)).max().unwrap_or(0);
    let first = shared.time(Moment::FirstEnd).map_or(last, since);
    let begun = shared.time(Moment::AllBegun).map(since);
    let out = shared.time(Moment::FirstOut).map(since);
    let steady = match (begun, out) {
        (Some(begun), Some(out)) if out > begun => {
            let from = progress_at(&outcomes, Moment::AllBegun);
            Some(window(begun, out, from, progress_at(&outcomes, Moment::FirstOut)))
        }
        _ => None,
    };
    let starts = || outcomes.iter().map(|(_, lane)| lane.start);
    PhaseEnd {
        phase: number,
        operation: phase.operation,
        measured: phase.measured,
        status,
        operations: work.timeline.totals(),
        last_finisher: window(0, last, Counts::default(), total),
        first_finisher: window(0, first, Counts::default(), progress_at(&outcomes, Moment::FirstEnd)),
        steady,
        stonewall: None,
        start_skew_ns: starts().max().unwrap_or(0) - starts().min().unwrap_or(0),
        start_delay: work.timeline.delay().summary(),
        errors: errors(&outcomes),
        target_per_s: phase.rate_per_s,
        unstarted_ops: outcomes.iter().fold(0, |sum, (_, lane)| sum.saturating_add(lane.unstarted)),
        verified_bytes: outcomes.iter().fold(0, |sum, (_, lane)| sum.saturating_add(lane.verified_bytes)),
        cache_done: String::new(),
        cached_bytes: None,
        wall_shift_ns: 0,
        watch: None,
        connections: connections(&outcomes),
        service: service(&outcomes),
        lanes: outcomes.iter().map(|(lane, outcome)| result(*lane, outcome, start)).collect(),
        resources: Resources::default(),
    }
}

/// Progress at the time limit of the lanes of a phase that wears out, of which the furthest of all engines had done
/// `most`; None for other phases.
pub(crate) fn stonewall(work: &Work, start: u64, most: Option<u64>) -> Option<Stonewall> {
    let at: Vec<(u64, Counts)> = work.outcomes.iter().flatten().filter_map(|lane| lane.at_limit).collect();
    let end = at.iter().map(|(time, _)| time.saturating_sub(start)).max()?;
    let done = sum(at.iter().map(|(_, counts)| *counts));
    let min_ops = at.iter().map(|(_, counts)| counts.ops).min().unwrap_or(0);
    Some(Stonewall { window: window(0, end, Counts::default(), done), min_ops, max_ops: most? })
}

/// Connections of all lanes, host by host, in the target's order.
fn connections(outcomes: &[(u32, &LaneOutcome)]) -> Vec<HostConnections> {
    let mut all: Vec<(HostConnections, Merged)> = Vec::new();
    for counts in outcomes.iter().flat_map(|(_, lane)| &lane.hosts) {
        let known = all.iter().position(|(host, _)| host.host == counts.host);
        let place = known.unwrap_or_else(|| {
            let host = HostConnections { host: counts.host.clone(), ..HostConnections::default() };
            all.push((host, Merged::default()));
            all.len() - 1
        });
        let (host, setup) = &mut all[place];
        host.requests += counts.requests;
        host.opened += counts.opened;
        host.refused += counts.refused;
        host.closed += counts.closed;
        host.max_requests = host.max_requests.max(counts.max_requests);
        let mut times = Histogram::default();
        counts.setup_ns.iter().for_each(|ns| times.record(*ns));
        setup.add(&times.take());
    }
    all.into_iter().map(|(host, setup)| HostConnections { setup: setup.summary(), ..host }).collect()
}

/// What the service reported to all lanes.
fn service(outcomes: &[(u32, &LaneOutcome)]) -> Option<ServiceUse> {
    outcomes.iter().filter_map(|(_, lane)| lane.service).reduce(ServiceUse::add)
}

fn errors(outcomes: &[(u32, &LaneOutcome)]) -> Vec<ErrorCount> {
    let mut all = BTreeMap::new();
    for (key, count) in outcomes.iter().flat_map(|(_, lane)| &lane.errors) {
        *all.entry(*key).or_insert(0) += count;
    }
    all.into_iter().map(|((kind, fault), count)| error_count(kind, fault, count)).collect()
}

/// The count of failures with one reason.
pub(crate) fn error_count(kind: ErrorKind, fault: Option<Fault>, count: u64) -> ErrorCount {
    ErrorCount { kind, fault, name: fault.and_then(fault_name).map(str::to_owned), count }
}

fn result(lane: u32, outcome: &LaneOutcome, start: u64) -> LaneResult {
    LaneResult {
        lane,
        start_ns: outcome.start.saturating_sub(start),
        end_ns: outcome.end.saturating_sub(start),
        sync_ns: outcome.sync_ns,
        operations: op_counts(&outcome.totals),
        cpu_wait_ns: outcome.cpu_wait_ns,
    }
}
