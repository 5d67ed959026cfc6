//! Barriers, pings and the lease: several engines and their controller, with the real engine.

use crate::common::{engine, file_job, null_job, run, Marked, Session};
use assay_core::clock;
use serde_json::json;
use std::io::Write;
use std::process::Stdio;
use std::time::Duration;

const SECOND: u64 = 1_000_000_000;

#[test]
fn a_job_waits_at_every_barrier() {
    let phases = json!([{"operation": "read"}, {"operation": "read"}]);
    let mut session = Session::start(&null_job(&json!({"wait_for_go": true, "ranks": 3, "rank": 2, "phases": phases})));
    for phase in 0..2 {
        session.pass("setup", Some(phase), 0);
        let at = session.pass("start", Some(phase), 0)["at_ns"].as_u64().unwrap();
        assert!(session.until("phase_start")["at_ns"].as_u64().unwrap() > at);
    }
    session.pass("cleanup", None, 0);
    assert_eq!(session.until("bye")["status"], "ok");
    assert!(session.child.wait().unwrap().success());
}

#[test]
fn lanes_start_at_the_controllers_time() {
    let mut session = Session::start(&null_job(&json!({"wait_for_go": true, "phases": [{"operation": "read"}]})));
    session.pass("setup", Some(0), 0);
    // So far ahead that no machine is too slow to receive it in time.
    let at = session.until("barrier")["at_ns"].as_u64().unwrap() + 600 * SECOND;
    session.send_line(&json!({"go": true, "at_ns": at}).to_string());
    assert_eq!(session.until("phase_start")["at_ns"], at);
    let early = session.lines.recv_timeout(Duration::from_millis(100));
    assert!(early.is_err(), "started before its time: {early:?}");
    session.child.kill().unwrap();
    session.child.wait().unwrap();
}

#[test]
fn lanes_are_numbered_through() {
    let more = json!({"wait_for_go": true, "lanes": 2, "ranks": 3, "rank": 2, "phases": [{"operation": "read"}]});
    let mut session = Session::start(&null_job(&more));
    session.pass("setup", Some(0), 0);
    session.pass("start", Some(0), 0);
    let end = session.until("phase_end");
    let lanes: Vec<_> = end["lanes"].as_array().unwrap().iter().map(|lane| lane["lane"].as_u64().unwrap()).collect();
    assert_eq!(lanes, [4, 5]);
    session.pass("cleanup", None, 0);
    session.child.wait().unwrap();
}

#[test]
fn pings_are_answered_at_any_time() {
    let mut session = Session::start(&null_job(&json!({"wait_for_go": true, "phases": [{"operation": "read"}]})));
    let barrier = session.until("barrier")["at_ns"].as_u64().unwrap();
    for number in [7, 8] {
        session.send_line(&json!({"ping": number}).to_string());
        let pong = session.until("pong");
        assert_eq!(pong["ping"], number);
        assert!(pong["at_ns"].as_u64().unwrap() > barrier);
    }
    session.send_line(r#"{"stop":true}"#);
    assert_eq!(session.until("bye")["status"], "stopped");
    session.child.wait().unwrap();
}

/// All times are of the clock that engine and test share.
#[test]
fn an_engine_without_its_controller_stops() {
    let phases = json!([{"operation": "read", "runtime_ns": 600 * SECOND}]);
    let slow = json!({"kind": "null", "latency": {"distribution": "fixed", "ns": 1_000_000}});
    let start = |lease: u64| Session::start(&null_job(&json!({"target": slow, "lease_ns": lease, "phases": phases})));
    // On a busy machine the lease may be over before the phase begins, or before the engine has read its input: then
    // use a longer one.
    let mut lease = 400_000_000_u64;
    loop {
        assert!(lease < 200 * SECOND, "the engine never hears out its controller");
        let mut session = start(lease);
        if session.lines.iter().any(|line| line.contains("\"phase_start\"")) {
            let (answered, silent) = ping_until_it_stops(&mut session, lease);
            session.child.wait().unwrap();
            if answered == PINGS {
                assert!(silent >= lease, "{silent} ns after the last line");
                return;
            }
        }
        lease *= 2;
    }
}

/// Number of lines sent to a working engine, which together take longer than the lease.
const PINGS: u64 = 7;

/// Send the lines, and then nothing; returns how many were answered, and how long after the last one the engine
/// stopped.
fn ping_until_it_stops(session: &mut Session, lease: u64) -> (u64, u64) {
    let mut sent_at = vec![clock::now()];
    for number in 1..=PINGS {
        std::thread::sleep(Duration::from_nanos(lease / 4));
        sent_at.push(clock::now());
        if !session.try_send(&json!({"ping": number}).to_string()) {
            break;
        }
    }
    let (mut answered, mut bye) = (0, json!(null));
    while bye.is_null() {
        let event = session.next();
        match event["event"].as_str() {
            Some("pong") => answered = event["ping"].as_u64().unwrap(),
            Some("bye") => bye = event,
            _ => {}
        }
    }
    assert_eq!(bye["status"], "stopped");
    (answered, bye["at_ns"].as_u64().unwrap() - sent_at[answered as usize])
}

#[test]
fn ranks_share_a_directory_and_the_last_one_removes_it() {
    for layout in ["separate", "shared"] {
        let root = Marked::new("/dev/shm");
        let job = |rank: u32| {
            let phases = json!([{"operation": "write"}, {"operation": "read"}]);
            let more = json!({"lanes": 2, "ranks": 2, "rank": rank, "layout": layout, "wait_for_go": true,
                              "data": {"verify": true}, "phases": phases});
            file_job(&root, &more)
        };
        let mut ranks = [Session::start(&job(0)), Session::start(&job(1))];
        for step in 0..5 {
            for rank in &ranks {
                rank.until("barrier");
            }
            // The job's mark exists from the beginning.
            let data = |entry: &std::io::Result<std::fs::DirEntry>| {
                entry.as_ref().is_ok_and(|entry| !entry.file_name().to_string_lossy().starts_with('.'))
            };
            let files = std::fs::read_dir(root.0.join("job")).map_or(0, |found| found.filter(data).count());
            let all = if layout == "shared" { 1 } else { 4 };
            assert_eq!(files, if step == 0 { 0 } else { all }, "{layout}, step {step}");
            for rank in &mut ranks {
                rank.send_line(r#"{"go":true}"#);
            }
        }
        for rank in &mut ranks {
            assert_eq!(rank.until("bye")["status"], "ok");
            rank.child.wait().unwrap();
        }
        assert!(!root.0.join("job").exists());
    }
}

/// A rewrite writes other data than before, so that a write lost by the storage is found.
#[test]
fn a_rewrite_that_is_lost_is_found() {
    let root = Marked::new("/dev/shm");
    let phases = json!([{"operation": "write"}, {"operation": "rewrite"}, {"operation": "random_read"}]);
    let more = json!({"wait_for_go": true, "error_limit": 100, "data": {"verify": true}, "phases": phases});
    let mut session = Session::start(&file_job(&root, &more));
    let file = root.0.join("job/f0");
    session.pass("setup", Some(0), 0);
    session.pass("start", Some(0), 0);
    session.until("barrier");
    let written = std::fs::read(&file).unwrap();
    session.send_line(r#"{"go":true}"#);
    session.pass("start", Some(1), 0);
    session.until("barrier");
    let mut rewritten = std::fs::read(&file).unwrap();
    let pairs = || written.chunks(512).zip(rewritten.chunks(512));
    assert!(pairs().all(|(before, after)| before != after));
    rewritten[8192..12288].copy_from_slice(&written[8192..12288]);
    std::fs::write(&file, rewritten).unwrap();
    session.send_line(r#"{"go":true}"#);
    session.pass("start", Some(2), 0);
    let error = session.until("error_sample");
    assert_eq!((&error["kind"], &error["offset"]), (&json!("corrupt"), &json!(8192)), "{error}");
    assert!(error["message"].as_str().unwrap().contains("what phase 0 wrote"), "{error}");
    let errors = &session.until("phase_end")["errors"];
    assert_eq!((errors.as_array().unwrap().len(), &errors[0]["count"]), (1, &json!(1)), "{errors}");
    session.pass("cleanup", None, 0);
    session.child.wait().unwrap();
}

#[test]
fn a_job_that_waits_needs_the_control_channel() {
    let output = run(&null_job(&json!({"wait_for_go": true, "phases": [{"operation": "read"}]})));
    assert_eq!(output.code, 2);
    assert!(output.stderr.contains("wait_for_go"), "{}", output.stderr);
}

/// The greatest resident memory of an engine so far, in bytes.
fn most_memory(session: &Session) -> u64 {
    let table = std::fs::read_to_string(format!("/proc/{}/status", session.child.id())).unwrap();
    let line = table.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap();
    line.trim().trim_end_matches(" kB").parse::<u64>().unwrap() * 1024
}

#[test]
fn a_control_line_without_end_takes_no_memory_and_the_job_goes_on() {
    let more = json!({"wait_for_go": true, "keep_files": true, "phases": [{"operation": "read"}]});
    let mut session = Session::start(&null_job(&more));
    session.until("barrier");
    let before = most_memory(&session);
    for _ in 0..256 {
        session.child.stdin.as_mut().unwrap().write_all(&vec![b'x'; 1 << 20]).unwrap();
    }
    session.send_line("");
    session.send_line(r#"{"ping":7}"#);
    assert_eq!(session.until("pong")["ping"], 7);
    let more = most_memory(&session) - before;
    assert!(more < 16 << 20, "{more} bytes more");
    // An impossible start is not waited for: the next command counts.
    session.send_line(&json!({"go": true, "at_ns": u64::MAX}).to_string());
    session.send_line(r#"{"go":true}"#);
    session.pass("start", Some(0), 0);
    assert_eq!(session.until("bye")["status"], "ok");
    assert!(session.child.wait().unwrap().success());
}

#[test]
fn a_job_without_end_is_refused() {
    let mut child = engine().arg("run").stdin(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let mut input = child.stdin.take().unwrap();
    // The engine ends before all is written.
    while input.write_all(&vec![b' '; 1 << 20]).is_ok() {}
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(2));
    assert!(String::from_utf8(output.stderr).unwrap().contains("the job is longer than"));
}

/// Page faults of an engine so far that needed no disk (field 10 of proc_pid_stat(5)).
fn faults(session: &Session) -> u64 {
    let table = std::fs::read_to_string(format!("/proc/{}/stat", session.child.id())).unwrap();
    table.rsplit_once(')').unwrap().1.split_whitespace().nth(7).unwrap().parse().unwrap()
}

/// Buffers exist before the first operation: no pass over them has to wait for memory.
#[test]
fn the_first_pass_over_the_buffers_costs_no_more_than_the_second() {
    let root = Marked::new("/dev/shm");
    let phases = json!([{"operation": "prepare", "measured": false}, {"operation": "read"}, {"operation": "reread"}]);
    let more =
        json!({"wait_for_go": true, "file_size_bytes": 64 << 20, "record_size_bytes": 16 << 20, "phases": phases});
    let mut session = Session::start(&file_job(&root, &more));
    let mut passes = Vec::new();
    for phase in 0..3 {
        session.pass("setup", Some(phase), 0);
        session.until("barrier");
        let before = faults(&session);
        session.send_line(r#"{"go":true}"#);
        session.until("phase_end");
        passes.push(faults(&session) - before);
    }
    // A buffer has 4096 pages.
    assert!(passes[1] < passes[2] + 1024, "{passes:?} page faults");
    session.pass("cleanup", None, 0);
    session.child.wait().unwrap();
}
