//! Stalls, errors, corruption, control and safety, with the real engine.

use crate::common::{engine, file_job, null_job, run, run_output, signal, Marked, Session};
use assay_core::as_errno;
use assay_spec::{ByeStatus, ErrorKind, Event, Fault, OpKind, PhaseStatus};
use rustix::process::Signal;
use serde_json::{json, Value};
use std::io::{BufRead, BufReader, Write};
use std::process::Stdio;

const SECOND: u64 = 1_000_000_000;
/// Memory growth in bytes allowed to a job with a thousand times more data.
const MEMORY_TOLERANCE: u64 = 8 << 20;

/// In open loop, a stall of 0.3 s from the 200th of 1000 operations on.
fn stalled() -> crate::common::RunOutput {
    let stall = json!({"kind": "null", "stalls": [{"at_op": 200, "duration_ns": 300_000_000}]});
    let phase = json!({"operation": "read", "runtime_ns": SECOND, "rate_per_s": 1000});
    run(&null_job(&json!({"target": stall, "phases": [phase]})))
}

fn slower_than(output: &crate::common::RunOutput, ns: u64) -> u64 {
    let histogram = &output.ends()[0].latency(OpKind::Read).unwrap().histogram;
    let counts = decode(histogram);
    counts.iter_recorded().filter(|value| value.value_iterated_to() > ns).map(|value| value.count_at_value()).sum()
}

fn decode(histogram: &str) -> hdrhistogram::Histogram<u64> {
    use base64::Engine as _;
    let bytes = base64::engine::general_purpose::STANDARD.decode(histogram).unwrap();
    hdrhistogram::serialization::Deserializer::new().deserialize(&mut bytes.as_slice()).unwrap()
}

/// A busy machine makes more operations late, but never loses any. The tests of `drive` check the exact numbers.
#[test]
fn open_loop_shows_the_whole_stall() {
    let output = stalled();
    let end = output.ends()[0];
    assert_eq!(end.ops(OpKind::Read) + end.unstarted_ops, 1000, "nothing is skipped");
    assert!(end.latency(OpKind::Read).unwrap().max_ns >= 299_000_000);
    // Operations due evenly over the stall wait for evenly spread times.
    for (waited, late) in [(20_000_000, 279), (150_000_000, 149)] {
        let found = slower_than(&output, waited) + end.unstarted_ops;
        assert!(found >= late, "{found} operations were {waited} ns late");
    }
}

#[test]
fn too_high_a_rate_is_reported() {
    let output = run(&null_job(&json!({
        "target": {"kind": "null", "latency": {"distribution": "fixed", "ns": 1_000_000}},
        "phases": [{"operation": "read", "runtime_ns": SECOND / 2, "rate_per_s": 10_000}],
    })));
    let end = output.ends()[0];
    assert_eq!(end.target_per_s, Some(10_000.0));
    assert_eq!(end.ops(OpKind::Read) + end.unstarted_ops, 5000, "every operation is done or told as never started");
    assert!(end.unstarted_ops > 3500, "{}", end.unstarted_ops);
}

#[test]
fn intervals_add_up_to_the_totals() {
    let output = run(&null_job(&json!({
        "target": {"kind": "null", "latency": {"distribution": "exponential", "mean_ns": 100_000}},
        "lanes": 4, "queue_depth": 8, "interval_ns": 20_000_000, "file_size_bytes": 64 << 20,
        "phases": [{"operation": "random_mix", "mix": {"read": 70, "write": 30}}],
    })));
    let (mut ops, mut bytes, mut merged) = (0, 0, hdrhistogram::Histogram::<u64>::new(3).unwrap());
    let mut count = 0;
    for event in &output.events {
        if let Event::Interval(interval) = event {
            count += 1;
            let reads = interval.operations.iter().find(|part| part.operation == OpKind::Read);
            ops += reads.map_or(0, |reads| reads.ops);
            bytes += reads.map_or(0, |reads| reads.bytes);
            if let Some(text) = reads.and_then(|reads| reads.latency.as_ref()) {
                merged.add(decode(text)).unwrap();
            }
        }
    }
    let end = output.ends()[0];
    // The operations take 0.2 s at least.
    assert!(count >= 2, "{count} intervals");
    assert_eq!((ops, bytes), (end.ops(OpKind::Read), end.bytes(OpKind::Read)));
    let total = decode(&end.latency(OpKind::Read).unwrap().histogram);
    assert_eq!(merged.len(), total.len());
    for percent in [0.1, 50.0, 90.0, 99.0, 99.9, 100.0] {
        assert_eq!(merged.value_at_percentile(percent), total.value_at_percentile(percent));
    }
    let share = end.ops(OpKind::Read) as f64 / (end.ops(OpKind::Read) + end.ops(OpKind::Write)) as f64;
    assert!((0.65..0.75).contains(&share), "{share}");
}

#[test]
fn slow_lane_separates_first_and_last_finisher() {
    let slow: Vec<Value> = (0..10).map(|at| json!({"at_op": at * 25, "duration_ns": 20_000_000, "lane": 2})).collect();
    let output = run(&null_job(&json!({
        "target": {"kind": "null", "latency": {"distribution": "fixed", "ns": 400_000}, "stalls": slow},
        "lanes": 4, "phases": [{"operation": "read"}],
    })));
    let end = output.ends()[0];
    assert_eq!(end.last_finisher.ops, 4 * 256);
    // Ten stalls, and the other operations after them.
    assert!(end.last_finisher.end_ns > 10 * 20_000_000 + 246 * 400_000);
    let first = end.lanes.iter().map(|lane| lane.end_ns).min();
    assert_eq!(Some(end.first_finisher.end_ns), first);
    assert!((256..=4 * 256).contains(&end.first_finisher.ops), "{:?}", end.first_finisher);
    if end.first_finisher.end_ns < end.last_finisher.end_ns {
        assert!(end.first_finisher.ops < end.last_finisher.ops, "{end:?}");
    }
    let steady = end.steady.unwrap();
    assert!(steady.start_ns > 0 && steady.end_ns <= end.first_finisher.end_ns && steady.ops <= end.first_finisher.ops);
}

#[test]
fn each_scripted_error_is_one_failed_operation() {
    let errors = json!([{"at_op": 3, "errno": 5}, {"at_op": 9, "errno": 28}]);
    let output = run(&null_job(&json!({
        "target": {"kind": "null", "errors": errors}, "phases": [{"operation": "write"}, {"operation": "read"}],
    })));
    assert_eq!((output.code, output.bye().status), (1, ByeStatus::Errors));
    for end in output.ends() {
        assert_eq!(end.status, PhaseStatus::Done);
        assert_eq!(end.ops(OpKind::Read) + end.ops(OpKind::Write), 254);
        let found: Vec<_> = end.errors.iter().map(|error| (error.fault.and_then(as_errno), error.count)).collect();
        assert_eq!(found, vec![(Some(5), 1), (Some(28), 1)]);
    }
    let sample = output.errors()[0];
    assert_eq!((sample.offset, sample.length, sample.action.as_str()), (3 * 4096, 4096, "write"));
}

#[test]
fn too_many_errors_end_the_phase_and_skip_the_rest() {
    let errors: Vec<Value> = (0..20).map(|at| json!({"at_op": at, "errno": 5})).collect();
    let output = run(&null_job(&json!({
        "target": {"kind": "null", "errors": errors}, "error_limit": 7,
        "phases": [{"operation": "write"}, {"operation": "read"}],
    })));
    let statuses: Vec<_> = output.ends().iter().map(|end| end.status).collect();
    assert_eq!(statuses, vec![PhaseStatus::Failed, PhaseStatus::Skipped]);
    assert_eq!(output.ends()[0].errors[0].count, 7);
}

#[test]
fn a_corrupted_byte_is_found_and_named_later() {
    let root = Marked::new("/var/tmp");
    let written = file_job(&root, &json!({"seed": 8, "keep_files": true, "phases": [{"operation": "write"}]}));
    assert_eq!(run(&written).code, 0);
    let file = root.0.join("job/f0");
    let mut data = std::fs::read(&file).unwrap();
    let right = data[700_001];
    data[700_001] ^= 0x40;
    std::fs::write(&file, data).unwrap();
    let check = json!({"seed": 8, "reuse_files": true, "data": {"verify": true}, "phases": [{"operation": "read"}]});
    let output = run(&file_job(&root, &check));
    assert_eq!(output.code, 1);
    let error = output.errors()[0];
    assert_eq!((error.kind, error.offset), (ErrorKind::Corrupt, 700_001));
    assert!(error.object.ends_with("/job/f0"), "{}", error.object);
    let (wrong, right) = (format!("0x{:02x}", right ^ 0x40), format!("0x{right:02x}"));
    assert!(error.message.contains(&wrong) && error.message.contains(&right), "{}", error.message);
    let end = output.ends()[0];
    assert_eq!((end.errors[0].count, end.ops(OpKind::Read)), (1, 255));
    assert_eq!(root.remains(), Vec::<String>::new());
}

#[test]
fn a_time_limit_leaves_data_that_prepare_completes() {
    let root = Marked::new("/dev/shm");
    let phases = json!([
        {"operation": "write", "time_limit_ns": 1}, {"operation": "prepare", "measured": false}, {"operation": "read"}
    ]);
    let output =
        run(&file_job(&root, &json!({"phases": phases, "data": {"verify": true}, "file_size_bytes": 64 << 20})));
    assert_eq!(output.code, 0, "{output:?}");
    let ends = output.ends();
    assert_eq!(ends[0].status, PhaseStatus::TimeLimit);
    assert_eq!(ends[0].bytes(OpKind::Write) + ends[1].bytes(OpKind::Write), 64 << 20);
    assert_eq!(ends[2].verified_bytes, 64 << 20);
}

#[test]
fn a_huge_file_takes_no_more_memory_than_a_small_one() {
    let root = Marked::new("/var/tmp");
    let [small, huge] = [1 << 20, 100 << 30].map(|size: u64| {
        std::fs::create_dir(root.0.join("job")).unwrap();
        std::fs::File::create(root.0.join("job/f0")).unwrap().set_len(size).unwrap();
        let output = run(&file_job(
            &root,
            &json!({
                "reuse_files": true, "file_size_bytes": size, "queue_depth": 16,
                "phases": [{"operation": "random_read", "runtime_ns": SECOND / 2}],
            }),
        ));
        assert_eq!(output.code, 0, "{output:?}");
        output.bye().max_rss_bytes
    });
    assert!(huge < small + MEMORY_TOLERANCE, "{small} and {huge}");
}

/// Starts a job on standard input that would run for a minute, and waits until it runs.
fn long_job(root: &Marked) -> (std::process::Child, BufReader<std::process::ChildStdout>) {
    let job = file_job(root, &json!({"phases": [{"operation": "write", "runtime_ns": 60 * SECOND}]}));
    let mut child =
        engine().arg("run").stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    writeln!(child.stdin.as_mut().unwrap(), "{job}").unwrap();
    let mut output = BufReader::new(child.stdout.take().unwrap());
    let mut line = String::new();
    while !line.contains("phase_start") {
        line.clear();
        assert!(output.read_line(&mut line).unwrap() > 0);
    }
    (child, output)
}

#[test]
fn a_stop_line_the_end_of_input_and_a_signal_each_end_the_job_in_order() {
    for way in ["line", "end", "signal"] {
        let root = Marked::new("/dev/shm");
        let (mut child, output) = long_job(&root);
        match way {
            "line" => writeln!(child.stdin.as_mut().unwrap(), r#"{{"stop":true}}"#).unwrap(),
            "end" => drop(child.stdin.take()),
            _ => signal(&child, Signal::TERM),
        }
        let last = output.lines().map(Result::unwrap).last().unwrap();
        assert!(matches!(serde_json::from_str(&last).unwrap(), Event::Bye(bye) if bye.status == ByeStatus::Stopped));
        assert_eq!(child.wait().unwrap().code(), Some(1), "{way}");
        assert_eq!(root.remains(), Vec::<String>::new(), "{way}");
    }
}

#[test]
fn stuck_lane_does_not_block_the_engine() {
    let job = null_job(&json!({
        "target": {"kind": "null", "latency": {"distribution": "fixed", "ns": 200_000},
                   "stalls": [{"at_op": 100, "duration_ns": 600 * SECOND, "lane": 1}]},
        "lanes": 2, "interval_ns": 20_000_000, "phases": [{"operation": "read", "runtime_ns": 600 * SECOND}],
    }));
    let mut session = Session::start(&job);
    // When both lanes have completed a thousand together, the lane that stops at a hundred has long stopped.
    let mut done = 0;
    while done < 1000 {
        done += session.until("interval")["operations"][0]["ops"].as_u64().unwrap();
    }
    session.send_line(r#"{"stop":true}"#);
    let output = session.rest();
    let end = output.ends()[0];
    let of = |event: &Event| match event {
        Event::Interval(interval) => interval.operations.iter().map(|part| part.ops).sum(),
        _ => 0,
    };
    let sum: u64 = output.events.iter().map(of).sum();
    assert_eq!(sum + done, end.ops(OpKind::Read));
    assert_eq!(end.latency(OpKind::Read).unwrap().count, end.ops(OpKind::Read));
    assert_eq!(end.start_skew_ns, 0, "one lane has ended");
    assert!(end.last_finisher.end_ns < 600 * SECOND, "the stall is not waited for");
    let report = output.events.iter().any(|event| matches!(event, Event::Log(log) if log.message.contains("lane 1")));
    assert!(report, "{output:?}");
}

#[test]
fn a_write_that_fails_at_the_end_is_reported() {
    use std::os::unix::process::CommandExt;
    let root = Marked::new("/dev/shm");
    let job = file_job(
        &root,
        &json!({
            "file_size_bytes": 32768, "sync": "none", "phases": [{"operation": "fwrite"}, {"operation": "read"}],
        }),
    );
    let file = root.0.join("job.json");
    std::fs::write(&file, job.to_string()).unwrap();
    let mut command = engine();
    let limited = command.arg("run").arg(&file).stdin(Stdio::null());
    // SAFETY: setrlimit is async-signal-safe and touches only its argument.
    unsafe {
        limited.pre_exec(|| {
            let limit = libc::rlimit { rlim_cur: 28_672, rlim_max: 28_672 };
            libc::setrlimit(libc::RLIMIT_FSIZE, &raw const limit);
            Ok(())
        });
    }
    let output = run_output(&limited.output().unwrap());
    std::fs::remove_file(&file).unwrap();
    assert_eq!((output.code, output.ends()[0].status), (1, PhaseStatus::Failed), "{output:?}");
    assert_eq!(output.errors()[0].fault.and_then(as_errno), Some(libc::EFBIG));
    assert_eq!(output.ends()[0].errors[0].fault.and_then(as_errno), Some(libc::EFBIG));
    assert!(output.bye().reason.as_ref().unwrap().contains("File too large"), "{:?}", output.bye());
    assert_eq!(root.remains(), Vec::<String>::new());
}

#[test]
fn nothing_outside_the_marked_directory_is_written() {
    let root = Marked::new("/var/tmp");
    let job = |change: Value| {
        let mut job = file_job(&root, &json!({"phases": [{"operation": "write"}]}));
        for (key, value) in change.as_object().unwrap() {
            job["target"][key] = value.clone();
        }
        job
    };
    let outside = Marked::new("/var/tmp");
    let unmarked = Marked::new("/var/tmp");
    std::fs::remove_file(unmarked.0.join(".assay-target")).unwrap();
    let link = root.0.join("link");
    std::os::unix::fs::symlink(&outside.0, &link).unwrap();
    let refusals = [
        (json!({"root": unmarked.path()}), "has no .assay-target"),
        (json!({"root": link}), "symbolic link"),
        (json!({"root": format!("{}/../x", root.path())}), "without . or .. parts"),
        (json!({"root": "relative"}), "absolute path"),
        (json!({"directory": "../x"}), "plain name"),
        (json!({"directory": ".."}), "plain name"),
        (json!({"directory": "a/b"}), "plain name"),
        (json!({"directory": "link"}), "already there"),
    ];
    for (change, reason) in refusals {
        let output = run(&job(change.clone()));
        assert_eq!(output.code, 2, "{change}");
        assert!(output.stderr.contains(reason), "{change}: {}", output.stderr);
    }
    assert_eq!(outside.remains(), Vec::<String>::new());
    assert_eq!(unmarked.remains(), Vec::<String>::new());
}

#[test]
fn nothing_planted_in_place_of_a_file_is_used() {
    for (plant, reason) in [
        ("symlink", "leads out of the marked directory"),
        ("hard link", "not a plain file with one name"),
        ("pipe", "not a plain file with one name"),
    ] {
        let root = Marked::new("/var/tmp");
        let victim = root.0.join("victim");
        std::fs::write(&victim, "precious").unwrap();
        std::fs::create_dir(root.0.join("job")).unwrap();
        let place = root.0.join("job/f0");
        match plant {
            "symlink" => std::os::unix::fs::symlink(&victim, &place).unwrap(),
            "hard link" => std::fs::hard_link(&victim, &place).unwrap(),
            _ => assert!(std::process::Command::new("mkfifo").arg(&place).status().unwrap().success()),
        }
        for operation in ["write", "rewrite", "read"] {
            let output = run(&file_job(
                &root,
                &json!({
                    "reuse_files": true, "keep_files": true, "phases": [{"operation": operation}],
                }),
            ));
            assert_eq!(output.code, 1, "{plant} {operation}");
            assert!(output.errors()[0].message.contains(reason), "{plant} {operation}: {output:?}");
        }
        assert_eq!(std::fs::read_to_string(&victim).unwrap(), "precious");
    }
}

#[test]
fn devices_are_refused_unless_confirmed_and_free() {
    for (path, destroy, reason) in [("/dev/null", true, "not a block device"), ("/dev/loop0", false, "must be true")] {
        let target = json!({"kind": "device", "path": path, "destroy": destroy});
        let output = run(&null_job(&json!({"target": target, "layout": "shared", "phases": [{"operation": "write"}]})));
        assert_eq!(output.code, 2);
        assert!(output.stderr.contains(reason), "{}", output.stderr);
    }
    // The device of the root file system, if it is a device and readable.
    let table = std::fs::read_to_string("/proc/self/mounts").unwrap();
    let mounted = table.lines().find_map(|line| line.split(' ').next().filter(|device| device.starts_with("/dev/")));
    match mounted {
        Some(device) => {
            let target = json!({"kind": "device", "path": device, "destroy": true});
            let output =
                run(&null_job(&json!({"target": target, "layout": "shared", "phases": [{"operation": "read"}]})));
            assert_eq!(output.code, 2);
            let reason = output.stderr;
            assert!(
                ["is mounted or in use", "ermission denied", "not permitted"]
                    .iter()
                    .any(|words| reason.contains(words)),
                "{reason}"
            );
        }
        None => println!("SKIPPED: no mounted block device here"),
    }
}

#[test]
fn lanes_of_all_counts_start_and_end() {
    for lanes in [1, 2, 64, 256] {
        let phases = json!([{"operation": "random_read"}]);
        let output =
            run(&null_job(&json!({"lanes": lanes, "layout": "shared", "file_size_bytes": 64 << 20, "phases": phases})));
        let end = output.ends()[0];
        assert_eq!(end.ops(OpKind::Read), (64 << 20) / 4096);
        assert_eq!(end.lanes.len(), lanes);
    }
}

#[test]
fn two_stops_are_no_error() {
    let root = Marked::new("/dev/shm");
    let (mut child, output) = long_job(&root);
    let input = child.stdin.as_mut().unwrap();
    let _ = writeln!(input, r#"{{"stop":true}}"#);
    let _ = writeln!(input, r#"{{"stop":true}}"#);
    let last = output.lines().map(Result::unwrap).last().unwrap();
    assert!(last.contains(r#""status":"stopped""#), "{last}");
    assert_eq!(child.wait().unwrap().code(), Some(1));
    assert_eq!(root.remains(), Vec::<String>::new());
}

/// Each kind of operation has its own counts and latencies, and a scripted fault its domain and name.
#[test]
fn a_mix_of_operations_on_objects_is_counted_kind_by_kind() {
    let job = null_job(&json!({
        "target": {"kind": "null", "errors": [{"at_op": 3, "errno": 28, "lane": 0}]},
        "lanes": 2, "queue_depth": 4, "file_size_bytes": 3_000_000, "record_size_bytes": 65_536,
        "objects": {"count": 100, "part_size_bytes": 1_000_000},
        "phases": [
            {"operation": "put"}, {"operation": "get", "range_bytes": 1000}, {"operation": "list"},
            {"operation": "object_mix", "mix": {"get": 45, "put": 15, "delete": 10, "head": 30}},
            {"operation": "delete"},
        ],
    }));
    let output = run(&job);
    let ends = output.ends();
    assert_eq!(ends.iter().map(|end| end.status).collect::<Vec<_>>(), [PhaseStatus::Done; 5], "{output:?}");
    let fault = ends[0].errors[0].fault.unwrap();
    assert_eq!((fault, ends[0].errors[0].name.as_deref()), (Fault::os(28), Some("ENOSPC")));
    let (parts, whole) = (ends[0].ops(OpKind::PutPart), ends[0].ops(OpKind::CompleteUpload));
    assert!(parts >= 3 * 199 && whole == 199, "one upload failed: {parts} parts, {whole} objects");
    assert_eq!((ends[1].ops(OpKind::Get), ends[1].bytes(OpKind::Get)), (198, 198_000), "one fails in each phase");
    assert_eq!(ends[2].ops(OpKind::List), 2);
    let kinds: Vec<OpKind> = ends[3].operations.iter().map(|totals| totals.operation).collect();
    for kind in [OpKind::Get, OpKind::Head, OpKind::Delete, OpKind::PutPart] {
        assert!(kinds.contains(&kind), "{kinds:?}");
    }
    for totals in ends.iter().flat_map(|end| &end.operations) {
        assert_eq!(totals.latency.as_ref().map_or(0, |latency| latency.count), totals.ops);
    }
}

#[test]
fn a_job_of_another_contract_is_refused_in_one_line() {
    let mut job = null_job(&json!({"phases": [{"operation": "random_mix", "read_percent": 70}]}));
    job["spec_version"] = json!(1);
    let output = run(&job);
    assert_eq!((output.code, output.events.len()), (2, 0));
    assert_eq!(output.stderr, "error: spec_version: this engine speaks version 2, the job version 1\n");
}

/// Bodies are generated piece by piece, so the data in flight may be a thousand times larger than its memory.
#[test]
fn large_objects_take_little_memory() {
    let [small, large] = [1 << 16, 64 << 20].map(|size: u64| {
        let job = null_job(&json!({
            "target": {"kind": "null", "make_data": true}, "queue_depth": 64, "file_size_bytes": size,
            "record_size_bytes": 1 << 16, "objects": {"count": 64}, "phases": [{"operation": "put"}],
        }));
        let output = run(&job);
        let end = output.ends()[0];
        assert_eq!((end.ops(OpKind::Put), end.bytes(OpKind::Put)), (64, 64 * size), "{output:?}");
        output.bye().max_rss_bytes
    });
    assert!(large < small + MEMORY_TOLERANCE, "{small} and {large}");
}
