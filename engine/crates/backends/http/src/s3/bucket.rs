//! The bucket: made and marked where there is none, refused where it is somebody else's.

use super::answers::{refusal, well};
use super::keys::MARK;
use super::place::Place;
use super::request::Call;
use super::xml;
use crate::net::{block_on, Client};
use assay_core::{as_errno, fault_name, Fault, SetupError};
use hyper::Method;
use std::time::Duration;

/// What the mark of a bucket says.
const MARK_TEXT: &[u8] = b"This bucket was made by Assay, which removes it when nothing else is in it.\n";
/// Another process that has just made the bucket marks it at once; it is looked for so often, in steps.
const LOOKS: u32 = 50;
const STEP: Duration = Duration::from_millis(100);

/// Whose a bucket is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Whose {
    /// There is none.
    Nobodys,
    /// Made by Assay.
    Ours,
    /// There before.
    Foreign,
}

fn is_missing(fault: Fault) -> bool {
    as_errno(fault) == Some(libc::ENOENT)
}

impl Place {
    /// Whose the bucket is.
    ///
    /// # Errors
    /// If the service does not tell.
    pub(crate) async fn whose(&self, client: &Client) -> Result<Whose, Fault> {
        let there = self.ask(client, Call::new(Method::HEAD, ""), b"").await?;
        if !there.is_success() {
            let fault = refusal(&there);
            return if is_missing(fault) { Ok(Whose::Nobodys) } else { Err(fault) };
        }
        match well(self.ask(client, Call::of_mark(Method::HEAD), b"").await?) {
            Ok(_) => Ok(Whose::Ours),
            Err(fault) if is_missing(fault) => Ok(Whose::Foreign),
            Err(fault) => Err(fault),
        }
    }

    /// Whether objects of this job are there.
    async fn is_used(&self, client: &Client) -> Result<bool, Fault> {
        let folder = super::request::coded(&super::keys::folder(&self.target));
        let call = Call::new(Method::GET, "").query(format!("list-type=2&max-keys=1&prefix={folder}"));
        let answer = well(self.ask(client, call, b"").await?)?;
        let listed = xml::count(&answer.kept, "Contents", "").ok_or(assay_core::MALFORMED_ANSWER)?;
        Ok(listed.0 > 0)
    }

    /// Refuses a bucket of somebody else, before anything is measured; there may be none yet.
    ///
    /// # Errors
    /// If it is, or the service does not tell.
    pub(crate) fn check(&self) -> Result<Whose, SetupError> {
        let client = self.reach.client();
        let whose = block_on(self.whose(&client))?;
        let whose = whose.map_err(|fault| self.error("open", self.bucket_path(), fault))?;
        self.refuse_foreign(whose)?;
        Ok(whose)
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

    /// Finds the bucket or makes it. `alone`: no other process works for the same job.
    ///
    /// # Errors
    /// If it cannot be made, is somebody else's, or holds what a job of this name has left.
    pub(crate) fn prepare(&self, alone: bool) -> Result<(), SetupError> {
        let client = self.reach.client();
        block_on(async {
            let error = |fault| self.error("open", self.bucket_path(), fault);
            let mut whose = self.whose(&client).await.map_err(error)?;
            if whose == Whose::Nobodys {
                self.make(&client).await?;
                whose = Whose::Ours;
            }
            if whose == Whose::Foreign && !self.target.destroy && !alone {
                whose = self.wait_for_mark(&client).await.map_err(error)?;
            }
            self.refuse_foreign(whose)?;
            if alone && self.is_used(&client).await.map_err(error)? {
                let message = "is already there: another job, or remains of one, which `assay-engine clean` removes";
                return Err(SetupError::new(
                    "create",
                    format!("{}/{}", self.root_path(), self.target.directory),
                    message,
                ));
            }
            Ok(())
        })?
    }

    /// Makes the bucket and its mark.
    async fn make(&self, client: &Client) -> Result<(), SetupError> {
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
                let whose = self.wait_for_mark(client).await.map_err(error)?;
                return self.refuse_foreign(whose);
            }
            // So may a service say that cannot make one bucket twice at once.
            Err(fault) if failed => {
                return match self.wait_for_mark(client).await {
                    Ok(Whose::Ours) => Ok(()),
                    _ => Err(error(fault)),
                };
            }
            Err(fault) => return Err(error(fault)),
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
        Ok(())
    }

    /// Puts the mark into the bucket.
    pub(crate) async fn mark(&self, client: &Client) -> Result<(), Fault> {
        self.ask(client, Call::of_mark(Method::PUT), MARK_TEXT).await.and_then(well).map(drop)
    }

    /// Whose the bucket is, after a while in which another process of the same run may mark it.
    async fn wait_for_mark(&self, client: &Client) -> Result<Whose, Fault> {
        for _ in 0..LOOKS {
            if self.whose(client).await? == Whose::Ours {
                return Ok(Whose::Ours);
            }
            tokio::time::sleep(STEP).await;
        }
        self.whose(client).await
    }
}
