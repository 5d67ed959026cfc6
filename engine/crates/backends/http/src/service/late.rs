//! Services that show an object late, to a client that has not put it: how long that takes is measured, and what was not
//! seen counted.

use super::{Contents, Liar, Service, Store, Told};
use crate::Buckets;
use assay_core::{heartbeat, Kind};
use assay_drive::StopFlag;
use assay_spec::{ByeStatus, Event, Job, PhaseEnd, ServiceUse};
use serde_json::{json, Value};
use std::collections::HashMap;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

const OBJECTS: u64 = 3;
/// So long after a put nothing of it is shown.
const LATE: Duration = Duration::from_millis(30);

/// When each key was put last, what it was called before, and is called now.
type Puts = HashMap<String, (Instant, Option<String>, String)>;

/// What a key is asked for as: of a list it stands in the query.
fn key_of(asked: &str) -> String {
    let path = asked.split_once(' ').map_or("", |(_, path)| path);
    let (path, query) = path.split_once('?').unwrap_or((path, ""));
    let prefix = query.split('&').find_map(|pair| pair.strip_prefix("prefix="));
    prefix.map_or_else(|| path.splitn(3, '/').nth(2).unwrap_or_default().to_owned(), |key| key.replace("%2F", "/"))
}

/// A service that shows what was there before for a while; `never`: for ever.
fn late(never: bool) -> Service {
    let puts = Mutex::new(Puts::new());
    let liar: Liar = Arc::new(move |_store: &mut Store, mut told: Told| {
        let (key, mut puts) = (key_of(&told.asked), puts.lock().unwrap());
        if !key.contains("/o") {
            return told;
        }
        if told.asked.starts_with("PUT ") {
            let before = puts.get(&key).map(|(_, _, etag)| etag.clone());
            puts.insert(key, (Instant::now(), before, told.etag.clone()));
        } else if let Some((put, before, etag)) = puts.get(&key).filter(|_| told.asked.starts_with("GET ")) {
            let lists = told.asked.contains("list-type");
            if put.elapsed() < LATE || never {
                match before {
                    Some(before) if lists => {
                        told.answer = String::from_utf8_lossy(&told.answer)
                            .replace(etag.trim_matches('"'), before.trim_matches('"'))
                            .into_bytes();
                    }
                    Some(before) => told.etag.clone_from(before),
                    None if lists => told.answer = b"<ListBucketResult></ListBucketResult>".to_vec(),
                    None => (told.status, told.answer) = (404, b"<Error><Code>NoSuchKey</Code></Error>".to_vec()),
                }
            }
        }
        told
    });
    Service::start_with("127.0.0.1:0", Contents::Kept, Some(liar)).unwrap()
}

struct Said(Vec<PhaseEnd>);

impl assay_drive::EventSink for Said {
    fn emit(&mut self, event: &Event) -> std::io::Result<()> {
        if let Event::PhaseEnd(end) = event {
            self.0.push(end.clone());
        }
        Ok(())
    }
}

fn run(service: &Service, change: &Value) -> (ByeStatus, Vec<PhaseEnd>) {
    heartbeat::set_patience(10_000_000);
    let mut job = json!({
        "spec_version": assay_spec::SPEC_VERSION, "id": "late", "file_size_bytes": 4096, "record_size_bytes": 4096,
        "queue_depth": 2, "objects": {"count": OBJECTS},
        "target": {
            "kind": "s3", "endpoints": [service.endpoint()], "bucket": "late", "root": "assay", "directory": "c1-r1",
            "anonymous": true,
        },
        // The second time what is there is replaced.
        "phases": [{"operation": "read_after_put"}, {"operation": "read_after_put"}, {"operation": "list_after_put"}],
    });
    for (name, value) in change.as_object().unwrap() {
        if name == "timeout_ns" {
            job["target"][name] = value.clone();
        } else {
            job[name] = value.clone();
        }
    }
    let job: Job = serde_json::from_value(job).unwrap();
    job.validate().unwrap();
    let (backend, mut said) = (Buckets.open(&job).unwrap(), Said(Vec::new()));
    let ended = assay_drive::run(&job, &backend, &mut said, &StopFlag::default(), &mut || None);
    (ended.status, said.0)
}

/// Operations of a kind that ended well, and the longest latency of them.
fn of(end: &PhaseEnd, kind: &str) -> (u64, u64) {
    let found = end.operations.iter().find(|one| one.operation.name() == kind);
    found.map_or((0, 0), |one| (one.ops, one.latency.as_ref().map_or(0, |latency| latency.max_ns)))
}

fn told(end: &PhaseEnd) -> ServiceUse {
    end.service.unwrap_or_default()
}

#[test]
fn what_is_put_is_seen_at_once_where_the_service_is_consistent() {
    let service = Service::start("127.0.0.1:0", Contents::Kept).unwrap();
    let (status, ends) = run(&service, &json!({}));
    assert_eq!((status, ends.len()), (ByeStatus::Ok, 3));
    for end in &ends {
        assert_eq!((of(end, "put").0, of(end, "see").0), (OBJECTS, OBJECTS), "{end:?}");
        assert_eq!((told(end).looks, told(end).stale_looks), (OBJECTS, 0), "{end:?}");
    }
    let asked: u64 = ends[0].connections.iter().map(|host| host.requests).sum();
    assert_eq!(asked, 2 * OBJECTS, "of both clients: {:?}", ends[0].connections);
}

#[test]
fn what_is_shown_late_takes_so_long_to_be_seen_new_or_anew_fetched_or_listed() {
    let (status, ends) = run(&late(false), &json!({}));
    assert_eq!((status, ends.len()), (ByeStatus::Ok, 3));
    for end in &ends {
        assert_eq!((of(end, "put").0, of(end, "see").0), (OBJECTS, OBJECTS), "{end:?}");
        // Between the service's answer and the first look some time of the delay has passed already.
        assert!(of(end, "see").1 > LATE.as_nanos() as u64 / 2, "{end:?}");
        assert!(told(end).stale_looks > 0 && told(end).looks == told(end).stale_looks + OBJECTS, "{end:?}");
    }
}

#[test]
fn what_is_never_shown_fails_in_the_end() {
    let phases = json!([{"operation": "list_after_put"}]);
    let (_, ends) = run(&late(true), &json!({"timeout_ns": 300_000_000, "error_limit": 100, "phases": phases}));
    let failed: Vec<_> = ends[0].errors.iter().map(|one| (one.name.as_deref(), one.count)).collect();
    assert_eq!(failed, [(Some("ETIMEDOUT"), OBJECTS)], "{:?}", ends[0].errors);
    assert_eq!((of(&ends[0], "put").0, of(&ends[0], "see").0), (OBJECTS, 0));
}
