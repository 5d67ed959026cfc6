//! The log of injected faults, one JSON line each. A line is written before the fault takes effect.

use crate::Outcome;
use std::fs::{File, OpenOptions};
use std::io::Write;

/// A kernel call, as rules and log see it.
#[derive(Debug)]
pub(crate) struct Call<'a> {
    pub(crate) operation: &'static str,
    /// Path below the mount point, without a leading slash.
    pub(crate) path: &'a str,
    pub(crate) offset: u64,
    pub(crate) length: u64,
    pub(crate) pid: u32,
}

/// The open log.
#[derive(Debug)]
pub(crate) struct Log(File);

impl Log {
    pub(crate) fn open(path: &str) -> Outcome<Self> {
        let file = OpenOptions::new().create(true).append(true).open(path);
        file.map(Self).map_err(|error| format!("{path}: {error}"))
    }

    /// Logs a fault. Errors are ignored, since a missing line fails the test that reads the log.
    pub(crate) fn add(&mut self, fault: &str, call: &Call) {
        let line = serde_json::json!({
            "fault": fault, "operation": call.operation, "path": call.path, "offset": call.offset,
            "length": call.length, "pid": call.pid,
        });
        let _ = self.0.write_all(format!("{line}\n").as_bytes());
    }
}
