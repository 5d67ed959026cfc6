//! Services with false answers of many kinds, chosen by chance: nothing of others is removed, and everything ends.

use super::{AnswerFilter, Contents, Exchange, Service, Store};
use crate::dynamodb::Tables;
use crate::s3::Buckets;
use assay_core::random::mix2;
use assay_core::{heartbeat, Kind};
use assay_spec::{Job, LeftJob, Target};
use serde_json::{json, Value};
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::Arc;

/// How many services of each protocol are tested.
fn services() -> u64 {
    u64::from(crate::soak::times(60, 500))
}

/// Most requests of a job with a handful of objects, and of cleaning up after it.
const MAX_REQUESTS: u64 = 20_000;
const JOB_PREFIX: &str = "assay/run-c1-r1/";
/// Keys of others, some of which are nearly those of the job.
const FOREIGN: [&str; 16] = [
    "mine",
    "assay/mine",
    "assay/run-c1-r10/o0.1",
    "assay/other-c1-r1/o0.1",
    "Assay/run-c1-r1/o0.1",
    "\u{430}ssay/run-c1-r1/o0.1",
    "assay/run-c1-r1/o0.01",
    "assay/run-c1-r1/../o0.1",
    "assay/run-c1-r1/notes",
    "assay%2Frun-c1-r1/o0.1",
    "assay//run-c1-r1/o0.1",
    "assay/run-c1-r1/o0.1 ",
    // Keys with lanes, numbers and copies that the job does not have.
    "assay/run-c1-r1/o7.0",
    "assay/run-c1-r1/o0.99999",
    "assay/run-c1-r1/o0.4",
    "assay/run-c1-r1/c0.0",
];
const MARK: &str = "This bucket was made by Assay, which removes it when nothing else is in it.\n";

/// A seed that decides which answers of a service are false.
#[derive(Clone, Copy)]
struct Chance(u64);

impl Chance {
    /// A number below `many`.
    fn of(self, number: u64, many: u64) -> u64 {
        mix2(mix2(0x11E5, self.0), number) % many
    }

    /// Whether the service gives the false answer of this number; one in three does.
    fn is_false(self, number: u64) -> bool {
        self.of(number, 3) == 0
    }
}

fn text(answer: &[u8]) -> String {
    String::from_utf8_lossy(answer).into_owned()
}

/// A list in XML of all keys of the service, and a token for more.
fn list_of_all(store: &Store, chance: Chance, turn: u64, (root, entry): (&str, &str)) -> String {
    let url = chance.is_false(20);
    let encoded = |key: &str| if url { crate::s3::query_encoded(key) } else { crate::s3::xml::escaped(key) };
    let mut keys: Vec<String> = store.buckets.values().flat_map(|bucket| bucket.objects.keys().cloned()).collect();
    if chance.is_false(21) {
        // Made-up keys of the job, without end.
        keys = (0..100).map(|number| format!("{JOB_PREFIX}o0.{}", 1000 + turn * 100 + number)).chain(keys).collect();
    }
    let version = if entry == "Version" { "<VersionId>v1</VersionId>" } else { "" };
    let each = |key: &String| format!("<{entry}><Key>{}</Key><Size>1</Size>{version}</{entry}>", encoded(key));
    let all: String = if chance.is_false(22) { String::new() } else { keys.iter().map(each).collect() };
    let how = if url && chance.of(23, 2) == 0 { "<EncodingType>url</EncodingType>" } else { "" };
    let next = match chance.of(24, 4) {
        0 => String::new(),
        1 => "<IsTruncated>true</IsTruncated>".to_owned(),
        2 => next_is("again"),
        _ => next_is(&format!("new{turn}")),
    };
    format!("<{root}><Name>other</Name>{how}{next}{all}</{root}>")
}

fn next_is(token: &str) -> String {
    let names = ["NextContinuationToken", "NextKeyMarker", "NextVersionIdMarker", "NextUploadIdMarker"];
    let all: String = names.iter().fold(String::new(), |text, name| text + &format!("<{name}>{token}</{name}>"));
    format!("<IsTruncated>true</IsTruncated>{all}")
}

/// Answers about buckets.
fn of_buckets(chance: Chance, turn: u64, store: &mut Store, mut exchange: Exchange) -> Exchange {
    let request = exchange.request.clone();
    let (method, rest) = request.split_once(' ').unwrap_or_default();
    let (path, query) = rest.split_once('?').unwrap_or((rest, ""));
    let of_bucket = path.trim_matches('/').split('/').count() == 1;
    let mut reply = |status: u16, answer: String| {
        exchange.status = status;
        exchange.answer = answer.into_bytes();
    };
    match method {
        "HEAD" if chance.is_false(1) => reply(200, String::new()),
        "HEAD" if of_bucket && chance.is_false(2) && turn < 2 => reply(404, String::new()),
        "PUT" if of_bucket && query.is_empty() && chance.is_false(3) => reply(200, String::new()),
        "GET" if path.ends_with("/.assay-target") && chance.is_false(4) => {
            let marks = ["", "anything", MARK, "This bucket was made by Assay"];
            reply(200, marks[chance.of(5, 4) as usize].to_owned());
        }
        "GET" if query.starts_with("versioning") && chance.is_false(6) => {
            reply(200, "<VersioningConfiguration><Status>Enabled</Status></VersioningConfiguration>".to_owned());
        }
        "GET" | "POST" if (query.starts_with("list-type") || query.starts_with("delete")) && chance.is_false(7) => {
            reply(200, "<Error><Code>InternalError</Code><Message>no</Message></Error>".to_owned());
        }
        "GET" if query.starts_with("list-type") && chance.is_false(8) => {
            reply(200, list_of_all(store, chance, turn, ("ListBucketResult", "Contents")));
        }
        "GET" if query.starts_with("versions") => {
            reply(200, list_of_all(store, chance, turn, ("ListVersionsResult", "Version")));
        }
        "GET" if query.starts_with("uploads") && chance.is_false(9) => {
            let uploads = store.buckets.values().flat_map(|bucket| bucket.uploads.keys());
            let each = |id: &String| format!("<Upload><Key>{JOB_PREFIX}o0.0</Key><UploadId>{id}</UploadId></Upload>");
            let all: String = uploads.map(each).collect();
            let next = [String::new(), next_is("again"), next_is(&format!("new{turn}"))];
            let (root, next) = ("ListMultipartUploadsResult", &next[chance.of(10, 3) as usize]);
            reply(200, format!("<{root}>{next}{all}</{root}>"));
        }
        "POST" if query.starts_with("delete") && chance.is_false(11) => {
            let text = "<Deleted><Key>mine</Key></Deleted><Error><Key>mine</Key><Code>AccessDenied</Code></Error>";
            reply(200, format!("<DeleteResult>{text}</DeleteResult>"));
        }
        _ if chance.is_false(12) && turn % 7 == 6 => {
            reply(307, "<Error><Code>TemporaryRedirect</Code></Error>".to_owned());
        }
        _ => {}
    }
    exchange
}

/// A service with false answers, and a counter of its requests.
fn false_service(
    chance: Chance,
    falsify: fn(Chance, u64, &mut Store, Exchange) -> Exchange,
) -> (Service, Arc<AtomicU64>) {
    let requests = Arc::new(AtomicU64::new(0));
    let count = Arc::clone(&requests);
    let filter: AnswerFilter =
        Arc::new(move |store, exchange| falsify(chance, count.fetch_add(1, Ordering::Relaxed), store, exchange));
    (Service::start_with("127.0.0.1:0", Contents::Stored, Some(filter)).unwrap(), requests)
}

fn put(service: &Service, bucket: &str, keys: &[&str]) {
    let mut store = service.store.lock().unwrap();
    let bucket = store.buckets.entry(bucket.to_owned()).or_default();
    for key in keys {
        let contents = if *key == ".assay-target" { format!("{MARK}run: other\n") } else { format!("of {key}") };
        let object =
            super::store::Object { size: contents.len() as u64, contents: contents.into(), etag: String::new() };
        bucket.objects.insert((*key).to_owned(), object);
    }
}

fn begin_upload(service: &Service, bucket: &str, key: &str) {
    let mut store = service.store.lock().unwrap();
    let name = store.upload_name();
    let upload = super::store::Upload { key: key.to_owned(), ..Default::default() };
    store.buckets.entry(bucket.to_owned()).or_default().uploads.insert(name, upload);
}

/// Everything that is not the job's.
fn foreign(service: &Service) -> BTreeMap<String, String> {
    let ours: Vec<String> = (0..4).map(|number| format!("{JOB_PREFIX}o0.{number}")).collect();
    let store = service.store.lock().unwrap();
    let mut found = BTreeMap::new();
    for (name, bucket) in &store.buckets {
        for (key, object) in &bucket.objects {
            let marked = object.contents.starts_with(format!("{MARK}run: run\n").as_bytes());
            if !ours.contains(key) && *key != "assay/run/u" && !marked {
                found.insert(format!("{name}/{key}"), text(&object.contents));
            }
        }
        for (id, upload) in &bucket.uploads {
            found.insert(format!("{name}?{id}"), upload.key.clone());
        }
    }
    found
}

fn job(target: &Value) -> Job {
    serde_json::from_value(json!({
        "spec_version": assay_spec::SPEC_VERSION, "id": "lies", "target": target, "file_size_bytes": 4096,
        "record_size_bytes": 4096, "objects": {"count": 4, "part_size_bytes": 1024}, "phases": [{"operation": "put"}],
    }))
    .unwrap()
}

/// Does what a run does: a job, its clean-up, the removal of its leftovers, and that of the whole place. Returns the
/// errors.
fn work(kind: &dyn Kind, target: &Value, between: impl FnOnce()) -> Vec<String> {
    let mut errors = Vec::new();
    let backend = kind.open(&job(target)).unwrap();
    errors.extend(backend.prepare().err().map(|error| error.to_string()));
    between();
    errors.extend(backend.cleanup().err().map(|error| error.to_string()));
    let mut allowed = target.clone();
    allowed["destroy"] = json!(true);
    let left = LeftJob { job: job(&allowed), uploads: Vec::new(), beyond: Vec::new() };
    errors.extend(kind.clean_job(&left, 0).err().map(|error| error.to_string()));
    for (target, whole) in [(&allowed, false), (target, true)] {
        let target: Target = serde_json::from_value(target.clone()).unwrap();
        errors.extend(kind.clean(&target, whole, 0).err().map(|error| error.to_string()));
    }
    errors
}

#[test]
fn no_object_of_others_is_removed_whatever_a_service_answers() {
    heartbeat::set_patience(10_000_000);
    for seed in 0..services() {
        let chance = Chance(seed);
        let (service, requests) = false_service(chance, of_buckets);
        put(&service, "other", &FOREIGN);
        begin_upload(&service, "other", "mine");
        match chance.of(30, 3) {
            0 => put(&service, "shared", &FOREIGN[..6]),
            1 => put(&service, "shared", &[&FOREIGN[..6], &[".assay-target"]].concat()),
            _ => {}
        }
        let target = json!({
            "kind": "s3", "endpoints": [service.endpoint()], "bucket": "shared", "root": "assay", "run": "run",
            "directory": "run-c1-r1", "anonymous": true, "destroy": chance.of(31, 2) == 0, "timeout_ns": 5_000_000_000_u64,
        });
        let mut before = BTreeMap::new();
        let errors = work(&Buckets, &target, || {
            if chance.of(32, 3) > 0 {
                put(&service, "shared", &FOREIGN);
                begin_upload(&service, "shared", "assay/run-c1-r10/o0.0");
                begin_upload(&service, "shared", "mine-too");
            }
            put(
                &service,
                "shared",
                &[0, 1, 2, 3].map(|number| format!("{JOB_PREFIX}o0.{number}")).each_ref().map(String::as_str),
            );
            begin_upload(&service, "shared", &format!("{JOB_PREFIX}o0.0"));
            before = foreign(&service);
        });
        assert_eq!(before, foreign(&service), "service {seed}: {errors:?}");
        let requests = requests.load(Ordering::Relaxed);
        assert!(requests < MAX_REQUESTS, "service {seed}: {requests} requests: {errors:?}");
    }
}

/// Answers about tables.
fn of_tables(chance: Chance, turn: u64, _store: &mut Store, mut exchange: Exchange) -> Exchange {
    let mut reply = |status: u16, answer: Value| {
        exchange.status = status;
        exchange.answer = answer.to_string().into_bytes();
    };
    let body: Value = serde_json::from_slice(&exchange.body).unwrap_or_default();
    let item = |partition: &str| json!({"pk": {"S": partition}, "sk": {"S": "00000000"}});
    match exchange.request.as_str() {
        "DescribeTable" if chance.is_false(1) => reply(
            200,
            json!({"Table": {
                "TableStatus": "ACTIVE", "TableSizeBytes": chance.of(2, 2) << 30,
                "KeySchema": [{"AttributeName": "pk", "KeyType": "HASH"}, {"AttributeName": "sk", "KeyType": "RANGE"}],
                "AttributeDefinitions": [{"AttributeName": "pk", "AttributeType": "S"}, {"AttributeName": "sk", "AttributeType": "S"}],
            }}),
        ),
        "GetItem" if chance.is_false(3) => {
            let marks = [item(".assay-target"), item("mine"), body["Key"].clone()];
            reply(200, json!({"Item": marks[chance.of(4, 3) as usize]}));
        }
        "Scan" if chance.is_false(5) => {
            // Everything there is, whatever the filter is, and made-up items.
            let mut items: Vec<Value> = FOREIGN.iter().map(|key| item(key)).collect();
            items.extend((0..4).map(|number| item(&format!("{JOB_PREFIX}{:07x}{number:010x}", 0))));
            if chance.is_false(6) {
                items.push(json!({"pk": {"S": format!("{JOB_PREFIX}00000000000000000")}}));
                items.push(json!({"other": {"S": JOB_PREFIX}}));
                items.extend(
                    (0..50).map(|number| item(&format!("{JOB_PREFIX}{:07x}{:010x}", 0, 1000 + turn * 50 + number))),
                );
            }
            if chance.is_false(7) {
                items.clear();
            }
            let last = [json!({"pk": {"S": "again"}}), json!({"pk": {"S": format!("new{turn}")}})];
            let mut answer = json!({"Items": items, "ScannedCount": chance.of(8, 2)});
            if chance.is_false(9) {
                answer["LastEvaluatedKey"] = last[chance.of(10, 2) as usize].clone();
            }
            reply(200, answer);
        }
        "BatchWriteItem" if chance.is_false(11) => {
            let left = json!([{"DeleteRequest": {"Key": item(FOREIGN[chance.of(12, 12) as usize])}}]);
            reply(200, json!({"UnprocessedItems": {(["shared", "other"][chance.of(13, 2) as usize]): left}}));
        }
        _ if chance.is_false(14) && turn % 7 == 6 => {
            reply(400, json!({"__type": "ValidationException", "message": "no"}));
        }
        _ => {}
    }
    exchange
}

fn table_action(service: &Service, action: &str, body: &Value) -> String {
    let mut store = service.store.lock().unwrap();
    store.tables.answer(action, body.to_string().as_bytes()).unwrap_or_default()
}

fn make_table(service: &Service, name: &str) {
    let parts = [("pk", "HASH"), ("sk", "RANGE")];
    let schema: Vec<Value> = parts.map(|(name, part)| json!({"AttributeName": name, "KeyType": part})).to_vec();
    let attributes: Vec<Value> = parts.map(|(name, _)| json!({"AttributeName": name, "AttributeType": "S"})).to_vec();
    table_action(
        service,
        "CreateTable",
        &json!({"TableName": name, "KeySchema": schema, "AttributeDefinitions": attributes}),
    );
}

fn put_items(service: &Service, table: &str, keys: &[&str]) {
    for key in keys {
        let mut item = json!({"pk": {"S": key}, "sk": {"S": if *key == ".assay-target" { "0" } else { "00000000" }}});
        if *key == ".assay-target" {
            item["d"] = json!({"S": "other"});
        }
        table_action(service, "PutItem", &json!({"TableName": table, "Item": item}));
    }
}

/// Items that are not the job's.
fn foreign_items(service: &Service, table: &str) -> Vec<String> {
    let found: Value =
        serde_json::from_str(&table_action(service, "Scan", &json!({"TableName": table}))).unwrap_or_default();
    let items = found["Items"].as_array().cloned().unwrap_or_default();
    let foreign =
        |item: &&Value| FOREIGN.contains(&item["pk"]["S"].as_str().unwrap_or_default()) || item["d"]["S"] == "other";
    items.iter().filter(foreign).map(Value::to_string).collect()
}

#[test]
fn no_item_of_others_is_removed_whatever_a_service_answers() {
    heartbeat::set_patience(10_000_000);
    for seed in 0..services() {
        let chance = Chance(seed);
        let (service, requests) = false_service(chance, of_tables);
        make_table(&service, "other");
        put_items(&service, "other", &FOREIGN);
        if chance.of(30, 3) < 2 {
            make_table(&service, "shared");
            put_items(&service, "shared", &FOREIGN[..6]);
        }
        if chance.of(30, 3) == 1 {
            put_items(&service, "shared", &[".assay-target"]);
        }
        let target = json!({
            "kind": "dynamodb", "endpoints": [service.endpoint()], "table": "shared", "root": "assay", "run": "run",
            "directory": "run-c1-r1", "destroy": chance.of(31, 2) == 0, "sort_key": "sk", "region": "nowhere", "timeout_ns": 5_000_000_000_u64,
        });
        let mut before = [Vec::new(), Vec::new()];
        let errors = work(&Tables, &target, || {
            if chance.of(32, 3) > 0 {
                put_items(&service, "shared", &FOREIGN);
            }
            let ours = [0, 1, 2, 3].map(|number| format!("{JOB_PREFIX}{:07x}{number:010x}", 0));
            put_items(&service, "shared", &ours.each_ref().map(String::as_str));
            before = ["other", "shared"].map(|table| foreign_items(&service, table));
        });
        let after = ["other", "shared"].map(|table| foreign_items(&service, table));
        assert_eq!(before, after, "service {seed}: {errors:?}");
        let requests = requests.load(Ordering::Relaxed);
        assert!(requests < MAX_REQUESTS, "service {seed}: {requests} requests: {errors:?}");
    }
}
