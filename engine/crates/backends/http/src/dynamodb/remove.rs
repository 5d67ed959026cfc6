//! Removal of what jobs have made: items with the job's keys; the table, if Assay has made it and nothing else is in
//! it.

use super::answers::{parse, BatchWriteAnswer, PageAnswer, UnprocessedRequest};
use super::keys::{self, Key, MARK};
use super::place::Place;
use super::request::{action, key};
use super::table::{is_missing, Ownership};
use crate::job_objects::JobObjects;
use crate::net::{block_on, Client};
use crate::pages::{Bounds, Pages, Trouble};
use assay_core::refusals::FOREIGN;
use assay_core::{fault_name, heartbeat, Fault, SetupError, MALFORMED_TABLE_ANSWER};
use assay_spec::{PlaceAnswer, Remains};
use futures_util::stream::{FuturesUnordered, StreamExt};
use serde_json::value::RawValue;
use std::borrow::Borrow;
use std::ops::Range;
use std::time::Duration;

/// Most items that one request removes (BatchWriteItem).
const BATCH_ITEMS: usize = 25;
/// Such requests under way at the same time.
const MAX_BATCHES: usize = 8;
/// First pause before what the service has not executed is sent again; it doubles each time, up to the longest, in so
/// many attempts.
const PAUSE: Duration = Duration::from_millis(if cfg!(test) { 1 } else { 50 });
const LONGEST_PAUSE: Duration = Duration::from_millis(if cfg!(test) { 1 } else { 5000 });
const MAX_ATTEMPTS: usize = 60;

/// Most items of one page: it has a megabyte, and each item some bytes.
const MAX_PAGE_ITEMS: usize = 200_000;
/// Smallest page of a scan: it has a megabyte with AWS, less with some services.
const MIN_PAGE_BYTES: u64 = 64 << 10;
/// Most pages and marks beyond what the table's size explains.
const ROOM: u64 = 1000;
/// How often the removal is repeated until nothing is found.
const PASSES: u32 = 4;

/// A page of a scan: its items with the job's prefix, and what else the service sends.
struct Page {
    items: Vec<Key>,
    scanned: u64,
    next: Option<String>,
}

/// Items that came although they are not the job's.
#[derive(Debug, Default)]
struct ForeignKeys {
    /// Items without the job's prefix.
    outside: u64,
    /// Items with the job's prefix that the job does not give.
    unknown: u64,
    example: String,
}

impl ForeignKeys {
    fn note(&mut self, has_prefix: bool, partition: &str) {
        let count = if has_prefix { &mut self.unknown } else { &mut self.outside };
        *count += 1;
        if self.example.is_empty() {
            partition.clone_into(&mut self.example);
        }
    }
}

/// The member of a request that asks for the page after a key.
fn after_key(last: &RawValue) -> String {
    format!(r#","ExclusiveStartKey":{}"#, last.get())
}

/// The pauses from one attempt to the next.
fn pauses() -> impl Iterator<Item = Duration> {
    std::iter::successors(Some(PAUSE), |pause| Some((*pause * 2).min(LONGEST_PAUSE)))
}

/// Whether the service has refused a request because it has too many.
fn is_throttled(fault: Fault) -> bool {
    let name = fault_name(fault).unwrap_or_default();
    matches!(name, "ProvisionedThroughputExceededException" | "ThrottlingException" | "RequestLimitExceeded")
}

impl Place {
    /// One page of the keys with the job's prefix, and the member that asks for the next.
    async fn page(&self, client: &Client, after: &str) -> Result<Page, Fault> {
        let target = &self.target;
        let sort = target.sort_key.as_ref().map_or_else(String::new, |name| format!(r##","#s":"{name}""##));
        let names = format!(r##"{{"#p":"{}"{sort}}}"##, target.partition_key);
        let attributes = if sort.is_empty() { "#p" } else { "#p,#s" };
        let body = format!(
            r#"{{"TableName":"{}","ConsistentRead":true,"ProjectionExpression":"{attributes}","FilterExpression":"begins_with(#p, :f)","ExpressionAttributeNames":{names},"ExpressionAttributeValues":{{":f":{{"S":"{}"}}}}{after}}}"#,
            target.table,
            keys::job_prefix(target),
        );
        let answer = self.send_with_retries(client, action!("Scan"), &body).await?;
        let found: PageAnswer<'_> = parse(&answer)?;
        if found.items.len() > MAX_PAGE_ITEMS {
            return Err(MALFORMED_TABLE_ANSWER);
        }
        let items = found.items.iter().filter_map(|item| self.key_of(item)).collect();
        Ok(Page { items, scanned: found.scanned, next: found.last.map(after_key) })
    }

    /// Sends a request, and again as long as the service has too many.
    async fn send_with_retries(
        &self,
        client: &Client,
        action: &'static str,
        body: &str,
    ) -> Result<crate::net::Answer, Fault> {
        for pause in pauses().take(MAX_ATTEMPTS - 1) {
            match self.send(client, action, body.to_owned()).await {
                Err(fault) if is_throttled(fault) && heartbeat::stopping_ns().is_none() => {}
                other => return other,
            }
            heartbeat::beat();
            tokio::time::sleep(pause).await;
        }
        self.send(client, action, body.to_owned()).await
    }

    /// Removes items known to be the job's.
    pub(crate) async fn remove(&self, client: &Client, mut left: Vec<Key>) -> Result<(), Fault> {
        for pause in pauses().take(MAX_ATTEMPTS) {
            let one = |item: &Key| format!(r#"{{"DeleteRequest":{{"Key":{}}}}}"#, key(&self.target, item));
            let requests: Vec<String> = left.iter().map(one).collect();
            let body = format!(r#"{{"RequestItems":{{"{}":[{}]}}}}"#, self.target.table, requests.join(","));
            let answer = self.send_with_retries(client, action!("BatchWriteItem"), &body).await?;
            let unprocessed = self.unprocessed_keys(&parse(&answer)?)?;
            // A key is sent again only if it was sent before, not because the service names it.
            if unprocessed.iter().any(|key| !left.contains(key)) {
                return Err(MALFORMED_TABLE_ANSWER);
            }
            left.retain(|key| unprocessed.contains(key));
            if left.is_empty() {
                return Ok(());
            }
            if heartbeat::stopping_ns().is_some_and(|ns| ns > heartbeat::STOPPING_LIMIT_NS) {
                break;
            }
            tokio::time::sleep(pause).await;
        }
        Err(assay_core::UNPROCESSED_ITEMS)
    }

    /// Keys that the service has not removed.
    fn unprocessed_keys(&self, stored: &BatchWriteAnswer<'_>) -> Result<Vec<Key>, Fault> {
        let requests = stored.unprocessed.iter().flat_map(|(table, requests)| {
            let ours = Borrow::<str>::borrow(table) == self.target.table;
            requests.iter().map(move |request| (ours, request))
        });
        let keys = requests.map(|(ours, request)| {
            let unprocessed: Option<UnprocessedRequest<'_>> = serde_json::from_str(request.get()).ok();
            unprocessed
                .filter(|_| ours)
                .and_then(|unprocessed| self.key_of(&unprocessed.delete.key))
                .ok_or(MALFORMED_TABLE_ANSWER)
        });
        keys.collect()
    }

    /// Most pages of a scan without an item of the job, as others may have items in the table.
    async fn max_foreign_pages(&self, client: &Client) -> Result<u64, Fault> {
        let bytes = self.describe(client).await?.map_or(0, |table| table.size_bytes);
        Ok(ROOM + bytes / MIN_PAGE_BYTES)
    }

    /// Whether the job can have made an item; that a scan finds it decides nothing.
    fn can_be_of_job(&self, lane: u32, number: u64) -> bool {
        self.job_objects.as_ref().is_some_and(|made| made.has(lane, number))
    }

    /// Whether another process of the job may have made an item that is not known here.
    fn is_of_other_process(&self, item: &Key) -> bool {
        let lanes = self.job_objects.as_ref().map(JobObjects::lanes);
        keys::owner(&self.target, item).zip(lanes).is_some_and(|((lane, _), lanes)| lanes.contains(&lane))
    }

    /// Removes all items of the job, or those of some of its lanes, and returns how many. The job's mark is removed
    /// last.
    async fn remove_items(
        &self,
        client: &Client,
        (lanes, most): (Option<&Range<u32>>, Option<u64>),
        foreign: &mut ForeignKeys,
    ) -> Result<u64, Trouble> {
        let (mut removed, mut after, mut marked) = (0, String::new(), false);
        let mark = keys::mark_key(&self.target, keys::job_prefix(&self.target));
        let mut foreign_pages_left = self.max_foreign_pages(client).await?;
        let mut pages = Pages::new(Bounds::of_removal(most.map(|most| most + foreign_pages_left)));
        let mut under_way = FuturesUnordered::new();
        loop {
            let page = self.page(client, &after).await?;
            let mut ours = Vec::new();
            for item in page.items {
                match keys::owner(&self.target, &item).filter(|(lane, number)| self.can_be_of_job(*lane, *number)) {
                    _ if item == mark => marked = true,
                    Some((lane, _)) if lanes.is_none_or(|lanes| lanes.contains(&lane)) => ours.push(item),
                    Some(_) => {}
                    None if lanes.is_some() && self.is_of_other_process(&item) => {}
                    None => foreign.note(item.partition.starts_with(&keys::job_prefix(&self.target)), &item.partition),
                }
            }
            removed += ours.len() as u64;
            let has_scanned = page.scanned > 0 && foreign_pages_left > 0;
            foreign_pages_left = foreign_pages_left.saturating_sub(1);
            for some in ours.chunks(BATCH_ITEMS) {
                under_way.push(self.remove(client, some.to_vec()));
                while under_way.len() >= MAX_BATCHES {
                    under_way.next().await.unwrap_or(Ok(()))?;
                    heartbeat::beat();
                }
            }
            let Some(next) = pages.next_page((ours.len() as u64).max(u64::from(has_scanned)), page.next)? else {
                break;
            };
            after = next;
        }
        while let Some(done) = under_way.next().await {
            done?;
            heartbeat::beat();
        }
        let marked = marked && lanes.is_none() && self.job_objects.is_some();
        if marked {
            self.remove(client, vec![mark]).await?;
        }
        Ok(removed + u64::from(marked))
    }

    /// Removes all items of the job, or those of some of its lanes; returns the paths of what was removed.
    pub(crate) fn remove_all(&self, lanes: Option<&Range<u32>>, most: Option<u64>) -> Result<Vec<String>, SetupError> {
        let client = self.access.client();
        block_on(async {
            let ownership = self.ownership(&client).await?;
            match ownership {
                Ownership::Missing => return Ok(Vec::new()),
                Ownership::Foreign if !self.target.destroy => {
                    return Err(SetupError::new("remove", self.table_path(), FOREIGN));
                }
                _ => {}
            }
            let path = format!("{}/{}", self.root_path(), self.target.directory);
            let (mut first, mut passes) = (None, 0..PASSES);
            while passes.next().is_some() {
                let mut foreign = ForeignKeys::default();
                let removed = self.remove_items(&client, (lanes, most), &mut foreign).await;
                let removed = removed.map_err(|trouble| self.error("remove", path.clone(), trouble))?;
                self.refuse_others(&path, &foreign)?;
                first = first.or(Some(removed));
                // Another pass costs as much as the first, which may be a lot in a table of others.
                if removed == 0 || ownership == Ownership::Foreign {
                    return Ok(if first > Some(0) { vec![path] } else { Vec::new() });
                }
            }
            let message = "items are still there after the service has said that they are removed";
            Err(SetupError::new("remove", path, message))
        })?
    }

    /// An error if items came that are not the job's; none of them was touched.
    fn refuse_others(&self, path: &str, foreign: &ForeignKeys) -> Result<(), SetupError> {
        let example = self.access.shown(&foreign.example).unwrap_or_else(|| "one that is not shown".to_owned());
        let message = if foreign.outside > 0 {
            let many = foreign.outside;
            format!("the service brought {many} items whose keys do not begin so, such as {example}: none was touched")
        } else if foreign.unknown > 0 && self.job_objects.is_none() {
            let many = foreign.unknown;
            format!(
                "{many} items are there, such as {example}: they are removed if the job is given, not only its target"
            )
        } else if foreign.unknown > 0 {
            format!(
                "{} items have keys that this job does not give, such as {example}: they are left alone",
                foreign.unknown
            )
        } else {
            return Ok(());
        };
        Err(SetupError::new("remove", path, message))
    }

    /// Whether the table is empty but for its mark, if it is `marked`, as several runs may work in it. A scan without
    /// even the mark proves nothing.
    pub(crate) async fn is_empty(&self, client: &Client, marked: bool) -> Result<bool, Trouble> {
        let mut mark_came = false;
        let (mut after, mut pages) = (String::new(), Pages::new(Bounds::of_removal(Some(ROOM))));
        loop {
            let body = format!(r#"{{"TableName":"{}","ConsistentRead":true,"Limit":2{after}}}"#, self.target.table);
            let answer = self.send_with_retries(client, action!("Scan"), &body).await?;
            let found: PageAnswer<'_> = parse(&answer)?;
            if found.items.iter().any(|item| item.text(&self.target.partition_key) != Some(MARK)) {
                return Ok(false);
            }
            mark_came |= !found.items.is_empty();
            let Some(next) = pages.next_page(1, found.last.map(after_key))? else { return Ok(mark_came == marked) };
            after = next;
        }
    }

    /// Removes the table if this run has made it and nothing else is in it.
    fn remove_table(&self) -> Result<PlaceAnswer, SetupError> {
        let client = self.access.client();
        block_on(async {
            let error = |fault: Fault| self.error("remove", self.table_path(), fault);
            let trouble_error = |trouble: Trouble| self.error("remove", self.table_path(), trouble);
            let why = "stays, as something else is in it".to_owned();
            let left = vec![Remains { path: self.table_path(), why }];
            let left = PlaceAnswer { left, ..PlaceAnswer::default() };
            match self.ownership(&client).await? {
                Ownership::Ours => {}
                Ownership::Missing => return Ok(PlaceAnswer::default()),
                Ownership::OtherRun | Ownership::BeingRemoved | Ownership::Foreign => {
                    return self.remove_use_mark(&client).await.map_err(error)
                }
            }
            if !self.is_empty(&client, true).await.map_err(trouble_error)? {
                return Ok(left);
            }
            // From here on no run begins to use it; one that has begun before is found now.
            self.mark_table(&client, true).await.map_err(error)?;
            match self.is_empty(&client, true).await {
                Ok(true) => {}
                other => {
                    self.mark_table(&client, false).await.map_err(error)?;
                    return other.map(|_| left).map_err(trouble_error);
                }
            }
            match self.drop_table(&client).await {
                Ok(()) => Ok(PlaceAnswer { removed: vec![self.table_path()], ..PlaceAnswer::default() }),
                Err(fault) if is_missing(fault) => Ok(PlaceAnswer::default()),
                Err(fault) => Err(error(fault)),
            }
        })?
    }

    /// Removes this run's mark from a table that another run made, if this run has put one.
    async fn remove_use_mark(&self, client: &Client) -> Result<PlaceAnswer, Fault> {
        if let Some(mark) = keys::use_mark_key(&self.target) {
            if self.item_text(client, &mark).await?.as_deref() == Some(self.run_name()) {
                self.remove(client, vec![mark]).await?;
            }
        }
        Ok(PlaceAnswer::default())
    }

    /// Removes what killed jobs have left: the job's items, or with `whole` the table.
    pub(crate) fn clean(&self, whole: bool) -> Result<PlaceAnswer, SetupError> {
        if whole {
            return self.remove_table();
        }
        Ok(PlaceAnswer { removed: self.remove_all(None, None)?, ..PlaceAnswer::default() })
    }
}
