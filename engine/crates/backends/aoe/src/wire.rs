//! Frames on a network interface: packet(7) sockets, many frames in one system call.

use crate::frame::{Mac, ATA_HEADER, ETHERNET, ETHERTYPE, LEAST};
use rustix::fd::{AsRawFd, FromRawFd, OwnedFd, RawFd};

/// Frames that one system call moves.
const BATCH: usize = 32;
/// Largest frame that any interface has: jumbo frames of 9000 bytes and what some drivers allow beyond.
const MOST_FRAME: usize = 16 << 10;
/// Bytes that the kernel keeps of frames in each direction, where it allows that.
const SOCKET_BYTES: libc::c_int = 8 << 20;

/// A frame that is to be sent: a head, and data that lies elsewhere.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Outgoing {
    pub(crate) head: [u8; ATA_HEADER],
    /// Readable until the frame has been sent.
    pub(crate) data: *const u8,
    pub(crate) length: usize,
}

/// Which answers come in at all; the kernel drops all else.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Wanted {
    /// Every frame of AoE that comes.
    All,
    /// Those that this host sends, too.
    Everything,
    /// Answers of one disk whose tags begin so.
    Answers { shelf: u16, slot: u8, tag: u32, mask: u32 },
}

/// Where frames go out and come in. None of it waits.
pub(crate) trait Wire {
    /// Own address.
    fn mac(&self) -> Mac;

    /// Largest payload of a frame, in bytes.
    fn mtu(&self) -> usize;

    /// For poll(2); negative if there is nothing to wait for.
    fn descriptor(&self) -> RawFd;

    /// Sends the first of the frames, as many as there is room for now; or errno.
    fn send(&mut self, frames: &[Outgoing]) -> Result<usize, i32>;

    /// Hands over what has come; how many frames there were, 0 if there is nothing now; or errno.
    fn receive(&mut self, each: impl FnMut(&[u8])) -> Result<usize, i32>;
}

/// A socket on an interface.
pub(crate) struct Socket {
    fd: OwnedFd,
    mac: Mac,
    mtu: usize,
    each: usize,
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

/// A filter of classic BPF (socket(7), SO_ATTACH_FILTER) that lets only wanted answers in.
fn filter(fd: RawFd, wanted: Wanted) -> Result<(), i32> {
    let line = |code: u32, jt, jf, k| libc::sock_filter { code: code as u16, jt, jf, k };
    let load = |size, at| line(libc::BPF_LD | libc::BPF_ABS | size, 0, 0, at);
    let equal = |value, no| line(libc::BPF_JMP | libc::BPF_JEQ | libc::BPF_K, 0, no, value);
    let Wanted::Answers { shelf, slot, tag, mask } = wanted else {
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
    /// Opens a socket on an interface. `EPERM` without CAP_NET_RAW, `ENODEV` if there is no such interface, `ENETDOWN` if
    /// it is down.
    pub(crate) fn open(interface: &str, wanted: Wanted) -> Result<Self, i32> {
        let name = std::ffi::CString::new(interface).map_err(|_| libc::ENODEV)?;
        // SAFETY: the name is a string with an end.
        let index = unsafe { libc::if_nametoindex(name.as_ptr()) };
        if index == 0 {
            return Err(libc::ENODEV);
        }
        let kind = libc::SOCK_RAW | libc::SOCK_NONBLOCK | libc::SOCK_CLOEXEC;
        // SAFETY: makes a descriptor, or fails. Without a protocol nothing comes in until the filter is there.
        let raw = checked(unsafe { libc::socket(libc::AF_PACKET, kind, 0) })?;
        // SAFETY: made just now, and owned by nobody else.
        let fd = unsafe { OwnedFd::from_raw_fd(raw) };
        filter(raw, wanted)?;
        for (force, option) in [(libc::SO_RCVBUFFORCE, libc::SO_RCVBUF), (libc::SO_SNDBUFFORCE, libc::SO_SNDBUF)] {
            set(raw, force, &SOCKET_BYTES).or_else(|_| set(raw, option, &SOCKET_BYTES))?;
        }
        // Frames that this host sends are seen only by those who see all.
        let protocol = if wanted == Wanted::Everything { libc::ETH_P_ALL as u16 } else { ETHERTYPE };
        let mac = bind(raw, index, protocol)?;
        let mtu = mtu(raw, &name)?;
        let each = (mtu + ETHERNET).clamp(LEAST, MOST_FRAME);
        Ok(Socket { fd, mac, mtu, each, input: vec![0; each * BATCH].into_boxed_slice() })
    }
}

/// Binds to an interface; its address.
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
    let mut asked = question(name);
    // SAFETY: the request holds a name with an end, and has room for the answer.
    checked(unsafe { libc::ioctl(fd, libc::SIOCGIFFLAGS as _, &raw mut asked) })?;
    // SAFETY: the kernel has just written the flags.
    let up = i32::from(unsafe { asked.ifr_ifru.ifru_flags }) & libc::IFF_UP != 0;
    if !up {
        return Err(libc::ENETDOWN);
    }
    // SAFETY: as above.
    checked(unsafe { libc::ioctl(fd, libc::SIOCGIFMTU as _, &raw mut asked) })?;
    // SAFETY: the kernel has just written the MTU.
    Ok(usize::try_from(unsafe { asked.ifr_ifru.ifru_mtu }).unwrap_or(0))
}

/// Ethernet interfaces of this network that are up, ordered by name.
///
/// # Errors
/// If they cannot be listed.
pub fn ethernet_interfaces() -> std::io::Result<Vec<String>> {
    // SAFETY: makes a descriptor, or fails; it is closed with its owner.
    let raw = checked(unsafe { libc::socket(libc::AF_INET, libc::SOCK_DGRAM | libc::SOCK_CLOEXEC, 0) });
    let raw = raw.map_err(std::io::Error::from_raw_os_error)?;
    // SAFETY: made just now, and owned by nobody else.
    let fd = unsafe { OwnedFd::from_raw_fd(raw) };
    // SAFETY: a list that ends with an index of 0, given back below.
    let list = unsafe { libc::if_nameindex() };
    if list.is_null() {
        return Err(std::io::Error::last_os_error());
    }
    let mut names = Vec::new();
    let mut at = list;
    // SAFETY: within the list, whose names are strings with an end.
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

/// An empty question about an interface.
fn question(name: &std::ffi::CStr) -> libc::ifreq {
    // SAFETY: all-zero is a valid ifreq.
    let mut asked: libc::ifreq = unsafe { std::mem::zeroed() };
    for (to, from) in asked.ifr_name.iter_mut().zip(name.to_bytes()).take(libc::IFNAMSIZ - 1) {
        *to = *from as libc::c_char;
    }
    asked
}

/// Whether its frames are those of Ethernet (netdevice(7), SIOCGIFHWADDR).
fn is_ethernet(fd: RawFd, name: &std::ffi::CStr) -> bool {
    let mut asked = question(name);
    // SAFETY: the request holds a name with an end, and has room for the answer.
    let done = checked(unsafe { libc::ioctl(fd, libc::SIOCGIFHWADDR as _, &raw mut asked) });
    // SAFETY: the kernel has just written the address, with its type.
    done.is_ok() && unsafe { asked.ifr_ifru.ifru_hwaddr.sa_family } == libc::ARPHRD_ETHER
}

/// What fills frames up that are too short for Ethernet.
static PADDING: [u8; LEAST - ATA_HEADER] = [0; LEAST - ATA_HEADER];

impl Wire for Socket {
    fn mac(&self) -> Mac {
        self.mac
    }

    fn mtu(&self) -> usize {
        self.mtu
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
        for ((room, part), message) in self.input.chunks_exact_mut(self.each).zip(&mut parts).zip(&mut messages) {
            *part = libc::iovec { iov_base: room.as_mut_ptr().cast(), iov_len: room.len() };
            message.msg_hdr.msg_iov = std::ptr::from_mut(part);
            message.msg_hdr.msg_iovlen = 1;
        }
        let (fd, room) = (self.fd.as_raw_fd(), BATCH as libc::c_uint);
        // SAFETY: the messages refer to the parts, these to separate rooms of the input; no time is given.
        let got =
            unsafe { libc::recvmmsg(fd, messages.as_mut_ptr(), room, libc::MSG_DONTWAIT as _, std::ptr::null_mut()) };
        let got = match checked(got) {
            Ok(got) => got as usize,
            Err(libc::EAGAIN | libc::EINTR) => return Ok(0),
            Err(errno) => return Err(errno),
        };
        for (room, message) in self.input.chunks_exact(self.each).zip(&messages[..got]) {
            each(&room[..(message.msg_len as usize).min(self.each)]);
        }
        Ok(got)
    }
}

/// Waits until something has come on one of the descriptors, or so many nanoseconds.
pub(crate) fn wait(entries: &mut [libc::pollfd], ns: u64) {
    let time = libc::timespec { tv_sec: (ns / 1_000_000_000) as _, tv_nsec: (ns % 1_000_000_000) as _ };
    // SAFETY: the entries and the time are valid for the call; no signal mask is given.
    unsafe { libc::ppoll(entries.as_mut_ptr(), entries.len() as libc::nfds_t, &raw const time, std::ptr::null()) };
}
