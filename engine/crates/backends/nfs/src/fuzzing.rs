//! All that reads what a server sends, for fuzzing: a server is not trusted.

use crate::calls::Calls;
use crate::record::Reader;
use crate::replies;
use crate::rpc::{self, Identity, Procedure};
use crate::xdr::Input;
use assay_remote::Payload;
use nfs3_types::nfs3::{FSINFO3resok, FSSTAT3resok, NFS_PROGRAM as P};
use nfs3_types::xdr_codec::Unpack;

/// Room for the data of a READ.
const REQUESTED_BYTES: usize = 64;

/// Reads `bytes` as the results of each procedure.
pub fn results(bytes: &[u8]) {
    let most = bytes.len();
    let _ = replies::Attributes::read(&mut Input(bytes));
    let _ = replies::found(bytes);
    let _ = replies::created(bytes);
    let _ = replies::written(bytes);
    let _ = replies::committed(bytes);
    let _ = replies::allowed(bytes);
    let _ = replies::mounted(bytes);
    let mut told = 0;
    let page = replies::listed(bytes, |name| told += 1 + name.len());
    assert!(told <= most, "more names than bytes");
    assert!(page.is_none_or(|page| page.names as usize <= most));
    let _ = FSINFO3resok::unpack(&mut &bytes[..]);
    let _ = FSSTAT3resok::unpack(&mut &bytes[..]);
    for at in [0, most / 2, most] {
        let _ = rpc::read_head(bytes, at, REQUESTED_BYTES);
    }
}

/// Reads `bytes` as what comes from a connection on which a READ and a LOOKUP are without a reply, in pieces of so many
/// bytes. Returns how many of the two have ended.
pub fn stream(bytes: &[u8], piece: usize) -> usize {
    let mut calls = Calls::new();
    let identity = Identity::new(0, 0);
    let mut room = [0_u8; REQUESTED_BYTES];
    let read = calls.make(
        &identity,
        Procedure::nfs(P::NFSPROC3_READ),
        Payload::In(room.as_mut_ptr(), REQUESTED_BYTES),
        |_| {},
    );
    let look = calls.make(&identity, Procedure::nfs(P::NFSPROC3_LOOKUP), Payload::None, |_| {});
    // So that the bytes can be about them.
    (calls.table.get_mut(read).own.xid, calls.table.get_mut(look).own.xid) = (read, look);
    let mut reader = Reader::new(0);
    for part in bytes.chunks(piece.max(1)) {
        if reader.feed(part, &mut calls).is_err() {
            break;
        }
    }
    let ended = calls.table.finished.len();
    while let Some(call) = calls.table.finished.pop_front() {
        let read = calls.table.results(call).map(<[u8]>::len);
        assert!(read.is_err() || read.is_ok_and(|length| length <= bytes.len()));
        calls.table.release(call);
    }
    ended
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fake::{accepted, read_results};
    use proptest::prelude::*;

    /// Replies to both calls, of which some words are made up.
    fn replies() -> impl Strategy<Value = (Vec<u8>, usize)> {
        let word = prop_oneof![Just(0_u32), Just(1), Just(u32::MAX), Just(0x8000_0000), 0_u32..200, any::<u32>()];
        let words = proptest::collection::vec((any::<prop::sample::Index>(), word), 0..5);
        (words, 1_usize..40, any::<bool>()).prop_map(|(words, piece, both)| {
            let mut stream = Vec::new();
            for call in 0..=u32::from(both) {
                let reply = accepted(call, &read_results(b"twelve bytes", true));
                stream.extend_from_slice(&(0x8000_0000 | reply.len() as u32).to_be_bytes());
                stream.extend_from_slice(&reply);
            }
            for (at, word) in words {
                let at = at.index(stream.len() / 4) * 4;
                stream[at..at + 4].copy_from_slice(&word.to_be_bytes());
            }
            (stream, piece)
        })
    }

    proptest! {
        #[test]
        fn nothing_that_a_server_sends_is_too_much((stream_bytes, piece) in replies()) {
            prop_assert!(stream(&stream_bytes, piece) <= 2);
            results(&stream_bytes[28.min(stream_bytes.len())..]);
        }
    }

    #[test]
    fn replies_that_are_right_end_their_calls() {
        let reply = accepted(0, &read_results(b"data", true));
        let stream_bytes = [&(0x8000_0000 | reply.len() as u32).to_be_bytes()[..], &reply].concat();
        assert_eq!(stream(&stream_bytes, 3), 1);
    }
}
