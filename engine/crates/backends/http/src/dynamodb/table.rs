//! The table: made and marked where there is none, refused where it is somebody else's.

use super::answers::{parsed, Described, Got, Table};
use super::keys::{self, Key, MARK};
use super::place::Place;
use super::request::{action, key};
use crate::net::{block_on, Client};
use assay_core::{as_errno, fault_name, pulse, Fault, SetupError};
use assay_spec::Capacity;
use std::time::{Duration, Instant};

/// Another process that has just made the table marks it at once; it is looked for so often, in steps.
const LOOKS: u32 = 50;
const STEP: Duration = Duration::from_millis(100);
/// How long a table may take to be made or removed: AWS takes some seconds.
const PATIENCE: Duration = Duration::from_mins(10);
/// Between two looks at a table that is being made or removed: short at first, since some services take no time.
const SHORTEST: Duration = Duration::from_millis(20);
const LONGEST: Duration = Duration::from_secs(2);

/// Whose a table is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Whose {
    /// There is none.
    Nobodys,
    /// Made by Assay.
    Ours,
    /// There before.
    Foreign,
}

pub(crate) fn is_missing(fault: Fault) -> bool {
    as_errno(fault) == Some(libc::ENOENT)
}

impl Place {
    /// What the service says of the table; none if there is none.
    async fn described(&self, client: &Client) -> Result<Option<Table>, Fault> {
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
            if begin.elapsed() > PATIENCE {
                return Err(Fault::os(libc::ETIMEDOUT));
            }
            pulse::beat();
            tokio::time::sleep(pause).await;
            pause = (pause * 2).min(LONGEST);
        }
    }

    /// Whether there is an item.
    pub(crate) async fn has(&self, client: &Client, of: &Key) -> Result<bool, Fault> {
        let (table, item) = (&self.target.table, key(&self.target, of));
        let body = format!(r#"{{"TableName":"{table}","Key":{item},"ConsistentRead":true}}"#);
        let answer = self.ask(client, action!("GetItem"), body).await?;
        Ok(parsed::<Got<'_>>(&answer)?.item.is_some())
    }

    /// Stores an item that is nothing but its key.
    pub(crate) async fn mark(&self, client: &Client, of: &Key) -> Result<(), Fault> {
        let (table, item) = (&self.target.table, key(&self.target, of));
        let body = format!(r#"{{"TableName":"{table}","Item":{item}}}"#);
        self.ask(client, action!("PutItem"), body).await.map(drop)
    }

    /// Whose the table is.
    ///
    /// # Errors
    /// If the service does not tell, or the table has other keys than the target says.
    pub(crate) async fn whose(&self, client: &Client) -> Result<Whose, SetupError> {
        let error = |fault| self.error("open", self.table_path(), fault);
        let Some(table) = self.settled(client).await.map_err(error)? else { return Ok(Whose::Nobodys) };
        self.check_keys(&table)?;
        let marked = self.has(client, &keys::of_mark(&self.target, MARK)).await;
        match marked {
            Ok(true) => Ok(Whose::Ours),
            Ok(false) => Ok(Whose::Foreign),
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
            let mut whose = self.whose(&client).await?;
            if whose == Whose::Nobodys {
                whose = self.make(&client).await?;
            } else if whose == Whose::Foreign && !self.target.destroy && !alone {
                whose = self.wait_for_mark(&client).await?;
            }
            self.refuse_foreign(whose)?;
            if alone {
                self.begin_job(&client).await
            } else {
                Ok(())
            }
        })?
    }

    /// Marks the job's part of the table, which nobody else may use.
    async fn begin_job(&self, client: &Client) -> Result<(), SetupError> {
        let path = format!("{}/{}", self.root_path(), self.target.directory);
        let mark = keys::of_mark(&self.target, keys::folder(&self.target));
        let error = |fault| self.error("create", path.clone(), fault);
        if self.has(client, &mark).await.map_err(error)? {
            let message = "is already there: another job, or remains of one, which `assay-engine clean` removes";
            return Err(SetupError::new("create", path, message));
        }
        self.mark(client, &mark).await.map_err(error)
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
        if let Err(fault) = self.mark(client, &keys::of_mark(&self.target, MARK)).await {
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
            if self.whose(client).await? == Whose::Ours {
                return Ok(Whose::Ours);
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
