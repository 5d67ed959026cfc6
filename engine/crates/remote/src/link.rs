//! Calls and replies on a TCP connection that never blocks.

use assay_tcp::socket;
use std::collections::VecDeque;
use std::net::TcpStream;

/// Room for replies; longer data goes to its place directly.
const INPUT_BYTES: usize = 64 << 10;
/// While so much data or more is on its way to its place, what comes after it is only looked at.
const LARGE_BYTES: usize = 32 << 10;
/// What is received after large data: about the next reply's head.
const SPILL_BYTES: usize = 1 << 10;
/// So often what has come is taken before deadlines are looked at again: a server may send faster than it is taken.
const MAX_TURNS: usize = 64;
/// Calls that are sent at once at least; more if they have fewer parts.
const CALLS_AT_ONCE: usize = 16;

/// Calls that are to be sent, in their order.
#[derive(Default)]
pub struct Outgoing {
    calls: VecDeque<u32>,
    /// How much of the first one has been sent.
    sent: usize,
}

impl Outgoing {
    /// Nothing is to be sent.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.calls.is_empty()
    }

    /// Puts a call at the end.
    #[inline]
    pub fn push(&mut self, call: u32) {
        self.calls.push_back(call);
    }

    /// Begins a new connection with these calls.
    pub fn reset(&mut self, calls: Vec<u32>) {
        (self.calls, self.sent) = (calls.into(), 0);
    }

    /// Forgets a call, unless a part of it has been sent.
    pub fn forget(&mut self, call: u32) {
        if self.sent == 0 || self.calls.front() != Some(&call) {
            self.calls.retain(|other| *other != call);
        }
    }

    /// Sends what there is room for. `parts_of` names the parts of a call, by where they begin and their bytes.
    ///
    /// # Errors
    /// errno with which the connection is lost.
    ///
    /// # Safety
    /// The parts must be readable for as long as this lasts.
    #[inline]
    pub unsafe fn send<const N: usize>(
        &mut self,
        stream: &TcpStream,
        parts_of: impl Fn(u32) -> [(*const u8, usize); N],
    ) -> Result<(), i32> {
        while !self.calls.is_empty() {
            let empty = libc::iovec { iov_base: std::ptr::null_mut(), iov_len: 0 };
            let mut room = [[empty; N]; CALLS_AT_ONCE];
            let parts = room.as_flattened_mut();
            let (mut count, mut bytes, mut skip) = (0, 0, self.sent);
            for call in &self.calls {
                if count + N > parts.len() {
                    break;
                }
                for (from, length) in parts_of(*call) {
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
            // SAFETY: the parts are readable by the caller's promise.
            let sent = match unsafe { socket::send(stream, &parts[..count]) } {
                Ok(sent) => sent,
                Err(errno) if socket::is_not_now(errno) => return Ok(()),
                Err(errno) => return Err(errno),
            };
            self.sent += sent;
            while let Some(call) = self.calls.front() {
                let length: usize = parts_of(*call).iter().map(|(_, length)| length).sum();
                if self.sent < length {
                    break;
                }
                self.sent -= length;
                self.calls.pop_front();
            }
            if sent < bytes {
                return Ok(());
            }
        }
        Ok(())
    }
}

/// Takes replies out of a stream of bytes.
pub trait Incoming {
    /// Where the next bytes of the stream belong, if that is known and they need no look; and how many.
    fn direct(&self) -> Option<(*mut u8, usize)>;

    /// So many bytes have been put where `direct` says, if it says so; behind them came `bytes`.
    ///
    /// # Errors
    /// errno if they are no replies.
    fn take(&mut self, in_place: Option<usize>, bytes: &[u8]) -> Result<(), i32>;
}

/// Room for what comes from a connection.
pub struct Input(Box<[u8]>);

impl Default for Input {
    fn default() -> Self {
        Input(vec![0; INPUT_BYTES].into_boxed_slice())
    }
}

impl Input {
    /// Receives what is there.
    ///
    /// # Errors
    /// errno with which the connection is lost.
    ///
    /// # Safety
    /// The memory that `incoming` directs bytes to must be writable, and nothing else may use it meanwhile.
    #[inline]
    pub unsafe fn receive(&mut self, stream: &TcpStream, incoming: &mut impl Incoming) -> Result<(), i32> {
        for _ in 0..MAX_TURNS {
            let direct = incoming.direct();
            let (to, room) = direct.unwrap_or((std::ptr::null_mut(), 0));
            let spill = if room >= LARGE_BYTES { SPILL_BYTES } else { INPUT_BYTES };
            let input = libc::iovec { iov_base: self.0.as_mut_ptr().cast(), iov_len: spill };
            let parts = [libc::iovec { iov_base: to.cast(), iov_len: room }, input];
            // SAFETY: the data's place is the caller's promise, and the input is this connection's own.
            let got = match unsafe { socket::receive(stream, &parts[usize::from(direct.is_none())..]) } {
                Ok(0) => return Err(libc::ECONNRESET),
                Ok(got) => got,
                Err(errno) if socket::is_not_now(errno) => return Ok(()),
                Err(errno) => return Err(errno),
            };
            let in_place = got.min(room);
            incoming.take(direct.map(|_| in_place), &self.0[..got - in_place])?;
            if got < room + spill {
                return Ok(());
            }
        }
        Ok(())
    }
}
