//! What another client sees of an object that has just been put, and when.

use super::answers::{document, refusal, well};
use super::request::{coded, Call};
use super::work::Work;
use crate::net::{Answer, Lent, Sent, Sink};
use crate::sign::Contents;
use assay_core::{clock, Fault};
use assay_spec::Operation;
use hyper::Method;
use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::time::Duration;

/// Between two looks this part of the time since the first passes, so that what takes long is not asked for all the time.
const PART_WAITED: u64 = 16;

/// What a lane's other client looks for in a phase, and what was counted.
#[derive(Debug, Default)]
pub(super) struct Looks {
    /// The phase looks for what it puts, by lists or else by fetching.
    lists: Cell<Option<bool>>,
    /// What the service called the contents that were put last; empty if it has not said.
    etags: RefCell<HashMap<u64, String>>,
    asked: Cell<u64>,
    stale: Cell<u64>,
}

impl Looks {
    /// A phase begins.
    pub(super) fn begin(&self, operation: Operation) {
        self.lists.set(operation.checks_visibility().then_some(operation == Operation::ListAfterPut));
        self.etags.borrow_mut().clear();
    }

    pub(super) fn is_wanted(&self) -> bool {
        self.lists.get().is_some()
    }

    /// An object has been put.
    pub(super) fn note_put(&self, object: u64, etag: Option<&str>) {
        if self.is_wanted() {
            self.etags.borrow_mut().insert(object, bare(etag.unwrap_or_default()));
        }
    }

    /// Looks since the last time, and those that did not see what was put.
    pub(super) fn take(&self) -> (u64, u64) {
        (self.asked.take(), self.stale.take())
    }
}

/// An ETag without its quotes, which some services leave out in lists.
fn bare(etag: &str) -> String {
    etag.trim_start_matches("W/").trim_matches('"').to_owned()
}

impl Work<'_> {
    /// Looks until what was put is seen. The time that the target gives each operation ends it.
    ///
    /// # Errors
    /// If the service refuses, or an answer is none.
    pub(super) async fn see(&self) -> Result<u64, Fault> {
        let looks = &self.shared.looks;
        let put = looks.etags.borrow_mut().remove(&self.op.object).unwrap_or_default();
        let begun = clock::now();
        loop {
            let found = if looks.lists.get() == Some(true) { self.listed().await } else { self.fetched().await };
            looks.asked.set(looks.asked.get() + 1);
            if found?.is_some_and(|etag| etag == put || etag.is_empty() || put.is_empty()) {
                return Ok(0);
            }
            looks.stale.set(looks.stale.get() + 1);
            let wait = clock::now().saturating_sub(begun) / PART_WAITED;
            tokio::time::sleep(Duration::from_nanos(wait)).await;
        }
    }

    /// Asks by the other client.
    async fn ask_other(&self, call: Call, sink: &Sink) -> Result<Answer, Fault> {
        let (target, lent) = (&self.shared.place.target, Lent::default());
        let make =
            |endpoint: &_, signer: &_| call.request(target, endpoint, signer, (Sent::Nothing, &Contents::Known(b"")));
        let answer = self.shared.other().ask(self.op.slot, make, sink, &lent).await?;
        if !answer.is_success() {
            self.shared.wires.note_said(self.op.slot, &answer);
        }
        Ok(answer)
    }

    /// What the service calls the contents that it brings; none if there is no such object.
    async fn fetched(&self) -> Result<Option<String>, Fault> {
        let answer = self.ask_other(Call::new(Method::GET, self.key()), &Sink::Drop).await?;
        let missing = answer.status == 404 && !answer.kept.windows(12).any(|word| word == b"NoSuchBucket");
        if missing {
            return Ok(None);
        }
        let answer = answer.well(refusal)?;
        Ok(Some(bare(answer.header("etag").unwrap_or_default())))
    }

    /// What a list of this key calls its contents; none if it is not listed.
    async fn listed(&self) -> Result<Option<String>, Fault> {
        let key = self.key();
        let query = format!("list-type=2&max-keys=1&prefix={}", coded(&key));
        let answer = well(self.ask_other(Call::new(Method::GET, "").query(query), &Sink::Keep).await?)?;
        let document = document(&answer, "ListBucketResult")?;
        let entry = document.entries("Contents").find(|entry| entry.get("Key").is_some_and(|found| *found == key));
        Ok(entry.map(|entry| bare(entry.get("ETag").map_or("", String::as_str))))
    }
}
