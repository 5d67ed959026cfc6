//! Record marking (RFC 5531 section 11): replies out of a stream of bytes, with the data of a READ going straight to
//! where it belongs.

/// Longest reply apart from the data of a READ: a listing. What claims to be longer is no reply.
const MAX_GATHERED: usize = (1 << 20) + (64 << 10);

/// What shall be done with the bytes of a reply that come next.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Step {
    /// Keep the reply until so many bytes of it are known, then ask again.
    Need(usize),
    /// Keep all of it.
    Whole,
    /// Put so many bytes there, and pass over the rest.
    Body(*mut u8, usize),
    /// Pass over the rest: nobody waits for it.
    Skip,
}

/// Knows what replies are about.
pub(crate) trait Replies {
    /// The call that a reply with this xid answers, if it is one of this connection's.
    fn find(&self, link: usize, xid: u32) -> Option<u32>;

    /// What to do next with the reply to `call`, of which `head` is known.
    fn step(&mut self, call: u32, head: &[u8]) -> Step;

    /// The reply is there as far as it is kept; `whole` unless it ended before its data did. `head` may be swapped for
    /// another Vec.
    fn end(&mut self, call: u32, head: &mut Vec<u8>, whole: bool);
}

/// The stream is not one of records.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Garbage;

#[derive(Debug, Clone, Copy)]
enum Mode {
    Gather,
    Body(*mut u8, usize),
    Skip,
}

/// Takes a stream of records to pieces.
pub(crate) struct Reader {
    link: usize,
    /// The mark of the fragment to come, and how much of it is known.
    mark: [u8; 4],
    marked: usize,
    /// Bytes of the fragment that have not come yet.
    left: usize,
    last: bool,
    /// What is kept of the record.
    head: Vec<u8>,
    /// Ask again when so much is kept.
    need: usize,
    mode: Mode,
    call: Option<u32>,
}

/// Bytes of a reply that tell which call it answers.
const XID_BYTES: usize = 4;

impl Reader {
    /// At the start of the stream of the connection `link`.
    pub(crate) fn new(link: usize) -> Self {
        Reader {
            link,
            mark: [0; 4],
            marked: 0,
            left: 0,
            last: false,
            head: Vec::with_capacity(1024),
            need: XID_BYTES,
            mode: Mode::Gather,
            call: None,
        }
    }

    /// At the start of a new stream; a reply under way is forgotten.
    pub(crate) fn reset(&mut self) {
        (self.marked, self.left) = (0, 0);
        self.next_record();
    }

    /// Nobody waits for the reply to `call` any more.
    pub(crate) fn forget(&mut self, call: u32) {
        if self.call == Some(call) {
            self.call = None;
            self.mode = Mode::Skip;
        }
    }

    /// Where the next bytes of the stream belong, if that is known and they need no look; and how many.
    pub(crate) fn direct(&self) -> Option<(*mut u8, usize)> {
        match self.mode {
            Mode::Body(to, left) if self.left > 0 && left > 0 => Some((to, left.min(self.left))),
            _ => None,
        }
    }

    /// So many bytes have been put where `direct` says.
    pub(crate) fn advance(&mut self, count: usize, replies: &mut impl Replies) {
        if let Mode::Body(to, left) = self.mode {
            self.mode = Mode::Body(to.wrapping_add(count), left - count);
        }
        self.used(count, replies);
    }

    /// Takes the next bytes of the stream.
    pub(crate) fn feed(&mut self, mut bytes: &[u8], replies: &mut impl Replies) -> Result<(), Garbage> {
        while !bytes.is_empty() {
            if self.left == 0 {
                bytes = self.take_mark(bytes, replies);
                continue;
            }
            let count = self.take(&bytes[..bytes.len().min(self.left)], replies)?;
            bytes = &bytes[count..];
            self.used(count, replies);
        }
        Ok(())
    }

    fn take_mark<'a>(&mut self, bytes: &'a [u8], replies: &mut impl Replies) -> &'a [u8] {
        let count = bytes.len().min(4 - self.marked);
        self.mark[self.marked..self.marked + count].copy_from_slice(&bytes[..count]);
        self.marked += count;
        if self.marked == 4 {
            let mark = u32::from_be_bytes(self.mark);
            self.marked = 0;
            self.left = (mark & 0x7fff_ffff) as usize;
            self.last = mark >> 31 == 1;
            self.used(0, replies);
        }
        &bytes[count..]
    }

    /// Takes bytes of one fragment; how many.
    fn take(&mut self, bytes: &[u8], replies: &mut impl Replies) -> Result<usize, Garbage> {
        match self.mode {
            Mode::Skip => Ok(bytes.len()),
            Mode::Body(to, left) => {
                let count = left.min(bytes.len());
                // SAFETY: `step` gave room for `left` bytes, which is the call's until it ends.
                unsafe { std::ptr::copy_nonoverlapping(bytes.as_ptr(), to, count) };
                self.mode = if count == left { Mode::Skip } else { Mode::Body(to.wrapping_add(count), left - count) };
                Ok(count)
            }
            Mode::Gather => {
                let count = bytes.len().min(self.need - self.head.len());
                if self.head.len() + count > MAX_GATHERED {
                    return Err(Garbage);
                }
                self.head.extend_from_slice(&bytes[..count]);
                while self.head.len() >= self.need && matches!(self.mode, Mode::Gather) {
                    self.request_payload(replies);
                }
                Ok(count)
            }
        }
    }

    /// Finds out what to do now that `need` bytes are known.
    fn request_payload(&mut self, replies: &mut impl Replies) {
        if self.call.is_none() {
            let xid = crate::xdr::u32_at(&self.head, 0).unwrap_or(0);
            self.call = replies.find(self.link, xid);
        }
        match self.call.map_or(Step::Skip, |call| replies.step(call, &self.head)) {
            Step::Need(bytes) => self.need = bytes.max(self.head.len() + 1),
            Step::Whole => self.need = usize::MAX,
            Step::Body(to, length) => self.mode = Mode::Body(to, length),
            Step::Skip => self.mode = Mode::Skip,
        }
    }

    /// So many bytes of the fragment have been taken.
    fn used(&mut self, count: usize, replies: &mut impl Replies) {
        self.left -= count;
        if self.left == 0 && self.last {
            if let Some(call) = self.call.take() {
                let whole = !matches!(self.mode, Mode::Body(_, 1..));
                replies.end(call, &mut self.head, whole);
            }
            self.next_record();
        }
    }

    fn next_record(&mut self) {
        self.head.clear();
        self.need = XID_BYTES;
        self.mode = Mode::Gather;
        self.call = None;
        self.last = false;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Takes replies whose first word is the xid and whose fourth byte after it says how many bytes of data there are
    /// after a head of eight bytes; xid 0 is nobody's, odd ones are kept whole.
    struct Book {
        bodies: Vec<Vec<u8>>,
        ended: Vec<(u32, Vec<u8>, bool)>,
    }

    impl Replies for Book {
        fn find(&self, _link: usize, xid: u32) -> Option<u32> {
            (xid > 0).then_some(xid)
        }

        fn step(&mut self, call: u32, head: &[u8]) -> Step {
            if call % 2 == 1 {
                return Step::Whole;
            }
            match head.get(7) {
                None => Step::Need(8),
                Some(length) => {
                    self.bodies.push(vec![0; usize::from(*length)]);
                    let body = self.bodies.last_mut().unwrap();
                    Step::Body(body.as_mut_ptr(), body.len())
                }
            }
        }

        fn end(&mut self, call: u32, head: &mut Vec<u8>, whole: bool) {
            self.ended.push((call, std::mem::take(head), whole));
        }
    }

    fn record(xid: u32, data: &[u8], cuts: &[usize]) -> Vec<u8> {
        let mut content = xid.to_be_bytes().to_vec();
        content.extend_from_slice(&(data.len() as u32).to_be_bytes());
        content.extend_from_slice(data);
        content.extend_from_slice(&[0; 3][..crate::xdr::padding(data.len())]);
        let mut cuts: Vec<usize> = cuts.iter().map(|cut| cut % (content.len() + 1)).collect();
        cuts.extend([0, content.len()]);
        cuts.sort_unstable();
        let mut out = Vec::new();
        for (number, pair) in cuts.windows(2).enumerate() {
            let last = if number + 2 == cuts.len() { 0x8000_0000 } else { 0 };
            out.extend_from_slice(&(last | (pair[1] - pair[0]) as u32).to_be_bytes());
            out.extend_from_slice(&content[pair[0]..pair[1]]);
        }
        out
    }

    type Record = (u32, Vec<u8>, Vec<usize>);

    fn any_record() -> impl Strategy<Value = Record> {
        let cuts = proptest::collection::vec(any::<usize>(), 0..4);
        (0_u32..6, proptest::collection::vec(any::<u8>(), 0..60), cuts)
    }

    /// Plays a stream in pieces, some of them put where the reader says instead of through it.
    fn play(stream: &[u8], pieces: &[usize], book: &mut Book) {
        let mut reader = Reader::new(0);
        let (mut at, mut turn) = (0, 0);
        while at < stream.len() {
            let size = (1 + pieces[turn % pieces.len()]).min(stream.len() - at);
            turn += 1;
            if let Some((to, room)) = reader.direct().filter(|_| turn % 2 == 0) {
                let count = size.min(room);
                // SAFETY: the reader gave room for that many bytes.
                unsafe { std::ptr::copy_nonoverlapping(stream[at..].as_ptr(), to, count) };
                reader.advance(count, book);
                at += count;
            } else {
                reader.feed(&stream[at..at + size], book).unwrap();
                at += size;
            }
        }
    }

    proptest! {
        #[test]
        fn records_come_out_however_they_are_cut(
            records in proptest::collection::vec(any_record(), 1..6),
            pieces in proptest::collection::vec(0_usize..40, 1..5),
        ) {
            let stream: Vec<u8> = records.iter().flat_map(|(xid, data, cuts)| record(*xid, data, cuts)).collect();
            let mut book = Book { bodies: Vec::new(), ended: Vec::new() };
            play(&stream, &pieces, &mut book);
            let ours = || records.iter().filter(|(xid, ..)| *xid > 0);
            prop_assert_eq!(book.ended.len(), ours().count());
            let mut bodies = book.bodies.iter();
            for ((xid, data, _), (call, head, whole)) in ours().zip(&book.ended) {
                prop_assert_eq!((xid, true), (call, *whole));
                if xid % 2 == 1 {
                    prop_assert_eq!(&head[8..8 + data.len()], &data[..]);
                } else {
                    prop_assert_eq!(bodies.next().unwrap(), data);
                    prop_assert_eq!(head.len(), 8);
                }
            }
        }
    }

    #[test]
    fn a_record_that_ends_before_its_data_is_not_whole() {
        let mut book = Book { bodies: Vec::new(), ended: Vec::new() };
        let mut bytes = record(2, b"abcdefgh", &[]);
        bytes.truncate(16);
        bytes[..4].copy_from_slice(&0x8000_000c_u32.to_be_bytes());
        Reader::new(0).feed(&bytes, &mut book).unwrap();
        assert_eq!(book.ended, [(2, vec![0, 0, 0, 2, 0, 0, 0, 8], false)]);
    }

    #[test]
    fn a_reply_without_bounds_is_garbage() {
        let mut book = Book { bodies: Vec::new(), ended: Vec::new() };
        let mut reader = Reader::new(0);
        reader.feed(&[0xff, 0xff, 0xff, 0xff, 0, 0, 0, 1], &mut book).unwrap();
        let ended = (0..=MAX_GATHERED / 4096).try_for_each(|_| reader.feed(&[7; 4096], &mut book));
        assert_eq!(ended, Err(Garbage));
    }
}
