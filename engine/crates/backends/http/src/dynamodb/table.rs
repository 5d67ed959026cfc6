//! The table: made and marked if it does not exist, refused if others made it.

use super::answers::{parse, DescribeAnswer, GetAnswer, Item, Table};
use super::keys::{self, Key, MARK};
use super::place::Place;
use super::request::{action, key, write_key};
use crate::net::{block_on, Client};
use assay_core::refusals::{ALREADY_THERE, REMOVED_AGAIN};
use assay_core::{as_errno, fault_name, heartbeat, Fault, SetupError};
use assay_spec::{Capacity, CONTENTS_ATTRIBUTE};
use std::fmt::Write as _;
use std::time::{Duration, Instant};

/// Another process that has just made the table is about to mark it: so many checks for the mark, with this pause
/// between two.
const MARK_CHECKS: u32 = 50;
const MARK_PAUSE: Duration = Duration::from_millis(if cfg!(test) { 1 } else { 100 });
/// How long a table may take to be made or removed; AWS takes some seconds.
const MAX_WAIT: Duration = Duration::from_mins(10);
/// What precedes the run's name in the mark of a table that is about to be removed.
const BEING_REMOVED_PREFIX: &str = "going:";
/// How often the table is made again because another run has removed it.
const MAX_ATTEMPTS: u32 = 5;
/// Pauses between two checks of a table that is being made or removed: short at first, since some services take no
/// time.
const SHORTEST_PAUSE: Duration = Duration::from_millis(20);
const LONGEST_PAUSE: Duration = Duration::from_secs(2);

/// Who made a table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Ownership {
    /// It does not exist.
    Missing,
    /// The run of this job, which may remove it.
    Ours,
    /// Another run of Assay: jobs may work in it, but never remove it.
    OtherRun,
    /// Another run, which is about to remove it.
    BeingRemoved,
    /// Others.
    Foreign,
}

pub(crate) fn is_missing(fault: Fault) -> bool {
    as_errno(fault) == Some(libc::ENOENT)
}

impl Place {
    /// The description of the table; none if it does not exist.
    pub(crate) async fn describe(&self, client: &Client) -> Result<Option<Table>, Fault> {
        let body = format!(r#"{{"TableName":"{}"}}"#, self.target.table);
        match self.send(client, action!("DescribeTable"), body).await {
            Ok(answer) => Ok(Some(parse::<DescribeAnswer>(&answer)?.table)),
            Err(fault) if is_missing(fault) => Ok(None),
            Err(fault) => Err(fault),
        }
    }

    /// The description of the table once it is neither being made nor removed; none if it does not exist then.
    async fn wait_until_settled(&self, client: &Client) -> Result<Option<Table>, Fault> {
        let (begin, mut pause) = (Instant::now(), SHORTEST_PAUSE);
        loop {
            let found = self.describe(client).await?;
            let status = found.as_ref().map_or("", |table| table.status.as_str());
            if !matches!(status, "CREATING" | "DELETING") {
                return Ok(found);
            }
            if begin.elapsed() > MAX_WAIT
                || heartbeat::stopping_ns().is_some_and(|ns| ns > heartbeat::STOPPING_LIMIT_NS)
            {
                return Err(Fault::os(libc::ETIMEDOUT));
            }
            heartbeat::beat();
            tokio::time::sleep(pause).await;
            pause = (pause * 2).min(LONGEST_PAUSE);
        }
    }

    /// The text of an item, empty if it has none; none if there is no such item.
    pub(crate) async fn item_text(&self, client: &Client, of: &Key) -> Result<Option<String>, Fault> {
        let (table, item) = (&self.target.table, key(&self.target, of));
        let body = format!(r#"{{"TableName":"{table}","Key":{item},"ConsistentRead":true}}"#);
        let answer = self.send(client, action!("GetItem"), body).await?;
        let Some(item) = parse::<GetAnswer<'_>>(&answer)?.item else { return Ok(None) };
        // The service may send another item: it counts as missing.
        let same = self.key_of(&item).as_ref() == Some(of);
        Ok(same.then(|| item.text(CONTENTS_ATTRIBUTE).unwrap_or_default().to_owned()))
    }

    /// The key of an item that has one.
    pub(crate) fn key_of(&self, item: &Item<'_>) -> Option<Key> {
        let sort = match &self.target.sort_key {
            Some(name) => Some(item.text(name)?.to_owned()),
            None => None,
        };
        Some(Key { partition: item.text(&self.target.partition_key)?.to_owned(), sort })
    }

    /// Whether there is an item with this key.
    pub(crate) async fn has_item(&self, client: &Client, of: &Key) -> Result<bool, Fault> {
        Ok(self.item_text(client, of).await?.is_some())
    }

    /// Stores an item with a key and, unless it is empty, a text.
    pub(crate) async fn put_mark(&self, client: &Client, of: &Key, text: &str) -> Result<(), Fault> {
        let (table, mut item) = (&self.target.table, String::from("{"));
        write_key(&mut item, &self.target, of);
        if !text.is_empty() {
            let _ = write!(item, r#","{CONTENTS_ATTRIBUTE}":{{"S":"{text}"}}"#);
        }
        let body = format!(r#"{{"TableName":"{table}","Item":{item}}}}}"#);
        self.send(client, action!("PutItem"), body).await.map(drop)
    }

    /// The run's name, which is the text in the mark of a table that this run has made.
    pub(crate) fn run_name(&self) -> &str {
        self.target.run.as_deref().unwrap_or_default()
    }

    /// Marks the table as this run's, or with `being_removed` as one that is about to be removed.
    pub(crate) async fn mark_table(&self, client: &Client, being_removed: bool) -> Result<(), Fault> {
        let text = if being_removed {
            format!("{BEING_REMOVED_PREFIX}{}", self.run_name())
        } else {
            self.run_name().to_owned()
        };
        self.put_mark(client, &keys::mark_key(&self.target, MARK), &text).await
    }

    /// Who made the table.
    ///
    /// # Errors
    /// If the service refuses to say, or the table's keys are not those of the target.
    pub(crate) async fn ownership(&self, client: &Client) -> Result<Ownership, SetupError> {
        let error = |fault| self.error("open", self.table_path(), fault);
        let Some(table) = self.wait_until_settled(client).await.map_err(error)? else { return Ok(Ownership::Missing) };
        self.check_keys(&table)?;
        let marked = self.item_text(client, &keys::mark_key(&self.target, MARK)).await;
        match marked {
            Ok(Some(run)) if run.strip_prefix(BEING_REMOVED_PREFIX).unwrap_or(&run) == self.run_name() => {
                Ok(Ownership::Ours)
            }
            Ok(Some(run)) if run.starts_with(BEING_REMOVED_PREFIX) => Ok(Ownership::BeingRemoved),
            Ok(Some(_)) => Ok(Ownership::OtherRun),
            Ok(None) => Ok(Ownership::Foreign),
            // Removed between the two requests.
            Err(fault) if is_missing(fault) => Ok(Ownership::Missing),
            Err(fault) => Err(error(fault)),
        }
    }

    fn check_keys(&self, table: &Table) -> Result<(), SetupError> {
        let target = &self.target;
        let wanted = [("HASH", Some(&target.partition_key)), ("RANGE", target.sort_key.as_ref())];
        for (part, name) in wanted {
            let found = table.key(part);
            if found == name.map(|name| (name.as_str(), "S")) {
                continue;
            }
            let (what, field) =
                if part == "HASH" { ("partition key", "partition_key") } else { ("sort key", "sort_key") };
            let found = found.map(|(name, kind)| (self.access.shown(name).unwrap_or_default(), kind));
            let message = match (found, name) {
                (Some((found, "S")), _) => format!("its {what} is {found}: set {field} to that, or name another table"),
                (Some((found, _)), _) => format!("its {what} {found} is no text: name another table"),
                (None, _) => format!("it has no {what}: remove {field}, or name another table"),
            };
            return Err(SetupError::new("open", self.table_path(), message));
        }
        Ok(())
    }

    /// Refuses a table that others made, before anything is measured; that it does not exist is no error.
    ///
    /// # Errors
    /// If others made it, or the service refuses to say.
    pub(crate) fn check(&self) -> Result<Ownership, SetupError> {
        let client = self.access.client();
        let ownership = block_on(self.ownership(&client))??;
        self.refuse_foreign(ownership)?;
        Ok(ownership)
    }

    fn refuse_foreign(&self, ownership: Ownership) -> Result<(), SetupError> {
        if ownership != Ownership::Foreign || self.target.destroy {
            return Ok(());
        }
        let message = format!(
            "was not made by Assay, as it has no item {MARK}: name a table that is not there yet, or allow items whose \
             keys begin with {}/ in this one with --destroy",
            self.target.root
        );
        Err(SetupError::new("open", self.table_path(), message))
    }

    /// Finds or makes the table. `alone`: no other process works on the same job.
    ///
    /// # Errors
    /// If the table cannot be made, others made it, or it holds items of a job with this name.
    pub(crate) fn prepare(&self, alone: bool) -> Result<(), SetupError> {
        let client = self.access.client();
        block_on(async {
            for _ in 0..MAX_ATTEMPTS {
                let mut ownership = self.ownership(&client).await?;
                if ownership == Ownership::Missing {
                    ownership = self.make(&client).await?;
                }
                if ownership == Ownership::BeingRemoved
                    || (ownership == Ownership::Foreign && !self.target.destroy && !alone)
                {
                    ownership = self.wait_for_mark(&client).await?;
                }
                self.refuse_foreign(ownership)?;
                let is_ready = match ownership {
                    Ownership::Missing | Ownership::BeingRemoved => false,
                    _ => {
                        self.put_use_mark(&client, ownership).await?
                            && (!alone || self.begin_job(&client, ownership).await?)
                    }
                };
                if is_ready {
                    return Ok(());
                }
            }
            Err(SetupError::new("open", self.table_path(), REMOVED_AGAIN))
        })?
    }

    /// Puts a mark of this run into a table that another run made, for as long as this run lasts: no run removes a
    /// table with something in it. False if the table is gone.
    async fn put_use_mark(&self, client: &Client, ownership: Ownership) -> Result<bool, SetupError> {
        let Some(mark) = keys::use_mark_key(&self.target).filter(|_| ownership == Ownership::OtherRun) else {
            return Ok(true);
        };
        let error = |fault| self.error("create", self.root_path(), fault);
        if self.item_text(client, &mark).await.map_err(error)?.as_deref() != Some(self.run_name()) {
            match self.put_mark(client, &mark, self.run_name()).await {
                Err(fault) if is_missing(fault) => return Ok(false),
                marked => marked.map_err(error)?,
            }
            // A run that removes a table marks it as being removed before it looks for marks: it sees this mark, or is
            // seen here.
            return Ok(self.ownership(client).await? == Ownership::OtherRun);
        }
        Ok(true)
    }

    /// Puts the job's mark, which reserves its part of the table; false if another run removes the table meanwhile.
    async fn begin_job(&self, client: &Client, ownership: Ownership) -> Result<bool, SetupError> {
        let path = format!("{}/{}", self.root_path(), self.target.directory);
        let mark = keys::mark_key(&self.target, keys::job_prefix(&self.target));
        let error = |fault| self.error("create", path.clone(), fault);
        if self.has_item(client, &mark).await.map_err(error)? {
            return Err(SetupError::new("create", path, ALREADY_THERE));
        }
        match self.put_mark(client, &mark, self.run_name()).await {
            Err(fault) if is_missing(fault) => return Ok(false),
            marked => marked.map_err(error)?,
        }
        // As in `put_use_mark`: the run that removes the table sees this mark, or is seen here.
        if ownership != Ownership::OtherRun || self.ownership(client).await? == Ownership::OtherRun {
            return Ok(true);
        }
        let _ = self.remove(client, vec![mark]).await;
        Ok(false)
    }

    /// Makes the table and its mark, and returns who made it in the end.
    async fn make(&self, client: &Client) -> Result<Ownership, SetupError> {
        let error = |fault| self.error("create", self.table_path(), fault);
        match self.send(client, action!("CreateTable"), self.create_body()).await {
            Ok(_) => {}
            // Another process of this run was faster, and marks it.
            Err(fault) if fault_name(fault) == Some("ResourceInUseException") => {
                return self.wait_for_mark(client).await
            }
            Err(fault) => return Err(error(fault)),
        }
        let made = self.wait_until_settled(client).await.map_err(error)?;
        if made.is_none() {
            return Err(SetupError::new("create", self.table_path(), "was made, and is gone"));
        }
        // Some services answer the same for a table that exists.
        let empty = self.is_empty(client, false).await;
        if !empty.map_err(|trouble| self.error("create", self.table_path(), trouble))? {
            return self.wait_for_mark(client).await;
        }
        if let Err(fault) = self.mark_table(client, false).await {
            let _ = self.drop_table(client).await;
            return Err(self.error("create", format!("{}/{MARK}", self.table_path()), fault));
        }
        Ok(Ownership::Ours)
    }

    fn create_body(&self) -> String {
        let target = &self.target;
        let names = [Some(&target.partition_key), target.sort_key.as_ref()];
        let names = names.into_iter().flatten().zip(["HASH", "RANGE"]);
        let (mut attributes, mut schema) = (Vec::new(), Vec::new());
        for (name, part) in names {
            attributes.push(format!(r#"{{"AttributeName":"{name}","AttributeType":"S"}}"#));
            schema.push(format!(r#"{{"AttributeName":"{name}","KeyType":"{part}"}}"#));
        }
        let paid = match target.capacity {
            Capacity::OnDemand => r#""BillingMode":"PAY_PER_REQUEST""#.to_owned(),
            Capacity::Provisioned { read_units, write_units } => format!(
                r#""BillingMode":"PROVISIONED","ProvisionedThroughput":{{"ReadCapacityUnits":{read_units},"WriteCapacityUnits":{write_units}}}"#
            ),
        };
        let (attributes, schema) = (attributes.join(","), schema.join(","));
        format!(
            r#"{{"TableName":"{}","AttributeDefinitions":[{attributes}],"KeySchema":[{schema}],{paid}}}"#,
            target.table
        )
    }

    /// Who made the table, after waiting for another process of the same run to mark it.
    async fn wait_for_mark(&self, client: &Client) -> Result<Ownership, SetupError> {
        for _ in 0..MARK_CHECKS {
            let ownership = self.ownership(client).await?;
            if matches!(ownership, Ownership::Ours | Ownership::OtherRun) || heartbeat::stopping_ns().is_some() {
                return Ok(ownership);
            }
            tokio::time::sleep(MARK_PAUSE).await;
        }
        self.ownership(client).await
    }

    /// Removes the table, and waits until it is gone.
    pub(crate) async fn drop_table(&self, client: &Client) -> Result<(), Fault> {
        let body = format!(r#"{{"TableName":"{}"}}"#, self.target.table);
        self.send(client, action!("DeleteTable"), body).await?;
        self.wait_until_settled(client).await.map(drop)
    }
}
