//! The contract suite on a disk file system and on tmpfs, and the engine's refusals of what is impossible there.

use crate::common::{conform, engine, file_job, run, Marked};
use assay_spec::{Capabilities, Group, OpKind, Operation};
use serde_json::{json, Value};
use std::collections::BTreeSet;

const LANES: u64 = 3;
const FILE: u64 = 1 << 20;

/// Directories on a disk and in memory. /var/tmp is on a disk on any usual system.
const PLACES: [&str; 2] = ["/var/tmp", "/dev/shm"];

/// An operation on data in one way: layout, page cache bypassed or not, method.
#[derive(Clone, Copy)]
struct Way {
    operation: Operation,
    layout: &'static str,
    direct: bool,
    method: &'static str,
}

impl Way {
    /// The name in the suite.
    fn words(&self) -> String {
        let cache = if self.direct { "direct" } else { "buffered" };
        format!("{} {}, {cache}, {}", self.operation.name(), self.layout, self.method)
    }

    fn job(&self, root: &Marked) -> Value {
        let mut job = file_job(
            root,
            &json!({
                "layout": self.layout, "direct": self.direct, "lanes": LANES, "method": self.method,
                "phases": [{"operation": "prepare", "measured": false}, {"operation": self.operation.name()}],
            }),
        );
        job["queue_depth"] = json!(if ["io_uring", "threads"].contains(&self.method) { 4 } else { 1 });
        job
    }

    /// The reason that the engine must give, if this is impossible everywhere.
    fn refusal(&self) -> Option<&'static str> {
        match (self.operation.stdio(), self.direct, self.method) {
            (_, true, "mmap") => Some("mmap goes through the page cache"),
            (true, _, "mmap") => Some("C stdio does not go through a mapping"),
            (true, true, _) => Some("C stdio has no O_DIRECT"),
            (true, _, "io_uring" | "threads") => Some("C stdio does not go through io_uring or threads"),
            _ => None,
        }
    }
}

fn ways() -> Vec<Way> {
    let mut all = Vec::new();
    for operation in Operation::of_group(Group::Data).filter(|one| !one.needs_tree()) {
        for layout in ["separate", "shared"] {
            for direct in [false, true] {
                for method in ["sync", "threads", "io_uring", "mmap"] {
                    all.push(Way { operation, layout, direct, method });
                }
            }
        }
    }
    all
}

/// Capabilities of a directory.
fn able(root: &Marked) -> assay_spec::BackendCapabilities {
    let answer = engine().args(["capabilities", "--root", root.path()]).output().unwrap();
    let can: Capabilities = serde_json::from_slice(&answer.stdout).unwrap();
    can.backends[0].clone()
}

/// All checks of the suite hold, and it has every operation in every way that the directory offers.
#[test]
fn everything_holds_in_directories_on_disks_and_in_memory() {
    for below in PLACES {
        let root = Marked::new(below);
        let (code, answer) = conform(&json!({"kind": "file", "root": root.path()}), &[]);
        assert_eq!((code, answer["counts"]["does_not_hold"].as_u64()), (0, Some(0)), "{below}: {answer}");
        let rows = answer["report"]["rows"].as_array().unwrap();
        let text = |row: &Value, key: &str| row[key].as_str().unwrap().to_owned();
        let of_data = rows.iter().filter(|row| row["group"] == "data");
        let done: BTreeSet<String> =
            of_data.map(|row| format!("{} {}", text(row, "check"), text(row, "way"))).collect();
        let can_be_past = able(&root).direct;
        for way in ways().iter().filter(|way| way.refusal().is_none() && (can_be_past || !way.direct)) {
            assert!(done.contains(&way.words()), "{below}: {}", way.words());
        }
        for operation in Operation::of_group(Group::Names) {
            let named = |row: &&Value| row["group"] == "names" && row["check"] == operation.name();
            assert_eq!(rows.iter().filter(named).count(), 8, "{below}: {operation:?}");
        }
        assert_eq!(root.remains(), Vec::<String>::new(), "{below}");
        println!("{below}: {} checks hold", rows.len());
    }
}

#[test]
fn what_cannot_be_done_is_refused_with_the_reason() {
    let mut refused = 0;
    for below in PLACES {
        let root = Marked::new(below);
        let past = able(&root).direct;
        for way in ways() {
            let missing = (way.direct && !past).then_some("has no O_DIRECT");
            let Some(reason) = way.refusal().or(missing) else { continue };
            let output = run(&way.job(&root));
            assert_eq!(output.code, 2, "{} in {below}", way.words());
            assert!(output.stderr.contains(reason), "{}: {}", way.words(), output.stderr);
            assert_eq!(root.remains(), Vec::<String>::new(), "{} in {below}", way.words());
            refused += 1;
        }
    }
    println!("{refused} combinations refused with the right reason");
}

#[test]
fn every_sync_policy_and_preallocation() {
    let root = Marked::new(PLACES[0]);
    for sync in ["none", "fsync", "fdatasync", "o_sync", "o_dsync"] {
        for (method, preallocate) in [("sync", true), ("io_uring", false), ("threads", true), ("mmap", true)] {
            if method == "mmap" && sync.starts_with("o_") {
                continue;
            }
            let phases = json!([{"operation": "write"}, {"operation": "random_write"}, {"operation": "read"}]);
            let output = run(&file_job(
                &root,
                &json!({"sync": sync, "method": method, "preallocate": preallocate, "phases": phases,
                        "data": {"verify": true}}),
            ));
            assert_eq!(output.code, 0, "{output:?}");
            let flushed = output.ends()[0].lanes[0].sync_ns > 0;
            assert_eq!(flushed, sync == "fsync" || sync == "fdatasync", "{sync}");
        }
    }
}

/// Tuning options are either applied, with every byte right, or refused with the reason.
#[test]
fn tuning_is_done_or_refused() {
    let root = Marked::new(PLACES[0]);
    let cases = [
        (json!({"sqpoll": true}), ""),
        (json!({"iopoll": true}), "cannot be polled for completions"),
        (json!({"huge_pages": true}), "vm.nr_hugepages"),
        (json!({"cpus": [0]}), ""),
        (json!({"cpus": [1023]}), "pin to CPU 1023: there is none"),
        (json!({"numa_node": 0}), "bind memory to NUMA node 0"),
        (json!({"numa_node": 1000}), "bind memory to NUMA node 1000"),
    ];
    for (tuning, reason) in cases {
        let output = run(&file_job(
            &root,
            &json!({"method": "io_uring", "queue_depth": 8, "direct": true, "lanes": 2, "tuning": tuning,
                    "data": {"verify": true}, "phases": [{"operation": "write"}, {"operation": "random_read"}]}),
        ));
        if output.code == 0 {
            assert_eq!(output.ends()[1].verified_bytes, 2 * FILE, "{tuning}: {output:?}");
        } else {
            assert!(!reason.is_empty() && output.stderr.contains(reason), "{tuning}: {output:?}");
        }
        assert_eq!(root.remains(), Vec::<String>::new(), "{tuning}");
        println!("{tuning}: {}", if output.code == 0 { "done" } else { output.stderr.trim() });
    }
}

/// While one write is in flight the data of the next is made in another buffer, which must not be mistaken for the
/// first.
#[test]
fn long_direct_writes_in_turn_from_two_buffers_are_right() {
    let record = 256 << 10;
    for below in PLACES {
        let root = Marked::new(below);
        let phases = json!([
            {"operation": "write"}, {"operation": "rewrite"}, {"operation": "random_write"},
            {"operation": "random_mix", "mix": {"read": 70, "write": 30}}, {"operation": "read"},
        ]);
        for (method, duplicate) in [("auto", 0), ("io_uring", 0), ("io_uring", 30)] {
            let output = run(&file_job(
                &root,
                &json!({"method": method, "queue_depth": 1, "direct": able(&root).direct, "lanes": 2,
                        "file_size_bytes": 16 * record, "record_size_bytes": record,
                        "data": {"verify": true, "duplicate_percent": duplicate}, "phases": phases}),
            ));
            assert_eq!(output.code, 0, "{output:?}");
            for end in output.ends() {
                assert_eq!((end.all_ops(), end.errors.len()), (2 * 16, 0), "{:?}: {output:?}", end.operation);
            }
            assert_eq!(output.ends()[4].verified_bytes, 2 * 16 * record);
            assert_eq!(root.remains(), Vec::<String>::new());
        }
    }
}

/// A page that the kernel cannot provide is a failed operation, not the end of the process.
#[test]
fn a_mapping_survives_what_the_file_does_not_have() {
    let root = Marked::new(PLACES[1]);
    let keep = json!({"keep_files": true, "phases": [{"operation": "write"}]});
    assert_eq!(run(&file_job(&root, &keep)).code, 0);
    let file = root.0.join("job/f0");
    std::fs::OpenOptions::new().write(true).open(file).unwrap().set_len(FILE / 2).unwrap();
    let output = run(&file_job(
        &root,
        &json!({"reuse_files": true, "method": "mmap", "error_limit": 1000, "data": {"verify": true},
                "phases": [{"operation": "read"}]}),
    ));
    let end = output.ends()[0];
    assert_eq!((end.bytes(OpKind::Read), end.verified_bytes), (FILE / 2, FILE / 2), "{output:?}");
    assert_eq!(output.errors()[0].kind, assay_spec::ErrorKind::ShortRead, "{output:?}");
    assert_eq!(end.errors[0].count, FILE / 2 / 4096, "{output:?}");
}

#[test]
fn cache_actions_are_done_and_reported() {
    let root = Marked::new(PLACES[0]);
    if !able(&root).direct_bypasses_cache {
        println!("SKIPPED: {} is memory itself, there is no cache to empty", PLACES[0]);
        return;
    }
    for (action, words) in [("evict", "posix_fadvise"), ("drop", "drop_caches"), ("keep", "")] {
        if action == "drop" && std::fs::OpenOptions::new().write(true).open("/proc/sys/vm/drop_caches").is_err() {
            println!("SKIPPED: dropping the page cache needs root");
            continue;
        }
        let output = run(&file_job(
            &root,
            &json!({"phases": [{"operation": "write"}, {"operation": "read", "cache_before": action}]}),
        ));
        assert_eq!(output.code, 0, "{output:?}");
        let end = output.ends()[1];
        assert!(end.cache_done.contains(words), "{}", end.cache_done);
        let fetched = end.resources.read_bytes.unwrap();
        assert!(fetched >= FILE || action == "keep", "{action}: {fetched} bytes came from the disk");
    }
}
