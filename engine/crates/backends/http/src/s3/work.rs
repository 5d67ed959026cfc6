//! One operation on an object.

use super::answers::{document, errors_of, refusal, success, success_by_body};
use super::keys::{self, key, lane_prefix, LETTERS};
use super::lane::Shared;
use super::remove::{delete_body, delete_call};
use super::request::{encoded, Call, LABEL_HEADER};
use super::uploads::Part;
use super::xml;
use crate::checksum::{self, RunningChecksum};
use crate::net::{Answer, LentPieces, RequestBody, Sink};
use crate::sign::Payload;
use assay_core::{
    ExistingObject, Fault, Op, OpKind, CHECKSUM_MISMATCH, ETAG_MISMATCH, LIST_PAGE, MALFORMED_ANSWER, SIZE_CHANGED,
};
use assay_spec::{name_kinds, program_kinds, Checksum};
use bytes::Bytes;
use hyper::Method;
use std::cell::RefCell;
use std::sync::atomic::Ordering;
use std::sync::Arc;

/// Longest id of an upload, in bytes; those of AWS have some hundred.
const MAX_UPLOAD_ID_BYTES: usize = 4096;

/// An operation with the lane's state.
pub(super) struct Work<'a> {
    pub(super) shared: &'a Shared,
    pub(super) op: Op,
}

impl<'a> Work<'a> {
    pub(super) fn new(shared: &'a Shared, op: Op) -> Self {
        Work { shared, op }
    }

    /// Executes the operation: one request, sent once.
    pub(super) async fn run(self) -> Result<u64, Fault> {
        // No phase of a job asks for more than reading, but a defect must not write either.
        let only_reads = self.shared.place.target.existing.is_some();
        if only_reads && !matches!(self.op.kind, OpKind::Get | OpKind::Head | OpKind::List) {
            return Err(Fault::os(libc::EROFS));
        }
        self.shared.place.note_made(self.shared.lane, &self.op);
        match self.op.kind {
            OpKind::Put => self.put().await,
            OpKind::Get => self.get().await,
            OpKind::Head => self.head().await,
            OpKind::Delete => self.send_empty(Call::new(Method::DELETE, self.key())).await.map(|_| 0),
            OpKind::List => self.list().await,
            OpKind::StartUpload => self.start_upload().await,
            OpKind::PutPart => self.put_part().await,
            OpKind::CompleteUpload => self.complete_upload().await,
            OpKind::Copy => self.copy().await,
            OpKind::MultiDelete => self.multi_delete().await,
            OpKind::See => self.see().await,
            // The service has stored whatever it has acknowledged.
            OpKind::Sync => Ok(0),
            OpKind::Read
            | OpKind::Write
            | OpKind::Update
            | OpKind::BatchPut
            | OpKind::BatchGet
            | OpKind::Query
            | OpKind::Scan
            | name_kinds!()
            | program_kinds!() => {
                debug_assert!(false, "a bucket has no files and no items");
                Err(Fault::os(libc::EINVAL))
            }
        }
    }

    /// The object, if it existed before the job.
    fn existing(&self) -> Option<&ExistingObject> {
        self.shared.existing.as_ref().and_then(|objects| objects.get(self.op.object as usize))
    }

    /// Checks that an object that existed before the job is as large as when it was listed.
    fn check_size(&self, found: Option<u64>) -> Result<(), Fault> {
        let listed = self.existing().map(|object| object.bytes);
        if listed.is_some() && found.is_some() && listed != found {
            return Err(SIZE_CHANGED);
        }
        Ok(())
    }

    pub(super) fn key(&self) -> String {
        if let Some(object) = self.existing() {
            return keys::encoded(&object.name);
        }
        key(&self.shared.place.target, LETTERS[0], self.shared.lane, self.op.object)
    }

    /// Sends a request and returns its answer.
    async fn send(&self, call: Call, sent: RequestBody, payload: Payload<'_>, sink: Sink) -> Result<Answer, Fault> {
        let lent = LentPieces::default();
        self.send_with(call, (sent, &lent), payload, &sink).await
    }

    async fn send_with(
        &self,
        call: Call,
        (sent, lent): (RequestBody, &LentPieces),
        payload: Payload<'_>,
        sink: &Sink,
    ) -> Result<Answer, Fault> {
        let target = &self.shared.place.target;
        let make = |endpoint: &_, signer: &_| call.request(target, endpoint, signer, (sent, &payload));
        self.shared.client.send(self.op.slot, make, sink, lent).await
    }

    /// Sends a request without contents.
    async fn send_empty(&self, call: Call) -> Result<Answer, Fault> {
        success(self.send(call, RequestBody::Nothing, Payload::Signed(b""), Sink::Keep).await?)
    }

    /// Whether the operation's contents fit into its slot, where they are already.
    fn fits(&self) -> bool {
        self.op.length <= self.shared.buffers.length() as u64
    }

    /// The body with the contents.
    fn request_body(&self, lent: &LentPieces) -> Result<RequestBody, Fault> {
        let (shared, op) = (self.shared, self.op);
        if self.fits() {
            return Ok(RequestBody::slot(&shared.buffers, op.slot, op.length as usize, lent));
        }
        let source = shared.source.as_ref().ok_or(Fault::os(libc::EINVAL))?;
        Ok(RequestBody::generated((&shared.buffers, op.slot), source, (op.object, op.offset, op.length), lent))
    }

    /// The checksum of the contents; none if the target wants none.
    fn contents_checksum(&self) -> Result<Option<Vec<u8>>, Fault> {
        let Some(mut sum) = RunningChecksum::new(self.shared.place.target.checksum) else { return Ok(None) };
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

    /// Sends the contents; returns the answer and their checksum.
    async fn send_contents(&self, call: Call) -> Result<(Answer, Option<Vec<u8>>), Fault> {
        let kind = self.shared.place.target.checksum;
        let sum = self.contents_checksum()?;
        let call = call.header(checksum::header(kind), sum.as_deref().map(checksum::encoded).unwrap_or_default());
        let lent = LentPieces::default();
        let sent = self.request_body(&lent)?;
        let answer = success(self.send_with(call, (sent, &lent), Payload::Unsigned, &Sink::Keep).await?)?;
        let md5 = sum.as_deref().filter(|_| kind == Checksum::Md5);
        let etag = answer.header("etag").unwrap_or_default();
        if md5.is_some_and(|md5| checksum::etag_agrees(etag, md5) == Some(false)) {
            return Err(ETAG_MISMATCH);
        }
        Ok((answer, sum))
    }

    /// A call that creates an object.
    fn creating_call(&self, method: Method) -> Call {
        let place = &self.shared.place;
        let label = if place.is_versioned.load(Ordering::Relaxed) { place.version_label() } else { "" };
        let class = place.target.storage_class.clone().unwrap_or_default();
        Call::new(method, self.key()).header("x-amz-storage-class", class).header(LABEL_HEADER, label)
    }

    fn if_none_match_value(&self) -> &'static str {
        if self.shared.place.target.if_none_match {
            "*"
        } else {
            ""
        }
    }

    async fn put(&self) -> Result<u64, Fault> {
        let (answer, _) = self
            .send_contents(self.creating_call(Method::PUT).header("if-none-match", self.if_none_match_value()))
            .await?;
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
        let answer = self.send_and_sum(call, sink, kind).await?;
        if !answer.0.is_success() {
            return Err(refusal(&answer.0));
        }
        // A short answer is reported by its length, unless it is cut off after just as many bytes.
        if answer.0.is_cut && answer.0.bytes == op.length {
            return Err(Fault::os(libc::ECONNABORTED));
        }
        if !answer.0.is_cut {
            let whole = answer.0.header("content-range").and_then(|text| text.rsplit('/').next()?.parse().ok());
            self.check_size(if ranged { whole } else { Some(answer.0.bytes) })?;
        }
        // More than was asked for: a whole object for a range, or another object.
        if answer.0.bytes > op.length {
            return Err(MALFORMED_ANSWER);
        }
        if !answer.0.is_cut && !checksum_matches(kind, &answer) {
            return Err(if kind == Checksum::Md5 { ETAG_MISMATCH } else { CHECKSUM_MISMATCH });
        }
        Ok(answer.0.bytes)
    }

    /// Sends a request; returns the answer and the checksum of what came.
    async fn send_and_sum(&self, call: Call, sink: Sink, kind: Checksum) -> Result<(Answer, Option<Vec<u8>>), Fault> {
        let Some(sum) = RunningChecksum::new(kind) else {
            return self
                .send(call, RequestBody::Nothing, Payload::Signed(b""), sink)
                .await
                .map(|answer| (answer, None));
        };
        let sink = Sink::Summing(Box::new(RefCell::new(sum)), Box::new(sink));
        let lent = LentPieces::default();
        let answer = self.send_with(call, (RequestBody::Nothing, &lent), Payload::Signed(b""), &sink).await?;
        let Sink::Summing(sum, _) = sink else { return Ok((answer, None)) };
        Ok((answer, Some(sum.into_inner().bytes())))
    }

    async fn head(&self) -> Result<u64, Fault> {
        let answer = self.send_empty(Call::new(Method::HEAD, self.key())).await?;
        let found = answer.header("content-length").and_then(|text| text.parse().ok()).ok_or(MALFORMED_ANSWER)?;
        self.check_size(Some(found))?;
        Ok(found)
    }

    /// Lists one page of names, and returns how many.
    async fn list(&self) -> Result<u64, Fault> {
        let shared = self.shared;
        let page = shared.listing.borrow().page(self.op.object as usize);
        let target = &shared.place.target;
        let own = || lane_prefix(target, LETTERS[0], shared.lane);
        let prefix = target.existing.as_ref().map_or_else(|| encoded(&own()), |start| encoded(start));
        let token = shared.listing.borrow().token(page).map(|token| format!("&continuation-token={}", encoded(token)));
        let token = token.unwrap_or_default();
        let query = format!("list-type=2&max-keys={LIST_PAGE}&prefix={prefix}{token}");
        let answer = self.send_empty(Call::new(Method::GET, "").query(query)).await?;
        let (count, next) = xml::count(&answer.body, "Contents", "NextContinuationToken").ok_or(MALFORMED_ANSWER)?;
        shared.listing.borrow_mut().note(page, next);
        shared.count_objects(count);
        Ok(count)
    }

    async fn start_upload(&self) -> Result<u64, Fault> {
        let kind = checksum::algorithm(self.shared.place.target.checksum);
        let call = self.creating_call(Method::POST).query("uploads=").header("x-amz-checksum-algorithm", kind);
        let answer = self.send_empty(call).await?;
        let id = xml::text_of(&answer.body, "UploadId").filter(|id| (1..=MAX_UPLOAD_ID_BYTES).contains(&id.len()));
        let id = id.ok_or(MALFORMED_ANSWER)?;
        self.shared.place.note_upload_begun(&self.key(), &id);
        self.shared.uploads.borrow_mut().begin(self.op.object, id);
        Ok(0)
    }

    async fn put_part(&self) -> Result<u64, Fault> {
        let (shared, op) = (self.shared, self.op);
        let id = shared.uploads.borrow().id(op.object)?;
        let number = op.offset / shared.part_bytes + 1;
        let query = format!("partNumber={number}&uploadId={}", encoded(&id));
        let (answer, sum) = self.send_contents(Call::new(Method::PUT, self.key()).query(query)).await?;
        let etag = answer.header("etag").ok_or(MALFORMED_ANSWER)?.to_owned();
        let kind = shared.place.target.checksum;
        let sum =
            sum.filter(|_| !checksum_element(kind).is_empty()).map(|sum| checksum::encoded(&sum)).unwrap_or_default();
        shared.uploads.borrow_mut().note(op.object, number, Part { etag, sum: (checksum_element(kind), sum) });
        Ok(op.length)
    }

    async fn complete_upload(&self) -> Result<u64, Fault> {
        let (shared, op) = (self.shared, self.op);
        let (id, list) = {
            let uploads = shared.uploads.borrow();
            (uploads.id(op.object)?, uploads.list(op.object)?)
        };
        let call = Call::new(Method::POST, self.key())
            .query(format!("uploadId={}", encoded(&id)))
            .header("if-none-match", self.if_none_match_value());
        let sent = RequestBody::Bytes(Some(Bytes::from(list.clone())));
        let answer = self.send(call, sent, Payload::Signed(list.as_bytes()), Sink::Keep).await?;
        success_by_body(answer)?;
        shared.uploads.borrow_mut().end(op.object);
        shared.place.note_upload_ended(&id);
        Ok(op.length)
    }

    async fn copy(&self) -> Result<u64, Fault> {
        let shared = self.shared;
        let target = &shared.place.target;
        let to = key(target, LETTERS[1], shared.lane, self.op.object);
        let call = Call::new(Method::PUT, to)
            .header("x-amz-storage-class", target.storage_class.clone().unwrap_or_default())
            .header("x-amz-copy-source", format!("/{}/{}", target.bucket, self.key()));
        let answer = self.send(call, RequestBody::Nothing, Payload::Signed(b""), Sink::Keep).await?;
        success_by_body(answer).map(|_| 0)
    }

    /// Removes several objects.
    async fn multi_delete(&self) -> Result<u64, Fault> {
        let (shared, op) = (self.shared, self.op);
        let target = &shared.place.target;
        let keys: Vec<String> = (op.object..op.object + u64::from(op.count))
            .map(|number| key(target, LETTERS[0], shared.lane, number))
            .collect();
        let body = delete_body(keys.iter().map(|key| (key.as_str(), None)));
        let sent = RequestBody::Bytes(Some(Bytes::from(body.clone())));
        let answer = self.send(delete_call(&body), sent, Payload::Signed(body.as_bytes()), Sink::Keep).await?;
        let answer = success(answer)?;
        let removed = document(&answer, "DeleteResult").and_then(|document| errors_of(&document));
        removed.inspect_err(|_| shared.client.note_message(op.slot, &answer))?;
        shared.count_objects(u64::from(op.count));
        Ok(0)
    }
}

/// Whether the checksum of what came is the service's, if the service sent one.
fn checksum_matches(kind: Checksum, (answer, sum): &(Answer, Option<Vec<u8>>)) -> bool {
    let Some(sum) = sum else { return true };
    if kind == Checksum::Md5 {
        return answer.header("etag").and_then(|etag| checksum::etag_agrees(etag, sum)) != Some(false);
    }
    // Checksums of objects in parts are checksums of checksums, with the number of parts at the end: they prove
    // nothing.
    answer.header(checksum::header(kind)).is_none_or(|theirs| theirs.contains('-') || theirs == checksum::encoded(sum))
}

/// XML element of a part's checksum in the list of parts; empty if there is none.
fn checksum_element(kind: Checksum) -> &'static str {
    match kind {
        Checksum::None | Checksum::Md5 => "",
        Checksum::Crc32 => "ChecksumCRC32",
        Checksum::Crc32c => "ChecksumCRC32C",
        Checksum::Crc64nvme => "ChecksumCRC64NVME",
        Checksum::Sha256 => "ChecksumSHA256",
    }
}
