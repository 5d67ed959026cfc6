//! Which disks answer on an interface.

use crate::frame::{self, Address, Body, Config, Mac, BROADCAST, CONFIG_HEADER, EVERY_SHELF, EVERY_SLOT};
use crate::wire::{self, Outgoing, Socket, Wanted, Wire};
use assay_core::{clock, SetupError};
use rustix::io::Errno;

/// Times that a question is asked: frames are lost.
const TRIES: u32 = 3;

/// A disk that has answered.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Found {
    /// Where it has answered.
    pub(crate) interface: String,
    /// The station that has it.
    pub(crate) mac: Mac,
    /// First part of its address.
    pub(crate) shelf: u16,
    /// Second part.
    pub(crate) slot: u8,
    /// What it says of itself.
    pub(crate) config: Config,
}

/// An interface that cannot be used.
pub(crate) fn cannot(interface: &str, errno: i32) -> SetupError {
    let fault = assay_core::Fault::os(errno);
    let message = match errno {
        libc::EPERM => "sending frames needs root or CAP_NET_RAW: setcap cap_net_raw+ep on assay-engine",
        libc::ENODEV => "there is no such network interface: ip link shows them",
        libc::ENETDOWN => "the network interface is down: ip link set it up",
        _ => return SetupError::os("open", interface, Errno::from_raw_os_error(errno)),
    };
    SetupError::new("open", interface, message).because(fault)
}

/// Asks all disks on an interface, or one, for their configuration, and hears answers for `wait_ns` nanoseconds, or until
/// the one has answered and nothing else has for a tenth of that time.
///
/// `padding` bytes more are in the question: what arrives then has room on the whole way.
///
/// # Errors
/// If there is no such interface, it is down, or frames may not be sent.
pub(crate) fn ask(
    interface: &str,
    one: Option<(u16, u8)>,
    padding: usize,
    wait_ns: u64,
) -> Result<Vec<Found>, SetupError> {
    let error = |errno| cannot(interface, errno);
    let mut socket = Socket::open(interface, Wanted::All).map_err(error)?;
    let (shelf, slot) = one.unwrap_or((EVERY_SHELF, EVERY_SLOT));
    let address = Address { to: BROADCAST, from: socket.mac(), shelf, slot };
    // The kernel's driver gives out tags without the highest bit.
    let tag = 1 << 31 | (clock::now() as u32 >> 1);
    let question = frame::query(&address, tag);
    let filling = vec![0_u8; padding];
    let mut found: Vec<Found> = Vec::new();
    for _ in 0..TRIES {
        let head = question[..frame::ATA_HEADER].try_into().expect("a question is longer");
        let sent = socket.send(&[Outgoing { head, data: filling.as_ptr(), length: filling.len() }]);
        match sent {
            Ok(_) | Err(libc::EAGAIN | libc::ENOBUFS) => {}
            // A frame that this interface itself has no room for.
            Err(libc::EMSGSIZE) => return Ok(Vec::new()),
            Err(errno) => return Err(error(errno)),
        }
        hear(&mut socket, tag, wait_ns / u64::from(TRIES), one.is_some(), interface, &mut found);
        if one.is_some() && !found.is_empty() {
            break;
        }
    }
    found.sort_by_key(|found| (found.shelf, found.slot, found.mac));
    Ok(found)
}

/// Takes in answers for some time.
fn hear(socket: &mut Socket, tag: u32, wait_ns: u64, one: bool, interface: &str, found: &mut Vec<Found>) {
    let mut end = clock::now() + wait_ns;
    while clock::now() < end {
        let mut fresh = 0;
        let _ = socket.receive(|bytes| {
            let Some(frame) = frame::decode(bytes).filter(|frame| frame.response && frame.tag == tag) else { return };
            let Some(Body::Config(config)) = frame.body else { return };
            let Address { from: mac, shelf, slot, .. } = frame.address;
            let new = Found { interface: interface.to_owned(), mac, shelf, slot, config };
            if !found.contains(&new) {
                found.push(new);
                fresh += 1;
            }
        });
        if one && fresh > 0 {
            // Somebody else may say that he is the same disk.
            end = end.min(clock::now() + wait_ns / 10);
        }
        let mut entry = [libc::pollfd { fd: socket.descriptor(), events: libc::POLLIN, revents: 0 }];
        wire::wait(&mut entry, end.saturating_sub(clock::now()));
    }
}

/// Bytes that a question must have more to be as long as a frame with so much payload.
pub(crate) fn padding(payload: usize) -> usize {
    (payload + frame::ETHERNET).saturating_sub(frame::ATA_HEADER.max(CONFIG_HEADER))
}
