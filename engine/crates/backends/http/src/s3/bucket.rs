//! The bucket: made and marked where there is none, refused where it is somebody else's.

use super::answers::{refusal, well};
use super::keys::{self, MARK};
use super::place::Place;
use super::request::Call;
use super::xml;
use crate::net::{block_on, Client};
use assay_core::{as_errno, fault_name, Fault, SetupError};
use hyper::Method;
use std::sync::atomic::Ordering;
use std::time::Duration;

/// What the mark of a bucket says.
const MARK_TEXT: &[u8] = b"This bucket was made by Assay, which removes it when nothing else is in it.\n";
/// Another process that has just made the bucket marks it at once; it is looked for so often, in steps.
const LOOKS: u32 = 50;
const STEP: Duration = Duration::from_millis(if cfg!(test) { 1 } else { 100 });

/// So often a bucket that another run removes meanwhile is made again.
const TRIES: u32 = 5;

/// Whose a bucket is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Whose {
    /// There is none.
    Nobodys,
    /// Made by the run that the job belongs to, which may remove it.
    Ours,
    /// Made by another run of Assay: jobs may work in it, and leave it where it is.
    Assays,
    /// There before.
    Foreign,
}

fn is_missing(fault: Fault) -> bool {
    as_errno(fault) == Some(libc::ENOENT)
}

impl Place {
    /// Whose the bucket is: what its mark says, not that there is one.
    ///
    /// # Errors
    /// If the service does not tell.
    pub(crate) async fn whose(&self, client: &Client) -> Result<Whose, Fault> {
        let there = self.ask(client, Call::new(Method::HEAD, ""), b"").await?;
        if !there.is_success() {
            return self.unless_hidden(client, refusal(&there), Whose::Nobodys).await;
        }
        match well(self.ask(client, Call::of_mark(Method::GET), b"").await?) {
            Ok(mark) if mark.kept == self.mark_text() => Ok(Whose::Ours),
            Ok(mark) if mark.kept.starts_with(MARK_TEXT) => Ok(Whose::Assays),
            Ok(_) => Ok(Whose::Foreign),
            Err(fault) => self.unless_hidden(client, fault, Whose::Foreign).await,
        }
    }

    /// What a refusal says of whose the bucket is. Somebody may have rights below the root alone, in a bucket of others
    /// that he has allowed.
    async fn unless_hidden(&self, client: &Client, fault: Fault, missing: Whose) -> Result<Whose, Fault> {
        match as_errno(fault) {
            Some(libc::ENOENT) => Ok(missing),
            Some(libc::EACCES) if self.target.destroy => {
                // The first refusal says more than one of what was asked because of it.
                let below = self.some_keys(client, &format!("{}/", self.target.root)).await;
                below.map(|_| Whose::Foreign).map_err(|_| fault)
            }
            _ => Err(fault),
        }
    }

    /// What the mark of a bucket says that this run has made.
    fn mark_text(&self) -> Vec<u8> {
        let run = self.target.run.as_ref().map_or_else(String::new, |run| format!("run: {run}\n"));
        [MARK_TEXT, run.as_bytes()].concat()
    }

    /// Keys at the beginning of a list below a prefix, held against it.
    async fn some_keys(&self, client: &Client, prefix: &str) -> Result<Vec<String>, Fault> {
        let query = format!("list-type=2&max-keys=10&prefix={}", super::request::coded(prefix));
        let page = self.document(client, query, "ListBucketResult").await?;
        let keys = page.entries("Contents").filter_map(|texts| texts.get("Key").cloned());
        Ok(keys.filter(|key| key.starts_with(prefix)).collect())
    }

    /// Refuses a bucket of somebody else, before anything is measured; there may be none yet.
    ///
    /// # Errors
    /// If it is, or the service does not tell.
    pub(crate) fn check(&self) -> Result<Whose, SetupError> {
        let client = self.reach.client();
        let whose = block_on(self.whose(&client))?;
        let whose = whose.map_err(|fault| self.error("open", self.bucket_path(), fault))?;
        if whose == Whose::Foreign {
            block_on(self.refuse_locked(&client))??;
        }
        self.refuse_foreign(whose)?;
        Ok(whose)
    }

    /// Refuses a bucket in which nobody can remove for a while what is put there. A service that does not tell has no such
    /// thing, or not for this user.
    async fn refuse_locked(&self, client: &Client) -> Result<(), SetupError> {
        let asked = self.ask(client, Call::new(Method::GET, "").query("object-lock="), b"").await.and_then(well);
        let Ok(locked) = asked else { return Ok(()) };
        let text = |name: &str| xml::text_of(&locked.kept, name).and_then(|text| self.reach.shown(&text));
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

    fn refuse_foreign(&self, whose: Whose) -> Result<(), SetupError> {
        if whose != Whose::Foreign || self.target.destroy {
            return Ok(());
        }
        let message = format!(
            "was not made by Assay, as it has no object {MARK}: name a bucket that is not there yet, or allow objects \
             below {}/ in this one with --destroy",
            self.target.root
        );
        Err(SetupError::new("open", self.bucket_path(), message))
    }

    /// Finds the bucket or makes it. `alone`: no other process works for the same job, of whose lanes `lane` is the first.
    ///
    /// # Errors
    /// If it cannot be made, is somebody else's, or holds what a job of this name has left.
    pub(crate) fn prepare(&self, alone: bool, lane: u32) -> Result<(), SetupError> {
        let client = self.reach.client();
        block_on(async {
            let error = |fault| self.error("open", self.bucket_path(), fault);
            for _ in 0..TRIES {
                let mut whose = self.whose(&client).await.map_err(error)?;
                if whose == Whose::Nobodys {
                    whose = self.make(&client).await?;
                }
                if whose == Whose::Foreign && !self.target.destroy && !alone {
                    whose = self.wait_for_mark(&client).await.map_err(error)?;
                }
                if whose == Whose::Foreign {
                    self.refuse_locked(&client).await?;
                }
                self.refuse_foreign(whose)?;
                if alone && !self.some_keys(&client, &keys::folder(&self.target)).await.map_err(error)?.is_empty() {
                    let message =
                        "is already there: another job, or remains of one, which `assay-engine clean` removes";
                    let path = format!("{}/{}", self.root_path(), self.target.directory);
                    return Err(SetupError::new("create", path, message));
                }
                if whose != Whose::Assays || self.hold(&client, lane).await.map_err(error)? {
                    return self.know_versions(&client).await.map_err(error);
                }
            }
            Err(SetupError::new("open", self.bucket_path(), "another run removes it again and again: name another"))
        })?
    }

    /// Finds out whether what is put has to say whose it is.
    async fn know_versions(&self, client: &Client) -> Result<(), Fault> {
        let versions = self.has_versions(client).await?;
        self.versions.store(versions, Ordering::Relaxed);
        Ok(())
    }

    /// Finds a bucket that an earlier job has used.
    ///
    /// # Errors
    /// As of `check`.
    pub(crate) fn find(&self) -> Result<(), SetupError> {
        self.check()?;
        let client = self.reach.client();
        block_on(self.know_versions(&client))?.map_err(|fault| self.error("open", self.bucket_path(), fault))
    }

    /// Puts an object of this run into a bucket that another run may remove at any time, which it does not do as long as
    /// something is in it; false if it has. It stays between jobs, until the run ends.
    async fn hold(&self, client: &Client, lane: u32) -> Result<bool, Fault> {
        let key = keys::of_use(&self.target, lane);
        // Each job of a run says so, and finds what the first has put.
        if self.is_held(client, &key).await? {
            return Ok(true);
        }
        match well(self.ask(client, Call::new(Method::PUT, key), &self.mark_text()).await?) {
            Err(fault) if is_missing(fault) => Ok(false),
            held => held.map(|_| true),
        }
    }

    /// Whether this run has put the sign that it works in the bucket.
    pub(crate) async fn is_held(&self, client: &Client, key: &str) -> Result<bool, Fault> {
        match well(self.ask(client, Call::new(Method::GET, key), b"").await?) {
            Ok(held) => Ok(held.kept == self.mark_text()),
            Err(fault) if is_missing(fault) => Ok(false),
            Err(fault) => Err(fault),
        }
    }

    /// Makes the bucket and its mark; whose it is then.
    async fn make(&self, client: &Client) -> Result<Whose, SetupError> {
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
        let made = self.ask(client, Call::new(Method::PUT, ""), body.as_bytes()).await.map_err(error)?;
        let failed = made.status >= 500;
        match well(made) {
            Ok(_) => {}
            // Another process of this run was quicker, and marks it; or it is somebody else's, who does not.
            Err(fault)
                if matches!(
                    fault_name(fault),
                    Some("BucketAlreadyOwnedByYou" | "BucketAlreadyExists" | "OperationAborted")
                ) =>
            {
                return self.wait_for_mark(client).await.map_err(error);
            }
            // So may a service say that cannot make one bucket twice at once.
            Err(fault) if failed => {
                return match self.wait_for_mark(client).await {
                    Ok(whose @ (Whose::Ours | Whose::Assays)) => Ok(whose),
                    _ => Err(error(fault)),
                };
            }
            Err(fault) => return Err(error(fault)),
        }
        // Some services say so of one that was there.
        if !self.some_keys(client, "").await.map_err(error)?.is_empty() {
            return self.wait_for_mark(client).await.map_err(error);
        }
        if let Err(fault) = self.mark(client).await {
            let _ = self.ask(client, Call::new(Method::DELETE, ""), b"").await;
            return Err(self.error("create", format!("{}/{MARK}", self.bucket_path()), fault));
        }
        if self.target.versioned {
            let body = b"<VersioningConfiguration xmlns=\"http://s3.amazonaws.com/doc/2006-03-01/\"><Status>Enabled\
                         </Status></VersioningConfiguration>";
            let call = Call::new(Method::PUT, "").query("versioning=");
            self.ask(client, call, body).await.and_then(well).map_err(error)?;
        }
        // Two runs may have made it at once: the last who has marked it has.
        self.whose(client).await.map_err(error)
    }

    /// Puts the mark into the bucket.
    pub(crate) async fn mark(&self, client: &Client) -> Result<(), Fault> {
        self.ask(client, Call::of_mark(Method::PUT), &self.mark_text()).await.and_then(well).map(drop)
    }

    /// Whose the bucket is, after a while in which another process of the same run may mark it.
    async fn wait_for_mark(&self, client: &Client) -> Result<Whose, Fault> {
        for _ in 0..LOOKS {
            let whose = self.whose(client).await?;
            if matches!(whose, Whose::Ours | Whose::Assays) || assay_core::heartbeat::stopping_ns().is_some() {
                return Ok(whose);
            }
            tokio::time::sleep(STEP).await;
        }
        self.whose(client).await
    }
}
