//! The contract suite on the service in memory.

use super::{Contents, Service};
use crate::Buckets;
use assay_conform::{Subject, Verdict};
use assay_core::{Backend, Kind, SetupError};
use assay_drive::StopFlag;
use assay_spec::{BackendCapabilities, Job, S3Target, Target};
use serde_json::json;
use std::sync::{Arc, Mutex};

struct Bucket {
    target: S3Target,
    able: BackendCapabilities,
}

impl Subject for Bucket {
    fn capabilities(&self) -> &BackendCapabilities {
        &self.able
    }

    fn target(&self, number: u32) -> Target {
        Target::S3(S3Target { directory: format!("c{number:04}-r1"), ..self.target.clone() })
    }

    fn open(&self, job: &Job) -> Result<Arc<dyn Backend>, SetupError> {
        Buckets.open(job)
    }
}

fn target(service: &Service) -> S3Target {
    serde_json::from_value(json!({
        "endpoints": [service.endpoint()], "bucket": "assay-test", "root": "assay", "directory": "c0-r0",
        "anonymous": true,
    }))
    .unwrap()
}

fn bucket(service: &Service, change: impl Fn(&mut S3Target)) -> Bucket {
    let mut target = target(service);
    change(&mut target);
    Bucket { able: Buckets.probe(&Target::S3(target.clone())).unwrap(), target }
}

#[test]
fn everything_holds_of_a_service_that_does_what_it_should() {
    let service = Service::start("127.0.0.1:0", Contents::Kept).unwrap();
    let bucket = bucket(&service, |_| {});
    let report = assay_conform::run(&bucket, "", &StopFlag::default(), &Mutex::default());
    assert_eq!(report.count(Verdict::Holds), report.rows.len(), "{report}");
    let names: Vec<&str> = report.rows.iter().map(|row| row.check.as_str()).collect();
    for operation in &bucket.able.operations {
        assert!(names.contains(&operation.name()), "{operation:?}");
    }
    let removed = Buckets.clean(&Target::S3(bucket.target.clone()), true, 0).unwrap().removed;
    assert_eq!(removed, [format!("{}/assay-test", service.endpoint())]);
}

/// Many large objects at once, more than a turn of the event loop has patience for: each operation ends.
#[test]
fn nothing_is_left_waiting() {
    struct Silent;
    impl assay_drive::EventSink for Silent {
        fn emit(&mut self, _event: &assay_spec::Event) -> std::io::Result<()> {
            Ok(())
        }
    }
    let service = Service::start("127.0.0.1:0", Contents::Forgotten).unwrap();
    let job: Job = serde_json::from_value(json!({
        "spec_version": assay_spec::SPEC_VERSION, "id": "many", "target": Target::S3(target(&service)),
        "file_size_bytes": 4 << 20, "record_size_bytes": 1 << 20, "queue_depth": 32, "objects": {"count": 64},
        "phases": [{"operation": "put"}, {"operation": "get"}],
    }))
    .unwrap();
    let backend = Buckets.open(&job).unwrap();
    let ended = assay_drive::run(&job, &backend, &mut Silent, &StopFlag::default(), &mut || None);
    assert_eq!(ended, (assay_spec::ByeStatus::Ok, None));
}

/// What a service gets wrong that throws all contents away is found, and told as what it is.
#[test]
fn a_service_that_forgets_contents_is_found_out() {
    let service = Service::start("127.0.0.1:0", Contents::Forgotten).unwrap();
    let bucket = bucket(&service, |_| {});
    let report = assay_conform::run(&bucket, "", &StopFlag::default(), &Mutex::default());
    let failed = |check: &str| {
        let rows = report.rows.iter().filter(|row| row.check == check && row.verdict == Verdict::DoesNotHold);
        rows.count()
    };
    for check in ["sizes", "ranges", "a key that is taken", "get", "put", "object_mix", "parts"] {
        assert!(failed(check) > 0, "{check}: {report}");
    }
    for check in ["head", "list", "listing"] {
        assert_eq!(failed(check), 0, "{check}: {report}");
    }
}
