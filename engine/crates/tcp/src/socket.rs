//! TCP connections that never block.

use assay_core::clock;
use rustix::net::{self, AddressFamily, SocketFlags, SocketType};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, TcpStream};

/// Ports for privileged processes, from which Linux's client takes its own (sunrpc.min_resvport): many servers refuse
/// calls from other ports (exports(5): secure).
const RESERVED: std::ops::RangeInclusive<u16> = 665..=1023;

/// Start to connect; the socket becomes writable when it is connected. `reserved`: use a reserved port, if this process
/// may have one and one is free.
///
/// # Errors
/// errno of socket(2) or connect(2).
pub fn connect(address: &SocketAddr, reserved: bool) -> Result<TcpStream, i32> {
    match start(address, reserved) {
        // The port still belongs to an earlier connection to the same server.
        Err(libc::EADDRNOTAVAIL | libc::EADDRINUSE) => start(address, false),
        done => done,
    }
}

fn start(address: &SocketAddr, reserved: bool) -> Result<TcpStream, i32> {
    let family = if address.is_ipv4() { AddressFamily::INET } else { AddressFamily::INET6 };
    let flags = SocketFlags::NONBLOCK | SocketFlags::CLOEXEC;
    let errno = rustix::io::Errno::raw_os_error;
    let socket = net::socket_with(family, SocketType::STREAM, flags, None).map_err(errno)?;
    if reserved {
        bind_reserved(&socket, address);
    }
    match net::connect(&socket, address) {
        Ok(()) | Err(rustix::io::Errno::INPROGRESS | rustix::io::Errno::INTR) => {}
        Err(error) => return Err(error.raw_os_error()),
    }
    let stream = TcpStream::from(socket);
    // Small calls must not wait for the acknowledgement of earlier ones.
    stream.set_nodelay(true).map_err(|error| error.raw_os_error().unwrap_or(libc::EIO))?;
    Ok(stream)
}

/// Bind to any reserved port; without one the kernel chooses an ordinary port when the socket is connected.
fn bind_reserved(socket: &rustix::fd::OwnedFd, address: &SocketAddr) {
    let any = match address {
        SocketAddr::V4(_) => IpAddr::V4(Ipv4Addr::UNSPECIFIED),
        SocketAddr::V6(_) => IpAddr::V6(Ipv6Addr::UNSPECIFIED),
    };
    let count = RESERVED.count() as u64;
    let first = assay_core::random::mix(clock::now()) % count;
    for step in 0..count {
        let port = RESERVED.start() + ((first + step) % count) as u16;
        match net::bind(socket, &SocketAddr::new(any, port)) {
            Err(rustix::io::Errno::ADDRINUSE) => {}
            _ => return,
        }
    }
}

/// The result of connecting; None while it is undecided.
pub fn connected(stream: &TcpStream) -> Option<Result<(), i32>> {
    match stream.take_error() {
        Ok(None) => stream.peer_addr().is_ok().then_some(Ok(())),
        Ok(Some(error)) | Err(error) => Some(Err(error.raw_os_error().unwrap_or(libc::EIO))),
    }
}

/// Send the bytes of the parts, as many as there is room for; returns how many.
///
/// # Errors
/// errno of sendmsg(2).
///
/// # Safety
/// The parts must point to readable memory.
pub unsafe fn send(stream: &TcpStream, parts: &[libc::iovec]) -> Result<usize, i32> {
    use rustix::fd::AsRawFd;
    // SAFETY: all-zero is a valid msghdr: no address, no control data.
    let mut message: libc::msghdr = unsafe { std::mem::zeroed() };
    message.msg_iov = parts.as_ptr().cast_mut();
    message.msg_iovlen = parts.len() as _;
    // SAFETY: the message refers to the parts, which are readable by the caller's promise.
    result(unsafe { libc::sendmsg(stream.as_raw_fd(), &raw const message, libc::MSG_NOSIGNAL) })
}

/// Receive available bytes into the parts; returns 0 if the peer has closed the connection.
///
/// # Errors
/// errno of readv(2).
///
/// # Safety
/// The parts must point to writable memory that nothing else uses.
pub unsafe fn receive(stream: &TcpStream, parts: &[libc::iovec]) -> Result<usize, i32> {
    use rustix::fd::AsRawFd;
    // SAFETY: the parts are writable by the caller's promise.
    result(unsafe { libc::readv(stream.as_raw_fd(), parts.as_ptr(), parts.len() as libc::c_int) })
}

/// Wait until one of the sockets is ready, at most `ns` nanoseconds.
pub fn poll(entries: &mut [libc::pollfd], ns: u64) {
    let time = libc::timespec { tv_sec: (ns / 1_000_000_000) as _, tv_nsec: (ns % 1_000_000_000) as _ };
    // SAFETY: the entries and the time are valid for the call; no signal mask is given.
    let found =
        unsafe { libc::ppoll(entries.as_mut_ptr(), entries.len() as libc::nfds_t, &raw const time, std::ptr::null()) };
    if found <= 0 {
        for entry in entries {
            entry.revents = 0;
        }
    }
}

fn result(code: isize) -> Result<usize, i32> {
    usize::try_from(code).map_err(|_| std::io::Error::last_os_error().raw_os_error().unwrap_or(libc::EIO))
}

/// True if nothing can be moved now, or a signal interrupted the call.
pub fn is_not_now(errno: i32) -> bool {
    matches!(errno, libc::EAGAIN | libc::EINTR)
}

#[cfg(test)]
mod tests {
    use super::*;
    use rustix::fd::AsRawFd;
    use std::io::{Read, Write};
    use std::net::TcpListener;

    fn part(bytes: &mut [u8]) -> libc::iovec {
        libc::iovec { iov_base: bytes.as_mut_ptr().cast(), iov_len: bytes.len() }
    }

    fn entry(stream: &TcpStream, events: libc::c_short) -> libc::pollfd {
        libc::pollfd { fd: stream.as_raw_fd(), events, revents: 0 }
    }

    /// Both ends of a connection; the first never blocks.
    fn pair() -> (TcpStream, TcpStream) {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let stream = connect(&listener.local_addr().unwrap(), false).unwrap();
        let (other, _) = listener.accept().unwrap();
        assert_eq!(decided(&stream), Ok(()));
        (stream, other)
    }

    /// The result of connecting, once it is decided.
    fn decided(stream: &TcpStream) -> Result<(), i32> {
        loop {
            poll(&mut [entry(stream, libc::POLLOUT)], u64::MAX >> 1);
            if let Some(done) = connected(stream) {
                return done;
            }
        }
    }

    #[test]
    fn parts_are_sent_and_received_in_their_order() {
        let (stream, mut other) = pair();
        let (mut first, mut second) = (*b"abc", *b"de");
        // SAFETY: the parts are alive.
        assert_eq!(unsafe { send(&stream, &[part(&mut first), part(&mut second)]) }, Ok(5));
        let mut found = [0; 5];
        other.read_exact(&mut found).unwrap();
        assert_eq!(&found, b"abcde");
        // SAFETY: the parts are alive, and nothing else uses them.
        let early = unsafe { receive(&stream, &[part(&mut first)]) };
        assert_eq!(early, Err(libc::EAGAIN), "nothing is there, and it does not wait");
        other.write_all(b"vwxyz").unwrap();
        poll(&mut [entry(&stream, libc::POLLIN)], u64::MAX >> 1);
        // SAFETY: as above.
        assert_eq!(unsafe { receive(&stream, &[part(&mut first), part(&mut second)]) }, Ok(5));
        assert_eq!((&first, &second), (b"vwx", b"yz"));
    }

    #[test]
    fn a_peer_that_is_gone_is_an_end_and_no_signal() {
        let (stream, other) = pair();
        drop(other);
        poll(&mut [entry(&stream, libc::POLLIN)], u64::MAX >> 1);
        let mut room = [0; 8];
        // SAFETY: the part is alive.
        assert_eq!(unsafe { receive(&stream, &[part(&mut room)]) }, Ok(0));
        let error = loop {
            // SAFETY: as above.
            if let Err(errno) = unsafe { send(&stream, &[part(&mut room)]) } {
                break errno;
            }
        };
        assert!(matches!(error, libc::EPIPE | libc::ECONNRESET), "{error}");
    }

    #[test]
    fn a_refusal_is_reported_once_it_is_known() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        drop(listener);
        let refused = match connect(&address, false) {
            Ok(stream) => decided(&stream),
            Err(errno) => Err(errno),
        };
        assert_eq!(refused, Err(libc::ECONNREFUSED));
    }

    /// Old events of a socket are not reported again when the wait is over.
    #[test]
    fn a_wait_without_events_reports_none() {
        let (stream, _other) = pair();
        let mut entries = [libc::pollfd { revents: libc::POLLIN, ..entry(&stream, libc::POLLIN) }];
        poll(&mut entries, 0);
        assert_eq!(entries[0].revents, 0);
        poll(&mut [], 0);
        assert!(is_not_now(libc::EAGAIN) && is_not_now(libc::EINTR) && !is_not_now(libc::EPIPE));
    }

    /// Reserved if this process may have such a port; any other if it may not.
    #[test]
    fn a_reserved_port_is_taken_if_there_is_one() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let stream = connect(&listener.local_addr().unwrap(), true).unwrap();
        let (_other, from) = listener.accept().unwrap();
        assert_eq!(decided(&stream), Ok(()));
        assert!(RESERVED.contains(&from.port()) || from.port() >= 1024, "{from}");
    }
}
