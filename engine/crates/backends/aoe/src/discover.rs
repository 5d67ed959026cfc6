//! The disks that answer on an interface.

use crate::frame::{self, Address, Body, Config, Mac, BROADCAST, CONFIG_HEADER, EVERY_SHELF, EVERY_SLOT};
use crate::wire::{self, FrameFilter, Outgoing, Socket, Wire};
use assay_core::{clock, SetupError};
use rustix::io::Errno;

/// How often a query is sent, since frames are lost.
const ATTEMPTS: u32 = 3;

/// A disk that has answered.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct FoundDisk {
    /// The interface on which it has answered.
    pub(crate) interface: String,
    /// The station that has the disk.
    pub(crate) mac: Mac,
    /// First part of its address.
    pub(crate) shelf: u16,
    /// Second part of its address.
    pub(crate) slot: u8,
    /// Its configuration.
    pub(crate) config: Config,
}

/// The error of an interface that cannot be used.
pub(crate) fn interface_error(interface: &str, errno: i32) -> SetupError {
    let fault = assay_core::Fault::os(errno);
    let message = match errno {
        libc::EPERM => "sending frames needs root or CAP_NET_RAW: setcap cap_net_raw+ep on assay-engine",
        libc::ENODEV => "there is no such network interface: ip link shows them",
        libc::ENETDOWN => "the network interface is down: ip link set it up",
        _ => return SetupError::os("open", interface, Errno::from_raw_os_error(errno)),
    };
    SetupError::new("open", interface, message).because(fault)
}

/// Queries the configuration of all disks on an interface, or of one. Takes answers for `wait_ns` nanoseconds, or until
/// that disk has answered and no other answer has come for a tenth of that time.
///
/// The query is longer by `padding` bytes, so an answer shows that frames of that length get through.
///
/// # Errors
/// If there is no such interface, it is down, or frames may not be sent.
pub(crate) fn query_disks(
    interface: &str,
    one: Option<(u16, u8)>,
    padding: usize,
    wait_ns: u64,
) -> Result<Vec<FoundDisk>, SetupError> {
    let error = |errno| interface_error(interface, errno);
    let mut socket = Socket::open(interface, FrameFilter::Incoming).map_err(error)?;
    let (shelf, slot) = one.unwrap_or((EVERY_SHELF, EVERY_SLOT));
    let address = Address { to: BROADCAST, from: socket.mac(), shelf, slot };
    // The kernel's driver uses tags without the highest bit.
    let tag = 1 << 31 | (clock::now() as u32 >> 1);
    let question = frame::query(&address, tag);
    let filling = vec![0_u8; padding];
    let mut found: Vec<FoundDisk> = Vec::new();
    for _ in 0..ATTEMPTS {
        let head = question[..frame::ATA_HEADER].try_into().expect("a question is longer");
        let sent = socket.send(&[Outgoing { head, data: filling.as_ptr(), length: filling.len() }]);
        match sent {
            Ok(_) | Err(libc::EAGAIN | libc::ENOBUFS) => {}
            // A frame too long for this interface itself.
            Err(libc::EMSGSIZE) => return Ok(Vec::new()),
            Err(errno) => return Err(error(errno)),
        }
        receive_answers(&mut socket, tag, wait_ns / u64::from(ATTEMPTS), one.is_some(), interface, &mut found);
        if one.is_some() && !found.is_empty() {
            break;
        }
    }
    found.sort_by_key(|found| (found.shelf, found.slot, found.mac));
    Ok(found)
}

/// Collects answers for some time.
fn receive_answers(
    socket: &mut Socket,
    tag: u32,
    wait_ns: u64,
    one: bool,
    interface: &str,
    found: &mut Vec<FoundDisk>,
) {
    let mut end = clock::now() + wait_ns;
    while clock::now() < end {
        let mut fresh = 0;
        let _ = socket.receive(|bytes| {
            let Some(frame) = frame::decode(bytes).filter(|frame| frame.response && frame.tag == tag) else { return };
            let Some(Body::Config(config)) = frame.body else { return };
            let Address { from: mac, shelf, slot, .. } = frame.address;
            let new = FoundDisk { interface: interface.to_owned(), mac, shelf, slot, config };
            if !found.contains(&new) {
                found.push(new);
                fresh += 1;
            }
        });
        if one && fresh > 0 {
            // Another station may answer for the same disk.
            end = end.min(clock::now() + wait_ns / 10);
        }
        let mut entry = [libc::pollfd { fd: socket.descriptor(), events: libc::POLLIN, revents: 0 }];
        wire::wait(&mut entry, end.saturating_sub(clock::now()));
    }
}

/// Bytes to add to a query, to make it as long as a frame with a payload of `payload` bytes.
pub(crate) fn padding(payload: usize) -> usize {
    (payload + frame::ETHERNET).saturating_sub(frame::ATA_HEADER.max(CONFIG_HEADER))
}
