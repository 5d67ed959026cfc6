//! What the engine reports in addition to rates: use of its host and device, and what a scripted device shows of it.

use crate::common::{file_job, null_job, run, Marked, Session};
use assay_spec::OpKind;
use serde_json::json;

#[test]
fn a_changed_service_time_holds_from_its_operation_on_and_in_each_phase_anew() {
    let slow = json!([{"at_op": 50, "latency": {"distribution": "fixed", "ns": 2_000_000}, "lane": 1}]);
    let target = json!({"kind": "null", "latency": {"distribution": "fixed", "ns": 100_000}, "changes": slow});
    let phase = json!({"operation": "read"});
    let job = json!({"target": target, "phases": [phase, phase], "lanes": 2, "record_size_bytes": 4096,
                     "file_size_bytes": 100 * 4096});
    let output = run(&null_job(&job));
    for end in output.ends().into_iter().filter(|end| end.measured) {
        let length = |lane: usize| end.lanes[lane].end_ns - end.lanes[lane].start_ns;
        assert!(length(1) > 100_000_000, "fifty operations of two milliseconds: {}", length(1));
        let summary = end.latency(OpKind::Read).unwrap();
        assert!(summary.min_ns < 2_000_000, "the others keep their time: {summary:?}");
    }
}

#[test]
fn a_clock_step_is_seen_and_a_clock_that_was_not_set_is_not() {
    let wall_shift = |step: i64| {
        let target = json!({"kind": "null", "clock_step_ns": step});
        run(&null_job(&json!({"target": target, "phases": [{"operation": "read"}]}))).ends()[0].wall_shift_ns
    };
    // An hour, compared with which a busy machine and the machine's own time keeping are negligible.
    let hour = 3_600_000_000_000;
    assert!((-hour * 3 / 2..-hour / 2).contains(&wall_shift(-hour)));
    assert!((-hour / 2..hour / 2).contains(&wall_shift(0)));
}

#[test]
fn copies_of_memory_move_less_than_nothing_at_all_does() {
    let rate = |target: &serde_json::Value| {
        let phase = json!({"operation": "read", "runtime_ns": 100_000_000});
        let job = json!({"target": target, "phases": [phase], "record_size_bytes": 1 << 20,
                         "file_size_bytes": 1_u64 << 40});
        let output = run(&null_job(&job));
        // By CPU time, which other processes do not affect.
        output.ends()[0].bytes(OpKind::Read) as f64 / (output.ends()[0].resources.user_ns as f64).max(1.0)
    };
    let (copied, free) =
        (rate(&json!({"kind": "null", "memory_copy_bytes": 32 << 20})), rate(&json!({"kind": "null"})));
    assert!(copied > 0.0 && copied * 10.0 < free, "{copied} and {free} bytes a nanosecond");
}

#[test]
fn a_stopped_process_is_noticed() {
    let target = json!({"kind": "null", "latency": {"distribution": "fixed", "ns": 200_000}});
    let phase = json!({"operation": "read", "runtime_ns": 600_000_000_000_u64});
    let job = json!({"target": target, "phases": [phase], "layout": "shared", "file_size_bytes": 1_u64 << 50,
                     "interval_ns": 10_000_000});
    let mut session = Session::start(&null_job(&job));
    session.until("interval");
    let held = std::time::Duration::from_millis(300);
    let signal = |number| {
        // SAFETY: kill takes numbers; the process is this test's own child.
        assert_eq!(unsafe { libc::kill(session.child.id() as i32, number) }, 0);
    };
    signal(libc::SIGSTOP);
    // On a busy machine it continues for a moment.
    let stopped = || std::fs::read_to_string(format!("/proc/{}/stat", session.child.id())).unwrap().contains(") T ");
    while !stopped() {
        std::thread::sleep(std::time::Duration::from_millis(1));
    }
    std::thread::sleep(held);
    signal(libc::SIGCONT);
    session.send_line(r#"{"stop":true}"#);
    let output = session.rest();
    let watch = output.ends()[0].watch.as_ref().unwrap();
    let least = held.as_nanos() as u64 - 2 * watch.interval_ns;
    assert!(watch.longest_ns >= least && watch.stalls >= 1, "{watch:?}");
    assert!(watch.away_ns.is_none_or(|away| away >= least), "nobody else had its CPU: {watch:?}");
    assert!(watch.lateness.max_ns as f64 >= least as f64 * 0.999, "{watch:?}");
    assert_eq!(watch.lateness.count, watch.elapsed_ns / watch.interval_ns);
}

#[test]
fn only_results_are_watched() {
    let phases = json!([{"operation": "read", "measured": false}, {"operation": "read", "runtime_ns": 50_000_000}]);
    let output = run(&null_job(&json!({"phases": phases, "layout": "shared", "file_size_bytes": 1_u64 << 40})));
    let watched: Vec<bool> = output.ends().iter().map(|end| end.watch.is_some()).collect();
    assert_eq!(watched, vec![false, true]);
}

#[test]
fn host_and_page_cache_are_reported() {
    let root = Marked::new("/var/tmp");
    let phases = json!([{"operation": "write"}, {"operation": "read"}, {"operation": "read", "cache_before": "evict"}]);
    let job = json!({"phases": phases, "record_size_bytes": 65536, "file_size_bytes": 8 << 20, "lanes": 2});
    let output = run(&file_job(&root, &job));
    let ends = output.ends();
    assert_eq!(output.code, 0, "{output:?}");
    assert!(ends.iter().all(|end| end.lanes.iter().all(|lane| lane.cpu_wait_ns.is_some())));
    assert!(ends.iter().all(|end| end.resources.host.is_some()));
    assert_eq!(ends[2].cached_bytes, Some(0), "it was taken out of the page cache");
    if let Some(device) = ends[2].resources.device {
        assert!(device.read_bytes >= 16 << 20, "{device:?}");
        // The busy time is counted in kernel ticks, within one of which so few reads may begin and end.
        assert!(device.reads > 0, "{device:?}");
    }
}

#[test]
fn devices_are_counted_that_the_job_names() {
    let root = Marked::new("/var/tmp");
    let number = rustix::fs::stat(root.path()).unwrap().st_dev;
    let own = format!("{}:{}", rustix::fs::major(number), rustix::fs::minor(number));
    let job = json!({"phases": [{"operation": "write"}], "watch": [own, "4095:1048575"], "file_size_bytes": 1 << 20});
    let output = run(&file_job(&root, &job));
    let used = &output.ends()[0].resources;
    assert_eq!(used.watched.len(), 2, "{output:?}");
    assert_eq!(used.watched[1], None, "there is no such device");
    if used.device.is_some() {
        let wrote = |one: Option<assay_spec::DeviceUse>| one.unwrap().write_bytes >= 1 << 20;
        assert!(wrote(used.device) && wrote(used.watched[0]), "{used:?}");
    }
}

/// On tmpfs, whose files are page cache that cannot be dropped.
#[test]
fn cached_bytes_are_reported() {
    let root = Marked::new("/dev/shm");
    let phases = json!([{"operation": "write"}, {"operation": "read"}]);
    let output = run(&file_job(&root, &json!({"phases": phases, "file_size_bytes": 8 << 20, "lanes": 2})));
    assert_eq!(output.ends()[1].cached_bytes, Some(16 << 20), "{output:?}");
}
