//! Counters of a host's links, processors and disks since it started.

use crate::{DeviceUse, HostCpu};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Counters of a network interface since the host started (proc_pid_net(5), `dev`).
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct LinkCounters {
    /// Bytes received.
    pub received_bytes: u64,
    /// Bytes sent.
    pub sent_bytes: u64,
    /// Received frames that were dropped or damaged.
    pub receive_drops: u64,
    /// Frames to send that were dropped or damaged.
    pub send_drops: u64,
    /// Bits per second that it can carry each way; none if unknown.
    pub speed: Option<u64>,
}

/// One line of `assay-engine counters`. All numbers count since the host, or the network namespace, started.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Counters {
    /// Monotonic time of the host, in nanoseconds.
    pub at_ns: u64,
    /// All CPUs together; none if unknown.
    pub cpu: Option<HostCpu>,
    /// Online CPUs.
    pub cpus: u64,
    /// Network interfaces except the loopback, by name.
    pub links: BTreeMap<String, LinkCounters>,
    /// Whole disks, by name.
    pub disks: BTreeMap<String, DeviceUse>,
    /// TCP segments sent, without retransmissions (RFC 4022, tcpOutSegs).
    pub segments: Option<u64>,
    /// TCP segments retransmitted (RFC 4022, tcpRetransSegs).
    pub segments_again: Option<u64>,
    /// Frames that the kernel dropped because it could not keep up (softnet_stat, second column).
    pub softnet_drops: Option<u64>,
}
