//! Requests under way: numbered places that are used again.

use crate::messages::read_data;
use crate::status::{answered, END_OF_FILE, GARBAGE, SUCCESS};
use crate::wire::{Chain, Header, PREFIX};
use assay_core::Fault;
use std::collections::VecDeque;

/// Larger answers are not kept in a call that is free.
const KEPT_BYTES: usize = 16 << 10;

/// Data that goes with a request, or comes with its answer. It belongs to the call until that ends.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Payload {
    None,
    /// Sent behind the request.
    Out(*const u8, usize),
    /// Room for the data of an answer to READ.
    In(*mut u8, usize),
}

/// How a call has ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Outcome {
    /// The answer that was to be kept is there, see `Calls::answer`.
    Answered,
    /// So many bytes of data have come.
    Read(u32),
    /// Refused, or too late.
    Failed(Fault),
    /// The connection was lost before an answer came: it may have been done or not.
    Lost(i32),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum State {
    Free,
    Open,
    Done,
}

/// A request, or several that are sent as one message.
pub(crate) struct Call {
    /// The message, as it is sent.
    pub(crate) head: Vec<u8>,
    pub(crate) payload: Payload,
    pub(crate) state: State,
    /// Credits that it costs (section 3.2.4.1.5).
    pub(crate) charge: u16,
    /// Number of its first request on its connection; known when it is sent.
    pub(crate) message: u64,
    pub(crate) parts: u16,
    pending: u16,
    /// Which of its answers is kept.
    keep: u16,
    pub(crate) link: usize,
    pub(crate) deadline: u64,
    pub(crate) tag: u64,
    pub(crate) outcome: Outcome,
    /// The first of its requests that failed.
    failed: Option<(u16, Fault)>,
    answer: Vec<u8>,
}

/// All calls of a lane.
#[derive(Default)]
pub(crate) struct Calls {
    list: Vec<Call>,
    free: Vec<u32>,
    pub(crate) finished: VecDeque<u32>,
    under_way: usize,
}

/// What a call is about.
#[derive(Debug, Clone, Copy)]
pub(crate) struct About {
    pub(crate) tag: u64,
    pub(crate) deadline: u64,
    /// Bytes that go or come, by which it is charged.
    pub(crate) bytes: u32,
    pub(crate) payload: Payload,
    /// Which answer is kept, if there are several.
    pub(crate) keep: u16,
}

impl About {
    /// Of a request without data.
    pub(crate) fn plain(tag: u64, deadline: u64) -> Self {
        About { tag, deadline, bytes: 0, payload: Payload::None, keep: 0 }
    }
}

/// Bytes for which one credit is paid (section 3.2.4.1.5).
const CREDIT_BYTES: u32 = 64 << 10;

impl Calls {
    pub(crate) fn under_way(&self) -> usize {
        self.under_way
    }

    pub(crate) fn get(&self, number: u32) -> &Call {
        &self.list[number as usize]
    }

    pub(crate) fn get_mut(&mut self, number: u32) -> &mut Call {
        &mut self.list[number as usize]
    }

    /// Makes a call of the requests that `fill` adds.
    pub(crate) fn make(&mut self, about: About, link: usize, fill: impl FnOnce(&mut Chain<'_>)) -> u32 {
        let number = self.free.pop().unwrap_or_else(|| {
            self.list.push(Call::new());
            self.list.len() as u32 - 1
        });
        self.under_way += 1;
        let call = self.get_mut(number);
        let mut chain = Chain::new(&mut call.head);
        fill(&mut chain);
        call.parts = chain.parts;
        (call.pending, call.keep, call.link) = (call.parts, about.keep, link);
        (call.payload, call.deadline, call.tag) = (about.payload, about.deadline, about.tag);
        call.charge = call.parts.max(about.bytes.div_ceil(CREDIT_BYTES) as u16);
        (call.failed, call.state) = (None, State::Open);
        number
    }

    /// The call has ended.
    pub(crate) fn finish(&mut self, number: u32, outcome: Outcome) {
        let call = self.get_mut(number);
        debug_assert!(call.state == State::Open, "a call ends once");
        (call.state, call.outcome) = (State::Done, outcome);
        self.finished.push_back(number);
    }

    /// One answer to a call, from its header on.
    pub(crate) fn answered(&mut self, number: u32, header: &Header, answer: &[u8]) {
        let call = self.get_mut(number);
        let place = header.message.wrapping_sub(call.message) as u16;
        call.pending -= 1;
        if let (Payload::In(to, room), SUCCESS | END_OF_FILE) = (call.payload, header.status) {
            let outcome = if header.status == END_OF_FILE { Outcome::Read(0) } else { copied(answer, to, room) };
            self.finish(number, outcome);
            return;
        }
        if header.status != SUCCESS && call.failed.is_none_or(|(known, _)| place < known) {
            call.failed = Some((place, answered(header.status)));
        }
        if place == call.keep {
            call.answer.clear();
            call.answer.extend_from_slice(answer);
        }
        if call.pending == 0 {
            let outcome = call.failed.map_or(Outcome::Answered, |(_, fault)| Outcome::Failed(fault));
            self.finish(number, outcome);
        }
    }

    /// The answer of a call that has ended, from its header on; or why it failed.
    pub(crate) fn answer(&self, number: u32) -> Result<&[u8], Fault> {
        let call = self.get(number);
        match call.outcome {
            Outcome::Answered => Ok(&call.answer),
            Outcome::Read(_) => Ok(&[]),
            Outcome::Failed(fault) => Err(fault),
            Outcome::Lost(errno) => Err(Fault::os(errno)),
        }
    }

    /// The call's place may be used again.
    pub(crate) fn release(&mut self, number: u32) {
        let call = self.get_mut(number);
        (call.state, call.payload) = (State::Free, Payload::None);
        for kept in [&mut call.answer, &mut call.head] {
            if kept.capacity() > KEPT_BYTES {
                *kept = Vec::new();
            }
        }
        self.under_way -= 1;
        self.free.push(number);
    }

    /// All that have not ended.
    pub(crate) fn open(&self) -> Vec<u32> {
        let numbers = 0..self.list.len() as u32;
        numbers.filter(|number| self.get(*number).state == State::Open).collect()
    }

    /// The first deadline of all that have not ended.
    pub(crate) fn first_deadline(&self) -> u64 {
        let open = self.list.iter().filter(|call| call.state == State::Open);
        open.map(|call| call.deadline).min().unwrap_or(u64::MAX)
    }
}

/// Puts the data of an answer to READ where it belongs.
fn copied(answer: &[u8], to: *mut u8, room: usize) -> Outcome {
    let data = read_data(answer).and_then(|(at, length)| crate::wire::part(answer, at, length));
    match data {
        Some(data) if data.len() <= room => {
            // SAFETY: the room belongs to the call until it ends, and the answer lies elsewhere.
            unsafe { std::ptr::copy_nonoverlapping(data.as_ptr(), to, data.len()) };
            Outcome::Read(data.len() as u32)
        }
        _ => Outcome::Failed(GARBAGE),
    }
}

impl Call {
    fn new() -> Self {
        Call {
            head: Vec::with_capacity(512),
            payload: Payload::None,
            state: State::Free,
            charge: 1,
            message: 0,
            parts: 1,
            pending: 0,
            keep: 0,
            link: 0,
            deadline: 0,
            tag: 0,
            outcome: Outcome::Failed(GARBAGE),
            failed: None,
            answer: Vec::new(),
        }
    }

    /// The message without what TCP needs in front.
    pub(crate) fn message_bytes(&mut self) -> &mut [u8] {
        &mut self.head[PREFIX..]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::messages::READ_HEAD;
    use crate::wire::{set_u32, Command, AT_FLAGS, AT_MESSAGE, AT_STATUS, HEADER};

    /// Number of the first request of the calls.
    const FIRST: u64 = 40;

    /// An answer to a request, from its header on.
    fn answer(message: u64, status: u32, body: &[u8]) -> Vec<u8> {
        let mut out = vec![0xFE, b'S', b'M', b'B', HEADER as u8];
        out.resize(HEADER, 0);
        set_u32(&mut out, AT_STATUS, status);
        set_u32(&mut out, AT_FLAGS, 1);
        out[AT_MESSAGE..AT_MESSAGE + 8].copy_from_slice(&message.to_le_bytes());
        out.extend_from_slice(body);
        out
    }

    fn give(calls: &mut Calls, call: u32, answer: &[u8]) {
        calls.answered(call, &Header::read(answer).unwrap(), answer);
    }

    fn call_of(calls: &mut Calls, parts: u16, about: About) -> u32 {
        let call = calls.make(about, 0, |chain| {
            for _ in 0..parts {
                chain.add(Command::Create, |_| {});
            }
        });
        calls.get_mut(call).message = FIRST;
        call
    }

    #[test]
    fn in_whatever_order_answers_come_the_first_refusal_counts_and_one_answer_is_kept() {
        let orders = [[0, 1, 2], [0, 2, 1], [1, 0, 2], [1, 2, 0], [2, 0, 1], [2, 1, 0]];
        for order in orders {
            for refused in [[false; 3], [false, true, true], [true, true, true], [false, false, true]] {
                let mut calls = Calls::default();
                let call = call_of(&mut calls, 3, About { keep: 1, ..About::plain(0, 0) });
                for (given, place) in order.into_iter().enumerate() {
                    assert!(calls.finished.is_empty(), "{given} answers are not all");
                    let status = if refused[place] { 0xC000_0001 + place as u32 } else { SUCCESS };
                    give(&mut calls, call, &answer(FIRST + place as u64, status, &[place as u8; 5]));
                }
                assert_eq!(calls.finished, [call]);
                match refused.iter().position(|refused| *refused) {
                    Some(first) => assert_eq!(calls.answer(call), Err(answered(0xC000_0001 + first as u32))),
                    None => assert_eq!(calls.answer(call).map(|kept| &kept[HEADER..]), Ok(&[1; 5][..])),
                }
            }
        }
    }

    /// How a READ of 8 bytes ends with such an answer, and what is in its memory and the 8 bytes behind it then.
    fn read_by(status: u32, at: u8, length: u32, data: &[u8]) -> (Outcome, [u8; 16]) {
        let (mut calls, mut memory) = (Calls::default(), [0_u8; 16]);
        let about = About { payload: Payload::In(memory.as_mut_ptr(), 8), ..About::plain(0, 0) };
        let call = call_of(&mut calls, 1, about);
        let mut body = vec![17, 0, at, 0];
        body.extend(length.to_le_bytes());
        body.resize(16, 0);
        body.extend(data);
        give(&mut calls, call, &answer(FIRST, status, &body));
        assert_eq!(calls.finished, [call]);
        (calls.get(call).outcome, memory)
    }

    #[test]
    fn data_of_a_read_is_whole_and_has_room_or_none_of_it_is_taken() {
        let head = READ_HEAD as u8;
        let mut full = [0; 16];
        full[..8].fill(7);
        assert_eq!(read_by(SUCCESS, head, 8, &[7; 8]), (Outcome::Read(8), full));
        assert_eq!(read_by(SUCCESS, head + 4, 8, &[7; 12]), (Outcome::Read(8), full), "data may stand further behind");
        assert_eq!(read_by(END_OF_FILE, head, 8, &[7; 8]), (Outcome::Read(0), [0; 16]));
        assert_eq!(read_by(0xC000_0022, head, 8, &[7; 8]), (Outcome::Failed(answered(0xC000_0022)), [0; 16]));
        for (at, length, data) in [(head, 9, 9), (head, 16, 16), (head, 8, 7), (head + 1, 8, 8), (head, u32::MAX, 8)] {
            let found = read_by(SUCCESS, at, length, &vec![7; data]);
            assert_eq!(found, (Outcome::Failed(GARBAGE), [0; 16]), "{length} of {data} bytes at {at}");
        }
    }

    #[test]
    fn a_call_costs_a_credit_for_each_request_and_for_each_64_kib() {
        let mut calls = Calls::default();
        for (parts, bytes, charge) in
            [(1, 0, 1), (3, 0, 3), (1, 65_536, 1), (1, 65_537, 2), (1, 8 << 20, 128), (3, 65_537, 3)]
        {
            let call = call_of(&mut calls, parts, About { bytes, ..About::plain(0, 0) });
            assert_eq!(calls.get(call).charge, charge, "{parts} requests, {bytes} bytes");
        }
    }

    #[test]
    fn places_are_used_again_and_only_open_calls_have_a_deadline() {
        let mut calls = Calls::default();
        let [one, other] = [90, 50].map(|deadline| call_of(&mut calls, 1, About::plain(0, deadline)));
        assert_eq!((calls.open(), calls.first_deadline(), calls.under_way()), (vec![one, other], 50, 2));
        give(&mut calls, other, &answer(FIRST, SUCCESS, &vec![1; 4 * KEPT_BYTES]));
        assert_eq!((calls.open(), calls.first_deadline(), calls.under_way()), (vec![one], 90, 2));
        calls.release(other);
        assert!(calls.get(other).answer.capacity() <= KEPT_BYTES, "large answers are not kept");
        let next = call_of(&mut calls, 2, About::plain(0, 70));
        assert_eq!((next, calls.first_deadline(), calls.under_way()), (other, 70, 2));
        calls.finish(one, Outcome::Lost(libc::EPIPE));
        assert_eq!(calls.answer(one), Err(Fault::os(libc::EPIPE)));
        calls.finish(next, Outcome::Failed(GARBAGE));
        assert_eq!((calls.first_deadline(), calls.finished.len()), (u64::MAX, 3));
    }
}
