//! The calls of one lane that are under way.

use crate::record::{Replies, Step};
use crate::rpc::{self, heading, read_head, Heading, Identity, Procedure, ReadHead};
use crate::status::{GARBAGE, JUKEBOX};
use crate::xdr::u32_at;
use assay_core::{clock, random, Fault};
use std::collections::VecDeque;

/// Most calls under way: their numbers are the low half of the xid.
pub(crate) const MAX_CALLS: usize = 1 << 16;

/// Room for a reply that a call keeps for the next one; a longer reply is rare, or sent in malice.
const KEPT_BYTES: usize = 64 << 10;

/// First pause before a call is made again that the server has put off, and the longest, in nanoseconds.
const JUKEBOX_NS: (u64, u64) = (100_000_000, 5_000_000_000);

/// Data that goes with a call, in the lane's buffers.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Payload {
    None,
    /// Sent after the arguments, with its padding.
    Out(*const u8, usize),
    /// Where the data of a READ goes.
    In(*mut u8, usize),
}

/// How far a call is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum State {
    Free,
    /// Sent, or to be sent, without a reply.
    Open,
    /// To be made again at that time.
    PutOff(u64),
    Done,
}

/// What came of a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Outcome {
    /// Results, from that byte of the reply on.
    Results(usize),
    /// So many bytes of data, and whether the file ends with them.
    Read(u32, bool),
    /// What the server, or this host, said.
    Failed(Fault),
}

/// A call.
pub(crate) struct Call {
    pub(crate) xid: u32,
    /// The record up to the data, with its mark.
    pub(crate) head: Vec<u8>,
    pub(crate) payload: Payload,
    pub(crate) state: State,
    /// Connection it goes through.
    pub(crate) link: usize,
    /// Calls are sent again in the order in which they were made.
    pub(crate) order: u64,
    /// Without a reply by then it fails.
    pub(crate) deadline: u64,
    /// What the maker knows it by.
    pub(crate) tag: u64,
    pub(crate) outcome: Outcome,
    /// Results have a status first.
    nfs: bool,
    pause: u64,
    reply: Vec<u8>,
}

/// All calls of a lane.
pub(crate) struct Calls {
    list: Vec<Call>,
    free: Vec<u32>,
    /// Done, and not yet looked at.
    pub(crate) finished: VecDeque<u32>,
    /// Put off by the server.
    pub(crate) put_off: Vec<u32>,
    /// Makes each xid another one, also from process to process: a server that remembers replies must not take a new
    /// call for an old one (RFC 1813 section 4.5).
    generation: u16,
    order: u64,
    under_way: usize,
}

impl Calls {
    pub(crate) fn new() -> Self {
        let process = u64::from(rustix::process::getpid().as_raw_nonzero().get().unsigned_abs());
        Calls {
            list: Vec::new(),
            free: Vec::new(),
            finished: VecDeque::new(),
            put_off: Vec::new(),
            generation: random::mix2(clock::wall(), process) as u16,
            order: 0,
            under_way: 0,
        }
    }

    /// Calls that were made and not released.
    pub(crate) fn under_way(&self) -> usize {
        self.under_way
    }

    pub(crate) fn get(&self, call: u32) -> &Call {
        &self.list[call as usize]
    }

    pub(crate) fn get_mut(&mut self, call: u32) -> &mut Call {
        &mut self.list[call as usize]
    }

    /// Makes a call, which `fill` completes with its arguments.
    pub(crate) fn make(
        &mut self,
        identity: &Identity,
        procedure: Procedure,
        payload: Payload,
        fill: impl FnOnce(&mut Vec<u8>),
    ) -> u32 {
        let number = self.free.pop().unwrap_or_else(|| {
            self.list.push(Call::new());
            self.list.len() as u32 - 1
        });
        debug_assert!(self.list.len() <= MAX_CALLS, "makers keep to the limit");
        self.under_way += 1;
        self.order += 1;
        let call = &mut self.list[number as usize];
        identity.begin(&mut call.head, procedure);
        fill(&mut call.head);
        (call.payload, call.nfs, call.pause) = (payload, procedure.is_nfs(), 0);
        self.open(number);
        number
    }

    /// Gives the call an xid of its own.
    pub(crate) fn open(&mut self, number: u32) {
        let call = &mut self.list[number as usize];
        self.generation = self.generation.wrapping_add(1);
        call.xid = u32::from(self.generation) << 16 | number;
        let payload = match call.payload {
            Payload::Out(_, length) => length + crate::xdr::padding(length),
            _ => 0,
        };
        rpc::seal(&mut call.head, payload, call.xid);
        (call.state, call.order) = (State::Open, self.order);
    }

    /// The call has ended.
    pub(crate) fn finish(&mut self, number: u32, outcome: Outcome) {
        let call = self.get_mut(number);
        debug_assert!(!matches!(call.state, State::Free | State::Done), "a call ends once");
        (call.state, call.outcome) = (State::Done, outcome);
        self.finished.push_back(number);
    }

    /// Results of a call that has ended, after the status; or why it failed.
    pub(crate) fn results(&self, number: u32) -> Result<&[u8], Fault> {
        let call = self.get(number);
        match call.outcome {
            Outcome::Results(at) => Ok(&call.reply[at..]),
            Outcome::Read(..) => Ok(&[]),
            Outcome::Failed(fault) => Err(fault),
        }
    }

    /// The call's place may be used again.
    pub(crate) fn release(&mut self, number: u32) {
        let call = self.get_mut(number);
        (call.state, call.payload) = (State::Free, Payload::None);
        if call.reply.capacity() > KEPT_BYTES {
            call.reply = Vec::new();
        }
        self.under_way -= 1;
        self.free.push(number);
    }

    /// Calls in a state that `wanted` accepts, in the order in which they were made.
    pub(crate) fn select(&self, wanted: impl Fn(&Call) -> bool) -> Vec<u32> {
        let numbers = (0..self.list.len() as u32).filter(|number| wanted(self.get(*number)));
        let mut found: Vec<u32> = numbers.collect();
        found.sort_unstable_by_key(|number| self.get(*number).order);
        found
    }

    /// The first deadline of all calls that have not ended.
    pub(crate) fn first_deadline(&self) -> u64 {
        let waiting = self.list.iter().filter(|call| matches!(call.state, State::Open | State::PutOff(_)));
        waiting.map(|call| call.deadline).min().unwrap_or(u64::MAX)
    }

    /// What a whole reply that is kept says.
    fn judge(&mut self, number: u32, head: &mut Vec<u8>) -> Outcome {
        let at = match heading(head) {
            Heading::Results(at) => at,
            Heading::Failed(errno) => return Outcome::Failed(Fault::os(errno)),
            Heading::More(_) => return Outcome::Failed(GARBAGE),
        };
        let call = self.get_mut(number);
        let status = if call.nfs { u32_at(head, at) } else { Some(0) };
        match status {
            Some(0) => {
                std::mem::swap(&mut call.reply, head);
                Outcome::Results(if call.nfs { at + 4 } else { at })
            }
            Some(JUKEBOX) => {
                call.pause = (2 * call.pause).clamp(JUKEBOX_NS.0, JUKEBOX_NS.1);
                call.state = State::PutOff(clock::now() + call.pause);
                self.put_off.push(number);
                Outcome::Failed(Fault::nfs(JUKEBOX))
            }
            Some(status) => Outcome::Failed(Fault::nfs(status)),
            None => Outcome::Failed(GARBAGE),
        }
    }
}

impl Call {
    fn new() -> Self {
        Call {
            xid: 0,
            head: Vec::with_capacity(256),
            payload: Payload::None,
            state: State::Free,
            link: 0,
            order: 0,
            deadline: 0,
            tag: 0,
            outcome: Outcome::Failed(GARBAGE),
            nfs: true,
            pause: 0,
            reply: Vec::new(),
        }
    }
}

impl Replies for Calls {
    fn find(&self, link: usize, xid: u32) -> Option<u32> {
        let number = xid & 0xffff;
        let call = self.list.get(number as usize)?;
        (call.xid == xid && call.link == link && call.state == State::Open).then_some(number)
    }

    fn step(&mut self, number: u32, head: &[u8]) -> Step {
        let call = self.get_mut(number);
        let Payload::In(to, asked) = call.payload else { return Step::Whole };
        let at = match heading(head) {
            Heading::More(bytes) => return Step::Need(bytes),
            Heading::Failed(_) => return Step::Whole,
            Heading::Results(at) => at,
        };
        match read_head(head, at, asked) {
            ReadHead::More(bytes) => Step::Need(bytes),
            ReadHead::Status => Step::Whole,
            ReadHead::Data(count, eof) => {
                call.outcome = Outcome::Read(count, eof);
                Step::Body(to, count as usize)
            }
            ReadHead::Nonsense => {
                call.outcome = Outcome::Failed(GARBAGE);
                Step::Body(to, 0)
            }
        }
    }

    fn end(&mut self, number: u32, head: &mut Vec<u8>, whole: bool) {
        let call = self.get(number);
        let read = match (call.payload, heading(head)) {
            (Payload::In(_, asked), Heading::Results(at)) => match read_head(head, at, asked) {
                ReadHead::Data(..) | ReadHead::Nonsense => Some(call.outcome),
                ReadHead::Status => None,
                ReadHead::More(_) => Some(Outcome::Failed(GARBAGE)),
            },
            _ => None,
        };
        let outcome = match read {
            Some(_) if !whole => Outcome::Failed(GARBAGE),
            Some(outcome) => outcome,
            None => self.judge(number, head),
        };
        if self.get(number).state == State::Open {
            self.finish(number, outcome);
        }
    }
}
