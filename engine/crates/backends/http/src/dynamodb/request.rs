//! Signed requests of DynamoDB.

use super::keys::Key;
use crate::net::{Endpoint, RequestBody};
use crate::sign::{Payload, Signer};
use assay_core::SetupError;
use assay_spec::DynamodbTarget;
use bytes::Bytes;
use hyper::header::{HeaderName, HeaderValue, CONTENT_TYPE, HOST};
use hyper::{Method, Request};
use std::fmt::Write as _;

const TARGET: HeaderName = HeaderName::from_static("x-amz-target");

/// A request without its endpoint and signature.
#[derive(Debug, Clone)]
pub(crate) struct Call {
    /// With its version.
    pub(crate) action: &'static str,
    /// JSON.
    pub(crate) body: String,
}

/// The name of an action with its version.
macro_rules! action {
    ($name:literal) => {
        concat!("DynamoDB_20120810.", $name)
    };
}
pub(crate) use action;

impl Call {
    /// Builds and signs the request.
    pub(crate) fn request(self, endpoint: &Endpoint, signer: &Signer) -> Result<Request<RequestBody>, SetupError> {
        let body = Bytes::from(self.body);
        let mut request = Request::new(RequestBody::Bytes(Some(body.clone())));
        *request.method_mut() = Method::POST;
        let host = HeaderValue::from_str(&endpoint.authority);
        let headers = request.headers_mut();
        headers.insert(HOST, host.map_err(|why| SetupError::new("make", "a request", why.to_string()))?);
        headers.insert(TARGET, HeaderValue::from_static(self.action));
        headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/x-amz-json-1.0"));
        signer.sign(&mut request, &Payload::Signed(&body))?;
        Ok(request)
    }
}

/// Writes the members of a key, without braces.
pub(crate) fn write_key(into: &mut String, target: &DynamodbTarget, key: &Key) {
    let _ = write!(into, r#""{}":{{"S":"{}"}}"#, target.partition_key, key.partition);
    if let (Some(name), Some(sort)) = (&target.sort_key, &key.sort) {
        let _ = write!(into, r#","{name}":{{"S":"{sort}"}}"#);
    }
}

/// A key as JSON.
pub(crate) fn key(target: &DynamodbTarget, key: &Key) -> String {
    let mut text = String::from("{");
    write_key(&mut text, target, key);
    text.push('}');
    text
}
