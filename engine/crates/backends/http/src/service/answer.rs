//! Requests to the service in memory, and their answers.

use super::store::{Object, Store, Upload};
use super::{AnswerFilter, Contents, Exchange};
use crate::s3::xml;
use assay_core::names::MARKER;
use bytes::Bytes;
use http_body::{Body, Frame, SizeHint};
use hyper::body::Incoming;
use hyper::header::HeaderValue;
use hyper::{Method, Request, Response, StatusCode};
use percent_encoding::percent_decode_str;
use std::collections::HashMap;
use std::convert::Infallible;
use std::future::poll_fn;
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll};

/// The contents of objects whose contents are discarded.
static ZEROS: [u8; 256 << 10] = [0; 256 << 10];

/// The body of an answer: bytes, or so many zeros.
pub(super) enum ResponseBody {
    Bytes(Bytes),
    Zeros(u64),
}

impl Body for ResponseBody {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(self: Pin<&mut Self>, _context: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        let piece = match self.get_mut() {
            ResponseBody::Bytes(bytes) => std::mem::take(bytes),
            ResponseBody::Zeros(left) => {
                let length = (*left).min(ZEROS.len() as u64);
                *left -= length;
                Bytes::from_static(&ZEROS[..length as usize])
            }
        };
        Poll::Ready((!piece.is_empty()).then(|| Ok(Frame::data(piece))))
    }

    fn is_end_stream(&self) -> bool {
        self.size_hint().exact() == Some(0)
    }

    fn size_hint(&self) -> SizeHint {
        SizeHint::with_exact(match self {
            ResponseBody::Bytes(bytes) => bytes.len() as u64,
            ResponseBody::Zeros(left) => *left,
        })
    }
}

/// A parsed request.
struct ParsedRequest {
    method: Method,
    bucket: String,
    key: String,
    query: HashMap<String, String>,
    headers: hyper::HeaderMap,
    body: Bytes,
    /// Size of the contents in bytes; they may not be stored.
    size: u64,
}

impl ParsedRequest {
    fn header(&self, name: &str) -> &str {
        self.headers.get(name).and_then(|value| value.to_str().ok()).unwrap_or_default()
    }

    fn query(&self, name: &str) -> Option<&str> {
        self.query.get(name).map(String::as_str)
    }
}

type Reply = Response<ResponseBody>;

fn plain(status: StatusCode, body: impl Into<Bytes>) -> Reply {
    let mut answer = Response::new(ResponseBody::Bytes(body.into()));
    *answer.status_mut() = status;
    answer
}

fn refused(status: StatusCode, code: &str) -> Reply {
    plain(status, format!("<?xml version=\"1.0\" encoding=\"UTF-8\"?><Error><Code>{code}</Code></Error>"))
}

fn with_etag(mut answer: Reply, etag: &str) -> Reply {
    if let Ok(value) = etag.parse() {
        answer.headers_mut().insert("etag", value);
    }
    answer.headers_mut().insert("last-modified", LONG_AGO);
    answer
}

/// Some clients reject an object without a time; here it does not matter.
const LONG_AGO: HeaderValue = HeaderValue::from_static("Thu, 01 Jan 1970 00:00:00 GMT");

fn decoded(text: &str) -> String {
    percent_decode_str(text).decode_utf8_lossy().into_owned()
}

/// Answers a request once all of it has come.
pub(super) async fn answer(
    store: Arc<Mutex<Store>>,
    request: Request<Incoming>,
    filter: Option<&AnswerFilter>,
) -> Result<Reply, Infallible> {
    let (head, mut body) = request.into_parts();
    let request_line = filter.map(|_| format!("{} {}", head.method, head.uri));
    let path = decoded(head.uri.path());
    let (bucket, key) = path[1..].split_once('/').unwrap_or((&path[1..], ""));
    let pairs = head.uri.query().unwrap_or_default().split('&').filter(|pair| !pair.is_empty());
    let query = pairs.map(|pair| pair.split_once('=').unwrap_or((pair, "")));
    let query = query.map(|(name, value)| (decoded(name), decoded(value))).collect();
    let discards = store.lock().unwrap_or_else(PoisonError::into_inner).contents == Contents::Discarded;
    // Lists of parts and of keys are needed; contents perhaps not.
    let is_stored = !discards || head.method == Method::POST || key == MARKER;
    let (mut size, mut bytes) = (0, Vec::new());
    while let Some(Ok(frame)) = poll_fn(|context| Pin::new(&mut body).poll_frame(context)).await {
        let Ok(piece) = frame.into_data() else { continue };
        size += piece.len() as u64;
        if is_stored {
            bytes.extend_from_slice(&piece);
        }
    }
    let (bucket, key) = (bucket.to_owned(), key.to_owned());
    let mut request =
        ParsedRequest { method: head.method, bucket, key, query, headers: head.headers, body: bytes.into(), size };
    // For contents in signed chunks, their length without the signatures.
    request.size = request.header("x-amz-decoded-content-length").parse().unwrap_or(request.size);
    let store = &mut store.lock().unwrap_or_else(PoisonError::into_inner);
    let action = request.header("x-amz-target").split_once('.').map(|(_, action)| action.to_owned());
    let honest = match &action {
        Some(action) => of_table(store, action, &request.body),
        None if request.key.is_empty() => of_bucket(store, &request),
        None => of_key(store, &request),
    };
    let (Some(filter), Some(request_line)) = (filter, request_line) else { return Ok(honest) };
    Ok(filtered(store, filter, (action.unwrap_or(request_line), request), honest))
}

/// An answer as the filter of a test changes it.
fn filtered(
    store: &mut Store,
    filter: &AnswerFilter,
    (name, request): (String, ParsedRequest),
    honest: Reply,
) -> Reply {
    let status = honest.status().as_u16();
    let etag = honest.headers().get("etag").and_then(|etag| etag.to_str().ok()).unwrap_or("\"lie\"").to_owned();
    let ResponseBody::Bytes(answer) = honest.into_body() else { return plain(StatusCode::OK, "") };
    let exchange = Exchange { request: name, body: request.body.to_vec(), status, etag, answer: answer.to_vec() };
    let exchange = filter(store, exchange);
    let status = StatusCode::from_u16(exchange.status).unwrap_or_default();
    with_etag(plain(status, exchange.answer), &exchange.etag)
}

fn of_table(store: &mut Store, action: &str, body: &[u8]) -> Reply {
    match store.tables.answer(action, body) {
        Ok(answer) => plain(StatusCode::OK, answer),
        Err(name) => plain(StatusCode::BAD_REQUEST, format!(r#"{{"__type":"{name}"}}"#)),
    }
}

fn of_bucket(store: &mut Store, request: &ParsedRequest) -> Reply {
    if request.method == Method::PUT && request.query.is_empty() {
        store.buckets.entry(request.bucket.clone()).or_default();
        return plain(StatusCode::OK, "");
    }
    let Some(bucket) = store.buckets.get_mut(&request.bucket) else {
        return refused(StatusCode::NOT_FOUND, "NoSuchBucket");
    };
    match (&request.method, request.query("list-type"), request.query("uploads"), request.query("delete")) {
        (&Method::HEAD, ..) => plain(StatusCode::OK, ""),
        (&Method::DELETE, ..) if bucket.objects.is_empty() => {
            store.buckets.remove(&request.bucket);
            plain(StatusCode::NO_CONTENT, "")
        }
        (&Method::DELETE, ..) => refused(StatusCode::CONFLICT, "BucketNotEmpty"),
        (&Method::GET, Some(_), ..) => list(store, request),
        (&Method::GET, None, Some(_), _) => {
            let prefix = request.query("prefix").unwrap_or_default();
            let ours = bucket.uploads.iter().filter(|(_, upload)| upload.key.starts_with(prefix));
            let each = |(name, upload): (&String, &Upload)| {
                format!("<Upload><Key>{}</Key><UploadId>{name}</UploadId></Upload>", xml::escaped(&upload.key))
            };
            let all: String = ours.map(each).collect();
            plain(StatusCode::OK, format!("<ListMultipartUploadsResult>{all}</ListMultipartUploadsResult>"))
        }
        (&Method::POST, _, _, Some(_)) => {
            let document = xml::parse(&request.body).unwrap_or_default();
            document
                .entries("Object")
                .filter_map(|one| one.get("Key"))
                .for_each(|key| drop(bucket.objects.remove(key)));
            plain(StatusCode::OK, "<DeleteResult></DeleteResult>")
        }
        (&Method::GET, ..) if request.query("location").is_some() => {
            plain(StatusCode::OK, "<LocationConstraint></LocationConstraint>")
        }
        (&Method::GET, ..) if request.query("versioning").is_some() => {
            plain(StatusCode::OK, "<VersioningConfiguration></VersioningConfiguration>")
        }
        _ => refused(StatusCode::NOT_IMPLEMENTED, "NotImplemented"),
    }
}

fn list(store: &Store, request: &ParsedRequest) -> Reply {
    let Some(bucket) = store.buckets.get(&request.bucket) else {
        return refused(StatusCode::NOT_FOUND, "NoSuchBucket");
    };
    let most = request.query("max-keys").and_then(|text| text.parse().ok()).unwrap_or(1000).min(1000);
    let after = request.query("continuation-token").or(request.query("start-after")).unwrap_or_default();
    let (page, more) = bucket.page(request.query("prefix").unwrap_or_default(), after, most);
    let each = |(key, object): &(&String, &Object)| {
        let Object { size, etag, .. } = object;
        format!(
            "<Contents><Key>{}</Key><Size>{size}</Size><ETag>{}</ETag></Contents>",
            xml::escaped(key),
            xml::escaped(etag)
        )
    };
    let all: String = page.iter().map(each).collect();
    let token = page.last().filter(|_| more).map_or_else(String::new, |(key, _)| {
        format!("<NextContinuationToken>{}</NextContinuationToken>", xml::escaped(key))
    });
    let head = format!("<IsTruncated>{more}</IsTruncated><KeyCount>{}</KeyCount>", page.len());
    plain(StatusCode::OK, format!("<ListBucketResult>{head}{token}{all}</ListBucketResult>"))
}

fn of_key(store: &mut Store, request: &ParsedRequest) -> Reply {
    let contents = store.contents;
    let name = store.upload_name();
    let Some(bucket) = store.buckets.get_mut(&request.bucket) else {
        return refused(StatusCode::NOT_FOUND, "NoSuchBucket");
    };
    let etag = format!("\"{name}\"");
    let stored = || Object { size: request.size, contents: request.body.clone(), etag: etag.clone() };
    match (&request.method, request.query("uploadId")) {
        (&Method::PUT, Some(upload)) => {
            let number = request.query("partNumber").and_then(|text| text.parse().ok()).unwrap_or(0);
            let Some(upload) = bucket.uploads.get_mut(upload) else {
                return refused(StatusCode::NOT_FOUND, "NoSuchUpload");
            };
            upload.parts.insert(number, stored());
            with_etag(plain(StatusCode::OK, ""), &etag)
        }
        (&Method::POST, Some(upload)) => match bucket.complete(upload) {
            Some(object) => {
                let etag = xml::escaped(&object.etag);
                let text =
                    format!("<CompleteMultipartUploadResult><ETag>{etag}</ETag></CompleteMultipartUploadResult>");
                plain(StatusCode::OK, text)
            }
            None => refused(StatusCode::NOT_FOUND, "NoSuchUpload"),
        },
        (&Method::DELETE, Some(id)) => match bucket.uploads.get(id).filter(|upload| upload.key == request.key) {
            Some(_) => {
                bucket.uploads.remove(id);
                plain(StatusCode::NO_CONTENT, "")
            }
            None => refused(StatusCode::NOT_FOUND, "NoSuchUpload"),
        },
        (&Method::POST, None) if request.query("uploads").is_some() => {
            bucket.uploads.insert(name.clone(), Upload { key: request.key.clone(), ..Upload::default() });
            let text =
                format!("<InitiateMultipartUploadResult><UploadId>{name}</UploadId></InitiateMultipartUploadResult>");
            plain(StatusCode::OK, text)
        }
        (&Method::PUT, None) => {
            if request.header("if-none-match") == "*" && bucket.objects.contains_key(&request.key) {
                return refused(StatusCode::PRECONDITION_FAILED, "PreconditionFailed");
            }
            let from = decoded(request.header("x-amz-copy-source"));
            if from.is_empty() {
                bucket.objects.insert(request.key.clone(), stored());
                return with_etag(plain(StatusCode::OK, ""), &etag);
            }
            let from = from.trim_start_matches('/').split_once('/').map_or("", |(_, key)| key);
            let Some(object) = bucket.objects.get(from).cloned() else {
                return refused(StatusCode::NOT_FOUND, "NoSuchKey");
            };
            bucket.objects.insert(request.key.clone(), object);
            plain(StatusCode::OK, format!("<CopyObjectResult><ETag>{}</ETag></CopyObjectResult>", xml::escaped(&etag)))
        }
        (&Method::DELETE, None) => {
            bucket.objects.remove(&request.key);
            plain(StatusCode::NO_CONTENT, "")
        }
        (&Method::GET | &Method::HEAD, _) => match bucket.objects.get(&request.key) {
            Some(object) => contents_of(object, contents, request),
            None => refused(StatusCode::NOT_FOUND, "NoSuchKey"),
        },
        _ => refused(StatusCode::NOT_IMPLEMENTED, "NotImplemented"),
    }
}

/// An object's contents, whole or a range; for HEAD only their length is sent.
fn contents_of(object: &Object, contents: Contents, request: &ParsedRequest) -> Reply {
    let range = request.header("range").strip_prefix("bytes=").and_then(|range| range.split_once('-'));
    let range = range.and_then(|(from, to)| Some((from.parse::<u64>().ok()?, to.parse::<u64>().ok()?)));
    let (from, end) = range.map_or((0, object.size), |(from, to)| (from, (to + 1).min(object.size)));
    if range.is_some() && from >= object.size {
        return refused(StatusCode::RANGE_NOT_SATISFIABLE, "InvalidRange");
    }
    let body = match contents {
        _ if object.contents.len() as u64 == object.size => {
            ResponseBody::Bytes(object.contents.slice(from as usize..end as usize))
        }
        Contents::Stored | Contents::Discarded => ResponseBody::Zeros(end - from),
    };
    let length = body.size_hint().exact().unwrap_or_default();
    let mut answer = with_etag(Response::new(body), &object.etag);
    // The answer to HEAD has no body, but a length.
    answer.headers_mut().insert("content-length", length.into());
    if range.is_some() {
        *answer.status_mut() = StatusCode::PARTIAL_CONTENT;
        if let Ok(value) = format!("bytes {from}-{}/{}", end - 1, object.size).parse() {
            answer.headers_mut().insert("content-range", value);
        }
    }
    answer
}
