//! Removal of what jobs have made: items below their keys; the table, if Assay has made it and nothing else is in it.

use super::answers::{parsed, Found, Stored};
use super::keys::{self, Key, MARK};
use super::place::Place;
use super::request::{action, key};
use super::table::{is_missing, Whose};
use crate::net::{block_on, Client};
use assay_core::{fault_name, pulse, Fault, SetupError};
use futures_util::stream::{FuturesUnordered, StreamExt};
use std::ops::Range;
use std::time::Duration;

/// Items that one request removes at most (BatchWriteItem).
const AT_ONCE: usize = 25;
/// Such requests under way at the same time.
const REQUESTS: usize = 8;
/// What the service leaves undone is asked for again after so long, twice as long each time; and so often.
const PAUSE: Duration = Duration::from_millis(50);
const LONGEST_PAUSE: Duration = Duration::from_secs(5);
const TRIES: usize = 60;

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
    async fn page(&self, client: &Client, after: &str) -> Result<(Vec<Key>, Option<String>), Fault> {
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
        let of = |item: &super::answers::Item<'_>| {
            let sort = target.sort_key.as_ref().and_then(|name| item.text(name)).map(str::to_owned);
            item.text(&target.partition_key).map(|partition| Key { partition: partition.to_owned(), sort })
        };
        let next = found.last.map(|last| format!(r#","ExclusiveStartKey":{}"#, last.get()));
        Ok((found.items.iter().filter_map(of).collect(), next))
    }

    /// The answer to a request that is sent again as long as the service has too much to do.
    async fn patiently(&self, client: &Client, action: &'static str, body: &str) -> Result<crate::net::Answer, Fault> {
        for pause in pauses().take(TRIES - 1) {
            match self.ask(client, action, body.to_owned()).await {
                Err(fault) if is_throttled(fault) => {}
                other => return other,
            }
            pulse::beat();
            tokio::time::sleep(pause).await;
        }
        self.ask(client, action, body.to_owned()).await
    }

    /// Removes items.
    async fn remove(&self, client: &Client, items: Vec<Key>) -> Result<(), Fault> {
        let one = |item: &Key| format!(r#"{{"DeleteRequest":{{"Key":{}}}}}"#, key(&self.target, item));
        let mut left: Vec<String> = items.iter().map(one).collect();
        for pause in pauses().take(TRIES) {
            let body = format!(r#"{{"RequestItems":{{"{}":[{}]}}}}"#, self.target.table, left.join(","));
            let answer = self.patiently(client, action!("BatchWriteItem"), &body).await?;
            let stored: Stored<'_> = parsed(&answer)?;
            left = stored.unprocessed.values().flatten().map(|request| request.get().to_owned()).collect();
            pulse::beat();
            if left.is_empty() {
                return Ok(());
            }
            tokio::time::sleep(pause).await;
        }
        Err(assay_core::UNPROCESSED_ITEMS)
    }

    /// Removes all items whose keys begin as the job's, or those of some of its lanes; how many those were. The job's mark
    /// is the last to go.
    async fn remove_items(&self, client: &Client, lanes: Option<&Range<u32>>) -> Result<u64, Fault> {
        let (mut removed, mut after) = (0, String::new());
        let mark = keys::of_mark(&self.target, keys::folder(&self.target));
        let mut marked = false;
        let mut under_way = FuturesUnordered::new();
        loop {
            let (mut items, next) = self.page(client, &after).await?;
            let all = items.len();
            items.retain(|item| *item != mark);
            marked |= items.len() < all;
            if let Some(lanes) = lanes {
                let own =
                    |item: &Key| keys::lane(&self.target, &item.partition).is_some_and(|lane| lanes.contains(&lane));
                items.retain(own);
            }
            removed += items.len() as u64;
            for some in items.chunks(AT_ONCE) {
                under_way.push(self.remove(client, some.to_vec()));
                while under_way.len() >= REQUESTS {
                    under_way.next().await.unwrap_or(Ok(()))?;
                }
            }
            let Some(next) = next else { break };
            after = next;
        }
        while let Some(done) = under_way.next().await {
            done?;
        }
        let marked = marked && lanes.is_none();
        if marked {
            self.remove(client, vec![mark]).await?;
        }
        Ok(removed + u64::from(marked))
    }

    /// Removes all items of the job, or those of some of its lanes; what was removed, in words.
    pub(crate) fn remove_all(&self, lanes: Option<&Range<u32>>) -> Result<Vec<String>, SetupError> {
        let client = self.reach.client();
        block_on(async {
            match self.whose(&client).await? {
                Whose::Nobodys => return Ok(Vec::new()),
                Whose::Foreign if !self.target.destroy => {
                    return Err(SetupError::new("remove", self.table_path(), "was not made by Assay: left alone"));
                }
                Whose::Ours | Whose::Foreign => {}
            }
            let removed = self.remove_items(&client, lanes).await;
            let removed = removed.map_err(|fault| self.error("remove", self.root_path(), fault))?;
            let path = format!("{}/{}", self.root_path(), self.target.directory);
            Ok(if removed > 0 { vec![path] } else { Vec::new() })
        })?
    }

    /// Whether there is nothing in the table but its mark: several runs may work in it.
    async fn is_empty(&self, client: &Client) -> Result<bool, Fault> {
        let mut after = String::new();
        loop {
            let body = format!(r#"{{"TableName":"{}","ConsistentRead":true,"Limit":2{after}}}"#, self.target.table);
            let answer = self.patiently(client, action!("Scan"), &body).await?;
            let found: Found<'_> = parsed(&answer)?;
            if found.items.iter().any(|item| item.text(&self.target.partition_key) != Some(MARK)) {
                return Ok(false);
            }
            let Some(last) = found.last else { return Ok(true) };
            after = format!(r#","ExclusiveStartKey":{}"#, last.get());
        }
    }

    /// Removes the table if Assay has made it and nothing else is in it; what was removed, in words.
    fn remove_table(&self) -> Result<Vec<String>, SetupError> {
        let client = self.reach.client();
        block_on(async {
            let error = |fault| self.error("remove", self.table_path(), fault);
            if self.whose(&client).await? != Whose::Ours || !self.is_empty(&client).await.map_err(error)? {
                return Ok(Vec::new());
            }
            match self.drop_table(&client).await {
                Ok(()) => Ok(vec![self.table_path()]),
                Err(fault) if is_missing(fault) => Ok(Vec::new()),
                Err(fault) => Err(error(fault)),
            }
        })?
    }

    /// Removes what killed jobs have left: the job's items, or the table.
    pub(crate) fn clean(&self, whole: bool) -> Result<Vec<String>, SetupError> {
        if whole {
            self.remove_table()
        } else {
            self.remove_all(None)
        }
    }
}
