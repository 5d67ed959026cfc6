//! A bucket of an S3 service.

use super::http::{ca_file, endpoints, is_prefix, is_word, signing, us_east_1, Balance, CONNECTION_BYTES, PREFIX};
use super::network::{minute, timeout};
use super::{job_directory, TargetRules};
use crate::validate::ensure;
use crate::{Job, JobError, OpKind};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Objects whose keys begin with `root`/`directory`/ in a bucket, through the S3 protocol over HTTP/1.1, by the
/// engine's own client: it never sends a request twice, whatever fails.
///
/// No job contains credentials: each engine finds them on its own host, as the AWS command line does (environment,
/// profile, web identity, container, instance).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct S3Target {
    /// Addresses of the service: `http://HOST`, `http://HOST:PORT` or the same with `https`. Several lead to the same
    /// buckets.
    #[schemars(length(min = 1, max = 1024))]
    pub endpoints: Vec<String>,
    /// Which of several endpoints a request goes to.
    #[serde(default)]
    pub balance: Balance,
    /// Name of the bucket. If it does not exist, it is created, marked with an object `.assay-target`, and removed
    /// afterwards.
    pub bucket: String,
    /// The job only reads existing objects, those whose keys begin with this (empty: all): nothing is written, marked
    /// or removed in the bucket. Each lane has up to `objects.count` of them, drawn with the seed from the whole list;
    /// no two lanes have the same one. None: the job creates its own.
    #[serde(default)]
    #[schemars(length(max = 1024))]
    pub existing: Option<String>,
    /// First part of all created keys: plain names, with slashes between them.
    pub root: String,
    /// Second part of the keys of this job: 1 to 128 of `A-Z a-z 0-9 . _ -`, not starting with a dot.
    pub directory: String,
    /// Identity of the job's run, written into the mark of a bucket that it creates: only this run removes the bucket
    /// again. None: a job that belongs to no run.
    #[serde(default)]
    pub run: Option<String>,
    /// The user has confirmed that a bucket without the mark may be written to, below `root`.
    #[serde(default)]
    pub destroy: bool,
    /// Region for which requests are signed.
    #[serde(default = "us_east_1")]
    pub region: String,
    /// Position of the bucket's name in a request.
    #[serde(default)]
    pub addressing: Addressing,
    /// Profile of the shared files (`~/.aws/credentials`, `~/.aws/config`); none: the default one.
    #[serde(default)]
    pub profile: Option<String>,
    /// Requests are not signed.
    #[serde(default)]
    pub anonymous: bool,
    /// The bucket, if it is created, keeps every version of its objects.
    #[serde(default)]
    pub versioned: bool,
    /// Storage class of stored objects, such as `STANDARD_IA`; none: the bucket's own.
    #[serde(default)]
    pub storage_class: Option<String>,
    /// Checksum that is sent with each put, and compared with each get of a whole object for which the service returns
    /// one.
    #[serde(default)]
    pub checksum: Checksum,
    /// Layout of keys over prefixes.
    #[serde(default)]
    pub keys: KeyLayout,
    /// Puts are conditional (`If-None-Match: *`): the service refuses to overwrite an existing object.
    #[serde(default)]
    pub if_none_match: bool,
    /// Absolute path of the certificates, in PEM, of the authority that signed the service's; none: those that the host
    /// trusts.
    #[serde(default)]
    pub ca_file: Option<String>,
    /// A request that has not ended after this long has failed (ETIMEDOUT).
    #[serde(default = "minute")]
    #[schemars(range(min = 100_000_000, max = 3_600_000_000_000_u64))]
    pub timeout_ns: u64,
}

/// Position of the bucket's name in a request.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(title = "Addressing")]
pub enum Addressing {
    /// In the path: `http://HOST/BUCKET/KEY`.
    #[default]
    Path,
    /// In the host's name: `http://BUCKET.HOST/KEY`.
    VirtualHost,
}

/// A checksum of an object's contents.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(title = "Checksum")]
pub enum Checksum {
    /// None.
    #[default]
    None,
    /// `Content-MD5`, and what is stored must have that ETag.
    Md5,
    /// `x-amz-checksum-crc32`.
    Crc32,
    /// `x-amz-checksum-crc32c`.
    Crc32c,
    /// `x-amz-checksum-crc64nvme`.
    Crc64nvme,
    /// `x-amz-checksum-sha256`.
    Sha256,
}

/// How the keys of a lane's objects are spread over prefixes.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "layout", rename_all = "snake_case", deny_unknown_fields)]
#[schemars(extend("discriminator" = {"propertyName": "layout"}))]
pub enum KeyLayout {
    /// Consecutive keys without a prefix.
    #[default]
    #[schemars(title = "FlatKeys")]
    Flat,
    /// In turn below several prefixes of each lane.
    #[schemars(title = "PrefixedKeys")]
    Prefixes {
        /// Prefixes of each lane.
        #[schemars(range(min = 1, max = 1_000_000))]
        count: u32,
    },
    /// After four random hex digits.
    #[schemars(title = "RandomKeys")]
    Random,
}


/// Memory for each part of an object that is being stored in parts.
const PART_BYTES: u64 = 128;

/// Memory for each existing object: its name of 1 KiB at most, its size, its position in the draw.
const EXISTING_BYTES: u64 = 1152;
/// Longest key (Amazon S3 User Guide, object key names).
const MAX_KEY_BYTES: usize = 1024;

/// True for bucket names as AWS allows them, and some more that other services allow.
fn is_bucket(name: &str) -> bool {
    (3..=63).contains(&name.len())
        && name.bytes().all(|b| b.is_ascii_alphanumeric() || b"._-".contains(&b))
        && name.starts_with(|first: char| first.is_ascii_alphanumeric())
        && !name.contains("..")
}

impl S3Target {
    /// Check that options for created objects are unset if the job reads existing ones.
    fn validate_existing(&self) -> Result<(), JobError> {
        let Some(start) = &self.existing else { return Ok(()) };
        ensure(start.len() <= MAX_KEY_BYTES, "target.existing", "must be at most 1024 bytes: no key is longer")?;
        let useless = [
            ("storage_class", self.storage_class.is_some()),
            ("versioned", self.versioned),
            ("if_none_match", self.if_none_match),
            ("keys", self.keys != KeyLayout::Flat),
        ];
        for (name, is_set) in useless {
            ensure(!is_set, &format!("target.{name}"), "is for objects that are put: leave it out, or existing")?;
        }
        Ok(())
    }
}

impl TargetRules for S3Target {
    fn validate(&self, job: &Job) -> Result<(), JobError> {
        endpoints(&self.endpoints)?;
        let bucket = "must be the name of a bucket: 3 to 63 of A-Z a-z 0-9 . _ -, beginning with a letter or digit";
        ensure(is_bucket(&self.bucket), "target.bucket", bucket)?;
        ensure(is_prefix(&self.root), "target.root", PREFIX)?;
        job_directory(&self.directory, self.run.as_ref())?;
        signing(&self.region, self.profile.as_deref())?;
        let one = self.profile.is_none() || !self.anonymous;
        ensure(one, "target.profile", "is of no use where anonymous is true: leave one out")?;
        let class = self.storage_class.as_ref().is_none_or(|name| is_word(name, 128));
        ensure(class, "target.storage_class", "must be a name such as STANDARD_IA")?;
        if let KeyLayout::Prefixes { count } = self.keys {
            ensure((1..=1_000_000).contains(&count), "target.keys.count", "must be 1 to 1,000,000")?;
        }
        self.validate_existing()?;
        ca_file(self.ca_file.as_deref())?;
        timeout(self.timeout_ns)?;
        let updates = |phase: &crate::Phase| phase.mix.as_ref().is_some_and(|mix| mix.contains_key(&OpKind::Update));
        ensure(!job.phases.iter().any(updates), "phases.mix", "a bucket has no update: leave it out")?;
        ensure(job.tree.is_none(), "tree", "a bucket has no files: say objects instead")
    }

    fn lane_bytes(&self, job: &Job) -> u64 {
        let parts = job.objects.as_ref().and_then(|objects| objects.part_size_bytes);
        let parts = parts.map_or(0, |part| job.largest_size().div_ceil(part.max(1)));
        let each = CONNECTION_BYTES.saturating_add(parts.saturating_mul(PART_BYTES));
        // Each process draws the objects of all of them.
        let existing_bytes = if self.existing.is_some() { u64::from(job.ranks).saturating_mul(EXISTING_BYTES) } else { 0 };
        let count = job.objects.as_ref().map_or(0, |objects| objects.count);
        u64::from(job.queue_depth).saturating_mul(each).saturating_add(count.saturating_mul(existing_bytes))
    }

    fn only_reads(&self) -> bool {
        self.existing.is_some()
    }

    fn set_directory(&mut self, name: &str) {
        name.clone_into(&mut self.directory);
    }
}
