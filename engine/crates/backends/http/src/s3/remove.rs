//! Removal of what jobs have made: objects, all their versions, uploads that were begun; the bucket, if Assay has made it
//! and nothing else is in it.

use super::answers::{errors_of, well};
use super::bucket::Whose;
use super::keys::{self, MARK};
use super::place::Place;
use super::request::{coded, Call};
use super::xml::{self, Document};
use crate::net::{block_on, Client};
use crate::sum::{coded as coded_sum, Sum};
use assay_core::{as_errno, fault_name, Fault, SetupError, MALFORMED_ANSWER};
use assay_spec::Checksum;
use futures_util::stream::{FuturesUnordered, StreamExt};
use hyper::Method;
use std::fmt::Write as _;

/// Lists of names whose objects are being removed at the same time.
const AT_ONCE: usize = 8;

/// An object, or one of its versions.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Thing {
    key: String,
    version: Option<String>,
}

pub(crate) fn is_true(document: &Document, name: &str) -> bool {
    document.text(name) == Some("true")
}

pub(crate) fn pair(name: &str, value: Option<&str>) -> String {
    value.map_or_else(String::new, |value| format!("&{name}={}", coded(value)))
}

impl Place {
    pub(crate) async fn document(&self, client: &Client, query: String) -> Result<Document, Fault> {
        let answer = well(self.ask(client, Call::new(Method::GET, "").query(query), b"").await?)?;
        xml::parse(&answer.kept).ok_or(MALFORMED_ANSWER)
    }

    /// The bucket keeps, or has kept, versions.
    async fn has_versions(&self, client: &Client) -> Result<bool, Fault> {
        match self.document(client, "versioning=".to_owned()).await {
            Ok(document) => Ok(document.text("Status").is_some()),
            // A service that has no versions need not know the question.
            Err(fault) if matches!(fault_name(fault), Some("NotImplemented" | "MethodNotAllowed")) => Ok(false),
            Err(fault) if matches!(as_errno(fault), Some(libc::ENOENT | libc::EACCES)) => Ok(false),
            Err(fault) => Err(fault),
        }
    }

    /// A page of what is there below a prefix, and how the next one is asked for.
    async fn page(
        &self,
        client: &Client,
        (prefix, versions): (&str, bool),
        after: &str,
    ) -> Result<(Vec<Thing>, Option<String>), Fault> {
        let prefix = coded(prefix);
        if versions {
            let document = self.document(client, format!("versions=&prefix={prefix}{after}")).await?;
            let of = |texts: &xml::Texts| Thing {
                key: texts.get("Key").cloned().unwrap_or_default(),
                version: texts.get("VersionId").cloned(),
            };
            let things = document.entries("Version").chain(document.entries("DeleteMarker")).map(of).collect();
            let next = is_true(&document, "IsTruncated").then(|| {
                let key = pair("key-marker", document.text("NextKeyMarker"));
                key + &pair("version-id-marker", document.text("NextVersionIdMarker"))
            });
            return Ok((things, next));
        }
        let document = self.document(client, format!("list-type=2&prefix={prefix}{after}")).await?;
        let keys = document.entries("Contents").filter_map(|texts| texts.get("Key").cloned());
        let things = keys.map(|key| Thing { key, version: None }).collect();
        let token = document.text("NextContinuationToken").filter(|_| is_true(&document, "IsTruncated"));
        Ok((things, token.map(|token| pair("continuation-token", Some(token)))))
    }

    /// Removes objects that a page has named.
    async fn remove(&self, client: &Client, things: Vec<Thing>) -> Result<(), Fault> {
        let keys = things.iter().map(|thing| (thing.key.as_str(), thing.version.as_deref()));
        let body = delete_body(keys);
        let call = delete_call(&body);
        let answer = well(self.ask(client, call, body.as_bytes()).await?)?;
        errors_of(&xml::parse(&answer.kept).ok_or(MALFORMED_ANSWER)?)
    }

    /// Removes all below a prefix; how many objects or versions that were.
    async fn remove_below(&self, client: &Client, prefix: &str, versions: bool) -> Result<u64, Fault> {
        let (mut removed, mut after) = (0, String::new());
        let mut under_way = FuturesUnordered::new();
        loop {
            let (things, next) = self.page(client, (prefix, versions), &after).await?;
            removed += things.len() as u64;
            assay_core::pulse::beat();
            if !things.is_empty() {
                under_way.push(self.remove(client, things));
            }
            while under_way.len() >= AT_ONCE || (next.is_none() && !under_way.is_empty()) {
                under_way.next().await.unwrap_or(Ok(()))?;
            }
            let Some(next) = next else { return Ok(removed) };
            after = next;
        }
    }

    /// Aborts uploads below a prefix that were begun and not completed, so that nobody pays for their parts.
    async fn abort_below(&self, client: &Client, prefix: &str) -> Result<u64, Fault> {
        let (mut aborted, mut after) = (0, String::new());
        loop {
            // All there are: to some services a prefix is the key of one object.
            let document = match self.document(client, format!("uploads={after}")).await {
                Err(fault) if fault_name(fault) == Some("NotImplemented") => return Ok(aborted),
                other => other?,
            };
            for upload in document.entries("Upload") {
                let (Some(key), Some(id)) = (upload.get("Key"), upload.get("UploadId")) else { continue };
                if key.starts_with(prefix) {
                    self.abort(client, key, id).await?;
                    aborted += 1;
                }
            }
            if !is_true(&document, "IsTruncated") {
                return Ok(aborted);
            }
            let key = pair("key-marker", document.text("NextKeyMarker"));
            after = key + &pair("upload-id-marker", document.text("NextUploadIdMarker"));
        }
    }

    /// Aborts one upload; one that is gone already is no error.
    pub(crate) async fn abort(&self, client: &Client, key: &str, id: &str) -> Result<(), Fault> {
        let call = Call::new(Method::DELETE, key).query(format!("uploadId={}", coded(id)));
        match self.ask(client, call, b"").await.and_then(well) {
            Err(fault) if as_errno(fault) != Some(libc::ENOENT) => Err(fault),
            _ => Ok(()),
        }
    }

    /// Removes all objects and uploads below prefixes; what was removed, in words.
    pub(crate) fn remove_all(&self, prefixes: &[String]) -> Result<Vec<String>, SetupError> {
        let client = self.reach.client();
        block_on(async {
            let error = |fault| self.error("remove", self.root_path(), fault);
            match self.whose(&client).await.map_err(error)? {
                Whose::Nobodys => return Ok(Vec::new()),
                Whose::Foreign if !self.target.destroy => {
                    return Err(SetupError::new("remove", self.bucket_path(), "was not made by Assay: left alone"));
                }
                Whose::Ours | Whose::Foreign => {}
            }
            let versions = self.has_versions(&client).await.map_err(error)?;
            let mut removed = Vec::new();
            for prefix in prefixes {
                let aborted = self.abort_below(&client, prefix).await.map_err(error)?;
                let objects = self.remove_below(&client, prefix, versions).await.map_err(error)?;
                if aborted + objects > 0 {
                    removed.push(format!("{}/{prefix}", self.bucket_path()));
                }
            }
            Ok(removed)
        })?
    }

    /// Removes the bucket if Assay has made it and nothing but its mark is in it; what was removed, in words.
    pub(crate) fn remove_bucket(&self) -> Result<Vec<String>, SetupError> {
        let client = self.reach.client();
        block_on(async {
            let path = self.bucket_path();
            let error = |fault| self.error("remove", path.clone(), fault);
            if self.whose(&client).await.map_err(error)? != Whose::Ours {
                return Ok(Vec::new());
            }
            let versions = self.has_versions(&client).await.map_err(error)?;
            let (things, more) = self.page(&client, ("", versions), "").await.map_err(error)?;
            if more.is_some() || things.iter().any(|thing| thing.key != MARK) {
                return Ok(Vec::new());
            }
            self.abort_below(&client, &format!("{}/", self.target.root)).await.map_err(error)?;
            if !things.is_empty() {
                self.remove(&client, things).await.map_err(error)?;
            }
            match self.ask(&client, Call::new(Method::DELETE, ""), b"").await.and_then(well) {
                Ok(_) => Ok(vec![path.clone()]),
                Err(fault) if as_errno(fault) == Some(libc::ENOENT) => Ok(Vec::new()),
                // Another run has begun to use it: it needs the mark again.
                Err(fault) if fault_name(fault) == Some("BucketNotEmpty") => {
                    self.mark(&client).await.map_err(error)?;
                    Ok(Vec::new())
                }
                Err(fault) => Err(error(fault)),
            }
        })?
    }

    /// Removes what killed jobs have left: the job's objects, or the bucket.
    pub(crate) fn clean(&self, whole: bool) -> Result<Vec<String>, SetupError> {
        if self.target.existing.is_some() {
            return Ok(Vec::new());
        }
        if whole {
            self.remove_bucket()
        } else {
            self.remove_all(&[keys::folder(&self.target)])
        }
    }
}

/// The list of what is to be removed.
pub(crate) fn delete_body<'a>(keys: impl Iterator<Item = (&'a str, Option<&'a str>)>) -> String {
    let mut body = String::from("<Delete xmlns=\"http://s3.amazonaws.com/doc/2006-03-01/\"><Quiet>true</Quiet>");
    for (key, version) in keys {
        let _ = write!(body, "<Object><Key>{}</Key>", xml::escaped(key));
        if let Some(version) = version {
            let _ = write!(body, "<VersionId>{}</VersionId>", xml::escaped(version));
        }
        body.push_str("</Object>");
    }
    body.push_str("</Delete>");
    body
}

/// The call that removes what a list names; the list's own sum is asked for by the protocol.
pub(crate) fn delete_call(body: &str) -> Call {
    let sum = Sum::new(Checksum::Md5).map_or_else(String::new, |mut sum| {
        sum.add(body.as_bytes());
        coded_sum(&sum.bytes())
    });
    Call::new(Method::POST, "").query("delete=").header("content-md5", sum)
}
