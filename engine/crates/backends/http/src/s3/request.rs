//! Signed requests of S3.

use super::keys::MARK;
use crate::net::{Endpoint, RequestBody};
use crate::sign::{Payload, Signer};
use assay_core::SetupError;
use assay_spec::{Addressing, S3Target};
use hyper::header::{HeaderName, HeaderValue, HOST};
use hyper::{Method, Request};

/// Metadata that hold the label of a version.
pub(crate) const LABEL_HEADER: &str = "x-amz-meta-assay";

/// A request without its endpoint and signature.
#[derive(Debug, Clone)]
pub(crate) struct Call {
    pub(crate) method: Method,
    /// The key; empty for the bucket itself.
    pub(crate) key: String,
    /// Without the question mark; values are escaped.
    pub(crate) query: String,
    pub(crate) headers: Vec<(&'static str, String)>,
}

impl Call {
    /// A request for a key.
    pub(crate) fn new(method: Method, key: impl Into<String>) -> Self {
        Call { method, key: key.into(), query: String::new(), headers: Vec::new() }
    }

    /// A request for the bucket's mark.
    pub(crate) fn for_mark(method: Method) -> Self {
        Call::new(method, MARK)
    }

    /// Sets the query.
    #[must_use]
    pub(crate) fn query(mut self, query: impl Into<String>) -> Self {
        self.query = query.into();
        self
    }

    /// Adds a header, unless its name or value is empty.
    #[must_use]
    pub(crate) fn header(mut self, name: &'static str, value: impl Into<String>) -> Self {
        let value = value.into();
        if !name.is_empty() && !value.is_empty() {
            self.headers.push((name, value));
        }
        self
    }

    /// Path and query.
    fn uri(&self, target: &S3Target) -> String {
        let path = match target.addressing {
            Addressing::Path if self.key.is_empty() => format!("/{}", target.bucket),
            Addressing::Path => format!("/{}/{}", target.bucket, self.key),
            Addressing::VirtualHost => format!("/{}", self.key),
        };
        if self.query.is_empty() {
            path
        } else {
            format!("{path}?{}", self.query)
        }
    }

    /// Builds and signs the request.
    pub(crate) fn request(
        &self,
        target: &S3Target,
        endpoint: &Endpoint,
        signer: &Signer,
        (sent, contents): (RequestBody, &Payload<'_>),
    ) -> Result<Request<RequestBody>, SetupError> {
        let error = |why: String| SetupError::new("make", "a request", why);
        let mut request = Request::new(sent);
        *request.method_mut() = self.method.clone();
        *request.uri_mut() = self.uri(target).parse().map_err(|why| error(format!("{why}")))?;
        let value = |text: &str| HeaderValue::from_str(text).map_err(|why| error(why.to_string()));
        request.headers_mut().insert(HOST, value(&endpoint.authority)?);
        for (name, text) in &self.headers {
            request.headers_mut().insert(HeaderName::from_static(name), value(text)?);
        }
        signer.sign(&mut request, contents)?;
        Ok(request)
    }
}

/// Escapes a value for a query.
pub(crate) fn encoded(value: &str) -> String {
    percent_encoding::utf8_percent_encode(value, QUERY).to_string()
}

/// All but the characters that RFC 3986 calls unreserved.
const QUERY: &percent_encoding::AsciiSet =
    &percent_encoding::NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~');
