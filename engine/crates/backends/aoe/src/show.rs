//! What disks say of themselves, for people and for programs.

use crate::discover::{self, Found};
use crate::disk::Disk;
use crate::frame::{command_name, mac_text};
use assay_core::SetupError;
use assay_spec::{AoeTarget, SECTOR_BYTES};
use serde::Serialize;

/// A disk that has answered to a question to all.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Seen {
    /// Such as e1.0.
    pub address: String,
    /// Where it has answered.
    pub interface: String,
    /// Ethernet address of the station that has it.
    pub station: String,
    /// Messages that it can keep until it comes to them.
    pub buffers: u16,
    /// Version of its firmware.
    pub firmware: u16,
    /// Sectors of one frame at most; 0 says as many as a frame of 1500 bytes has room for.
    pub sectors: u8,
    /// What somebody has written there.
    pub text: String,
    /// Another station on this interface has the same address.
    pub twice: bool,
}

/// The disks that answer on interfaces within `wait_ns` nanoseconds, ordered by interface and address.
///
/// # Errors
/// If an interface cannot be used.
pub fn discover(interfaces: &[String], wait_ns: u64) -> Result<Vec<Seen>, SetupError> {
    let mut all = Vec::new();
    for interface in interfaces {
        let found = discover::ask(interface, None, 0, wait_ns)?;
        all.extend(found.iter().map(|one| seen(one, &found)));
    }
    Ok(all)
}

fn seen(one: &Found, all: &[Found]) -> Seen {
    let same = |other: &Found| (other.shelf, other.slot) == (one.shelf, one.slot) && other.mac != one.mac;
    Seen {
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
    /// Messages that the disk can keep.
    pub buffers: u16,
}

/// What a disk is.
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
    /// Of each interface.
    pub ways: Vec<WayShown>,
    /// What is less than one might expect, one line each.
    pub limits: Vec<String>,
}

/// Asks a disk what it is. Nothing is written.
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
