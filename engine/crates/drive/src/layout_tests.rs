//! Layouts compared with IOR's: `contract/golden/layouts` holds what IOR's tasks did, made by
//! `bench/layouts/compare.py`.

use crate::data_set::{owners, phase_seed, share, shares_file};
use crate::pattern::Pattern;
use assay_spec::{Job, Operation};
use serde_json::Value;

/// Number of the file, offset and length of a transfer.
type Transfer = (u64, u64, u64);

fn golden() -> Vec<(String, Value)> {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../contract/golden/layouts");
    let tables = std::fs::read_dir(folder).unwrap().map(|entry| {
        let entry = entry.unwrap();
        let text = std::fs::read_to_string(entry.path()).unwrap();
        (entry.file_name().into_string().unwrap(), serde_json::from_str(&text).unwrap())
    });
    tables.collect()
}

fn job(table: &Value) -> Job {
    let mut job = table["job"].clone();
    job["spec_version"] = assay_spec::SPEC_VERSION.into();
    job["id"] = "layout".into();
    job["target"] = serde_json::json!({"kind": "null"});
    let job: Job = serde_json::from_value(job).unwrap();
    job.validate().unwrap();
    job
}

/// A lane's transfers in a phase, in order.
fn ours(job: &Job, number: u32, lane: u32) -> Vec<Transfer> {
    let phase = &job.phases[number as usize];
    let owner = owners(job, number, phase).of(lane);
    let mut pattern = Pattern::new(phase, share(job, owner), phase_seed(job, number));
    let file = if shares_file(job) { 0 } else { u64::from(owner) };
    (0..pattern.count())
        .map(|_| {
            let step = pattern.step();
            (file, step.offset, step.length)
        })
        .collect()
}

#[test]
fn every_transfer_of_every_task_is_iors() {
    let tables = golden();
    assert!(tables.len() >= 8, "only {} layouts", tables.len());
    for (name, table) in tables {
        let job = job(&table);
        let segment = job.block_size_bytes.unwrap() * job.segment_blocks();
        let mut held = 0;
        for (number, phase) in job.phases.iter().enumerate() {
            let way = if phase.operation.writes() { "write" } else { "read" };
            if phase.operation == Operation::Prepare {
                continue;
            }
            for lane in 0..job.lanes {
                let iors: Vec<Transfer> = serde_json::from_value(table["ior"][way][lane as usize].clone()).unwrap();
                let (mut ours, mut iors) = (ours(&job, number as u32, lane), iors);
                if matches!(phase.operation, Operation::RandomRead | Operation::RandomWrite) {
                    // Random numbers decide the order within a segment; its bytes and the order of segments are the
                    // same.
                    for transfers in [&mut ours, &mut iors] {
                        assert!(
                            transfers.is_sorted_by_key(|(_, offset, _)| offset / segment),
                            "{name} {way} of {lane}"
                        );
                        transfers.sort_unstable();
                    }
                }
                held += ours.len();
                assert_eq!(ours, iors, "{name}: {} {way} of task {lane}", table["command"]);
            }
        }
        assert!(held > 0, "{name} has no transfer");
    }
}

/// Jobs on the same data use their own orders, as if each had its `order_seed` as its seed.
#[test]
fn an_order_seed_decides_the_order_and_nothing_else() {
    let text = r#"{"spec_version": SPEC, "id": "order", "target": {"kind": "null"}, "lanes": 3, "file_size_bytes": 65536,
        "record_size_bytes": 1024, "seed": 5, "phases": [{"operation": "random_read"}]}"#;
    let text = text.replace("SPEC", &assay_spec::SPEC_VERSION.to_string());
    let plain: Job = serde_json::from_str(&text).unwrap();
    let other = Job { order_seed: Some(9), ..plain.clone() };
    let same = Job { order_seed: Some(5), ..plain.clone() };
    let of_nine = Job { seed: 9, ..plain.clone() };
    for lane in 0..3 {
        let [plain, other, same, of_nine] = [&plain, &other, &same, &of_nine].map(|job| ours(job, 0, lane));
        assert_ne!(plain, other);
        assert_eq!((&other, &plain), (&of_nine, &same));
        let sorted = |mut transfers: Vec<Transfer>| {
            transfers.sort_unstable();
            transfers
        };
        assert_eq!(sorted(plain), sorted(other), "each transfer once");
    }
}
