//! The place of a job's items: a table, and access to its service.

use super::answers::{refusal, refusal_message, success};
use super::budget::Budget;
use super::request::Call;
use crate::access::{Access, ServiceConfig};
use crate::job_objects::JobObjects;
use crate::net::{Answer, Client};
use crate::pages::Trouble;
use assay_core::{fault_name, Fault, Op, OpKind, SetupError};
use assay_spec::DynamodbTarget;
use std::sync::atomic::{AtomicU64, Ordering};

/// A target whose endpoints and credentials are known.
pub(crate) struct Place {
    pub(crate) target: DynamodbTarget,
    pub(crate) access: Access,
    pub(crate) budget: Budget,
    /// How many items operations may have made.
    made_count: AtomicU64,
    /// What the job can have made; none if no job is known.
    pub(crate) job_objects: Option<JobObjects>,
}

impl Place {
    /// Finds endpoints and credentials; sends nothing to the service yet.
    ///
    /// # Errors
    /// If an endpoint or the credentials cannot be found.
    pub(crate) fn open(target: &DynamodbTarget, job_objects: Option<JobObjects>) -> Result<Self, SetupError> {
        let config = ServiceConfig {
            endpoints: &target.endpoints,
            subdomain: None,
            balance: target.balance,
            ca_file: target.ca_file.as_deref(),
            profile: target.profile.as_deref(),
            region: &target.region,
            service: "dynamodb",
            anonymous: false,
            timeout_ns: target.timeout_ns,
        };
        let access = Access::open(&config, refusal_message)?;
        Ok(Place {
            target: target.clone(),
            access,
            budget: Budget::new(target),
            made_count: AtomicU64::new(0),
            job_objects,
        })
    }

    /// Sends a request and returns its answer, if it is a success.
    pub(crate) async fn send(&self, client: &Client, action: &'static str, body: String) -> Result<Answer, Fault> {
        let signer = self.access.signer()?;
        let call = Call { action, body };
        let answer = client.send(|endpoint| call.request(endpoint, &signer)).await;
        let answer = answer.inspect_err(|fault| self.access.note_silent(*fault, client))?;
        if !answer.is_success() {
            self.access.note_refusal(refusal(&answer), &answer, client, &signer);
        }
        success(answer)
    }

    /// Counts what an operation may make.
    pub(crate) fn note_made(&self, lane: u32, op: &Op) {
        self.job_objects.iter().for_each(|made| made.note(lane, op));
        if matches!(op.kind, OpKind::Put | OpKind::Update | OpKind::BatchPut) {
            self.made_count.fetch_add(u64::from(op.count.max(1)), Ordering::Relaxed);
        }
    }

    /// How many items operations may have made.
    pub(crate) fn made_count(&self) -> u64 {
        self.made_count.load(Ordering::Relaxed)
    }

    /// The path of the table, for people.
    pub(crate) fn table_path(&self) -> String {
        format!("{}/{}", self.target.endpoints[0], self.target.table)
    }

    /// The path of what a run makes in the table, for people.
    pub(crate) fn root_path(&self) -> String {
        format!("{}/{}", self.table_path(), self.target.root)
    }

    /// An error of the service, with a hint.
    pub(crate) fn error(&self, action: &'static str, object: String, trouble: impl Into<Trouble>) -> SetupError {
        let fault = match trouble.into() {
            Trouble::Fault(fault) => fault,
            Trouble::Message(message) => return SetupError::new(action, object, message),
        };
        let message = self.access.message(fault);
        let hint = self.access.hint(fault).unwrap_or_else(|| refusal_hint(fault).to_owned());
        SetupError::new(action, self.access.path_of(fault, object), format!("{message}{hint}")).because(fault)
    }
}

/// A hint for a refusal.
fn refusal_hint(fault: Fault) -> &'static str {
    match fault_name(fault).unwrap_or_default() {
        "AccessDeniedException"
        | "UnrecognizedClientException"
        | "InvalidSignatureException"
        | "IncompleteSignatureException"
        | "MissingAuthenticationTokenException"
        | "Forbidden" => {
            ": do the credentials of this host belong to this service, may they do this, and is its clock right?"
        }
        "ExpiredTokenException" => ": get new credentials",
        "LimitExceededException" => ": too many tables, or too many that are being made: try again later",
        _ => "",
    }
}
