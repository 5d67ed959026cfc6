//! One TCP connection of a lane: sends calls, receives replies, is made anew when it is lost.

use crate::calls::Calls;
use crate::record::{Garbage, Reader};
use crate::xdr::padding;
use assay_remote::Payload;
use assay_tcp::socket;
use rustix::fd::AsRawFd;
use std::collections::VecDeque;
use std::net::{SocketAddr, TcpStream};

/// Room for replies; longer data goes to its place directly.
const INPUT_BYTES: usize = 64 << 10;
/// While so much data or more is on its way to its place, what comes after it is only looked at.
const LARGE_BYTES: usize = 32 << 10;
/// What is received after large data: about the next reply's head.
const SPILL_BYTES: usize = 1 << 10;
/// So often what has come is taken before deadlines are looked at again: a server may send faster than it is taken.
const MOST_TURNS: usize = 64;
/// Parts that are sent at once.
const MAX_PARTS: usize = 48;
/// Pause before a connection is tried again, and the longest, in nanoseconds.
const PAUSE_NS: (u64, u64) = (50_000_000, 1_000_000_000);
/// A connection that is not made by then is tried anew: the kernel's own pauses grow too long after an outage.
const CONNECT_NS: u64 = 3_000_000_000;

enum Connection {
    /// Not to be tried again before that time.
    Down(u64),
    /// Since that time.
    Connecting(TcpStream, u64),
    Up(TcpStream),
}

/// One connection.
pub(crate) struct Link {
    address: SocketAddr,
    connection: Connection,
    /// Attempts and connections without a reply, since the last reply.
    failures: u32,
    /// Calls to be sent, and how much of the first one has been.
    outgoing: VecDeque<u32>,
    sent: usize,
    reader: Reader,
    input: Box<[u8]>,
}

impl Link {
    /// Not connected; `number` is its place among the lane's connections.
    pub(crate) fn new(number: usize, address: SocketAddr) -> Self {
        Link {
            address,
            connection: Connection::Down(0),
            failures: 0,
            outgoing: VecDeque::new(),
            sent: 0,
            reader: Reader::new(number),
            input: vec![0; INPUT_BYTES].into_boxed_slice(),
        }
    }

    pub(crate) fn is_up(&self) -> bool {
        matches!(self.connection, Connection::Up(_))
    }

    /// Nobody waits for a connection to be made.
    pub(crate) fn is_idle(&self) -> bool {
        matches!(self.connection, Connection::Down(_)) && self.outgoing.is_empty()
    }

    /// Puts a call at the end of those that are to be sent.
    pub(crate) fn push(&mut self, call: u32) {
        self.outgoing.push_back(call);
    }

    /// Forgets a call. If a part of it has been sent, the connection has to be closed.
    pub(crate) fn forget(&mut self, call: u32) {
        self.reader.forget(call);
        if self.sent == 0 || self.outgoing.front() != Some(&call) {
            self.outgoing.retain(|other| *other != call);
        }
    }

    /// Closes the connection; `again` are the calls that have to be sent once more.
    pub(crate) fn close(&mut self, again: Vec<u32>, now: u64) {
        let pause = match self.failures {
            0 => 0,
            count => (PAUSE_NS.0 << (count - 1).min(10)).min(PAUSE_NS.1),
        };
        self.failures += 1;
        self.connection = Connection::Down(now + pause);
        self.outgoing = again.into();
        self.sent = 0;
        self.reader.reset();
    }

    /// Starts to connect if that is due; gives up an attempt that takes too long. An errno means that it failed.
    pub(crate) fn tend(&mut self, now: u64) -> Result<(), i32> {
        match &self.connection {
            Connection::Down(from) if *from <= now && !self.outgoing.is_empty() => self.dial(now),
            Connection::Connecting(_, since) if now >= since + CONNECT_NS => Err(libc::ETIMEDOUT),
            _ => Ok(()),
        }
    }

    /// Starts to connect.
    pub(crate) fn dial(&mut self, now: u64) -> Result<(), i32> {
        self.connection = Connection::Connecting(socket::connect(&self.address, true)?, now);
        Ok(())
    }

    /// When `tend` has something to do next, if nothing else happens.
    pub(crate) fn next_wake(&self) -> u64 {
        match &self.connection {
            Connection::Down(from) if !self.outgoing.is_empty() => *from,
            Connection::Connecting(_, since) => since + CONNECT_NS,
            _ => u64::MAX,
        }
    }

    /// What to wait for.
    pub(crate) fn interest(&self) -> libc::pollfd {
        let (fd, events) = match &self.connection {
            Connection::Down(_) => (-1, 0),
            Connection::Connecting(stream, _) => (stream.as_raw_fd(), libc::POLLOUT),
            Connection::Up(stream) if self.outgoing.is_empty() => (stream.as_raw_fd(), libc::POLLIN),
            Connection::Up(stream) => (stream.as_raw_fd(), libc::POLLIN | libc::POLLOUT),
        };
        libc::pollfd { fd, events, revents: 0 }
    }

    /// Does what can be done after `poll` has said so. An errno means that the connection is lost.
    pub(crate) fn ready(&mut self, revents: i16, calls: &mut Calls) -> Result<(), i32> {
        if let Connection::Connecting(stream, _) = &self.connection {
            match socket::connected(stream) {
                None => return Ok(()),
                Some(Err(errno)) => return Err(errno),
                Some(Ok(())) => {}
            }
            let made = std::mem::replace(&mut self.connection, Connection::Down(0));
            if let Connection::Connecting(stream, _) = made {
                self.connection = Connection::Up(stream);
            }
            return self.send(calls);
        }
        if revents & !libc::POLLOUT != 0 {
            self.receive(calls)?;
        }
        if revents & libc::POLLOUT != 0 {
            self.send(calls)?;
        }
        Ok(())
    }

    /// Sends what there is room for.
    pub(crate) fn send(&mut self, calls: &Calls) -> Result<(), i32> {
        while let (Connection::Up(stream), false) = (&self.connection, self.outgoing.is_empty()) {
            let empty = libc::iovec { iov_base: std::ptr::null_mut(), iov_len: 0 };
            let mut parts = [empty; MAX_PARTS];
            let (count, bytes) = self.parts(calls, &mut parts);
            // SAFETY: the parts are those of calls that have not ended, to whom buffers and heads belong until then.
            let sent = match unsafe { socket::send(stream, &parts[..count]) } {
                Ok(sent) => sent,
                Err(errno) if socket::is_not_now(errno) => return Ok(()),
                Err(errno) => return Err(errno),
            };
            self.sent += sent;
            while let Some(length) = self.outgoing.front().map(|call| length(calls, *call)) {
                if self.sent < length {
                    break;
                }
                self.sent -= length;
                self.outgoing.pop_front();
            }
            if sent < bytes {
                return Ok(());
            }
        }
        Ok(())
    }

    /// What to send next: how many parts, and how many bytes.
    fn parts(&self, calls: &Calls, parts: &mut [libc::iovec; MAX_PARTS]) -> (usize, usize) {
        let (mut count, mut bytes) = (0, 0);
        let mut skip = self.sent;
        for number in &self.outgoing {
            if count + 3 > MAX_PARTS {
                break;
            }
            let call = calls.table.get(*number);
            let (data, length) = match call.payload {
                Payload::Out(data, length) => (data, length),
                _ => (std::ptr::null(), 0),
            };
            for (from, length) in
                [(call.head.as_ptr(), call.head.len()), (data, length), (ZEROS.as_ptr(), padding(length))]
            {
                let passed = skip.min(length);
                skip -= passed;
                if passed < length {
                    let from = from.wrapping_add(passed).cast_mut().cast();
                    parts[count] = libc::iovec { iov_base: from, iov_len: length - passed };
                    count += 1;
                    bytes += length - passed;
                }
            }
        }
        (count, bytes)
    }

    /// Receives what is there.
    fn receive(&mut self, calls: &mut Calls) -> Result<(), i32> {
        let Connection::Up(stream) = &self.connection else { return Ok(()) };
        for _ in 0..MOST_TURNS {
            let direct = self.reader.direct();
            let (to, room) = direct.unwrap_or((std::ptr::null_mut(), 0));
            let spill = if room >= LARGE_BYTES { SPILL_BYTES } else { INPUT_BYTES };
            let input = libc::iovec { iov_base: self.input.as_mut_ptr().cast(), iov_len: spill };
            let parts = [libc::iovec { iov_base: to.cast(), iov_len: room }, input];
            // SAFETY: the data's place belongs to its call until that ends, and the input to this connection.
            let got = match unsafe { socket::receive(stream, &parts[usize::from(direct.is_none())..]) } {
                Ok(0) => return Err(libc::ECONNRESET),
                Ok(got) => got,
                Err(errno) if socket::is_not_now(errno) => return Ok(()),
                Err(errno) => return Err(errno),
            };
            let known = calls.table.finished.len();
            let in_place = got.min(room);
            if direct.is_some() {
                self.reader.advance(in_place, calls);
            }
            let fed = self.reader.feed(&self.input[..got - in_place], calls);
            fed.map_err(|Garbage| libc::EBADMSG)?;
            if calls.table.finished.len() > known {
                self.failures = 0;
            }
            if got < room + spill {
                return Ok(());
            }
        }
        Ok(())
    }
}

/// Padding of data that is sent.
static ZEROS: [u8; 3] = [0; 3];

/// Bytes of a call's record, with its mark.
fn length(calls: &Calls, number: u32) -> usize {
    let call = calls.table.get(number);
    let data = match call.payload {
        Payload::Out(_, length) => length + padding(length),
        _ => 0,
    };
    call.head.len() + data
}
