//! The loop of a lane on a clock that only scripts move: every time and count is exact.

use crate::arrivals::Schedule;
use crate::simulated::{above, decoded, queue, takes, Answer, Request, Scene, SceneResult, Script, MS, RECORD, SECOND};
use crate::soak::times;
use assay_core::OpKind;
use assay_spec::{Arrivals, ErrorKind, Fault, LatencySummary, Operation};
use proptest::prelude::*;
use std::collections::BTreeMap;
use std::sync::atomic::Ordering;

/// Each operation takes 1 ms; the storage stalls for a second from the submission of one of them.
fn stalls_at(stalled: u64) -> Script {
    let mut until = 0;
    Box::new(move |request: &Request<'_>| {
        if request.number == stalled {
            until = request.at + SECOND;
        }
        (until.saturating_sub(request.at) + MS, Ok(request.op.length))
    })
}

/// Operations with these numbers fail with EIO, the others take 1 ms.
fn fails(bad: impl Fn(u64) -> bool + Send + 'static) -> Script {
    Box::new(move |request: &Request<'_>| {
        (MS, if bad(request.number) { Err(Fault::os(5)) } else { Ok(request.op.length) })
    })
}

fn ends(played: &SceneResult, lane: usize) -> Vec<u64> {
    played.lanes[lane].operations().iter().map(|each| each.end).collect()
}

fn starts(played: &SceneResult, lane: usize) -> Vec<u64> {
    played.lanes[lane].operations().iter().map(|each| each.at).collect()
}

/// Check that the summary holds exactly these values.
fn holds(summary: Option<&LatencySummary>, values: impl IntoIterator<Item = u64>) {
    let mut expected = hdrhistogram::Histogram::<u64>::new_with_bounds(1, (1 << 42) - 1, 3).unwrap();
    values.into_iter().for_each(|value| expected.record(value).unwrap());
    assert_eq!(summary.map(|summary| decoded(&summary.histogram)).unwrap_or(expected.clone()), expected);
    assert_eq!(summary.map_or(0, |summary| summary.count), expected.len());
}

fn read(records: u64, script: Script) -> Scene {
    Scene::of(Operation::Read, records, script)
}

#[test]
fn in_closed_loop_the_end_of_one_operation_is_the_start_of_the_next() {
    let played = read(100, takes(|number| (number + 1) * MS)).play();
    assert_eq!(starts(&played, 0), (0..100).map(|number| number * (number + 1) / 2 * MS).collect::<Vec<_>>());
    holds(played.end.latency(OpKind::Read), (1..=100).map(|number| number * MS));
    assert_eq!(played.end.last_finisher.end_ns, 5050 * MS);
    assert_eq!((played.end.ops(OpKind::Read), played.end.bytes(OpKind::Read)), (100, 100 * RECORD));
    assert!(played.end.start_delay.is_none());
}

/// Of successful operations, one at a time and several in flight; none if the lane does not report first bytes.
#[test]
fn first_bytes_count_from_where_the_latency_does() {
    for (depth, tells) in [(1, true), (4, true), (1, false), (4, false)] {
        let script: Script = Box::new(|request| {
            let result = if request.number % 5 == 0 { Err(Fault::os(5)) } else { Ok(request.op.length) };
            ((request.number + 1) * 2 * MS, result)
        });
        let mut scene = read(40, script).deep(depth, depth);
        scene.reports_first_byte = tells;
        let played = scene.play();
        let done = played.end.operations.iter().find(|done| done.operation == OpKind::Read).unwrap();
        let told = (0..40).filter(|number| tells && number % 5 != 0).map(|number| (number + 1) * MS);
        holds(done.first_byte.as_ref(), told);
        assert_eq!((done.ops, done.errors), (32, 8));
    }
}

#[test]
fn a_stall_shows_once_in_closed_loop() {
    let end = read(8, stalls_at(500)).runtime(3 * SECOND).play().end;
    let latency = end.latency(OpKind::Read).unwrap();
    // Requests that would have come during the stall were never made: coordinated omission.
    assert_eq!((latency.count, above(latency, 500 * MS), above(latency, 2 * MS)), (2000, 1, 1));
}

#[test]
fn a_stall_shows_whole_in_open_loop() {
    let fast = |request: &Request<'_>, until: &mut u64| -> Answer {
        if request.number == 500 {
            *until = request.at + SECOND;
        }
        (until.saturating_sub(request.at) + 1_000, Ok(request.op.length))
    };
    for depth in [1, 4] {
        let mut until = 0;
        let script: Script = Box::new(move |request| fast(request, &mut until));
        let end = read(8, script).deep(depth, depth).rate(1000.0).runtime(3 * SECOND).play().end;
        let latency = end.latency(OpKind::Read).unwrap();
        assert_eq!((latency.count, end.unstarted_ops), (3000, 0), "nothing is skipped");
        assert_eq!(end.last_finisher.end_ns, 3 * SECOND, "the backlog is made up for in time");
        assert!(latency.max_ns >= SECOND);
        // The operations that were due evenly over the second waited for evenly spread times.
        for waited in [900, 500, 100] {
            let late = above(latency, waited * MS);
            assert!((1000 - waited..1000 - waited + 2).contains(&late), "{late} were {waited} ms late");
        }
    }
}

/// The time from the intended start to the submission is the engine's and the queue's, from there on it is the
/// storage's.
#[test]
fn response_time_is_service_time_and_delay() {
    let service = |number: u64| if number == 3 { 35 * MS } else { MS };
    let played = read(10, takes(service)).rate(100.0).play();
    let due: Vec<u64> = (0..10).map(|number| number * 10 * MS).collect();
    let served = queue(&due, &(0..10).map(service).collect::<Vec<_>>(), 1);
    assert_eq!(served[4..8].iter().map(|(_, delay, _)| delay / MS).collect::<Vec<_>>(), [25, 16, 7, 0]);
    holds(played.end.start_delay.as_ref(), served.iter().map(|(_, delay, _)| *delay));
    holds(played.end.latency(OpKind::Read), served.iter().map(|(_, _, response)| *response));
}

#[test]
fn arrivals_come_when_they_are_meant_to() {
    for arrivals in [Arrivals::Constant, Arrivals::Poisson] {
        let mut scene = read(200, takes(|_| 0)).and(200, takes(|_| 0)).rate(1000.0);
        scene.phase.arrivals = arrivals;
        let played = scene.play();
        for lane in 0..2 {
            let mut schedule = Schedule::new(arrivals, 1000.0, lane, 2, 1);
            let mut next = || {
                let due = schedule.next_ns();
                schedule.advance();
                due
            };
            let due: Vec<u64> = (0..200).map(|_| next()).collect();
            assert_eq!(starts(&played, lane as usize), due, "{arrivals:?}");
        }
        holds(played.end.start_delay.as_ref(), [0; 400]);
    }
}

#[test]
fn no_operation_starts_at_the_end_of_the_runtime_and_none_is_cut_off() {
    for depth in [1, 3] {
        let played = read(5, takes(|_| 30 * MS)).deep(depth, depth).runtime(100 * MS).play();
        assert_eq!(starts(&played, 0).iter().max(), Some(&(90 * MS)));
        assert_eq!((played.end.ops(OpKind::Read), played.end.last_finisher.end_ns), (4 * u64::from(depth), 120 * MS));
        assert!(!played.work.outcomes[0].as_ref().unwrap().limited, "it is the time that was asked for");
        let exact = read(5, takes(|_| 25 * MS)).deep(depth, depth).runtime(100 * MS).play();
        assert_eq!((exact.end.ops(OpKind::Read), exact.end.last_finisher.end_ns), (4 * u64::from(depth), 100 * MS));
    }
}

#[test]
fn in_open_loop_the_phase_lasts_to_its_end() {
    for depth in [1, 2] {
        // Due at 0, 400 and 800 ms; the next one only at 1200 ms.
        let played = read(9, takes(|_| MS)).deep(depth, depth).rate(2.5).runtime(SECOND).play();
        assert_eq!(starts(&played, 0), [0, 400 * MS, 800 * MS]);
        assert_eq!((played.end.last_finisher.end_ns, played.end.unstarted_ops), (SECOND, 0));
    }
}

#[test]
fn too_high_a_rate_ends_after_twice_the_time_and_is_reported() {
    for depth in [1, 2] {
        let played = read(9, takes(|_| MS)).deep(depth, depth).rate(10_000.0).runtime(SECOND / 2).play();
        let done = 1000 * u64::from(depth);
        assert_eq!((played.end.ops(OpKind::Read), played.end.unstarted_ops), (done, 5000 - done));
        // The second operation was due 0.1 ms after the first, and so is the last.
        assert_eq!(played.end.last_finisher.end_ns, SECOND + u64::from(depth - 1) * MS / 10);
        assert_eq!(played.end.target_per_s, Some(10_000.0));
    }
}

#[test]
fn very_high_rates_count_every_arrival() {
    for (arrivals, slack) in [(Arrivals::Constant, 0), (Arrivals::Poisson, 1_000_000)] {
        let mut scene = read(9, takes(|_| MS)).rate(1e9).runtime(SECOND);
        scene.phase.arrivals = arrivals;
        let end = scene.play().end;
        assert_eq!((end.ops(OpKind::Read), end.last_finisher.end_ns), (2000, 2 * SECOND));
        assert!((end.ops(OpKind::Read) + end.unstarted_ops).abs_diff(SECOND) <= slack, "{}", end.unstarted_ops);
    }
}

#[test]
fn a_time_limit_cuts_short_and_is_reported() {
    let limited = read(50, takes(|_| 10 * MS)).time_limit(95 * MS).play();
    assert_eq!((limited.end.ops(OpKind::Read), limited.end.last_finisher.end_ns), (10, 100 * MS));
    assert!(limited.work.outcomes[0].as_ref().unwrap().limited);
    let whole = read(10, takes(|_| 10 * MS)).time_limit(101 * MS).play();
    assert_eq!(whole.end.ops(OpKind::Read), 10);
    assert!(!whole.work.outcomes[0].as_ref().unwrap().limited);
    // A lane that gets a CPU only after the time is over does one operation.
    let never = read(50, takes(|_| 10 * MS)).time_limit(0).play();
    assert_eq!((never.end.ops(OpKind::Read), never.end.last_finisher.end_ns), (1, 10 * MS));
    // 10 were due in the time, and 5 of 50 were started.
    let late = read(50, takes(|_| 20 * MS)).rate(100.0).time_limit(100 * MS).play();
    assert_eq!((late.end.ops(OpKind::Read), late.end.unstarted_ops), (5, 5));
    // Operations that are not part of the phase are not missing.
    let few = read(7, takes(|_| 20 * MS)).rate(100.0).time_limit(100 * MS).play();
    assert_eq!((few.end.ops(OpKind::Read), few.end.unstarted_ops), (5, 2));
}

#[test]
fn the_budget_is_kept_at_any_depth() {
    for (depth, batch) in [(1, 1), (4, 4), (7, 2), (64, 64)] {
        let played = Scene::of(Operation::Write, 50, takes(|number| number % 3 * MS)).deep(depth, batch).play();
        assert_eq!((played.end.ops(OpKind::Write), played.end.bytes(OpKind::Write)), (50, 50 * RECORD));
        let mut offsets: Vec<u64> = played.lanes[0].history.iter().map(|each| each.op.offset / RECORD).collect();
        offsets.sort_unstable();
        assert_eq!(offsets, (0..50).collect::<Vec<_>>());
        let most = played.lanes[0].max_in_flight;
        assert_eq!(most, if depth == 1 { 0 } else { 50.min(depth as usize) }, "alone, nothing is left in flight");
        assert_eq!(played.work.outcomes[0].as_ref().unwrap().covered, 50 * RECORD);
    }
}

#[test]
fn data_is_gone_over_again_until_the_time_is_up() {
    let played = read(4, takes(|_| MS)).runtime(10 * MS).play();
    let records: Vec<u64> = played.lanes[0].history.iter().map(|each| each.op.offset / RECORD).collect();
    assert_eq!(records, [0, 1, 2, 3, 0, 1, 2, 3, 0, 1]);
    // With no records no time passes.
    let nothing = read(0, takes(|_| MS)).runtime(SECOND).play();
    assert_eq!((nothing.end.ops(OpKind::Read), nothing.end.last_finisher.end_ns), (0, 0));
}

/// The ramps, before every lane has begun and after one has run out, are not part of the steady window.
#[test]
fn ramps_are_not_part_of_the_steady_window() {
    let late = takes(|number| if number == 0 { 50 * MS + 1 } else { 7 * MS });
    let quick = || takes(|_| 2 * MS + 3);
    let played = read(100, quick()).and(200, quick()).and(200, late).play();
    let (begun, out) = (50 * MS + 1, ends(&played, 0)[99]);
    let steady = played.end.steady.unwrap();
    assert_eq!((steady.start_ns, steady.end_ns), (begun, out));
    // The operation whose end is the moment is counted; of two at the same time that of the first lane.
    let within = |lane: usize| {
        let upto =
            |moment: u64, own: bool| ends(&played, lane).iter().filter(|end| **end < moment + u64::from(own)).count();
        (upto(out, lane == 0) - upto(begun, lane == 2)) as u64
    };
    assert_eq!(steady.ops, within(0) + within(1) + within(2));
    assert_eq!(steady.bytes, steady.ops * RECORD);
    assert!(steady.ops < played.end.first_finisher.ops && played.end.last_finisher.ops == 500);
}

#[test]
fn a_lane_begins_with_its_first_operation_that_succeeds() {
    let played = read(100, takes(|_| 2 * MS)).and(100, fails(|number| number < 7)).play();
    assert_eq!(played.end.steady.unwrap().start_ns, 8 * MS);
}

#[test]
fn a_slow_lane_parts_first_from_last_finisher() {
    let stalled = |number: u64| if number.is_multiple_of(5) && number < 250 { 20 * MS } else { 400_000 };
    let quick = || takes(|_| 400_001);
    let scene = read(256, quick()).and(256, quick()).and(256, takes(stalled)).and(256, quick());
    let end = scene.play().end;
    assert_eq!((end.last_finisher.ops, end.last_finisher.end_ns), (4 * 256, 50 * 20 * MS + 206 * 400_000));
    assert_eq!(end.first_finisher.end_ns, 256 * 400_001);
    // Lanes that end at the same time are processed one after the other: the first does not count the others' last
    // operations.
    assert_eq!(end.first_finisher.ops, 256 + 2 * 255 + 4 * 5);
    assert_eq!(end.start_skew_ns, 0);
    assert_eq!(end.lanes.iter().map(|lane| lane.operations[0].ops).collect::<Vec<_>>(), [256; 4]);
}

#[test]
fn each_interval_has_what_ended_in_it() {
    for depth in [1, 2] {
        let mut scene = read(30, takes(|number| if number == 15 { 35 * MS } else { 2 * MS })).deep(depth, depth);
        let scene_interval = 10 * MS;
        scene.interval_ns = scene_interval;
        let played = scene.play();
        let ends = ends(&played, 0);
        let whole = played.end.last_finisher.end_ns;
        for interval in &played.intervals {
            assert_eq!(interval.end_ns, (interval.start_ns + scene_interval).min(whole.max(interval.start_ns + 1)));
            // An operation that ends with the phase is in the last one.
            let behind = if interval.end_ns >= whole { whole + 1 } else { interval.end_ns };
            let inside = ends.iter().filter(|end| (interval.start_ns..behind).contains(*end)).count() as u64;
            assert_eq!(
                (interval.operations[0].ops, interval.operations[0].bytes),
                (inside, inside * RECORD),
                "{interval:?}"
            );
            assert_eq!(decoded(interval.operations[0].latency.as_ref().unwrap()).len(), inside);
        }
        assert_eq!(played.intervals.iter().map(|interval| interval.operations[0].ops).sum::<u64>(), 30);
        let expected: Vec<u64> = ends.iter().map(|end| end / (10 * MS)).collect();
        assert!(played.intervals.iter().all(|interval| expected.contains(&interval.index)), "none is empty");
    }
}

#[test]
fn the_last_interval_ends_with_the_phase() {
    let mut scene = read(10, takes(|_| 50 * MS));
    scene.interval_ns = SECOND;
    let played = scene.play();
    let only = &played.intervals[0];
    assert_eq!((played.intervals.len(), only.start_ns, only.end_ns), (1, 0, 500 * MS));
    assert_eq!(only.operations[0].bytes, 10 * RECORD);
}

/// Operations and bytes in each interval of 10 ms, by the time that operations spent in it.
fn spread(played: &SceneResult) -> BTreeMap<u64, (f64, f64)> {
    let mut done: BTreeMap<u64, (f64, f64)> = BTreeMap::new();
    let mut add = |index: u64, ops: f64, bytes: f64| {
        let sum = done.entry(index).or_default();
        *sum = (sum.0 + ops, sum.1 + bytes);
    };
    for interval in &played.intervals {
        let of_kind = &interval.operations[0];
        add(interval.index, of_kind.ops as f64, of_kind.bytes as f64);
        for earlier in &interval.earlier {
            assert!(earlier.from < earlier.to && earlier.to <= interval.index, "{interval:?}");
            let count = (earlier.to - earlier.from) as f64;
            add(interval.index, -count * earlier.ops, -count * earlier.bytes);
            (earlier.from..earlier.to).for_each(|index| add(index, earlier.ops, earlier.bytes));
        }
    }
    done
}

#[test]
fn operations_are_spread_over_the_intervals_in_which_they_were_under_way() {
    for depth in [1, 2, 5] {
        // The simulated operations of each slot follow each other without a gap.
        let mut scene = read(30, takes(|number| if number % 7 == 3 { 37 * MS } else { 3 * MS })).deep(depth, depth);
        scene.interval_ns = 10 * MS;
        let played = scene.play();
        let mut expected: BTreeMap<u64, f64> = BTreeMap::new();
        for (start, end) in starts(&played, 0).into_iter().zip(ends(&played, 0)) {
            for index in start / (10 * MS)..=end / (10 * MS) {
                let inside = end.min((index + 1) * 10 * MS).saturating_sub(start.max(index * 10 * MS));
                *expected.entry(index).or_default() += inside as f64 / (end - start) as f64;
            }
        }
        let done = spread(&played);
        for (index, ops) in expected {
            let (found, bytes) = done.get(&index).copied().unwrap_or_default();
            assert!((found - ops).abs() < 1e-9, "depth {depth}, interval {index}: {found} instead of {ops}");
            assert!((bytes - ops * RECORD as f64).abs() < 1e-3);
        }
    }
}

#[test]
fn in_open_loop_nothing_is_spread() {
    let mut scene = read(30, takes(|_| 25 * MS)).rate(100.0).deep(4, 4);
    scene.interval_ns = 10 * MS;
    let played = scene.play();
    assert!(played.end.ops(OpKind::Read) > 0 && played.intervals.iter().all(|interval| interval.earlier.is_empty()));
}

#[test]
fn a_failed_operation_is_counted_apart_and_has_no_latency() {
    let played = read(20, fails(|number| number % 4 == 1)).play();
    assert_eq!((played.end.ops(OpKind::Read), played.end.bytes(OpKind::Read)), (15, 15 * RECORD));
    assert_eq!(played.end.latency(OpKind::Read).unwrap().count, 15);
    let errors: Vec<_> = played
        .end
        .errors
        .iter()
        .map(|error| (error.kind, error.fault.and_then(assay_core::as_errno), error.count))
        .collect();
    assert_eq!(errors, [(ErrorKind::Fault, Some(5), 5)]);
    let places: Vec<u64> = played.errors.iter().map(|sample| sample.offset / RECORD).collect();
    assert_eq!(places, [1, 5, 9, 13, 17], "five are shown whole");
    assert_eq!(played.end.last_finisher.end_ns, 20 * MS, "none is tried again");
}

#[test]
fn too_many_errors_end_the_lane() {
    for depth in [1, 4] {
        let mut scene = read(1000, fails(|number| number >= 10)).deep(depth, depth);
        scene.error_limit = 7;
        let played = scene.play();
        let outcome = played.work.outcomes[0].as_ref().unwrap();
        assert!(outcome.gave_up && !outcome.limited);
        assert_eq!(played.errors.len(), 5);
        let failed = played.lanes[0].history.len() as u64 - 10;
        assert_eq!((played.end.ops(OpKind::Read), outcome.error_count()), (10, failed));
        // Operations in flight at that moment may fail as well.
        assert!((7..7 + u64::from(depth)).contains(&failed), "{failed}");
    }
}

#[test]
fn a_short_operation_is_an_error() {
    for (operation, kind) in [(Operation::Read, ErrorKind::ShortRead), (Operation::Write, ErrorKind::ShortWrite)] {
        let short: Script =
            Box::new(|request| (MS, Ok(if request.number == 2 { request.op.length - 1 } else { request.op.length })));
        let played = Scene::of(operation, 5, short).play();
        assert_eq!((played.end.errors[0].kind, played.end.errors[0].count, played.end.last_finisher.ops), (kind, 1, 4));
        assert_eq!(played.work.outcomes[0].as_ref().unwrap().covered, 0, "a gap is not covered");
    }
}

#[test]
fn the_flush_is_part_of_the_time() {
    let flushed = |result: Result<u64, Fault>| -> Script {
        Box::new(
            move |request| {
                if request.op.kind == OpKind::Sync {
                    (40 * MS, result)
                } else {
                    (MS, Ok(request.op.length))
                }
            },
        )
    };
    let scene = |operation: Operation, result: Result<u64, Fault>| {
        let mut scene = Scene::of(operation, 10, flushed(result));
        scene.sync_at_end = true;
        scene.play()
    };
    let written = scene(Operation::Write, Ok(0));
    assert_eq!((written.end.last_finisher.end_ns, written.end.lanes[0].sync_ns), (50 * MS, 40 * MS));
    assert_eq!(written.end.first_finisher.end_ns, 50 * MS);
    assert_eq!(written.lanes[0].operations().len(), 10);
    let needs_data = scene(Operation::Read, Ok(0));
    assert_eq!(
        (needs_data.end.last_finisher.end_ns, needs_data.lanes[0].history.len()),
        (10 * MS, 10),
        "nothing to flush"
    );
    let lost = scene(Operation::Write, Err(Fault::os(5)));
    assert!(lost.work.outcomes[0].as_ref().unwrap().gave_up);
    assert_eq!(
        (lost.errors[0].action.as_str(), lost.errors[0].fault.and_then(assay_core::as_errno)),
        ("sync", Some(5))
    );
}

/// Stops the phase during the operation of this number.
fn stops_at(number: u64) -> Script {
    Box::new(move |request| {
        request.stop.fetch_or(request.number == number, Ordering::Relaxed);
        (MS, Ok(request.op.length))
    })
}

#[test]
fn a_stop_reaches_working_and_waiting_lanes() {
    let mut scene = Scene::of(Operation::Write, 1000, stops_at(9));
    scene.sync_at_end = true;
    let alone = scene.play();
    assert!(alone.stopped);
    assert_eq!((alone.end.ops(OpKind::Write), alone.end.last_finisher.end_ns), (10, 10 * MS), "and nothing is flushed");
    assert_eq!((alone.end.unstarted_ops, alone.work.outcomes[0].as_ref().unwrap().limited), (0, false));
    for depth in [1, 2] {
        // Due at 0 and 100 s in the lane that waits, and at 50 s in the one that stops both.
        let idle = read(5, takes(|_| MS)).and(5, stops_at(0)).rate(0.02).runtime(1000 * SECOND).deep(depth, depth);
        let end = idle.play().end;
        assert_eq!(end.ops(OpKind::Read), 2);
        assert!(end.last_finisher.end_ns <= 50 * SECOND + 200 * MS, "{}", end.last_finisher.end_ns);
    }
}

/// The end of an operation is the start of the next: measuring costs one reading of the clock each.
#[test]
fn the_clock_is_read_once_for_an_operation() {
    let readings =
        |records: u64, depth: u32| read(records, takes(|_| 1_000)).deep(depth, depth).play().lanes[0].readings;
    assert_eq!(readings(400, 1) - readings(100, 1), 300);
    // With several in flight, the clock is read at an operation's submission and at its completion.
    assert!(readings(400, 4) - readings(100, 4) <= 2 * 300);
}

/// Data is made while the operation before is in flight, and its time is no operation's latency.
#[test]
fn data_is_made_while_the_operation_before_is_in_flight() {
    for takes_ms in [100, 3] {
        let mut scene = Scene::of(Operation::Write, 10, takes(move |_| takes_ms * MS));
        // The end of an operation is noticed after the current piece of data.
        (scene.ahead, scene.piece_ns) = (true, 20 * MS);
        let played = scene.play();
        let every = takes_ms.max(20);
        assert_eq!(starts(&played, 0), (0..10).map(|number| number * every * MS).collect::<Vec<_>>());
        holds(played.end.latency(OpKind::Write), (0..9).map(|_| every * MS).chain([takes_ms * MS]));
        assert_eq!(played.end.last_finisher.end_ns, (9 * every + takes_ms) * MS);
        assert_eq!(played.lanes[0].max_in_flight, 1);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(times(64, 5_000)))]

    /// For any service times, a lane in open loop is a queue with as many servers as its depth.
    #[test]
    fn open_loop_is_a_queue(
        service in proptest::collection::vec(0_u64..20 * MS, 1..60),
        depth in 1_u32..6,
        rate in 50_u32..2_000,
        poisson: bool,
    ) {
        let arrivals = if poisson { Arrivals::Poisson } else { Arrivals::Constant };
        let mut schedule = Schedule::new(arrivals, f64::from(rate), 0, 1, 1);
        let mut due = Vec::new();
        for _ in &service {
            due.push(schedule.next_ns());
            schedule.advance();
        }
        let (times, records) = (service.clone(), service.len() as u64);
        let mut scene = read(records, takes(move |number| times[number as usize])).deep(depth, depth);
        scene.phase.rate_per_s = Some(f64::from(rate));
        scene.phase.arrivals = arrivals;
        scene.interval_ns = 10 * MS;
        let played = scene.play();
        let served = queue(&due, &service, depth as usize);
        prop_assert_eq!(starts(&played, 0), served.iter().map(|(at, _, _)| *at).collect::<Vec<_>>());
        holds(played.end.start_delay.as_ref(), served.iter().map(|(_, delay, _)| *delay));
        holds(played.end.latency(OpKind::Read), served.iter().map(|(_, _, response)| *response));
        prop_assert_eq!(played.end.last_finisher.end_ns, served.iter().zip(&due).map(|((_, _, r), due)| r + due).max().unwrap());
    }

    /// In closed loop a free slot is used at once, and latency is the service time.
    #[test]
    fn closed_loop_keeps_its_depth(
        service in proptest::collection::vec(0_u64..20 * MS, 1..60),
        depth in 1_u32..6,
        batch in 1_u32..6,
    ) {
        let (times, records) = (service.clone(), service.len() as u64);
        let played = read(records, takes(move |number| times[number as usize])).deep(depth, batch.min(depth)).play();
        let served = queue(&vec![0; service.len()], &service, depth as usize);
        prop_assert_eq!(starts(&played, 0), served.iter().map(|(at, _, _)| *at).collect::<Vec<_>>());
        holds(played.end.latency(OpKind::Read), service);
        prop_assert_eq!(played.end.last_finisher.end_ns, served.iter().map(|(_, _, end)| *end).max().unwrap());
    }

    /// With a second buffer the lane does the same at the same times.
    #[test]
    fn a_second_buffer_changes_nothing_else(
        service in proptest::collection::vec(0_u64..20 * MS, 1..60),
        runtime in proptest::option::of(1_u64..100),
        limit in proptest::option::of(1_u64..100),
        bad in 0_u64..100,
    ) {
        let play = |ahead: bool| {
            let (times, records) = (service.clone(), service.len() as u64);
            let script: Script = Box::new(move |request| {
                let result = if request.number == bad { Err(Fault::os(5)) } else { Ok(request.op.length) };
                (times[request.number as usize % times.len()].max(1), result)
            });
            let mut scene = Scene::of(Operation::Write, records, script);
            (scene.ahead, scene.sync_at_end, scene.interval_ns) = (ahead, true, 7 * MS);
            (scene.phase.runtime_ns, scene.phase.time_limit_ns) = (runtime.map(|ms| ms * MS), limit.map(|ms| ms * MS));
            scene.play()
        };
        let (alone, both) = (play(false), play(true));
        prop_assert_eq!(starts(&alone, 0), starts(&both, 0));
        prop_assert_eq!(ends(&alone, 0), ends(&both, 0));
        prop_assert_eq!(&alone.intervals, &both.intervals);
        prop_assert_eq!(&alone.end, &both.end);
        prop_assert_eq!(both.lanes[0].max_in_flight, 1);
    }
}
