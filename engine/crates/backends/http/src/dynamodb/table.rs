//! The table: made and marked where there is none, refused where it is somebody else's.

use super::answers::{parsed, Described, Got, Item, Table};
use super::keys::{self, Key, MARK};
use super::place::Place;
use super::request::{action, key, write_key};
use crate::net::{block_on, Client};
use assay_core::{as_errno, fault_name, heartbeat, Fault, SetupError};
use assay_spec::{Capacity, CONTENTS_ATTRIBUTE};
use std::fmt::Write as _;
use std::time::{Duration, Instant};

/// Another process that has just made the table marks it at once; it is looked for so often, in steps.
const LOOKS: u32 = 50;
const STEP: Duration = Duration::from_millis(if cfg!(test) { 1 } else { 100 });
/// How long a table may take to be made or removed: AWS takes some seconds.
const PATIENCE: Duration = Duration::from_mins(10);
/// What the mark of a table says, before the name of the run, that is about to be removed.
const GOING: &str = "going:";
/// So often a table that another run removes meanwhile is made again.
const TRIES: u32 = 5;
/// Between two looks at a table that is being made or removed: short at first, since some services take no time.
const SHORTEST: Duration = Duration::from_millis(20);
const LONGEST: Duration = Duration::from_secs(2);

/// Whose a table is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Whose {
    /// There is none.
    Nobodys,
    /// Made by the run that the job belongs to, which may remove it.
    Ours,
    /// Made by another run of Assay: jobs may work in it, and leave it where it is.
    Assays,
    /// Another run is about to remove it.
    Going,
    /// There before.
    Foreign,
}

pub(crate) fn is_missing(fault: Fault) -> bool {
    as_errno(fault) == Some(libc::ENOENT)
}

impl Place {
    /// What the service says of the table; none if there is none.
    pub(crate) async fn described(&self, client: &Client) -> Result<Option<Table>, Fault> {
        let body = format!(r#"{{"TableName":"{}"}}"#, self.target.table);
        match self.ask(client, action!("DescribeTable"), body).await {
            Ok(answer) => Ok(Some(parsed::<Described>(&answer)?.table)),
            Err(fault) if is_missing(fault) => Ok(None),
            Err(fault) => Err(fault),
        }
    }

    /// The table once it is neither being made nor removed; none if there is none then.
    async fn settled(&self, client: &Client) -> Result<Option<Table>, Fault> {
        let (begin, mut pause) = (Instant::now(), SHORTEST);
        loop {
            let found = self.described(client).await?;
            let status = found.as_ref().map_or("", |table| table.status.as_str());
            if !matches!(status, "CREATING" | "DELETING") {
                return Ok(found);
            }
            if begin.elapsed() > PATIENCE
                || heartbeat::stopping_ns().is_some_and(|ns| ns > heartbeat::STOPPING_LIMIT_NS)
            {
                return Err(Fault::os(libc::ETIMEDOUT));
            }
            heartbeat::beat();
            tokio::time::sleep(pause).await;
            pause = (pause * 2).min(LONGEST);
        }
    }

    /// What the text of an item says, empty if it has none; none if there is no such item.
    pub(crate) async fn says(&self, client: &Client, of: &Key) -> Result<Option<String>, Fault> {
        let (table, item) = (&self.target.table, key(&self.target, of));
        let body = format!(r#"{{"TableName":"{table}","Key":{item},"ConsistentRead":true}}"#);
        let answer = self.ask(client, action!("GetItem"), body).await?;
        let Some(item) = parsed::<Got<'_>>(&answer)?.item else { return Ok(None) };
        // Whatever the service brings: it is that item, or none.
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

    /// Whether there is an item.
    pub(crate) async fn has(&self, client: &Client, of: &Key) -> Result<bool, Fault> {
        Ok(self.says(client, of).await?.is_some())
    }

    /// Stores an item that is nothing but its key, and a text if there is one.
    pub(crate) async fn mark(&self, client: &Client, of: &Key, text: &str) -> Result<(), Fault> {
        let (table, mut item) = (&self.target.table, String::from("{"));
        write_key(&mut item, &self.target, of);
        if !text.is_empty() {
            let _ = write!(item, r#","{CONTENTS_ATTRIBUTE}":{{"S":"{text}"}}"#);
        }
        let body = format!(r#"{{"TableName":"{table}","Item":{item}}}}}"#);
        self.ask(client, action!("PutItem"), body).await.map(drop)
    }

    /// What the mark of a table says that this run has made.
    pub(crate) fn run(&self) -> &str {
        self.target.run.as_deref().unwrap_or_default()
    }

    /// Marks the table as this run's; `going`: it is about to be removed.
    pub(crate) async fn mark_table(&self, client: &Client, going: bool) -> Result<(), Fault> {
        let text = if going { format!("{GOING}{}", self.run()) } else { self.run().to_owned() };
        self.mark(client, &keys::of_mark(&self.target, MARK), &text).await
    }

    /// Whose the table is.
    ///
    /// # Errors
    /// If the service does not tell, or the table has other keys than the target says.
    pub(crate) async fn whose(&self, client: &Client) -> Result<Whose, SetupError> {
        let error = |fault| self.error("open", self.table_path(), fault);
        let Some(table) = self.settled(client).await.map_err(error)? else { return Ok(Whose::Nobodys) };
        self.check_keys(&table)?;
        let marked = self.says(client, &keys::of_mark(&self.target, MARK)).await;
        match marked {
            Ok(Some(run)) if run.strip_prefix(GOING).unwrap_or(&run) == self.run() => Ok(Whose::Ours),
            Ok(Some(run)) if run.starts_with(GOING) => Ok(Whose::Going),
            Ok(Some(_)) => Ok(Whose::Assays),
            Ok(None) => Ok(Whose::Foreign),
            // Removed between the two looks.
            Err(fault) if is_missing(fault) => Ok(Whose::Nobodys),
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
            let found = found.map(|(name, kind)| (self.reach.shown(name).unwrap_or_default(), kind));
            let message = match (found, name) {
                (Some((found, "S")), _) => format!("its {what} is {found}: set {field} to that, or name another table"),
                (Some((found, _)), _) => format!("its {what} {found} is no text: name another table"),
                (None, _) => format!("it has no {what}: remove {field}, or name another table"),
            };
            return Err(SetupError::new("open", self.table_path(), message));
        }
        Ok(())
    }

    /// Refuses a table of somebody else, before anything is measured; there may be none yet.
    ///
    /// # Errors
    /// If it is, or the service does not tell.
    pub(crate) fn check(&self) -> Result<Whose, SetupError> {
        let client = self.reach.client();
        let whose = block_on(self.whose(&client))??;
        self.refuse_foreign(whose)?;
        Ok(whose)
    }

    fn refuse_foreign(&self, whose: Whose) -> Result<(), SetupError> {
        if whose != Whose::Foreign || self.target.destroy {
            return Ok(());
        }
        let message = format!(
            "was not made by Assay, as it has no item {MARK}: name a table that is not there yet, or allow items whose \
             keys begin with {}/ in this one with --destroy",
            self.target.root
        );
        Err(SetupError::new("open", self.table_path(), message))
    }

    /// Finds the table or makes it. `alone`: no other process works for the same job.
    ///
    /// # Errors
    /// If it cannot be made, is somebody else's, or holds what a job of this name has left.
    pub(crate) fn prepare(&self, alone: bool) -> Result<(), SetupError> {
        let client = self.reach.client();
        block_on(async {
            for _ in 0..TRIES {
                let mut whose = self.whose(&client).await?;
                if whose == Whose::Nobodys {
                    whose = self.make(&client).await?;
                }
                if whose == Whose::Going || (whose == Whose::Foreign && !self.target.destroy && !alone) {
                    whose = self.wait_for_mark(&client).await?;
                }
                self.refuse_foreign(whose)?;
                let held = match whose {
                    Whose::Nobodys | Whose::Going => false,
                    _ => self.hold(&client, whose).await? && (!alone || self.begin_job(&client, whose).await?),
                };
                if held {
                    return Ok(());
                }
            }
            let message = "another run removes it again and again: name another";
            Err(SetupError::new("open", self.table_path(), message))
        })?
    }

    /// Marks a table that another run has made as one that this run works in, until it ends: it is not removed as long as
    /// something is in it; false if that has happened meanwhile.
    async fn hold(&self, client: &Client, whose: Whose) -> Result<bool, SetupError> {
        let Some(mark) = keys::of_use(&self.target).filter(|_| whose == Whose::Assays) else { return Ok(true) };
        let error = |fault| self.error("create", self.root_path(), fault);
        if self.says(client, &mark).await.map_err(error)?.as_deref() != Some(self.run()) {
            match self.mark(client, &mark, self.run()).await {
                Err(fault) if is_missing(fault) => return Ok(false),
                marked => marked.map_err(error)?,
            }
            // Whoever removes a table says so before he looks whether it is used: he has seen this mark, or it is seen here.
            return Ok(self.whose(client).await? == Whose::Assays);
        }
        Ok(true)
    }

    /// Marks the job's part of the table, which nobody else may use; false if another run removes the table meanwhile.
    async fn begin_job(&self, client: &Client, whose: Whose) -> Result<bool, SetupError> {
        let path = format!("{}/{}", self.root_path(), self.target.directory);
        let mark = keys::of_mark(&self.target, keys::folder(&self.target));
        let error = |fault| self.error("create", path.clone(), fault);
        if self.has(client, &mark).await.map_err(error)? {
            let message = "is already there: another job, or remains of one, which `assay-engine clean` removes";
            return Err(SetupError::new("create", path, message));
        }
        match self.mark(client, &mark, self.run()).await {
            Err(fault) if is_missing(fault) => return Ok(false),
            marked => marked.map_err(error)?,
        }
        // Whoever removes a table says so before he looks whether it is used: he has seen this mark, or it is seen here.
        if whose != Whose::Assays || self.whose(client).await? == Whose::Assays {
            return Ok(true);
        }
        let _ = self.remove(client, vec![mark]).await;
        Ok(false)
    }

    /// Makes the table and its mark; whose it is then.
    async fn make(&self, client: &Client) -> Result<Whose, SetupError> {
        let error = |fault| self.error("create", self.table_path(), fault);
        match self.ask(client, action!("CreateTable"), self.create_body()).await {
            Ok(_) => {}
            // Another process of this run was quicker, and marks it.
            Err(fault) if fault_name(fault) == Some("ResourceInUseException") => {
                return self.wait_for_mark(client).await
            }
            Err(fault) => return Err(error(fault)),
        }
        let made = self.settled(client).await.map_err(error)?;
        if made.is_none() {
            return Err(SetupError::new("create", self.table_path(), "was made, and is gone"));
        }
        // Some services say so of one that was there.
        let empty = self.is_empty(client, false).await;
        if !empty.map_err(|trouble| self.error("create", self.table_path(), trouble))? {
            return self.wait_for_mark(client).await;
        }
        if let Err(fault) = self.mark_table(client, false).await {
            let _ = self.drop_table(client).await;
            return Err(self.error("create", format!("{}/{MARK}", self.table_path()), fault));
        }
        Ok(Whose::Ours)
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

    /// Whose the table is, after a while in which another process of the same run may mark it.
    async fn wait_for_mark(&self, client: &Client) -> Result<Whose, SetupError> {
        for _ in 0..LOOKS {
            let whose = self.whose(client).await?;
            if matches!(whose, Whose::Ours | Whose::Assays) || heartbeat::stopping_ns().is_some() {
                return Ok(whose);
            }
            tokio::time::sleep(STEP).await;
        }
        self.whose(client).await
    }

    /// Removes the table, and waits until it is gone.
    pub(crate) async fn drop_table(&self, client: &Client) -> Result<(), Fault> {
        let body = format!(r#"{{"TableName":"{}"}}"#, self.target.table);
        self.ask(client, action!("DeleteTable"), body).await?;
        self.settled(client).await.map(drop)
    }
}
