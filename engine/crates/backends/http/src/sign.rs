//! Signatures of requests (AWS Signature Version 4).

use crate::credentials::Credentials;
use crate::net::Sent;
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

/// What a signature says of the contents.
pub(crate) enum Contents<'a> {
    /// Nothing: they are long, and other sums may be sent with them.
    Unsigned,
    /// Their hash.
    Known(&'a [u8]),
}

/// Signs requests for one service; without credentials it leaves them as they are.
pub(crate) struct Signer {
    identity: Option<Identity>,
    secrets: Secrets,
    /// When its credentials are to be renewed; none: never.
    due: Option<SystemTime>,
    region: String,
    service: &'static str,
    settings: SigningSettings,
}

impl Signer {
    /// For a region of a service, such as `s3`.
    pub(crate) fn new(credentials: Option<&Credentials>, region: &str, service: &'static str) -> Self {
        let mut settings = SigningSettings::default();
        if service == "s3" {
            // Keys are sent as they are signed, and their hash always.
            settings.percent_encoding_mode = PercentEncodingMode::Single;
            settings.uri_path_normalization_mode = UriPathNormalizationMode::Disabled;
            settings.payload_checksum_kind = PayloadChecksumKind::XAmzSha256;
        }
        let (identity, due) = (credentials.map(Credentials::identity), credentials.and_then(Credentials::due));
        let secrets = Secrets::of(credentials.map(Credentials::secrets).into_iter().flatten());
        Signer { identity, secrets, due, region: region.to_owned(), service, settings }
    }

    /// Its credentials will end soon.
    pub(crate) fn is_due(&self) -> bool {
        self.due.is_some_and(|due| due < SystemTime::now())
    }

    /// Whether a text holds what nobody may be told, or some of it: the secret, or the token that goes with it.
    pub(crate) fn is_told_in(&self, text: &str) -> bool {
        self.secrets.are_in(text)
    }

    /// Adds the signature, with the time of now.
    ///
    /// # Errors
    /// If the request is of a form that cannot be signed: a defect, or credentials that no header can hold.
    pub(crate) fn sign(&self, request: &mut Request<Sent>, contents: &Contents<'_>) -> Result<(), SetupError> {
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
            Contents::Unsigned => SignableBody::UnsignedPayload,
            Contents::Known(bytes) => SignableBody::Bytes(bytes),
        };
        let uri = request.uri().to_string();
        let signable = SignableRequest::new(request.method().as_str(), uri, headers, body);
        let signed = sign(signable.map_err(|why| error(why.to_string()))?, &params);
        let (instructions, _) = signed.map_err(|why| error(why.to_string()))?.into_parts();
        let (added, _) = instructions.into_parts();
        for header in added {
            let name = HeaderName::from_static(header.name());
            // The words of the error would hold the value.
            let value = HeaderValue::from_str(header.value()).map_err(|_| error("no header can hold it".to_owned()))?;
            request.headers_mut().insert(name, value);
        }
        Ok(())
    }
}
