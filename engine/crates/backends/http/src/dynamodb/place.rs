//! Where a job's items are: a table, the hosts that know it, and who may ask them.

use super::answers::{refusal, well, words};
use super::budget::Budget;
use super::request::Call;
use crate::made::Made;
use crate::net::{Answer, Client};
use crate::pages::Trouble;
use crate::reach::{Reach, Told};
use assay_core::{fault_name, Fault, Op, OpKind, SetupError};
use assay_spec::DynamodbTarget;
use std::sync::atomic::{AtomicU64, Ordering};

/// A target whose endpoints and credentials are known.
pub(crate) struct Place {
    pub(crate) target: DynamodbTarget,
    pub(crate) reach: Reach,
    pub(crate) budget: Budget,
    /// Items that operations may have made.
    made: AtomicU64,
    /// What the job can have made; none if no job is known.
    pub(crate) made_by: Option<Made>,
}

impl Place {
    /// Finds endpoints and credentials; asks nothing of the service yet.
    ///
    /// # Errors
    /// If one of them is not to be found.
    pub(crate) fn open(target: &DynamodbTarget, made_by: Option<Made>) -> Result<Self, SetupError> {
        let told = Told {
            endpoints: &target.endpoints,
            below: None,
            balance: target.balance,
            ca_file: target.ca_file.as_deref(),
            profile: target.profile.as_deref(),
            region: &target.region,
            service: "dynamodb",
            anonymous: false,
            timeout_ns: target.timeout_ns,
        };
        let reach = Reach::open(&told, words)?;
        Ok(Place { target: target.clone(), reach, budget: Budget::new(target), made: AtomicU64::new(0), made_by })
    }

    /// The answer to a request, if it went well.
    ///
    /// # Errors
    /// Why not.
    pub(crate) async fn ask(&self, client: &Client, action: &'static str, body: String) -> Result<Answer, Fault> {
        let signer = self.reach.signer()?;
        let call = Call { action, body };
        let answer = client.ask(|endpoint| call.request(endpoint, &signer)).await;
        let answer = answer.inspect_err(|fault| self.reach.note_silent(*fault, client))?;
        if !answer.is_success() {
            self.reach.note_said(refusal(&answer), &answer, client, &signer);
        }
        well(answer)
    }

    /// Counts what an operation may make.
    pub(crate) fn note_made(&self, lane: u32, op: &Op) {
        self.made_by.iter().for_each(|made| made.note(lane, op));
        if matches!(op.kind, OpKind::Put | OpKind::Update | OpKind::BatchPut) {
            self.made.fetch_add(u64::from(op.count.max(1)), Ordering::Relaxed);
        }
    }

    /// Items that operations may have made.
    pub(crate) fn made(&self) -> u64 {
        self.made.load(Ordering::Relaxed)
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
    pub(crate) fn error(&self, action: &'static str, object: String, trouble: impl Into<Trouble>) -> SetupError {
        let fault = match trouble.into() {
            Trouble::Fault(fault) => fault,
            Trouble::Words(words) => return SetupError::new(action, object, words),
        };
        let words = self.reach.message(fault);
        let hint = self.reach.hint(fault).unwrap_or_else(|| refusal_hint(fault).to_owned());
        SetupError::new(action, self.reach.path_of(fault, object), format!("{words}{hint}")).because(fault)
    }
}

/// What may help against a refusal.
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
