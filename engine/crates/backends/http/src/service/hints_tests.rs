//! Hints in errors where a service is not the one that was meant, or lacks something that others have.

use super::{AnswerFilter, Contents, Service};
use crate::dynamodb::Tables;
use crate::s3::Buckets;
use assay_core::Kind;
use assay_spec::{Job, LeftJob, Target};
use serde_json::{json, Value};
use std::io::{Read, Write};
use std::net::TcpListener;
use std::sync::{Arc, Mutex};

/// A fatal alert of TLS (RFC 8446, section 6).
const ALERT: [u8; 7] = [0x15, 3, 3, 0, 2, 2, 70];

/// Opens a port that gives each request the same answer; with `tls` it answers a TLS hello with an alert.
fn port(answer: &'static str, tls: bool) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    std::thread::spawn(move || {
        for mut stream in listener.incoming().flatten() {
            let mut request = [0; 8192];
            let Ok(length) = stream.read(&mut request) else { continue };
            let greeted = tls && length > 0 && request[0] == 0x16;
            let _ = stream.write_all(if greeted { &ALERT } else { answer.as_bytes() });
        }
    });
    format!("http://{address}")
}

fn target(kind: &str, endpoints: &[String], more: &Value) -> Value {
    let place = if kind == "s3" { "bucket" } else { "table" };
    let mut target = json!({
        "kind": kind, "endpoints": endpoints, place: "shared", "root": "assay", "directory": "c1-r1", "run": "run",
        "region": "nowhere", "timeout_ns": 5_000_000_000_u64,
    });
    if kind == "s3" {
        target["anonymous"] = json!(true);
    }
    target.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    target
}

fn probed(kind: &str, endpoints: &[String], more: &Value) -> Result<String, String> {
    let target: Target = serde_json::from_value(target(kind, endpoints, more)).unwrap();
    let kind: &dyn Kind = if kind == "s3" { &Buckets } else { &Tables };
    let able = kind.probe(&target).map_err(|error| error.to_string())?;
    Ok(able.place.map(|place| place.absent).unwrap_or_default())
}

#[test]
fn a_bucket_of_another_region_is_refused_with_the_region_to_write() {
    let moved = "HTTP/1.1 301 Moved Permanently\r\nx-amz-bucket-region: eu-central-1\r\ncontent-length: 0\r\n\r\n";
    let wrong = "HTTP/1.1 400 Bad Request\r\nx-amz-bucket-region: eu-central-1\r\ncontent-length: 0\r\n\r\n";
    for answer in [moved, wrong] {
        let message = probed("s3", &[port(answer, false)], &json!({})).unwrap_err();
        assert!(message.contains("is in region eu-central-1: write region: eu-central-1"), "{message}");
    }
    let same = probed("s3", &[port(wrong, false)], &json!({"region": "eu-central-1"})).unwrap_err();
    assert!(!same.contains("write region"), "{same}");
}

#[test]
fn the_endpoint_that_does_not_answer_is_named() {
    let shut = || format!("http://{}", TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap());
    for kind in ["s3", "dynamodb"] {
        let endpoint = shut();
        let message = probed(kind, std::slice::from_ref(&endpoint), &json!({})).unwrap_err();
        assert!(message.contains(&endpoint) && message.to_lowercase().contains("refused"), "{message}");
        let (one, other) = (shut(), shut());
        let message = probed(kind, &[one.clone(), other.clone()], &json!({})).unwrap_err();
        assert!(message.contains(&one) != message.contains(&other), "the one that was asked: {message}");
    }
}

#[test]
fn a_port_that_speaks_tls_is_recognised() {
    let plain = [
        "HTTP/1.0 400 Bad Request\r\n\r\nClient sent an HTTP request to an HTTPS server.\n",
        "\u{15}\u{3}\u{1}\u{0}\u{2}\u{2}\u{46}",
        "",
    ];
    for (kind, answer) in ["s3", "dynamodb"].into_iter().flat_map(|kind| plain.map(|answer| (kind, answer))) {
        let message = probed(kind, &[port(answer, true)], &json!({})).unwrap_err();
        assert!(message.ends_with("this port speaks TLS: write https://"), "{message}");
        let message = probed(kind, &[port(answer, false)], &json!({})).unwrap_err();
        let alert = answer.starts_with('\u{15}');
        assert!(message.contains("https://") == alert, "an alert is TLS, whatever was asked: {message}");
    }
}

fn with_false_answers(
    false_answer: impl Fn(&str) -> Option<(u16, &'static str)> + Send + Sync + 'static,
) -> (Service, Arc<Mutex<Vec<String>>>) {
    let requests = Arc::new(Mutex::new(Vec::new()));
    let noted = Arc::clone(&requests);
    let filter: AnswerFilter = Arc::new(move |_, mut exchange| {
        noted.lock().unwrap().push(exchange.request.clone());
        if let Some((status, answer)) = false_answer(&exchange.request) {
            exchange.status = status;
            exchange.answer = answer.as_bytes().to_vec();
        }
        exchange
    });
    (Service::start_with("127.0.0.1:0", Contents::Stored, Some(filter)).unwrap(), requests)
}

#[test]
fn a_missing_bucket_or_table_is_reported_with_its_region() {
    let service = Service::start("127.0.0.1:0", Contents::Stored).unwrap();
    for (kind, what) in [("s3", "bucket"), ("dynamodb", "table")] {
        let message = probed(kind, &[service.endpoint()], &json!({})).unwrap();
        assert_eq!(
            message,
            format!("{what} shared is not there, in region nowhere: the run makes it, and removes it at its end")
        );
    }
}

#[test]
fn a_bucket_in_which_nothing_can_be_removed_is_refused_before_anything_is_put() {
    let (service, requests) = with_false_answers(|request| {
        let lock = "<ObjectLockConfiguration><ObjectLockEnabled>Enabled</ObjectLockEnabled><Rule><DefaultRetention>\
                    <Mode>COMPLIANCE</Mode><Days>7</Days></DefaultRetention></Rule></ObjectLockConfiguration>";
        request.contains("?object-lock").then_some((200, lock))
    });
    service.store.lock().unwrap().buckets.entry("shared".to_owned()).or_default();
    for destroy in [true, false] {
        let message = probed("s3", &[service.endpoint()], &json!({"destroy": destroy})).unwrap_err();
        assert!(message.contains("has a default retention (COMPLIANCE, 7 days)"), "{message}");
    }
    let job = job(&target("s3", &[service.endpoint()], &json!({"destroy": true})));
    assert!(Buckets.open(&job).unwrap().prepare().unwrap_err().to_string().contains("default retention"));
    assert!(!requests.lock().unwrap().iter().any(|request| request.starts_with("PUT")));
}

fn job(target: &Value) -> Job {
    serde_json::from_value(json!({
        "spec_version": assay_spec::SPEC_VERSION, "id": "hints", "target": target, "file_size_bytes": 4096,
        "record_size_bytes": 4096, "objects": {"count": 40}, "phases": [{"operation": "put"}],
    }))
    .unwrap()
}

#[test]
fn what_a_service_cannot_remove_at_once_is_removed_one_by_one() {
    let (service, requests) = with_false_answers(|request| {
        let refused = "<Error><Code>NotImplemented</Code><Message>POST ?delete is not implemented.</Message></Error>";
        request.starts_with("POST /shared?delete").then_some((400, refused))
    });
    let objects: Vec<String> = (0..40).map(|number| format!("assay/c1-r1/o0.{number}")).collect();
    {
        let mut store = service.store.lock().unwrap();
        let bucket = store.buckets.entry("shared".to_owned()).or_default();
        for key in &objects {
            bucket.objects.insert(key.clone(), super::store::Object::default());
        }
    }
    let target = target("s3", &[service.endpoint()], &json!({"destroy": true}));
    let left = LeftJob { job: job(&target), uploads: Vec::new(), beyond: Vec::new() };
    let answer = Buckets.clean_job(&left, 0).unwrap();
    assert_eq!(answer.removed, [format!("{}/shared/assay/c1-r1/", service.endpoint())]);
    let requests = requests.lock().unwrap();
    let count = |start: &str| requests.iter().filter(|request| request.starts_with(start)).count();
    assert_eq!((count("POST"), count("DELETE /shared/assay/c1-r1/o0.")), (1, 40), "it is asked for once");
}
