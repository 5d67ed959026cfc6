//! A marked directory for a test, and tools for tests in it.

use assay_core::{Backend, Buffers, Completion, Lane, LaneSetup, Op, OpKind, PhasePlan};
use assay_spec::{Job, Method, Operation, Target, SPEC_VERSION};
use serde_json::{json, Value};
use std::path::PathBuf;
use std::sync::Arc;

/// Bytes of a record, aligned for O_DIRECT.
pub(crate) const RECORD: usize = 4096;

/// A directory that is removed with its contents when it is dropped.
pub(crate) struct TestDir(pub(crate) PathBuf);

impl TestDir {
    /// A directory of this name, which no other test uses, marked by hand.
    pub(crate) fn new(name: &str) -> Self {
        let test_dir = TestDir::bare(name);
        std::fs::write(test_dir.0.join(".assay-target"), "by hand").unwrap();
        test_dir
    }

    /// An unmarked directory.
    pub(crate) fn bare(name: &str) -> Self {
        let root = std::env::temp_dir().join(format!("assay-file-{name}-{}", std::process::id()));
        let _ = std::fs::remove_dir_all(&root);
        std::fs::create_dir_all(&root).unwrap();
        TestDir(root)
    }

    pub(crate) fn root(&self) -> String {
        self.0.to_str().unwrap().to_owned()
    }

    /// A path in the job's directory.
    pub(crate) fn at(&self, name: &str) -> PathBuf {
        self.0.join("job").join(name)
    }

    pub(crate) fn target(&self) -> Value {
        json!({"kind": "file", "root": self.root(), "directory": "job"})
    }

    /// A job of one lane on a file of 8 records, with changes.
    pub(crate) fn job(&self, changed: &Value) -> Job {
        let mut job = json!({
            "spec_version": SPEC_VERSION, "id": "test", "target": self.target(), "lanes": 1,
            "file_size_bytes": 8 * RECORD, "record_size_bytes": RECORD, "phases": [],
        });
        for (key, value) in changed.as_object().unwrap() {
            job[key] = value.clone();
        }
        serde_json::from_value(job).unwrap()
    }

    /// Names of everything in the job's directory, in order.
    pub(crate) fn names(&self) -> Vec<String> {
        names(&self.0.join("job"))
    }
}

impl Drop for TestDir {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// Names in a directory, in order; empty if there is no directory.
pub(crate) fn names(folder: &std::path::Path) -> Vec<String> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let mut names: Vec<String> = entries.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect();
    names.sort();
    names
}

pub(crate) fn target(value: Value) -> Target {
    serde_json::from_value(value).unwrap()
}

pub(crate) fn plan(operation: Operation) -> PhasePlan {
    PhasePlan { method: Method::Sync, ..PhasePlan::of(operation) }
}

/// A lane with so many slots of one record each.
pub(crate) fn setup(lane: u32, queue_depth: u32) -> LaneSetup {
    let buffers = Arc::new(Buffers::new(queue_depth as usize, RECORD, false).unwrap());
    LaneSetup::of(lane, queue_depth, buffers)
}

/// An operation in slot 0.
pub(crate) fn op(kind: OpKind, offset: u64, length: usize) -> Op {
    Op { kind, count: 1, slot: 0, object: 0, offset, length: length as u64 }
}

/// Opens a lane of a backend, and begins a phase with it.
pub(crate) fn begin_lane(backend: &dyn Backend, lane: u32, plan: &PhasePlan) -> (Box<dyn Lane>, Arc<Buffers>) {
    let setup = setup(lane, 1);
    let buffers = Arc::clone(&setup.buffers);
    let mut lane = backend.open_lane(setup).unwrap();
    lane.begin(plan).unwrap();
    (lane, buffers)
}

/// Fills a slot.
pub(crate) fn fill_slot(buffers: &Buffers, slot: u32, byte: u8) {
    // SAFETY: nothing is in flight, and nothing else refers to the slot.
    unsafe { buffers.slice(slot, buffers.length()) }.fill(byte);
}

/// The bytes of a slot.
pub(crate) fn slot_bytes(buffers: &Buffers, slot: u32) -> Vec<u8> {
    // SAFETY: as above.
    unsafe { buffers.slice(slot, buffers.length()) }.to_vec()
}

/// Executes all operations, as many at once as the lane takes; results by slot.
pub(crate) fn run_all(lane: &mut dyn Lane, ops: &[Op]) -> Vec<Completion> {
    let mut done = Vec::new();
    let mut rest = ops;
    while !rest.is_empty() {
        let taken = lane.submit(rest);
        assert!(taken > 0, "a lane that has nothing in flight takes something");
        let wanted = done.len() + taken;
        while done.len() < wanted {
            lane.reap(&mut done, u64::MAX);
        }
        rest = &rest[taken..];
    }
    done.sort_by_key(|one| one.slot);
    done
}
