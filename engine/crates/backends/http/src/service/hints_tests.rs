//! What is said where a service is not the one that was meant, or has not all that others have.

use super::{Contents, Liar, Service};
use crate::dynamodb::Tables;
use crate::s3::Buckets;
use assay_core::Kind;
use assay_spec::{Job, LeftJob, Target};
use serde_json::{json, Value};
use std::io::{Read, Write};
use std::net::TcpListener;
use std::sync::{Arc, Mutex};

/// An alert of TLS (RFC 8446, 6): a fatal one.
const ALERT: [u8; 7] = [0x15, 3, 3, 0, 2, 2, 70];

/// A port that gives each request the same answer; `tls`: also one that speaks TLS says so to those who greet it.
fn port(answer: &'static str, tls: bool) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    std::thread::spawn(move || {
        for mut stream in listener.incoming().flatten() {
            let mut asked = [0; 8192];
            let Ok(length) = stream.read(&mut asked) else { continue };
            let greeted = tls && length > 0 && asked[0] == 0x16;
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
        let said = probed("s3", &[port(answer, false)], &json!({})).unwrap_err();
        assert!(said.contains("is in region eu-central-1: write region: eu-central-1"), "{said}");
    }
    let same = probed("s3", &[port(wrong, false)], &json!({"region": "eu-central-1"})).unwrap_err();
    assert!(!same.contains("write region"), "{same}");
}

#[test]
fn the_endpoint_that_does_not_answer_is_named() {
    let shut = || format!("http://{}", TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap());
    for kind in ["s3", "dynamodb"] {
        let endpoint = shut();
        let said = probed(kind, std::slice::from_ref(&endpoint), &json!({})).unwrap_err();
        assert!(said.contains(&endpoint) && said.to_lowercase().contains("refused"), "{said}");
        let (one, other) = (shut(), shut());
        let said = probed(kind, &[one.clone(), other.clone()], &json!({})).unwrap_err();
        assert!(said.contains(&one) != said.contains(&other), "the one that was asked: {said}");
    }
}

#[test]
fn a_port_that_speaks_tls_is_told_from_one_that_does_not() {
    let plain = [
        "HTTP/1.0 400 Bad Request\r\n\r\nClient sent an HTTP request to an HTTPS server.\n",
        "\u{15}\u{3}\u{1}\u{0}\u{2}\u{2}\u{46}",
        "",
    ];
    for (kind, answer) in ["s3", "dynamodb"].into_iter().flat_map(|kind| plain.map(|answer| (kind, answer))) {
        let said = probed(kind, &[port(answer, true)], &json!({})).unwrap_err();
        assert!(said.ends_with("this port speaks TLS: write https://"), "{said}");
        let said = probed(kind, &[port(answer, false)], &json!({})).unwrap_err();
        let alert = answer.starts_with('\u{15}');
        assert!(said.contains("https://") == alert, "an alert is TLS, whatever was asked: {said}");
    }
}

fn with_liar(
    lie: impl Fn(&str) -> Option<(u16, &'static str)> + Send + Sync + 'static,
) -> (Service, Arc<Mutex<Vec<String>>>) {
    let asked = Arc::new(Mutex::new(Vec::new()));
    let noted = Arc::clone(&asked);
    let liar: Liar = Arc::new(move |_, mut told| {
        noted.lock().unwrap().push(told.asked.clone());
        if let Some((status, answer)) = lie(&told.asked) {
            told.status = status;
            told.answer = answer.as_bytes().to_vec();
        }
        told
    });
    (Service::start_with("127.0.0.1:0", Contents::Kept, Some(liar)).unwrap(), asked)
}

#[test]
fn what_is_not_there_is_said_with_its_region() {
    let service = Service::start("127.0.0.1:0", Contents::Kept).unwrap();
    for (kind, what) in [("s3", "bucket"), ("dynamodb", "table")] {
        let said = probed(kind, &[service.endpoint()], &json!({})).unwrap();
        assert_eq!(
            said,
            format!("{what} shared is not there, in region nowhere: the run makes it, and removes it at its end")
        );
    }
}

#[test]
fn a_bucket_in_which_nothing_can_be_removed_is_refused_before_anything_is_put() {
    let (service, asked) = with_liar(|asked| {
        let lock = "<ObjectLockConfiguration><ObjectLockEnabled>Enabled</ObjectLockEnabled><Rule><DefaultRetention>\
                    <Mode>COMPLIANCE</Mode><Days>7</Days></DefaultRetention></Rule></ObjectLockConfiguration>";
        asked.contains("?object-lock").then_some((200, lock))
    });
    service.store.lock().unwrap().buckets.entry("shared".to_owned()).or_default();
    for destroy in [true, false] {
        let said = probed("s3", &[service.endpoint()], &json!({"destroy": destroy})).unwrap_err();
        assert!(said.contains("has a default retention (COMPLIANCE, 7 days)"), "{said}");
    }
    let job = job(&target("s3", &[service.endpoint()], &json!({"destroy": true})));
    assert!(Buckets.open(&job).unwrap().prepare().unwrap_err().to_string().contains("default retention"));
    assert!(!asked.lock().unwrap().iter().any(|asked| asked.starts_with("PUT")));
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
    let (service, asked) = with_liar(|asked| {
        let refused = "<Error><Code>NotImplemented</Code><Message>POST ?delete is not implemented.</Message></Error>";
        asked.starts_with("POST /shared?delete").then_some((400, refused))
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
    let asked = asked.lock().unwrap();
    let count = |start: &str| asked.iter().filter(|asked| asked.starts_with(start)).count();
    assert_eq!((count("POST"), count("DELETE /shared/assay/c1-r1/o0.")), (1, 40), "it is asked for once");
}
