//! One operation on items.

use super::answers::{parse, success, BatchGetAnswer, BatchWriteAnswer, GetAnswer, Item, PageAnswer, WriteAnswer};
use super::items::write_contents;
use super::keys;
use super::lane::Shared;
use super::request::{action, key, Call};
use crate::net::{Answer, LentPieces, Sink};
use assay_core::{Fault, Op, OpKind, ServiceUse, MALFORMED_TABLE_ANSWER};
use assay_core::{NO_SUCH_ITEM, UNPROCESSED_ITEMS};
use assay_spec::{name_kinds, program_kinds, CONTENTS_ATTRIBUTE};
use std::collections::HashSet;
use std::fmt::Write as _;

/// Asks for the capacity units that a request consumes.
const RETURN_CAPACITY: &str = r#""ReturnConsumedCapacity":"TOTAL""#;

/// An operation with the lane's state.
pub(super) struct Work<'a> {
    shared: &'a Shared,
    op: Op,
}

impl<'a> Work<'a> {
    pub(super) fn new(shared: &'a Shared, op: Op) -> Self {
        Work { shared, op }
    }

    /// Executes the operation: one request, sent once.
    pub(super) async fn run(self) -> Result<u64, Fault> {
        self.shared.place.note_made(self.shared.lane, &self.op);
        match self.op.kind {
            OpKind::Put => self.put().await,
            OpKind::Get => self.get().await,
            OpKind::Update => self.update().await,
            OpKind::Delete => self.delete().await,
            OpKind::BatchPut => self.batch_put().await,
            OpKind::BatchGet => self.batch_get().await,
            OpKind::Query => self.query().await,
            OpKind::Scan => self.scan().await,
            // The service has stored whatever it has acknowledged.
            OpKind::Sync => Ok(0),
            OpKind::Read
            | OpKind::Write
            | OpKind::See
            | OpKind::Head
            | OpKind::List
            | OpKind::StartUpload
            | OpKind::PutPart
            | OpKind::CompleteUpload
            | OpKind::Copy
            | OpKind::MultiDelete
            | name_kinds!()
            | program_kinds!() => {
                debug_assert!(false, "a table has no files and no objects");
                Err(Fault::os(libc::EINVAL))
            }
        }
    }

    fn table(&self) -> &str {
        &self.shared.place.target.table
    }

    /// Whether reads must be consistent, as the target states.
    fn consistent(&self) -> bool {
        self.shared.place.target.consistent
    }

    fn key(&self, object: u64) -> String {
        let target = &self.shared.place.target;
        key(target, &keys::key(target, self.shared.lane, object))
    }

    /// Sends a request, if the budget allows it, and returns its answer.
    async fn send(&self, action: &'static str, body: String) -> Result<Answer, Fault> {
        self.shared.place.budget.take_request()?;
        let call = Call { action, body };
        let make = |endpoint: &_, signer: &_| call.request(endpoint, signer);
        success(self.shared.client.send(self.op.slot, make, &Sink::Keep, &LentPieces::default()).await?)
    }

    fn count_write_units(&self, units: f64) {
        self.shared.count(ServiceUse { write_units: units, ..ServiceUse::default() });
    }

    fn count_read_units(&self, units: f64) {
        self.shared.count(ServiceUse { read_units: units, ..ServiceUse::default() });
    }

    async fn put(&self) -> Result<u64, Fault> {
        let (shared, op) = (self.shared, &self.op);
        let key = keys::key(&shared.place.target, shared.lane, op.object);
        let item = shared.with_contents(op, |contents| shared.item(&key, contents))?;
        let body = format!(r#"{{"TableName":"{}","Item":{item},{RETURN_CAPACITY}}}"#, self.table());
        let answer = self.send(action!("PutItem"), body).await?;
        self.count_write_units(parse::<WriteAnswer>(&answer)?.units);
        Ok(op.length)
    }

    async fn update(&self) -> Result<u64, Fault> {
        let op = &self.op;
        let mut body = String::with_capacity(op.length as usize * 4 / 3 + 512);
        let _ = write!(
            body,
            r##"{{"TableName":"{}","Key":{},"UpdateExpression":"SET #d = :d","ExpressionAttributeNames":{{"#d":"{CONTENTS_ATTRIBUTE}"}},"ExpressionAttributeValues":{{"##,
            self.table(),
            self.key(op.object)
        );
        self.shared.with_contents(op, |contents| write_contents(&mut body, ":d", contents))?;
        let _ = write!(body, "}},{RETURN_CAPACITY}}}");
        let answer = self.send(action!("UpdateItem"), body).await?;
        self.count_write_units(parse::<WriteAnswer>(&answer)?.units);
        Ok(op.length)
    }

    async fn delete(&self) -> Result<u64, Fault> {
        let body =
            format!(r#"{{"TableName":"{}","Key":{},{RETURN_CAPACITY}}}"#, self.table(), self.key(self.op.object));
        let answer = self.send(action!("DeleteItem"), body).await?;
        self.count_write_units(parse::<WriteAnswer>(&answer)?.units);
        Ok(0)
    }

    async fn get(&self) -> Result<u64, Fault> {
        let (table, key, consistent) = (self.table(), self.key(self.op.object), self.consistent());
        let body = format!(r#"{{"TableName":"{table}","Key":{key},"ConsistentRead":{consistent},{RETURN_CAPACITY}}}"#);
        let answer = self.send(action!("GetItem"), body).await?;
        let got: GetAnswer<'_> = parse(&answer)?;
        self.count_read_units(got.units);
        self.shared.receive_item(&self.op, got.item.as_ref().ok_or(NO_SUCH_ITEM)?)
    }

    async fn batch_put(&self) -> Result<u64, Fault> {
        let (shared, op) = (self.shared, &self.op);
        let source = shared.source.as_ref().ok_or(Fault::os(libc::EINVAL))?;
        let mut requests = Vec::with_capacity(usize::from(op.count));
        for object in op.object..op.object + u64::from(op.count) {
            let key = keys::key(&shared.place.target, shared.lane, object);
            let item = shared.with_generated(object, source.length(object), |contents| shared.item(&key, contents))?;
            requests.push(format!(r#"{{"PutRequest":{{"Item":{item}}}}}"#));
        }
        let body = format!(r#"{{"RequestItems":{{"{}":[{}]}},{RETURN_CAPACITY}}}"#, self.table(), requests.join(","));
        let answer = self.send(action!("BatchWriteItem"), body).await?;
        let stored: BatchWriteAnswer<'_> = parse(&answer)?;
        let unprocessed = stored.unprocessed.values().map(|left| left.len() as u64).sum();
        let objects = u64::from(op.count).saturating_sub(unprocessed);
        shared.count(ServiceUse { objects, unprocessed, write_units: stored.units, ..ServiceUse::default() });
        if unprocessed > 0 {
            return Err(UNPROCESSED_ITEMS);
        }
        Ok(op.length)
    }

    async fn batch_get(&self) -> Result<u64, Fault> {
        let (shared, op) = (self.shared, &self.op);
        let keys: Vec<String> = (op.object..op.object + u64::from(op.count)).map(|object| self.key(object)).collect();
        let (table, keys, consistent) = (self.table(), keys.join(","), self.consistent());
        let body = format!(
            r#"{{"RequestItems":{{"{table}":{{"Keys":[{keys}],"ConsistentRead":{consistent}}}}},{RETURN_CAPACITY}}}"#
        );
        let answer = self.send(action!("BatchGetItem"), body).await?;
        let fetched: BatchGetAnswer<'_> = parse(&answer)?;
        let items = fetched.tables.get(table).map_or(&[][..], Vec::as_slice);
        let unprocessed = fetched.unprocessed();
        let objects = items.len() as u64;
        shared.count(ServiceUse { objects, unprocessed, read_units: fetched.units, ..ServiceUse::default() });
        let bytes = self.check_items(items)?;
        if unprocessed > 0 {
            return Err(UNPROCESSED_ITEMS);
        }
        if objects < u64::from(op.count) {
            return Err(NO_SUCH_ITEM);
        }
        if objects > u64::from(op.count) {
            return Err(MALFORMED_TABLE_ANSWER);
        }
        Ok(bytes)
    }

    /// Checks the items of this job, each of which must come once; returns their size in bytes.
    fn check_items(&self, items: &[Item<'_>]) -> Result<u64, Fault> {
        let (mut bytes, mut seen) = (0, HashSet::with_capacity(items.len()));
        for item in items {
            let Some((number, length)) = self.shared.check_item(&self.op, item)? else { continue };
            if !seen.insert(number) {
                return Err(MALFORMED_TABLE_ANSWER);
            }
            bytes += length;
        }
        Ok(bytes)
    }

    async fn query(&self) -> Result<u64, Fault> {
        let target = &self.shared.place.target;
        let partition = keys::partition(target, self.shared.lane, self.op.object);
        let body = format!(
            r##"{{"TableName":"{}","KeyConditionExpression":"#p = :p","ExpressionAttributeNames":{{"#p":"{}"}},"ExpressionAttributeValues":{{":p":{{"S":"{partition}"}}}},"ConsistentRead":{},{RETURN_CAPACITY}}}"##,
            self.table(),
            target.partition_key,
            self.consistent()
        );
        let answer = self.send(action!("Query"), body).await?;
        let found: PageAnswer<'_> = parse(&answer)?;
        self.count_found(&found)
    }

    /// Counts and checks the items of a query or scan; returns their size in bytes.
    fn count_found(&self, found: &PageAnswer<'_>) -> Result<u64, Fault> {
        let objects = found.items.len() as u64;
        let used = ServiceUse { objects, read_units: found.units, ..ServiceUse::default() };
        self.shared.count(used);
        let bytes = self.check_items(&found.items)?;
        if bytes < self.op.length {
            return Err(NO_SUCH_ITEM);
        }
        Ok(bytes)
    }

    /// Scans one page of the lane's segment of the table.
    async fn scan(&self) -> Result<u64, Fault> {
        let (shared, op) = (self.shared, &self.op);
        let page = shared.pages.borrow().page(op.object as usize);
        let after = shared.pages.borrow().token(page).map(|last| format!(r#""ExclusiveStartKey":{last},"#));
        let body = format!(
            r#"{{"TableName":"{}","Segment":{},"TotalSegments":{},"Limit":{},{}"ConsistentRead":{},{RETURN_CAPACITY}}}"#,
            self.table(),
            shared.lane,
            shared.lanes,
            op.count,
            after.unwrap_or_default(),
            self.consistent()
        );
        let answer = self.send(action!("Scan"), body).await?;
        let found: PageAnswer<'_> = parse(&answer)?;
        shared.pages.borrow_mut().note(page, found.last.map(|last| last.get().to_owned()));
        self.count_found(&found)
    }
}
