//! Frames on a network interface: packet(7) sockets, many frames in one system call.

use crate::frame::{Mac, ATA_HEADER, ETHERNET, ETHERTYPE, MIN_FRAME_BYTES};
use rustix::fd::{AsRawFd, FromRawFd, OwnedFd, RawFd};

/// Most frames that one system call moves.
const BATCH: usize = 32;
/// Largest frame of any interface: jumbo frames of 9000 bytes and what some drivers allow beyond.
const MAX_FRAME_BYTES: usize = 16 << 10;
/// Bytes of the kernel's socket buffer in each direction, where it allows that.
const SOCKET_BYTES: libc::c_int = 8 << 20;

/// A frame to be sent: a head, and data elsewhere in memory.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Outgoing {
    pub(crate) head: [u8; ATA_HEADER],
    /// Must be readable until the frame has been sent.
    pub(crate) data: *const u8,
    pub(crate) length: usize,
}

/// Which frames a socket receives; the kernel drops all others.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum FrameFilter {
    /// Every incoming frame of AoE.
    Incoming,
    /// Every frame of AoE, including those that this host sends.
    IncomingAndOutgoing,
    /// Answers of one disk with tags that equal `tag` under `mask`.
    Answers { shelf: u16, slot: u8, tag: u32, mask: u32 },
}

/// A network interface for frames. No call blocks.
pub(crate) trait Wire {
    /// The interface's own address.
    fn mac(&self) -> Mac;

    /// The descriptor for poll(2); negative if there is none.
    fn descriptor(&self) -> RawFd {
        -1
    }

    /// Sends the first frames, as many as there is room for now; returns how many, or errno.
    fn send(&mut self, frames: &[Outgoing]) -> Result<usize, i32>;

    /// Calls `each` for each frame that has come; returns how many, 0 if there is nothing now, or errno.
    fn receive(&mut self, each: impl FnMut(&[u8])) -> Result<usize, i32>;
}

/// A socket on an interface.
pub(crate) struct Socket {
    fd: OwnedFd,
    mac: Mac,
    /// Largest payload of a frame, in bytes.
    pub(crate) mtu: usize,
    frame_bytes: usize,
    input: Box<[u8]>,
}

fn errno() -> i32 {
    std::io::Error::last_os_error().raw_os_error().unwrap_or(libc::EIO)
}

fn checked(code: libc::c_int) -> Result<libc::c_int, i32> {
    if code < 0 {
        Err(errno())
    } else {
        Ok(code)
    }
}

fn set<T>(fd: RawFd, option: libc::c_int, value: &T) -> Result<(), i32> {
    let size = size_of::<T>() as libc::socklen_t;
    // SAFETY: the value is read by the kernel, with its own size.
    checked(unsafe { libc::setsockopt(fd, libc::SOL_SOCKET, option, std::ptr::from_ref(value).cast(), size) })
        .map(|_| ())
}

/// Attaches a filter in classic BPF (socket(7), SO_ATTACH_FILTER) that lets only the wanted frames in.
fn attach_filter(fd: RawFd, wanted: FrameFilter) -> Result<(), i32> {
    let line = |code: u32, jt, jf, k| libc::sock_filter { code: code as u16, jt, jf, k };
    let load = |size, at| line(libc::BPF_LD | libc::BPF_ABS | size, 0, 0, at);
    let equal = |value, no| line(libc::BPF_JMP | libc::BPF_JEQ | libc::BPF_K, 0, no, value);
    let FrameFilter::Answers { shelf, slot, tag, mask } = wanted else {
        let (take, drop) =
            (line(libc::BPF_RET | libc::BPF_K, 0, 0, u32::MAX), line(libc::BPF_RET | libc::BPF_K, 0, 0, 0));
        return attach(fd, &mut [load(libc::BPF_H, 12), equal(u32::from(ETHERTYPE), 1), take, drop]);
    };
    let mut code = [
        load(libc::BPF_B, 14),
        line(libc::BPF_JMP | libc::BPF_JSET | libc::BPF_K, 0, 8, 0x08),
        load(libc::BPF_H, 16),
        equal(u32::from(shelf), 6),
        load(libc::BPF_B, 18),
        equal(u32::from(slot), 4),
        load(libc::BPF_W, 20),
        line(libc::BPF_ALU | libc::BPF_AND | libc::BPF_K, 0, 0, mask),
        equal(tag & mask, 1),
        line(libc::BPF_RET | libc::BPF_K, 0, 0, u32::MAX),
        line(libc::BPF_RET | libc::BPF_K, 0, 0, 0),
    ];
    attach(fd, &mut code)
}

fn attach(fd: RawFd, code: &mut [libc::sock_filter]) -> Result<(), i32> {
    let program = libc::sock_fprog { len: code.len() as libc::c_ushort, filter: code.as_mut_ptr() };
    set(fd, libc::SO_ATTACH_FILTER, &program)
}

impl Socket {
    /// Opens a socket on an interface. `EPERM` without CAP_NET_RAW, `ENODEV` if there is no such interface, `ENETDOWN`
    /// if it is down.
    pub(crate) fn open(interface: &str, wanted: FrameFilter) -> Result<Self, i32> {
        let name = std::ffi::CString::new(interface).map_err(|_| libc::ENODEV)?;
        // SAFETY: the name is a C string.
        let index = unsafe { libc::if_nametoindex(name.as_ptr()) };
        if index == 0 {
            return Err(libc::ENODEV);
        }
        let kind = libc::SOCK_RAW | libc::SOCK_NONBLOCK | libc::SOCK_CLOEXEC;
        // SAFETY: makes a descriptor, or fails. Without a protocol nothing comes in until the filter is there.
        let raw = checked(unsafe { libc::socket(libc::AF_PACKET, kind, 0) })?;
        // SAFETY: made just now, and owned by nothing else.
        let fd = unsafe { OwnedFd::from_raw_fd(raw) };
        attach_filter(raw, wanted)?;
        for (force, option) in [(libc::SO_RCVBUFFORCE, libc::SO_RCVBUF), (libc::SO_SNDBUFFORCE, libc::SO_SNDBUF)] {
            set(raw, force, &SOCKET_BYTES).or_else(|_| set(raw, option, &SOCKET_BYTES))?;
        }
        // Only sockets for all protocols receive frames that this host sends.
        let protocol = if wanted == FrameFilter::IncomingAndOutgoing { libc::ETH_P_ALL as u16 } else { ETHERTYPE };
        let mac = bind(raw, index, protocol)?;
        let mtu = mtu(raw, &name)?;
        let frame_bytes = (mtu + ETHERNET).clamp(MIN_FRAME_BYTES, MAX_FRAME_BYTES);
        Ok(Socket { fd, mac, mtu, frame_bytes, input: vec![0; frame_bytes * BATCH].into_boxed_slice() })
    }
}

/// Binds the socket to an interface; returns the interface's address.
fn bind(fd: RawFd, index: u32, protocol: u16) -> Result<Mac, i32> {
    // SAFETY: all-zero is a valid sockaddr_ll.
    let mut address: libc::sockaddr_ll = unsafe { std::mem::zeroed() };
    address.sll_family = libc::AF_PACKET as libc::c_ushort;
    address.sll_protocol = protocol.to_be();
    address.sll_ifindex = index as libc::c_int;
    let mut size = size_of::<libc::sockaddr_ll>() as libc::socklen_t;
    // SAFETY: the address is read with its own size.
    checked(unsafe { libc::bind(fd, (&raw const address).cast(), size) })?;
    // SAFETY: the address is written with its own size.
    checked(unsafe { libc::getsockname(fd, (&raw mut address).cast(), &raw mut size) })?;
    Ok(address.sll_addr[..6].try_into().expect("six bytes"))
}

/// The largest payload of an interface (netdevice(7), SIOCGIFMTU), if it is up.
fn mtu(fd: RawFd, name: &std::ffi::CStr) -> Result<usize, i32> {
    let mut request = interface_request(name);
    // SAFETY: the request holds a C string, and has room for the answer.
    checked(unsafe { libc::ioctl(fd, libc::SIOCGIFFLAGS as _, &raw mut request) })?;
    // SAFETY: the kernel has just written the flags.
    let up = i32::from(unsafe { request.ifr_ifru.ifru_flags }) & libc::IFF_UP != 0;
    if !up {
        return Err(libc::ENETDOWN);
    }
    // SAFETY: as above.
    checked(unsafe { libc::ioctl(fd, libc::SIOCGIFMTU as _, &raw mut request) })?;
    // SAFETY: the kernel has just written the MTU.
    Ok(usize::try_from(unsafe { request.ifr_ifru.ifru_mtu }).unwrap_or(0))
}

/// Ethernet interfaces of this network namespace that are up, ordered by name.
///
/// # Errors
/// If they cannot be listed.
pub fn ethernet_interfaces() -> std::io::Result<Vec<String>> {
    // SAFETY: makes a descriptor, or fails; it is closed with its owner.
    let raw = checked(unsafe { libc::socket(libc::AF_INET, libc::SOCK_DGRAM | libc::SOCK_CLOEXEC, 0) });
    let raw = raw.map_err(std::io::Error::from_raw_os_error)?;
    // SAFETY: made just now, and owned by nothing else.
    let fd = unsafe { OwnedFd::from_raw_fd(raw) };
    // SAFETY: a list that ends with an index of 0, freed below.
    let list = unsafe { libc::if_nameindex() };
    if list.is_null() {
        return Err(std::io::Error::last_os_error());
    }
    let mut names = Vec::new();
    let mut at = list;
    // SAFETY: within the list, whose names are C strings.
    while unsafe { (*at).if_index } != 0 {
        // SAFETY: as above.
        let name = unsafe { std::ffi::CStr::from_ptr((*at).if_name) };
        if is_ethernet(fd.as_raw_fd(), name) && mtu(fd.as_raw_fd(), name).is_ok() {
            names.extend(name.to_str().map(str::to_owned));
        }
        // SAFETY: the end has not been reached.
        at = unsafe { at.add(1) };
    }
    // SAFETY: the list is not used any more.
    unsafe { libc::if_freenameindex(list) };
    names.sort();
    Ok(names)
}

/// An empty request about an interface.
fn interface_request(name: &std::ffi::CStr) -> libc::ifreq {
    // SAFETY: all-zero is a valid ifreq.
    let mut request: libc::ifreq = unsafe { std::mem::zeroed() };
    for (to, from) in request.ifr_name.iter_mut().zip(name.to_bytes()).take(libc::IFNAMSIZ - 1) {
        *to = *from as libc::c_char;
    }
    request
}

/// Whether an interface carries Ethernet frames (netdevice(7), SIOCGIFHWADDR).
fn is_ethernet(fd: RawFd, name: &std::ffi::CStr) -> bool {
    let mut request = interface_request(name);
    // SAFETY: the request holds a C string, and has room for the answer.
    let done = checked(unsafe { libc::ioctl(fd, libc::SIOCGIFHWADDR as _, &raw mut request) });
    // SAFETY: the kernel has just written the address, with its type.
    done.is_ok() && unsafe { request.ifr_ifru.ifru_hwaddr.sa_family } == libc::ARPHRD_ETHER
}

/// Padding of frames that are too short for Ethernet.
static PADDING: [u8; MIN_FRAME_BYTES - ATA_HEADER] = [0; MIN_FRAME_BYTES - ATA_HEADER];

impl Wire for Socket {
    fn mac(&self) -> Mac {
        self.mac
    }

    fn descriptor(&self) -> RawFd {
        self.fd.as_raw_fd()
    }

    fn send(&mut self, frames: &[Outgoing]) -> Result<usize, i32> {
        let count = frames.len().min(BATCH);
        let none = libc::iovec { iov_base: std::ptr::null_mut(), iov_len: 0 };
        let mut parts = [[none; 2]; BATCH];
        // SAFETY: all-zero is a valid mmsghdr.
        let mut messages: [libc::mmsghdr; BATCH] = unsafe { std::mem::zeroed() };
        for ((frame, parts), message) in frames.iter().zip(&mut parts).zip(&mut messages) {
            let padding = PADDING.len().saturating_sub(frame.length);
            let rest = if frame.length == 0 { (PADDING.as_ptr(), padding) } else { (frame.data, frame.length) };
            parts[0] = libc::iovec { iov_base: frame.head.as_ptr().cast_mut().cast(), iov_len: ATA_HEADER };
            parts[1] = libc::iovec { iov_base: rest.0.cast_mut().cast(), iov_len: rest.1 };
            message.msg_hdr.msg_iov = parts.as_mut_ptr();
            message.msg_hdr.msg_iovlen = 2;
        }
        // SAFETY: the messages refer to the parts, these to heads that live and to data whose owner keeps it until the
        // command has ended.
        let sent = unsafe { libc::sendmmsg(self.descriptor(), messages.as_mut_ptr(), count as libc::c_uint, 0) };
        checked(sent).map(|sent| sent as usize)
    }

    fn receive(&mut self, mut each: impl FnMut(&[u8])) -> Result<usize, i32> {
        let none = libc::iovec { iov_base: std::ptr::null_mut(), iov_len: 0 };
        let mut parts = [none; BATCH];
        // SAFETY: all-zero is a valid mmsghdr.
        let mut messages: [libc::mmsghdr; BATCH] = unsafe { std::mem::zeroed() };
        for ((room, part), message) in self.input.chunks_exact_mut(self.frame_bytes).zip(&mut parts).zip(&mut messages)
        {
            *part = libc::iovec { iov_base: room.as_mut_ptr().cast(), iov_len: room.len() };
            message.msg_hdr.msg_iov = std::ptr::from_mut(part);
            message.msg_hdr.msg_iovlen = 1;
        }
        let (fd, room) = (self.fd.as_raw_fd(), BATCH as libc::c_uint);
        // SAFETY: the messages refer to the parts, these to separate pieces of the input; no time is given.
        let got =
            unsafe { libc::recvmmsg(fd, messages.as_mut_ptr(), room, libc::MSG_DONTWAIT as _, std::ptr::null_mut()) };
        let got = match checked(got) {
            Ok(got) => got as usize,
            Err(libc::EAGAIN | libc::EINTR) => return Ok(0),
            Err(errno) => return Err(errno),
        };
        for (room, message) in self.input.chunks_exact(self.frame_bytes).zip(&messages[..got]) {
            each(&room[..(message.msg_len as usize).min(self.frame_bytes)]);
        }
        Ok(got)
    }
}

/// Waits until something has come on one of the descriptors, or for `ns` nanoseconds.
pub(crate) fn wait(entries: &mut [libc::pollfd], ns: u64) {
    let time = libc::timespec { tv_sec: (ns / 1_000_000_000) as _, tv_nsec: (ns % 1_000_000_000) as _ };
    // SAFETY: the entries and the time are valid for the call; no signal mask is given.
    unsafe { libc::ppoll(entries.as_mut_ptr(), entries.len() as libc::nfds_t, &raw const time, std::ptr::null()) };
}
