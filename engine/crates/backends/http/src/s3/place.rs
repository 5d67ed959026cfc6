//! Where a job's objects are: a bucket, the hosts that know it, and who may ask them.

use super::request::Call;
use crate::credentials::Who;
use crate::net::{trusted, Answer, Client, Endpoint, Sent};
use crate::sign::Contents;
use assay_core::{fault_message, Fault, SetupError};
use assay_spec::{Addressing, FaultDomain, S3Target};
use bytes::Bytes;
use rustls::ClientConfig;
use std::sync::Arc;

/// A target whose endpoints and credentials are known.
pub(crate) struct Place {
    pub(crate) target: S3Target,
    pub(crate) endpoints: Vec<Arc<Endpoint>>,
    pub(crate) tls: Option<Arc<ClientConfig>>,
    pub(crate) who: Arc<Who>,
}

impl Place {
    /// Finds endpoints and credentials; asks nothing of the service yet.
    ///
    /// # Errors
    /// If one of them is not to be found.
    pub(crate) fn open(target: &S3Target) -> Result<Self, SetupError> {
        let below = (target.addressing == Addressing::VirtualHost).then_some(target.bucket.as_str());
        let endpoints: Result<Vec<_>, _> =
            target.endpoints.iter().map(|text| Endpoint::find(text, below).map(Arc::new)).collect();
        let endpoints = endpoints?;
        let secure = endpoints.iter().any(|endpoint| endpoint.tls);
        let tls = if secure { Some(trusted(target.ca_file.as_deref())?) } else { None };
        let who = Who::find(target.profile.as_deref(), (&target.region, "s3"), target.anonymous)?;
        Ok(Place { target: target.clone(), endpoints, tls, who: Arc::new(who) })
    }

    /// Connections of its own.
    pub(crate) fn client(&self) -> Client {
        Client::new(&self.endpoints, self.tls.clone(), self.target.timeout_ns)
    }

    /// The answer to a request without contents, or with a few bytes.
    ///
    /// # Errors
    /// Why there is none; a refusal is an answer.
    pub(crate) async fn ask(&self, client: &Client, call: Call, body: &[u8]) -> Result<Answer, Fault> {
        let signer = self.who.signer().map_err(|_| Fault::os(libc::EKEYEXPIRED))?;
        client
            .ask(|endpoint| {
                let sent =
                    if body.is_empty() { Sent::Nothing } else { Sent::Bytes(Some(Bytes::copy_from_slice(body))) };
                call.request(&self.target, endpoint, &signer, (sent, &Contents::Known(body)))
            })
            .await
    }

    /// Path of the bucket, for people.
    pub(crate) fn bucket_path(&self) -> String {
        format!("{}/{}", self.target.endpoints[0], self.target.bucket)
    }

    /// Path of what a run makes in the bucket, for people.
    pub(crate) fn root_path(&self) -> String {
        format!("{}/{}", self.bucket_path(), self.target.root)
    }

    /// An error of the service, with what may help.
    pub(crate) fn error(&self, action: &'static str, object: String, fault: Fault) -> SetupError {
        let words = fault_message(fault);
        let hint = match (fault.domain(), assay_core::fault_name(fault).unwrap_or_default()) {
            (FaultDomain::Os, "ETIMEDOUT") => {
                format!(": no answer for {} s", self.target.timeout_ns as f64 / 1e9)
            }
            (FaultDomain::Os, "EPROTO") if self.tls.is_some() => {
                ": is the certificate for this name, and by somebody whom this host trusts, or by one of ca_file?"
                    .to_owned()
            }
            (FaultDomain::Os, _) => format!(" ({})", self.target.endpoints.join(", ")),
            (_, "AccessDenied" | "Forbidden" | "InvalidAccessKeyId" | "SignatureDoesNotMatch") => {
                ": do the credentials of this host belong to this service, and may they do this?".to_owned()
            }
            (_, "ExpiredToken" | "TokenRefreshRequired") => ": get new credentials".to_owned(),
            (_, "RequestTimeTooSkewed") => ": set this host's clock".to_owned(),
            (
                _,
                "PermanentRedirect"
                | "Moved Permanently"
                | "TemporaryRedirect"
                | "Temporary Redirect"
                | "AuthorizationHeaderMalformed",
            ) => ": name the bucket's region, and the endpoint of that region".to_owned(),
            _ => String::new(),
        };
        SetupError::new(action, object, format!("{words}{hint}")).because(fault)
    }
}
