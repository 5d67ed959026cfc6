//! Where a job's objects are: a bucket, the hosts that know it, and who may ask them.

use super::abort::Begun;
use super::answers::{refusal, words};
use super::request::Call;
use crate::made::Made;
use crate::net::{Answer, Client, Sent};
use crate::pages::Trouble;
use crate::reach::{Reach, Told};
use crate::sign::Contents;
use assay_core::{fault_name, Fault, Op, OpKind, SetupError};
use assay_spec::{Addressing, S3Target};
use bytes::Bytes;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::Mutex;

/// A target whose endpoints and credentials are known.
pub(crate) struct Place {
    pub(crate) target: S3Target,
    pub(crate) reach: Reach,
    /// What operations may have made: objects, versions, signs that something was removed, uploads.
    made: AtomicU64,
    /// What the job can have made; none if no job is known.
    pub(crate) made_by: Option<Made>,
    /// Uploads of the job that are neither completed nor aborted.
    pub(crate) begun: Mutex<Begun>,
    /// The bucket keeps versions: each that is put says whose it is, since a key does not.
    pub(crate) versions: AtomicBool,
    /// The service cannot remove several objects with one request.
    pub(crate) one_by_one: AtomicBool,
}

impl Place {
    /// Finds endpoints and credentials; asks nothing of the service yet.
    ///
    /// # Errors
    /// If one of them is not to be found.
    pub(crate) fn open(target: &S3Target, made_by: Option<Made>) -> Result<Self, SetupError> {
        let told = Told {
            endpoints: &target.endpoints,
            below: (target.addressing == Addressing::VirtualHost).then_some(target.bucket.as_str()),
            balance: target.balance,
            ca_file: target.ca_file.as_deref(),
            profile: target.profile.as_deref(),
            region: &target.region,
            service: "s3",
            anonymous: target.anonymous,
            timeout_ns: target.timeout_ns,
        };
        let reach = Reach::open(&told, words)?;
        let (made, begun) = (AtomicU64::new(0), Mutex::default());
        let (versions, one_by_one) = (AtomicBool::new(false), AtomicBool::new(false));
        Ok(Place { target: target.clone(), reach, made, made_by, begun, versions, one_by_one })
    }

    /// The answer to a request without contents, or with a few bytes.
    ///
    /// # Errors
    /// Why there is none; a refusal is an answer.
    pub(crate) async fn ask(&self, client: &Client, call: Call, body: &[u8]) -> Result<Answer, Fault> {
        let signer = self.reach.signer()?;
        let answer = client
            .ask(|endpoint| {
                let sent =
                    if body.is_empty() { Sent::Nothing } else { Sent::Bytes(Some(Bytes::copy_from_slice(body))) };
                call.request(&self.target, endpoint, &signer, (sent, &Contents::Known(body)))
            })
            .await
            .inspect_err(|fault| self.reach.note_silent(*fault, client))?;
        if !answer.is_success() {
            self.reach.note_said(refusal(&answer), &answer, client, &signer);
        }
        Ok(answer)
    }

    /// Counts what an operation may make.
    pub(crate) fn note_made(&self, lane: u32, op: &Op) {
        self.made_by.iter().for_each(|made| made.note(lane, op));
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
            self.made.fetch_add(count, Ordering::Relaxed);
        }
    }

    /// What operations may have made.
    pub(crate) fn made(&self) -> u64 {
        self.made.load(Ordering::Relaxed)
    }

    /// What each version that a job puts says of itself: the run, or of a job that belongs to none its directory.
    pub(crate) fn word(&self) -> &str {
        self.target.run.as_deref().unwrap_or(&self.target.directory)
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
    pub(crate) fn error(&self, action: &'static str, object: String, trouble: impl Into<Trouble>) -> SetupError {
        let fault = match trouble.into() {
            Trouble::Fault(fault) => fault,
            Trouble::Words(words) => return SetupError::new(action, object, words),
        };
        let words = self.reach.message(fault);
        let elsewhere = self.reach.region(fault, &self.target.region).map(|region| {
            format!(": the bucket is in region {region}: write region: {region}, and the endpoint of that region if one is named")
        });
        let hint = elsewhere.or_else(|| self.reach.hint(fault)).unwrap_or_else(|| refusal_hint(fault).to_owned());
        SetupError::new(action, self.reach.path_of(fault, object), format!("{words}{hint}")).because(fault)
    }
}

/// What may help against a refusal.
fn refusal_hint(fault: Fault) -> &'static str {
    match fault_name(fault).unwrap_or_default() {
        "AccessDenied" | "Forbidden" | "InvalidAccessKeyId" | "SignatureDoesNotMatch" => {
            ": do the credentials of this host belong to this service, and may they do this?"
        }
        "ExpiredToken" | "TokenRefreshRequired" | "InvalidToken" => ": get new credentials",
        // A question without an answer in words (HEAD).
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
