//! Removal of what jobs have made: objects, all their versions, and uploads; the bucket, if Assay has made it and
//! nothing else is in it.

use super::answers::{document, errors_of, success};
use super::bucket::Ownership;
use super::keys::{self, COPY_LETTER, MARK, USE_LETTER};
use super::place::Place;
use super::request::{encoded, Call, LABEL_HEADER};
use super::xml::{self, Document, Texts};
use crate::checksum::{encoded as encoded_checksum, RunningChecksum};
use crate::job_objects::JobObjects;
use crate::net::{block_on, Client};
use crate::pages::{Bounds, NewEntries, Pages, Trouble, MAX_PAGE_ENTRIES};
use assay_core::refusals::FOREIGN;
use assay_core::{as_errno, fault_name, heartbeat, Fault, SetupError, MALFORMED_ANSWER};
use assay_spec::{Checksum, PlaceAnswer, Remains};
use futures_util::stream::{FuturesUnordered, StreamExt};
use hyper::Method;
use percent_encoding::percent_decode_str;
use std::borrow::Cow;
use std::fmt::Write as _;
use std::ops::Range;
use std::sync::atomic::Ordering;
use std::time::Duration;

/// Requests of up to a thousand removals under way at the same time.
const MAX_BATCHES: usize = 8;

/// Removals of single objects under way at the same time.
const MAX_SINGLE: usize = 16;

/// Most objects that one request removes (DeleteObjects).
const BATCH_OBJECTS: usize = 1000;
/// How often the removal is repeated until nothing is listed.
const PASSES: u32 = 4;
/// Base of the pause after each pass but the first; it doubles with each pass.
const PAUSE: Duration = Duration::from_millis(if cfg!(test) { 1 } else { 50 });

/// An object, or one of its versions, as a list names it.
#[derive(Debug, Clone, PartialEq, Eq)]
struct ListedObject {
    key: String,
    version: Option<String>,
    /// It has contents: it is not a delete marker.
    has_contents: bool,
}

/// Which objects of this job are removed.
#[derive(Debug, Clone)]
pub(crate) struct Scope {
    /// Prefixes of their keys.
    pub(crate) prefixes: Vec<String>,
    /// Their lanes; none: all lanes of the job.
    pub(crate) lanes: Option<Range<u32>>,
    /// How many objects and versions there can be; none: unknown.
    pub(crate) max_count: Option<u64>,
}

/// What was found while removing.
#[derive(Debug, Default)]
struct SweepCounts {
    removed: u64,
    /// Listed keys without the requested prefix.
    outside: u64,
    /// Listed keys with the prefix that the job does not give.
    unknown: u64,
    example: String,
}

impl SweepCounts {
    fn note(&mut self, has_prefix: bool, key: &str) {
        let count = if has_prefix { &mut self.unknown } else { &mut self.outside };
        *count += 1;
        if self.example.is_empty() {
            key.clone_into(&mut self.example);
        }
    }
}

pub(crate) fn is_true(document: &Document, name: &str) -> bool {
    document.text(name) == Some("true")
}

pub(crate) fn query_pair(name: &str, value: Option<&str>) -> String {
    value.map_or_else(String::new, |value| format!("&{name}={}", encoded(value)))
}

/// Whether the service does not know a request.
fn is_unsupported(fault: Fault) -> bool {
    matches!(fault_name(fault), Some("NotImplemented" | "Not Implemented" | "MethodNotAllowed" | "Method Not Allowed"))
}

/// The key of an entry, decoded if this page is encoded.
pub(crate) fn key_of(page: &Document, texts: &Texts) -> Option<String> {
    let key = texts.get("Key")?;
    if page.text("EncodingType") != Some("url") {
        return Some(key.clone());
    }
    percent_decode_str(key).decode_utf8().ok().map(Cow::into_owned)
}

impl Scope {
    /// Whether an object is in the scope: a list finds keys, but what the job can have made decides.
    pub(crate) fn has(&self, place: &Place, prefix: &str, key: &str) -> bool {
        let Some((letter, lane, number)) = keys::owner(&place.target, key).filter(|_| key.starts_with(prefix)) else {
            return false;
        };
        let Some(made) = &place.job_objects else { return false };
        let lanes = self.lanes.clone().unwrap_or_else(|| made.lanes());
        let can_be = if letter == USE_LETTER { place.target.run.is_none() } else { made.has(lane, number) };
        can_be && lanes.contains(&lane) && (letter != COPY_LETTER || made.copies())
    }

    fn bounds(&self) -> Bounds {
        Bounds::of_removal(self.max_count)
    }
}

impl Place {
    pub(crate) async fn document(&self, client: &Client, query: String, root: &str) -> Result<Document, Fault> {
        let answer = success(self.send(client, Call::new(Method::GET, "").query(query), b"").await?)?;
        document(&answer, root)
    }

    /// Whether the bucket keeps versions, or has kept some.
    pub(crate) async fn has_versions(&self, client: &Client) -> Result<bool, Fault> {
        match self.document(client, "versioning=".to_owned(), "VersioningConfiguration").await {
            Ok(document) => Ok(document.text("Status").is_some()),
            // A service without versions may not know the request.
            Err(fault) if matches!(fault_name(fault), Some("NotImplemented" | "MethodNotAllowed")) => Ok(false),
            Err(fault) if matches!(as_errno(fault), Some(libc::ENOENT | libc::EACCES)) => Ok(false),
            Err(fault) => Err(fault),
        }
    }

    /// One page of what is listed below a prefix, and the query of the next page.
    async fn page(
        &self,
        client: &Client,
        (prefix, versions): (&str, bool),
        after: &str,
    ) -> Result<(Vec<ListedObject>, Option<String>), Fault> {
        let prefix = encoded(prefix);
        let query = if versions { "versions=" } else { "list-type=2" };
        let root = if versions { "ListVersionsResult" } else { "ListBucketResult" };
        let page = self.document(client, format!("{query}&prefix={prefix}{after}"), root).await?;
        let names: &[&str] = if versions { &["Version", "DeleteMarker"] } else { &["Contents"] };
        let entries = names.iter().flat_map(|name| page.entries(name).map(move |texts| (*name, texts)));
        let objects = entries.filter_map(|(name, texts)| {
            let version = texts.get("VersionId").filter(|_| versions).cloned();
            Some(ListedObject { key: key_of(&page, texts)?, version, has_contents: name != "DeleteMarker" })
        });
        let objects: Vec<ListedObject> = objects.collect();
        if objects.len() > MAX_PAGE_ENTRIES {
            return Err(MALFORMED_ANSWER);
        }
        let next = is_true(&page, "IsTruncated").then(|| {
            if versions {
                let key = query_pair("key-marker", page.text("NextKeyMarker"));
                return key + &query_pair("version-id-marker", page.text("NextVersionIdMarker"));
            }
            query_pair("continuation-token", page.text("NextContinuationToken"))
        });
        Ok((objects, next))
    }

    /// Removes objects known to be the job's, or the mark; one by one where the service cannot remove several with one
    /// request.
    async fn remove(&self, client: &Client, objects: &[ListedObject]) -> Result<(), Fault> {
        if !self.removes_one_by_one.load(Ordering::Relaxed) {
            match self.remove_in_one_request(client, objects).await {
                Err(fault) if is_unsupported(fault) => self.removes_one_by_one.store(true, Ordering::Relaxed),
                other => return other,
            }
        }
        let mut removed = futures_util::stream::iter(objects)
            .map(|object| async move {
                let version = object.version.as_deref();
                let query = version.map_or_else(String::new, |version| format!("versionId={}", encoded(version)));
                let call = Call::new(Method::DELETE, object.key.as_str()).query(query);
                self.send(client, call, b"").await.and_then(success)
            })
            .buffer_unordered(MAX_SINGLE);
        while let Some(answer) = removed.next().await {
            heartbeat::beat();
            match answer {
                Err(fault) if as_errno(fault) != Some(libc::ENOENT) => return Err(fault),
                _ => {}
            }
        }
        Ok(())
    }

    async fn remove_in_one_request(&self, client: &Client, objects: &[ListedObject]) -> Result<(), Fault> {
        let keys = objects.iter().map(|object| (object.key.as_str(), object.version.as_deref()));
        let body = delete_body(keys);
        let call = delete_call(&body);
        let answer = success(self.send(client, call, body.as_bytes()).await?)?;
        errors_of(&document(&answer, "DeleteResult")?)
    }

    /// Removes the job's objects that are listed below a prefix, and returns how many objects or versions those were.
    /// The mark that the job is at work is removed last.
    async fn sweep(
        &self,
        client: &Client,
        scope: &Scope,
        (prefix, versions): (&str, bool),
        counts: &mut SweepCounts,
    ) -> Result<u64, Trouble> {
        let (mut found, mut after, mut last) = (0, String::new(), Vec::new());
        let (mut pages, mut new_entries) = (Pages::new(scope.bounds()), NewEntries::default());
        let mut under_way = FuturesUnordered::new();
        loop {
            let (objects, next) = self.page(client, (prefix, versions), &after).await?;
            let (mut ours, mut new) = (Vec::new(), 0);
            for object in objects {
                if !scope.has(self, prefix, &object.key) {
                    counts.note(object.key.starts_with(prefix), &object.key);
                    continue;
                }
                new += u64::from(new_entries.is_new(&object.key, object.version.as_deref().unwrap_or_default()));
                let sign = keys::owner(&self.target, &object.key).is_some_and(|(letter, ..)| letter == USE_LETTER);
                if sign && last.len() < BATCH_OBJECTS { &mut last } else { &mut ours }.push(object);
            }
            if versions {
                self.retain_own(client, &mut ours, counts).await?;
            }
            found += ours.len() as u64;
            for some in ours.chunks(BATCH_OBJECTS) {
                let some = some.to_vec();
                under_way.push(async move { self.remove(client, &some).await });
            }
            let next = pages.next_page(new, next)?;
            while under_way.len() >= MAX_BATCHES || (next.is_none() && !under_way.is_empty()) {
                under_way.next().await.unwrap_or(Ok(()))?;
                heartbeat::beat();
            }
            let Some(next) = next else { break };
            after = next;
        }
        if !last.is_empty() {
            self.remove(client, &last).await?;
        }
        Ok(found + last.len() as u64)
    }

    /// Of full versions, keeps only those with the job's label: others may have put versions under the same key.
    async fn retain_own(
        &self,
        client: &Client,
        objects: &mut Vec<ListedObject>,
        counts: &mut SweepCounts,
    ) -> Result<(), Fault> {
        let answers = std::mem::take(objects).into_iter().map(|object| async move {
            let own = match &object.version {
                Some(version) if object.has_contents => {
                    let call =
                        Call::new(Method::HEAD, object.key.as_str()).query(format!("versionId={}", encoded(version)));
                    let answer = self.send(client, call, b"").await?;
                    heartbeat::beat();
                    answer.is_success() && answer.header(LABEL_HEADER) == Some(self.version_label())
                }
                _ => true,
            };
            Ok::<_, Fault>((object, own))
        });
        let mut answers = futures_util::stream::iter(answers).buffer_unordered(MAX_SINGLE);
        while let Some(answer) = answers.next().await {
            let (object, own) = answer?;
            if own {
                objects.push(object);
            } else {
                counts.note(true, &object.key);
            }
        }
        Ok(())
    }

    /// Removes the job's objects below a prefix, and checks that they are gone.
    async fn remove_below(
        &self,
        client: &Client,
        scope: &Scope,
        (prefix, versions): (&str, bool),
        counts: &mut SweepCounts,
    ) -> Result<(), Trouble> {
        let mut left = 0;
        for pass in 0..PASSES {
            let mut pass_counts = SweepCounts::default();
            left = self.sweep(client, scope, (prefix, versions), &mut pass_counts).await?;
            if pass == 0 {
                pass_counts.removed = left;
                counts.removed += pass_counts.removed;
                counts.outside += pass_counts.outside;
                counts.unknown += pass_counts.unknown;
                counts.example = std::mem::take(&mut counts.example) + &pass_counts.example;
            }
            if left == 0 {
                return Ok(());
            }
            if pass > 0 {
                tokio::time::sleep(PAUSE * (1 << pass)).await;
            }
        }
        Err(Trouble::Message(format!(
            "{left} objects are still listed after the service has said that they are removed"
        )))
    }

    /// Removes the job's objects and uploads. Returns what was removed, and what is left because it is not known to be
    /// the job's.
    pub(crate) fn remove_all(&self, scope: &Scope) -> Result<PlaceAnswer, SetupError> {
        let client = self.access.client();
        block_on(async {
            let error = |fault: Fault| self.error("remove", self.root_path(), fault);
            match self.ownership(&client).await.map_err(error)? {
                Ownership::Missing => return Ok(PlaceAnswer::default()),
                Ownership::Foreign if !self.target.destroy => {
                    return Err(SetupError::new("remove", self.bucket_path(), FOREIGN));
                }
                Ownership::Ours | Ownership::OtherRun | Ownership::Foreign => {}
            }
            let mut answer = PlaceAnswer::default();
            let path = |prefix: &str| format!("{}/{prefix}", self.bucket_path());
            let (open_uploads, whole) = (self.open_uploads(), path(&keys::job_prefix(&self.target)));
            if !open_uploads.is_empty() || self.job_objects.as_ref().is_some_and(JobObjects::has_parts) {
                let aborted = self.abort_uploads(&client, &open_uploads, Some(scope)).await;
                let aborted = aborted.map_err(|trouble| self.error("remove", whole.clone(), trouble))?;
                let why = self.other_uploads(&aborted);
                answer.left.extend(why.map(|why| Remains { path: whole.clone(), why }));
                answer.removed.extend((aborted.count > 0).then(|| whole.clone()));
            }
            let versions = self.has_versions(&client).await.map_err(error)?;
            let mut counts = SweepCounts::default();
            for prefix in &scope.prefixes {
                let (path, before) = (path(prefix), counts.removed);
                let removed = self.remove_below(&client, scope, (prefix, versions), &mut counts).await;
                removed.map_err(|trouble: Trouble| self.error("remove", path.clone(), trouble))?;
                if counts.removed > before && !answer.removed.contains(&path) {
                    answer.removed.push(path);
                }
            }
            self.refuse_others(&whole, &counts)?;
            Ok(answer)
        })?
    }

    /// An error if keys were listed that are not the job's; none of them was touched.
    fn refuse_others(&self, path: &str, counts: &SweepCounts) -> Result<(), SetupError> {
        let example = self.access.shown(&counts.example).unwrap_or_else(|| "one that is not shown".to_owned());
        let message = if counts.outside > 0 {
            let many = counts.outside;
            format!("the service listed {many} keys that do not begin so, such as {example}: none of them was touched")
        } else if counts.unknown > 0 && self.job_objects.is_none() {
            let many = counts.unknown;
            format!("{many} objects are there, such as {example}: they are removed if the job is given, not only its target")
        } else if counts.unknown > 0 {
            format!("left alone, as this job gives no such names: keys ({}), such as {example}", counts.unknown)
        } else {
            return Ok(());
        };
        Err(SetupError::new("remove", path, message))
    }

    /// The key of an object or upload in the bucket other than the mark; none if there is no other.
    async fn other_key(&self, client: &Client, objects: &[ListedObject]) -> Result<Option<String>, Fault> {
        if let Some(object) = objects.iter().find(|object| object.key != MARK) {
            return Ok(Some(object.key.clone()));
        }
        match self.document(client, "uploads=".to_owned(), "ListMultipartUploadsResult").await {
            Ok(page) => Ok(page.entries("Upload").next().and_then(|upload| key_of(&page, upload))),
            Err(fault) if fault_name(fault) == Some("NotImplemented") => Ok(None),
            Err(fault) => Err(fault),
        }
    }

    /// Removes the bucket if this run has made it and only its mark is in it.
    fn remove_bucket(&self) -> Result<PlaceAnswer, SetupError> {
        let client = self.access.client();
        block_on(async {
            let path = self.bucket_path();
            let error = |fault| self.error("remove", path.clone(), fault);
            let left = |key: Option<String>| {
                let key = key
                    .and_then(|key| self.access.shown(&key))
                    .map_or_else(String::new, |key| format!(", such as {key}"));
                let why = format!("stays, as something else is in it{key}");
                PlaceAnswer { left: vec![Remains { path: path.clone(), why }], ..PlaceAnswer::default() }
            };
            match self.ownership(&client).await.map_err(error)? {
                Ownership::Ours => {}
                Ownership::Missing => return Ok(PlaceAnswer::default()),
                Ownership::OtherRun | Ownership::Foreign => return self.remove_use_mark(&client).await.map_err(error),
            }
            let versions = self.has_versions(&client).await.map_err(error)?;
            let (objects, more) = self.page(&client, ("", versions), "").await.map_err(error)?;
            let other = self.other_key(&client, &objects).await.map_err(error)?;
            // A list without even the mark proves nothing.
            if more.is_some() || other.is_some() || objects.is_empty() {
                return Ok(left(other));
            }
            self.remove(&client, &objects).await.map_err(error)?;
            match self.send(&client, Call::new(Method::DELETE, ""), b"").await.and_then(success) {
                Ok(_) => Ok(PlaceAnswer { removed: vec![path.clone()], ..PlaceAnswer::default() }),
                Err(fault) if as_errno(fault) == Some(libc::ENOENT) => Ok(PlaceAnswer::default()),
                // Another run has begun to use it, and it needs the mark again.
                Err(fault) if fault_name(fault) == Some("BucketNotEmpty") => {
                    self.put_mark(&client).await.map_err(error)?;
                    Ok(left(None))
                }
                Err(fault) => Err(error(fault)),
            }
        })?
    }

    /// Removes this run's mark from a bucket that another run made, if this run has put one.
    async fn remove_use_mark(&self, client: &Client) -> Result<PlaceAnswer, Fault> {
        let key = keys::use_mark_key(&self.target, 0);
        if self.target.run.is_none() || !self.has_use_mark(client, &key).await? {
            return Ok(PlaceAnswer::default());
        }
        let objects = if self.has_versions(client).await? {
            let (mut objects, _) = self.page(client, (&key, true), "").await?;
            objects.retain(|object| object.key == key);
            objects
        } else {
            vec![ListedObject { key, version: None, has_contents: true }]
        };
        self.remove(client, &objects).await?;
        Ok(PlaceAnswer::default())
    }

    /// Removes what killed jobs have left: the job's objects, or with `whole` the bucket.
    pub(crate) fn clean(&self, whole: bool) -> Result<PlaceAnswer, SetupError> {
        if self.target.existing.is_some() {
            return Ok(PlaceAnswer::default());
        }
        if whole {
            return self.remove_bucket();
        }
        self.remove_all(&Scope { prefixes: vec![keys::job_prefix(&self.target)], lanes: None, max_count: None })
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

/// The call that removes what a list names; the protocol requires a checksum of the list.
pub(crate) fn delete_call(body: &str) -> Call {
    let sum = RunningChecksum::new(Checksum::Md5).map_or_else(String::new, |mut sum| {
        sum.add(body.as_bytes());
        encoded_checksum(&sum.bytes())
    });
    Call::new(Method::POST, "").query("delete=").header("content-md5", sum)
}
