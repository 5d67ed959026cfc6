//! Several engines of one host as one: nothing is lost when their events are merged, and all end together.

use crate::common::{engine, file_job, null_job, run_output, Marked, RunOutput};
use assay_drive::histogram::Merged;
use assay_spec::{ByeStatus, Event, Interval, OpKind, PhaseEnd, PhaseStatus};
use serde_json::{json, Value};
use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Read, Write};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Output, Stdio};

fn start(words: &[&str]) -> Child {
    let mut relay = engine();
    let relay = relay.arg("relay").args(words).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    relay.spawn().unwrap()
}

/// Run a job to its end; the input stays open until then.
fn relayed(job: &Value, words: &[&str]) -> RunOutput {
    let mut child = start(words);
    let mut input = child.stdin.take().unwrap();
    writeln!(input, "{job}").unwrap();
    let (mut stdout, mut stderr) = (Vec::new(), Vec::new());
    child.stdout.take().unwrap().read_to_end(&mut stdout).unwrap();
    child.stderr.take().unwrap().read_to_end(&mut stderr).unwrap();
    drop(input);
    run_output(&Output { status: child.wait().unwrap(), stdout, stderr })
}

/// A program that runs the engine, and stores the output of each in a file in `folder`.
fn overheard(folder: &Path) -> String {
    let program = folder.join("engine");
    let text = format!("#!/bin/sh\n{} \"$@\" | tee {}/said.$$\n", env!("CARGO_BIN_EXE_assay-engine"), folder.display());
    std::fs::write(&program, text).unwrap();
    std::fs::set_permissions(&program, std::fs::Permissions::from_mode(0o755)).unwrap();
    program.to_str().unwrap().to_owned()
}

fn intervals(output: &RunOutput) -> Vec<&Interval> {
    let found = output.events.iter().filter_map(|event| match event {
        Event::Interval(interval) => Some(interval),
        _ => None,
    });
    found.collect()
}

fn counts(intervals: &[&Interval]) -> BTreeMap<String, (u64, u64, u64)> {
    let mut sums = BTreeMap::new();
    for part in intervals.iter().flat_map(|interval| &interval.operations) {
        let sum: &mut (u64, u64, u64) = sums.entry(part.operation.name().to_owned()).or_default();
        *sum = (sum.0 + part.ops, sum.1 + part.bytes, sum.2 + part.errors);
    }
    sums
}

#[test]
fn merged_percentiles_are_those_of_all_operations_pooled() {
    let folder = Marked::new("/tmp");
    let latency = json!({"distribution": "exponential", "mean_ns": 200_000});
    let errors = json!([{"at_op": 3, "errno": 5}]);
    let mixed = json!([{"operation": "random_mix", "mix": {"read": 60, "write": 40}, "runtime_ns": 700_000_000}]);
    let job = null_job(&json!({
        "target": {"kind": "null", "latency": latency, "errors": errors}, "lanes": 6, "interval_ns": 100_000_000, "phases": mixed,
    }));
    let merged = relayed(&job, &["--tasks", "3", "--engine", &overheard(&folder.0)]);
    let engines: Vec<RunOutput> = folder
        .remains()
        .iter()
        .filter(|name| name.starts_with("said."))
        .map(|name| std::fs::read(folder.0.join(name)).unwrap())
        .map(|stdout| run_output(&Output { status: std::process::ExitStatus::default(), stdout, stderr: Vec::new() }))
        .collect();
    assert_eq!(engines.len(), 3, "{}", merged.stderr);
    assert_eq!(merged.ends().len(), 1, "{merged:?}");
    let end = merged.ends()[0];
    let parts: Vec<&PhaseEnd> = engines.iter().map(|engine| engine.ends()[0]).collect();
    for kind in [OpKind::Read, OpKind::Write] {
        let mut pooled = Merged::default();
        for part in &parts {
            assert!(pooled.add_encoded(&part.latency(kind).unwrap().histogram));
        }
        let (pooled, report) = (pooled.summary().unwrap(), end.latency(kind).unwrap());
        assert_eq!(pooled.histogram, report.histogram);
        assert_eq!(
            (pooled.count, pooled.p50_ns, pooled.p99_ns, pooled.p9999_ns, pooled.max_ns),
            (report.count, report.p50_ns, report.p99_ns, report.p9999_ns, report.max_ns)
        );
        assert_eq!(report.count, end.ops(kind));
        assert_eq!(end.ops(kind), parts.iter().map(|part| part.ops(kind)).sum::<u64>());
        assert_eq!(end.bytes(kind), parts.iter().map(|part| part.bytes(kind)).sum::<u64>());
    }
    let all: Vec<&Interval> = engines.iter().flat_map(intervals).collect();
    assert_eq!(counts(&intervals(&merged)), counts(&all), "adding up intervals gives the totals");
    assert!(intervals(&merged).len() < all.len());
    let failed = |end: &PhaseEnd| end.errors.iter().map(|error| error.count).sum::<u64>();
    assert_eq!((failed(end), failed(end) >= 6), (parts.iter().map(|part| failed(part)).sum(), true));
    let lanes: Vec<u32> = end.lanes.iter().map(|lane| lane.lane).collect();
    assert_eq!(lanes, [0, 1, 2, 3, 4, 5]);
    assert_eq!(end.last_finisher.ops, end.all_ops());
    assert!(end.steady.is_some_and(|steady| steady.ops <= end.last_finisher.ops));
    assert!(end.first_finisher.end_ns <= end.last_finisher.end_ns);
}

#[test]
fn the_hello_has_the_job_before_it_was_split() {
    let job = null_job(&json!({"lanes": 4, "phases": [{"operation": "write"}, {"operation": "read"}]}));
    let output = relayed(&job, &["--tasks", "2"]);
    let Event::Hello(hello) = &output.events[0] else { panic!("{:?}", output.events[0]) };
    assert_eq!((hello.job.lanes, hello.job.ranks, hello.job.rank, hello.job.wait_for_go), (4, 1, 0, false));
    assert_eq!(output.ends().len(), 2);
    assert_eq!((output.bye().status, output.code), (ByeStatus::Ok, 0));
    let starts = output.events.iter().filter(|event| matches!(event, Event::PhaseStart(_))).count();
    assert_eq!(starts, 2, "one for each phase, whatever the number of engines");
}

#[test]
fn engines_of_a_host_write_one_data_set() {
    let root = Marked::new("/tmp");
    let phases = json!([{"operation": "write"}, {"operation": "read"}]);
    let more =
        json!({"lanes": 4, "layout": "shared", "file_size_bytes": 4 << 20, "data": {"verify": true}, "phases": phases});
    let output = relayed(&file_job(&root, &more), &["--tasks", "4"]);
    assert_eq!(output.bye().status, ByeStatus::Ok, "{:?}", output.errors());
    let read = output.ends()[1];
    assert_eq!((read.bytes(OpKind::Read), read.verified_bytes), (4 << 20, 4 << 20));
    assert_eq!(root.remains(), Vec::<String>::new());
}

/// Two engines that have begun to write for a minute, with their input and output.
fn writing(root: &Marked) -> (Child, ChildStdin, BufReader<ChildStdout>) {
    let mut child = start(&["--tasks", "2"]);
    let mut input = child.stdin.take().unwrap();
    let phases = json!([{"operation": "write", "runtime_ns": 60_000_000_000_u64}]);
    writeln!(input, "{}", file_job(root, &json!({"lanes": 2, "phases": phases}))).unwrap();
    let mut output = BufReader::new(child.stdout.take().unwrap());
    let mut line = String::new();
    while !line.contains("phase_start") {
        line.clear();
        assert!(output.read_line(&mut line).unwrap() > 0);
    }
    (child, input, output)
}

#[test]
fn one_that_cannot_go_on_stops_all() {
    let root = Marked::new("/tmp");
    let (mut child, input, mut output) = writing(&root);
    let children = std::fs::read_to_string(format!("/proc/{0}/task/{0}/children", child.id())).unwrap();
    let victim = children.split_whitespace().next().unwrap().parse().unwrap();
    // SAFETY: it is the child of our child, which is there for as long as nobody has waited for it.
    assert_eq!(unsafe { libc::kill(victim, libc::SIGKILL) }, 0);
    let (mut rest, mut stderr) = (String::new(), String::new());
    output.read_to_string(&mut rest).unwrap();
    child.stderr.take().unwrap().read_to_string(&mut stderr).unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(1));
    assert!(stderr.contains("engine 1 of 2 was killed by signal 9"), "{stderr}");
    assert!(!rest.contains("\"bye\""), "there is no leave of all");
    drop(input);
}

#[test]
fn without_a_controller_all_end_and_leave_nothing() {
    let root = Marked::new("/tmp");
    let (mut child, input, mut output) = writing(&root);
    drop(input);
    let mut rest = String::new();
    output.read_to_string(&mut rest).unwrap();
    let last: Event = serde_json::from_str(rest.lines().last().unwrap()).unwrap();
    assert!(matches!(last, Event::Bye(bye) if bye.status == ByeStatus::Stopped));
    child.wait().unwrap();
    assert_eq!(root.remains(), Vec::<String>::new());
}

#[test]
fn a_job_that_cannot_be_shared_out_is_refused() {
    let output = relayed(&null_job(&json!({"lanes": 3, "phases": [{"operation": "read"}]})), &["--tasks", "2"]);
    assert_eq!(output.code, 2);
    assert_eq!(output.stderr.trim(), "error: lanes: 3 lanes cannot be shared out evenly among 2 engines");
    assert!(output.events.is_empty());
    let bad = relayed(&null_job(&json!({"lanes": 2, "phases": []})), &["--tasks", "2"]);
    assert_eq!(bad.code, 2);
    assert!(bad.stderr.contains("phases"), "{}", bad.stderr);
}

#[test]
fn a_phase_that_one_has_failed_has_failed() {
    let latency = json!({"distribution": "fixed", "ns": 1_000_000});
    let errors = json!([{"at_op": 0, "errno": 28}]);
    let more = json!({
        "target": {"kind": "null", "latency": latency, "errors": errors}, "lanes": 2, "error_limit": 1,
        "phases": [{"operation": "write"}, {"operation": "read"}],
    });
    let output = relayed(&null_job(&more), &["--tasks", "2"]);
    assert_eq!(output.ends()[0].status, PhaseStatus::Failed);
    assert_eq!((output.bye().status, output.code), (ByeStatus::Errors, 1));
}
