//! Where a job's items are: a table, the hosts that know it, and who may ask them.

use super::answers::well;
use super::budget::Budget;
use super::request::Call;
use crate::credentials::Who;
use crate::net::{trusted, Answer, Client, Endpoint};
use assay_core::{fault_message, fault_name, Fault, SetupError};
use assay_spec::{DynamodbTarget, FaultDomain};
use rustls::ClientConfig;
use std::sync::Arc;

/// A target whose endpoints and credentials are known.
pub(crate) struct Place {
    pub(crate) target: DynamodbTarget,
    pub(crate) endpoints: Vec<Arc<Endpoint>>,
    pub(crate) tls: Option<Arc<ClientConfig>>,
    pub(crate) who: Arc<Who>,
    pub(crate) budget: Budget,
}

impl Place {
    /// Finds endpoints and credentials; asks nothing of the service yet.
    ///
    /// # Errors
    /// If one of them is not to be found.
    pub(crate) fn open(target: &DynamodbTarget) -> Result<Self, SetupError> {
        let endpoints: Result<Vec<_>, _> =
            target.endpoints.iter().map(|text| Endpoint::find(text, None).map(Arc::new)).collect();
        let endpoints = endpoints?;
        let secure = endpoints.iter().any(|endpoint| endpoint.tls);
        let tls = if secure { Some(trusted(target.ca_file.as_deref())?) } else { None };
        let who = Arc::new(Who::find(target.profile.as_deref(), (&target.region, "dynamodb"), false)?);
        Ok(Place { target: target.clone(), endpoints, tls, who, budget: Budget::new(target) })
    }

    /// Connections of its own.
    pub(crate) fn client(&self) -> Client {
        Client::new(&self.endpoints, self.tls.clone(), self.target.timeout_ns)
    }

    /// The answer to a request, if it went well.
    ///
    /// # Errors
    /// Why not.
    pub(crate) async fn ask(&self, client: &Client, action: &'static str, body: String) -> Result<Answer, Fault> {
        let signer = self.who.signer().map_err(|_| Fault::os(libc::EKEYEXPIRED))?;
        let call = Call { action, body };
        well(client.ask(|endpoint| call.request(endpoint, &signer)).await?)
    }

    /// Path of the table, for people.
    pub(crate) fn table_path(&self) -> String {
        format!("{}/{}", self.target.endpoints[0], self.target.table)
    }

    /// Path of what a run makes in the table, for people.
    pub(crate) fn root_path(&self) -> String {
        format!("{}/{}", self.table_path(), self.target.root)
    }

    /// An error of the service, with what may help.
    pub(crate) fn error(&self, action: &'static str, object: String, fault: Fault) -> SetupError {
        let words = fault_message(fault);
        let hint = match (fault.domain(), fault_name(fault).unwrap_or_default()) {
            (FaultDomain::Os, "ETIMEDOUT") => {
                format!(": no answer for {} s", self.target.timeout_ns as f64 / 1e9)
            }
            (FaultDomain::Os, "EPROTO") if self.tls.is_some() => {
                ": is the certificate for this name, and by somebody whom this host trusts, or by one of ca_file?"
                    .to_owned()
            }
            (FaultDomain::Os, _) => format!(" ({})", self.target.endpoints.join(", ")),
            (
                _,
                "AccessDeniedException"
                | "UnrecognizedClientException"
                | "InvalidSignatureException"
                | "IncompleteSignatureException"
                | "MissingAuthenticationTokenException"
                | "Forbidden",
            ) => ": do the credentials of this host belong to this service, may they do this, and is its clock right?"
                .to_owned(),
            (_, "ExpiredTokenException") => ": get new credentials".to_owned(),
            (_, "LimitExceededException") => {
                ": too many tables, or too many that are being made: try again later".to_owned()
            }
            _ => String::new(),
        };
        SetupError::new(action, object, format!("{words}{hint}")).because(fault)
    }
}
