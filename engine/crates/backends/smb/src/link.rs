//! One TCP connection of a session: sends requests as far as the server's credits go, and receives answers ([MS-SMB2]
//! sections 3.2.4.1 and 3.2.5.1).

use crate::calls::{self, Calls};
use crate::crypto::seal::Sealer;
use crate::crypto::sign::Signer;
use crate::messages::{read_data, READ_HEAD};
use crate::reader::{Answers, Garbage, Reader};
use crate::status::{PENDING, SUCCESS};
use crate::wire::{
    parts, Command, Header, AT_CHARGE, AT_CREDITS, AT_MESSAGE, AT_SESSION, AT_TREE, ENCRYPTED_ID, HEADER, PREFIX,
};
use assay_core::clock;
use assay_remote::{Outcome, Payload, State};
use assay_tcp::socket;
use rustix::fd::AsRawFd;
use std::collections::{HashMap, VecDeque};
use std::net::{SocketAddr, TcpStream};

/// Room for answers; data goes to its place directly.
const INPUT_BYTES: usize = 64 << 10;
/// While so much data or more is on its way to its place, what comes after it is only looked at.
const LARGE_BYTES: usize = 32 << 10;
/// What is received after large data: about the next answer's head.
const SPILL_BYTES: usize = 1 << 10;
/// So often what has come is taken before deadlines are looked at again.
const MOST_TURNS: usize = 64;
/// Parts that are sent at once.
const MAX_PARTS: usize = 32;
/// Credits that are asked for, until there are so many.
const WANTED_CREDITS: u32 = 2048;
/// Most that are asked for at once.
const CREDITS_AT_ONCE: u32 = 256;

/// What all connections of a session have in common.
pub(crate) struct Shared {
    pub(crate) session: u64,
    pub(crate) tree: u32,
    /// Encrypts each message.
    pub(crate) sealer: Option<Sealer>,
    /// Each message is signed, unless it is encrypted.
    pub(crate) signing: bool,
    /// Requests may be larger than 64 KiB (SMB2_GLOBAL_CAP_LARGE_MTU).
    pub(crate) large: bool,
}

/// One connection.
pub(crate) struct Link {
    pub(crate) stream: TcpStream,
    reader: Reader,
    input: Box<[u8]>,
    pub(crate) signer: Option<Signer>,
    /// Calls that wait for credits, and those whose message is made and not sent.
    waiting: VecDeque<u32>,
    outgoing: VecDeque<u32>,
    sent: usize,
    pub(crate) credits: u32,
    pub(crate) next_message: u64,
    /// Calls by the numbers of their requests that have no answer yet.
    pending: HashMap<u64, u32>,
    pub(crate) requests: u64,
}

impl Link {
    /// Connects; an errno if that does not succeed in time.
    pub(crate) fn dial(address: &SocketAddr, until: u64) -> Result<Self, i32> {
        let stream = socket::connect(address, false)?;
        loop {
            let now = clock::now();
            if now >= until {
                return Err(libc::ETIMEDOUT);
            }
            let mut entry = [libc::pollfd { fd: stream.as_raw_fd(), events: libc::POLLOUT, revents: 0 }];
            socket::poll(&mut entry, until - now);
            match socket::connected(&stream) {
                Some(Ok(())) if entry[0].revents != 0 => break,
                Some(Err(errno)) => return Err(errno),
                _ => {}
            }
        }
        Ok(Link {
            stream,
            reader: Reader::new(),
            input: vec![0; INPUT_BYTES].into_boxed_slice(),
            signer: None,
            waiting: VecDeque::new(),
            outgoing: VecDeque::new(),
            sent: 0,
            credits: 1,
            next_message: 0,
            pending: HashMap::new(),
            requests: 0,
        })
    }

    /// Puts a call at the end of those that are to be sent.
    pub(crate) fn push(&mut self, call: u32) {
        self.waiting.push_back(call);
    }

    /// What to wait for.
    pub(crate) fn interest(&self) -> libc::pollfd {
        let events = if self.outgoing.is_empty() { libc::POLLIN } else { libc::POLLIN | libc::POLLOUT };
        libc::pollfd { fd: self.stream.as_raw_fd(), events, revents: 0 }
    }

    /// Gives requests the numbers of their messages, and the credits that they cost.
    pub(crate) fn number(&mut self, message: &mut [u8], charge: u16, shared: &Shared) -> u64 {
        let first = self.next_message;
        let ranges: Vec<_> = parts(message).collect();
        let each = charge / ranges.len() as u16;
        for range in ranges {
            let wanted = WANTED_CREDITS.saturating_sub(self.credits).min(CREDITS_AT_ONCE) as u16;
            let at = range.start;
            let charged = if shared.large { each } else { 0 };
            message[at + AT_CHARGE..at + AT_CHARGE + 2].copy_from_slice(&charged.to_le_bytes());
            message[at + AT_CREDITS..at + AT_CREDITS + 2].copy_from_slice(&(each + wanted).to_le_bytes());
            message[at + AT_MESSAGE..at + AT_MESSAGE + 8].copy_from_slice(&self.next_message.to_le_bytes());
            message[at + AT_TREE..at + AT_TREE + 4].copy_from_slice(&shared.tree.to_le_bytes());
            message[at + AT_SESSION..at + AT_SESSION + 8].copy_from_slice(&shared.session.to_le_bytes());
            self.next_message += u64::from(each);
            self.requests += 1;
        }
        self.credits = self.credits.saturating_sub(u32::from(charge));
        first
    }

    /// Signs or encrypts a message, of which `data` is the end. True if the data is now in it.
    pub(crate) fn protect(&self, head: &mut Vec<u8>, data: &[u8], shared: &mut Shared) -> bool {
        if let Some(sealer) = &mut shared.sealer {
            let mut sealed = Vec::new();
            sealer.seal(&[&head[PREFIX..], data], &mut sealed);
            *head = sealed;
            return true;
        }
        let Some(signer) = self.signer.as_ref().filter(|_| shared.signing) else { return false };
        head.extend_from_slice(data);
        let message = &mut head[PREFIX..];
        let ranges: Vec<_> = parts(message).collect();
        for range in ranges {
            signer.sign(&mut message[range]);
        }
        true
    }

    /// Makes the messages of calls for which there are credits.
    fn make(&mut self, calls: &mut Calls, shared: &mut Shared) {
        while let Some(number) = self.waiting.front().copied() {
            let call = calls.get_mut(number);
            if call.state == State::Open && u32::from(call.own.charge) > self.credits {
                return;
            }
            self.waiting.pop_front();
            if call.state != State::Open {
                continue;
            }
            call.own.message = self.number(&mut call.head[PREFIX..], call.own.charge, shared);
            for part in 0..u64::from(call.own.parts) {
                self.pending.insert(call.own.message + part, number);
            }
            let data: &[u8] = match call.payload {
                // SAFETY: what is sent belongs to the call until it ends.
                Payload::Out(data, length) => unsafe { std::slice::from_raw_parts(data, length) },
                _ => &[],
            };
            if self.protect(&mut call.head, data, shared) && matches!(call.payload, Payload::Out(..)) {
                call.payload = Payload::None;
            }
            let length = length(calls, number) - PREFIX;
            calls.get_mut(number).head[..PREFIX].copy_from_slice(&(length as u32).to_be_bytes());
            self.outgoing.push_back(number);
        }
    }

    /// Sends what there are credits and room for. An errno means that the connection is lost.
    pub(crate) fn send(&mut self, calls: &mut Calls, shared: &mut Shared) -> Result<(), i32> {
        self.make(calls, shared);
        if self.outgoing.is_empty() && self.pending.is_empty() && !self.waiting.is_empty() {
            // Nothing is under way that could bring more credits.
            return Err(libc::EPROTO);
        }
        while !self.outgoing.is_empty() {
            let empty = libc::iovec { iov_base: std::ptr::null_mut(), iov_len: 0 };
            let mut pieces = [empty; MAX_PARTS];
            let (count, bytes) = self.pieces(calls, &mut pieces);
            // SAFETY: the pieces are those of calls that have not ended, to whom buffers and heads belong until then.
            let sent = match unsafe { socket::send(&self.stream, &pieces[..count]) } {
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

    /// What to send next: how many pieces, and how many bytes.
    fn pieces(&self, calls: &Calls, pieces: &mut [libc::iovec; MAX_PARTS]) -> (usize, usize) {
        let (mut count, mut bytes, mut skip) = (0, 0, self.sent);
        for number in &self.outgoing {
            if count + 2 > MAX_PARTS {
                break;
            }
            let call = calls.get(*number);
            let data = match call.payload {
                Payload::Out(data, length) => (data, length),
                _ => (std::ptr::null(), 0),
            };
            for (from, length) in [(call.head.as_ptr(), call.head.len()), data] {
                let passed = skip.min(length);
                skip -= passed;
                if passed < length {
                    let from = from.wrapping_add(passed).cast_mut().cast();
                    pieces[count] = libc::iovec { iov_base: from, iov_len: length - passed };
                    count += 1;
                    bytes += length - passed;
                }
            }
        }
        (count, bytes)
    }

    /// Receives what is there. An errno means that the connection is lost.
    pub(crate) fn receive(&mut self, calls: &mut Calls, shared: &Shared) -> Result<(), i32> {
        for _ in 0..MOST_TURNS {
            let direct = self.reader.direct();
            let (to, room) = direct.unwrap_or((std::ptr::null_mut(), 0));
            let spill = if room >= LARGE_BYTES { SPILL_BYTES } else { INPUT_BYTES };
            let input = libc::iovec { iov_base: self.input.as_mut_ptr().cast(), iov_len: spill };
            let pieces = [libc::iovec { iov_base: to.cast(), iov_len: room }, input];
            // SAFETY: the data's place belongs to its call until that ends, and the input to this connection.
            let got = match unsafe { socket::receive(&self.stream, &pieces[usize::from(direct.is_none())..]) } {
                Ok(0) => return Err(libc::ECONNRESET),
                Ok(got) => got,
                Err(errno) if socket::is_not_now(errno) => return Ok(()),
                Err(errno) => return Err(errno),
            };
            let in_place = got.min(room);
            let mut incoming = Incoming {
                calls,
                shared,
                signer: self.signer.as_ref(),
                pending: &mut self.pending,
                credits: &mut self.credits,
            };
            let mut taken = Ok(());
            if direct.is_some() {
                taken = self.reader.advance(in_place, &mut incoming);
            }
            let fed = taken.and_then(|()| self.reader.feed(&self.input[..got - in_place], &mut incoming));
            fed.map_err(|Garbage| libc::EBADMSG)?;
            if got < room + spill {
                return Ok(());
            }
        }
        Ok(())
    }

    /// Sends one message while nothing else is under way, and waits for its answer, which is not encrypted and not
    /// checked; both without what TCP needs in front.
    pub(crate) fn exchange(&mut self, head: &mut [u8], until: u64) -> Result<Vec<u8>, i32> {
        let length = (head.len() - PREFIX) as u32;
        head[..PREFIX].copy_from_slice(&length.to_be_bytes());
        self.write_all(head, until)?;
        loop {
            let prefix = self.read_exact(PREFIX, until)?;
            let length = u32::from_be_bytes(prefix[..].try_into().map_err(|_| libc::EBADMSG)?) as usize;
            if !(HEADER..1 << 20).contains(&length) {
                return Err(libc::EBADMSG);
            }
            let answer = self.read_exact(length, until)?;
            if answer[..4] == ENCRYPTED_ID {
                return Ok(answer);
            }
            let header = Header::read(&answer).ok_or(libc::EBADMSG)?;
            self.credits = self.credits.saturating_add(u32::from(header.credits));
            if !header.is_interim(PENDING) {
                return Ok(answer);
            }
        }
    }

    fn ready(&self, events: i16, until: u64) -> Result<(), i32> {
        let now = clock::now();
        if now >= until {
            return Err(libc::ETIMEDOUT);
        }
        let mut entry = [libc::pollfd { fd: self.stream.as_raw_fd(), events, revents: 0 }];
        socket::poll(&mut entry, until - now);
        Ok(())
    }

    fn write_all(&mut self, mut bytes: &[u8], until: u64) -> Result<(), i32> {
        while !bytes.is_empty() {
            let piece = libc::iovec { iov_base: bytes.as_ptr().cast_mut().cast(), iov_len: bytes.len() };
            // SAFETY: the bytes are borrowed for as long as the call lasts.
            match unsafe { socket::send(&self.stream, &[piece]) } {
                Ok(sent) => bytes = &bytes[sent..],
                Err(errno) if socket::is_not_now(errno) => self.ready(libc::POLLOUT, until)?,
                Err(errno) => return Err(errno),
            }
        }
        Ok(())
    }

    fn read_exact(&mut self, count: usize, until: u64) -> Result<Vec<u8>, i32> {
        let mut bytes = vec![0; count];
        let mut filled = 0;
        while filled < count {
            let rest = &mut bytes[filled..];
            let piece = libc::iovec { iov_base: rest.as_mut_ptr().cast(), iov_len: rest.len() };
            // SAFETY: the bytes are this function's own.
            match unsafe { socket::receive(&self.stream, &[piece]) } {
                Ok(0) => return Err(libc::ECONNRESET),
                Ok(got) => filled += got,
                Err(errno) if socket::is_not_now(errno) => self.ready(libc::POLLIN, until)?,
                Err(errno) => return Err(errno),
            }
        }
        Ok(bytes)
    }
}

/// Takes answers for a connection.
pub(crate) struct Incoming<'a> {
    pub(crate) calls: &'a mut Calls,
    pub(crate) shared: &'a Shared,
    pub(crate) signer: Option<&'a Signer>,
    pub(crate) pending: &'a mut HashMap<u64, u32>,
    pub(crate) credits: &'a mut u32,
}

impl Incoming<'_> {
    /// One answer, from its header on; `checked` if it was encrypted, so that it needs no signature.
    fn answer(&mut self, answer: &mut [u8], checked: bool) -> Result<(), Garbage> {
        let header = Header::read(answer).ok_or(Garbage)?;
        let interim = header.is_interim(PENDING);
        let must = self.shared.signing && !checked && !interim;
        if must || header.is_signed() && !checked {
            let right = self.signer.is_none_or(|signer| signer.is_right(answer));
            // What asks for nothing, such as a notice that an oplock ends, is not signed.
            if !right || must && !header.is_signed() && header.message != u64::MAX {
                return Err(Garbage);
            }
        }
        *self.credits = self.credits.saturating_add(u32::from(header.credits));
        if interim {
            return Ok(());
        }
        let Some(call) = self.pending.remove(&header.message) else { return Ok(()) };
        if self.calls.get(call).state == State::Open {
            calls::answered(self.calls, call, &header, answer);
        }
        Ok(())
    }
}

impl Answers for Incoming<'_> {
    fn data(&mut self, head: &[u8], length: usize) -> Option<(*mut u8, usize)> {
        if self.shared.sealer.is_some() || self.shared.signing {
            return None;
        }
        let header = Header::read(head)?;
        let plain = header.status == SUCCESS
            && header.command == Command::Read as u16
            && header.next == 0
            && !header.is_signed();
        let call = *self.pending.get(&header.message).filter(|_| plain)?;
        let call = self.calls.get(call);
        let Payload::In(to, room) = call.payload else { return None };
        let (at, count) = read_data(head)?;
        let fits = at == READ_HEAD && count > 0 && count <= room && count <= length.saturating_sub(READ_HEAD);
        (fits && call.state == State::Open).then_some((to, count))
    }

    fn arrived(&mut self, head: &[u8]) -> Result<(), Garbage> {
        let header = Header::read(head).ok_or(Garbage)?;
        let (_, count) = read_data(head).ok_or(Garbage)?;
        *self.credits = self.credits.saturating_add(u32::from(header.credits));
        let call = self.pending.remove(&header.message).ok_or(Garbage)?;
        self.calls.finish(call, Outcome::Read(count as u32, count == 0));
        Ok(())
    }

    fn message(&mut self, message: &mut [u8]) -> Result<(), Garbage> {
        let (message, checked) = match &self.shared.sealer {
            Some(sealer) => (sealer.open(message).ok_or(Garbage)?, true),
            None => (message, false),
        };
        let mut end = 0;
        let ranges: Vec<_> = parts(message).collect();
        for range in ranges {
            end = range.end;
            self.answer(&mut message[range], checked)?;
        }
        if end == message.len() {
            Ok(())
        } else {
            Err(Garbage)
        }
    }
}

/// Bytes of a call's message on TCP.
fn length(calls: &Calls, number: u32) -> usize {
    let call = calls.get(number);
    let data = match call.payload {
        Payload::Out(_, length) => length,
        _ => 0,
    };
    call.head.len() + data
}
