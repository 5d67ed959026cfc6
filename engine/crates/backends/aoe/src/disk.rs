//! A disk that was found: the ways to it, its identity, and the size of its frames.

use crate::discover::{self, interface_error, FoundDisk};
use crate::frame::{mac_text, Command, Mac, SECTOR};
use crate::identity::Identity;
use crate::initiator::{answer_filter, Initiator, MAX_FLIGHTS};
use crate::owner::Owner;
use crate::path::Path;
use crate::wire::Socket;
use assay_core::{fault_message, Fault, SetupError};
use assay_spec::AoeTarget;

/// How long a disk has to answer before it counts as missing, in nanoseconds.
const FIND_NS: u64 = 3_000_000_000;
/// How long a query as long as the largest frame has to be answered, in nanoseconds.
const LARGE_NS: u64 = 600_000_000;
/// How long IDENTIFY and a flush have when a disk is opened, in nanoseconds.
const COMMAND_NS: u64 = 10_000_000_000;
/// Bytes of a frame's payload before its data: AoE's header without Ethernet's, and ATA's.
const HEADERS: usize = 22;
/// Payload of every Ethernet frame, in bytes.
const USUAL_MTU: usize = 1500;

/// A way to the disk.
#[derive(Debug, Clone)]
pub(crate) struct Way {
    pub(crate) interface: String,
    pub(crate) mac: Mac,
    pub(crate) mtu: usize,
    pub(crate) buffers: u16,
    /// Sectors of a frame.
    pub(crate) sectors: u8,
}

/// A disk behind AoE.
pub(crate) struct Disk {
    pub(crate) target: AoeTarget,
    pub(crate) ways: Vec<Way>,
    pub(crate) identity: Identity,
    /// Sectors of a frame, on every way.
    pub(crate) sectors: u8,
    /// The command that makes writes stable; none if the disk knows no such command.
    pub(crate) flush: Option<Command>,
    /// What a user might not expect, one line each.
    pub(crate) limits: Vec<String>,
}

/// Sectors that fit into a frame with a payload of `mtu` bytes.
fn sectors_of(mtu: usize) -> u8 {
    (mtu.saturating_sub(HEADERS) / SECTOR).min(255) as u8
}

/// Refuses a disk that the kernel's own driver has mounted or put into an array.
fn refuse_disk_in_use(target: &AoeTarget) -> Result<(), SetupError> {
    use rustix::fs::{open, Mode, OFlags};
    let device = format!("/dev/etherd/{}", target.address());
    match open(&device, OFlags::RDONLY | OFlags::EXCL | OFlags::CLOEXEC, Mode::empty()) {
        Err(rustix::io::Errno::BUSY) => {
            let message = "is mounted or in use by this host: only a disk that nobody uses is overwritten";
            Err(SetupError::new("open", device, message))
        }
        _ => Ok(()),
    }
}

/// The one station that has the disk on an interface.
fn find(target: &AoeTarget, interface: &str) -> Result<FoundDisk, SetupError> {
    let place = format!("{} on {interface}", target.address());
    let mut found = discover::query_disks(interface, Some((target.shelf, target.slot)), 0, FIND_NS)?;
    found.retain(|found| (found.shelf, found.slot) == (target.shelf, target.slot));
    match found.as_slice() {
        [] => {
            let message = "no disk answers to this address: see that its server runs and serves this network \
                           (assay aoe discover)";
            Err(SetupError::new("find", place, message).because(Fault::os(libc::ENODEV)))
        }
        [one] => Ok(one.clone()),
        several => {
            let stations: Vec<String> = several.iter().map(|found| mac_text(found.mac)).collect();
            let message = format!(
                "{} stations answer to this address ({}): give each disk a shelf and slot of its own",
                several.len(),
                stations.join(", ")
            );
            Err(SetupError::new("find", place, message))
        }
    }
}

impl Way {
    /// Finds the disk on an interface, and the largest frames that get through.
    fn find(target: &AoeTarget, interface: &str, limits: &mut Vec<String>) -> Result<Self, SetupError> {
        let found = find(target, interface)?;
        let mtu =
            Socket::open(interface, answer_filter(0, 0, 0)).map_err(|errno| interface_error(interface, errno))?.mtu;
        let own = sectors_of(mtu);
        if own == 0 {
            return Err(SetupError::new("open", interface, format!("its MTU of {mtu} has no room for a sector")));
        }
        // 0 means that it does not say.
        let theirs = if found.config.sectors == 0 { sectors_of(USUAL_MTU) } else { found.config.sectors };
        let mut sectors = own.min(theirs);
        if sectors > sectors_of(USUAL_MTU) {
            let payload = HEADERS + usize::from(sectors) * SECTOR;
            let one = Some((target.shelf, target.slot));
            let answers = discover::query_disks(interface, one, discover::padding(payload), LARGE_NS)?;
            if answers.is_empty() {
                sectors = sectors_of(USUAL_MTU);
                limits.push(format!(
                    "{interface}: 2 sectors a frame, as frames of {payload} bytes do not get through: is the MTU of \
                     {mtu} that of every switch and of the server?"
                ));
            }
        }
        let FoundDisk { mac, config, .. } = found;
        Ok(Way { interface: interface.to_owned(), mac, mtu, buffers: config.buffers.max(1), sectors })
    }
}

impl Disk {
    /// Finds a disk and identifies it. Nothing is written.
    ///
    /// # Errors
    /// If it does not answer, two disks answer to its address, or this host uses it already.
    pub(crate) fn open(target: &AoeTarget) -> Result<Self, SetupError> {
        refuse_disk_in_use(target)?;
        let mut limits = Vec::new();
        let find = |interface: &String| Way::find(target, interface, &mut limits);
        let ways = target.interfaces.iter().map(find).collect::<Result<Vec<Way>, _>>()?;
        let sectors = ways.iter().map(|way| way.sectors).min().expect("there is an interface");
        let nothing = Identity { sectors: 0, model: String::new(), serial: String::new(), firmware: String::new() };
        let mut disk = Disk { target: target.clone(), ways, identity: nothing, sectors, flush: None, limits };
        disk.sectors = target.sectors.map_or(sectors, |most| sectors.min(most));
        disk.identity = disk.consistent_identity()?;
        disk.flush = disk.flush_command()?;
        disk.note_limits();
        Ok(disk)
    }

    /// An initiator with its tags, for one of `share` users of the disk.
    ///
    /// # Errors
    /// If an interface cannot be used.
    pub(crate) fn initiator(&self, slots: usize, share: u32) -> Result<(Initiator<Socket>, Owner), SetupError> {
        let all: Vec<&Way> = self.ways.iter().collect();
        self.initiator_on(&all, slots, share)
    }

    fn initiator_on(&self, ways: &[&Way], slots: usize, share: u32) -> Result<(Initiator<Socket>, Owner), SetupError> {
        let owner = Owner::take()?;
        let (major, minor) = (self.target.shelf, self.target.slot);
        let path = |way: &&Way| {
            let socket = Socket::open(&way.interface, answer_filter(major, minor, owner.number));
            let socket = socket.map_err(|errno| interface_error(&way.interface, errno))?;
            Ok(Path::new(socket, way.mac, self.window(way, share)))
        };
        let paths = ways.iter().map(path).collect::<Result<Vec<_>, SetupError>>()?;
        let mut made = Initiator::new(major, minor, owner.number, paths, slots);
        made.sectors = self.sectors;
        Ok((made, owner))
    }

    /// Most commands that one of `share` users may have in flight on a way.
    pub(crate) fn window(&self, way: &Way, share: u32) -> u32 {
        let all = u32::from(self.target.window.unwrap_or(way.buffers));
        (all / share.max(1)).clamp(1, MAX_FLIGHTS as u32)
    }

    /// The disk's name, for people.
    pub(crate) fn shown(&self) -> String {
        format!("{} on {}", self.target.address(), self.target.interfaces.join(" and "))
    }

    /// Identifies the disk on one way.
    fn identify(&self, way: &Way) -> Result<Identity, SetupError> {
        let (mut initiator, _owner) = self.initiator_on(&[way], 1, 1)?;
        let mut data = [0; SECTOR];
        let done = initiator.call(Command::Identify, 0, &mut data, self.command_timeout_ns());
        done.map_err(|fault| self.error("identify", fault))?;
        Ok(Identity::of(&data))
    }

    fn command_timeout_ns(&self) -> u64 {
        self.target.timeout_ns.min(COMMAND_NS)
    }

    /// The disk's identity, which must be the same on every way.
    fn consistent_identity(&self) -> Result<Identity, SetupError> {
        let first = self.identify(&self.ways[0])?;
        for way in &self.ways[1..] {
            let other = self.identify(way)?;
            if (other.sectors, &other.serial) != (first.sectors, &first.serial) {
                let message = format!(
                    "another disk answers on {} (serial {}, {} sectors) than on {} (serial {}, {} sectors)",
                    way.interface, other.serial, other.sectors, self.ways[0].interface, first.serial, first.sectors
                );
                return Err(SetupError::new("open", self.shown(), message));
            }
        }
        if first.sectors == 0 {
            return Err(SetupError::new("open", self.shown(), "the disk has no sectors"));
        }
        Ok(first)
    }

    /// Checks that the disk is still the one that was opened, and not smaller.
    ///
    /// # Errors
    /// If it is not, or does not answer.
    pub(crate) fn check_unchanged(&self) -> Result<(), SetupError> {
        let now = self.consistent_identity()?;
        if now.serial != self.identity.serial {
            let message = format!("is another disk now: serial {}, and was {}", now.serial, self.identity.serial);
            return Err(SetupError::new("look at", self.shown(), message));
        }
        if now.sectors < self.identity.sectors {
            let message = format!("has {} sectors now, and had {}: it has shrunk", now.sectors, self.identity.sectors);
            return Err(SetupError::new("look at", self.shown(), message));
        }
        Ok(())
    }

    /// The flush command of the disk, found by trying.
    fn flush_command(&self) -> Result<Option<Command>, SetupError> {
        let (mut initiator, _owner) = self.initiator(1, 1)?;
        for command in [Command::FlushExt, Command::Flush] {
            match initiator.call(command, 0, &mut [], self.command_timeout_ns()) {
                Ok(_) => return Ok(Some(command)),
                Err(fault) if fault == crate::status::TIMED_OUT => return Err(self.error("flush", fault)),
                Err(_) => {}
            }
        }
        Ok(None)
    }

    fn note_limits(&mut self) {
        for way in &self.ways {
            let bytes = usize::from(self.sectors) * SECTOR;
            self.limits.push(format!(
                "{}: {} sectors ({bytes} bytes) a frame at an MTU of {}, {} commands under way",
                way.interface,
                self.sectors,
                way.mtu,
                self.window(way, 1)
            ));
        }
        if self.flush.is_none() {
            self.limits.push("the disk knows no flush: what was written may not be stable".to_owned());
        }
    }

    /// An error outside operations.
    pub(crate) fn error(&self, action: &'static str, fault: Fault) -> SetupError {
        SetupError::new(action, self.shown(), fault_message(fault)).because(fault)
    }
}
