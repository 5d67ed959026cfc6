//! Merged events of several engines: moments, sums, barriers, and which engines are stopped.

use super::end::merge;
use super::intervals::Intervals;
use super::Merger;
use assay_spec::{Bye, ByeStatus, Event, Interval, PhaseEnd, PhaseStatus};
use serde_json::{json, Value};

macro_rules! read {
    ($value:expr) => {
        serde_json::from_value($value).unwrap()
    };
}

fn window(start: u64, end: u64, ops: u64) -> Value {
    json!({"start_ns": start, "end_ns": end, "ops": ops, "bytes": 10 * ops})
}

/// The end of an engine with one lane that has done `ops` operations of 10 bytes by a moment.
fn end(status: &str, lane: u32, until: u64, ops: u64) -> PhaseEnd {
    let operations = json!([{"operation": "read", "ops": ops, "bytes": 10 * ops, "errors": 0}]);
    read!(json!({
        "phase": 0, "operation": "read", "measured": true, "status": status, "operations": operations,
        "last_finisher": window(0, until, ops), "first_finisher": window(0, until, ops), "steady": window(0, until, ops),
        "start_skew_ns": 0, "errors": [{"kind": "fault", "fault": null, "count": ops}], "unstarted_ops": 1,
        "verified_bytes": 3, "cache_done": "", "cached_bytes": 100 * ops,
        "lanes": [{"lane": lane, "start_ns": 0, "end_ns": until, "sync_ns": 0, "operations": operations}],
        "resources": {"user_ns": 5, "system_ns": 2, "read_bytes": 0, "write_bytes": 0},
    }))
}

fn interval(index: u64, ops: u64) -> Interval {
    read!(json!({
        "phase": 0, "index": index, "start_ns": 100 * index, "end_ns": 100 * (index + 1),
        "operations": [{"operation": "read", "ops": ops, "bytes": 10 * ops, "errors": 0}],
    }))
}

fn ops(intervals: &[Interval]) -> Vec<(u64, u64)> {
    intervals.iter().map(|one| (one.index, one.operations[0].ops)).collect()
}

#[test]
fn an_interval_is_complete_when_all_engines_reported_it() {
    let mut all = Intervals::new(2);
    assert!(all.take(0, interval(0, 1)).is_empty());
    assert!(all.take(0, interval(1, 2)).is_empty());
    assert_eq!(ops(&all.take(1, interval(0, 10))), [(0, 11)]);
    // An engine that did nothing in an interval leaves it out.
    assert_eq!(ops(&all.take(1, interval(2, 30))), [(1, 2)]);
    assert_eq!(ops(&all.end_engine(0)), [(2, 30)]);
    assert!(all.take(1, interval(5, 7)).len() == 1 && all.end_engine(1).is_empty());
}

#[test]
fn within_an_interval_work_is_even() {
    let mut all = Intervals::new(1);
    all.take(0, interval(0, 10));
    all.take(0, interval(1, 30));
    // Work that no interval has reported counts at the end.
    let end = end("done", 0, 150, 41);
    for (moment, done) in [(-5, 0), (0, 0), (50, 5), (100, 10), (125, 25), (150, 41), (999, 41)] {
        assert_eq!(all.done_by(0, &end, moment), (done, 10 * done), "at {moment}");
    }
}

/// The second engine starts 20 ns after the first: its moments are 20 ns later on the common axis.
#[test]
fn ends_lie_on_the_axis_of_the_first() {
    let mut intervals = Intervals::new(2);
    intervals.take(0, interval(0, 10));
    intervals.take(1, interval(0, 20));
    let ends = [end("done", 0, 100, 10), end("done", 1, 100, 20)];
    let both = merge(&ends, &[1000, 1020], &intervals, false);
    assert_eq!((both.last_finisher.end_ns, both.last_finisher.ops, both.last_finisher.bytes), (120, 30, 300));
    // When the first has ended, the second has done four fifths.
    assert_eq!((both.first_finisher.end_ns, both.first_finisher.ops), (100, 10 + 16));
    let steady = both.steady.unwrap();
    assert_eq!((steady.start_ns, steady.end_ns, steady.ops), (20, 100, 8 + 16));
    let lanes: Vec<_> = both.lanes.iter().map(|lane| (lane.lane, lane.start_ns, lane.end_ns)).collect();
    assert_eq!((lanes, both.start_skew_ns), (vec![(0, 0, 100), (1, 20, 120)], 20));
    assert_eq!((both.operations.len(), both.operations[0].ops), (1, 30));
    assert_eq!((both.errors.len(), both.errors[0].count), (1, 30));
    assert_eq!((both.unstarted_ops, both.verified_bytes, both.resources.user_ns), (2, 6, 10));
    // Each has its own file, or they share one.
    assert_eq!(both.cached_bytes, Some(3000));
    assert_eq!(merge(&ends, &[1000, 1020], &intervals, true).cached_bytes, Some(2000));
}

#[test]
fn a_phase_ends_as_badly_as_the_worst_engine_has() {
    let statuses = ["failed", "stopped", "skipped", "time_limit", "done"];
    for (place, bad) in statuses.iter().enumerate() {
        for better in &statuses[place..] {
            let ends = [end(better, 0, 100, 1), end(bad, 1, 100, 1)];
            let worst = merge(&ends, &[1, 1], &Intervals::new(2), false).status;
            assert_eq!(serde_json::to_value(worst).unwrap(), *bad, "with {better}");
        }
    }
    // An engine that has done nothing leaves no common work.
    let nothing = PhaseEnd { lanes: Vec::new(), ..end("failed", 1, 0, 0) };
    let both = merge(&[end("done", 0, 100, 10), nothing], &[1, 0], &Intervals::new(2), false);
    assert_eq!((both.status, both.lanes.len(), both.last_finisher.ops), (PhaseStatus::Failed, 0, 0));
}

fn gather() -> Merger {
    Merger::new(2, "sum".to_owned(), true)
}

fn barrier(step: &str, phase: Option<u32>, most: Option<u64>, at: u64) -> Event {
    read!(json!({"event": "barrier", "step": step, "phase": phase, "most": most, "at_ns": at}))
}

fn bye(status: ByeStatus, at_ns: u64) -> Event {
    Event::Bye(Bye { status, reason: Some(format!("{status:?}")), left_behind: false, max_rss_bytes: 5, at_ns })
}

#[test]
fn a_barrier_is_emitted_when_all_wait_for_the_same() {
    let mut merger = gather();
    merger.take(0, barrier("wear_out", Some(0), Some(7), 30));
    assert!(merger.events().is_empty() && merger.waits());
    merger.take(1, barrier("wear_out", Some(0), Some(9), 20));
    assert_eq!(merger.events(), [barrier("wear_out", Some(0), Some(9), 30)]);
    merger.go();
    assert!(!merger.waits() && !merger.is_failing());
    // An engine at its end while another waits for a phase cannot reach the same barrier.
    merger.take(0, barrier("start", Some(1), None, 40));
    merger.take(1, barrier("cleanup", None, None, 50));
    assert!(merger.events().is_empty() && merger.is_failing());
}

/// An engine that waits for a stopped one continues alone, once.
#[test]
fn no_engine_waits_for_stopped_ones() {
    let mut merger = gather();
    merger.take(0, barrier("start", Some(0), None, 1));
    assert!(merger.left_waiting().is_empty() && merger.waits());
    merger.stop();
    assert!(merger.is_stopping() && !merger.waits() && merger.left_waiting().is_empty());
    merger.take(1, barrier("cleanup", None, None, 2));
    assert!(merger.events().is_empty());
    assert_eq!(merger.left_waiting(), [1]);
    assert!(merger.left_waiting().is_empty());
}

#[test]
fn failed_engine_gets_no_stop_command() {
    let mut merger = gather();
    merger.take(1, Event::PhaseEnd(end("failed", 1, 10, 1)));
    assert_eq!((merger.is_failing(), merger.failed(0), merger.failed(1)), (true, false, true));
    // An engine that ends without a `bye` has died.
    let mut merger = gather();
    merger.engine_ended(0);
    assert!(merger.is_failing() && !merger.failed(0));
    let mut merger = gather();
    merger.take(0, bye(ByeStatus::Refused, 1));
    assert!(merger.is_failing(), "it was never ready");
}

#[test]
fn the_worst_leave_is_that_of_all() {
    use ByeStatus::{Errors, Ok, Refused, Stalled, Stopped};
    for (first, second, worst) in [
        (Ok, Ok, Ok),
        (Ok, Stopped, Stopped),
        (Errors, Stopped, Errors),
        (Errors, Refused, Refused),
        (Stalled, Refused, Stalled),
    ] {
        for (one, other) in [(first, second), (second, first)] {
            let mut merger = gather();
            merger.take(0, bye(one, 70));
            assert!(merger.bye().is_none());
            merger.take(1, bye(other, 60));
            let whole = merger.bye().unwrap();
            assert_eq!((whole.status, whole.reason), (worst, Some(format!("{worst:?}"))));
            assert_eq!((whole.max_rss_bytes, whole.at_ns), (10, 70));
        }
    }
}

/// Log events and error samples of many engines do not drown the rest.
#[test]
fn of_many_samples_some_are_emitted() {
    let mut merger = gather();
    let sample = || -> Event {
        read!(json!({
            "event": "error_sample", "phase": 0, "kind": "fault", "action": "read", "object": "f0", "offset": 0,
            "length": 1, "number": 0, "message": "x", "at_ns": 0, "lane": 0, "fault": null,
        }))
    };
    (0..100).for_each(|_| merger.take(1, sample()));
    assert_eq!(merger.events().len(), super::MAX_SAMPLES);
}
