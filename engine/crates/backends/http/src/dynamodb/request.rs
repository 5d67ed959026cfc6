//! Requests of DynamoDB, signed.

use super::keys::Key;
use crate::net::{Endpoint, Sent};
use crate::sign::{Contents, Signer};
use assay_core::SetupError;
use assay_spec::DynamodbTarget;
use bytes::Bytes;
use hyper::header::{HeaderName, HeaderValue, CONTENT_TYPE, HOST};
use hyper::{Method, Request};
use std::fmt::Write as _;

const TARGET: HeaderName = HeaderName::from_static("x-amz-target");

/// What is asked for, but for where and by whom.
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
    /// The request, signed.
    ///
    /// # Errors
    /// If it cannot be made, which is a defect.
    pub(crate) fn request(self, endpoint: &Endpoint, signer: &Signer) -> Result<Request<Sent>, SetupError> {
        let body = Bytes::from(self.body);
        let mut request = Request::new(Sent::Bytes(Some(body.clone())));
        *request.method_mut() = Method::POST;
        let host = HeaderValue::from_str(&endpoint.authority);
        let headers = request.headers_mut();
        headers.insert(HOST, host.map_err(|why| SetupError::new("make", "a request", why.to_string()))?);
        headers.insert(TARGET, HeaderValue::from_static(self.action));
        headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/x-amz-json-1.0"));
        signer.sign(&mut request, &Contents::Known(&body))?;
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

/// A key with its braces.
pub(crate) fn key(target: &DynamodbTarget, key: &Key) -> String {
    let mut text = String::from("{");
    write_key(&mut text, target, key);
    text.push('}');
    text
}
