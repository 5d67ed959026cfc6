//! An SMB share.

use super::network::{call_sizes, minute, one, servers, timeout, REPLY_BYTES};
use super::TargetRules;
use crate::validate::{ensure, plain_name, PLAIN};
use crate::{Job, JobError};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Files in `root`/`directory` of a share, through SMB over TCP ([MS-SMB2]), by the engine's own client.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SmbTarget {
    /// Servers of the same kind of share, each `HOST` or `HOST:PORT`; lane i uses the (i modulo n)-th.
    #[schemars(length(min = 1, max = 1024))]
    pub servers: Vec<String>,
    /// Names of shares; lane i uses the (i divided by the number of servers, modulo n)-th.
    #[schemars(length(min = 1, max = 1024))]
    pub shares: Vec<String>,
    /// Name of the directory in each share that the engine creates and marks with a file `.assay-target`; an existing
    /// one without the mark is refused.
    pub root: String,
    /// Name of the directory below it that this job uses: 1 to 128 of `A-Z a-z 0-9 . _ -`, not starting with a dot.
    pub directory: String,
    /// File with `username=`, `password=` and optionally `domain=`, as of mount.cifs(8); none: `USER` or `user`, and
    /// `PASSWD` of the engine's environment.
    #[serde(default)]
    pub credentials: Option<String>,
    /// User if no file names one; none: `USER` of the environment.
    #[serde(default)]
    pub user: Option<String>,
    /// Newest version to negotiate (mount.cifs(8) vers).
    #[serde(default)]
    pub version: SmbVersion,
    /// Messages are signed even if the server does not require it.
    #[serde(default)]
    pub signing: bool,
    /// Messages are encrypted even if the server does not require it; needs version 3.0 or newer.
    #[serde(default)]
    pub encryption: bool,
    /// TCP connections of each lane (mount.cifs(8) max_channels); several need version 3.0 and a server with multichannel.
    #[serde(default = "one")]
    #[schemars(range(min = 1, max = 16))]
    pub channels: u32,
    /// Most bytes of one READ (mount.cifs(8) rsize); the server may allow less.
    #[serde(default = "four_mebibytes")]
    #[schemars(range(min = 1024, max = 1_073_741_824))]
    pub rsize: u64,
    /// Most bytes of one WRITE (mount.cifs(8) wsize); the server may allow less.
    #[serde(default = "four_mebibytes")]
    #[schemars(range(min = 1024, max = 1_073_741_824))]
    pub wsize: u64,
    /// A request without a response for this long fails (ETIMEDOUT). Until then a lost connection is opened again, and
    /// reads and writes of an open file's data are requested again.
    #[serde(default = "minute")]
    #[schemars(range(min = 100_000_000, max = 3_600_000_000_000_u64))]
    pub timeout_ns: u64,
}

/// A version of SMB.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[schemars(title = "SmbVersion")]
pub enum SmbVersion {
    /// Of Windows 7.
    #[serde(rename = "2.1")]
    V2_1,
    /// Of Windows 8.
    #[serde(rename = "3.0")]
    V3_0,
    /// Of Windows 8.1.
    #[serde(rename = "3.0.2")]
    V3_0_2,
    /// Of Windows 10 and later.
    #[default]
    #[serde(rename = "3.1.1")]
    V3_1_1,
}

fn four_mebibytes() -> u64 {
    4 << 20
}


impl TargetRules for SmbTarget {
    fn validate(&self, _job: &Job) -> Result<(), JobError> {
        let share = |name: &String| {
            (1..=80).contains(&name.chars().count())
                && !name.chars().any(|letter| letter.is_control() || "\"/\\[]:|<>+=;,*?".contains(letter))
        };
        servers(&self.servers, 445)?;
        ensure(
            (1..=1024).contains(&self.shares.len()) && self.shares.iter().all(share),
            "target.shares",
            "must be 1 to 1024 names of shares, each of 1 to 80 letters without any of \" / \\ [ ] : | < > + = ; , * ?",
        )?;
        ensure(plain_name(&self.root), "target.root", PLAIN)?;
        ensure(plain_name(&self.directory), "target.directory", PLAIN)?;
        ensure((1..=16).contains(&self.channels), "target.channels", "must be 1 to 16")?;
        let modern = self.version >= SmbVersion::V3_0;
        ensure(modern || !self.encryption, "target.encryption", "needs version 3.0 or newer")?;
        ensure(modern || self.channels == 1, "target.channels", "several need version 3.0 or newer")?;
        call_sizes(self.rsize, self.wsize)?;
        timeout(self.timeout_ns)
    }

    fn lane_bytes(&self, _job: &Job) -> u64 {
        // Signed or encrypted messages are in a separate buffer while they are sent.
        let message = self.rsize.max(self.wsize).min(8 << 20);
        u64::from(self.channels).saturating_mul(REPLY_BYTES + 2 * message)
    }

    fn set_directory(&mut self, name: &str) {
        name.clone_into(&mut self.directory);
    }

    fn places(&self) -> usize {
        self.servers.len() * self.shares.len()
    }
}
