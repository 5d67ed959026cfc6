//! One TCP connection of a lane: sends calls, receives replies, is made anew when it is lost.

use crate::calls::Calls;
use crate::record::{Garbage, Reader};
use crate::xdr::padding;
use assay_remote::{Incoming, Input, Outgoing};
use assay_tcp::socket;
use rustix::fd::AsRawFd;
use std::net::{SocketAddr, TcpStream};

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
    outgoing: Outgoing,
    reader: Reader,
    input: Input,
}

impl Link {
    /// Not connected; `number` is its place among the lane's connections.
    pub(crate) fn new(number: usize, address: SocketAddr) -> Self {
        Link {
            address,
            connection: Connection::Down(0),
            failures: 0,
            outgoing: Outgoing::default(),
            reader: Reader::new(number),
            input: Input::default(),
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
        self.outgoing.push(call);
    }

    /// Forgets a call. If a part of it has been sent, the connection has to be closed.
    pub(crate) fn forget(&mut self, call: u32) {
        self.reader.forget(call);
        self.outgoing.forget(call);
    }

    /// Closes the connection; `again` are the calls that have to be sent once more.
    pub(crate) fn close(&mut self, again: Vec<u32>, now: u64) {
        let pause = match self.failures {
            0 => 0,
            count => (PAUSE_NS.0 << (count - 1).min(10)).min(PAUSE_NS.1),
        };
        self.failures += 1;
        self.connection = Connection::Down(now + pause);
        self.outgoing.reset(again);
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
    #[inline]
    pub(crate) fn send(&mut self, calls: &Calls) -> Result<(), i32> {
        let Connection::Up(stream) = &self.connection else { return Ok(()) };
        let parts_of = |number| {
            let call = calls.table.get(number);
            let (data, length) = call.payload.outgoing();
            [(call.head.as_ptr(), call.head.len()), (data, length), (ZEROS.as_ptr(), padding(length))]
        };
        // SAFETY: the parts are those of calls that have not ended, to which buffers and heads belong until then.
        unsafe { self.outgoing.send(stream, parts_of) }
    }

    /// Receives what is there.
    #[inline]
    fn receive(&mut self, calls: &mut Calls) -> Result<(), i32> {
        let Connection::Up(stream) = &self.connection else { return Ok(()) };
        let mut replies = Received { reader: &mut self.reader, calls, failures: &mut self.failures };
        // SAFETY: the place of data belongs to its call until that ends.
        unsafe { self.input.receive(stream, &mut replies) }
    }
}

/// Takes replies for a connection.
struct Received<'a> {
    reader: &'a mut Reader,
    calls: &'a mut Calls,
    failures: &'a mut u32,
}

impl Incoming for Received<'_> {
    #[inline]
    fn direct(&self) -> Option<(*mut u8, usize)> {
        self.reader.direct()
    }

    #[inline]
    fn take(&mut self, in_place: Option<usize>, bytes: &[u8]) -> Result<(), i32> {
        let known = self.calls.table.finished.len();
        if let Some(count) = in_place {
            self.reader.advance(count, self.calls);
        }
        self.reader.feed(bytes, self.calls).map_err(|Garbage| libc::EBADMSG)?;
        if self.calls.table.finished.len() > known {
            *self.failures = 0;
        }
        Ok(())
    }
}

/// Padding of data that is sent.
static ZEROS: [u8; 3] = [0; 3];
