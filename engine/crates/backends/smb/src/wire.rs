//! The bytes of SMB 2 and 3: little-endian numbers, UTF-16 names, headers, messages of several requests ([MS-SMB2]
//! section 2.2.1).

/// Bytes of a header.
pub(crate) const HEADER: usize = 64;
/// Bytes in front of each message on TCP: a zero and the length (section 2.1).
pub(crate) const PREFIX: usize = 4;

const ID: [u8; 4] = [0xFE, b'S', b'M', b'B'];
/// Start of an encrypted message (section 2.2.41).
pub(crate) const ENCRYPTED_ID: [u8; 4] = [0xFD, b'S', b'M', b'B'];

// Where the fields of a header are.
pub(crate) const AT_CHARGE: usize = 6;
pub(crate) const AT_STATUS: usize = 8;
const AT_COMMAND: usize = 12;
pub(crate) const AT_CREDITS: usize = 14;
pub(crate) const AT_FLAGS: usize = 16;
pub(crate) const AT_NEXT: usize = 20;
pub(crate) const AT_MESSAGE: usize = 24;
pub(crate) const AT_TREE: usize = 36;
pub(crate) const AT_SESSION: usize = 40;
pub(crate) const AT_SIGNATURE: usize = 48;

/// Flags of a header (section 2.2.1.1).
const FLAG_ANSWER: u32 = 1;
const FLAG_ASYNC: u32 = 2;
const FLAG_RELATED: u32 = 4;
pub(crate) const FLAG_SIGNED: u32 = 8;

/// What a request asks for (section 2.2.1.1).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u16)]
pub(crate) enum Command {
    Negotiate = 0,
    SessionSetup = 1,
    TreeConnect = 3,
    Create = 5,
    Close = 6,
    Flush = 7,
    Read = 8,
    Write = 9,
    QueryDirectory = 14,
    QueryInfo = 16,
    SetInfo = 17,
}

/// Identifies an open file (section 2.2.14.1).
pub(crate) type FileId = [u8; 16];

/// In a request that is related to the one before it in the same message: the file that that one has opened.
pub(crate) const SAME_FILE: FileId = [0xFF; 16];

pub(crate) fn put_u16(out: &mut Vec<u8>, value: u16) {
    out.extend_from_slice(&value.to_le_bytes());
}

pub(crate) fn put_u32(out: &mut Vec<u8>, value: u32) {
    out.extend_from_slice(&value.to_le_bytes());
}

pub(crate) fn put_u64(out: &mut Vec<u8>, value: u64) {
    out.extend_from_slice(&value.to_le_bytes());
}

/// Puts text as UTF-16.
pub(crate) fn put_text(out: &mut Vec<u8>, text: &str) {
    for unit in text.encode_utf16() {
        put_u16(out, unit);
    }
}

/// Bytes of text as UTF-16.
pub(crate) fn text_bytes(text: &str) -> u16 {
    (text.encode_utf16().count() * 2) as u16
}

fn array<const N: usize>(bytes: &[u8], at: usize) -> Option<[u8; N]> {
    bytes.get(at..at.checked_add(N)?)?.try_into().ok()
}

pub(crate) fn u16_at(bytes: &[u8], at: usize) -> Option<u16> {
    array(bytes, at).map(u16::from_le_bytes)
}

pub(crate) fn u32_at(bytes: &[u8], at: usize) -> Option<u32> {
    array(bytes, at).map(u32::from_le_bytes)
}

pub(crate) fn u64_at(bytes: &[u8], at: usize) -> Option<u64> {
    array(bytes, at).map(u64::from_le_bytes)
}

pub(crate) fn file_id_at(bytes: &[u8], at: usize) -> Option<FileId> {
    array(bytes, at)
}

/// So many bytes from there; none if there are fewer.
pub(crate) fn part(bytes: &[u8], at: usize, length: usize) -> Option<&[u8]> {
    bytes.get(at..at.checked_add(length)?)
}

/// Writes a number over what is there.
pub(crate) fn set_u32(bytes: &mut [u8], at: usize, value: u32) {
    bytes[at..at + 4].copy_from_slice(&value.to_le_bytes());
}

/// The head of an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Header {
    pub(crate) status: u32,
    pub(crate) command: u16,
    pub(crate) credits: u16,
    flags: u32,
    /// Where the next answer of the same message starts, from the start of this one; 0 if this is the last.
    pub(crate) next: usize,
    pub(crate) message: u64,
    pub(crate) tree: u32,
    pub(crate) session: u64,
}

impl Header {
    /// Reads the header of an answer; none if it is not one.
    pub(crate) fn read(bytes: &[u8]) -> Option<Header> {
        let header = Header {
            status: u32_at(bytes, AT_STATUS)?,
            command: u16_at(bytes, AT_COMMAND)?,
            credits: u16_at(bytes, AT_CREDITS)?,
            flags: u32_at(bytes, AT_FLAGS)?,
            next: u32_at(bytes, AT_NEXT)? as usize,
            message: u64_at(bytes, AT_MESSAGE)?,
            tree: u32_at(bytes, AT_TREE)?,
            session: u64_at(bytes, AT_SESSION)?,
        };
        let right = bytes.len() >= HEADER
            && bytes[..4] == ID
            && u16_at(bytes, 4) == Some(HEADER as u16)
            && header.flags & FLAG_ANSWER != 0
            && (header.next == 0 || header.next >= HEADER && header.next.is_multiple_of(8));
        right.then_some(header)
    }

    /// The server is still at work on it: another answer will follow (section 3.3.4.2).
    pub(crate) fn is_interim(&self, pending: u32) -> bool {
        self.flags & FLAG_ASYNC != 0 && self.status == pending
    }

    pub(crate) fn is_signed(&self) -> bool {
        self.flags & FLAG_SIGNED != 0
    }
}

/// Makes a message of one or several requests; the later ones are related to the first (section 3.2.4.1.4).
pub(crate) struct Chain<'a> {
    out: &'a mut Vec<u8>,
    last: Option<usize>,
    pub(crate) parts: u16,
}

impl<'a> Chain<'a> {
    /// An empty message, with room for what TCP needs in front.
    pub(crate) fn new(out: &'a mut Vec<u8>) -> Self {
        out.clear();
        out.extend_from_slice(&[0; PREFIX]);
        Chain { out, last: None, parts: 0 }
    }

    /// Adds a request, of which `fill` puts the body.
    pub(crate) fn add(&mut self, command: Command, fill: impl FnOnce(&mut Vec<u8>)) -> &mut Self {
        let related = self.last.is_some();
        if let Some(last) = self.last {
            self.out.resize(PREFIX + (self.out.len() - PREFIX).next_multiple_of(8), 0);
            let next = (self.out.len() - last) as u32;
            set_u32(self.out, last + AT_NEXT, next);
        }
        let at = self.out.len();
        self.out.extend_from_slice(&ID);
        put_u16(self.out, HEADER as u16);
        put_u16(self.out, 0);
        put_u32(self.out, 0);
        put_u16(self.out, command as u16);
        put_u16(self.out, 0);
        put_u32(self.out, if related { FLAG_RELATED } else { 0 });
        self.out.resize(at + HEADER, 0);
        fill(self.out);
        self.last = Some(at);
        self.parts += 1;
        self
    }
}

/// Where each request of a message starts and ends; `message` starts with its first header.
pub(crate) fn parts(message: &[u8]) -> impl Iterator<Item = std::ops::Range<usize>> + '_ {
    let mut at = Some(0);
    std::iter::from_fn(move || {
        let start = at?;
        let next = u32_at(message, start + AT_NEXT)? as usize;
        let end =
            if next == 0 { message.len() } else { start.checked_add(next).filter(|end| *end <= message.len())? };
        at = (next >= HEADER).then_some(end);
        Some(start..end)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn several_requests_are_one_message() {
        let mut out = Vec::new();
        let mut chain = Chain::new(&mut out);
        chain.add(Command::Create, |out| out.extend_from_slice(&[1; 13])).add(Command::Close, |out| out.push(2));
        assert_eq!(chain.parts, 2);
        let message = &out[PREFIX..];
        let found: Vec<_> = parts(message).collect();
        assert_eq!(found, [0..80, 80..145]);
        assert_eq!(u16_at(&message[80..], AT_COMMAND), Some(Command::Close as u16));
        assert_eq!(u32_at(&message[80..], AT_FLAGS), Some(FLAG_RELATED));
    }

    proptest! {
        #[test]
        fn whatever_comes_is_read_or_refused(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
            let _ = Header::read(&bytes);
            for range in parts(&bytes).take(10) {
                prop_assert!(range.end <= bytes.len());
            }
        }
    }

    /// The head of an answer that is right.
    fn head() -> Vec<u8> {
        let mut out = ID.to_vec();
        put_u16(&mut out, HEADER as u16);
        out.resize(HEADER, 0);
        set_u32(&mut out, AT_FLAGS, FLAG_ANSWER);
        out
    }

    #[test]
    fn a_header_is_whole_an_answer_and_says_where_the_next_one_can_be() {
        assert!(Header::read(&head()).is_some());
        for cut in 0..HEADER {
            assert!(Header::read(&head()[..cut]).is_none(), "{cut} bytes");
        }
        for at in (0..6).chain([AT_FLAGS]) {
            let mut spoilt = head();
            spoilt[at] ^= 1;
            assert!(Header::read(&spoilt).is_none(), "byte {at}");
        }
        for (next, right) in [(0, true), (8, false), (63, false), (64, true), (65, false), (68, false), (72, true)] {
            let mut header = head();
            set_u32(&mut header, AT_NEXT, next);
            assert_eq!(Header::read(&header).map(|header| header.next), right.then_some(next as usize), "{next}");
        }
    }

    #[test]
    fn what_an_answer_says_about_itself_is_what_its_flags_say() {
        let with = |flags, status| {
            let mut bytes = head();
            set_u32(&mut bytes, AT_FLAGS, FLAG_ANSWER | flags);
            set_u32(&mut bytes, AT_STATUS, status);
            let header = Header::read(&bytes).unwrap();
            (header.is_interim(0x103), header.is_signed())
        };
        assert_eq!(with(0, 0x103), (false, false), "pending, but not to be followed by another");
        assert_eq!(with(FLAG_ASYNC, 0), (false, false), "the last answer of one that was pending");
        assert_eq!(with(FLAG_ASYNC, 0x103), (true, false));
        assert_eq!(with(FLAG_SIGNED, 0), (false, true));
    }

    proptest! {
        #[test]
        fn each_request_of_a_message_is_found_where_it_was_put(
            bodies in proptest::collection::vec(proptest::collection::vec(1_u8.., 0..40), 1..6),
        ) {
            let mut out = vec![9; 7];
            let mut chain = Chain::new(&mut out);
            for body in &bodies {
                chain.add(Command::Write, |out| out.extend_from_slice(body));
            }
            prop_assert_eq!(usize::from(chain.parts), bodies.len());
            let message = &out[PREFIX..];
            let found: Vec<_> = parts(message).collect();
            prop_assert_eq!(found.len(), bodies.len());
            prop_assert_eq!(found.last().unwrap().end, message.len());
            for (number, (range, body)) in found.iter().zip(&bodies).enumerate() {
                let request = &message[range.clone()];
                let (read, rest) = request[HEADER..].split_at(body.len());
                prop_assert_eq!(read, body);
                prop_assert!(rest.len() < 8 && rest.iter().all(|byte| *byte == 0));
                prop_assert_eq!(range.start % 8, 0);
                let flags = if number == 0 { 0 } else { FLAG_RELATED };
                prop_assert_eq!(u32_at(request, AT_FLAGS), Some(flags));
            }
        }

        #[test]
        fn numbers_are_read_only_where_all_their_bytes_are(bytes in proptest::collection::vec(any::<u8>(), 0..20), at in 0_usize..30) {
            let room = bytes.len().saturating_sub(at);
            prop_assert_eq!(u16_at(&bytes, at).is_some(), room >= 2);
            prop_assert_eq!(u32_at(&bytes, at).is_some(), room >= 4);
            prop_assert_eq!(u64_at(&bytes, at).is_some(), room >= 8);
            prop_assert_eq!(file_id_at(&bytes, at).is_some(), room >= 16);
            prop_assert_eq!(part(&bytes, at, usize::MAX), None);
            prop_assert_eq!(u16_at(&bytes, usize::MAX), None);
        }
    }
}
