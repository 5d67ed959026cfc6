//! Services that show an object late to a client that has not put it: how long that takes is measured, and looks that
//! did not see it are counted.

use super::{AnswerFilter, Contents, Exchange, Service, Store};
use crate::Buckets;
use assay_core::{heartbeat, Kind};
use assay_drive::StopFlag;
use assay_spec::{ByeStatus, Event, Job, PhaseEnd, ServiceUse};
use serde_json::{json, Value};
use std::collections::HashMap;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

const OBJECTS: u64 = 3;
/// How long an object stays hidden after a put.
const LATE: Duration = Duration::from_millis(30);

/// By key: when it was put last, its ETag before, and its ETag now.
type Puts = HashMap<String, (Instant, Option<String>, String)>;

/// The key of a request; a list has it in its query.
fn key_of(request: &str) -> String {
    let path = request.split_once(' ').map_or("", |(_, path)| path);
    let (path, query) = path.split_once('?').unwrap_or((path, ""));
    let prefix = query.split('&').find_map(|pair| pair.strip_prefix("prefix="));
    prefix.map_or_else(|| path.splitn(3, '/').nth(2).unwrap_or_default().to_owned(), |key| key.replace("%2F", "/"))
}

/// A service that shows for a while what was there before, or with `never` forever.
fn late(never: bool) -> Service {
    let puts = Mutex::new(Puts::new());
    let filter: AnswerFilter = Arc::new(move |_store: &mut Store, mut exchange: Exchange| {
        let (key, mut puts) = (key_of(&exchange.request), puts.lock().unwrap());
        if !key.contains("/o") {
            return exchange;
        }
        if exchange.request.starts_with("PUT ") {
            let before = puts.get(&key).map(|(_, _, etag)| etag.clone());
            puts.insert(key, (Instant::now(), before, exchange.etag.clone()));
        } else if let Some((put, before, etag)) = puts.get(&key).filter(|_| exchange.request.starts_with("GET ")) {
            let lists = exchange.request.contains("list-type");
            if put.elapsed() < LATE || never {
                match before {
                    Some(before) if lists => {
                        exchange.answer = String::from_utf8_lossy(&exchange.answer)
                            .replace(etag.trim_matches('"'), before.trim_matches('"'))
                            .into_bytes();
                    }
                    Some(before) => exchange.etag.clone_from(before),
                    None if lists => exchange.answer = b"<ListBucketResult></ListBucketResult>".to_vec(),
                    None => {
                        (exchange.status, exchange.answer) = (404, b"<Error><Code>NoSuchKey</Code></Error>".to_vec());
                    }
                }
            }
        }
        exchange
    });
    Service::start_with("127.0.0.1:0", Contents::Stored, Some(filter)).unwrap()
}

struct PhaseEnds(Vec<PhaseEnd>);

impl assay_drive::EventSink for PhaseEnds {
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
        // The second phase replaces what is there.
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
    let (backend, mut log) = (Buckets.open(&job).unwrap(), PhaseEnds(Vec::new()));
    let ended = assay_drive::run(&job, &backend, &mut log, &StopFlag::default(), &mut || None);
    (ended.status, log.0)
}

/// Operations of a kind that ended well, and their longest latency in nanoseconds.
fn of(end: &PhaseEnd, kind: &str) -> (u64, u64) {
    let found = end.operations.iter().find(|one| one.operation.name() == kind);
    found.map_or((0, 0), |one| (one.ops, one.latency.as_ref().map_or(0, |latency| latency.max_ns)))
}

fn service_use(end: &PhaseEnd) -> ServiceUse {
    end.service.unwrap_or_default()
}

#[test]
fn what_is_put_is_seen_at_once_where_the_service_is_consistent() {
    let service = Service::start("127.0.0.1:0", Contents::Stored).unwrap();
    let (status, ends) = run(&service, &json!({}));
    assert_eq!((status, ends.len()), (ByeStatus::Ok, 3));
    for end in &ends {
        assert_eq!((of(end, "put").0, of(end, "see").0), (OBJECTS, OBJECTS), "{end:?}");
        assert_eq!((service_use(end).looks, service_use(end).stale_looks), (OBJECTS, 0), "{end:?}");
    }
    let requests: u64 = ends[0].connections.iter().map(|host| host.requests).sum();
    assert_eq!(requests, 2 * OBJECTS, "of both clients: {:?}", ends[0].connections);
}

#[test]
fn what_is_shown_late_takes_so_long_to_be_seen_new_or_anew_fetched_or_listed() {
    let (status, ends) = run(&late(false), &json!({}));
    assert_eq!((status, ends.len()), (ByeStatus::Ok, 3));
    for end in &ends {
        assert_eq!((of(end, "put").0, of(end, "see").0), (OBJECTS, OBJECTS), "{end:?}");
        // Some of the delay has passed between the service's answer and the first look.
        assert!(of(end, "see").1 > LATE.as_nanos() as u64 / 2, "{end:?}");
        assert!(
            service_use(end).stale_looks > 0 && service_use(end).looks == service_use(end).stale_looks + OBJECTS,
            "{end:?}"
        );
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
