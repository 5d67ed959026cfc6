//! Jobs on objects that exist already, with the service in memory.

use super::place::Place;
use super::request::Call;
use crate::net::block_on;
use crate::service::{Contents, Service};
use crate::Buckets;
use assay_core::{Kind, LaneSetup, Op, OpKind, SetupError};
use assay_drive::{Ending, EventSink, StopFlag};
use assay_spec::{ByeStatus, ErrorSample, Event, Job, OpTotals, S3Target, Target};
use hyper::Method;
use serde_json::{json, Value};
use std::sync::Arc;

/// A service with a bucket that others made, and the events of jobs on it.
struct ForeignBucket {
    service: Service,
    events: Vec<Event>,
    /// Requests of others after the job has listed and before it reads.
    meanwhile: Vec<(Method, &'static str, usize)>,
}

impl ForeignBucket {
    /// A bucket with objects of these sizes below `data/`.
    fn new(sizes: impl Iterator<Item = usize>) -> Self {
        let service = Service::start("127.0.0.1:0", Contents::Stored).unwrap();
        let foreign = ForeignBucket { service, events: Vec::new(), meanwhile: Vec::new() };
        foreign.send(Method::PUT, "", 0);
        sizes.enumerate().for_each(|(number, size)| foreign.send(Method::PUT, &format!("data/{number}%20+"), size));
        foreign
    }

    fn target(&self) -> S3Target {
        serde_json::from_value(json!({
            "endpoints": [self.service.endpoint()], "bucket": "theirs", "root": "assay", "directory": "c0-r0",
            "anonymous": true, "existing": "data/",
        }))
        .unwrap()
    }

    fn send(&self, method: Method, key: &str, size: usize) {
        let place = Place::open(&self.target(), None).unwrap();
        let client = place.access.client();
        let answer = block_on(place.send(&client, Call::new(method, key), &vec![7; size])).unwrap().unwrap();
        assert!(answer.is_success(), "{}", answer.status);
    }

    /// The list of every key in the bucket.
    fn everything(&self) -> Vec<u8> {
        let place = Place::open(&self.target(), None).unwrap();
        let client = place.access.client();
        block_on(place.send(&client, Call::new(Method::GET, "").query("list-type=2"), b"")).unwrap().unwrap().body
    }

    fn job(&self, changes: &Value, phases: &Value) -> Job {
        let mut job = json!({
            "spec_version": assay_spec::SPEC_VERSION, "id": "existing", "target": Target::S3(self.target()),
            "file_size_bytes": 0, "record_size_bytes": 4096, "lanes": 3, "queue_depth": 2, "sync": "none",
            "objects": {"count": 100}, "phases": phases,
        });
        changes.as_object().unwrap().iter().for_each(|(name, value)| job[name] = value.clone());
        let job: Job = serde_json::from_value(job).unwrap();
        job.validate().unwrap();
        job
    }

    fn run(&mut self, job: &Job) -> Ending {
        let backend = Buckets.open(job).unwrap();
        assay_drive::run(job, &backend, self, &StopFlag::default(), &mut || None)
    }

    /// Operations, bytes and failures of each phase.
    fn counts(&self) -> Vec<(u64, u64, u64)> {
        let sum = |all: &[OpTotals]| {
            all.iter().fold((0, 0, 0), |sum, one| (sum.0 + one.ops, sum.1 + one.bytes, sum.2 + one.errors))
        };
        let ends = self.events.iter().filter_map(|event| match event {
            Event::PhaseEnd(end) => Some(sum(&end.operations)),
            _ => None,
        });
        ends.collect()
    }

    fn failures(&self) -> Vec<&ErrorSample> {
        let samples = self.events.iter().filter_map(|event| match event {
            Event::ErrorSample(sample) => Some(sample),
            _ => None,
        });
        samples.collect()
    }
}

impl EventSink for ForeignBucket {
    fn emit(&mut self, event: &Event) -> std::io::Result<()> {
        if matches!(event, Event::Ready(_)) {
            for (method, key, size) in std::mem::take(&mut self.meanwhile) {
                self.send(method, key, size);
            }
        }
        self.events.push(event.clone());
        Ok(())
    }
}

#[test]
fn they_are_read_once_and_nothing_else_happens_to_them() {
    let mut foreign = ForeignBucket::new((0..20).map(|number| number * 1000));
    foreign.send(Method::PUT, "other", 5);
    let before = foreign.everything();
    let mix = json!({"operation": "object_mix", "mix": {"get": 50, "head": 50}});
    let ranged = json!({"operation": "get", "range_bytes": 1500});
    let job = foreign
        .job(&json!({}), &json!([{"operation": "get"}, ranged, {"operation": "head"}, {"operation": "list"}, mix]));
    assert_eq!(foreign.run(&job), Ending::ok());
    let counts = foreign.counts();
    assert_eq!(counts[..4], [(20, 190_000, 0), (20, 1000 + 18 * 1500, 0), (20, 0, 0), (3, 0, 0)]);
    assert_eq!((counts[4].0, counts[4].2), (20, 0));
    let found = foreign.events.iter().find_map(|event| match event {
        Event::Ready(ready) => ready.existing,
        _ => None,
    });
    let found = found.unwrap();
    assert_eq!((found.listed, found.objects, found.bytes, found.median_bytes), (20, 20, 190_000, 9000));
    assert_eq!(foreign.everything(), before, "no mark, and nothing is gone");
    let cleaned = |whole| Buckets.clean(&job.target, whole, 0).unwrap().removed;
    assert_eq!((cleaned(false), cleaned(true)), (vec![], vec![]));
    assert_eq!(foreign.everything(), before);
}

#[test]
fn what_has_changed_since_it_was_listed_fails_with_its_name() {
    let mut foreign = ForeignBucket::new([10, 20, 30, 40].into_iter());
    foreign.meanwhile =
        vec![(Method::PUT, "data/0%20+", 9), (Method::PUT, "data/1%20+", 21), (Method::DELETE, "data/2%20+", 0)];
    let ranged = json!({"operation": "get", "range_bytes": 5});
    let job = foreign.job(&json!({}), &json!([{"operation": "get"}, {"operation": "head"}, ranged]));
    let Ending { status, reason: message, .. } = foreign.run(&job);
    assert_eq!(status, ByeStatus::Errors);
    assert_eq!(foreign.counts(), [(1, 40, 3), (1, 0, 3), (1, 5, 3)]);
    for sample in foreign.failures() {
        let changed = !sample.object.ends_with("/theirs/data/2 +");
        let text = if changed { "the object has another size than when it was listed" } else { "S3 answered 404" };
        assert!(sample.message.starts_with(text) && sample.object.contains("/theirs/data/"), "{sample:?}");
    }
    let message = message.unwrap();
    assert!(message.contains("/theirs/data/") && !message.contains("of number"), "{message}");
}

#[test]
fn fewer_objects_than_lanes_are_refused_in_one_line() {
    let mut foreign = ForeignBucket::new([1, 2].into_iter());
    let job = foreign.job(&json!({}), &json!([{"operation": "get"}]));
    let Ending { status, reason: message, .. } = foreign.run(&job);
    assert_eq!((status, foreign.events.len()), (ByeStatus::Refused, 0));
    assert!(message.unwrap().ends_with(
        "/theirs/data/: 2 objects begin so, fewer than the 3 lanes: use fewer lanes, or a shorter beginning"
    ));
    let nothing = Target::S3(S3Target { existing: Some("nothing".to_owned()), ..foreign.target() });
    let message = Buckets.probe(&nothing).unwrap_err().to_string();
    assert!(message.contains("there are no objects whose keys begin so"), "{message}");
    assert_eq!(foreign.run(&foreign.job(&json!({"lanes": 2}), &json!([{"operation": "get"}]))), Ending::ok());
}

#[test]
fn processes_of_one_job_share_them_out() {
    let mut names = Vec::new();
    let foreign = ForeignBucket::new((0..50).map(|number| number + 1));
    for rank in 0..2 {
        let job =
            foreign.job(&json!({"ranks": 2, "rank": rank, "objects": {"count": 4}}), &json!([{"operation": "get"}]));
        let backend = Buckets.open(&job).unwrap();
        let existing = backend.service().unwrap().existing(&mut |_| true).unwrap().unwrap();
        assert_eq!((existing.found.listed, existing.found.objects, existing.lanes.len()), (50, 24, 3));
        names.extend(existing.lanes.iter().flat_map(|lane| lane.iter().map(|one| one.name.clone())));
    }
    names.sort_unstable();
    names.dedup();
    assert_eq!(names.len(), 24);
}

/// A job that is asked to stop does not read a long list to its end.
#[test]
fn a_stop_ends_the_listing() {
    let mut foreign = ForeignBucket::new((0..1001).map(|_| 1));
    let job = foreign.job(&json!({}), &json!([{"operation": "get"}]));
    let backend = Buckets.open(&job).unwrap();
    let mut calls = Vec::new();
    let stopped = backend.service().unwrap().existing(&mut |listed| {
        calls.push(listed);
        false
    });
    assert!(stopped.is_err());
    assert_eq!(calls, [1000]);
    let stop: StopFlag = Arc::new(true.into());
    let ended = assay_drive::run(&job, &backend, &mut foreign, &stop, &mut || None);
    assert_eq!(ended.status, ByeStatus::Stopped);
}

/// Even a lane that is called directly changes nothing.
#[test]
fn a_lane_refuses_whatever_writes() -> Result<(), SetupError> {
    let foreign = ForeignBucket::new([10].into_iter());
    let job = foreign.job(&json!({"lanes": 1}), &json!([{"operation": "get"}]));
    let backend = Buckets.open(&job)?;
    backend.prepare()?;
    assert!(backend.service().unwrap().existing(&mut |_| true)?.is_some());
    let buffers = Arc::new(assay_core::Buffers::new(1, 4096, false).unwrap());
    let setup = LaneSetup { lane: 0, queue_depth: 1, tuning: job.tuning.clone(), direct: false, buffers, source: None };
    let mut lane = backend.open_lane(setup)?;
    for kind in [OpKind::Put, OpKind::Delete, OpKind::Copy, OpKind::StartUpload, OpKind::MultiDelete] {
        let op = Op { kind, count: 1, slot: 0, object: 0, offset: 0, length: 10 };
        assert_eq!(lane.execute(&op), Err(assay_core::Fault::os(libc::EROFS)), "{kind:?}");
    }
    backend.cleanup()?;
    assert_eq!(backend.capabilities().operations.len(), 4);
    Ok(())
}
