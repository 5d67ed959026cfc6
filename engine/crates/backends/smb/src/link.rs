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
use assay_remote::{Input, Outcome, Outgoing, Payload, State};
use assay_tcp::socket;
use rustix::fd::AsRawFd;
use std::collections::{HashMap, VecDeque};
use std::net::{SocketAddr, TcpStream};

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
    input: Input,
    pub(crate) signer: Option<Signer>,
    /// Calls that wait for credits, and those whose message is made and not sent.
    waiting: VecDeque<u32>,
    outgoing: Outgoing,
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
            input: Input::default(),
            signer: None,
            waiting: VecDeque::new(),
            outgoing: Outgoing::default(),
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
            let length = parts_of(calls, number).iter().map(|(_, length)| length).sum::<usize>() - PREFIX;
            calls.get_mut(number).head[..PREFIX].copy_from_slice(&(length as u32).to_be_bytes());
            self.outgoing.push(number);
        }
    }

    /// Sends what there are credits and room for. An errno means that the connection is lost.
    pub(crate) fn send(&mut self, calls: &mut Calls, shared: &mut Shared) -> Result<(), i32> {
        self.make(calls, shared);
        if self.outgoing.is_empty() && self.pending.is_empty() && !self.waiting.is_empty() {
            // Nothing is under way that could bring more credits.
            return Err(libc::EPROTO);
        }
        // SAFETY: the parts are those of calls that have not ended, to which buffers and heads belong until then.
        unsafe { self.outgoing.send(&self.stream, |number| parts_of(calls, number)) }
    }

    /// Receives what is there. An errno means that the connection is lost.
    #[inline]
    pub(crate) fn receive(&mut self, calls: &mut Calls, shared: &Shared) -> Result<(), i32> {
        let signer = self.signer.as_ref();
        let incoming = Incoming { calls, shared, signer, pending: &mut self.pending, credits: &mut self.credits };
        let mut answers = Received { reader: &mut self.reader, incoming };
        // SAFETY: the place of data belongs to its call until that ends.
        unsafe { self.input.receive(&self.stream, &mut answers) }
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

/// A connection's stream of answers.
struct Received<'a> {
    reader: &'a mut Reader,
    incoming: Incoming<'a>,
}

impl assay_remote::Incoming for Received<'_> {
    #[inline]
    fn direct(&self) -> Option<(*mut u8, usize)> {
        self.reader.direct()
    }

    #[inline]
    fn take(&mut self, in_place: Option<usize>, bytes: &[u8]) -> Result<(), i32> {
        let advanced = in_place.map_or(Ok(()), |count| self.reader.advance(count, &mut self.incoming));
        let taken = advanced.and_then(|()| self.reader.feed(bytes, &mut self.incoming));
        taken.map_err(|Garbage| libc::EBADMSG)
    }
}

/// The parts of a call's message on TCP.
#[inline]
fn parts_of(calls: &Calls, number: u32) -> [(*const u8, usize); 2] {
    let call = calls.get(number);
    [(call.head.as_ptr(), call.head.len()), call.payload.outgoing()]
}
