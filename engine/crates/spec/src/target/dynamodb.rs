//! A table of a DynamoDB service.

use super::http::{ca_file, endpoints, is_prefix, is_word, signing, us_east_1, Balance, CONNECTION_BYTES, PREFIX};
use super::network::{minute, timeout};
use super::{job_directory, TargetRules};
use crate::validate::ensure;
use crate::{Job, JobError, OpKind, Operation};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Items whose keys begin with `root`/`directory`/ in a table, through the DynamoDB protocol (API version 2012-08-10)
/// over HTTP/1.1, by the engine's own client: it never sends a request twice, whatever fails.
///
/// The size of an object is that of the whole item as DynamoDB counts it, its names and keys included; the rest is one
/// attribute `d` of bytes. No job contains credentials: each engine finds them on its own host, as the AWS command line
/// does.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct DynamodbTarget {
    /// Addresses of the service: `http://HOST`, `http://HOST:PORT` or the same with `https`. Several lead to the same
    /// tables.
    #[schemars(length(min = 1, max = 1024))]
    pub endpoints: Vec<String>,
    /// Which of several endpoints a request goes to.
    #[serde(default)]
    pub balance: Balance,
    /// Name of the table. If it does not exist, it is created, marked with an item `.assay-target`, and removed
    /// afterwards.
    pub table: String,
    /// First part of all partition keys: plain names, with slashes between them.
    pub root: String,
    /// Second part of the keys of this job: 1 to 128 of `A-Z a-z 0-9 . _ -`, not starting with a dot.
    pub directory: String,
    /// Identity of the job's run, written into the mark of a table that it creates: only this run removes the table
    /// again. None: a job that belongs to no run.
    #[serde(default)]
    pub run: Option<String>,
    /// The user has confirmed that a table without the mark may be written to, below `root`.
    #[serde(default)]
    pub destroy: bool,
    /// Region for which requests are signed.
    #[serde(default = "us_east_1")]
    pub region: String,
    /// Profile of the shared files (`~/.aws/credentials`, `~/.aws/config`); none: the default one.
    #[serde(default)]
    pub profile: Option<String>,
    /// Attribute that is the partition key; it holds text.
    #[serde(default = "pk")]
    pub partition_key: String,
    /// Attribute that is the sort key; it holds text. None: the table has none.
    #[serde(default)]
    pub sort_key: Option<String>,
    /// Items with the same partition key, which differ in their sort keys.
    #[serde(default = "one")]
    #[schemars(range(min = 1, max = 1_000_000_000))]
    pub partition_items: u64,
    /// Billing mode of the table, if it is created.
    #[serde(default)]
    pub capacity: Capacity,
    /// Gets, batch gets, queries and scans see everything written before (strongly consistent); otherwise they may see
    /// a slightly older state, for half the capacity.
    #[serde(default)]
    pub consistent: bool,
    /// The job ends before it consumes more capacity units than this, as reported by the service.
    #[serde(default)]
    #[schemars(range(min = 1))]
    pub max_capacity_units: Option<u64>,
    /// The job ends before its operations send more requests than this.
    #[serde(default)]
    #[schemars(range(min = 1))]
    pub max_requests: Option<u64>,
    /// Absolute path of the certificates, in PEM, of the authority that signed the service's; none: those that the host
    /// trusts.
    #[serde(default)]
    pub ca_file: Option<String>,
    /// A request that has not ended after this long has failed (ETIMEDOUT).
    #[serde(default = "minute")]
    #[schemars(range(min = 100_000_000, max = 3_600_000_000_000_u64))]
    pub timeout_ns: u64,
}

/// Billing mode of a table (BillingMode of CreateTable).
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "mode", rename_all = "snake_case", deny_unknown_fields)]
#[schemars(extend("discriminator" = {"propertyName": "mode"}))]
pub enum Capacity {
    /// Billed by request.
    #[default]
    #[schemars(title = "OnDemandCapacity")]
    OnDemand,
    /// Billed for this many units a second, which may be used.
    #[schemars(title = "ProvisionedCapacity")]
    Provisioned {
        /// Read capacity units.
        #[schemars(range(min = 1, max = 1_000_000_000))]
        read_units: u64,
        /// Write capacity units.
        #[schemars(range(min = 1, max = 1_000_000_000))]
        write_units: u64,
    },
}

fn pk() -> String {
    "pk".to_owned()
}
fn one() -> u64 {
    1
}

/// Attribute that holds an item's contents.
pub const CONTENTS_ATTRIBUTE: &str = "d";
/// Hex digits of a lane in a partition key.
pub const LANE_DIGITS: usize = 7;
/// Hex digits of a partition in a partition key.
pub const PARTITION_DIGITS: usize = 10;
/// Hex digits of an item in a sort key.
pub const SORT_DIGITS: usize = 8;
/// Largest item (DynamoDB, Service quotas).
const MAX_ITEM_BYTES: u64 = 400 << 10;
/// Most items of one BatchWriteItem and BatchGetItem.
const MAX_WRITTEN: u16 = 25;
const MAX_FETCHED: u16 = 100;
/// Most bytes of one response, as it arrives.
const ANSWER_BYTES: u64 = 24 << 20;
const MAX_UNITS: u64 = 1_000_000_000;

fn is_attribute(name: &str) -> bool {
    (1..=255).contains(&name.len())
        && name.bytes().all(|b| b.is_ascii_alphanumeric() || b"._-".contains(&b))
        && name != CONTENTS_ATTRIBUTE
}

impl DynamodbTarget {
    /// Bytes of each item's names and keys (DynamoDB, item sizes and formats: names and text count their bytes).
    pub fn key_bytes(&self) -> u64 {
        let partition = self.root.len() + self.directory.len() + 2 + LANE_DIGITS + PARTITION_DIGITS;
        let sort = self.sort_key.as_ref().map_or(0, |name| name.len() + SORT_DIGITS);
        (self.partition_key.len() + partition + sort + CONTENTS_ATTRIBUTE.len()) as u64
    }

    fn validate_keys(&self) -> Result<(), JobError> {
        let name = "must be the name of an attribute other than d: 1 to 255 of A-Z a-z 0-9 . _ -";
        ensure(is_attribute(&self.partition_key), "target.partition_key", name)?;
        let sort = self.sort_key.as_ref();
        ensure(sort.is_none_or(|name| is_attribute(name)), "target.sort_key", name)?;
        let other = sort.is_none_or(|name| *name != self.partition_key);
        ensure(other, "target.sort_key", "must be another than partition_key")?;
        let count = (1..=1_000_000_000).contains(&self.partition_items);
        ensure(count, "target.partition_items", "must be 1 to 1,000,000,000")?;
        let distinct = self.partition_items == 1 || sort.is_some();
        ensure(distinct, "target.partition_items", "without a sort_key each item has a partition of its own")
    }

    fn validate_capacity(&self) -> Result<(), JobError> {
        if let Capacity::Provisioned { read_units, write_units } = self.capacity {
            for (name, units) in [("read_units", read_units), ("write_units", write_units)] {
                let at = format!("target.capacity.{name}");
                ensure((1..=MAX_UNITS).contains(&units), &at, "must be 1 to 1,000,000,000")?;
            }
        }
        ensure(self.max_capacity_units != Some(0), "target.max_capacity_units", "must be at least 1")?;
        ensure(self.max_requests != Some(0), "target.max_requests", "must be at least 1")
    }

    fn validate_items(&self, job: &Job) -> Result<(), JobError> {
        let Some(objects) = &job.objects else { return Ok(()) };
        let parts = objects.part_size_bytes.is_none();
        ensure(parts, "objects.part_size_bytes", "items are stored whole: leave it out")?;
        let (least, most) = (job.sizes.as_ref().map_or(job.file_size_bytes, crate::Sizes::smallest), job.largest_size());
        let keys = self.key_bytes();
        let message = format!("an item of {least} bytes has no room for its keys of {keys}: make it larger");
        ensure(least > keys, "file_size_bytes", message)?;
        ensure(most <= MAX_ITEM_BYTES, "file_size_bytes", "an item has at most 409,600 bytes (400 KiB)")?;
        for phase in &job.phases {
            let limits = [(Operation::BatchPut, MAX_WRITTEN), (Operation::BatchGet, MAX_FETCHED)];
            let limit = limits.iter().find(|(one, _)| *one == phase.operation).map_or(u16::MAX, |(_, limit)| *limit);
            let message = format!("{} takes at most {limit} items", phase.operation.name());
            ensure(objects.batch <= limit, "objects.batch", message)?;
            let heads = phase.mix.as_ref().is_some_and(|mix| mix.contains_key(&OpKind::Head));
            ensure(!heads, "phases.mix", "a table has no head: leave it out")?;
            ensure(phase.range_bytes.is_none(), "phases.range_bytes", "items are fetched whole: leave it out")?;
        }
        Ok(())
    }
}

impl TargetRules for DynamodbTarget {
    fn validate(&self, job: &Job) -> Result<(), JobError> {
        endpoints(&self.endpoints)?;
        let table = (3..=255).contains(&self.table.len()) && is_word(&self.table, 255);
        ensure(table, "target.table", "must be the name of a table: 3 to 255 of A-Z a-z 0-9 . _ -")?;
        ensure(is_prefix(&self.root), "target.root", PREFIX)?;
        job_directory(&self.directory, self.run.as_ref())?;
        signing(&self.region, self.profile.as_deref())?;
        self.validate_keys()?;
        self.validate_capacity()?;
        ca_file(self.ca_file.as_deref())?;
        timeout(self.timeout_ns)?;
        ensure(job.tree.is_none(), "tree", "a table has no files: say objects instead")?;
        self.validate_items(job)
    }

    fn lane_bytes(&self, job: &Job) -> u64 {
        // A request and its response, as text and decoded.
        let batch = job.objects.as_ref().map_or(1, |objects| u64::from(objects.batch));
        let several = job.phases.iter().any(|phase| phase.operation.moves_several());
        let each = if several { ANSWER_BYTES.min(batch.saturating_mul(4 * MAX_ITEM_BYTES).max(8 << 20)) } else { 4 * MAX_ITEM_BYTES };
        u64::from(job.queue_depth).saturating_mul(CONNECTION_BYTES.saturating_add(each))
    }

    fn set_directory(&mut self, name: &str) {
        name.clone_into(&mut self.directory);
    }

    fn key_bytes(&self) -> u64 {
        DynamodbTarget::key_bytes(self)
    }

    fn group_objects(&self) -> u64 {
        self.partition_items
    }
}
