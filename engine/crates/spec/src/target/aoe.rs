//! A disk behind ATA over Ethernet.

use super::network::{minute, timeout};
use super::TargetRules;
use crate::validate::ensure;
use crate::{Job, JobError, Layout};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A disk behind ATA over Ethernet (AoEr11), reached by frames that the engine itself sends and receives, without the
/// kernel's driver and cache. All data on the disk is lost.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct AoeTarget {
    /// Network interfaces of this host, on each of which the disk responds. Frames are spread over them.
    #[schemars(length(min = 1, max = 8))]
    pub interfaces: Vec<String>,
    /// First part of its address.
    #[schemars(range(max = 65534))]
    pub shelf: u16,
    /// Second part of its address.
    #[schemars(range(max = 254))]
    pub slot: u8,
    /// Must be true: the user has confirmed that the disk may be overwritten.
    pub destroy: bool,
    /// Commands of all lanes in flight on one interface; none: as many as the disk reports buffers for.
    #[serde(default)]
    #[schemars(range(min = 1, max = 256))]
    pub window: Option<u16>,
    /// Most sectors of 512 bytes in one frame; none: as many as the disk accepts and the interface's MTU allows.
    #[serde(default)]
    #[schemars(range(min = 1, max = 255))]
    pub sectors: Option<u8>,
    /// A command without a response after this long has failed (ETIMEDOUT); until then its frame is sent again.
    #[serde(default = "minute")]
    #[schemars(range(min = 100_000_000, max = 3_600_000_000_000_u64))]
    pub timeout_ns: u64,
}


/// Bytes of a sector, as AoE counts them.
pub const SECTOR_BYTES: u64 = 512;
/// A lane's memory, for each interface, for frames that arrive together and those in flight.
const INTERFACE_BYTES: u64 = 2 << 20;

/// True for names that Linux accepts (netdevice(7)): less than 16 bytes, without `/` and spaces.
fn is_interface(name: &str) -> bool {
    (1..16).contains(&name.len())
        && name.bytes().all(|byte| byte.is_ascii_graphic() && byte != b'/')
        && !matches!(name, "." | "..")
}

impl AoeTarget {
    /// Its address in AoE notation: `e1.0` is slot 0 of shelf 1.
    pub fn address(&self) -> String {
        format!("e{}.{}", self.shelf, self.slot)
    }

    fn validate_place(&self) -> Result<(), JobError> {
        let count = (1..=8).contains(&self.interfaces.len());
        ensure(count, "target.interfaces", "must be 1 to 8 network interfaces, such as eth1")?;
        let names = self.interfaces.iter().all(|name| is_interface(name));
        ensure(names, "target.interfaces", "must be names of network interfaces, such as eth1")?;
        let once = (1..self.interfaces.len()).all(|at| !self.interfaces[..at].contains(&self.interfaces[at]));
        ensure(once, "target.interfaces", "name each interface once")?;
        ensure(self.shelf < u16::MAX, "target.shelf", "must be 0 to 65534: 65535 stands for all shelves")?;
        ensure(self.slot < u8::MAX, "target.slot", "must be 0 to 254: 255 stands for all slots")
    }
}

impl TargetRules for AoeTarget {
    fn validate(&self, job: &Job) -> Result<(), JobError> {
        self.validate_place()?;
        ensure(self.destroy, "target.destroy", "must be true: everything on the disk is lost")?;
        let window = self.window.is_none_or(|window| (1..=256).contains(&window));
        ensure(window, "target.window", "must be 1 to 256 commands")?;
        ensure(self.sectors != Some(0), "target.sectors", "must be 1 to 255")?;
        timeout(self.timeout_ns)?;
        let sectors = |bytes: u64| bytes.is_multiple_of(SECTOR_BYTES);
        let whole = "must be a multiple of 512: a disk reads and writes whole sectors";
        ensure(sectors(job.record_size_bytes), "record_size_bytes", whole)?;
        ensure(sectors(job.file_size_bytes), "file_size_bytes", whole)?;
        ensure(job.layout == Layout::Shared, "layout", "must be shared for a disk")?;
        ensure(job.tree.is_none(), "tree", "a disk has no files")
    }

    fn lane_bytes(&self, _job: &Job) -> u64 {
        INTERFACE_BYTES * self.interfaces.len() as u64
    }

    fn unit_bytes(&self) -> u64 {
        SECTOR_BYTES
    }
}
