//! All that reads what a server sends, for fuzzing: a server is not trusted.

use crate::calls::{self, About};
use crate::crypto::ntlm;
use crate::link::{Incoming, Shared};
use crate::messages::{self, Opened};
use crate::reader::Reader;
use crate::session;
use crate::wire::{parts, Command};
use assay_remote::Payload;
use std::collections::HashMap;

/// Room for the data of a READ.
const REQUESTED_BYTES: usize = 64;

/// Reads `bytes` as an answer of each kind.
pub fn answers(bytes: &[u8]) {
    let _ = Opened::read(bytes);
    let _ = messages::read_data(bytes);
    let _ = messages::written(bytes);
    let _ = messages::queried(bytes);
    let _ = messages::links(bytes);
    let _ = messages::free_bytes(bytes);
    let mut told = 0;
    let _ = messages::entries(bytes, |name| told += 1 + messages::text(name).len());
    assert!(told <= 2 * bytes.len(), "more names than bytes");
    assert!(parts(bytes).take(bytes.len()).all(|range| range.end <= bytes.len()));
    session::read_anything(bytes);
    let _ = ntlm::Challenge::read(bytes);
}

/// Reads `bytes` as what comes from a connection on which a READ and a CREATE with a CLOSE are without an answer, in pieces
/// of so many bytes. Returns how many of the two calls have ended.
pub fn stream(bytes: &[u8], piece: usize) -> usize {
    let mut calls = calls::none();
    let mut room = [0_u8; REQUESTED_BYTES];
    let about = About { payload: Payload::In(room.as_mut_ptr(), REQUESTED_BYTES), ..About::plain(0, 0) };
    let read = calls::make(&mut calls, about, 0, |chain| {
        chain.add(Command::Read, |out| messages::put_read(out, &[0; 16], 0, REQUESTED_BYTES as u32));
    });
    let look = calls::make(&mut calls, About::plain(1, 0), 0, |chain| {
        crate::client::briefly(chain, "f0", crate::client::TO_LOOK, |_| {});
    });
    // So that the bytes can be about them.
    calls.get_mut(look).own.message = 1;
    let mut pending = HashMap::from([(0, read), (1, look), (2, look)]);
    let shared = Shared { session: 0, tree: 0, sealer: None, signing: false, large: true };
    let (mut reader, mut credits) = (Reader::new(), 1);
    for part in bytes.chunks(piece.max(1)) {
        let mut incoming =
            Incoming { calls: &mut calls, shared: &shared, signer: None, pending: &mut pending, credits: &mut credits };
        if reader.feed(part, &mut incoming).is_err() {
            break;
        }
    }
    let ended = calls.finished.len();
    while let Some(call) = calls.finished.pop_front() {
        assert!(calls.results(call).map_or(0, <[u8]>::len) <= bytes.len());
        calls.release(call);
    }
    ended
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wire::{put_u16, put_u32, put_u64, Header, HEADER};
    use proptest::prelude::*;

    /// An answer to a request, with what TCP needs in front.
    fn answer(command: Command, message: u64, body: &[u8]) -> Vec<u8> {
        let mut out = vec![0xFE, b'S', b'M', b'B'];
        put_u16(&mut out, HEADER as u16);
        out.resize(12, 0);
        put_u16(&mut out, command as u16);
        put_u16(&mut out, 1);
        put_u32(&mut out, 1);
        put_u32(&mut out, 0);
        put_u64(&mut out, message);
        out.resize(HEADER, 0);
        out.extend_from_slice(body);
        [&(out.len() as u32).to_be_bytes()[..], &out].concat()
    }

    /// To READ, with so many bytes.
    fn read_answer(count: u8) -> Vec<u8> {
        let mut body = vec![17, 0, 80, 0];
        put_u32(&mut body, u32::from(count));
        body.resize(16, 0);
        body.extend(0..count);
        answer(Command::Read, 0, &body)
    }

    fn all() -> Vec<u8> {
        let created = [&[89, 0][..], &[0; 87]].concat();
        [read_answer(60), answer(Command::Create, 1, &created), answer(Command::Close, 2, &[0; 60])].concat()
    }

    #[test]
    fn what_a_server_should_say_ends_both_calls() {
        for piece in [1, 7, 64, 4096] {
            assert_eq!(stream(&all(), piece), 2);
        }
        assert!(Header::read(&all()[4..]).is_some());
    }

    #[test]
    fn a_message_that_ends_before_its_data_is_read_as_a_whole() {
        let mut bytes = read_answer(60);
        bytes[..4].copy_from_slice(&72_u32.to_be_bytes());
        assert_eq!(stream(&bytes, 4096), 1, "the call has failed");
    }

    /// The answers, of which some bytes are made up.
    fn changed() -> impl Strategy<Value = (Vec<u8>, usize)> {
        let byte = prop_oneof![Just(0_u8), Just(1), Just(0xff), Just(64), any::<u8>()];
        let bytes = proptest::collection::vec((any::<prop::sample::Index>(), byte), 0..6);
        (bytes, 1_usize..90).prop_map(|(bytes, piece)| {
            let mut stream = all();
            for (at, byte) in bytes {
                let at = at.index(stream.len());
                stream[at] = byte;
            }
            (stream, piece)
        })
    }

    proptest! {
        #[test]
        fn nothing_that_a_server_sends_is_too_much((bytes, piece) in changed()) {
            prop_assert!(stream(&bytes, piece) <= 2);
            answers(&bytes[4..]);
            answers(&bytes[68.min(bytes.len())..]);
        }
    }
}
