//! Layouts of several lanes in files: lanes read what others have written, and a write limited by time wears out.

use crate::common::{file_job, run, Marked, Session};
use assay_spec::{OpKind, PhaseEnd, PhaseStatus};
use serde_json::{json, Value};

/// In memory: a flush would delay the other tests.
const PLACE: &str = "/dev/shm";
const LANES: u64 = 4;
const RECORD: u64 = 4096;

fn job(root: &Marked, change: &Value) -> Value {
    let mut job = file_job(
        root,
        &json!({
            "lanes": LANES, "seed": 5, "layout": "shared", "record_size_bytes": RECORD, "sync": "none",
            "data": {"verify": true},
        }),
    );
    for (key, value) in change.as_object().unwrap() {
        job[key] = value.clone();
    }
    job
}

/// Operations of each lane in a phase.
fn of_lanes(end: &PhaseEnd, kind: OpKind) -> Vec<u64> {
    let count = |lane: &assay_spec::LaneResult| {
        lane.operations.iter().filter(|done| done.operation == kind).map(|done| done.ops).sum()
    };
    end.lanes.iter().map(count).collect()
}

#[test]
fn every_lane_does_as_much_as_the_fastest_and_only_that_is_read() {
    for (layout, order) in [("shared", "write"), ("separate", "fwrite")] {
        let root = Marked::new(PLACE);
        let size = if layout == "shared" { LANES << 30 } else { 1 << 30 };
        let output = run(&job(
            &root,
            &json!({
                "layout": layout, "file_size_bytes": size, "block_size_bytes": 8 * RECORD,
                "phases": [
                    {"operation": order, "time_limit_ns": 20_000_000, "wear_out": true},
                    {"operation": "read", "reorder": {"order": "shift", "lanes": 3}},
                    {"operation": "backward_read", "reorder": {"order": "random"}},
                ],
            }),
        ));
        assert_eq!(output.code, 0, "{output:?}");
        let ends = output.ends();
        let wall = ends[0].stonewall.unwrap();
        assert!(wall.max_ops > 0 && wall.min_ops <= wall.max_ops, "{wall:?}");
        assert_eq!(of_lanes(ends[0], OpKind::Write), [wall.max_ops; LANES as usize]);
        assert!(wall.window.ops >= wall.max_ops && wall.window.ops <= ends[0].last_finisher.ops, "{wall:?}");
        assert_eq!((wall.window.bytes, wall.window.start_ns), (wall.window.ops * RECORD, 0));
        assert!(wall.window.end_ns >= 20_000_000 && wall.window.end_ns <= ends[0].last_finisher.end_ns, "{wall:?}");
        assert_eq!(ends[0].status, PhaseStatus::TimeLimit, "there was more to write");
        for end in &ends[1..] {
            assert_eq!((end.status, end.stonewall), (PhaseStatus::Done, None));
            assert_eq!(of_lanes(end, OpKind::Read), [wall.max_ops; LANES as usize]);
            assert_eq!(end.verified_bytes, LANES * wall.max_ops * RECORD);
        }
    }
}

#[test]
fn what_is_over_before_its_time_wears_out_at_once() {
    let root = Marked::new(PLACE);
    let phases = json!([{"operation": "write", "time_limit_ns": 3_600_000_000_000_u64, "wear_out": true}]);
    let output = run(&job(&root, &json!({"file_size_bytes": LANES * 10 * RECORD, "phases": phases})));
    let end = &output.ends()[0];
    let wall = end.stonewall.unwrap();
    assert_eq!((output.code, end.status, wall.min_ops, wall.max_ops), (0, PhaseStatus::Done, 10, 10));
}

#[test]
fn engines_wear_out_to_the_furthest_of_all() {
    let root = Marked::new(PLACE);
    let phases = json!([{"operation": "write", "time_limit_ns": 1_000_000, "wear_out": true}, {"operation": "read"}]);
    let change = json!({"file_size_bytes": (2 * LANES) << 28, "phases": phases, "wait_for_go": true, "ranks": 2});
    let mut session = Session::start(&job(&root, &change));
    session.pass("setup", Some(0), 0);
    session.pass("start", Some(0), 0);
    let barrier = session.until("barrier");
    let most = barrier["most"].as_u64().unwrap();
    assert_eq!((barrier["step"].as_str(), barrier["phase"].as_u64()), (Some("wear_out"), Some(0)));
    session.send_line(&json!({"go": true, "most": most + 100}).to_string());
    for _ in 0..2 {
        let end: PhaseEnd = serde_json::from_value(session.until("phase_end")).unwrap();
        let kind = if end.phase == 0 { OpKind::Write } else { OpKind::Read };
        assert_eq!(of_lanes(&end, kind), [most + 100; LANES as usize]);
        if end.phase == 0 {
            assert_eq!(end.stonewall.unwrap().max_ops, most + 100);
            session.pass("setup", Some(1), 0);
            session.pass("start", Some(1), 0);
        }
    }
    session.pass("cleanup", None, 0);
    assert_eq!(session.until("bye")["status"], "ok");
    assert!(session.child.wait().unwrap().success());
}
