//! The calls of one lane that are in flight: numbered places that are used again.

use assay_core::Fault;
use std::collections::VecDeque;

/// Data that goes with a call, or comes with its reply. It belongs to the call until that ends.
#[derive(Debug, Clone, Copy)]
pub enum Payload {
    /// No data.
    None,
    /// Sent behind the call's head.
    Out(*const u8, usize),
    /// Room for the data of the reply to a READ.
    In(*mut u8, usize),
}

impl Payload {
    /// What is sent behind the call's head, and how many bytes that is.
    #[inline]
    pub fn outgoing(&self) -> (*const u8, usize) {
        match *self {
            Payload::Out(data, length) => (data, length),
            Payload::None | Payload::In(..) => (std::ptr::null(), 0),
        }
    }
}

/// How far a call is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum State {
    /// The place is free.
    Free,
    /// Sent, or to be sent, without a reply.
    Open,
    /// To be made again at that time, as the server has put it off.
    PutOff(u64),
    /// Ended.
    Done,
}

/// How a call has ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Outcome {
    /// The reply is stored, and its results start at that byte.
    Reply(usize),
    /// So many bytes of data have come, and whether the file ends with them.
    Read(u32, bool),
    /// Refused by the server or this host, or too late.
    Failed(Fault),
    /// The connection was lost before a reply came, with this errno: it may have been done or not.
    Lost(i32),
}

/// A call; `X` is what its protocol notes of it.
pub struct Call<X> {
    /// The message up to the data, as it is sent.
    pub head: Vec<u8>,
    /// Data that goes or comes.
    pub payload: Payload,
    /// How far it is.
    pub state: State,
    /// Number of its connection.
    pub link: usize,
    /// Without a reply by then it fails.
    pub deadline: u64,
    /// What its maker knows it by.
    pub tag: u64,
    /// How it has ended.
    pub outcome: Outcome,
    /// What is stored of the reply.
    pub reply: Vec<u8>,
    /// What its protocol notes.
    pub own: X,
}

/// All calls of a lane.
pub struct Calls<X> {
    list: Vec<Call<X>>,
    free: Vec<u32>,
    /// Done, and not yet looked at.
    pub finished: VecDeque<u32>,
    under_way: usize,
    max_bytes: usize,
}

impl<X: Default> Calls<X> {
    /// No calls. A free place has buffers of at most so many bytes.
    pub fn new(max_bytes: usize) -> Self {
        Calls { list: Vec::new(), free: Vec::new(), finished: VecDeque::new(), under_way: 0, max_bytes }
    }

    /// Calls that were made and not released.
    #[inline]
    pub fn under_way(&self) -> usize {
        self.under_way
    }

    /// Places, free or not.
    pub fn count(&self) -> usize {
        self.list.len()
    }

    /// A call that was made.
    #[inline]
    pub fn get(&self, number: u32) -> &Call<X> {
        &self.list[number as usize]
    }

    /// The same, to be changed.
    #[inline]
    pub fn get_mut(&mut self, number: u32) -> &mut Call<X> {
        &mut self.list[number as usize]
    }

    /// Number of a call whose fields are the caller's to fill.
    #[inline]
    pub fn add(&mut self) -> u32 {
        self.under_way += 1;
        self.free.pop().unwrap_or_else(|| {
            self.list.push(Call {
                head: Vec::with_capacity(512),
                payload: Payload::None,
                state: State::Free,
                link: 0,
                deadline: 0,
                tag: 0,
                outcome: Outcome::Failed(Fault::os(libc::EBADMSG)),
                reply: Vec::new(),
                own: X::default(),
            });
            self.list.len() as u32 - 1
        })
    }

    /// The call has ended.
    #[inline]
    pub fn finish(&mut self, number: u32, outcome: Outcome) {
        let call = self.get_mut(number);
        debug_assert!(!matches!(call.state, State::Free | State::Done), "a call ends once");
        (call.state, call.outcome) = (State::Done, outcome);
        self.finished.push_back(number);
    }

    /// Results of a call that has ended, or why it failed.
    #[inline]
    pub fn results(&self, number: u32) -> Result<&[u8], Fault> {
        let call = self.get(number);
        match call.outcome {
            Outcome::Reply(at) => Ok(&call.reply[at..]),
            Outcome::Read(..) => Ok(&[]),
            Outcome::Failed(fault) => Err(fault),
            Outcome::Lost(errno) => Err(Fault::os(errno)),
        }
    }

    /// The call's place may be used again.
    #[inline]
    pub fn release(&mut self, number: u32) {
        let max_bytes = self.max_bytes;
        let call = self.get_mut(number);
        (call.state, call.payload) = (State::Free, Payload::None);
        for buffer in [&mut call.reply, &mut call.head] {
            if buffer.capacity() > max_bytes {
                *buffer = Vec::new();
            }
        }
        self.under_way -= 1;
        self.free.push(number);
    }

    /// Calls that `wanted` accepts, by their numbers.
    pub fn select(&self, wanted: impl Fn(&Call<X>) -> bool) -> Vec<u32> {
        (0..self.list.len() as u32).filter(|number| wanted(self.get(*number))).collect()
    }

    /// The first deadline of all calls that have not ended.
    pub fn first_deadline(&self) -> u64 {
        let waiting = self.list.iter().filter(|call| matches!(call.state, State::Open | State::PutOff(_)));
        waiting.map(|call| call.deadline).min().unwrap_or(u64::MAX)
    }
}
