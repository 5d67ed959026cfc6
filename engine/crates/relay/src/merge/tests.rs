//! What several engines say, as if one had said it: moments, sums, barriers, and who is to be stopped.

use super::end::merge;
use super::intervals::Intervals;
use super::Gather;
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

/// Of an engine with one lane that has done so many operations of 10 bytes until a moment.
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
fn an_interval_is_told_when_all_engines_have_told_it() {
    let mut all = Intervals::new(2);
    assert!(all.take(0, interval(0, 1)).is_empty());
    assert!(all.take(0, interval(1, 2)).is_empty());
    assert_eq!(ops(&all.take(1, interval(0, 10))), [(0, 11)]);
    // An engine that did nothing in one leaves it out.
    assert_eq!(ops(&all.take(1, interval(2, 30))), [(1, 2)]);
    assert_eq!(ops(&all.ended(0)), [(2, 30)]);
    assert!(all.take(1, interval(5, 7)).len() == 1 && all.ended(1).is_empty());
}

#[test]
fn within_an_interval_work_is_even() {
    let mut all = Intervals::new(1);
    all.take(0, interval(0, 10));
    all.take(0, interval(1, 30));
    // What no interval has reported counts at the end.
    let end = end("done", 0, 150, 41);
    for (moment, done) in [(-5, 0), (0, 0), (50, 5), (100, 10), (125, 25), (150, 41), (999, 41)] {
        assert_eq!(all.done_by(0, &end, moment), (done, 10 * done), "at {moment}");
    }
}

/// The second engine starts 20 ns after the first: its moments are later by that on the common axis.
#[test]
fn ends_lie_on_the_axis_of_the_first() {
    let mut intervals = Intervals::new(2);
    intervals.take(0, interval(0, 10));
    intervals.take(1, interval(0, 20));
    let ends = [end("done", 0, 100, 10), end("done", 1, 100, 20)];
    let both = merge(&ends, &[1000, 1020], &intervals, false);
    assert_eq!((both.last_finisher.end_ns, both.last_finisher.ops, both.last_finisher.bytes), (120, 30, 300));
    // When the first has ended the second has done four fifths.
    assert_eq!((both.first_finisher.end_ns, both.first_finisher.ops), (100, 10 + 16));
    let steady = both.steady.unwrap();
    assert_eq!((steady.start_ns, steady.end_ns, steady.ops), (20, 100, 8 + 16));
    let lanes: Vec<_> = both.lanes.iter().map(|lane| (lane.lane, lane.start_ns, lane.end_ns)).collect();
    assert_eq!((lanes, both.start_skew_ns), (vec![(0, 0, 100), (1, 20, 120)], 20));
    assert_eq!((both.operations.len(), both.operations[0].ops), (1, 30));
    assert_eq!((both.errors.len(), both.errors[0].count), (1, 30));
    assert_eq!((both.unstarted_ops, both.verified_bytes, both.resources.user_ns), (2, 6, 10));
    // Each has its own file, or they look at the same.
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
    // One that has done nothing leaves no work of all together.
    let nothing = PhaseEnd { lanes: Vec::new(), ..end("failed", 1, 0, 0) };
    let both = merge(&[end("done", 0, 100, 10), nothing], &[1, 0], &Intervals::new(2), false);
    assert_eq!((both.status, both.lanes.len(), both.last_finisher.ops), (PhaseStatus::Failed, 0, 0));
}

fn gather() -> Gather {
    Gather::new(2, "sum".to_owned(), true)
}

fn barrier(step: &str, phase: Option<u32>, most: Option<u64>, at: u64) -> Event {
    read!(json!({"event": "barrier", "step": step, "phase": phase, "most": most, "at_ns": at}))
}

fn bye(status: ByeStatus, at_ns: u64) -> Event {
    Event::Bye(Bye { status, reason: Some(format!("{status:?}")), left_behind: false, max_rss_bytes: 5, at_ns })
}

#[test]
fn a_barrier_is_told_when_all_wait_for_the_same() {
    let mut said = gather();
    said.take(0, barrier("wear_out", Some(0), Some(7), 30));
    assert!(said.events().is_empty() && said.waits());
    said.take(1, barrier("wear_out", Some(0), Some(9), 20));
    assert_eq!(said.events(), [barrier("wear_out", Some(0), Some(9), 30)]);
    said.go();
    assert!(!said.waits() && !said.failing());
    // One that has come to the end while another waits for a phase cannot meet it.
    said.take(0, barrier("start", Some(1), None, 40));
    said.take(1, barrier("cleanup", None, None, 50));
    assert!(said.events().is_empty() && said.failing());
}

/// Who waits for one that was stopped goes on alone, once.
#[test]
fn nobody_waits_for_engines_that_are_stopped() {
    let mut said = gather();
    said.take(0, barrier("start", Some(0), None, 1));
    assert!(said.left_waiting().is_empty() && said.waits());
    said.stop();
    assert!(said.stopping() && !said.waits() && said.left_waiting().is_empty());
    said.take(1, barrier("cleanup", None, None, 2));
    assert!(said.events().is_empty());
    assert_eq!(said.left_waiting(), [1]);
    assert!(said.left_waiting().is_empty());
}

#[test]
fn an_engine_that_fails_is_not_told_to_stop() {
    let mut said = gather();
    said.take(1, Event::PhaseEnd(end("failed", 1, 10, 1)));
    assert_eq!((said.failing(), said.failed(0), said.failed(1)), (true, false, true));
    // One that goes without a word has died.
    let mut said = gather();
    said.gone(0);
    assert!(said.failing() && !said.failed(0));
    let mut said = gather();
    said.take(0, bye(ByeStatus::Refused, 1));
    assert!(said.failing(), "it was never ready");
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
            let mut said = gather();
            said.take(0, bye(one, 70));
            assert!(said.bye().is_none());
            said.take(1, bye(other, 60));
            let whole = said.bye().unwrap();
            assert_eq!((whole.status, whole.reason), (worst, Some(format!("{worst:?}"))));
            assert_eq!((whole.max_rss_bytes, whole.at_ns), (10, 70));
        }
    }
}

/// Remarks and samples of errors of many engines do not drown the rest.
#[test]
fn of_many_samples_some_are_told() {
    let mut said = gather();
    let sample = || -> Event {
        read!(json!({
            "event": "error_sample", "phase": 0, "kind": "fault", "action": "read", "object": "f0", "offset": 0,
            "length": 1, "number": 0, "message": "x", "at_ns": 0, "lane": 0, "fault": null,
        }))
    };
    (0..100).for_each(|_| said.take(1, sample()));
    assert_eq!(said.events().len(), super::MOST_SAMPLES);
}
