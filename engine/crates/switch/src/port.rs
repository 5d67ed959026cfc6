//! A port: a packet socket on one interface.

use crate::{last_error, Outcome};
use std::ffi::CString;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, FromRawFd, OwnedFd};

// From linux/if_packet.h and asm-generic/socket.h.
const PACKET_ADD_MEMBERSHIP: libc::c_int = 1;
const PACKET_VNET_HDR: libc::c_int = 15;
const PACKET_IGNORE_OUTGOING: libc::c_int = 23;
const PACKET_MR_PROMISC: u16 = 1;
const SO_SNDBUFFORCE: libc::c_int = 32;
const SO_RCVBUFFORCE: libc::c_int = 33;
const BUFFER_BYTES: libc::c_int = 64 << 20;

#[repr(C)]
struct Membership {
    interface: libc::c_int,
    kind: u16,
    address_length: u16,
    address: [u8; 8],
}

/// An open port.
pub(crate) struct Port {
    socket: OwnedFd,
}

impl Port {
    /// Opens the interface with this name in the namespace of this process.
    ///
    /// Frames are received and sent with the kernel's offload header, so that large segments are not split.
    pub(crate) fn open(name: &str) -> Outcome<Self> {
        let text = CString::new(name).map_err(|_| format!("{name:?}: not the name of an interface"))?;
        // SAFETY: `text` ends with a zero byte and outlives the call.
        let index = unsafe { libc::if_nametoindex(text.as_ptr()) };
        if index == 0 {
            return Err(last_error(name));
        }
        let protocol = (libc::ETH_P_ALL as u16).to_be();
        let kind = libc::SOCK_RAW | libc::SOCK_CLOEXEC | libc::SOCK_NONBLOCK;
        // Without a protocol the socket receives nothing until it is bound, so it gets no frames of other interfaces.
        // SAFETY: takes numbers only.
        let raw = unsafe { libc::socket(libc::AF_PACKET, kind, 0) };
        if raw < 0 {
            return Err(last_error("packet socket"));
        }
        // SAFETY: the descriptor was just opened and has no other owner.
        let port = Self { socket: unsafe { OwnedFd::from_raw_fd(raw) } };
        port.set(libc::SOL_PACKET, PACKET_VNET_HDR, &1_i32, "PACKET_VNET_HDR")?;
        port.set(libc::SOL_PACKET, PACKET_IGNORE_OUTGOING, &1_i32, "PACKET_IGNORE_OUTGOING")?;
        port.set(libc::SOL_SOCKET, SO_RCVBUFFORCE, &BUFFER_BYTES, "SO_RCVBUFFORCE")?;
        port.set(libc::SOL_SOCKET, SO_SNDBUFFORCE, &BUFFER_BYTES, "SO_SNDBUFFORCE")?;
        let all = Membership { interface: index as i32, kind: PACKET_MR_PROMISC, address_length: 0, address: [0; 8] };
        port.set(libc::SOL_PACKET, PACKET_ADD_MEMBERSHIP, &all, name)?;
        port.bind(index as i32, protocol, name)?;
        Ok(port)
    }

    fn bind(&self, index: libc::c_int, protocol: u16, name: &str) -> Outcome<()> {
        // SAFETY: sockaddr_ll consists of integers, for all of which zero is valid.
        let mut address: libc::sockaddr_ll = unsafe { std::mem::zeroed() };
        address.sll_family = libc::AF_PACKET as u16;
        address.sll_protocol = protocol;
        address.sll_ifindex = index;
        let size = size_of::<libc::sockaddr_ll>() as libc::socklen_t;
        // SAFETY: the address has the given size and outlives the call.
        let code = unsafe { libc::bind(self.socket.as_raw_fd(), (&raw const address).cast(), size) };
        if code == 0 {
            Ok(())
        } else {
            Err(last_error(name))
        }
    }

    fn set<T>(&self, level: libc::c_int, option: libc::c_int, given: &T, what: &str) -> Outcome<()> {
        let size = size_of::<T>() as libc::socklen_t;
        // SAFETY: `given` has the given size and outlives the call.
        let code =
            unsafe { libc::setsockopt(self.socket.as_raw_fd(), level, option, std::ptr::from_ref(given).cast(), size) };
        if code == 0 {
            Ok(())
        } else {
            Err(last_error(what))
        }
    }

    /// Receives the next frame, with its header before it. Returns its length, or `None` if there is none now.
    pub(crate) fn receive(&self, buffer: &mut [u8]) -> Option<usize> {
        // SAFETY: the kernel writes at most the length of the buffer.
        let got = unsafe { libc::recv(self.socket.as_raw_fd(), buffer.as_mut_ptr().cast(), buffer.len(), 0) };
        // An interface that is down reports that once. Frames arrive again when it is up.
        usize::try_from(got).ok().filter(|&got| got > 0)
    }

    /// Sends a frame, with its header before it. If the queue is full, the frame is lost, as on a real switch.
    pub(crate) fn send(&self, bytes: &[u8]) {
        // SAFETY: the kernel reads only the given length.
        unsafe { libc::send(self.socket.as_raw_fd(), bytes.as_ptr().cast(), bytes.len(), 0) };
    }
}

impl AsFd for Port {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.socket.as_fd()
    }
}
