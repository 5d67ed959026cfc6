//! Running the real engine on real directories.
#![allow(unreachable_pub)]

use assay_spec::{Bye, ErrorSample, Event, PhaseEnd};
use serde_json::{json, Value};
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::mpsc::{channel, Receiver};
use std::time::Duration;

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

    /// Names of all entries except the marker.
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

pub fn merged(mut job: Value, change: &Value) -> Value {
    job["spec_version"] = json!(assay_spec::SPEC_VERSION);
    job["id"] = json!("test");
    for (key, value) in change.as_object().unwrap() {
        job[key] = value.clone();
    }
    job
}

/// Events, exit code and standard error of a run of the engine.
#[derive(Debug)]
pub struct RunOutput {
    pub events: Vec<Event>,
    pub code: i32,
    pub stderr: String,
}

impl RunOutput {
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

/// Sends a signal, without the program `kill`, which a bare machine lacks.
pub fn signal(child: &std::process::Child, signal: rustix::process::Signal) {
    rustix::process::kill_process(rustix::process::Pid::from_child(child), signal).unwrap();
}

pub fn run_output(output: &Output) -> RunOutput {
    let text = String::from_utf8(output.stdout.clone()).unwrap();
    RunOutput {
        events: text.lines().map(|line| serde_json::from_str(line).expect(line)).collect(),
        code: output.status.code().unwrap_or(-1),
        stderr: String::from_utf8_lossy(&output.stderr).into_owned(),
    }
}

/// Runs a job from a file.
pub fn run(job: &Value) -> RunOutput {
    let number = NUMBER.fetch_add(1, Ordering::Relaxed);
    let file = std::env::temp_dir().join(format!("assay-job-{}-{number}.json", std::process::id()));
    std::fs::write(&file, job.to_string()).unwrap();
    let output = engine().arg("run").arg(&file).stdin(Stdio::null()).output().unwrap();
    std::fs::remove_file(&file).unwrap();
    run_output(&output)
}

/// Exit code and report of the contract suite on a target.
pub fn conform(target: &Value, words: &[&str]) -> (i32, Value) {
    let mut child = engine();
    let child = child.args(["conform", "--json"]).args(words).arg("-").stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut child = child.stderr(Stdio::piped()).spawn().unwrap();
    child.stdin.take().unwrap().write_all(target.to_string().as_bytes()).unwrap();
    let output = child.wait_with_output().unwrap();
    let report = serde_json::from_slice(&output.stdout);
    let stderr = || Value::String(String::from_utf8_lossy(&output.stderr).into_owned());
    (output.status.code().unwrap_or(-1), report.unwrap_or_else(|_| stderr()))
}

/// An engine with open standard input and output.
pub struct Session {
    pub child: std::process::Child,
    pub lines: Receiver<String>,
}

impl Session {
    pub fn start(job: &Value) -> Self {
        let mut child = engine().arg("run").stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let (sender, lines) = channel();
        let output = BufReader::new(child.stdout.take().unwrap());
        std::thread::spawn(move || output.lines().map_while(Result::ok).try_for_each(|line| sender.send(line)));
        let mut session = Session { child, lines };
        session.send_line(&job.to_string());
        session
    }

    pub fn send_line(&mut self, line: &str) {
        assert!(self.try_send(line), "the engine has ended");
    }

    /// Send a line; false if the engine has ended.
    pub fn try_send(&mut self, line: &str) -> bool {
        writeln!(self.child.stdin.as_mut().unwrap(), "{line}").is_ok()
    }

    /// The next event.
    pub fn next(&self) -> Value {
        serde_json::from_str(&self.lines.recv().unwrap()).unwrap()
    }

    /// The remaining events.
    pub fn rest(mut self) -> RunOutput {
        let text: Vec<String> = self.lines.iter().collect();
        RunOutput {
            events: text.iter().map(|line| serde_json::from_str(line).expect(line)).collect(),
            code: self.child.wait().unwrap().code().unwrap_or(-1),
            stderr: String::new(),
        }
    }

    /// Read up to the first event of this kind.
    pub fn until(&self, kind: &str) -> Value {
        loop {
            let event = self.next();
            if event["event"] == kind {
                return event;
            }
        }
    }

    /// Read up to a barrier, check that the engine waits there, and let it continue at a time of its clock.
    pub fn pass(&mut self, step: &str, phase: Option<u32>, at_ns: u64) -> Value {
        let barrier = self.until("barrier");
        assert_eq!((barrier["step"].as_str(), barrier["phase"].as_u64()), (Some(step), phase.map(u64::from)));
        let early = self.lines.recv_timeout(Duration::from_millis(100));
        assert!(early.is_err(), "went on before go: {early:?}");
        self.send_line(&json!({"go": true, "at_ns": at_ns}).to_string());
        barrier
    }
}
