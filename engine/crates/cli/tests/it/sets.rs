//! Operations on sets of files: how many are made, opened, read and written, where they lie, and what is in them.

use crate::common::{file_job, null_job, run, Marked, RunOutput, Session};
use assay_core::sizes::size_of;
use assay_drive::data::{Base, Data};
use assay_spec::{DataSpec, ErrorKind, OpKind, Operation, PhaseEnd, PhaseStatus, Sizes};
use serde_json::{json, Value};
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

/// In memory, since many flushes of small files on a disk would delay other tests.
const PLACE: &str = "/dev/shm";
const SEED: u64 = 9;
const LANES: u64 = 5;
const RECORD: u64 = 4096;

/// A job on a set of 203 files of 10,000 bytes, distributed unevenly among 5 lanes, with `change` merged in.
fn set_job(root: &Marked, operations: &[&str], change: &Value) -> Value {
    let phases: Vec<Value> = operations
        .iter()
        .map(|operation| {
            let mix = operation.ends_with("mix").then(|| json!({"read": 50, "write": 50}));
            json!({"operation": operation, "measured": *operation != "prepare", "mix": mix})
        })
        .collect();
    let mut job = file_job(
        root,
        &json!({
            "lanes": LANES, "seed": SEED, "file_size_bytes": 10_000, "record_size_bytes": RECORD,
            "tree": {"files": 40, "more": 3, "depth": 1, "width": 7}, "data": {"verify": true},
            "phases": phases, "error_limit": 1000,
        }),
    );
    for (key, value) in change.as_object().unwrap() {
        job[key] = value.clone();
    }
    job
}

/// Files, records, bytes.
const WHOLE: (u64, u64, u64) = (203, 203 * 3, 203 * 10_000);

fn counts(end: &PhaseEnd) -> (u64, u64, u64) {
    let (reads, writes) = (end.ops(OpKind::Read), end.ops(OpKind::Write));
    assert_eq!((end.ops(OpKind::Open), end.last_finisher.ops), (end.ops(OpKind::Close), reads + writes), "{end:?}");
    (end.ops(OpKind::Open), reads + writes, end.last_finisher.bytes)
}

/// Path below the job's directory -> size, of all files.
fn files(folder: &Path, found: &mut BTreeMap<PathBuf, u64>) {
    for entry in fs::read_dir(folder).unwrap().map(Result::unwrap) {
        if entry.file_type().unwrap().is_dir() {
            files(&entry.path(), found);
        } else if !entry.file_name().to_string_lossy().starts_with('.') {
            found.insert(entry.path(), entry.metadata().unwrap().len());
        }
    }
}

fn good(output: &RunOutput) -> Vec<&PhaseEnd> {
    assert_eq!(output.code, 0, "{output:?}");
    output.ends()
}

/// In every order, a phase opens each file once and transfers each byte once.
#[test]
fn a_phase_does_all_of_its_operations() {
    let all = [
        "prepare",
        "read",
        "random_read",
        "rewrite",
        "reread",
        "random_write",
        "read",
        "random_mix",
        "read",
        "sequential_mix",
        "write",
        "read",
    ];
    for (layout, order) in
        [("separate", "sequential"), ("shared", "sequential"), ("separate", "random"), ("shared", "random")]
    {
        let root = Marked::new(PLACE);
        let mut job = set_job(&root, &all, &json!({"layout": layout}));
        for phase in job["phases"].as_array_mut().unwrap().iter_mut().skip(1) {
            phase["file_order"] = json!(order);
        }
        let output = run(&job);
        let ends = good(&output);
        let prepared = (ends[0].ops(OpKind::Create), ends[0].last_finisher.bytes);
        assert_eq!(prepared, (WHOLE.0, WHOLE.2));
        for end in &ends[1..] {
            assert_eq!((end.status, counts(end)), (PhaseStatus::Done, WHOLE), "{layout} {order} {:?}", end.operation);
            let flushed = end.ops(OpKind::Sync);
            match end.operation {
                Operation::Write | Operation::Rewrite | Operation::RandomWrite => assert_eq!(flushed, WHOLE.0),
                operation if operation.writes() => assert!((1..=WHOLE.0).contains(&flushed)),
                _ => assert_eq!((flushed, end.verified_bytes), (0, WHOLE.2)),
            }
        }
        assert_eq!(root.remains(), Vec::<String>::new());
    }
}

/// A mix of operations on whole files processes each file once, closes what it opens or creates, and leaves nothing
/// behind that disturbs a later phase.
#[test]
fn file_mix_processes_each_file_once() {
    let mix = json!({"read": 35, "write": 25, "create": 15, "stat": 10, "unlink": 15});
    for (layout, order, sync) in [("separate", "sequential", "none"), ("shared", "random", "fdatasync")] {
        let root = Marked::new(PLACE);
        let mut job = set_job(&root, &["prepare", "write", "read"], &json!({"layout": layout, "sync": sync}));
        let once = json!({"operation": "file_mix", "mix": mix, "file_order": order});
        let mut timed = once.clone();
        timed["runtime_ns"] = json!(400_000_000);
        let phases = job["phases"].as_array_mut().unwrap();
        phases.insert(1, once);
        // The second mix starts without the files that the first has removed, unless they are created again.
        phases.insert(2, json!({"operation": "prepare", "measured": false}));
        phases.insert(3, timed);
        let output = run(&job);
        let ends = good(&output);
        let [once, timed] = [ends[1], ends[3]];
        let turns = |end: &PhaseEnd, most_open: u64| {
            let of = |kinds: &[OpKind]| kinds.iter().map(|kind| end.ops(*kind)).sum::<u64>();
            // The time limit may be reached while each lane has one file open, which is then closed without being
            // counted.
            let open = of(&[OpKind::Open, OpKind::Create]) - end.ops(OpKind::Close);
            assert!(open <= most_open, "{open} files left open, {layout} {order}");
            let (made, removed) = (end.ops(OpKind::Create), end.ops(OpKind::Unlink));
            assert!(made > 0 && made <= removed && removed - made <= WHOLE.0 / 2, "{made} made, {removed} removed");
            let flushed = end.ops(OpKind::Sync);
            assert!(if sync == "none" { flushed == 0 } else { flushed >= made }, "{flushed} of {made}");
            assert!(end.verified_bytes > 0);
            of(&[OpKind::Open, OpKind::Create, OpKind::Stat, OpKind::Unlink])
        };
        assert_eq!(turns(once, 0), WHOLE.0, "each file has one turn");
        turns(timed, LANES);
        assert_eq!((ends[4].operation, counts(ends[4])), (Operation::Write, WHOLE));
        assert_eq!((counts(ends[5]), ends[5].verified_bytes), (WHOLE, WHOLE.2));
        assert_eq!(root.remains(), Vec::<String>::new());
    }
}

/// Only bytes that were read count as read. Files that a mix creates are filled, even if the mix writes nothing else.
#[test]
fn created_files_count_as_written() {
    let root = Marked::new(PLACE);
    let mut job = set_job(&root, &["prepare"], &json!({}));
    let mix = json!({"read": 2, "create": 49, "unlink": 49});
    job["phases"].as_array_mut().unwrap().push(json!({"operation": "file_mix", "mix": mix}));
    let output = run(&job);
    let end = good(&output)[1];
    let (opened, made) = (end.ops(OpKind::Open), end.ops(OpKind::Create));
    assert!(opened > 0 && made > 50, "{opened} opened, {made} made");
    assert_eq!((end.ops(OpKind::Read), end.ops(OpKind::Write)), (3 * opened, 3 * made));
    assert_eq!((end.bytes(OpKind::Read), end.bytes(OpKind::Write)), (10_000 * opened, 10_000 * made));
}

/// Lanes are distributed over the shares in turn, and their files there have the expected contents.
#[test]
fn files_are_on_all_shares_with_their_data() {
    let roots: Vec<Marked> = (0..4).map(|_| Marked::new(PLACE)).collect();
    let sizes =
        json!({"distribution": "listed", "sizes": [{"bytes": 1, "weight": 2}, {"bytes": 9000}, {"bytes": 70_000}]});
    let drawn: Sizes = serde_json::from_value(sizes.clone()).unwrap();
    let mut job =
        set_job(&roots[0], &["prepare", "read"], &json!({"layout": "shared", "keep_files": true, "sizes": sizes}));
    job["target"]["shares"] = roots[1..].iter().map(Marked::path).collect();
    let output = run(&job);
    let read = good(&output)[1];
    let mut all = BTreeMap::new();
    for (share, root) in roots.iter().enumerate() {
        let mut here = BTreeMap::new();
        files(&root.0.join("job/t0"), &mut here);
        // Lanes 0 and 4 are on the first share, and the first three lanes have one file more.
        assert_eq!(here.len(), [81, 41, 41, 40][share]);
        all.extend(here);
    }
    assert_eq!(counts(read).0, all.len() as u64);
    assert_eq!((counts(read).2, read.verified_bytes), (all.values().sum(), all.values().sum()));
    let mut data = Data::new(&Base::new(&DataSpec::default(), SEED), &DataSpec::default(), SEED, 0);
    for (path, size) in &all {
        let name = path.file_name().unwrap().to_str().unwrap().strip_prefix('f').unwrap();
        let (lane, number) = name.split_once('.').unwrap();
        let number = lane.parse::<u64>().unwrap() * 41 + number.parse::<u64>().unwrap();
        assert_eq!(*size, size_of(&drawn, SEED, number), "{}", path.display());
        data.select(number);
        assert_eq!(data.check(0, &fs::read(path).unwrap()), None, "{}", path.display());
    }
    job["keep_files"] = json!(false);
    job["reuse_files"] = json!(true);
    assert_eq!(counts(good(&run(&job))[1]).0, 203);
    assert!(roots.iter().all(|root| root.remains().is_empty()));
}

/// A missing file is one failure and the others are still read; a file with wrong bytes is found.
#[test]
fn failures_stay_with_their_file() {
    let root = Marked::new(PLACE);
    good(&run(&set_job(&root, &["prepare"], &json!({"keep_files": true}))));
    let file = |lane: u32, number: u64| root.0.join(format!("job/t{lane}/b{}/f{lane}.{number}", number / 6));
    fs::remove_file(file(1, 17)).unwrap();
    fs::OpenOptions::new().write(true).open(file(2, 3)).unwrap().set_len(5000).unwrap();
    let mut bytes = fs::read(file(3, 39)).unwrap();
    bytes[9999] ^= 1;
    fs::write(file(3, 39), bytes).unwrap();
    let output = run(&set_job(&root, &["read"], &json!({"reuse_files": true, "keep_files": true})));
    assert_eq!(output.code, 1);
    let mut found: Vec<_> = output
        .errors()
        .iter()
        .map(|error| (error.lane.unwrap(), error.number, error.action.clone(), error.kind))
        .collect();
    found.sort_by_key(|error| (error.0, error.1));
    let expected = [
        (1, 17, "open".to_owned(), ErrorKind::Fault),
        (2, 3, "read".to_owned(), ErrorKind::ShortRead),
        (2, 3, "read".to_owned(), ErrorKind::ShortRead),
        (3, 39, "read".to_owned(), ErrorKind::Corrupt),
    ];
    assert_eq!(found, expected);
    let end = output.ends()[0];
    assert_eq!((end.ops(OpKind::Open), end.ops(OpKind::Close), end.ops(OpKind::Read)), (202, 202, 202 * 3 - 3));
}

/// A write that the storage has lost is found, although the file was complete before.
#[test]
fn lost_writes_are_found() {
    let root = Marked::new(PLACE);
    let victim = root.0.join("job/t0/b0/f0.2");
    let mut session = Session::start(&set_job(&root, &["prepare", "rewrite", "read"], &json!({"wait_for_go": true})));
    let mut old = Vec::new();
    for phase in 0..3 {
        session.pass("setup", Some(phase), 0);
        match phase {
            1 => old = fs::read(&victim).unwrap(),
            2 => fs::write(&victim, &old).unwrap(),
            _ => {}
        }
        session.pass("start", Some(phase), 0);
    }
    let sample = session.until("error_sample");
    assert_eq!((&sample["lane"], &sample["number"], &sample["kind"]), (&json!(0), &json!(2), &json!("corrupt")));
    session.pass("cleanup", None, 0);
    assert_eq!(session.rest().code, 1);
}

/// After an interrupted phase, `prepare` completes the files again.
#[test]
fn interrupted_write_is_completed_by_prepare() {
    for order in ["sequential", "random"] {
        let root = Marked::new(PLACE);
        let mut job = set_job(&root, &["write", "prepare", "read"], &json!({"sync": "none"}));
        job["phases"][0]["file_order"] = json!(order);
        job["phases"][0]["time_limit_ns"] = json!(3_000_000);
        let output = run(&job);
        let ends = good(&output);
        assert_eq!(counts(ends[2]), WHOLE, "{order}");
        assert_eq!(ends[2].verified_bytes, WHOLE.2);
    }
}

/// Peak memory in KiB of a job on this many files for each of 16 lanes.
fn memory_of_files(files: u64) -> u64 {
    let phases = json!([
        {"operation": "prepare", "measured": false},
        {"operation": "read", "file_order": "random", "time_limit_ns": 500_000_000},
    ]);
    let mut session = Session::start(&null_job(&json!({
        "lanes": 16, "tree": {"files": files, "depth": 2, "width": 100}, "phases": phases, "record_size_bytes": 65_536,
        "sizes": {"distribution": "range", "min_bytes": 1024, "max_bytes": 1_048_576}, "wait_for_go": true,
    })));
    let mut ops = Vec::new();
    for phase in 0..2 {
        session.pass("setup", Some(phase), 0);
        session.pass("start", Some(phase), 0);
        ops.push(session.until("phase_end")["operations"][0].clone());
    }
    assert_eq!((&ops[0]["operation"], &ops[0]["ops"]), (&json!("create"), &json!(16 * files)));
    assert!(ops[1]["ops"].as_u64() > Some(0), "{ops:?}");
    // getrusage(2) would include the memory that the test process had before it executed the engine.
    let status = fs::read_to_string(format!("/proc/{}/status", session.child.id())).unwrap();
    let most = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap().trim().trim_end_matches(" kB");
    let most = most.parse().unwrap();
    session.pass("cleanup", None, 0);
    assert_eq!(session.rest().code, 0);
    most
}

#[test]
fn ten_million_files_take_no_more_memory_than_fewer() {
    let (fewer, many) = (memory_of_files(12_500), memory_of_files(625_000));
    assert!(many < fewer + 16_384, "{fewer} and {many} KiB");
}
