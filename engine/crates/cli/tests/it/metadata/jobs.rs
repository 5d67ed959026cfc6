//! Jobs on trees, and where their files are.

use crate::common::{engine, file_job, run_output, Marked, RunOutput};
use assay_core::as_errno;
use assay_spec::{ErrorKind, Event, Method, Operation, PhaseEnd};
use serde_json::{json, Value};
use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::path::{Path, PathBuf};
use std::process::Stdio;

pub(crate) const LANES: u64 = 3;
pub(crate) const FILES: u64 = 40;
pub(crate) const SEED: u64 = 9;

/// Directories on a disk and in memory.
pub(crate) const PLACES: [&str; 2] = ["/var/tmp", "/dev/shm"];
pub(crate) const METHODS: [&str; 2] = ["sync", "io_uring"];
pub(crate) const NOTHING: [&str; 0] = [];

fn depth(method: &str) -> u64 {
    if method == "io_uring" {
        8
    } else {
        1
    }
}

pub(crate) fn phases(operations: &[&str]) -> Value {
    operations.iter().map(|operation| json!({"operation": operation})).collect()
}

/// A job on a tree of 3 lanes with 40 files each, with `change` merged in.
pub(crate) fn tree_job(root: &Marked, method: &str, operations: &[&str], change: &Value) -> Value {
    let mut job = file_job(
        root,
        &json!({
            "lanes": LANES, "seed": SEED, "tree": {"files": FILES, "depth": 2, "width": 3}, "file_size_bytes": 700,
            "method": method, "queue_depth": depth(method), "sync": "none", "error_limit": 1000,
            "phases": phases(operations),
        }),
    );
    for (key, value) in change.as_object().unwrap() {
        job[key] = value.clone();
    }
    job
}

/// Run a job that waits, and change its directory before it starts.
pub(crate) fn run_after(job: Value, meanwhile: impl FnOnce(&Path)) -> RunOutput {
    run_until(job, meanwhile, None)
}

/// The same; stop the job when its output contains `last`, if given.
pub(crate) fn run_until(mut job: Value, meanwhile: impl FnOnce(&Path), last: Option<&str>) -> RunOutput {
    job["wait_for_go"] = json!(true);
    let target = &job["target"];
    let folder = Path::new(target["root"].as_str().unwrap()).join(target["directory"].as_str().unwrap());
    let mut child =
        engine().arg("run").stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    writeln!(child.stdin.as_mut().unwrap(), "{job}").unwrap();
    let mut output = BufReader::new(child.stdout.take().unwrap());
    let mut text = String::new();
    while !text.contains(r#""event":"ready""#) {
        assert!(output.read_line(&mut text).unwrap() > 0, "{text}");
    }
    meanwhile(&folder);
    // For all following barriers: two for each phase, and one before the removal.
    let barriers = 2 * job["phases"].as_array().unwrap().len() + 1;
    for _ in 0..barriers {
        writeln!(child.stdin.as_mut().unwrap(), r#"{{"go":true}}"#).unwrap();
    }
    if let Some(word) = last {
        while !text.contains(word) {
            assert!(output.read_line(&mut text).unwrap() > 0, "{text}");
        }
        writeln!(child.stdin.as_mut().unwrap(), r#"{{"stop":true}}"#).unwrap();
    }
    output.read_to_string(&mut text).unwrap();
    let mut ended = child.wait_with_output().unwrap();
    ended.stdout = text.into_bytes();
    run_output(&ended)
}

pub(crate) fn starts(output: &RunOutput) -> Vec<(Operation, Method, String)> {
    let starts = output.events.iter().filter_map(|event| match event {
        Event::PhaseStart(start) => Some((start.operation, start.method, start.method_reason.clone())),
        _ => None,
    });
    starts.collect()
}

/// Errors of a phase: kind, errno, how many.
pub(crate) fn errors(end: &PhaseEnd) -> Vec<(ErrorKind, Option<i32>, u64)> {
    end.errors.iter().map(|error| (error.kind, error.fault.and_then(as_errno), error.count)).collect()
}

/// Paths below the job's directory, without directories.
pub(crate) fn files(root: &Marked) -> Vec<String> {
    fn walk(folder: &Path, found: &mut Vec<PathBuf>) {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                walk(&path, found);
            } else if !path.ends_with(".assay-job") {
                found.push(path);
            }
        }
    }
    let (job, mut found) = (root.0.join("job"), Vec::new());
    walk(&job, &mut found);
    let mut names: Vec<String> =
        found.iter().map(|path| path.strip_prefix(&job).unwrap().to_str().unwrap().to_owned()).collect();
    names.sort();
    names
}

/// Path of a lane's file: each of 9 leaves has 5 names.
pub(crate) fn place(top: u64, letter: char, lane: u64, number: u64) -> String {
    format!("t{top}/b{}/b{}/{letter}{lane}.{number}", number / 15, number / 5 % 3)
}

pub(crate) fn all_places(shared: bool, letter: char) -> Vec<String> {
    let of = |lane| (0..FILES).map(move |number| place(if shared { 0 } else { lane }, letter, lane, number));
    let mut all: Vec<String> = (0..LANES).flat_map(of).collect();
    all.sort();
    all
}
