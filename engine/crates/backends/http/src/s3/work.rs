//! One operation on an object.

use super::answers::{document, errors_of, refusal, well, well_in_the_end};
use super::keys::{self, key, of_lane, LETTERS};
use super::lane::Shared;
use super::remove::{delete_body, delete_call};
use super::request::{coded, Call, WORD};
use super::uploads::Part;
use super::xml;
use crate::net::{Answer, Lent, Sent, Sink};
use crate::sign::Contents;
use crate::sum::{self as checksum, Sum};
use assay_core::{
    ExistingObject, Fault, Op, OpKind, CHECKSUM_MISMATCH, ETAG_MISMATCH, LIST_PAGE, MALFORMED_ANSWER, SIZE_CHANGED,
};
use assay_spec::{name_kinds, Checksum};
use bytes::Bytes;
use hyper::Method;
use std::cell::RefCell;
use std::sync::atomic::Ordering;
use std::sync::Arc;

/// Longest name of an upload: those of AWS have some hundred letters.
const MOST_ID: usize = 4096;

/// An operation and what it needs.
pub(super) struct Work<'a> {
    pub(super) shared: &'a Shared,
    pub(super) op: Op,
}

impl<'a> Work<'a> {
    pub(super) fn new(shared: &'a Shared, op: Op) -> Self {
        Work { shared, op }
    }

    /// Does it: one request, once.
    ///
    /// # Errors
    /// Why it failed.
    pub(super) async fn run(self) -> Result<u64, Fault> {
        // No phase of a job asks for more, and whatever does must not get it.
        let only_reads = self.shared.place.target.existing.is_some();
        if only_reads && !matches!(self.op.kind, OpKind::Get | OpKind::Head | OpKind::List) {
            return Err(Fault::os(libc::EROFS));
        }
        self.shared.place.note_made(self.shared.lane, &self.op);
        match self.op.kind {
            OpKind::Put => self.put().await,
            OpKind::Get => self.get().await,
            OpKind::Head => self.head().await,
            OpKind::Delete => self.simple(Call::new(Method::DELETE, self.key())).await.map(|_| 0),
            OpKind::List => self.list().await,
            OpKind::StartUpload => self.start_upload().await,
            OpKind::PutPart => self.put_part().await,
            OpKind::CompleteUpload => self.complete_upload().await,
            OpKind::Copy => self.copy().await,
            OpKind::MultiDelete => self.multi_delete().await,
            OpKind::See => self.see().await,
            // The service has made everything stable that it has answered.
            OpKind::Sync => Ok(0),
            OpKind::Read
            | OpKind::Write
            | OpKind::Update
            | OpKind::BatchPut
            | OpKind::BatchGet
            | OpKind::Query
            | OpKind::Scan
            | name_kinds!() => {
                debug_assert!(false, "a bucket has no files and no items");
                Err(Fault::os(libc::EINVAL))
            }
        }
    }

    /// The object, if it was there before.
    fn existing(&self) -> Option<&ExistingObject> {
        self.shared.existing.as_ref().and_then(|objects| objects.get(self.op.object as usize))
    }

    /// An object that was there before is as large as it was when it was listed.
    fn check_size(&self, found: Option<u64>) -> Result<(), Fault> {
        let listed = self.existing().map(|object| object.bytes);
        if listed.is_some() && found.is_some() && listed != found {
            return Err(SIZE_CHANGED);
        }
        Ok(())
    }

    pub(super) fn key(&self) -> String {
        if let Some(object) = self.existing() {
            return keys::coded(&object.name);
        }
        key(&self.shared.place.target, LETTERS[0], self.shared.lane, self.op.object)
    }

    /// Sends a request and takes its answer.
    async fn ask(&self, call: Call, sent: Sent, contents: Contents<'_>, sink: Sink) -> Result<Answer, Fault> {
        let lent = Lent::default();
        self.ask_with(call, (sent, &lent), contents, &sink).await
    }

    async fn ask_with(
        &self,
        call: Call,
        (sent, lent): (Sent, &Lent),
        contents: Contents<'_>,
        sink: &Sink,
    ) -> Result<Answer, Fault> {
        let target = &self.shared.place.target;
        let make = |endpoint: &_, signer: &_| call.request(target, endpoint, signer, (sent, &contents));
        self.shared.wires.ask(self.op.slot, make, sink, lent).await
    }

    /// A request without contents.
    async fn simple(&self, call: Call) -> Result<Answer, Fault> {
        well(self.ask(call, Sent::Nothing, Contents::Known(b""), Sink::Keep).await?)
    }

    /// The operation's contents fit into its slot, where they lie already.
    fn fits(&self) -> bool {
        self.op.length <= self.shared.buffers.length() as u64
    }

    /// The contents, ready to be sent.
    fn contents(&self, lent: &Lent) -> Result<Sent, Fault> {
        let (shared, op) = (self.shared, self.op);
        if self.fits() {
            return Ok(Sent::slot(&shared.buffers, op.slot, op.length as usize, lent));
        }
        let source = shared.source.as_ref().ok_or(Fault::os(libc::EINVAL))?;
        Ok(Sent::made((&shared.buffers, op.slot), source, (op.object, op.offset, op.length), lent))
    }

    /// The sum of the contents; none if none is wanted.
    fn sum(&self) -> Result<Option<Vec<u8>>, Fault> {
        let Some(mut sum) = Sum::new(self.shared.place.target.checksum) else { return Ok(None) };
        let (buffers, op) = (&self.shared.buffers, self.op);
        let (mut at, step) = (0, buffers.length() as u64);
        while at < op.length {
            let length = step.min(op.length - at) as usize;
            // SAFETY: the slot belongs to this operation, and nothing of it is lent yet.
            let piece = unsafe { buffers.slice(op.slot, length) };
            if !self.fits() {
                let source = self.shared.source.as_ref().ok_or(Fault::os(libc::EINVAL))?;
                source.fill(op.object, op.offset + at, piece);
            }
            sum.add(piece);
            at += length as u64;
        }
        Ok(Some(sum.bytes()))
    }

    /// Sends the contents; the answer, and their sum.
    async fn send(&self, call: Call) -> Result<(Answer, Option<Vec<u8>>), Fault> {
        let kind = self.shared.place.target.checksum;
        let sum = self.sum()?;
        let call = call.header(checksum::header(kind), sum.as_deref().map(checksum::coded).unwrap_or_default());
        let lent = Lent::default();
        let sent = self.contents(&lent)?;
        let answer = well(self.ask_with(call, (sent, &lent), Contents::Unsigned, &Sink::Keep).await?)?;
        let md5 = sum.as_deref().filter(|_| kind == Checksum::Md5);
        let etag = answer.header("etag").unwrap_or_default();
        if md5.is_some_and(|md5| checksum::etag_agrees(etag, md5) == Some(false)) {
            return Err(ETAG_MISMATCH);
        }
        Ok((answer, sum))
    }

    /// A call that makes an object.
    fn making(&self, method: Method) -> Call {
        let place = &self.shared.place;
        let word = if place.versions.load(Ordering::Relaxed) { place.word() } else { "" };
        let class = place.target.storage_class.clone().unwrap_or_default();
        Call::new(method, self.key()).header("x-amz-storage-class", class).header(WORD, word)
    }

    fn condition(&self) -> &'static str {
        if self.shared.place.target.if_none_match {
            "*"
        } else {
            ""
        }
    }

    async fn put(&self) -> Result<u64, Fault> {
        let (answer, _) = self.send(self.making(Method::PUT).header("if-none-match", self.condition())).await?;
        self.shared.looks.note_put(self.op.object, answer.header("etag"));
        Ok(self.op.length)
    }

    async fn get(&self) -> Result<u64, Fault> {
        let (shared, op) = (self.shared, self.op);
        let mut call = Call::new(Method::GET, self.key());
        let ranged = shared.ranged.get() && op.length > 0;
        let kind = if ranged { Checksum::None } else { shared.place.target.checksum };
        if ranged {
            call = call.header("range", format!("bytes={}-{}", op.offset, op.offset + op.length - 1));
        }
        if !checksum::algorithm(kind).is_empty() {
            call = call.header("x-amz-checksum-mode", "ENABLED");
        }
        let sink = match &shared.source {
            _ if !shared.needs_data.get() => Sink::Drop,
            _ if self.fits() => Sink::Slot(Arc::clone(&shared.buffers), op.slot),
            Some(source) => {
                Sink::Look { source: Arc::clone(source), slot: op.slot, object: op.object, offset: op.offset }
            }
            None => Sink::Drop,
        };
        let answer = self.ask_summing(call, sink, kind).await?;
        if !answer.0.is_success() {
            return Err(refusal(&answer.0));
        }
        // What is cut off is told by its length, if that tells it.
        if answer.0.cut && answer.0.bytes == op.length {
            return Err(Fault::os(libc::ECONNABORTED));
        }
        if !answer.0.cut {
            let whole = answer.0.header("content-range").and_then(|text| text.rsplit('/').next()?.parse().ok());
            self.check_size(if ranged { whole } else { Some(answer.0.bytes) })?;
        }
        // More than was asked for: whole objects for a range, or another object.
        if answer.0.bytes > op.length {
            return Err(MALFORMED_ANSWER);
        }
        if !answer.0.cut && !agrees(kind, &answer) {
            return Err(if kind == Checksum::Md5 { ETAG_MISMATCH } else { CHECKSUM_MISMATCH });
        }
        Ok(answer.0.bytes)
    }

    /// The answer, and the sum of what came.
    async fn ask_summing(&self, call: Call, sink: Sink, kind: Checksum) -> Result<(Answer, Option<Vec<u8>>), Fault> {
        let Some(sum) = Sum::new(kind) else {
            return self.ask(call, Sent::Nothing, Contents::Known(b""), sink).await.map(|answer| (answer, None));
        };
        let sink = Sink::Summing(Box::new(RefCell::new(sum)), Box::new(sink));
        let lent = Lent::default();
        let answer = self.ask_with(call, (Sent::Nothing, &lent), Contents::Known(b""), &sink).await?;
        let Sink::Summing(sum, _) = sink else { return Ok((answer, None)) };
        Ok((answer, Some(sum.into_inner().bytes())))
    }

    async fn head(&self) -> Result<u64, Fault> {
        let answer = self.simple(Call::new(Method::HEAD, self.key())).await?;
        let found = answer.header("content-length").and_then(|text| text.parse().ok()).ok_or(MALFORMED_ANSWER)?;
        self.check_size(Some(found))?;
        Ok(found)
    }

    /// One page of names; how many.
    async fn list(&self) -> Result<u64, Fault> {
        let shared = self.shared;
        let page = shared.listing.borrow().page(self.op.object as usize);
        let target = &shared.place.target;
        let own = || of_lane(target, LETTERS[0], shared.lane);
        let prefix = target.existing.as_ref().map_or_else(|| coded(&own()), |start| coded(start));
        let token = shared.listing.borrow().token(page).map(|token| format!("&continuation-token={}", coded(token)));
        let token = token.unwrap_or_default();
        let query = format!("list-type=2&max-keys={LIST_PAGE}&prefix={prefix}{token}");
        let answer = self.simple(Call::new(Method::GET, "").query(query)).await?;
        let (count, next) = xml::count(&answer.kept, "Contents", "NextContinuationToken").ok_or(MALFORMED_ANSWER)?;
        shared.listing.borrow_mut().note(page, next);
        shared.count_objects(count);
        Ok(count)
    }

    async fn start_upload(&self) -> Result<u64, Fault> {
        let kind = checksum::algorithm(self.shared.place.target.checksum);
        let call = self.making(Method::POST).query("uploads=").header("x-amz-checksum-algorithm", kind);
        let answer = self.simple(call).await?;
        let id = xml::text_of(&answer.kept, "UploadId").filter(|id| (1..=MOST_ID).contains(&id.len()));
        let id = id.ok_or(MALFORMED_ANSWER)?;
        self.shared.place.upload_begun(&self.key(), &id);
        self.shared.uploads.borrow_mut().begin(self.op.object, id);
        Ok(0)
    }

    async fn put_part(&self) -> Result<u64, Fault> {
        let (shared, op) = (self.shared, self.op);
        let id = shared.uploads.borrow().id(op.object)?;
        let number = op.offset / shared.part_bytes + 1;
        let query = format!("partNumber={number}&uploadId={}", coded(&id));
        let (answer, sum) = self.send(Call::new(Method::PUT, self.key()).query(query)).await?;
        let etag = answer.header("etag").ok_or(MALFORMED_ANSWER)?.to_owned();
        let kind = shared.place.target.checksum;
        let sum = sum.filter(|_| !element(kind).is_empty()).map(|sum| checksum::coded(&sum)).unwrap_or_default();
        shared.uploads.borrow_mut().note(op.object, number, Part { etag, sum: (element(kind), sum) });
        Ok(op.length)
    }

    async fn complete_upload(&self) -> Result<u64, Fault> {
        let (shared, op) = (self.shared, self.op);
        let (id, list) = {
            let uploads = shared.uploads.borrow();
            (uploads.id(op.object)?, uploads.list(op.object)?)
        };
        let call = Call::new(Method::POST, self.key())
            .query(format!("uploadId={}", coded(&id)))
            .header("if-none-match", self.condition());
        let sent = Sent::Bytes(Some(Bytes::from(list.clone())));
        let answer = self.ask(call, sent, Contents::Known(list.as_bytes()), Sink::Keep).await?;
        well_in_the_end(answer)?;
        shared.uploads.borrow_mut().end(op.object);
        shared.place.upload_over(&id);
        Ok(op.length)
    }

    async fn copy(&self) -> Result<u64, Fault> {
        let shared = self.shared;
        let target = &shared.place.target;
        let to = key(target, LETTERS[1], shared.lane, self.op.object);
        let call = Call::new(Method::PUT, to)
            .header("x-amz-storage-class", target.storage_class.clone().unwrap_or_default())
            .header("x-amz-copy-source", format!("/{}/{}", target.bucket, self.key()));
        let answer = self.ask(call, Sent::Nothing, Contents::Known(b""), Sink::Keep).await?;
        well_in_the_end(answer).map(|_| 0)
    }

    /// Removes several.
    async fn multi_delete(&self) -> Result<u64, Fault> {
        let (shared, op) = (self.shared, self.op);
        let target = &shared.place.target;
        let keys: Vec<String> = (op.object..op.object + u64::from(op.count))
            .map(|number| key(target, LETTERS[0], shared.lane, number))
            .collect();
        let body = delete_body(keys.iter().map(|key| (key.as_str(), None)));
        let sent = Sent::Bytes(Some(Bytes::from(body.clone())));
        let answer = self.ask(delete_call(&body), sent, Contents::Known(body.as_bytes()), Sink::Keep).await?;
        let answer = well(answer)?;
        let removed = document(&answer, "DeleteResult").and_then(|document| errors_of(&document));
        removed.inspect_err(|_| shared.wires.note_said(op.slot, &answer))?;
        shared.count_objects(u64::from(op.count));
        Ok(0)
    }
}

/// Whether the sum of what came is that of which the service speaks, if it does.
fn agrees(kind: Checksum, (answer, sum): &(Answer, Option<Vec<u8>>)) -> bool {
    let Some(sum) = sum else { return true };
    if kind == Checksum::Md5 {
        return answer.header("etag").and_then(|etag| checksum::etag_agrees(etag, sum)) != Some(false);
    }
    // Sums of parts are sums over sums, and end in how many: they say nothing of the whole.
    answer.header(checksum::header(kind)).is_none_or(|told| told.contains('-') || told == checksum::coded(sum))
}

/// Element of a part's sum in the list of parts; empty if there is none.
fn element(kind: Checksum) -> &'static str {
    match kind {
        Checksum::None | Checksum::Md5 => "",
        Checksum::Crc32 => "ChecksumCRC32",
        Checksum::Crc32c => "ChecksumCRC32C",
        Checksum::Crc64nvme => "ChecksumCRC64NVME",
        Checksum::Sha256 => "ChecksumSHA256",
    }
}
