//! Requests under way: numbered places that are used again.

use crate::messages::read_data;
use crate::status::{self, END_OF_FILE, GARBAGE, SUCCESS};
use crate::wire::{Chain, Header};
use assay_core::Fault;
use assay_remote::{Outcome, Payload, State};

/// Larger messages and answers do not stay with a free call.
const KEPT_BYTES: usize = 16 << 10;

/// What is noted of a call: a request, or several that are sent as one message.
#[derive(Default)]
pub(crate) struct Own {
    /// Credits that it costs (section 3.2.4.1.5).
    pub(crate) charge: u16,
    /// Number of its first request on its connection; known when it is sent.
    pub(crate) message: u64,
    pub(crate) parts: u16,
    pending: u16,
    /// Which of its answers is stored.
    keep: u16,
    /// The first of its requests that failed.
    failed: Option<(u16, Fault)>,
}

/// All calls of a lane.
pub(crate) type Calls = assay_remote::Calls<Own>;

/// No calls.
pub(crate) fn none() -> Calls {
    Calls::new(KEPT_BYTES)
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

/// Makes a call of the requests that `fill` adds.
pub(crate) fn make(calls: &mut Calls, about: About, link: usize, fill: impl FnOnce(&mut Chain<'_>)) -> u32 {
    let number = calls.add();
    let call = calls.get_mut(number);
    let mut chain = Chain::new(&mut call.head);
    fill(&mut chain);
    let parts = chain.parts;
    let charge = parts.max(about.bytes.div_ceil(CREDIT_BYTES) as u16);
    (call.payload, call.deadline, call.tag) = (about.payload, about.deadline, about.tag);
    (call.own.charge, call.own.parts, call.own.pending) = (charge, parts, parts);
    (call.own.keep, call.own.failed) = (about.keep, None);
    (call.link, call.state) = (link, State::Open);
    number
}

/// One answer to a call, from its header on.
pub(crate) fn answered(calls: &mut Calls, number: u32, header: &Header, answer: &[u8]) {
    let call = calls.get_mut(number);
    let place = header.message.wrapping_sub(call.own.message) as u16;
    call.own.pending -= 1;
    if let (Payload::In(to, room), SUCCESS | END_OF_FILE) = (call.payload, header.status) {
        let outcome = if header.status == END_OF_FILE { Outcome::Read(0, true) } else { copied(answer, to, room) };
        calls.finish(number, outcome);
        return;
    }
    if header.status != SUCCESS && call.own.failed.is_none_or(|(known, _)| place < known) {
        call.own.failed = Some((place, status::answered(header.status)));
    }
    if place == call.own.keep {
        call.reply.clear();
        call.reply.extend_from_slice(answer);
    }
    if call.own.pending == 0 {
        let outcome = call.own.failed.map_or(Outcome::Reply(0), |(_, fault)| Outcome::Failed(fault));
        calls.finish(number, outcome);
    }
}

/// Puts the data of an answer to READ where it belongs.
fn copied(answer: &[u8], to: *mut u8, room: usize) -> Outcome {
    let data = read_data(answer).and_then(|(at, length)| crate::wire::part(answer, at, length));
    match data {
        Some(data) if data.len() <= room => {
            // SAFETY: the room belongs to the call until it ends, and the answer lies elsewhere.
            unsafe { std::ptr::copy_nonoverlapping(data.as_ptr(), to, data.len()) };
            Outcome::Read(data.len() as u32, data.is_empty())
        }
        _ => Outcome::Failed(GARBAGE),
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
        answered(calls, call, &Header::read(answer).unwrap(), answer);
    }

    fn call_of(calls: &mut Calls, parts: u16, about: About) -> u32 {
        let call = make(calls, about, 0, |chain| {
            for _ in 0..parts {
                chain.add(Command::Create, |_| {});
            }
        });
        calls.get_mut(call).own.message = FIRST;
        call
    }

    #[test]
    fn in_whatever_order_answers_come_the_first_refusal_counts_and_one_answer_is_kept() {
        let orders = [[0, 1, 2], [0, 2, 1], [1, 0, 2], [1, 2, 0], [2, 0, 1], [2, 1, 0]];
        for order in orders {
            for refused in [[false; 3], [false, true, true], [true, true, true], [false, false, true]] {
                let mut calls = none();
                let call = call_of(&mut calls, 3, About { keep: 1, ..About::plain(0, 0) });
                for (given, place) in order.into_iter().enumerate() {
                    assert!(calls.finished.is_empty(), "{given} answers are not all");
                    let status = if refused[place] { 0xC000_0001 + place as u32 } else { SUCCESS };
                    give(&mut calls, call, &answer(FIRST + place as u64, status, &[place as u8; 5]));
                }
                assert_eq!(calls.finished, [call]);
                match refused.iter().position(|refused| *refused) {
                    Some(first) => assert_eq!(calls.results(call), Err(status::answered(0xC000_0001 + first as u32))),
                    None => assert_eq!(calls.results(call).map(|kept| &kept[HEADER..]), Ok(&[1; 5][..])),
                }
            }
        }
    }

    /// How a READ of 8 bytes ends with such an answer, and what is in its memory and the 8 bytes behind it then.
    fn read_by(status: u32, at: u8, length: u32, data: &[u8]) -> (Outcome, [u8; 16]) {
        let (mut calls, mut memory) = (none(), [0_u8; 16]);
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
        assert_eq!(read_by(SUCCESS, head, 8, &[7; 8]), (Outcome::Read(8, false), full));
        assert_eq!(
            read_by(SUCCESS, head + 4, 8, &[7; 12]),
            (Outcome::Read(8, false), full),
            "data may stand further behind"
        );
        assert_eq!(read_by(END_OF_FILE, head, 8, &[7; 8]), (Outcome::Read(0, true), [0; 16]));
        assert_eq!(read_by(0xC000_0022, head, 8, &[7; 8]), (Outcome::Failed(status::answered(0xC000_0022)), [0; 16]));
        for (at, length, data) in [(head, 9, 9), (head, 16, 16), (head, 8, 7), (head + 1, 8, 8), (head, u32::MAX, 8)] {
            let found = read_by(SUCCESS, at, length, &vec![7; data]);
            assert_eq!(found, (Outcome::Failed(GARBAGE), [0; 16]), "{length} of {data} bytes at {at}");
        }
    }

    #[test]
    fn a_call_costs_a_credit_for_each_request_and_for_each_64_kib() {
        let mut calls = none();
        for (parts, bytes, charge) in
            [(1, 0, 1), (3, 0, 3), (1, 65_536, 1), (1, 65_537, 2), (1, 8 << 20, 128), (3, 65_537, 3)]
        {
            let call = call_of(&mut calls, parts, About { bytes, ..About::plain(0, 0) });
            assert_eq!(calls.get(call).own.charge, charge, "{parts} requests, {bytes} bytes");
        }
    }

    fn open(calls: &Calls) -> Vec<u32> {
        calls.select(|call| call.state == State::Open)
    }

    #[test]
    fn places_are_used_again_and_only_open_calls_have_a_deadline() {
        let mut calls = none();
        let [one, other] = [90, 50].map(|deadline| call_of(&mut calls, 1, About::plain(0, deadline)));
        assert_eq!((open(&calls), calls.first_deadline(), calls.under_way()), (vec![one, other], 50, 2));
        give(&mut calls, other, &answer(FIRST, SUCCESS, &vec![1; 4 * KEPT_BYTES]));
        assert_eq!((open(&calls), calls.first_deadline(), calls.under_way()), (vec![one], 90, 2));
        calls.release(other);
        assert!(calls.get(other).reply.capacity() <= KEPT_BYTES, "large answers are not kept");
        let next = call_of(&mut calls, 2, About::plain(0, 70));
        assert_eq!((next, calls.first_deadline(), calls.under_way()), (other, 70, 2));
        calls.finish(one, Outcome::Lost(libc::EPIPE));
        assert_eq!(calls.results(one), Err(Fault::os(libc::EPIPE)));
        calls.finish(next, Outcome::Failed(GARBAGE));
        assert_eq!((calls.first_deadline(), calls.finished.len()), (u64::MAX, 3));
    }
}
