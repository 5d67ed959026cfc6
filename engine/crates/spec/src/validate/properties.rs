//! Jobs with any numbers: none overflows, and a valid job is unchanged after it was written and read.

use crate::soak::times;
use crate::{
    Access, AoeTarget, Arrivals, CacheAction, DataSpec, DeviceTarget, FileOrder, FileTarget, Group, Job, LatencyModel,
    Layout, Method, MethodFound, NfsTarget, NullTarget, Objects, OpKind, Operation, Phase, Reorder, ScriptedChange,
    ScriptedError, ScriptedStall, Sizes, SyncPolicy, Target, Tree, Tuning, WeightedSize, SPEC_VERSION,
};
use proptest::prelude::*;
use proptest::sample::select;
use proptest::test_runner::{Config, TestRunner};
use std::cell::Cell;
use std::collections::BTreeMap;

/// Numbers up to `most`, those at the limits of types and rules, and any.
fn number(most: u64) -> impl Strategy<Value = u64> {
    let year = 31_536_000_000_000_000;
    let borders =
        vec![0, 1, most, most + 1, 1 << 30, 1 << 32, year, year + 1, i64::MAX as u64, 1 << 63, u64::MAX - 1, u64::MAX];
    prop_oneof![120 => 1..=most, 2 => select(borders), 1 => any::<u64>()]
}

fn small(most: u32) -> impl Strategy<Value = u32> {
    prop_oneof![120 => 1..=most, 2 => select(vec![0, most, most + 1, u32::MAX]), 1 => any::<u32>()]
}

/// Paths and names, one in ten of which has dots where there may be none.
fn path() -> impl Strategy<Value = String> {
    prop_oneof![9 => "(/[a-z]{1,3}){1,3}", 1 => "/[a-z./]{0,9}"]
}

fn name() -> impl Strategy<Value = String> {
    prop_oneof![9 => "[a-z][a-z.]{0,4}", 1 => "[a-z.]{1,5}"]
}

fn latency() -> impl Strategy<Value = LatencyModel> {
    prop_oneof![
        number(1_000_000).prop_map(|ns| LatencyModel::Fixed { ns }),
        (0..1000_u64, number(1_000_000)).prop_map(|(min_ns, max_ns)| LatencyModel::Uniform { min_ns, max_ns }),
        number(1_000_000).prop_map(|mean_ns| LatencyModel::Exponential { mean_ns }),
    ]
}

fn null() -> impl Strategy<Value = Target> {
    let stall = (any::<u64>(), number(1_000_000), any::<Option<u32>>());
    let stall = stall.prop_map(|(at_op, duration_ns, lane)| ScriptedStall { at_op, duration_ns, lane });
    let change = (any::<u64>(), latency(), any::<Option<u32>>());
    let change = change.prop_map(|(at_op, latency, lane)| ScriptedChange { at_op, latency, lane });
    let error = (any::<u64>(), 0..4097_i32, any::<Option<u32>>());
    let error = error.prop_map(|(at_op, errno, lane)| ScriptedError { at_op, errno, lane });
    let few = 0..3_usize;
    (
        prop::option::of(latency()),
        prop::collection::vec(stall, few.clone()),
        prop::collection::vec(error, few.clone()),
        prop::collection::vec(change, few),
        (0..101_u32, prop_oneof![9 => -1_000_i64..1_000, 1 => any::<i64>()], number(1 << 20), any::<bool>()),
    )
        .prop_map(
            |(latency, stalls, errors, changes, (vary_percent, clock_step_ns, memory_copy_bytes, make_data))| {
                let target = NullTarget {
                    latency,
                    stalls,
                    errors,
                    changes,
                    vary_percent,
                    clock_step_ns,
                    memory_copy_bytes,
                    make_data,
                };
                Target::Null(target)
            },
        )
}

fn nfs() -> impl Strategy<Value = Target> {
    let ids = (any::<Option<u16>>(), any::<Option<u32>>(), any::<Option<u32>>());
    let sizes = (small(16), number(1 << 20), number(1 << 20), number(3_600_000_000_000));
    ("[a-z.:-]{1,9}", path(), name(), ids, sizes).prop_map(
        |(server, export, name, (mount_port, uid, gid), (nconnect, rsize, wsize, timeout_ns))| {
            let (root, directory, servers) = (name.clone(), name, vec![server]);
            Target::Nfs(NfsTarget {
                servers,
                export,
                root,
                directory,
                mount_port,
                nconnect,
                rsize,
                wsize,
                uid,
                gid,
                timeout_ns,
            })
        },
    )
}

fn aoe() -> impl Strategy<Value = Target> {
    let place = (prop::collection::vec("[a-z]{1,3}", 1..3), 0..4_u16, 0..4_u8);
    let limits = (any::<bool>(), any::<Option<u16>>(), any::<Option<u8>>(), number(3_600_000_000_000));
    (place, limits).prop_map(|((interfaces, shelf, slot), (destroy, window, sectors, timeout_ns))| {
        Target::Aoe(AoeTarget { interfaces, shelf, slot, destroy, window, sectors, timeout_ns })
    })
}

fn target() -> impl Strategy<Value = Target> {
    let file = (path(), name(), prop::option::of(name()))
        .prop_map(|(root, directory, run)| Target::File(FileTarget { root, directory, shares: vec![], run }));
    let device =
        (path(), prop::bool::weighted(0.9)).prop_map(|(path, destroy)| Target::Device(DeviceTarget { path, destroy }));
    prop_oneof![3 => null(), 2 => file, 1 => device, 2 => nfs(), 1 => aoe()]
}

/// The same phase, on objects.
fn on_objects(phase: Phase) -> Phase {
    let operations: Vec<Operation> = Operation::of_group(Group::Objects).collect();
    let operation = operations[phase.stride_records as usize % operations.len()];
    let access = match phase.stride_records % 5 {
        0 if operation.accesses_any_object() => {
            Access::Zipfian { exponent: f64::from(phase.stride_records % 2000) / 100.0 }
        }
        1 => Access::Hotspot { operations_percent: phase.stride_records as u8, objects_percent: 12.5 },
        _ => Access::Uniform,
    };
    Phase {
        access: Some(access),
        operation,
        measured: true,
        mix: mixed(operation, phase.stride_records as u8 % 102),
        ..phase
    }
}

fn phase() -> impl Strategy<Value = Phase> {
    let operations: Vec<Operation> = Operation::measurable()
        .filter(|one| !one.objects() && !one.runs_programs())
        .chain([Operation::Prepare])
        .collect();
    // Few digits, which are read as they are written.
    let rate = prop_oneof![9 => (1..u32::MAX).prop_map(|rate| f64::from(rate) / 1000.0), 1 => any::<f64>()];
    let times = (prop::option::weighted(0.2, number(SECOND)), prop::option::weighted(0.2, number(SECOND)));
    let cache = select(vec![CacheAction::Keep, CacheAction::Keep, CacheAction::Evict, CacheAction::Drop]);
    let methods = select(vec![Method::IoUring, Method::Threads, Method::Sync, Method::Mmap]);
    let found = methods.prop_map(|method| MethodFound { method, reason: "-".to_owned() });
    let method = prop::option::weighted(0.1, found);
    let rest = (0..103_u8, small(1 << 20), any::<bool>());
    (select(operations), times, prop::option::weighted(0.3, rate), cache, rest, method).prop_map(
        |(
            operation,
            (runtime_ns, time_limit_ns),
            rate_per_s,
            cache_before,
            (share, stride_records, poisson),
            method,
        )| {
            let arrivals = if poisson { Arrivals::Poisson } else { Arrivals::Constant };
            let measured = operation != Operation::Prepare;
            Phase {
                operation,
                measured,
                method,
                cache_before,
                runtime_ns,
                time_limit_ns,
                wear_out: share % 7 == 0 && time_limit_ns.is_some(),
                rate_per_s,
                arrivals,
                mix: mixed(operation, share),
                access: None,
                range_bytes: (operation == Operation::Get && poisson).then_some(u64::from(stride_records)),
                stride_records,
                file_order: if share % 8 == 0 { FileOrder::Random } else { FileOrder::Sequential },
                reorder: match share {
                    0..20 => Some(Reorder::Shift { lanes: u32::from(share) }),
                    20..25 => Some(Reorder::Random),
                    _ => None,
                },
            }
        },
    )
}

const SECOND: u64 = 1_000_000_000;

/// Shares of two kinds that a mix may have.
fn mixed(operation: Operation, share: u8) -> Option<BTreeMap<OpKind, u8>> {
    let kinds = operation.mixable();
    let two = [kinds.first()?, kinds.get(1)?];
    Some(BTreeMap::from([(*two[0], share), (*two[1], 100_u8.saturating_sub(share))]))
}

/// Objects, and sizes of objects or small files.
fn contents() -> impl Strategy<Value = (Option<Objects>, Option<Sizes>)> {
    let objects = (number(1000), prop::option::of(number(1 << 30)), small(1002));
    let objects =
        objects.prop_map(|(count, part_size_bytes, batch)| Objects { count, part_size_bytes, batch: batch as u16 });
    let one = (number(1 << 20), 0..5_u32).prop_map(|(bytes, weight)| WeightedSize { bytes, weight });
    let listed = prop::collection::vec(one, 0..4).prop_map(|sizes| Sizes::Listed { sizes });
    let range = (number(1 << 20), number(1 << 30));
    let range = range.prop_map(|(min_bytes, max_bytes)| Sizes::Range { min_bytes, max_bytes });
    (prop::option::weighted(0.1, objects), prop::option::weighted(0.1, prop_oneof![listed, range]))
}

/// Sizes, mostly with records smaller than the files.
fn sizes() -> impl Strategy<Value = (u32, u64, u64, u32, u32, u32)> {
    (small(64), number(1 << 40), number(1 << 16), small(32), small(16), 0..3_u32)
}

#[allow(clippy::needless_update, reason = "a new field needs no line here")]
fn switches() -> impl Strategy<Value = ([bool; 6], Method, SyncPolicy, Tuning)> {
    let method = select(vec![
        Method::Auto,
        Method::Auto,
        Method::IoUring,
        Method::Sync,
        Method::Threads,
        Method::Mmap,
        Method::Protocol,
    ]);
    let sync =
        select(vec![SyncPolicy::None, SyncPolicy::Fsync, SyncPolicy::Fdatasync, SyncPolicy::OSync, SyncPolicy::ODsync]);
    let few = prop::collection::vec(0..1030_u32, 0..3);
    let tuning =
        (prop::bool::weighted(0.1), prop::bool::weighted(0.1), any::<bool>(), few, prop::option::of(0..1030_u32));
    let tuning = tuning.prop_map(|(sqpoll, iopoll, huge_pages, cpus, numa_node)| Tuning {
        sqpoll,
        iopoll,
        huge_pages,
        cpus,
        numa_node,
        ..Tuning::default()
    });
    (any::<[bool; 6]>(), method, sync, tuning)
}

/// Three jobs in four have parts that fit together, so that enough are valid; the others have any parts.
fn job() -> impl Strategy<Value = Job> {
    (any_job(), 0..4_u8).prop_map(|(job, number)| if number == 0 { job } else { fitting(job) })
}

fn fitting(job: Job) -> Job {
    let alone = matches!(job.method, Method::Sync | Method::Mmap);
    let names = job.phases.iter().any(|phase| phase.operation.group() == Some(Group::Names));
    let tree = Tree { files: 10, depth: 1, width: 2, more: 0, inner: false };
    let blocks = job.segment_blocks();
    Job {
        queue_depth: if alone { 1 } else { job.queue_depth },
        rank: job.rank % job.ranks.max(1),
        record_size_bytes: job.record_size_bytes.min(job.file_size_bytes),
        tree: if names { job.tree.or(Some(tree)) } else { job.tree },
        lease_ns: job.lease_ns.map(|span| span.max(SECOND)),
        file_size_bytes: match (names, job.block_size_bytes) {
            (true, _) => job.file_size_bytes.min(job.record_size_bytes),
            // Whole segments.
            (false, Some(block)) => block.saturating_mul(blocks).saturating_mul(2).min(1 << 60),
            (false, None) => job.file_size_bytes,
        },
        ..job
    }
}

fn any_job() -> impl Strategy<Value = Job> {
    let more = prop_oneof![3 => Just(0), 1 => 0..4_u32];
    let tree = (number(1000), 0..18_u32, small(10), more).prop_map(|(files, depth, width, more)| Tree {
        files,
        depth,
        width,
        more,
        inner: files % 3 == 0,
    });
    let spans = (
        number(3_600_000_000_000),
        prop::option::of(number(SECOND)),
        prop::option::of(number(60 * SECOND)),
        number(1000),
    );
    let data = (0..102_u8, 0..102_u8, any::<bool>());
    let phases = prop::collection::vec(phase(), 1..4);
    let what = (prop::option::weighted(0.2, tree), contents());
    (target(), sizes(), what, switches(), (spans, data), (any::<u64>(), phases)).prop_map(
        |(target, (lanes, file, record, depth, ranks, rank), what, switches, (spans, data), (seed, phases))| {
            let (tree, (objects, sizes)) = what;
            let (tree, phases) = match &objects {
                Some(_) => (None, phases.into_iter().map(on_objects).collect()),
                None => (tree, phases),
            };
            let ([shared, direct, preallocate, wait_for_go, keep_files, reuse_files], method, sync, tuning) = switches;
            Job {
                spec_version: SPEC_VERSION,
                id: "any".to_owned(),
                seed,
                target,
                lanes,
                layout: if shared { Layout::Shared } else { Layout::Separate },
                file_size_bytes: file,
                block_size_bytes: (seed % 4 == 0).then_some(record.saturating_mul(1 + seed % 5)),
                record_size_bytes: record,
                queue_depth: depth,
                method,
                tuning,
                tree,
                objects,
                sizes,
                direct,
                sync,
                preallocate,
                data: DataSpec { compressible_percent: data.0, duplicate_percent: data.1, verify: data.2 },
                phases,
                interval_ns: spans.0,
                ranks,
                rank,
                wait_for_go,
                lease_ns: spans.1,
                stall_limit_ns: spans.2,
                error_limit: spans.3,
                keep_files,
                order_seed: (seed % 3 == 0).then_some(seed / 3),
                reuse_files,
                watch: vec![],
            }
        },
    )
}

/// Check the totals of a valid job, and that it stays the same after writing and reading.
fn passes(job: &Job) -> Result<(), TestCaseError> {
    let text = serde_json::to_string(job).unwrap();
    let again: Job = serde_json::from_str(&text).map_err(|error| TestCaseError::fail(format!("{error}: {text}")))?;
    prop_assert_eq!(&again, job);
    prop_assert_eq!(again.validate(), Ok(()));
    prop_assert_eq!(u64::from(job.all_lanes()), u64::from(job.lanes) * u64::from(job.ranks));
    prop_assert!(u64::from(job.first_lane()) + u64::from(job.lanes) <= u64::from(job.all_lanes()));
    prop_assert!(i64::try_from(job.data_bytes()).is_ok());
    prop_assert!(job.memory_bytes() <= 64 << 30);
    prop_assert!(job.buffer_bytes() < job.memory_bytes());
    Ok(())
}

#[test]
fn what_passes_is_written_and_read_unchanged() {
    let cases = times(2_000, 100_000);
    let (passed, refused) = (Cell::new(0), Cell::new(0));
    let mut runner = TestRunner::new(Config { failure_persistence: None, ..Config::with_cases(cases) });
    let all = runner.run(&job(), |job| match job.validate() {
        Ok(()) => {
            passed.set(passed.get() + 1);
            passes(&job)
        }
        Err(error) => {
            refused.set(refused.get() + 1);
            let line = error.to_string();
            prop_assert!(!line.contains('\n') && line.len() < 300 && !error.field.is_empty(), "{}", line);
            Ok(())
        }
    });
    all.unwrap();
    let (passed, refused) = (passed.get(), refused.get());
    assert!(passed >= cases / 50 && refused >= cases / 50, "{passed} passed, {refused} were refused");
}
