//! Operations on names: every one in all ways, and that only the job's own directory is touched.

mod jobs;
mod safety;

use self::jobs::{
    all_places, errors, files, phases, place, run_after, starts, tree_job, FILES, LANES, METHODS, NOTHING, PLACES, SEED,
};
use crate::common::{engine, null_job, run, run_output, Marked, RunOutput};
use assay_drive::data::{Base, Data};
use assay_spec::{DataSpec, ErrorKind, Event, Method, Operation, PhaseStatus};
use serde_json::{json, Value};
use std::fs;
use std::os::unix::fs::symlink;
use std::os::unix::process::CommandExt;
use std::process::Stdio;

/// Every operation, with the files renamed twice and inspected in between.
const ROUND: [&str; 12] =
    ["create", "stat", "open", "readdir", "rename", "stat", "open", "rename", "stat", "unlink", "mkdir", "rmdir"];

#[test]
fn all_operations_in_all_ways() {
    let mut done = 0;
    for below in PLACES {
        let root = Marked::new(below);
        for (layout, method) in
            [("separate", METHODS[0]), ("separate", METHODS[1]), ("shared", "sync"), ("shared", "io_uring")]
        {
            for (levels, width, used) in [(0, 1, 1), (2, 3, 8)] {
                for contents in [0, 700] {
                    let output = run(&tree_job(
                        &root,
                        method,
                        &ROUND,
                        &json!({
                            "layout": layout, "tree": {"files": FILES, "depth": levels, "width": width},
                            "file_size_bytes": contents,
                        }),
                    ));
                    let context = format!("{below} {layout} {method} {levels} {contents}: {output:?}");
                    assert_eq!(output.code, 0, "{context}");
                    assert_eq!(output.ends().len(), ROUND.len(), "{context}");
                    for (end, (_, used_method, reason)) in output.ends().iter().zip(starts(&output)) {
                        let names = if end.operation == Operation::Readdir { used } else { FILES };
                        assert_eq!((end.status, end.all_ops()), (PhaseStatus::Done, LANES * names), "{context}");
                        assert_eq!(end.operations[0].latency.as_ref().unwrap().count, LANES * names, "{context}");
                        let bytes = if end.operation == Operation::Create { LANES * FILES * contents } else { 0 };
                        assert_eq!(end.last_finisher.bytes, bytes, "{context}");
                        let ring = method == "io_uring" && end.operation != Operation::Readdir;
                        let expected = if ring { Method::IoUring } else { Method::Sync };
                        assert_eq!(used_method, expected, "{reason}");
                        done += 1;
                    }
                    assert_eq!(root.remains(), NOTHING, "{context}");
                }
            }
        }
    }
    println!("{done} phases done and checked");
}

#[test]
fn created_files_are_where_and_what_they_should_be() {
    for (method, layout) in [("sync", "separate"), ("io_uring", "separate"), ("sync", "shared"), ("io_uring", "shared")]
    {
        let root = Marked::new(PLACES[0]);
        let shared = layout == "shared";
        let keep = json!({"layout": layout, "keep_files": true});
        assert_eq!(run(&tree_job(&root, method, &["create"], &keep)).code, 0);
        assert_eq!(files(&root), all_places(shared, 'f'));
        let mut data = Data::new(&Base::new(&DataSpec::default(), SEED), &DataSpec::default(), SEED, 0);
        for lane in 0..LANES {
            for number in 0..FILES {
                let path = root.0.join("job").join(place(if shared { 0 } else { lane }, 'f', lane, number));
                let found = fs::read(&path).unwrap();
                data.select(lane * FILES + number);
                assert_eq!((found.len(), data.check(0, &found)), (700, None), "{}", path.display());
            }
        }
        let reuse = json!({"layout": layout, "keep_files": true, "reuse_files": true});
        assert_eq!(run(&tree_job(&root, method, &["stat", "mkdir", "rmdir"], &reuse)).code, 0);
        assert_eq!(files(&root), all_places(shared, 'f'), "still there");
        assert_eq!(run(&tree_job(&root, method, &["rename"], &reuse)).code, 0);
        assert_eq!(files(&root), all_places(shared, 'r'), "after one rename");
        let back = tree_job(&root, method, &["unlink"], &reuse);
        assert_eq!(errors(run(&back).ends()[0]), [(ErrorKind::Fault, Some(libc::ENOENT), LANES * FILES)]);
    }
}

#[test]
fn two_renames_bring_the_first_name_back() {
    for method in METHODS {
        let root = Marked::new(PLACES[1]);
        let keep = json!({"keep_files": true});
        assert_eq!(run(&tree_job(&root, method, &["create", "rename", "rename"], &keep)).code, 0);
        assert_eq!(files(&root), all_places(false, 'f'));
        let reuse = json!({"reuse_files": true});
        assert_eq!(run(&tree_job(&root, method, &["stat", "unlink", "create", "rename", "stat"], &reuse)).code, 0);
        assert_eq!(root.remains(), NOTHING);
    }
}

#[test]
fn a_file_cut_short_is_corrupt() {
    for method in METHODS {
        let root = Marked::new(PLACES[0]);
        assert_eq!(run(&tree_job(&root, method, &["create"], &json!({"keep_files": true}))).code, 0);
        let short = root.0.join("job").join(place(1, 'f', 1, 17));
        fs::OpenOptions::new().write(true).open(short).unwrap().set_len(699).unwrap();
        let output = run(&tree_job(&root, method, &["stat", "unlink"], &json!({"reuse_files": true})));
        assert_eq!(output.code, 1);
        let sample = output.errors()[0];
        assert_eq!((sample.kind, sample.lane, sample.number), (ErrorKind::Corrupt, Some(1), 17), "{sample:?}");
        assert!(sample.object.ends_with("/job/t1") && sample.message.contains("699"), "{sample:?}");
        assert_eq!(errors(output.ends()[0]), [(ErrorKind::Corrupt, None, 1)]);
        assert_eq!(output.ends()[0].all_ops(), LANES * FILES - 1);
        assert_eq!(root.remains(), NOTHING);
    }
}

#[test]
fn names_that_are_there_are_not_created_again() {
    for method in METHODS {
        let root = Marked::new(PLACES[1]);
        let outside = root.0.join("outside");
        let taken = [place(0, 'f', 0, 3), place(0, 'f', 0, 39), place(2, 'f', 2, 0)];
        let output = run_after(tree_job(&root, method, &["create"], &json!({"keep_files": true})), |job| {
            for name in &taken {
                fs::create_dir_all(job.join(name).parent().unwrap()).unwrap();
            }
            fs::write(job.join(&taken[0]), "precious").unwrap();
            fs::create_dir(job.join(&taken[1])).unwrap();
            symlink(&outside, job.join(&taken[2])).unwrap();
        });
        let end = output.ends()[0];
        assert_eq!(errors(end), [(ErrorKind::Fault, Some(libc::EEXIST), 3)], "{output:?}");
        assert_eq!(end.all_ops(), LANES * FILES - 3);
        let mut hit: Vec<_> = output.errors().iter().map(|error| (error.lane, error.number)).collect();
        hit.sort_unstable();
        assert_eq!(hit, [(Some(0), 3), (Some(0), 39), (Some(2), 0)]);
        assert_eq!(fs::read_to_string(root.0.join("job").join(&taken[0])).unwrap(), "precious");
        assert!(!outside.exists());
    }
}

#[test]
fn a_time_limit_leaves_just_the_names_that_were_made() {
    for (method, make, remove) in
        [("sync", "create", "unlink"), ("io_uring", "create", "unlink"), ("sync", "mkdir", "rmdir")]
    {
        let root = Marked::new(PLACES[1]);
        let mut job =
            tree_job(&root, method, &[make, remove], &json!({"tree": {"files": 100_000, "depth": 1, "width": 3}}));
        job["phases"][0] = json!({"operation": make, "time_limit_ns": 300_000_000, "rate_per_s": 1000});
        let output = run(&job);
        assert_eq!(output.code, 0, "{output:?}");
        let ends = output.ends();
        assert_eq!((ends[0].status, ends[1].status), (PhaseStatus::TimeLimit, PhaseStatus::Done));
        assert!(ends[0].all_ops() > 0 && ends[0].all_ops() < 1000, "{}", ends[0].all_ops());
        assert_eq!(ends[1].all_ops(), ends[0].all_ops());
        assert_eq!(root.remains(), NOTHING);
    }
}

#[test]
fn looking_can_go_on_for_a_given_time() {
    for method in METHODS {
        let root = Marked::new(PLACES[1]);
        let mut job =
            tree_job(&root, method, &["create", "stat", "open", "readdir"], &json!({"interval_ns": 20_000_000}));
        for phase in 1..4 {
            job["phases"][phase]["runtime_ns"] = json!(100_000_000);
        }
        let output = run(&job);
        assert_eq!(output.code, 0, "{output:?}");
        for end in &output.ends()[1..] {
            let names = if end.operation == Operation::Readdir { 8 } else { FILES };
            let ops = end.all_ops();
            assert!(ops > 2 * LANES * names, "{:?}: {ops} operations are not again and again", end.operation);
            let inside = |event: &&Event| matches!(event, Event::Interval(interval) if interval.phase == end.phase);
            let parts = output.events.iter().filter(inside).map(|event| match event {
                Event::Interval(interval) => interval.operations.iter().map(|part| part.ops).sum(),
                _ => 0,
            });
            assert_eq!(parts.sum::<u64>(), ops);
        }
    }
}

#[test]
fn each_operation_on_a_missing_name_fails_once() {
    for method in METHODS {
        for contents in [0, 700] {
            let root = Marked::new(PLACES[1]);
            let change = json!({"keep_files": true, "file_size_bytes": contents});
            assert_eq!(run(&tree_job(&root, method, &["create"], &change)).code, 0);
            let names = files(&root);
            let change = json!({"reuse_files": true, "file_size_bytes": contents});
            let job = tree_job(&root, method, &["stat", "open", "unlink"], &change);
            let output = run_after(job, |job| names.iter().for_each(|name| fs::remove_file(job.join(name)).unwrap()));
            for end in output.ends() {
                assert_eq!(
                    errors(end),
                    [(ErrorKind::Fault, Some(libc::ENOENT), LANES * FILES)],
                    "{method}: {output:?}"
                );
                assert_eq!((end.all_ops(), end.operations[0].latency.is_none()), (0, true), "{method}");
            }
            assert_eq!(root.remains(), NOTHING);
        }
    }
}

/// Run with a limit of file sizes; the first byte above it fails with EFBIG, a write up to it is short.
fn run_limited(root: &Marked, job: &Value, largest: u64) -> RunOutput {
    let file = root.0.join("job.json");
    fs::write(&file, job.to_string()).unwrap();
    let mut command = engine();
    let limited = command.arg("run").arg(&file).stdin(Stdio::null());
    // SAFETY: setrlimit is async-signal-safe and touches only its argument.
    unsafe {
        limited.pre_exec(move || {
            let limit = libc::rlimit { rlim_cur: largest, rlim_max: largest };
            libc::setrlimit(libc::RLIMIT_FSIZE, &raw const limit);
            Ok(())
        });
    }
    let output = run_output(&limited.output().unwrap());
    fs::remove_file(&file).unwrap();
    output
}

#[test]
fn a_write_that_fails_is_one_failed_create_and_the_file_stays() {
    for method in METHODS {
        for (largest, expected) in [(0, (ErrorKind::Fault, Some(libc::EFBIG))), (500, (ErrorKind::ShortWrite, None))] {
            let root = Marked::new(PLACES[1]);
            let job = tree_job(&root, method, &["create"], &json!({"keep_files": true}));
            let output = run_limited(&root, &job, largest);
            let end = output.ends()[0];
            assert_eq!(errors(end), [(expected.0, expected.1, LANES * FILES)], "{method}: {output:?}");
            assert_eq!((end.status, end.all_ops()), (PhaseStatus::Failed, 0), "{method}");
            assert_eq!(files(&root), all_places(false, 'f'));
            let sizes = files(&root).into_iter().map(|name| fs::metadata(root.0.join("job").join(name)).unwrap().len());
            assert!(sizes.clone().all(|size| size == largest), "{:?}", sizes.collect::<Vec<_>>());
        }
    }
}

#[test]
fn every_sync_policy() {
    let root = Marked::new(PLACES[0]);
    for sync in ["none", "fsync", "fdatasync", "o_sync", "o_dsync"] {
        for method in METHODS {
            let operations = ["create", "stat", "rename", "unlink"];
            let output = run(&tree_job(&root, method, &operations, &json!({"sync": sync, "tree": {"files": 3}})));
            assert_eq!(output.code, 0, "{output:?}");
            for end in output.ends() {
                let flushes = (sync == "fsync" || sync == "fdatasync") && end.operation != Operation::Stat;
                assert_eq!(end.lanes[0].sync_ns > 0, flushes, "{sync} {:?}", end.operation);
            }
        }
    }
}

#[test]
fn auto_takes_a_ring_only_for_depth_and_gives_the_reason() {
    let root = Marked::new(PLACES[1]);
    for (depth, method) in [(1, Method::Sync), (8, Method::IoUring)] {
        let output = run(&tree_job(&root, "auto", &["create", "readdir", "unlink"], &json!({"queue_depth": depth})));
        assert_eq!(output.code, 0, "{output:?}");
        let starts = starts(&output);
        let used: Vec<Method> = starts.iter().map(|(_, method, _)| *method).collect();
        assert_eq!(used, [method, Method::Sync, method]);
        assert!(starts[0].2.contains("openat") && starts[2].2.contains("unlinkat"), "{starts:?}");
        assert_eq!(starts[1].2.contains("io_uring cannot list"), depth > 1, "{starts:?}");
        assert!(starts[1].2.contains("getdents64"), "{starts:?}");
    }
}

/// Each of many operations in flight is in another directory.
#[test]
fn leaves_of_one_name_each() {
    let root = Marked::new(PLACES[1]);
    let change = json!({"tree": {"files": 300, "depth": 1, "width": 300}, "queue_depth": 128, "lanes": 2});
    let output = run(&tree_job(&root, "io_uring", &ROUND, &change));
    assert_eq!(output.code, 0, "{output:?}");
    assert!(output.ends().iter().all(|end| end.all_ops() == 600), "{output:?}");
    let report =
        |event: &Event| matches!(event, Event::Log(log) if log.message.contains("queue_depth is 128 but only 64"));
    assert!(output.events.iter().any(report), "{output:?}");
    assert_eq!(root.remains(), NOTHING);
}

#[test]
fn the_null_backend_has_names_too() {
    for (depth, contents) in [(1, 0), (16, 700)] {
        let output = run(&null_job(&json!({
            "lanes": 2, "queue_depth": depth, "tree": {"files": 1000, "depth": 2, "width": 3},
            "file_size_bytes": contents, "phases": phases(&ROUND),
        })));
        assert_eq!(output.code, 0, "{output:?}");
        for end in output.ends() {
            let names = if end.operation == Operation::Readdir { 9 } else { 1000 };
            assert_eq!((end.status, end.all_ops()), (PhaseStatus::Done, 2 * names), "{output:?}");
            assert_eq!(end.operations[0].latency.as_ref().unwrap().count, 2 * names);
        }
        assert_eq!(output.ends()[0].last_finisher.bytes, 2000 * contents);
    }
}
