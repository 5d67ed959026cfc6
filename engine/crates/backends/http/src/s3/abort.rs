//! Uploads in parts that are neither completed nor aborted. Those go that engines of the job have begun, as they know
//! themselves or as their events have told; a list may only show that one is somebody else's, and what is left.

use super::answers::well;
use super::keys;
use super::place::Place;
use super::remove::{is_true, key_of, pair, Scope};
use super::request::{coded, Call};
use crate::net::Client;
use crate::pages::{Bounds, Newest, Pages, Trouble};
use assay_core::{as_errno, creation_log, fault_name, heartbeat, Fault};
use assay_spec::{Event, LeftJob, Upload};
use hyper::Method;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::PoisonError;

/// Uploads by what the service calls them: the key of each.
pub(crate) type Begun = BTreeMap<String, String>;

/// What came of uploads.
#[derive(Debug, Default)]
pub(crate) struct Aborted {
    pub(crate) count: u64,
    /// Others of the job's keys that it does not know to have begun: key and name of each of the first.
    pub(crate) others: Vec<(String, String)>,
    pub(crate) more: u64,
}

/// Others that are named.
const NAMED: usize = 3;

impl Place {
    /// The service has begun an upload; told before anything is sent to it.
    pub(crate) fn upload_begun(&self, key: &str, id: &str) {
        let mut begun = self.begun.lock().unwrap_or_else(PoisonError::into_inner);
        begun.insert(id.to_owned(), key.to_owned());
        creation_log::record(&Event::Upload(Upload { key: key.to_owned(), id: id.to_owned(), open: true }));
    }

    /// An upload is completed or aborted.
    pub(crate) fn upload_over(&self, id: &str) {
        let key = self.begun.lock().unwrap_or_else(PoisonError::into_inner).remove(id);
        if let Some(key) = key {
            creation_log::record(&Event::Upload(Upload { key, id: id.to_owned(), open: false }));
        }
    }

    /// Takes uploads that engines of a job that is over have told of; of keys that the job gives.
    pub(crate) fn know(&self, left: &LeftJob) {
        let made = |key: &str| {
            let owner = keys::owner(&self.target, key).filter(|(letter, ..)| *letter == keys::LETTERS[0]);
            owner.zip(self.made_by.as_ref()).is_some_and(|((_, lane, number), made)| made.has(lane, number))
        };
        let known = left.uploads.iter().filter(|upload| made(&upload.key));
        let known = known.map(|upload| (upload.id.clone(), upload.key.clone()));
        self.begun.lock().unwrap_or_else(PoisonError::into_inner).extend(known);
    }

    /// Uploads of the job that are neither completed nor aborted.
    pub(crate) fn uploads(&self) -> Begun {
        self.begun.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Aborts uploads, but those that the service lists for another key: they are somebody else's, whatever the service
    /// said when they were begun. What the list has besides, of the keys of a scope, is told and not touched.
    pub(crate) async fn abort_begun(
        &self,
        client: &Client,
        begun: &Begun,
        scope: Option<&Scope>,
    ) -> Result<Aborted, Trouble> {
        let (mut aborted, mut foreign) = (Aborted::default(), BTreeSet::new());
        let listed = self.list_uploads(client, |key, id| match begun.get(id) {
            Some(own) if own == key => {}
            Some(_) => drop(foreign.insert(id.to_owned())),
            None if scope.is_some_and(|scope| scope.has(self, &keys::folder(&self.target), key)) => {
                if aborted.others.len() < NAMED {
                    aborted.others.push((key.to_owned(), id.to_owned()));
                } else {
                    aborted.more += 1;
                }
            }
            None => {}
        });
        let listed = listed.await;
        for (id, key) in begun.iter().filter(|(id, _)| !foreign.contains(*id)) {
            self.abort(client, key, id).await?;
            heartbeat::beat();
            self.upload_over(id);
            aborted.count += 1;
        }
        listed.map(|()| aborted)
    }

    /// Goes through the list of uploads.
    async fn list_uploads(&self, client: &Client, mut see: impl FnMut(&str, &str)) -> Result<(), Trouble> {
        // All there are: to some services a prefix is the key of one object. Where that is refused, those below it.
        let (mut after, mut only) = (String::new(), String::new());
        let (mut pages, mut newest) = (Pages::new(Bounds::of_others()), Newest::default());
        loop {
            let page = match self.document(client, format!("uploads={only}{after}"), "ListMultipartUploadsResult").await
            {
                Err(fault) if fault_name(fault) == Some("NotImplemented") => return Ok(()),
                Err(fault) if as_errno(fault) == Some(libc::EACCES) && only.is_empty() => {
                    only = pair("prefix", Some(&keys::folder(&self.target)));
                    continue;
                }
                other => other?,
            };
            let mut new = 0;
            for upload in page.entries("Upload") {
                let (Some(key), Some(id)) = (key_of(&page, upload), upload.get("UploadId")) else { continue };
                new += u64::from(newest.is_new(&key, id));
                see(&key, id);
            }
            let next = is_true(&page, "IsTruncated").then(|| {
                let key = pair("key-marker", page.text("NextKeyMarker"));
                key + &pair("upload-id-marker", page.text("NextUploadIdMarker"))
            });
            let Some(next) = pages.turn(new, next)? else { return Ok(()) };
            after = next;
        }
    }

    /// Aborts one upload; one that is gone already is no error.
    async fn abort(&self, client: &Client, key: &str, id: &str) -> Result<(), Fault> {
        let call = Call::new(Method::DELETE, key).query(format!("uploadId={}", coded(id)));
        match self.ask(client, call, b"").await.and_then(well) {
            Err(fault) if as_errno(fault) != Some(libc::ENOENT) => Err(fault),
            _ => Ok(()),
        }
    }

    /// Uploads that are not touched, in words; none if there are none.
    pub(crate) fn other_uploads(&self, aborted: &Aborted) -> Option<String> {
        let shown = aborted.others.iter().map(|(key, id)| {
            let id = self.reach.shown(id).map_or_else(String::new, |id| format!(" ({id})"));
            self.reach.shown(key).unwrap_or_else(|| "one that is not shown".to_owned()) + &id
        });
        let shown = shown.collect::<Vec<_>>().join(", ");
        let count = aborted.others.len() as u64 + aborted.more;
        let and = if aborted.more > 0 { format!(" and {} more", aborted.more) } else { String::new() };
        (count > 0).then(|| {
            format!("left alone, as this job is not known to have begun them: uploads ({count}): {shown}{and}")
        })
    }
}
