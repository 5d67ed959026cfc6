//! Running the real engine on real directories.
#![allow(unreachable_pub)]

use assay_spec::{Bye, ErrorSample, Event, PhaseEnd};
use serde_json::{json, Value};
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};

static NUMBER: AtomicU32 = AtomicU32::new(0);

/// A marked directory that is removed at the end.
pub struct Marked(pub PathBuf);

impl Marked {
    pub fn new(below: &str) -> Self {
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let path = Path::new(below).join(format!("assay-test-{}-{number}", std::process::id()));
        std::fs::create_dir(&path).unwrap();
        std::fs::write(path.join(".assay-target"), "{}").unwrap();
        Marked(path)
    }

    pub fn path(&self) -> &str {
        self.0.to_str().unwrap()
    }

    /// Names of what lies in it besides the marker.
    pub fn remains(&self) -> Vec<String> {
        let names = std::fs::read_dir(&self.0).unwrap().map(|entry| entry.unwrap().file_name());
        names.map(|name| name.into_string().unwrap()).filter(|name| name != ".assay-target").collect()
    }
}

impl Drop for Marked {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// A job on files in `root`, 1 MiB each in records of 4 KiB, with `change` merged in.
pub fn file_job(root: &Marked, change: &Value) -> Value {
    let target = json!({"kind": "file", "root": root.path(), "directory": "job"});
    merged(json!({"target": target, "file_size_bytes": 1 << 20, "record_size_bytes": 4096}), change)
}

/// A job on the null backend with `change` merged in.
pub fn null_job(change: &Value) -> Value {
    merged(json!({"target": {"kind": "null"}, "file_size_bytes": 1 << 20, "record_size_bytes": 4096}), change)
}

fn merged(mut job: Value, change: &Value) -> Value {
    job["spec_version"] = json!(1);
    job["id"] = json!("test");
    for (key, value) in change.as_object().unwrap() {
        job[key] = value.clone();
    }
    job
}

/// What a run of the engine said.
#[derive(Debug)]
pub struct Said {
    pub events: Vec<Event>,
    pub code: i32,
    pub stderr: String,
}

impl Said {
    pub fn ends(&self) -> Vec<&PhaseEnd> {
        let ends = self.events.iter().filter_map(|event| match event {
            Event::PhaseEnd(end) => Some(end),
            _ => None,
        });
        ends.collect()
    }

    pub fn errors(&self) -> Vec<&ErrorSample> {
        let errors = self.events.iter().filter_map(|event| match event {
            Event::ErrorSample(error) => Some(error),
            _ => None,
        });
        errors.collect()
    }

    pub fn bye(&self) -> &Bye {
        match self.events.last() {
            Some(Event::Bye(bye)) => bye,
            other => panic!("the last event is {other:?}; stderr: {}", self.stderr),
        }
    }
}

pub fn engine() -> Command {
    Command::new(env!("CARGO_BIN_EXE_assay-engine"))
}

pub fn said(output: &Output) -> Said {
    let text = String::from_utf8(output.stdout.clone()).unwrap();
    Said {
        events: text.lines().map(|line| serde_json::from_str(line).expect(line)).collect(),
        code: output.status.code().unwrap_or(-1),
        stderr: String::from_utf8_lossy(&output.stderr).into_owned(),
    }
}

/// Runs a job from a file.
pub fn run(job: &Value) -> Said {
    let number = NUMBER.fetch_add(1, Ordering::Relaxed);
    let file = std::env::temp_dir().join(format!("assay-job-{}-{number}.json", std::process::id()));
    std::fs::write(&file, job.to_string()).unwrap();
    let output = engine().arg("run").arg(&file).stdin(Stdio::null()).output().unwrap();
    std::fs::remove_file(&file).unwrap();
    said(&output)
}
