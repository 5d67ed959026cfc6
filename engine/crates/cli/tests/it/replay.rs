//! Traces as the load of a job, with the real engine.

use crate::common::{engine, merged, run, run_output, Marked, RunOutput, Session};
use assay_spec::{Event, FaultDomain, RecordedOps, Replay, TraceContents};
use flate2::write::GzEncoder;
use flate2::Compression;
use serde_json::{json, Value};
use std::fmt::Write as _;
use std::io::Write as _;
use std::path::PathBuf;
use std::process::{Command, Stdio};

/// A trace in a file that is removed at the end.
struct TraceFile(PathBuf);

impl TraceFile {
    /// Records whose fields are separated by blanks, behind a header.
    fn new(root: &Marked, records: &str) -> Self {
        let header = json!({"assay_trace": 1, "source": "strace", "command": null, "losses": []});
        TraceFile::of(root, &format!("{header}\n{}", records.trim_start().replace(' ', "\t")))
    }

    fn of(root: &Marked, text: &str) -> Self {
        let path = root.0.with_extension("trace.gz");
        let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
        encoder.write_all(text.as_bytes()).unwrap();
        std::fs::write(&path, encoder.finish().unwrap()).unwrap();
        TraceFile(path)
    }
}

impl Drop for TraceFile {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.0);
    }
}

fn job(root: &Marked, trace: &TraceFile, target: &Value, lanes: u32) -> Value {
    let mut place =
        json!({"kind": "replay", "root": root.path(), "directory": "job", "trace": trace.0, "pace": "fast"});
    for (key, value) in target.as_object().unwrap() {
        place[key] = value.clone();
    }
    let fields = json!({
        "target": place, "file_size_bytes": 0, "record_size_bytes": 1, "sync": "none", "lanes": lanes,
        "tree": {"files": 1}, "phases": [{"operation": "replay"}], "data": {"verify": true},
    });
    merged(fields, &json!({}))
}

fn replays(out: &RunOutput) -> Vec<Replay> {
    let found = out.events.iter().filter_map(|event| match event {
        Event::Replay(replay) => Some(replay.clone()),
        _ => None,
    });
    found.collect()
}

/// Count, failures and bytes of a kind of operation.
fn counted(replay: &Replay, kind: &str) -> (u64, u64, u64) {
    replay.operations.get(kind).map_or((0, 0, 0), |found| (found.count, found.failed, found.bytes))
}

/// Replay as fast as possible, which must succeed, and leave nothing.
fn well(root: &Marked, records: &str) -> Replay {
    let out = run(&job(root, &TraceFile::new(root, records), &json!({}), 1));
    let found = replays(&out);
    assert_eq!(out.code, 0, "{}: {:?}", out.stderr, found.first().map(|one| &one.first_differences));
    assert!(root.remains().is_empty(), "{:?}", root.remains());
    found[0].clone()
}

/// Every kind of operation, in the order in which a program would do them.
const ALL: &str = "
F 1 f 20000 old.txt
F 2 d - made
F 3 f - made/a
F 4 f - made/b
F 5 f - made/c
F 6 f - made/link
F 7 f - missing/x
T 1 - 0
O 10 5 1 open 1 - - 0 r
O 20 5 1 read 1 0 16384 16384 -
O 30 5 1 read 1 16384 16384 3616 -
O 40 5 1 read 1 20000 16384 0 -
O 50 5 1 close 1 - - 0 -
O 60 5 1 stat 3 - - -ENOENT -
O 70 5 1 open 7 - - -ENOENT rwc
O 80 5 1 mkdir 2 - - 0 -
O 90 5 1 mkdir 2 - - -EEXIST -
O 100 5 1 open 3 - - 0 rwcx
O 110 5 1 open 3 - - -EEXIST wcx
O 120 5 1 write 3 0 4096 4096 -
O 130 5 1 write 3 8192 100 100 -
O 140 5 1 read 3 0 10000 8292 -
O 150 5 1 fsync 3 - - 0 -
O 160 5 1 fdatasync 3 - - 0 -
O 170 5 1 truncate 3 - 5000 0 -
O 180 5 1 close 3 - - 0 -
O 190 5 1 rename 3 - - 0 >4
O 200 5 1 link 4 - - 0 >5
O 210 5 1 symlink 6 - - 0 -
O 220 5 1 stat 4 - - 0 -
O 230 5 1 truncate 4 - 4096 0 -
O 240 5 1 open 2 - - 0 r
O 250 5 1 list 2 - - 0 -
O 260 5 1 list 2 - - 0 -
O 270 5 1 close 2 - - 0 -
O 280 5 1 rmdir 2 - - -ENOTEMPTY -
O 290 5 1 unlink 4 - - 0 -
O 300 5 1 unlink 5 - - 0 -
O 310 5 1 unlink 6 - - 0 -
O 320 5 1 rmdir 2 - - 0 -
O 330 5 1 stat 3 - - -ENOENT -
E 1 400
";

#[test]
fn every_kind_of_operation_is_done_as_it_was() {
    let root = Marked::new("/var/tmp");
    let found = well(&root, ALL);
    let kinds: Vec<&str> = found.operations.keys().map(String::as_str).collect();
    let all = "close fdatasync fsync link list mkdir open read rename rmdir stat symlink truncate unlink write";
    assert_eq!(kinds.join(" "), all);
    assert_eq!((counted(&found, "read"), counted(&found, "write")), ((4, 0, 28_292), (2, 0, 4196)));
    assert_eq!((counted(&found, "open"), counted(&found, "stat")), ((5, 2, 0), (3, 2, 0)));
    assert_eq!((found.differences, found.opened, found.tasks, found.recorded_ns), (0, 0, 1, 335));
    assert_eq!(found.operations["read"].recorded_ns, 20);
    assert!(found.operations["read"].latency.is_none() && found.operations["read"].service.count == 4);
}

/// The calls of the replay's threads on files of the copy, as strace saw them.
fn calls(text: &str) -> Vec<String> {
    let wanted =
        ["openat", "pread64", "pwrite64", "close", "fsync", "fdatasync", "ftruncate", "truncate", "newfstatat"];
    let wanted = [&wanted[..], &["getdents64", "mkdirat", "unlinkat", "renameat", "linkat", "symlinkat"]].concat();
    let call = |line: &str| {
        let line = line.split_whitespace().collect::<Vec<_>>().join(" ");
        let (name, rest) = line.split_once('(')?;
        let numbers: Vec<&str> = rest.split(", ").collect();
        wanted.contains(&name).then(|| match name {
            "pread64" | "pwrite64" => {
                let end: Vec<&str> = rest.rsplit(", ").take(2).collect();
                format!("{name} {} {}", end[1], end[0].replace(" = ", " "))
            }
            "openat" => format!("{name} {} {}", numbers[1], numbers[2].split(')').next().unwrap_or("")),
            _ => name.to_owned(),
        })
    };
    text.lines().filter_map(call).collect()
}

/// The same operations, bytes and order as in the trace, and no others.
#[test]
fn a_replay_makes_the_calls_of_the_trace() {
    if Command::new("strace").arg("--version").output().is_err() {
        println!("skipped: there is no strace");
        return;
    }
    let root = Marked::new("/var/tmp");
    let trace = TraceFile::new(&root, ALL);
    let (file, logs) = (root.0.with_extension("json"), root.0.with_extension("logs"));
    std::fs::write(&file, job(&root, &trace, &json!({}), 1).to_string()).unwrap();
    std::fs::create_dir(&logs).unwrap();
    // A log for each thread: in one for all, calls of several threads are cut in two.
    let mut strace = Command::new("strace");
    strace.args(["-ff", "-qq", "-s0", "-e", "signal=none", "-o"]).arg(logs.join("thread"));
    let output = strace.arg(engine().get_program()).arg("run").arg(&file).stdin(Stdio::null()).output().unwrap();
    let texts: Vec<String> =
        std::fs::read_dir(&logs).unwrap().map(|log| std::fs::read_to_string(log.unwrap().path()).unwrap()).collect();
    std::fs::remove_file(&file).unwrap();
    std::fs::remove_dir_all(&logs).unwrap();
    if texts.iter().all(String::is_empty) {
        println!("skipped: strace may not trace here");
        return;
    }
    assert_eq!(run_output(&output).code, 0);
    // Between the first open of the trace and the last stat there is nothing else on the task's thread.
    let opens = |line: &str| line.contains("openat(") && line.contains("\"old.txt\"") && line.contains("RDONLY");
    let thread = texts.iter().find(|text| text.lines().any(opens)).expect("the trace's first operation");
    let found = calls(thread);
    let wanted = [
        "openat \"old.txt\" O_RDONLY|O_CLOEXEC",
        "pread64 16384 0) 16384",
        "pread64 16384 16384) 3616",
        "pread64 16384 20000) 0",
        "close",
        "newfstatat",
        "openat \"missing/x\" O_RDWR|O_CREAT|O_CLOEXEC",
        "mkdirat",
        "mkdirat",
        "openat \"made/a\" O_RDWR|O_CREAT|O_EXCL|O_CLOEXEC",
        "openat \"made/a\" O_WRONLY|O_CREAT|O_EXCL|O_CLOEXEC",
        "pwrite64 4096 0) 4096",
        "pwrite64 100 8192) 100",
        "pread64 10000 0) 8292",
        "fsync",
        "fdatasync",
        "ftruncate",
        "close",
        "renameat",
        "linkat",
        "symlinkat",
        "newfstatat",
        "truncate",
        "openat \"made\" O_RDONLY|O_CLOEXEC|O_DIRECTORY",
        "getdents64",
        "getdents64",
        "close",
        "unlinkat",
        "unlinkat",
        "unlinkat",
        "unlinkat",
        "unlinkat",
        "newfstatat",
    ];
    let shown: Vec<String> = found.iter().map(|call| call.replace("  ", " ")).collect();
    assert_eq!(shown, wanted);
}

#[test]
fn an_operation_that_ends_otherwise_fails_the_replay_which_goes_on() {
    let root = Marked::new("/var/tmp");
    let records = "F 1 f 100 a\nF 2 f - b\nT 1 - 0\nO 1 1 1 open 1 - - -ENOENT r\nO 2 1 1 open 2 - - 0 r\nO 3 1 1 stat 1 - - 0 -\n";
    let out = run(&job(&root, &TraceFile::new(&root, records), &json!({}), 1));
    let found = &replays(&out)[0];
    assert_eq!((out.code, found.differences, counted(found, "stat")), (1, 2, (1, 0, 0)));
    let first = &found.first_differences[0];
    assert_eq!((first.line, first.operation.as_str(), first.file.as_str()), (5, "open", "a"));
    assert_eq!(first.message, "has succeeded; recorded was ENOENT");
    assert!(found.first_differences[1].message.contains("ENOENT"));
    let fault = out.ends()[0].errors[0].fault.unwrap();
    assert_eq!((fault.domain(), fault.code()), (FaultDomain::Replay, 2));
    assert!(out.stderr.contains("2 operations ended otherwise than recorded: open of a, line 5"), "{}", out.stderr);
    assert!(root.remains().is_empty());
}

#[test]
fn what_is_no_trace_is_refused_before_anything_is_made() {
    let root = Marked::new("/var/tmp");
    let header = r#"{"assay_trace":1,"source":"strace"}"#;
    let cases = [
        ("{\"assay_trace\":2}\n".to_owned(), "line 1: a trace of format 2"),
        (format!("{header}\nF\t1\tf\t5\t../../etc/passwd\n"), "line 2: its name \"../../etc/passwd\""),
        (
            format!("{header}\nT\t1\t-\t0\nF\t1\tf\t5\ta\nO\t1\t1\t1\tput\t1\t-\t5\t5\t-\n"),
            "line 4: put works on objects",
        ),
        (format!("{header}\nT\t1\t-\t0\nT\t2\t1\t0\nW\t1\t2\n"), "line 4: task 1 has waited for task 2"),
    ];
    for (text, why) in cases {
        let out = run(&job(&root, &TraceFile::of(&root, &text), &json!({}), 1));
        assert!(out.code == 2 && out.stderr.contains(why), "{why}: {}", out.stderr);
        assert_eq!(out.stderr.trim_end().lines().count(), 1, "{}", out.stderr);
        assert!(root.remains().is_empty());
    }
    let trace = TraceFile::new(&root, ALL);
    let whole = std::fs::read(&trace.0).unwrap();
    std::fs::write(&trace.0, &whole[..whole.len() - 9]).unwrap();
    let out = run(&job(&root, &trace, &json!({}), 1));
    assert!(out.code == 2 && out.stderr.contains("not whole gzip"), "{}", out.stderr);
    let out = run(&job(&root, &trace, &json!({"sha256": "0".repeat(64)}), 1));
    assert!(out.code == 2 && out.stderr.contains("its SHA-256 is"), "{}", out.stderr);
    std::fs::remove_file(&trace.0).unwrap();
    let out = run(&job(&root, &trace, &json!({}), 1));
    assert!(out.code == 2 && out.stderr.contains("No such file"), "{}", out.stderr);
    assert!(root.remains().is_empty());
}

/// What can be done at a target says, too, whether its trace can be replayed.
#[test]
fn a_trace_is_surveyed() {
    let root = Marked::new("/var/tmp");
    let survey = |trace: &TraceFile| engine().arg("survey").arg(&trace.0).stdin(Stdio::null()).output().unwrap();
    let records = "F 1 f 9000 a\nF 2 f - b\nT 1 - 0\nO 5 20 1 read 1 0 8192 8192 -\nO 30 9 1 write 2 0 500 500 -\n";
    let output = survey(&TraceFile::new(&root, records));
    let found: TraceContents = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!((found.recorded_ns, found.tasks, found.files, found.sha256.len()), (39, 1, 2, 64));
    assert_eq!((found.initial_bytes, found.space_bytes), (8192, 8692));
    assert_eq!(found.operations["read"], RecordedOps { count: 1, bytes: 8192, recorded_ns: 20 });
    let output = survey(&TraceFile::of(&root, "no trace\n"));
    assert!(output.status.code() == Some(2) && output.stdout.is_empty());
}

#[test]
fn a_target_is_probed_with_its_trace() {
    let root = Marked::new("/var/tmp");
    let trace = TraceFile::new(&root, ALL);
    let file = root.0.with_extension("json");
    let probe = || {
        std::fs::write(&file, job(&root, &trace, &json!({}), 1)["target"].to_string()).unwrap();
        let output = engine().args(["capabilities", "--target"]).arg(&file).output().unwrap();
        (output.status.code(), String::from_utf8_lossy(&output.stderr).into_owned())
    };
    assert_eq!(probe(), (Some(0), String::new()));
    std::fs::write(&trace.0, "no trace").unwrap();
    let (code, said) = probe();
    assert!(code == Some(2) && said.contains("line 1: not whole gzip"), "{said}");
    std::fs::remove_file(&file).unwrap();
    assert!(root.remains().is_empty());
}

/// Files that need more than there is are refused.
#[test]
fn a_trace_that_does_not_fit_is_refused() {
    let root = Marked::new("/var/tmp");
    let records = "F 1 f 1000000000000000 a\nT 1 - 0\nO 1 1 1 read 1 999999999990000 10000 10000 -\n";
    let out = run(&job(&root, &TraceFile::new(&root, records), &json!({}), 1));
    assert!(out.code == 2 && out.stderr.contains("are free: use fewer copies"), "{}", out.stderr);
    assert!(root.remains().is_empty());
}

#[test]
fn copies_have_files_of_their_own() {
    let root = Marked::new("/var/tmp");
    let records = "F 1 f 8192 a\nF 2 f - b\nT 1 - 0\nO 1 1 1 open 1 - - 0 r\nO 2 1 1 read 1 0 8192 8192 -\nO 3 1 1 open 2 - - 0 wcx\n";
    let out = run(&job(&root, &TraceFile::new(&root, records), &json!({}), 4));
    assert_eq!(out.code, 0, "{}", out.stderr);
    let mut lanes: Vec<u32> = replays(&out).iter().map(|one| one.lane).collect();
    lanes.sort_unstable();
    assert_eq!(lanes, [0, 1, 2, 3]);
    assert_eq!(out.ends()[0].all_ops(), 4);
}

/// At its recorded pace a replay takes as long as the record, at twice the rate half of it.
#[test]
fn operations_start_at_their_times() {
    let root = Marked::new("/var/tmp");
    let records = "F 1 f 8192 a\nT 1 - 0\nO 1 1 1 open 1 - - 0 r\nO 400000000 5000 1 read 1 0 8192 8192 -\n";
    let with_end = format!("{records}E 1 400006000\n");
    for (records, rate, least) in [(records, 1.0, 400_000_000), (&with_end, 2.0, 200_000_000)] {
        let pace = json!({"pace": "recorded", "rate": rate});
        let is_on_time = || {
            let out = run(&job(&root, &TraceFile::new(&root, records), &pace, 1));
            let found = &replays(&out)[0];
            assert!(
                out.code == 0 && found.at_ns > 0 && found.elapsed_ns >= least,
                "{}: {}",
                found.elapsed_ns,
                out.stderr
            );
            let latency = found.operations["read"].latency.as_ref().unwrap();
            // What starts late has a latency that is longer than its time by that.
            assert!(latency.max_ns + latency.max_ns / 500 >= found.operations["read"].service.max_ns);
            found.elapsed_ns - least <= found.max_delay_ns + latency.max_ns * 2
        };
        // On a busy machine the end may be seen late.
        assert!((0..5).any(|_| is_on_time()));
    }
}

/// Tasks wait for each other as they did, whatever the pace: through waits, their beginnings, and files.
#[test]
fn tasks_follow_each_other_as_they_did() {
    let root = Marked::new("/var/tmp");
    // Tasks 2 to 9 each write a file, which the next one reads; the first waits for them all, and removes what they made.
    let mut records = "F 1 d - d\nF 2 f - d/0\n".to_owned();
    (3..=10).for_each(|id| writeln!(records, "F {id} f - d/{}", id - 2).unwrap());
    records += "T 1 - 0\nO 1 1 1 mkdir 1 - - 0 -\nO 2 1 1 open 2 - - 0 wc\nO 3 1 1 write 2 0 5000 5000 -\nO 4 1 1 close 2 - - 0 -\n";
    for task in 2..=9 {
        let (from, to, at) = (task, task + 1, task * 100);
        write!(
            records,
            "T {task} 1 {at}\nO {at} 1 {task} open {from} - - 0 r\nO {at} 1 {task} read {from} 0 9000 5000 -\n\
             O {at} 1 {task} open {to} - - 0 wcx\nO {at} 1 {task} write {to} 0 5000 5000 -\nO {at} 1 {task} close {to} - - 0 -\n"
        )
        .unwrap();
    }
    (2..=9).for_each(|task| writeln!(records, "E {task} 2000\nW 1 {task}").unwrap());
    (2..=10).for_each(|id| writeln!(records, "O 3000 1 1 unlink {id} - - 0 -").unwrap());
    records += "O 3000 1 1 rmdir 1 - - 0 -\n";
    for pace in ["fast", "recorded"] {
        let out = run(&job(&root, &TraceFile::new(&root, &records), &json!({"pace": pace}), 2));
        let found = replays(&out);
        assert_eq!(out.code, 0, "{}: {:?}", out.stderr, found[0].first_differences);
        assert_eq!((counted(&found[0], "read"), counted(&found[0], "unlink")), ((8, 0, 40_000), (9, 0, 0)));
    }
}

/// A task begins when its parent has done what it did before, also if that takes longer than it did.
#[test]
fn a_task_begins_after_what_its_parent_did() {
    let root = Marked::new("/dev/shm");
    let records = "F 1 f - a\nT 1 - 0\nO 0 1 1 open 1 - - 0 wcx\nO 1 1 1 write 1 0 20000000 20000000 -\nT 2 1 2\n\
                   O 3 1 2 open 1 - - 0 r\nO 4 1 2 read 1 19990000 9000 9000 -\n";
    for pace in ["fast", "recorded"] {
        let out = run(&job(&root, &TraceFile::new(&root, records), &json!({"pace": pace}), 1));
        assert_eq!(out.code, 0, "{pace}: {:?}", replays(&out)[0].first_differences);
    }
}

/// More is read ahead of a task that waits than the reader may hold, and yet both go on.
#[test]
fn a_task_that_waits_does_not_stop_the_reader() {
    let root = Marked::new("/var/tmp");
    let mut records =
        "F 1 f 100 a\nF 2 f - b\nT 1 - 0\nT 2 1 0\nO 1 1 2 open 2 - - 0 wcx\nO 1 1 2 close 2 - - 0 -\n".to_owned();
    // Each stat of the first task waits until the second has removed and made the file again.
    for _ in 0..200 {
        records += "O 2 1 2 unlink 2 - - 0 -\nO 2 1 1 stat 2 - - -ENOENT -\nO 2 1 2 open 2 - - 0 wcx\nO 2 1 2 close 2 - - 0 -\n";
        (0..200).for_each(|_| records += "O 2 1 1 stat 2 - - 0 -\nO 2 1 2 stat 1 - - 0 -\n");
    }
    let found = well(&root, &records);
    assert_eq!((counted(&found, "stat"), counted(&found, "unlink")), ((80_200, 200, 0), (200, 0, 0)));
}

/// A descriptor that one task has opened, and another one uses and closes.
#[test]
fn open_files_are_shared_between_tasks() {
    let root = Marked::new("/var/tmp");
    let records = "F 1 f 8192 a\nT 1 - 0\nT 2 1 0\nT 3 1 0\nO 1 1 1 open 1 - - 0 rw\nO 2 1 2 write 1 0 4096 4096 -\n\
                   O 3 1 3 read 1 0 4096 4096 -\nO 4 1 2 close 1 - - 0 -\n";
    let found = well(&root, records);
    assert_eq!((found.opened, found.tasks, counted(&found, "close")), (0, 3, (1, 0, 0)));
}

#[test]
fn a_file_that_was_open_before_the_trace_is_opened() {
    let root = Marked::new("/var/tmp");
    let found =
        well(&root, "F 1 b 1000000000 sda\nT 1 - 0\nO 1 1 1 write 1 4096 512 512 -\nO 2 1 1 read 1 4096 512 512 -\n");
    assert_eq!((found.opened, counted(&found, "read")), (1, (1, 0, 512)));
}

#[test]
fn a_job_that_stops_ends_its_replay_and_removes_all() {
    let root = Marked::new("/var/tmp");
    let records =
        "F 1 f 100 a\nT 1 - 0\nO 1 1 1 open 1 - - 0 r\nT 2 1 3600000000000\nO 3600000000000 1 2 stat 1 - - 0 -\n";
    let trace = TraceFile::new(&root, records);
    let mut session = Session::start(&job(&root, &trace, &json!({"pace": "recorded"}), 2));
    session.until("phase_start");
    session.send_line(r#"{"stop":true}"#);
    assert_eq!(session.until("bye")["status"], "stopped");
    session.child.wait().unwrap();
    assert!(root.remains().is_empty(), "{:?}", root.remains());
}

/// Memory does not grow with the length of the trace: ten times as many operations take about as much.
#[test]
fn long_traces_take_no_more_memory_than_short_ones() {
    let root = Marked::new("/dev/shm");
    let peak = |operations: u64| {
        let mut records = "F 1 f 100 a\nT 1 - 0\nO 0 1 1 open 1 - - 0 r\n".to_owned();
        (0..operations).for_each(|at| writeln!(records, "O {at} 1 1 read 1 0 100 100 -").unwrap());
        let trace = TraceFile::new(&root, &records);
        let out = run(&job(&root, &trace, &json!({}), 1));
        assert_eq!(out.code, 0, "{}", out.stderr);
        out.bye().max_rss_bytes
    };
    let (short, long) = (peak(40_000), peak(400_000));
    assert!(long < short + short / 4, "{short} and {long} bytes");
}
