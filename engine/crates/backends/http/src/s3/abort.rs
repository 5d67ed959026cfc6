//! Uploads in parts that are neither completed nor aborted. Only uploads that engines of the job have begun are
//! aborted: those known here, and those in the job's events. A list only shows which of them belong to others, and what
//! is left.

use super::answers::success;
use super::keys;
use super::place::Place;
use super::remove::{is_true, key_of, query_pair, Scope};
use super::request::{encoded, Call};
use crate::net::Client;
use crate::pages::{Bounds, NewEntries, Pages, Trouble};
use assay_core::{as_errno, creation_log, fault_name, heartbeat, Fault};
use assay_spec::{Event, LeftJob, Upload};
use hyper::Method;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::PoisonError;

/// Keys of uploads, by the service's upload id.
pub(crate) type OpenUploads = BTreeMap<String, String>;

/// What was done to uploads.
#[derive(Debug, Default)]
pub(crate) struct AbortSummary {
    pub(crate) count: u64,
    /// Uploads left alone, of keys that the job gives but not known to be begun by it: key and id of the first ones.
    pub(crate) others: Vec<(String, String)>,
    pub(crate) more: u64,
}

/// How many of them are named.
const MAX_NAMED: usize = 3;

impl Place {
    /// Notes that the service has begun an upload, and reports it before anything is sent to it.
    pub(crate) fn note_upload_begun(&self, key: &str, id: &str) {
        let mut open_uploads = self.open_uploads.lock().unwrap_or_else(PoisonError::into_inner);
        open_uploads.insert(id.to_owned(), key.to_owned());
        creation_log::record(&Event::Upload(Upload { key: key.to_owned(), id: id.to_owned(), open: true }));
    }

    /// Notes that an upload is completed or aborted, and reports it.
    pub(crate) fn note_upload_ended(&self, id: &str) {
        let key = self.open_uploads.lock().unwrap_or_else(PoisonError::into_inner).remove(id);
        if let Some(key) = key {
            creation_log::record(&Event::Upload(Upload { key, id: id.to_owned(), open: false }));
        }
    }

    /// Adds the uploads that engines of a job that is over have reported, as far as their keys are the job's.
    pub(crate) fn add_uploads_of(&self, left: &LeftJob) {
        let made = |key: &str| {
            let owner = keys::owner(&self.target, key).filter(|(letter, ..)| *letter == keys::LETTERS[0]);
            owner.zip(self.job_objects.as_ref()).is_some_and(|((_, lane, number), made)| made.has(lane, number))
        };
        let known = left.uploads.iter().filter(|upload| made(&upload.key));
        let known = known.map(|upload| (upload.id.clone(), upload.key.clone()));
        self.open_uploads.lock().unwrap_or_else(PoisonError::into_inner).extend(known);
    }

    /// Uploads of the job that are neither completed nor aborted.
    pub(crate) fn open_uploads(&self) -> OpenUploads {
        self.open_uploads.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Aborts uploads, except those that the service lists for another key: they belong to others, whatever the service
    /// said when they were begun. Other listed uploads with keys of the scope are reported and left alone.
    pub(crate) async fn abort_uploads(
        &self,
        client: &Client,
        open_uploads: &OpenUploads,
        scope: Option<&Scope>,
    ) -> Result<AbortSummary, Trouble> {
        let (mut aborted, mut foreign) = (AbortSummary::default(), BTreeSet::new());
        let listed = self.list_uploads(client, |key, id| match open_uploads.get(id) {
            Some(own) if own == key => {}
            Some(_) => drop(foreign.insert(id.to_owned())),
            None if scope.is_some_and(|scope| scope.has(self, &keys::job_prefix(&self.target), key)) => {
                if aborted.others.len() < MAX_NAMED {
                    aborted.others.push((key.to_owned(), id.to_owned()));
                } else {
                    aborted.more += 1;
                }
            }
            None => {}
        });
        let listed = listed.await;
        for (id, key) in open_uploads.iter().filter(|(id, _)| !foreign.contains(*id)) {
            self.abort(client, key, id).await?;
            heartbeat::beat();
            self.note_upload_ended(id);
            aborted.count += 1;
        }
        listed.map(|()| aborted)
    }

    /// Walks through the list of uploads.
    async fn list_uploads(&self, client: &Client, mut on_upload: impl FnMut(&str, &str)) -> Result<(), Trouble> {
        // The whole list, as some services take a prefix for the key of one object. Where listing all is refused, those
        // with the job's prefix.
        let (mut after, mut prefix_query) = (String::new(), String::new());
        let (mut pages, mut new_entries) = (Pages::new(Bounds::of_others()), NewEntries::default());
        loop {
            let page = match self
                .document(client, format!("uploads={prefix_query}{after}"), "ListMultipartUploadsResult")
                .await
            {
                Err(fault) if fault_name(fault) == Some("NotImplemented") => return Ok(()),
                Err(fault) if as_errno(fault) == Some(libc::EACCES) && prefix_query.is_empty() => {
                    prefix_query = query_pair("prefix", Some(&keys::job_prefix(&self.target)));
                    continue;
                }
                other => other?,
            };
            let mut new = 0;
            for upload in page.entries("Upload") {
                let (Some(key), Some(id)) = (key_of(&page, upload), upload.get("UploadId")) else { continue };
                new += u64::from(new_entries.is_new(&key, id));
                on_upload(&key, id);
            }
            let next = is_true(&page, "IsTruncated").then(|| {
                let key = query_pair("key-marker", page.text("NextKeyMarker"));
                key + &query_pair("upload-id-marker", page.text("NextUploadIdMarker"))
            });
            let Some(next) = pages.next_page(new, next)? else { return Ok(()) };
            after = next;
        }
    }

    /// Aborts one upload; that it does not exist is no error.
    async fn abort(&self, client: &Client, key: &str, id: &str) -> Result<(), Fault> {
        let call = Call::new(Method::DELETE, key).query(format!("uploadId={}", encoded(id)));
        match self.send(client, call, b"").await.and_then(success) {
            Err(fault) if as_errno(fault) != Some(libc::ENOENT) => Err(fault),
            _ => Ok(()),
        }
    }

    /// A message about uploads that are left alone; none if there are none.
    pub(crate) fn other_uploads(&self, aborted: &AbortSummary) -> Option<String> {
        let shown = aborted.others.iter().map(|(key, id)| {
            let id = self.access.shown(id).map_or_else(String::new, |id| format!(" ({id})"));
            self.access.shown(key).unwrap_or_else(|| "one that is not shown".to_owned()) + &id
        });
        let shown = shown.collect::<Vec<_>>().join(", ");
        let count = aborted.others.len() as u64 + aborted.more;
        let and = if aborted.more > 0 { format!(" and {} more", aborted.more) } else { String::new() };
        (count > 0).then(|| {
            format!("left alone, as this job is not known to have begun them: uploads ({count}): {shown}{and}")
        })
    }
}
