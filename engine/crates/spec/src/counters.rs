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

/// Bytes between a mounted NFS file system and its server since it was mounted (nfsiostat(8): serverread, serverwrite).
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct MountCounters {
    /// Bytes read from the server.
    pub read_bytes: u64,
    /// Bytes written to the server.
    pub write_bytes: u64,
}

/// How long programs of the host have waited for a resource (kernel documentation, "PSI").
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Pressure {
    /// Time in which at least one thread waited, in nanoseconds.
    pub some_ns: u64,
    /// Time in which all threads that were not idle waited, in nanoseconds.
    pub full_ns: u64,
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
    /// Network interfaces, by name.
    pub links: BTreeMap<String, LinkCounters>,
    /// Whole disks, by name.
    pub disks: BTreeMap<String, DeviceUse>,
    /// Mounted NFS file systems, by mount point.
    pub mounts: BTreeMap<String, MountCounters>,
    /// Waits for I/O; none if the kernel does not count them.
    pub io_pressure: Option<Pressure>,
    /// TCP segments sent, without retransmissions (RFC 4022, tcpOutSegs).
    pub segments: Option<u64>,
    /// TCP segments retransmitted (RFC 4022, tcpRetransSegs).
    pub segments_again: Option<u64>,
    /// Frames that the kernel dropped because it could not keep up (softnet_stat, second column).
    pub softnet_drops: Option<u64>,
}
