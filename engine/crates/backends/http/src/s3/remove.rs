//! Removal of what jobs have made: objects, all their versions, uploads that were begun; the bucket, if Assay has made it
//! and nothing else is in it.

use super::answers::{document, errors_of, well};
use super::bucket::Whose;
use super::keys::{self, COPIES, MARK, USE};
use super::place::Place;
use super::request::{coded, Call, WORD};
use super::xml::{self, Document, Texts};
use crate::made::Made;
use crate::net::{block_on, Client};
use crate::pages::{Bounds, Newest, Pages, Trouble, MOST_ON_PAGE};
use crate::sum::{coded as coded_sum, Sum};
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

/// Lists of names whose objects are being removed at the same time.
const AT_ONCE: usize = 8;

/// Objects that are removed at the same time, each with a request of its own.
const SINGLE_AT_ONCE: usize = 16;

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
    /// It has contents: it is no sign that something was removed.
    full: bool,
}

/// Which objects of this job are removed.
#[derive(Debug, Clone)]
pub(crate) struct Scope {
    /// What their keys begin with.
    pub(crate) prefixes: Vec<String>,
    /// Lanes that they are of; none: all of the job.
    pub(crate) lanes: Option<Range<u32>>,
    /// How many objects and versions there can be; none: it is not known.
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

/// A service has no such request.
fn is_not_there(fault: Fault) -> bool {
    matches!(fault_name(fault), Some("NotImplemented" | "Not Implemented" | "MethodNotAllowed" | "Method Not Allowed"))
}

/// A key as it is, however the service writes it on this page.
pub(crate) fn key_of(page: &Document, texts: &Texts) -> Option<String> {
    let key = texts.get("Key")?;
    if page.text("EncodingType") != Some("url") {
        return Some(key.clone());
    }
    percent_decode_str(key).decode_utf8().ok().map(Cow::into_owned)
}

impl Scope {
    /// Whether an object is one of them: a list finds, what the job can have made decides.
    pub(crate) fn has(&self, place: &Place, prefix: &str, key: &str) -> bool {
        let Some((letter, lane, number)) = keys::owner(&place.target, key).filter(|_| key.starts_with(prefix)) else {
            return false;
        };
        let Some(made) = &place.made_by else { return false };
        let lanes = self.lanes.clone().unwrap_or_else(|| made.lanes());
        let can_be = if letter == USE { place.target.run.is_none() } else { made.has(lane, number) };
        can_be && lanes.contains(&lane) && (letter != COPIES || made.copies())
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
    pub(crate) async fn has_versions(&self, client: &Client) -> Result<bool, Fault> {
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
        let entries = names.iter().flat_map(|name| page.entries(name).map(move |texts| (*name, texts)));
        let things = entries.filter_map(|(name, texts)| {
            let version = texts.get("VersionId").filter(|_| versions).cloned();
            Some(Thing { key: key_of(&page, texts)?, version, full: name != "DeleteMarker" })
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

    /// Removes objects of which it is sure that they are the job's, or the mark; one by one where the service cannot remove
    /// several with one request.
    async fn remove(&self, client: &Client, things: &[Thing]) -> Result<(), Fault> {
        if !self.one_by_one.load(Ordering::Relaxed) {
            match self.remove_at_once(client, things).await {
                Err(fault) if is_not_there(fault) => self.one_by_one.store(true, Ordering::Relaxed),
                other => return other,
            }
        }
        let mut removed = futures_util::stream::iter(things)
            .map(|thing| async move {
                let version = thing.version.as_deref();
                let query = version.map_or_else(String::new, |version| format!("versionId={}", coded(version)));
                let call = Call::new(Method::DELETE, thing.key.as_str()).query(query);
                self.ask(client, call, b"").await.and_then(well)
            })
            .buffer_unordered(SINGLE_AT_ONCE);
        while let Some(answer) = removed.next().await {
            heartbeat::beat();
            match answer {
                Err(fault) if as_errno(fault) != Some(libc::ENOENT) => return Err(fault),
                _ => {}
            }
        }
        Ok(())
    }

    async fn remove_at_once(&self, client: &Client, things: &[Thing]) -> Result<(), Fault> {
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
                if !scope.has(self, prefix, &thing.key) {
                    seen.note(thing.key.starts_with(prefix), &thing.key);
                    continue;
                }
                new += u64::from(newest.is_new(&thing.key, thing.version.as_deref().unwrap_or_default()));
                let sign = keys::owner(&self.target, &thing.key).is_some_and(|(letter, ..)| letter == USE);
                if sign && last.len() < MOST_AT_ONCE { &mut last } else { &mut ours }.push(thing);
            }
            if versions {
                self.keep_own(client, &mut ours, seen).await?;
            }
            found += ours.len() as u64;
            for some in ours.chunks(MOST_AT_ONCE) {
                let some = some.to_vec();
                under_way.push(async move { self.remove(client, &some).await });
            }
            let next = pages.turn(new, next)?;
            while under_way.len() >= AT_ONCE || (next.is_none() && !under_way.is_empty()) {
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

    /// Keeps of versions those that say that they are the job's: somebody else may have put one with the same key.
    async fn keep_own(&self, client: &Client, things: &mut Vec<Thing>, seen: &mut Seen) -> Result<(), Fault> {
        let asked = std::mem::take(things).into_iter().map(|thing| async move {
            let own = match &thing.version {
                Some(version) if thing.full => {
                    let call =
                        Call::new(Method::HEAD, thing.key.as_str()).query(format!("versionId={}", coded(version)));
                    let answer = self.ask(client, call, b"").await?;
                    heartbeat::beat();
                    answer.is_success() && answer.header(WORD) == Some(self.word())
                }
                _ => true,
            };
            Ok::<_, Fault>((thing, own))
        });
        let mut asked = futures_util::stream::iter(asked).buffer_unordered(SINGLE_AT_ONCE);
        while let Some(answer) = asked.next().await {
            let (thing, own) = answer?;
            if own {
                things.push(thing);
            } else {
                seen.note(true, &thing.key);
            }
        }
        Ok(())
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

    /// Removes the job's objects and uploads: what was removed, and what is left that is not known to be the job's.
    pub(crate) fn remove_all(&self, scope: &Scope) -> Result<PlaceAnswer, SetupError> {
        let client = self.reach.client();
        block_on(async {
            let error = |fault: Fault| self.error("remove", self.root_path(), fault);
            match self.whose(&client).await.map_err(error)? {
                Whose::Nobodys => return Ok(PlaceAnswer::default()),
                Whose::Foreign if !self.target.destroy => {
                    return Err(SetupError::new("remove", self.bucket_path(), "was not made by Assay: left alone"));
                }
                Whose::Ours | Whose::Assays | Whose::Foreign => {}
            }
            let mut answer = PlaceAnswer::default();
            let path = |prefix: &str| format!("{}/{prefix}", self.bucket_path());
            let (begun, whole) = (self.uploads(), path(&keys::folder(&self.target)));
            if !begun.is_empty() || self.made_by.as_ref().is_some_and(Made::has_parts) {
                let aborted = self.abort_begun(&client, &begun, Some(scope)).await;
                let aborted = aborted.map_err(|trouble| self.error("remove", whole.clone(), trouble))?;
                let why = self.other_uploads(&aborted);
                answer.left.extend(why.map(|why| Remains { path: whole.clone(), why }));
                answer.removed.extend((aborted.count > 0).then(|| whole.clone()));
            }
            let versions = self.has_versions(&client).await.map_err(error)?;
            let mut seen = Seen::default();
            for prefix in &scope.prefixes {
                let (path, before) = (path(prefix), seen.removed);
                let removed = self.remove_below(&client, scope, (prefix, versions), &mut seen).await;
                removed.map_err(|trouble: Trouble| self.error("remove", path.clone(), trouble))?;
                if seen.removed > before && !answer.removed.contains(&path) {
                    answer.removed.push(path);
                }
            }
            self.refuse_others(&whole, &seen)?;
            Ok(answer)
        })?
    }

    /// An error if keys were listed that are not the job's; none of them was touched.
    fn refuse_others(&self, path: &str, seen: &Seen) -> Result<(), SetupError> {
        let example = self.reach.shown(&seen.example).unwrap_or_else(|| "one that is not shown".to_owned());
        let words = if seen.outside > 0 {
            let many = seen.outside;
            format!("the service listed {many} keys that do not begin so, such as {example}: none of them was touched")
        } else if seen.strange > 0 && self.made_by.is_none() {
            let many = seen.strange;
            format!("{many} objects are there, such as {example}: they are removed if the job is given, not only its target")
        } else if seen.strange > 0 {
            format!("left alone, as this job gives no such names: keys ({}), such as {example}", seen.strange)
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
            match self.whose(&client).await.map_err(error)? {
                Whose::Ours => {}
                Whose::Nobodys => return Ok(PlaceAnswer::default()),
                Whose::Assays | Whose::Foreign => return self.let_go(&client).await.map_err(error),
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

    /// Removes what says that this run works in a bucket that another has made, if this run has put it there.
    async fn let_go(&self, client: &Client) -> Result<PlaceAnswer, Fault> {
        let key = keys::of_use(&self.target, 0);
        if self.target.run.is_none() || !self.is_held(client, &key).await? {
            return Ok(PlaceAnswer::default());
        }
        let things = if self.has_versions(client).await? {
            let (mut things, _) = self.page(client, (&key, true), "").await?;
            things.retain(|thing| thing.key == key);
            things
        } else {
            vec![Thing { key, version: None, full: true }]
        };
        self.remove(client, &things).await?;
        Ok(PlaceAnswer::default())
    }

    /// Removes what killed jobs have left: the job's objects, or the bucket.
    pub(crate) fn clean(&self, whole: bool) -> Result<PlaceAnswer, SetupError> {
        if self.target.existing.is_some() {
            return Ok(PlaceAnswer::default());
        }
        if whole {
            return self.remove_bucket();
        }
        self.remove_all(&Scope { prefixes: vec![keys::folder(&self.target)], lanes: None, most: None })
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
