//! The calls of one lane that are under way.

use crate::record::{Replies, Step};
use crate::rpc::{self, heading, read_head, Heading, Identity, Procedure, ReadHead};
use crate::status::{GARBAGE, JUKEBOX};
use crate::xdr::u32_at;
use assay_core::{clock, random, Fault};
use assay_remote::{Outcome, Payload, State};

/// Most calls under way: their numbers are the low half of the xid.
pub(crate) const MAX_CALLS: usize = 1 << 16;

/// Room for a reply that stays with a free call; a longer reply is rare, or sent in malice.
const KEPT_BYTES: usize = 64 << 10;

/// First pause before a call is made again that the server has put off, and the longest, in nanoseconds.
const JUKEBOX_NS: (u64, u64) = (100_000_000, 5_000_000_000);

/// What is noted of a call.
#[derive(Default)]
pub(crate) struct Own {
    pub(crate) xid: u32,
    /// Calls are sent again in the order in which they were made.
    order: u64,
    /// Results have a status first.
    nfs: bool,
    pause: u64,
}

/// A call.
pub(crate) type Call = assay_remote::Call<Own>;

/// All calls of a lane.
pub(crate) struct Calls {
    pub(crate) table: assay_remote::Calls<Own>,
    /// Put off by the server.
    pub(crate) put_off: Vec<u32>,
    /// Makes each xid another one, also from process to process: a server that remembers replies must not take a new
    /// call for an old one (RFC 1813 section 4.5).
    generation: u16,
    order: u64,
}

impl Calls {
    pub(crate) fn new() -> Self {
        let process = u64::from(rustix::process::getpid().as_raw_nonzero().get().unsigned_abs());
        Calls {
            table: assay_remote::Calls::new(KEPT_BYTES),
            put_off: Vec::new(),
            generation: random::mix2(clock::wall(), process) as u16,
            order: 0,
        }
    }

    /// Makes a call, which `fill` completes with its arguments.
    pub(crate) fn make(
        &mut self,
        identity: &Identity,
        procedure: Procedure,
        payload: Payload,
        fill: impl FnOnce(&mut Vec<u8>),
    ) -> u32 {
        let number = self.table.add();
        debug_assert!(self.table.count() <= MAX_CALLS, "makers keep to the limit");
        self.order += 1;
        let call = self.table.get_mut(number);
        identity.begin(&mut call.head, procedure);
        fill(&mut call.head);
        (call.payload, call.own.nfs, call.own.pause) = (payload, procedure.is_nfs(), 0);
        self.open(number);
        number
    }

    /// Gives the call an xid of its own.
    pub(crate) fn open(&mut self, number: u32) {
        let call = self.table.get_mut(number);
        self.generation = self.generation.wrapping_add(1);
        call.own.xid = u32::from(self.generation) << 16 | number;
        let (_, length) = call.payload.outgoing();
        rpc::seal(&mut call.head, length + crate::xdr::padding(length), call.own.xid);
        (call.state, call.own.order) = (State::Open, self.order);
    }

    /// Calls that `wanted` accepts, in the order in which they were made.
    pub(crate) fn select(&self, wanted: impl Fn(&Call) -> bool) -> Vec<u32> {
        let mut found = self.table.select(wanted);
        found.sort_unstable_by_key(|number| self.table.get(*number).own.order);
        found
    }

    /// What a whole reply that is kept says.
    fn judge(&mut self, number: u32, head: &mut Vec<u8>) -> Outcome {
        let at = match heading(head) {
            Heading::Results(at) => at,
            Heading::Failed(errno) => return Outcome::Failed(Fault::os(errno)),
            Heading::More(_) => return Outcome::Failed(GARBAGE),
        };
        let call = self.table.get_mut(number);
        let status = if call.own.nfs { u32_at(head, at) } else { Some(0) };
        match status {
            Some(0) => {
                std::mem::swap(&mut call.reply, head);
                Outcome::Reply(if call.own.nfs { at + 4 } else { at })
            }
            Some(JUKEBOX) => {
                call.own.pause = (2 * call.own.pause).clamp(JUKEBOX_NS.0, JUKEBOX_NS.1);
                call.state = State::PutOff(clock::now() + call.own.pause);
                self.put_off.push(number);
                Outcome::Failed(Fault::nfs(JUKEBOX))
            }
            Some(status) => Outcome::Failed(Fault::nfs(status)),
            None => Outcome::Failed(GARBAGE),
        }
    }
}

impl Replies for Calls {
    fn find(&self, link: usize, xid: u32) -> Option<u32> {
        let number = xid & 0xffff;
        let call = ((number as usize) < self.table.count()).then(|| self.table.get(number))?;
        (call.own.xid == xid && call.link == link && call.state == State::Open).then_some(number)
    }

    fn step(&mut self, number: u32, head: &[u8]) -> Step {
        let call = self.table.get_mut(number);
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
        let call = self.table.get(number);
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
        if self.table.get(number).state == State::Open {
            self.table.finish(number, outcome);
        }
    }
}
