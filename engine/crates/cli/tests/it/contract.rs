//! Every operation x layout x direct or buffered x method, on a disk file system and on tmpfs, every byte checked.

use crate::common::{engine, file_job, run, Marked, Said};
use assay_spec::{Capabilities, OpKind, Operation, PhaseStatus};
use serde_json::{json, Value};

const LANES: u64 = 3;
const FILE: u64 = 1 << 20;

/// Directories on a disk and in memory. /var/tmp is on a disk on any usual system.
const PLACES: [&str; 2] = ["/var/tmp", "/dev/shm"];

struct Case {
    operation: Operation,
    layout: &'static str,
    direct: bool,
    method: &'static str,
}

impl Case {
    fn name(&self) -> String {
        format!("{} {} direct={} {}", self.operation.name(), self.layout, self.direct, self.method)
    }

    fn job(&self, root: &Marked) -> Value {
        let mut phases = Vec::new();
        if !self.operation.creates() {
            phases.push(json!({"operation": "prepare", "measured": false}));
        }
        let mix = if self.operation.mixes() { json!({"read": 50, "write": 50}) } else { Value::Null };
        phases.push(json!({"operation": self.operation.name(), "mix": mix}));
        if self.operation == Operation::RecordRewrite {
            phases.push(json!({"operation": "prepare", "measured": false}));
        }
        phases.push(json!({"operation": "stride_read"}));
        file_job(
            root,
            &json!({
                "layout": self.layout, "direct": self.direct, "lanes": LANES, "seed": 5,
                "queue_depth": if ["io_uring", "threads"].contains(&self.method) { 4 } else { 1 },
                "method": self.method, "data": {"verify": true}, "phases": phases,
            }),
        )
    }

    /// The reason that the engine has to give, if this cannot be done.
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

fn cases() -> Vec<Case> {
    let mut all = Vec::new();
    for operation in Operation::of_group(assay_spec::Group::Data) {
        for layout in ["separate", "shared"] {
            for direct in [false, true] {
                for method in ["sync", "threads", "io_uring", "mmap"] {
                    all.push(Case { operation, layout, direct, method });
                }
            }
        }
    }
    all
}

fn check_done(case: &Case, place: &str, said: &Said) {
    let context = format!("{} in {place}: {said:?}", case.name());
    assert_eq!(said.code, 0, "{context}");
    let files = if case.layout == "shared" { 1 } else { LANES };
    let mut measured = said.ends().into_iter().filter(|end| end.measured);
    let (end, check) = (measured.next().unwrap(), measured.next().unwrap());
    assert_eq!(end.status, PhaseStatus::Done, "{context}");
    assert_eq!(end.bytes(OpKind::Read) + end.bytes(OpKind::Write), files * FILE, "{context}");
    assert_eq!(end.ops(OpKind::Read) > 0, case.operation.reads(), "{context}");
    assert_eq!(end.ops(OpKind::Write) > 0, case.operation.writes(), "{context}");
    assert_eq!(end.verified_bytes, end.bytes(OpKind::Read), "{context}");
    assert_eq!(check.verified_bytes, files * FILE, "{context}");
    assert_eq!(end.lanes.len() as u64, LANES, "{context}");
    let latencies = end.operations.iter().filter_map(|totals| Some(totals.latency.as_ref()?.count));
    assert_eq!(latencies.sum::<u64>(), end.ops(OpKind::Read) + end.ops(OpKind::Write), "{context}");
}

#[test]
fn all_operations_in_all_ways() {
    let (mut done, mut refused, mut missing_here) = (0, 0, 0);
    for below in PLACES {
        let root = Marked::new(below);
        let answer = engine().args(["capabilities", "--root", root.path()]).output().unwrap();
        let can: Capabilities = serde_json::from_slice(&answer.stdout).unwrap();
        for case in cases() {
            let missing = case.direct && !can.backends[0].direct;
            let said = run(&case.job(&root));
            if let Some(reason) = case.refusal().or(missing.then_some("has no O_DIRECT")) {
                assert_eq!(said.code, 2, "{} in {below}", case.name());
                assert!(said.stderr.contains(reason), "{}: {}", case.name(), said.stderr);
                refused += 1;
                missing_here += usize::from(case.refusal().is_none());
            } else {
                check_done(&case, below, &said);
                done += 1;
            }
            assert_eq!(root.remains(), Vec::<String>::new(), "{} in {below}", case.name());
        }
    }
    let possible = PLACES.len() * cases().iter().filter(|case| case.refusal().is_none()).count();
    assert_eq!(done + missing_here, possible);
    println!("{done} combinations done and checked, {refused} refused with the right reason");
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
            let said = run(&file_job(
                &root,
                &json!({"sync": sync, "method": method, "preallocate": preallocate, "phases": phases,
                        "data": {"verify": true}}),
            ));
            assert_eq!(said.code, 0, "{said:?}");
            let flushed = said.ends()[0].lanes[0].sync_ns > 0;
            assert_eq!(flushed, sync == "fsync" || sync == "fdatasync", "{sync}");
        }
    }
}

/// What an expert chooses is either done, with every byte right, or refused with the reason.
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
        let said = run(&file_job(
            &root,
            &json!({"method": "io_uring", "queue_depth": 8, "direct": true, "lanes": 2, "tuning": tuning,
                    "data": {"verify": true}, "phases": [{"operation": "write"}, {"operation": "random_read"}]}),
        ));
        if said.code == 0 {
            assert_eq!(said.ends()[1].verified_bytes, 2 * FILE, "{tuning}: {said:?}");
        } else {
            assert!(!reason.is_empty() && said.stderr.contains(reason), "{tuning}: {said:?}");
        }
        assert_eq!(root.remains(), Vec::<String>::new(), "{tuning}");
        println!("{tuning}: {}", if said.code == 0 { "done" } else { said.stderr.trim() });
    }
}

/// A page that the kernel cannot give is a failed operation, not the end of the process.
#[test]
fn a_mapping_survives_what_the_file_does_not_have() {
    let root = Marked::new(PLACES[1]);
    let keep = json!({"keep_files": true, "phases": [{"operation": "write"}]});
    assert_eq!(run(&file_job(&root, &keep)).code, 0);
    let file = root.0.join("job/f0");
    std::fs::OpenOptions::new().write(true).open(file).unwrap().set_len(FILE / 2).unwrap();
    let said = run(&file_job(
        &root,
        &json!({"reuse_files": true, "method": "mmap", "error_limit": 1000, "data": {"verify": true},
                "phases": [{"operation": "read"}]}),
    ));
    let end = said.ends()[0];
    assert_eq!((end.bytes(OpKind::Read), end.verified_bytes), (FILE / 2, FILE / 2), "{said:?}");
    assert_eq!(said.errors()[0].kind, assay_spec::ErrorKind::ShortRead, "{said:?}");
    assert_eq!(end.errors[0].count, FILE / 2 / 4096, "{said:?}");
}

#[test]
fn odd_sizes_keep_their_data() {
    let root = Marked::new(PLACES[1]);
    for (file, record, lanes, layout) in
        [(1_000_003, 777, 3, "shared"), (99_999, 13, 2, "separate"), (5, 5, 1, "shared")]
    {
        let said = run(&file_job(
            &root,
            &json!({"file_size_bytes": file, "record_size_bytes": record, "lanes": lanes, "layout": layout,
                    "data": {"verify": true, "compressible_percent": 30, "duplicate_percent": 20},
                    "phases": [{"operation": "write"}, {"operation": "random_read"}, {"operation": "fread"}]}),
        ));
        assert_eq!(said.code, 0, "{said:?}");
        let files = if layout == "shared" { 1 } else { lanes };
        assert_eq!(said.ends()[1].verified_bytes, files * (file / record) * record);
    }
}

#[test]
fn cache_actions_are_done_and_told() {
    let root = Marked::new(PLACES[0]);
    let answer = engine().args(["capabilities", "--root", root.path()]).output().unwrap();
    let can: Capabilities = serde_json::from_slice(&answer.stdout).unwrap();
    if !can.backends[0].direct_bypasses_cache {
        println!("SKIPPED: {} is memory itself, there is no cache to empty", PLACES[0]);
        return;
    }
    for (action, words) in [("evict", "posix_fadvise"), ("drop", "drop_caches"), ("keep", "")] {
        if action == "drop" && std::fs::OpenOptions::new().write(true).open("/proc/sys/vm/drop_caches").is_err() {
            println!("SKIPPED: dropping the page cache needs root");
            continue;
        }
        let said = run(&file_job(
            &root,
            &json!({"phases": [{"operation": "write"}, {"operation": "read", "cache_before": action}]}),
        ));
        assert_eq!(said.code, 0, "{said:?}");
        let end = said.ends()[1];
        assert!(end.cache_done.contains(words), "{}", end.cache_done);
        let fetched = end.resources.read_bytes.unwrap();
        assert!(fetched >= FILE || action == "keep", "{action}: {fetched} bytes came from the disk");
    }
}
