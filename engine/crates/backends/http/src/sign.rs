//! Signatures of requests (AWS Signature Version 4).

use crate::credentials::Credentials;
use crate::net::RequestBody;
use crate::secrets::Secrets;
use assay_core::SetupError;
use aws_sigv4::http_request::{
    sign, PayloadChecksumKind, PercentEncodingMode, SignableBody, SignableRequest, SigningParams, SigningSettings,
    UriPathNormalizationMode,
};
use aws_sigv4::sign::v4;
use aws_smithy_runtime_api::client::identity::Identity;
use hyper::header::{HeaderName, HeaderValue};
use hyper::Request;
use std::time::SystemTime;

/// How a signature covers the contents of a request.
pub(crate) enum Payload<'a> {
    /// Not at all: they are long, and may be sent with a checksum.
    Unsigned,
    /// By their hash.
    Signed(&'a [u8]),
}

/// Signs requests for one service; without credentials it leaves them unchanged.
pub(crate) struct Signer {
    identity: Option<Identity>,
    secrets: Secrets,
    /// When the credentials must be renewed; none: never.
    due: Option<SystemTime>,
    region: String,
    service: &'static str,
    settings: SigningSettings,
}

impl Signer {
    /// A signer for a region of a service, such as `s3`.
    pub(crate) fn new(credentials: Option<&Credentials>, region: &str, service: &'static str) -> Self {
        let mut settings = SigningSettings::default();
        if service == "s3" {
            // S3 wants keys sent as they are signed, and always the hash of the contents.
            settings.percent_encoding_mode = PercentEncodingMode::Single;
            settings.uri_path_normalization_mode = UriPathNormalizationMode::Disabled;
            settings.payload_checksum_kind = PayloadChecksumKind::XAmzSha256;
        }
        let (identity, due) = (credentials.map(Credentials::identity), credentials.and_then(Credentials::due));
        let secrets = Secrets::of(credentials.map(Credentials::secrets).into_iter().flatten());
        Signer { identity, secrets, due, region: region.to_owned(), service, settings }
    }

    /// Whether the credentials expire soon.
    pub(crate) fn is_due(&self) -> bool {
        self.due.is_some_and(|due| due < SystemTime::now())
    }

    /// Whether a text contains the secret or the session token, or a part of them.
    pub(crate) fn finds_secret_in(&self, text: &str) -> bool {
        self.secrets.are_in(text)
    }

    /// Adds the signature, with the current time.
    ///
    /// # Errors
    /// If the request cannot be signed: a defect, or credentials that do not fit into a header.
    pub(crate) fn sign(&self, request: &mut Request<RequestBody>, contents: &Payload<'_>) -> Result<(), SetupError> {
        let Some(identity) = &self.identity else { return Ok(()) };
        let error = |why: String| SetupError::new("sign", "a request", why);
        let params = v4::SigningParams::builder()
            .identity(identity)
            .region(&self.region)
            .name(self.service)
            .time(SystemTime::now())
            .settings(self.settings.clone())
            .build();
        let params = SigningParams::from(params.map_err(|why| error(why.to_string()))?);
        let headers = request.headers();
        let headers = headers.iter().map(|(name, value)| (name.as_str(), value.to_str().unwrap_or_default()));
        let body = match contents {
            Payload::Unsigned => SignableBody::UnsignedPayload,
            Payload::Signed(bytes) => SignableBody::Bytes(bytes),
        };
        let uri = request.uri().to_string();
        let signable = SignableRequest::new(request.method().as_str(), uri, headers, body);
        let signed = sign(signable.map_err(|why| error(why.to_string()))?, &params);
        let (instructions, _) = signed.map_err(|why| error(why.to_string()))?.into_parts();
        let (added, _) = instructions.into_parts();
        for header in added {
            let name = HeaderName::from_static(header.name());
            // The original error would repeat the value.
            let value = HeaderValue::from_str(header.value()).map_err(|_| error("no header can hold it".to_owned()))?;
            request.headers_mut().insert(name, value);
        }
        Ok(())
    }
}
