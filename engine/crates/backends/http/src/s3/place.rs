//! The place of a job's objects: a bucket, and access to its service.

use super::abort::OpenUploads;
use super::answers::{refusal, refusal_message};
use super::request::Call;
use crate::access::{Access, ServiceConfig};
use crate::job_objects::JobObjects;
use crate::net::{Answer, Client, RequestBody};
use crate::pages::Trouble;
use crate::sign::Payload;
use assay_core::{fault_name, Fault, Op, OpKind, SetupError};
use assay_spec::{Addressing, S3Target};
use bytes::Bytes;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::Mutex;

/// A target whose endpoints and credentials are known.
pub(crate) struct Place {
    pub(crate) target: S3Target,
    pub(crate) access: Access,
    /// How many things operations may have made: objects, versions, delete markers, uploads.
    made_count: AtomicU64,
    /// What the job can have made; none if no job is known.
    pub(crate) job_objects: Option<JobObjects>,
    /// Uploads of the job that are neither completed nor aborted.
    pub(crate) open_uploads: Mutex<OpenUploads>,
    /// The bucket keeps versions. Each version that is put carries a label, since its key does not show who made it.
    pub(crate) is_versioned: AtomicBool,
    /// The service cannot remove several objects with one request.
    pub(crate) removes_one_by_one: AtomicBool,
}

impl Place {
    /// Finds endpoints and credentials; sends nothing to the service yet.
    ///
    /// # Errors
    /// If an endpoint or the credentials cannot be found.
    pub(crate) fn open(target: &S3Target, job_objects: Option<JobObjects>) -> Result<Self, SetupError> {
        let config = ServiceConfig {
            endpoints: &target.endpoints,
            subdomain: (target.addressing == Addressing::VirtualHost).then_some(target.bucket.as_str()),
            balance: target.balance,
            ca_file: target.ca_file.as_deref(),
            profile: target.profile.as_deref(),
            region: &target.region,
            service: "s3",
            anonymous: target.anonymous,
            timeout_ns: target.timeout_ns,
        };
        let access = Access::open(&config, refusal_message)?;
        let (made_count, open_uploads) = (AtomicU64::new(0), Mutex::default());
        let (is_versioned, removes_one_by_one) = (AtomicBool::new(false), AtomicBool::new(false));
        Ok(Place {
            target: target.clone(),
            access,
            made_count,
            job_objects,
            open_uploads,
            is_versioned,
            removes_one_by_one,
        })
    }

    /// Sends a request with no body or a short one; a refusal is an answer.
    pub(crate) async fn send(&self, client: &Client, call: Call, body: &[u8]) -> Result<Answer, Fault> {
        let signer = self.access.signer()?;
        let answer = client
            .send(|endpoint| {
                let sent = if body.is_empty() {
                    RequestBody::Nothing
                } else {
                    RequestBody::Bytes(Some(Bytes::copy_from_slice(body)))
                };
                call.request(&self.target, endpoint, &signer, (sent, &Payload::Signed(body)))
            })
            .await
            .inspect_err(|fault| self.access.note_silent(*fault, client))?;
        if !answer.is_success() {
            self.access.note_refusal(refusal(&answer), &answer, client, &signer);
        }
        Ok(answer)
    }

    /// Counts what an operation may make.
    pub(crate) fn note_made(&self, lane: u32, op: &Op) {
        self.job_objects.iter().for_each(|made| made.note(lane, op));
        if matches!(
            op.kind,
            OpKind::MultiDelete
                | OpKind::Put
                | OpKind::Copy
                | OpKind::CompleteUpload
                | OpKind::StartUpload
                | OpKind::Delete
        ) {
            let count = if op.kind == OpKind::MultiDelete { u64::from(op.count) } else { 1 };
            self.made_count.fetch_add(count, Ordering::Relaxed);
        }
    }

    /// How many things operations may have made.
    pub(crate) fn made_count(&self) -> u64 {
        self.made_count.load(Ordering::Relaxed)
    }

    /// The label of each version that a job puts: the run, or for a job outside a run its directory.
    pub(crate) fn version_label(&self) -> &str {
        self.target.run.as_deref().unwrap_or(&self.target.directory)
    }

    /// The path of the bucket, for people.
    pub(crate) fn bucket_path(&self) -> String {
        format!("{}/{}", self.target.endpoints[0], self.target.bucket)
    }

    /// The path of what a run makes in the bucket, for people.
    pub(crate) fn root_path(&self) -> String {
        format!("{}/{}", self.bucket_path(), self.target.root)
    }

    /// An error of the service, with a hint.
    pub(crate) fn error(&self, action: &'static str, object: String, trouble: impl Into<Trouble>) -> SetupError {
        let fault = match trouble.into() {
            Trouble::Fault(fault) => fault,
            Trouble::Message(message) => return SetupError::new(action, object, message),
        };
        let message = self.access.message(fault);
        let elsewhere = self.access.region(fault, &self.target.region).map(|region| {
            format!(": the bucket is in region {region}: write region: {region}, and the endpoint of that region if one is named")
        });
        let hint = elsewhere.or_else(|| self.access.hint(fault)).unwrap_or_else(|| refusal_hint(fault).to_owned());
        SetupError::new(action, self.access.path_of(fault, object), format!("{message}{hint}")).because(fault)
    }
}

/// A hint for a refusal.
fn refusal_hint(fault: Fault) -> &'static str {
    match fault_name(fault).unwrap_or_default() {
        "AccessDenied" | "Forbidden" | "InvalidAccessKeyId" | "SignatureDoesNotMatch" => {
            ": do the credentials of this host belong to this service, and may they do this?"
        }
        "ExpiredToken" | "TokenRefreshRequired" | "InvalidToken" => ": get new credentials",
        // The answer to a HEAD request has no message.
        "Bad Request" => {
            ": the service does not say why: have the credentials of this host ended (a session token does), and is the region \
             right?"
        }
        "RequestTimeTooSkewed" => ": set this host's clock",
        "PermanentRedirect"
        | "Moved Permanently"
        | "TemporaryRedirect"
        | "Temporary Redirect"
        | "AuthorizationHeaderMalformed" => ": name the bucket's region, and the endpoint of that region",
        _ => "",
    }
}
