//! The conformance checks on the service in memory.

use super::{Contents, Service};
use crate::{Buckets, Tables};
use assay_conform::{Subject, Verdict};
use assay_core::{Backend, Kind, SetupError};
use assay_drive::StopFlag;
use assay_spec::{BackendCapabilities, DynamodbTarget, Event, Job, S3Target, Target};
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
    let service = Service::start("127.0.0.1:0", Contents::Stored).unwrap();
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

struct TableOf {
    target: DynamodbTarget,
    able: BackendCapabilities,
}

impl Subject for TableOf {
    fn capabilities(&self) -> &BackendCapabilities {
        &self.able
    }

    fn target(&self, number: u32) -> Target {
        Target::Dynamodb(DynamodbTarget { directory: format!("c{number:04}-r1"), ..self.target.clone() })
    }

    fn open(&self, job: &Job) -> Result<Arc<dyn Backend>, SetupError> {
        Tables.open(job)
    }
}

#[test]
fn everything_holds_of_its_tables() {
    let target: DynamodbTarget = serde_json::from_value(json!({
        "endpoints": ["null:"], "table": "assay-test", "root": "assay", "directory": "c0-r0", "sort_key": "sk",
        "partition_items": 10,
    }))
    .unwrap();
    let able = Tables.probe(&Target::Dynamodb(target.clone())).unwrap();
    let table = TableOf { target, able };
    let report = assay_conform::run(&table, "", &StopFlag::default(), &Mutex::default());
    assert_eq!(report.count(Verdict::Holds), report.rows.len(), "{report}");
    let removed = Tables.clean(&Target::Dynamodb(table.target.clone()), true, 0).unwrap().removed;
    assert_eq!(removed.len(), 1, "{removed:?}");
}

struct EventLog(Vec<Event>);

impl assay_drive::EventSink for EventLog {
    fn emit(&mut self, event: &Event) -> std::io::Result<()> {
        self.0.push(event.clone());
        Ok(())
    }
}

/// Measures what the engine itself can do: a job on its own service needs no credentials, and the service's CPU time is
/// reported apart.
#[test]
fn the_engine_has_a_service_of_its_own() {
    for target in [json!({"kind": "s3", "bucket": "abc"}), json!({"kind": "dynamodb", "table": "abc"})] {
        let mut target = target;
        for (name, value) in [("endpoints", json!(["null:"])), ("root", json!("assay")), ("directory", json!("c1-r1"))]
        {
            target[name] = value;
        }
        let job: Job = serde_json::from_value(json!({
            "spec_version": assay_spec::SPEC_VERSION, "id": "own", "target": target, "file_size_bytes": 4096,
            "record_size_bytes": 4096, "queue_depth": 8, "objects": {"count": 500}, "data": {"verify": false},
            "phases": [{"operation": "put"}, {"operation": "get"}, {"operation": "delete"}],
        }))
        .unwrap();
        job.validate().unwrap();
        let kind: &dyn Kind = if matches!(job.target, Target::S3(_)) { &Buckets } else { &Tables };
        let (backend, mut log) = (kind.open(&job).unwrap(), EventLog(Vec::new()));
        let ended = assay_drive::run(&job, &backend, &mut log, &StopFlag::default(), &mut || None);
        assert_eq!(ended, assay_drive::Ending::ok());
        let ends = log.0.iter().filter_map(|event| if let Event::PhaseEnd(end) = event { Some(end) } else { None });
        for end in ends {
            let used = end.resources.user_ns + end.resources.system_ns;
            assert!(end.resources.service_ns.is_some_and(|ns| ns > 0 && ns < used), "{:?}", end.resources);
        }
    }
}

/// Many large objects at once, more than tokio's budget for one turn of the event loop: each operation ends.
#[test]
fn nothing_is_left_waiting() {
    struct Silent;
    impl assay_drive::EventSink for Silent {
        fn emit(&mut self, _event: &assay_spec::Event) -> std::io::Result<()> {
            Ok(())
        }
    }
    let service = Service::start("127.0.0.1:0", Contents::Discarded).unwrap();
    let job: Job = serde_json::from_value(json!({
        "spec_version": assay_spec::SPEC_VERSION, "id": "many", "target": Target::S3(target(&service)),
        "file_size_bytes": 4 << 20, "record_size_bytes": 1 << 20, "queue_depth": 32, "objects": {"count": 64},
        "phases": [{"operation": "put"}, {"operation": "get"}],
    }))
    .unwrap();
    let backend = Buckets.open(&job).unwrap();
    let ended = assay_drive::run(&job, &backend, &mut Silent, &StopFlag::default(), &mut || None);
    assert_eq!(ended, assay_drive::Ending::ok());
}

/// A service that discards contents is detected, and reported for what it is.
#[test]
fn a_service_that_forgets_contents_is_found_out() {
    let service = Service::start("127.0.0.1:0", Contents::Discarded).unwrap();
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
