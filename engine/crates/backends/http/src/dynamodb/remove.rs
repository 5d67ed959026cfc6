//! Removal of what jobs have made: items below their keys; the table, if Assay has made it and nothing else is in it.

use super::answers::{parsed, Found, Stored, Undone};
use super::keys::{self, Key, MARK};
use super::place::Place;
use super::request::{action, key};
use super::table::{is_missing, Whose};
use crate::made::Made;
use crate::net::{block_on, Client};
use crate::pages::{Bounds, Pages, Trouble};
use assay_core::{fault_name, heartbeat, Fault, SetupError, MALFORMED_TABLE_ANSWER};
use assay_spec::{PlaceAnswer, Remains};
use futures_util::stream::{FuturesUnordered, StreamExt};
use serde_json::value::RawValue;
use std::borrow::Borrow;
use std::ops::Range;
use std::time::Duration;

/// Items that one request removes at most (BatchWriteItem).
const AT_ONCE: usize = 25;
/// Such requests under way at the same time.
const REQUESTS: usize = 8;
/// What the service leaves undone is asked for again after so long, twice as long each time; and so often.
const PAUSE: Duration = Duration::from_millis(if cfg!(test) { 1 } else { 50 });
const LONGEST_PAUSE: Duration = Duration::from_millis(if cfg!(test) { 1 } else { 5000 });
const TRIES: usize = 60;

/// Items of one page: it has a megabyte, and no item less than a few bytes.
const MOST_SCANNED: usize = 200_000;
/// A page of a scan has a megabyte; some services have smaller ones.
const LEAST_PAGE: u64 = 64 << 10;
/// Pages, and marks, that there may be besides.
const ROOM: u64 = 1000;
/// So often it is looked whether what was removed is gone.
const PASSES: u32 = 4;

/// Items of the job, and whatever else the service brings with them.
struct Page {
    items: Vec<Key>,
    scanned: u64,
    next: Option<String>,
}

/// What came that is not the job's.
#[derive(Debug, Default)]
struct Seen {
    /// Keys that were not asked for.
    outside: u64,
    /// Keys that begin as the job's and that no job gives.
    strange: u64,
    example: String,
}

impl Seen {
    fn note(&mut self, asked_for: bool, partition: &str) {
        let count = if asked_for { &mut self.strange } else { &mut self.outside };
        *count += 1;
        if self.example.is_empty() {
            partition.clone_into(&mut self.example);
        }
    }
}

/// What asks for the page behind a key.
fn after_key(last: &RawValue) -> String {
    format!(r#","ExclusiveStartKey":{}"#, last.get())
}

/// From one try to the next.
fn pauses() -> impl Iterator<Item = Duration> {
    std::iter::successors(Some(PAUSE), |pause| Some((*pause * 2).min(LONGEST_PAUSE)))
}

/// It has more to do than it may.
fn is_throttled(fault: Fault) -> bool {
    let name = fault_name(fault).unwrap_or_default();
    matches!(name, "ProvisionedThroughputExceededException" | "ThrottlingException" | "RequestLimitExceeded")
}

impl Place {
    /// A page of the keys of items that begin as the job's, and how the next one is asked for.
    async fn page(&self, client: &Client, after: &str) -> Result<Page, Fault> {
        let target = &self.target;
        let sort = target.sort_key.as_ref().map_or_else(String::new, |name| format!(r##","#s":"{name}""##));
        let names = format!(r##"{{"#p":"{}"{sort}}}"##, target.partition_key);
        let attributes = if sort.is_empty() { "#p" } else { "#p,#s" };
        let body = format!(
            r#"{{"TableName":"{}","ConsistentRead":true,"ProjectionExpression":"{attributes}","FilterExpression":"begins_with(#p, :f)","ExpressionAttributeNames":{names},"ExpressionAttributeValues":{{":f":{{"S":"{}"}}}}{after}}}"#,
            target.table,
            keys::folder(target),
        );
        let answer = self.patiently(client, action!("Scan"), &body).await?;
        let found: Found<'_> = parsed(&answer)?;
        if found.items.len() > MOST_SCANNED {
            return Err(MALFORMED_TABLE_ANSWER);
        }
        let items = found.items.iter().filter_map(|item| self.key_of(item)).collect();
        Ok(Page { items, scanned: found.scanned, next: found.last.map(after_key) })
    }

    /// The answer to a request that is sent again as long as the service has too much to do.
    async fn patiently(&self, client: &Client, action: &'static str, body: &str) -> Result<crate::net::Answer, Fault> {
        for pause in pauses().take(TRIES - 1) {
            match self.ask(client, action, body.to_owned()).await {
                Err(fault) if is_throttled(fault) && heartbeat::stopping_ns().is_none() => {}
                other => return other,
            }
            heartbeat::beat();
            tokio::time::sleep(pause).await;
        }
        self.ask(client, action, body.to_owned()).await
    }

    /// Removes items of which it is sure that they are the job's.
    pub(crate) async fn remove(&self, client: &Client, mut left: Vec<Key>) -> Result<(), Fault> {
        for pause in pauses().take(TRIES) {
            let one = |item: &Key| format!(r#"{{"DeleteRequest":{{"Key":{}}}}}"#, key(&self.target, item));
            let requests: Vec<String> = left.iter().map(one).collect();
            let body = format!(r#"{{"RequestItems":{{"{}":[{}]}}}}"#, self.target.table, requests.join(","));
            let answer = self.patiently(client, action!("BatchWriteItem"), &body).await?;
            let undone = self.undone(&parsed(&answer)?)?;
            // Nothing is asked for again because the service names it, but only because it was asked for before.
            if undone.iter().any(|key| !left.contains(key)) {
                return Err(MALFORMED_TABLE_ANSWER);
            }
            left.retain(|key| undone.contains(key));
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
    fn undone(&self, stored: &Stored<'_>) -> Result<Vec<Key>, Fault> {
        let requests = stored.unprocessed.iter().flat_map(|(table, requests)| {
            let ours = Borrow::<str>::borrow(table) == self.target.table;
            requests.iter().map(move |request| (ours, request))
        });
        let keys = requests.map(|(ours, request)| {
            let undone: Option<Undone<'_>> = serde_json::from_str(request.get()).ok();
            undone.filter(|_| ours).and_then(|undone| self.key_of(&undone.delete.key)).ok_or(MALFORMED_TABLE_ANSWER)
        });
        keys.collect()
    }

    /// Pages of a scan that may have nothing for the job: others may have items in the table, too.
    async fn pages_of_others(&self, client: &Client) -> Result<u64, Fault> {
        let bytes = self.described(client).await?.map_or(0, |table| table.size_bytes);
        Ok(ROOM + bytes / LEAST_PAGE)
    }

    /// Whether the job can have made an item: what a scan brings decides nothing.
    fn can_be(&self, lane: u32, number: u64) -> bool {
        self.made_by.as_ref().is_some_and(|made| made.has(lane, number))
    }

    /// Another process of the job may have made an item beyond what is known here.
    fn is_beside(&self, item: &Key) -> bool {
        let lanes = self.made_by.as_ref().map(Made::lanes);
        keys::owner(&self.target, item).zip(lanes).is_some_and(|((lane, _), lanes)| lanes.contains(&lane))
    }

    /// Removes all items of the job, or those of some of its lanes; how many those were. The job's mark is the last to go.
    async fn remove_items(
        &self,
        client: &Client,
        (lanes, most): (Option<&Range<u32>>, Option<u64>),
        seen: &mut Seen,
    ) -> Result<u64, Trouble> {
        let (mut removed, mut after, mut marked) = (0, String::new(), false);
        let mark = keys::of_mark(&self.target, keys::folder(&self.target));
        let mut in_vain = self.pages_of_others(client).await?;
        let mut pages = Pages::new(Bounds::of_removal(most.map(|most| most + in_vain)));
        let mut under_way = FuturesUnordered::new();
        loop {
            let page = self.page(client, &after).await?;
            let mut ours = Vec::new();
            for item in page.items {
                match keys::owner(&self.target, &item).filter(|(lane, number)| self.can_be(*lane, *number)) {
                    _ if item == mark => marked = true,
                    Some((lane, _)) if lanes.is_none_or(|lanes| lanes.contains(&lane)) => ours.push(item),
                    Some(_) => {}
                    None if lanes.is_some() && self.is_beside(&item) => {}
                    None => seen.note(item.partition.starts_with(&keys::folder(&self.target)), &item.partition),
                }
            }
            removed += ours.len() as u64;
            let looked = page.scanned > 0 && in_vain > 0;
            in_vain = in_vain.saturating_sub(1);
            for some in ours.chunks(AT_ONCE) {
                under_way.push(self.remove(client, some.to_vec()));
                while under_way.len() >= REQUESTS {
                    under_way.next().await.unwrap_or(Ok(()))?;
                    heartbeat::beat();
                }
            }
            let Some(next) = pages.turn((ours.len() as u64).max(u64::from(looked)), page.next)? else { break };
            after = next;
        }
        while let Some(done) = under_way.next().await {
            done?;
            heartbeat::beat();
        }
        let marked = marked && lanes.is_none() && self.made_by.is_some();
        if marked {
            self.remove(client, vec![mark]).await?;
        }
        Ok(removed + u64::from(marked))
    }

    /// Removes all items of the job, or those of some of its lanes; what was removed, in words.
    pub(crate) fn remove_all(&self, lanes: Option<&Range<u32>>, most: Option<u64>) -> Result<Vec<String>, SetupError> {
        let client = self.reach.client();
        block_on(async {
            let whose = self.whose(&client).await?;
            match whose {
                Whose::Nobodys => return Ok(Vec::new()),
                Whose::Foreign if !self.target.destroy => {
                    return Err(SetupError::new("remove", self.table_path(), "was not made by Assay: left alone"));
                }
                _ => {}
            }
            let path = format!("{}/{}", self.root_path(), self.target.directory);
            let (mut first, mut passes) = (None, 0..PASSES);
            while passes.next().is_some() {
                let mut seen = Seen::default();
                let removed = self.remove_items(&client, (lanes, most), &mut seen).await;
                let removed = removed.map_err(|trouble| self.error("remove", path.clone(), trouble))?;
                self.refuse_others(&path, &seen)?;
                first = first.or(Some(removed));
                // To look again costs as much as to look, which in a table of others may be much.
                if removed == 0 || whose == Whose::Foreign {
                    return Ok(if first > Some(0) { vec![path] } else { Vec::new() });
                }
            }
            let words = "items are still there after the service has said that they are removed";
            Err(SetupError::new("remove", path, words))
        })?
    }

    /// An error if items came that are not the job's; none of them was touched.
    fn refuse_others(&self, path: &str, seen: &Seen) -> Result<(), SetupError> {
        let example = self.reach.shown(&seen.example).unwrap_or_else(|| "one that is not shown".to_owned());
        let words = if seen.outside > 0 {
            let many = seen.outside;
            format!("the service brought {many} items whose keys do not begin so, such as {example}: none was touched")
        } else if seen.strange > 0 && self.made_by.is_none() {
            let many = seen.strange;
            format!(
                "{many} items are there, such as {example}: they are removed if the job is given, not only its target"
            )
        } else if seen.strange > 0 {
            format!(
                "{} items have keys that this job does not give, such as {example}: they are left alone",
                seen.strange
            )
        } else {
            return Ok(());
        };
        Err(SetupError::new("remove", path, words))
    }

    /// Whether there is nothing in the table but its mark, if it is `marked`: several runs may work in it. A scan that does
    /// not even bring the mark says nothing.
    pub(crate) async fn is_empty(&self, client: &Client, marked: bool) -> Result<bool, Trouble> {
        let mut mark_came = false;
        let (mut after, mut pages) = (String::new(), Pages::new(Bounds::of_removal(Some(ROOM))));
        loop {
            let body = format!(r#"{{"TableName":"{}","ConsistentRead":true,"Limit":2{after}}}"#, self.target.table);
            let answer = self.patiently(client, action!("Scan"), &body).await?;
            let found: Found<'_> = parsed(&answer)?;
            if found.items.iter().any(|item| item.text(&self.target.partition_key) != Some(MARK)) {
                return Ok(false);
            }
            mark_came |= !found.items.is_empty();
            let Some(next) = pages.turn(1, found.last.map(after_key))? else { return Ok(mark_came == marked) };
            after = next;
        }
    }

    /// Removes the table if this run has made it and nothing else is in it.
    fn remove_table(&self) -> Result<PlaceAnswer, SetupError> {
        let client = self.reach.client();
        block_on(async {
            let error = |fault: Fault| self.error("remove", self.table_path(), fault);
            let of = |trouble: Trouble| self.error("remove", self.table_path(), trouble);
            let why = "stays, as something else is in it".to_owned();
            let left = vec![Remains { path: self.table_path(), why }];
            let left = PlaceAnswer { left, ..PlaceAnswer::default() };
            match self.whose(&client).await? {
                Whose::Ours => {}
                Whose::Nobodys => return Ok(PlaceAnswer::default()),
                Whose::Assays | Whose::Going | Whose::Foreign => return self.let_go(&client).await.map_err(error),
            }
            if !self.is_empty(&client, true).await.map_err(of)? {
                return Ok(left);
            }
            // From here on nobody begins to use it; who has begun before is seen now.
            self.mark_table(&client, true).await.map_err(error)?;
            match self.is_empty(&client, true).await {
                Ok(true) => {}
                other => {
                    self.mark_table(&client, false).await.map_err(error)?;
                    return other.map(|_| left).map_err(of);
                }
            }
            match self.drop_table(&client).await {
                Ok(()) => Ok(PlaceAnswer { removed: vec![self.table_path()], ..PlaceAnswer::default() }),
                Err(fault) if is_missing(fault) => Ok(PlaceAnswer::default()),
                Err(fault) => Err(error(fault)),
            }
        })?
    }

    /// Removes what says that this run works in a table that another has made, if this run has put it there.
    async fn let_go(&self, client: &Client) -> Result<PlaceAnswer, Fault> {
        if let Some(held) = keys::of_use(&self.target) {
            if self.says(client, &held).await?.as_deref() == Some(self.run()) {
                self.remove(client, vec![held]).await?;
            }
        }
        Ok(PlaceAnswer::default())
    }

    /// Removes what killed jobs have left: the job's items, or the table.
    pub(crate) fn clean(&self, whole: bool) -> Result<PlaceAnswer, SetupError> {
        if whole {
            return self.remove_table();
        }
        Ok(PlaceAnswer { removed: self.remove_all(None, None)?, ..PlaceAnswer::default() })
    }
}
