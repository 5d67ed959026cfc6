//! What a host's links, processors and disks have done since it started.

use crate::{DeviceUse, HostCpu};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// A network interface since the host started (proc_pid_net(5), `dev`).
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct LinkCounters {
    /// Bytes received.
    pub received_bytes: u64,
    /// Bytes sent.
    pub sent_bytes: u64,
    /// Frames that were received and thrown away, or damaged.
    pub receive_drops: u64,
    /// Frames that were to be sent and were thrown away, or damaged.
    pub send_drops: u64,
    /// Bits per second that it can carry each way; none where it does not tell.
    pub speed: Option<u64>,
}

/// One line of `assay-engine counters`. All numbers count since the host, or the network namespace, was started.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Counters {
    /// Monotonic time of the host, in nanoseconds.
    pub at_ns: u64,
    /// All CPUs together; none where the kernel does not tell.
    pub cpu: Option<HostCpu>,
    /// CPUs that are online.
    pub cpus: u64,
    /// Network interfaces but the loopback, by name.
    pub links: BTreeMap<String, LinkCounters>,
    /// Whole disks, by name.
    pub disks: BTreeMap<String, DeviceUse>,
    /// TCP segments sent, those sent again not among them (RFC 4022, tcpOutSegs).
    pub segments: Option<u64>,
    /// TCP segments sent again (RFC 4022, tcpRetransSegs).
    pub segments_again: Option<u64>,
    /// Frames that the kernel has thrown away because it could not keep up (softnet_stat, second column).
    pub softnet_drops: Option<u64>,
}
