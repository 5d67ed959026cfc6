//! Every operation that the null backend declares: counts, bytes, errors, and scripted times.

use crate::lane::{NullLane, Script};
use crate::soak::times;
use crate::NullBackend;
use assay_core::{clock, Backend, Buffers, Completion, Fault, Lane, LaneSetup, Op, OpKind, PhasePlan};
use assay_spec::{
    LatencyModel, Method, NullTarget, Operation, ScriptedChange, ScriptedError, ScriptedStall, SyncPolicy,
};
use proptest::prelude::*;
use std::sync::Arc;

const MS: u64 = 1_000_000;
const SECOND: u64 = 1_000 * MS;
const LENGTH: u64 = 700;
/// Every operation that a lane can be asked for.
const KINDS: [OpKind; 12] = [
    OpKind::Read,
    OpKind::Write,
    OpKind::Sync,
    OpKind::Create,
    OpKind::Stat,
    OpKind::Open,
    OpKind::Readdir,
    OpKind::Rename,
    OpKind::Unlink,
    OpKind::Mkdir,
    OpKind::Rmdir,
    OpKind::Close,
];

fn setup(lane: u32, queue_depth: u32) -> LaneSetup {
    LaneSetup::of(lane, queue_depth, Arc::new(Buffers::new(1, 1, false).unwrap()))
}

fn plan(operation: Operation) -> PhasePlan {
    PhasePlan { sync: SyncPolicy::Fsync, needs_data: false, ..PhasePlan::of(operation) }
}

fn lane(target: &NullTarget, depth: u32) -> Box<dyn Lane> {
    let mut lane = NullBackend::new(target.clone(), 1).open_lane(setup(0, depth)).unwrap();
    let choice = lane.begin(&plan(Operation::Read)).unwrap();
    assert_eq!((choice.method, choice.depth, choice.batch), (Method::Sync, depth, depth));
    lane
}

fn op(kind: OpKind, slot: u32) -> Op {
    Op { kind, count: 1, slot, object: 0, offset: 0, length: LENGTH + u64::from(slot) }
}

/// A target whose operations each take `ns` nanoseconds.
fn fixed(ns: u64) -> NullTarget {
    NullTarget { latency: Some(LatencyModel::Fixed { ns }), ..NullTarget::default() }
}

/// The end and result of `count` reads, submitted every 1 ms from 10 ms on.
fn served(target: &NullTarget, seed: u64, lane: u32, count: u64) -> Vec<(u64, Result<u64, Fault>)> {
    let mut script = Script::new(target, seed, lane).expect("it is scripted");
    script.begin();
    (0..count).map(|number| script.serve(&op(OpKind::Read, 0), (10 + number) * MS)).collect()
}

/// How long each of those reads takes.
fn services(target: &NullTarget, seed: u64, lane: u32, count: u64) -> Vec<u64> {
    let ends = served(target, seed, lane, count).into_iter();
    ends.zip(10..).map(|((end, _), submitted)| end - submitted * MS).collect()
}

#[test]
fn it_declares_all_operations_without_stdio_and_nothing_that_needs_a_kernel() {
    let can = NullBackend::new(NullTarget::default(), 1).capabilities();
    let all: Vec<_> = Operation::measurable().filter(|one| !one.stdio() && !one.runs_programs()).collect();
    assert_eq!((can.kind.as_str(), can.operations, can.methods), ("null", all, vec![Method::Sync]));
    assert!(!can.verify, "nothing is kept, so nothing can be checked");
    assert!(NullBackend::new(NullTarget { make_data: true, ..NullTarget::default() }, 1).capabilities().verify);
    assert!(can.place.is_none());
}

#[test]
fn it_makes_nothing_and_leaves_nothing() {
    let backend = NullBackend::new(NullTarget::default(), 1);
    for _ in 0..2 {
        assert_eq!((backend.prepare(), backend.still_there(), backend.cleanup()), (Ok(()), Ok(()), Ok(())));
    }
    assert_eq!(backend.begin_phase(&plan(Operation::Write)), Ok(String::new()));
    assert_eq!(
        (backend.object_name(3).as_str(), backend.device(), backend.cached_bytes(&plan(Operation::Read))),
        ("null3", None, None)
    );
}

/// One by one, in a batch, or submitted and reaped apart: each operation completes once, with all its bytes.
#[test]
fn every_operation_moves_all_its_bytes_once() {
    let scripted = fixed(0);
    let copying = NullTarget { memory_copy_bytes: 1000, ..NullTarget::default() };
    for target in [NullTarget::default(), scripted, copying] {
        let mut lane = lane(&target, KINDS.len() as u32);
        let ops: Vec<Op> = KINDS.iter().zip(0..).map(|(kind, slot)| op(*kind, slot)).collect();
        let all: Vec<_> = ops.iter().map(|op| Completion::new(op.slot, Ok(op.length))).collect();
        assert!(ops.iter().all(|op| lane.execute(op) == Ok(op.length)), "{target:?}");
        let sorted = |mut done: Vec<Completion>| {
            done.sort_by_key(|completion| completion.slot);
            done
        };
        let mut done = Vec::new();
        lane.exchange(&ops, &mut done, u64::MAX);
        while done.len() < ops.len() {
            lane.reap(&mut done, u64::MAX);
        }
        assert_eq!(sorted(std::mem::take(&mut done)), all, "{target:?}");
        assert_eq!(lane.submit(&ops), ops.len());
        while done.len() < ops.len() {
            lane.reap(&mut done, u64::MAX);
        }
        assert_eq!(sorted(std::mem::take(&mut done)), all, "{target:?}");
        lane.reap(&mut done, u64::MAX);
        assert_eq!((done, lane.end()), (vec![], Ok(())), "nothing twice");
    }
}

/// An unscripted lane keeps no queue and does not read the clock.
#[test]
fn what_is_not_scripted_costs_nothing() {
    for make_data in [false, true] {
        let target = NullTarget { make_data, ..NullTarget::default() };
        assert!(Script::new(&target, 1, 0).is_none());
        let mut lane = NullLane::new(&target, 1, &setup(0, 4));
        let ops: Vec<Op> = (0..4).map(|slot| op(OpKind::Write, slot)).collect();
        let mut done = Vec::with_capacity(4);
        // A deadline in the past changes nothing.
        lane.exchange(&ops, &mut done, 0);
        assert_eq!((done.len(), done.capacity()), (4, 4));
        assert!(lane.is_idle());
    }
    for target in [
        fixed(0),
        NullTarget { stalls: vec![ScriptedStall { at_op: 0, duration_ns: 0, lane: None }], ..NullTarget::default() },
        NullTarget { vary_percent: 1, ..NullTarget::default() },
    ] {
        assert!(Script::new(&target, 1, 0).is_some(), "{target:?}");
    }
}

#[test]
fn a_stall_holds_up_all_that_comes_before_its_end() {
    let stalls = vec![ScriptedStall { at_op: 2, duration_ns: 5 * MS + 7, lane: Some(1) }];
    let target = NullTarget { stalls, ..fixed(100) };
    assert_eq!(services(&target, 1, 0, 9), [100; 9], "another lane's");
    let held = |left: u64| left * MS + 107;
    let expected = [100, 100, held(5), held(4), held(3), held(2), held(1), held(0), 100];
    assert_eq!(services(&target, 1, 1, 9), expected);
    let endless = vec![ScriptedStall { at_op: 0, duration_ns: u64::MAX, lane: None }];
    let target = NullTarget { stalls: endless, ..fixed(u64::MAX) };
    assert_eq!(served(&target, 1, 0, 1), [(u64::MAX, Ok(LENGTH))]);
}

#[test]
fn a_scripted_error_is_one_failed_operation_that_takes_its_time() {
    let error = |at_op, errno, lane| ScriptedError { at_op, errno, lane };
    let errors = vec![error(1, 5, None), error(3, 28, Some(0)), error(2, 5, Some(1))];
    let target = NullTarget { errors, ..fixed(MS) };
    let results: Vec<_> = served(&target, 1, 0, 5).into_iter().map(|(_, result)| result).collect();
    assert_eq!(results, [Ok(LENGTH), Err(Fault::os(5)), Ok(LENGTH), Err(Fault::os(28)), Ok(LENGTH)]);
    assert_eq!(services(&target, 1, 0, 5), [MS; 5]);
    // The same through the lane; its flushes are neither counted nor do they fail.
    let errors = vec![error(1, 5, None)];
    let mut lane = lane(&NullTarget { errors, ..NullTarget::default() }, 3);
    let kinds = [OpKind::Sync, OpKind::Write, OpKind::Sync, OpKind::Write, OpKind::Write];
    let results: Vec<_> = kinds.iter().map(|kind| lane.execute(&op(*kind, 0)).is_ok()).collect();
    assert_eq!(results, [true, true, true, false, true]);
    lane.begin(&plan(Operation::Write)).unwrap();
    let mut done = Vec::new();
    lane.exchange(&[op(OpKind::Sync, 1), op(OpKind::Write, 2), op(OpKind::Write, 0)], &mut done, u64::MAX);
    while done.len() < 3 {
        lane.reap(&mut done, u64::MAX);
    }
    done.sort_by_key(|completion| completion.slot);
    let results: Vec<_> = done.iter().map(|completion| completion.result).collect();
    assert_eq!(results, [Err(Fault::os(5)), Ok(LENGTH + 1), Ok(LENGTH + 2)], "each phase begins anew");
}

#[test]
fn a_change_holds_from_its_operation_on_and_in_each_phase_anew() {
    let change = |at_op, ns, lane| ScriptedChange { at_op, latency: LatencyModel::Fixed { ns }, lane };
    // Out of order, and two at once, of which the last counts.
    let changes = vec![change(4, 30, None), change(2, 20, Some(0)), change(4, 40, None), change(0, 9, Some(7))];
    let target = NullTarget { changes, ..fixed(10) };
    assert_eq!(services(&target, 1, 0, 6), [10, 10, 20, 20, 40, 40]);
    assert_eq!(services(&target, 1, 3, 6), [10, 10, 10, 10, 40, 40]);
    let mut script = Script::new(&target, 1, 0).unwrap();
    for _ in 0..2 {
        script.begin();
        let ends: Vec<_> = (0..5).map(|_| script.serve(&op(OpKind::Read, 0), 0).0).collect();
        assert_eq!(ends, [10, 10, 20, 20, 40]);
    }
}

#[test]
fn service_times_have_the_distribution_that_is_scripted() {
    let drawn = |latency: LatencyModel, seed| {
        services(&NullTarget { latency: Some(latency), ..NullTarget::default() }, seed, 0, 10_000)
    };
    let uniform = drawn(LatencyModel::Uniform { min_ns: 1_000, max_ns: 3_000 }, 1);
    assert!(uniform.iter().all(|ns| (1_000..=3_000).contains(ns)));
    // The seed is fixed, and so are the numbers; the bounds are six standard deviations.
    let mean = |all: &[u64]| all.iter().sum::<u64>() as f64 / all.len() as f64;
    assert!((mean(&uniform) - 2_000.0).abs() < 6.0 * 577.0 / 100.0, "{}", mean(&uniform));
    let exponential = drawn(LatencyModel::Exponential { mean_ns: 10_000 }, 1);
    assert!((mean(&exponential) - 10_000.0).abs() < 6.0 * 100.0, "{}", mean(&exponential));
    let above = exponential.iter().filter(|ns| **ns > 6_931).count();
    assert!(above.abs_diff(5_000) < 300, "half is above ln 2 of the mean: {above}");
    assert_eq!(exponential, drawn(LatencyModel::Exponential { mean_ns: 10_000 }, 1), "the seed's");
    assert_ne!(exponential, drawn(LatencyModel::Exponential { mean_ns: 10_000 }, 2));
    assert_eq!(drawn(LatencyModel::Uniform { min_ns: 5, max_ns: 5 }, 1), vec![5; 10_000]);
}

#[test]
fn phases_differ_by_a_factor_that_all_lanes_share() {
    let target = NullTarget { vary_percent: 90, ..fixed(1_000_000) };
    let factors = |lane: u32| -> Vec<u64> {
        let mut script = Script::new(&target, 5, lane).unwrap();
        let mut phase = || {
            script.begin();
            script.serve(&op(OpKind::Read, 0), 0).0
        };
        (0..50).map(|_| phase()).collect()
    };
    let drawn = factors(0);
    assert_eq!(drawn, factors(3));
    assert!(drawn.iter().all(|ns| (100_000..=1_900_000).contains(ns)), "{drawn:?}");
    assert!(drawn.iter().min() < Some(&400_000) && drawn.iter().max() > Some(&1_600_000), "{drawn:?}");
}

/// By the machine's clock, nothing ends before its time, and a wait for something later ends with the deadline.
#[test]
fn a_lane_waits_for_the_scripted_end() {
    let mut lane = lane(&fixed(2 * MS), 2);
    let before = clock::now();
    assert_eq!(lane.execute(&op(OpKind::Read, 0)), Ok(LENGTH));
    assert!(clock::now() - before >= 2 * MS);
    let target = NullTarget {
        stalls: vec![ScriptedStall { at_op: 1, duration_ns: 3_600 * SECOND, lane: None }],
        ..NullTarget::default()
    };
    let mut lane = self::lane(&target, 2);
    let mut done = Vec::new();
    lane.exchange(&[op(OpKind::Read, 0), op(OpKind::Read, 1)], &mut done, u64::MAX);
    assert_eq!(done, [Completion::new(0, Ok(LENGTH))]);
    done.clear();
    for deadline in [clock::now() + MS, 0] {
        lane.reap(&mut done, deadline);
        assert!(clock::now() >= deadline && done.is_empty());
    }
}

#[test]
fn copies_are_made_and_memory_that_is_not_there_is_refused() {
    let mut lane = crate::copy::CopyLane::new(1000, 1).unwrap();
    assert_eq!((lane.copied(), lane.execute(&op(OpKind::Read, 0))), (0, Ok(LENGTH)));
    assert_eq!(lane.copied(), LENGTH as usize);
    // Copying goes on from there, and around.
    assert_eq!(lane.execute(&op(OpKind::Write, 0)), Ok(LENGTH));
    assert_eq!(lane.copied(), 1000);
    let large = Op { length: 12_345, ..op(OpKind::Write, 0) };
    assert_eq!(lane.execute(&large), Ok(12_345));
    for bytes in [1, 1000, 4096, 131_072, 131_080] {
        let (from, to) = crate::copy::CopyLane::new(bytes, 1).unwrap().places();
        // Half a page apart, so that no load seems to depend on the store just before it.
        assert_eq!((from % 4096, to % 4096), (0, 2048), "{bytes}");
        assert!(to >= from + bytes as usize);
    }
    let error = crate::copy::CopyLane::new(u64::MAX, 1).err().expect("there is not so much memory");
    assert!(error.to_string().contains("not so much memory"), "{error}");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(times(64, 10_000)))]

    /// However operations are submitted, each completes once, with its slot and its bytes.
    #[test]
    fn each_operation_comes_back_once(
        batches in proptest::collection::vec(1_usize..8, 1..20),
        latency in 0_u64..2_000,
        scripted: bool,
    ) {
        let latency = scripted.then_some(LatencyModel::Uniform { min_ns: 0, max_ns: latency });
        let mut lane = lane(&NullTarget { latency, ..NullTarget::default() }, 8);
        let (mut free, mut started, mut ended): (Vec<u32>, _, _) = ((0..8).collect(), 0, 0);
        let mut done = Vec::new();
        for batch in batches {
            let ops: Vec<Op> = free.drain(..batch.min(free.len())).map(|slot| op(OpKind::Read, slot)).collect();
            started += ops.len();
            lane.exchange(&ops, &mut done, u64::MAX);
            prop_assert!(!done.is_empty(), "what is in flight is waited for");
            for completion in done.drain(..) {
                prop_assert_eq!(completion.result, Ok(LENGTH + u64::from(completion.slot)));
                prop_assert!(!free.contains(&completion.slot));
                free.push(completion.slot);
                ended += 1;
            }
        }
        while ended < started {
            lane.reap(&mut done, u64::MAX);
            ended += done.drain(..).count();
        }
        lane.reap(&mut done, 0);
        prop_assert!(done.is_empty());
    }
}
