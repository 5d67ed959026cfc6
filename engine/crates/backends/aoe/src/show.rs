//! Descriptions of disks, for people and for programs.

use crate::discover::{self, FoundDisk};
use crate::disk::Disk;
use crate::frame::{command_name, mac_text};
use assay_core::SetupError;
use assay_spec::{AoeTarget, SECTOR_BYTES};
use serde::Serialize;

/// A disk that has answered a query to all.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct DiscoveredDisk {
    /// Such as e1.0.
    pub address: String,
    /// The interface on which it has answered.
    pub interface: String,
    /// Ethernet address of the station that has it.
    pub station: String,
    /// Messages that it can queue.
    pub buffers: u16,
    /// Version of its firmware.
    pub firmware: u16,
    /// Most sectors of one frame; 0 means as many as a frame of 1500 bytes holds.
    pub sectors: u8,
    /// The text that a user has stored there.
    pub text: String,
    /// Another station on this interface has the same address.
    pub twice: bool,
}

/// The disks that answer on interfaces within `wait_ns` nanoseconds, ordered by interface and address.
///
/// # Errors
/// If an interface cannot be used.
pub fn discover(interfaces: &[String], wait_ns: u64) -> Result<Vec<DiscoveredDisk>, SetupError> {
    let mut all = Vec::new();
    for interface in interfaces {
        let found = discover::query_disks(interface, None, 0, wait_ns)?;
        all.extend(found.iter().map(|one| discovered(one, &found)));
    }
    Ok(all)
}

fn discovered(one: &FoundDisk, all: &[FoundDisk]) -> DiscoveredDisk {
    let same = |other: &FoundDisk| (other.shelf, other.slot) == (one.shelf, one.slot) && other.mac != one.mac;
    DiscoveredDisk {
        address: format!("e{}.{}", one.shelf, one.slot),
        interface: one.interface.clone(),
        station: mac_text(one.mac),
        buffers: one.config.buffers,
        firmware: one.config.firmware,
        sectors: one.config.sectors,
        text: String::from_utf8_lossy(&one.config.text).into_owned(),
        twice: all.iter().any(same),
    }
}

/// A way to a disk.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct WayShown {
    /// Interface of this host.
    pub interface: String,
    /// Ethernet address of the station at the other end.
    pub station: String,
    /// Largest payload of a frame on this interface, in bytes.
    pub mtu: usize,
    /// Messages that the disk can queue.
    pub buffers: u16,
}

/// A disk, identified.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct DiskShown {
    /// Such as e1.0.
    pub address: String,
    /// Model number.
    pub model: String,
    /// Serial number.
    pub serial: String,
    /// Revision of its firmware.
    pub firmware: String,
    /// Its size, in bytes.
    pub bytes: u64,
    /// Sectors of 512 bytes in one frame.
    pub sectors_a_frame: u8,
    /// The command that makes writes stable; none if it knows no such command.
    pub flush: Option<&'static str>,
    /// The ways to the disk, one for each interface.
    pub ways: Vec<WayShown>,
    /// What a user might not expect, one line each.
    pub limits: Vec<String>,
}

/// Identifies a disk. Nothing is written.
///
/// # Errors
/// If it does not answer, or cannot be used.
pub fn show(target: &AoeTarget) -> Result<DiskShown, SetupError> {
    let disk = Disk::open(target)?;
    let way = |way: &crate::disk::Way| WayShown {
        interface: way.interface.clone(),
        station: mac_text(way.mac),
        mtu: way.mtu,
        buffers: way.buffers,
    };
    Ok(DiskShown {
        address: target.address(),
        model: disk.identity.model.clone(),
        serial: disk.identity.serial.clone(),
        firmware: disk.identity.firmware.clone(),
        bytes: disk.identity.sectors * SECTOR_BYTES,
        sectors_a_frame: disk.sectors,
        flush: disk.flush.map(|command| command_name(command.code())),
        ways: disk.ways.iter().map(way).collect(),
        limits: disk.limits.clone(),
    })
}
