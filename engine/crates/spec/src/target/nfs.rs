//! An NFS export.

use super::network::{call_sizes, minute, one, servers, timeout, REPLY_BYTES};
use super::TargetRules;
use crate::validate::{absolute_without_dots, ensure, plain_name, ABSOLUTE, PLAIN};
use crate::{Job, JobError, Tree};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Files in `root`/`directory` of an export, through NFS version 3 over TCP (RFC 1813), by the engine's own client.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct NfsTarget {
    /// Servers of the same kind of export, each `HOST` or `HOST:PORT`; lane i uses the (i modulo n)-th.
    #[schemars(length(min = 1, max = 1024))]
    pub servers: Vec<String>,
    /// Path that the servers export.
    pub export: String,
    /// Name of the directory in the export that the engine creates and marks with a file `.assay-target`; an existing
    /// one without the mark is refused.
    pub root: String,
    /// Name of the directory below it that this job uses: 1 to 128 of `A-Z a-z 0-9 . _ -`, not starting with a dot.
    pub directory: String,
    /// Port of the mount service; none: found through the server's portmapper.
    #[serde(default)]
    pub mount_port: Option<u16>,
    /// TCP connections of each lane (nfs(5) nconnect).
    #[serde(default = "one")]
    #[schemars(range(min = 1, max = 16))]
    pub nconnect: u32,
    /// Most bytes of one READ call (nfs(5) rsize); the server may allow less.
    #[serde(default = "mebibyte")]
    #[schemars(range(min = 1024, max = 1_073_741_824))]
    pub rsize: u64,
    /// Most bytes of one WRITE call (nfs(5) wsize); the server may allow less.
    #[serde(default = "mebibyte")]
    #[schemars(range(min = 1024, max = 1_073_741_824))]
    pub wsize: u64,
    /// User id of calls (AUTH_SYS); none: the engine's own.
    #[serde(default)]
    pub uid: Option<u32>,
    /// Group id of calls; none: the engine's own.
    #[serde(default)]
    pub gid: Option<u32>,
    /// A call without a reply for this long fails (ETIMEDOUT). Until then a broken connection is opened again and calls
    /// without a reply are sent again, as by a hard mount.
    #[serde(default = "minute")]
    #[schemars(range(min = 100_000_000, max = 3_600_000_000_000_u64))]
    pub timeout_ns: u64,
}

fn mebibyte() -> u64 {
    1 << 20
}

/// Memory for the handle of a directory of a tree.
const HANDLE_BYTES: u64 = 128;

impl TargetRules for NfsTarget {
    fn validate(&self, _job: &Job) -> Result<(), JobError> {
        servers(&self.servers, 2049)?;
        ensure(absolute_without_dots(&self.export), "target.export", ABSOLUTE)?;
        ensure(plain_name(&self.root), "target.root", PLAIN)?;
        ensure(plain_name(&self.directory), "target.directory", PLAIN)?;
        ensure(self.mount_port != Some(0), "target.mount_port", "must be 1 to 65535")?;
        ensure((1..=16).contains(&self.nconnect), "target.nconnect", "must be 1 to 16")?;
        call_sizes(self.rsize, self.wsize)?;
        timeout(self.timeout_ns)
    }

    fn lane_bytes(&self, job: &Job) -> u64 {
        // Each lane knows the directories of its tree, possibly all of them.
        let leaves = job.tree.as_ref().map_or(0, Tree::leaves);
        let connections = u64::from(self.nconnect).saturating_mul(REPLY_BYTES);
        connections.saturating_add(leaves.saturating_mul(HANDLE_BYTES))
    }

    fn set_directory(&mut self, name: &str) {
        name.clone_into(&mut self.directory);
    }

    fn places(&self) -> usize {
        self.servers.len()
    }
}
