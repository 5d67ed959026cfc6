//! Looks for an object that has just been put, by a second client: how long until that client sees it.

use super::answers::{document, refusal, success};
use super::request::{encoded, Call};
use super::work::Work;
use crate::net::{Answer, LentPieces, RequestBody, Sink};
use crate::sign::Payload;
use assay_core::{clock, Fault};
use assay_spec::Operation;
use hyper::Method;
use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::time::Duration;

/// The pause before another look is this fraction of the time since the first, so that slow services are not flooded.
const WAIT_DIVISOR: u64 = 16;

/// What the second client of a lane looks for in a phase, and its counts.
#[derive(Debug, Default)]
pub(super) struct Looks {
    /// In phases that look for what they put: whether by lists, or by fetching.
    lists: Cell<Option<bool>>,
    /// ETags of the contents put last, by object; empty if the service sent none.
    etags: RefCell<HashMap<u64, String>>,
    count: Cell<u64>,
    stale_count: Cell<u64>,
}

impl Looks {
    /// Begins a phase.
    pub(super) fn begin(&self, operation: Operation) {
        self.lists.set(operation.checks_visibility().then_some(operation == Operation::ListAfterPut));
        self.etags.borrow_mut().clear();
    }

    pub(super) fn is_wanted(&self) -> bool {
        self.lists.get().is_some()
    }

    /// Notes that an object was put.
    pub(super) fn note_put(&self, object: u64, etag: Option<&str>) {
        if self.is_wanted() {
            self.etags.borrow_mut().insert(object, unquoted(etag.unwrap_or_default()));
        }
    }

    /// Looks since the last call, and how many of them did not see what was put.
    pub(super) fn take(&self) -> (u64, u64) {
        (self.count.take(), self.stale_count.take())
    }
}

/// An ETag without quotes, which some services leave out in lists.
fn unquoted(etag: &str) -> String {
    etag.trim_start_matches("W/").trim_matches('"').to_owned()
}

impl Work<'_> {
    /// Looks until what was put is seen, or the operation's timeout ends it.
    ///
    /// # Errors
    /// If the service refuses, or its answer is malformed.
    pub(super) async fn see(&self) -> Result<u64, Fault> {
        let looks = &self.shared.looks;
        let put = looks.etags.borrow_mut().remove(&self.op.object).unwrap_or_default();
        let begun = clock::now();
        loop {
            let found =
                if looks.lists.get() == Some(true) { self.listed_etag().await } else { self.fetched_etag().await };
            looks.count.set(looks.count.get() + 1);
            if found?.is_some_and(|etag| etag == put || etag.is_empty() || put.is_empty()) {
                return Ok(0);
            }
            looks.stale_count.set(looks.stale_count.get() + 1);
            let wait = clock::now().saturating_sub(begun) / WAIT_DIVISOR;
            tokio::time::sleep(Duration::from_nanos(wait)).await;
        }
    }

    /// Sends a request by the second client.
    async fn send_by_look_client(&self, call: Call, sink: &Sink) -> Result<Answer, Fault> {
        let (target, lent) = (&self.shared.place.target, LentPieces::default());
        let make = |endpoint: &_, signer: &_| {
            call.request(target, endpoint, signer, (RequestBody::Nothing, &Payload::Signed(b"")))
        };
        let answer = self.shared.look_client().send(self.op.slot, make, sink, &lent).await?;
        if !answer.is_success() {
            self.shared.client.note_message(self.op.slot, &answer);
        }
        Ok(answer)
    }

    /// The ETag of the fetched object; none if there is no such object.
    async fn fetched_etag(&self) -> Result<Option<String>, Fault> {
        let answer = self.send_by_look_client(Call::new(Method::GET, self.key()), &Sink::Drop).await?;
        let missing = answer.status == 404 && !answer.body.windows(12).any(|word| word == b"NoSuchBucket");
        if missing {
            return Ok(None);
        }
        let answer = answer.into_success(refusal)?;
        Ok(Some(unquoted(answer.header("etag").unwrap_or_default())))
    }

    /// The ETag that a list has for this key; none if it is not listed.
    async fn listed_etag(&self) -> Result<Option<String>, Fault> {
        let key = self.key();
        let query = format!("list-type=2&max-keys=1&prefix={}", encoded(&key));
        let answer = success(self.send_by_look_client(Call::new(Method::GET, "").query(query), &Sink::Keep).await?)?;
        let document = document(&answer, "ListBucketResult")?;
        let entry = document.entries("Contents").find(|entry| entry.get("Key").is_some_and(|found| *found == key));
        Ok(entry.map(|entry| unquoted(entry.get("ETag").map_or("", String::as_str))))
    }
}
