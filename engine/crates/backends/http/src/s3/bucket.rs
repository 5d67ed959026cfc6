//! The bucket: made and marked if it does not exist, refused if others made it.

use super::answers::{refusal, success};
use super::keys::{self, MARK};
use super::place::Place;
use super::request::Call;
use super::xml;
use crate::net::{block_on, Client};
use assay_core::refusals::{ALREADY_THERE, REMOVED_AGAIN};
use assay_core::{as_errno, fault_name, Fault, SetupError};
use hyper::Method;
use std::sync::atomic::Ordering;
use std::time::Duration;

/// The text in the mark of a bucket.
const MARK_TEXT: &[u8] = b"This bucket was made by Assay, which removes it when nothing else is in it.\n";
/// Another process that has just made the bucket is about to mark it: so many checks for the mark, with this pause
/// between two.
const MARK_CHECKS: u32 = 50;
const MARK_PAUSE: Duration = Duration::from_millis(if cfg!(test) { 1 } else { 100 });

/// How often the bucket is made again because another run has removed it.
const MAX_ATTEMPTS: u32 = 5;

/// Who made a bucket.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Ownership {
    /// It does not exist.
    Missing,
    /// The run of this job, which may remove it.
    Ours,
    /// Another run of Assay: jobs may work in it, but never remove it.
    OtherRun,
    /// Others.
    Foreign,
}

fn is_missing(fault: Fault) -> bool {
    as_errno(fault) == Some(libc::ENOENT)
}

impl Place {
    /// Who made the bucket, by its mark and not by its existence.
    ///
    /// # Errors
    /// If the service refuses to say.
    pub(crate) async fn ownership(&self, client: &Client) -> Result<Ownership, Fault> {
        let there = self.send(client, Call::new(Method::HEAD, ""), b"").await?;
        if !there.is_success() {
            return self.unless_hidden(client, refusal(&there), Ownership::Missing).await;
        }
        match success(self.send(client, Call::for_mark(Method::GET), b"").await?) {
            Ok(mark) if mark.body == self.mark_text() => Ok(Ownership::Ours),
            Ok(mark) if mark.body.starts_with(MARK_TEXT) => Ok(Ownership::OtherRun),
            Ok(_) => Ok(Ownership::Foreign),
            Err(fault) => self.unless_hidden(client, fault, Ownership::Foreign).await,
        }
    }

    /// Who made the bucket, as far as a refusal shows it. A user may have rights below the root only, in a bucket of
    /// others that the target allows.
    async fn unless_hidden(&self, client: &Client, fault: Fault, missing: Ownership) -> Result<Ownership, Fault> {
        match as_errno(fault) {
            Some(libc::ENOENT) => Ok(missing),
            Some(libc::EACCES) if self.target.destroy => {
                // The first refusal explains more than that of the follow-up request.
                let below = self.some_keys(client, &format!("{}/", self.target.root)).await;
                below.map(|_| Ownership::Foreign).map_err(|_| fault)
            }
            _ => Err(fault),
        }
    }

    /// The text in the mark of a bucket that this run has made.
    fn mark_text(&self) -> Vec<u8> {
        let run = self.target.run.as_ref().map_or_else(String::new, |run| format!("run: {run}\n"));
        [MARK_TEXT, run.as_bytes()].concat()
    }

    /// The first keys listed with a prefix; keys without it are dropped.
    async fn some_keys(&self, client: &Client, prefix: &str) -> Result<Vec<String>, Fault> {
        let query = format!("list-type=2&max-keys=10&prefix={}", super::request::encoded(prefix));
        let page = self.document(client, query, "ListBucketResult").await?;
        let keys = page.entries("Contents").filter_map(|texts| texts.get("Key").cloned());
        Ok(keys.filter(|key| key.starts_with(prefix)).collect())
    }

    /// Refuses a bucket that others made, before anything is measured; that it does not exist is no error.
    ///
    /// # Errors
    /// If others made it, or the service refuses to say.
    pub(crate) fn check(&self) -> Result<Ownership, SetupError> {
        let client = self.access.client();
        let ownership = block_on(self.ownership(&client))?;
        let ownership = ownership.map_err(|fault| self.error("open", self.bucket_path(), fault))?;
        if ownership == Ownership::Foreign {
            block_on(self.refuse_locked(&client))??;
        }
        self.refuse_foreign(ownership)?;
        Ok(ownership)
    }

    /// Refuses a bucket with a default retention, in which nothing can be removed for a while. A service that refuses
    /// the question has no retention, or hides it from this user.
    async fn refuse_locked(&self, client: &Client) -> Result<(), SetupError> {
        let answer = self.send(client, Call::new(Method::GET, "").query("object-lock="), b"").await.and_then(success);
        let Ok(locked) = answer else { return Ok(()) };
        let text = |name: &str| xml::text_of(&locked.body, name).and_then(|text| self.access.shown(&text));
        let Some(mode) = text("Mode") else { return Ok(()) };
        let days = text("Days").map(|days| format!("{days} days"));
        let time = days.or_else(|| text("Years").map(|years| format!("{years} years")));
        let message = format!(
            "has a default retention ({mode}, {}): what is put there cannot be removed before, and Assay removes what it has \
             made: name a bucket without object lock",
            time.unwrap_or_else(|| "some time".to_owned())
        );
        Err(SetupError::new("open", self.bucket_path(), message))
    }

    fn refuse_foreign(&self, ownership: Ownership) -> Result<(), SetupError> {
        if ownership != Ownership::Foreign || self.target.destroy {
            return Ok(());
        }
        let message = format!(
            "was not made by Assay, as it has no object {MARK}: name a bucket that is not there yet, or allow objects \
             below {}/ in this one with --destroy",
            self.target.root
        );
        Err(SetupError::new("open", self.bucket_path(), message))
    }

    /// Finds or makes the bucket. `alone`: no other process works on the same job. `lane`: the process's first lane.
    ///
    /// # Errors
    /// If the bucket cannot be made, others made it, or it holds objects of a job with this name.
    pub(crate) fn prepare(&self, alone: bool, lane: u32) -> Result<(), SetupError> {
        let client = self.access.client();
        block_on(async {
            let error = |fault| self.error("open", self.bucket_path(), fault);
            for _ in 0..MAX_ATTEMPTS {
                let mut ownership = self.ownership(&client).await.map_err(error)?;
                if ownership == Ownership::Missing {
                    ownership = self.make(&client).await?;
                }
                if ownership == Ownership::Foreign && !self.target.destroy && !alone {
                    ownership = self.wait_for_mark(&client).await.map_err(error)?;
                }
                if ownership == Ownership::Foreign {
                    self.refuse_locked(&client).await?;
                }
                self.refuse_foreign(ownership)?;
                if alone && !self.some_keys(&client, &keys::job_prefix(&self.target)).await.map_err(error)?.is_empty() {
                    let path = format!("{}/{}", self.root_path(), self.target.directory);
                    return Err(SetupError::new("create", path, ALREADY_THERE));
                }
                if ownership != Ownership::OtherRun || self.put_use_mark(&client, lane).await.map_err(error)? {
                    return self.detect_versions(&client).await.map_err(error);
                }
            }
            Err(SetupError::new("open", self.bucket_path(), REMOVED_AGAIN))
        })?
    }

    /// Finds out whether the bucket keeps versions, so that each version that is put needs a label.
    async fn detect_versions(&self, client: &Client) -> Result<(), Fault> {
        let versions = self.has_versions(client).await?;
        self.is_versioned.store(versions, Ordering::Relaxed);
        Ok(())
    }

    /// Finds a bucket that an earlier job has used.
    ///
    /// # Errors
    /// As for `check`.
    pub(crate) fn open_existing(&self) -> Result<(), SetupError> {
        self.check()?;
        let client = self.access.client();
        block_on(self.detect_versions(&client))?.map_err(|fault| self.error("open", self.bucket_path(), fault))
    }

    /// Puts a mark of this run into a bucket that another run may remove: no run removes a bucket with something in it.
    /// False if the bucket is gone. The mark stays between jobs, until the run ends.
    async fn put_use_mark(&self, client: &Client, lane: u32) -> Result<bool, Fault> {
        let key = keys::use_mark_key(&self.target, lane);
        // Each job of a run does this, and finds the mark that the first one has put.
        if self.has_use_mark(client, &key).await? {
            return Ok(true);
        }
        match success(self.send(client, Call::new(Method::PUT, key), &self.mark_text()).await?) {
            Err(fault) if is_missing(fault) => Ok(false),
            stored => stored.map(|_| true),
        }
    }

    /// Whether this run has put its mark into the bucket.
    pub(crate) async fn has_use_mark(&self, client: &Client, key: &str) -> Result<bool, Fault> {
        match success(self.send(client, Call::new(Method::GET, key), b"").await?) {
            Ok(mark) => Ok(mark.body == self.mark_text()),
            Err(fault) if is_missing(fault) => Ok(false),
            Err(fault) => Err(fault),
        }
    }

    /// Makes the bucket and its mark, and returns who made it in the end.
    async fn make(&self, client: &Client) -> Result<Ownership, SetupError> {
        let error = |fault| self.error("create", self.bucket_path(), fault);
        // The oldest region has no name here (CreateBucket, LocationConstraint).
        let body = if self.target.region == "us-east-1" {
            String::new()
        } else {
            format!(
                "<CreateBucketConfiguration xmlns=\"http://s3.amazonaws.com/doc/2006-03-01/\"><LocationConstraint>{}\
                 </LocationConstraint></CreateBucketConfiguration>",
                self.target.region
            )
        };
        let made = self.send(client, Call::new(Method::PUT, ""), body.as_bytes()).await.map_err(error)?;
        let failed = made.status >= 500;
        match success(made) {
            Ok(_) => {}
            // Another process of this run was faster and marks it, or it belongs to others, who do not.
            Err(fault)
                if matches!(
                    fault_name(fault),
                    Some("BucketAlreadyOwnedByYou" | "BucketAlreadyExists" | "OperationAborted")
                ) =>
            {
                return self.wait_for_mark(client).await.map_err(error);
            }
            // A service that cannot make one bucket twice at once may fail like this.
            Err(fault) if failed => {
                return match self.wait_for_mark(client).await {
                    Ok(ownership @ (Ownership::Ours | Ownership::OtherRun)) => Ok(ownership),
                    _ => Err(error(fault)),
                };
            }
            Err(fault) => return Err(error(fault)),
        }
        // Some services answer the same for a bucket that exists.
        if !self.some_keys(client, "").await.map_err(error)?.is_empty() {
            return self.wait_for_mark(client).await.map_err(error);
        }
        if let Err(fault) = self.put_mark(client).await {
            let _ = self.send(client, Call::new(Method::DELETE, ""), b"").await;
            return Err(self.error("create", format!("{}/{MARK}", self.bucket_path()), fault));
        }
        if self.target.versioned {
            let body = b"<VersioningConfiguration xmlns=\"http://s3.amazonaws.com/doc/2006-03-01/\"><Status>Enabled\
                         </Status></VersioningConfiguration>";
            let call = Call::new(Method::PUT, "").query("versioning=");
            self.send(client, call, body).await.and_then(success).map_err(error)?;
        }
        // Two runs may have made it at once: the one that marked it last has made it.
        self.ownership(client).await.map_err(error)
    }

    /// Puts the bucket's mark.
    pub(crate) async fn put_mark(&self, client: &Client) -> Result<(), Fault> {
        self.send(client, Call::for_mark(Method::PUT), &self.mark_text()).await.and_then(success).map(drop)
    }

    /// Who made the bucket, after waiting for another process of the same run to mark it.
    async fn wait_for_mark(&self, client: &Client) -> Result<Ownership, Fault> {
        for _ in 0..MARK_CHECKS {
            let ownership = self.ownership(client).await?;
            if matches!(ownership, Ownership::Ours | Ownership::OtherRun)
                || assay_core::heartbeat::stopping_ns().is_some()
            {
                return Ok(ownership);
            }
            tokio::time::sleep(MARK_PAUSE).await;
        }
        self.ownership(client).await
    }
}
