//! Removal of what jobs have made: objects, all their versions, uploads that were begun; the bucket, if Assay has made it
//! and nothing else is in it.

use super::answers::{document, errors_of, well};
use super::bucket::Whose;
use super::keys::{self, MARK, USE};
use super::place::Place;
use super::request::{coded, Call};
use super::xml::{self, Document, Texts};
use crate::net::{block_on, Client};
use crate::pages::{Bounds, Newest, Pages, Trouble, MOST_ON_PAGE};
use crate::sum::{coded as coded_sum, Sum};
use assay_core::{as_errno, fault_name, pulse, Fault, SetupError, MALFORMED_ANSWER};
use assay_spec::{Checksum, PlaceAnswer, Remains, S3Target};
use futures_util::stream::{FuturesUnordered, StreamExt};
use hyper::Method;
use percent_encoding::percent_decode_str;
use std::borrow::Cow;
use std::fmt::Write as _;
use std::ops::Range;
use std::time::Duration;

/// Lists of names whose objects are being removed at the same time.
const AT_ONCE: usize = 8;

/// Objects that one request removes at most (DeleteObjects).
const MOST_AT_ONCE: usize = 1000;
/// So often it is looked whether what was removed is gone.
const PASSES: u32 = 4;
/// After the first of them; twice as long after the next.
const PAUSE: Duration = Duration::from_millis(if cfg!(test) { 1 } else { 50 });

/// An object, or one of its versions.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Thing {
    key: String,
    version: Option<String>,
}

/// Which objects of this job are removed.
#[derive(Debug, Clone)]
pub(crate) struct Scope {
    /// What their keys begin with.
    pub(crate) prefixes: Vec<String>,
    /// Lanes that they are of; none: all.
    pub(crate) lanes: Option<Range<u32>>,
    /// How many objects, versions and uploads there can be; none: it is not known.
    pub(crate) most: Option<u64>,
}

/// What has been seen on the way.
#[derive(Debug, Default)]
struct Seen {
    removed: u64,
    /// Keys that were not asked for: how many, and the first.
    outside: u64,
    /// Keys below the job's folder that no job gives.
    strange: u64,
    example: String,
}

impl Seen {
    fn note(&mut self, asked_for: bool, key: &str) {
        let count = if asked_for { &mut self.strange } else { &mut self.outside };
        *count += 1;
        if self.example.is_empty() {
            key.clone_into(&mut self.example);
        }
    }
}

pub(crate) fn is_true(document: &Document, name: &str) -> bool {
    document.text(name) == Some("true")
}

pub(crate) fn pair(name: &str, value: Option<&str>) -> String {
    value.map_or_else(String::new, |value| format!("&{name}={}", coded(value)))
}

/// A key as it is, however the service writes it on this page.
fn key_of(page: &Document, texts: &Texts) -> Option<String> {
    let key = texts.get("Key")?;
    if page.text("EncodingType") != Some("url") {
        return Some(key.clone());
    }
    percent_decode_str(key).decode_utf8().ok().map(Cow::into_owned)
}

impl Scope {
    /// Whether an object is one of them: a list finds, its name decides.
    fn has(&self, target: &S3Target, prefix: &str, key: &str) -> bool {
        let owner = keys::owner(target, key).filter(|_| key.starts_with(prefix));
        owner.is_some_and(|(_, lane)| self.lanes.as_ref().is_none_or(|lanes| lanes.contains(&lane)))
    }

    fn bounds(&self) -> Bounds {
        Bounds::of_removal(self.most)
    }
}

impl Place {
    pub(crate) async fn document(&self, client: &Client, query: String, root: &str) -> Result<Document, Fault> {
        let answer = well(self.ask(client, Call::new(Method::GET, "").query(query), b"").await?)?;
        document(&answer, root)
    }

    /// The bucket keeps, or has kept, versions.
    async fn has_versions(&self, client: &Client) -> Result<bool, Fault> {
        match self.document(client, "versioning=".to_owned(), "VersioningConfiguration").await {
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
        let query = if versions { "versions=" } else { "list-type=2" };
        let root = if versions { "ListVersionsResult" } else { "ListBucketResult" };
        let page = self.document(client, format!("{query}&prefix={prefix}{after}"), root).await?;
        let names: &[&str] = if versions { &["Version", "DeleteMarker"] } else { &["Contents"] };
        let entries = names.iter().flat_map(|name| page.entries(name));
        let things = entries.filter_map(|texts| {
            let version = texts.get("VersionId").filter(|_| versions).cloned();
            Some(Thing { key: key_of(&page, texts)?, version })
        });
        let things: Vec<Thing> = things.collect();
        if things.len() > MOST_ON_PAGE {
            return Err(MALFORMED_ANSWER);
        }
        let next = is_true(&page, "IsTruncated").then(|| {
            if versions {
                let key = pair("key-marker", page.text("NextKeyMarker"));
                return key + &pair("version-id-marker", page.text("NextVersionIdMarker"));
            }
            pair("continuation-token", page.text("NextContinuationToken"))
        });
        Ok((things, next))
    }

    /// Removes objects of which it is sure that they are the job's, or the mark.
    async fn remove(&self, client: &Client, things: &[Thing]) -> Result<(), Fault> {
        let keys = things.iter().map(|thing| (thing.key.as_str(), thing.version.as_deref()));
        let body = delete_body(keys);
        let call = delete_call(&body);
        let answer = well(self.ask(client, call, body.as_bytes()).await?)?;
        errors_of(&document(&answer, "DeleteResult")?)
    }

    /// Removes the job's objects that a list names below a prefix; how many objects or versions those were. What says
    /// that the job is at work goes last.
    async fn sweep(
        &self,
        client: &Client,
        scope: &Scope,
        (prefix, versions): (&str, bool),
        seen: &mut Seen,
    ) -> Result<u64, Trouble> {
        let (mut found, mut after, mut last) = (0, String::new(), Vec::new());
        let (mut pages, mut newest) = (Pages::new(scope.bounds()), Newest::default());
        let mut under_way = FuturesUnordered::new();
        loop {
            let (things, next) = self.page(client, (prefix, versions), &after).await?;
            let (mut ours, mut new) = (Vec::new(), 0);
            for thing in things {
                if !scope.has(&self.target, prefix, &thing.key) {
                    seen.note(thing.key.starts_with(prefix), &thing.key);
                    continue;
                }
                new += u64::from(newest.is_new(&thing.key, thing.version.as_deref().unwrap_or_default()));
                let sign = keys::owner(&self.target, &thing.key).is_some_and(|(letter, _)| letter == USE);
                if sign && last.len() < MOST_AT_ONCE { &mut last } else { &mut ours }.push(thing);
            }
            found += ours.len() as u64;
            for some in ours.chunks(MOST_AT_ONCE) {
                let some = some.to_vec();
                under_way.push(async move { self.remove(client, &some).await });
            }
            let next = pages.turn(new, next)?;
            while under_way.len() >= AT_ONCE || (next.is_none() && !under_way.is_empty()) {
                under_way.next().await.unwrap_or(Ok(()))?;
                pulse::beat();
            }
            let Some(next) = next else { break };
            after = next;
        }
        if !last.is_empty() {
            self.remove(client, &last).await?;
        }
        Ok(found + last.len() as u64)
    }

    /// Removes the job's objects below a prefix, and looks whether they are gone.
    async fn remove_below(
        &self,
        client: &Client,
        scope: &Scope,
        (prefix, versions): (&str, bool),
        seen: &mut Seen,
    ) -> Result<(), Trouble> {
        let mut left = 0;
        for pass in 0..PASSES {
            let mut looked = Seen::default();
            left = self.sweep(client, scope, (prefix, versions), &mut looked).await?;
            if pass == 0 {
                looked.removed = left;
                seen.removed += looked.removed;
                seen.outside += looked.outside;
                seen.strange += looked.strange;
                seen.example = std::mem::take(&mut seen.example) + &looked.example;
            }
            if left == 0 {
                return Ok(());
            }
            if pass > 0 {
                tokio::time::sleep(PAUSE * (1 << pass)).await;
            }
        }
        Err(Trouble::Words(format!("{left} objects are still listed after the service has said that they are removed")))
    }

    /// Aborts uploads of the job that were begun and not completed, so that nobody pays for their parts.
    async fn abort_below(&self, client: &Client, scope: &Scope, prefix: &str) -> Result<u64, Trouble> {
        let mut aborted = 0;
        // All there are: to some services a prefix is the key of one object. Where that is refused, those below it.
        let (mut after, mut only) = (String::new(), String::new());
        let (mut pages, mut newest) = (Pages::new(Bounds::of_others()), Newest::default());
        loop {
            let page = match self.document(client, format!("uploads={only}{after}"), "ListMultipartUploadsResult").await
            {
                Err(fault) if fault_name(fault) == Some("NotImplemented") => return Ok(aborted),
                Err(fault) if as_errno(fault) == Some(libc::EACCES) && only.is_empty() => {
                    only = pair("prefix", Some(prefix));
                    continue;
                }
                other => other?,
            };
            let mut new = 0;
            for upload in page.entries("Upload") {
                let (Some(key), Some(id)) = (key_of(&page, upload), upload.get("UploadId")) else { continue };
                new += u64::from(newest.is_new(&key, id));
                if scope.has(&self.target, prefix, &key) {
                    self.abort(client, &key, id).await?;
                    pulse::beat();
                    aborted += 1;
                }
            }
            let next = is_true(&page, "IsTruncated").then(|| {
                let key = pair("key-marker", page.text("NextKeyMarker"));
                key + &pair("upload-id-marker", page.text("NextUploadIdMarker"))
            });
            let Some(next) = pages.turn(new, next)? else { return Ok(aborted) };
            after = next;
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

    /// Removes the job's objects and uploads; what was removed, in words.
    pub(crate) fn remove_all(&self, scope: &Scope) -> Result<Vec<String>, SetupError> {
        let client = self.reach.client();
        block_on(async {
            let error = |fault: Fault| self.error("remove", self.root_path(), fault);
            match self.whose(&client).await.map_err(error)? {
                Whose::Nobodys => return Ok(Vec::new()),
                Whose::Foreign if !self.target.destroy => {
                    return Err(SetupError::new("remove", self.bucket_path(), "was not made by Assay: left alone"));
                }
                Whose::Ours | Whose::Assays | Whose::Foreign => {}
            }
            let versions = self.has_versions(&client).await.map_err(error)?;
            let mut removed = Vec::new();
            for prefix in &scope.prefixes {
                let (path, mut seen) = (format!("{}/{prefix}", self.bucket_path()), Seen::default());
                let error = |trouble: Trouble| self.error("remove", path.clone(), trouble);
                let aborted = self.abort_below(&client, scope, prefix).await.map_err(error)?;
                self.remove_below(&client, scope, (prefix, versions), &mut seen).await.map_err(error)?;
                self.refuse_others(&path, &seen)?;
                if aborted + seen.removed > 0 {
                    removed.push(path);
                }
            }
            Ok(removed)
        })?
    }

    /// An error if keys were listed that are not the job's; none of them was touched.
    fn refuse_others(&self, path: &str, seen: &Seen) -> Result<(), SetupError> {
        let example = self.reach.shown(&seen.example).unwrap_or_else(|| "one that is not shown".to_owned());
        let words = if seen.outside > 0 {
            let many = seen.outside;
            format!("the service listed {many} keys that do not begin so, such as {example}: none of them was touched")
        } else if seen.strange > 0 {
            format!("{} keys there are none that a job gives, such as {example}: they are left alone", seen.strange)
        } else {
            return Ok(());
        };
        Err(SetupError::new("remove", path, words))
    }

    /// What is in the bucket besides its mark; none if nothing is.
    async fn something_else(&self, client: &Client, things: &[Thing]) -> Result<Option<String>, Fault> {
        if let Some(thing) = things.iter().find(|thing| thing.key != MARK) {
            return Ok(Some(thing.key.clone()));
        }
        match self.document(client, "uploads=".to_owned(), "ListMultipartUploadsResult").await {
            Ok(page) => Ok(page.entries("Upload").next().and_then(|upload| key_of(&page, upload))),
            Err(fault) if fault_name(fault) == Some("NotImplemented") => Ok(None),
            Err(fault) => Err(fault),
        }
    }

    /// Removes the bucket if this run has made it and nothing but its mark is in it.
    fn remove_bucket(&self) -> Result<PlaceAnswer, SetupError> {
        let client = self.reach.client();
        block_on(async {
            let path = self.bucket_path();
            let error = |fault| self.error("remove", path.clone(), fault);
            let left = |key: Option<String>| {
                let key = key
                    .and_then(|key| self.reach.shown(&key))
                    .map_or_else(String::new, |key| format!(", such as {key}"));
                let why = format!("stays, as something else is in it{key}");
                PlaceAnswer { left: vec![Remains { path: path.clone(), why }], ..PlaceAnswer::default() }
            };
            if self.whose(&client).await.map_err(error)? != Whose::Ours {
                return Ok(PlaceAnswer::default());
            }
            let versions = self.has_versions(&client).await.map_err(error)?;
            let (things, more) = self.page(&client, ("", versions), "").await.map_err(error)?;
            let other = self.something_else(&client, &things).await.map_err(error)?;
            // A list that does not even name the mark says nothing.
            if more.is_some() || other.is_some() || things.is_empty() {
                return Ok(left(other));
            }
            self.remove(&client, &things).await.map_err(error)?;
            match self.ask(&client, Call::new(Method::DELETE, ""), b"").await.and_then(well) {
                Ok(_) => Ok(PlaceAnswer { removed: vec![path.clone()], ..PlaceAnswer::default() }),
                Err(fault) if as_errno(fault) == Some(libc::ENOENT) => Ok(PlaceAnswer::default()),
                // Another run has begun to use it: it needs the mark again.
                Err(fault) if fault_name(fault) == Some("BucketNotEmpty") => {
                    self.mark(&client).await.map_err(error)?;
                    Ok(left(None))
                }
                Err(fault) => Err(error(fault)),
            }
        })?
    }

    /// Removes what killed jobs have left: the job's objects, or the bucket.
    pub(crate) fn clean(&self, whole: bool) -> Result<PlaceAnswer, SetupError> {
        if self.target.existing.is_some() {
            return Ok(PlaceAnswer::default());
        }
        if whole {
            return self.remove_bucket();
        }
        let scope = Scope { prefixes: vec![keys::folder(&self.target)], lanes: None, most: None };
        Ok(PlaceAnswer { removed: self.remove_all(&scope)?, ..PlaceAnswer::default() })
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
