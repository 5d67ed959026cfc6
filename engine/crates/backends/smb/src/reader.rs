//! Answers out of a stream of bytes (section 2.1), with the data of a READ going straight to where it belongs.

use crate::messages::READ_HEAD;
use crate::wire::PREFIX;

/// What is longer is no answer: the largest that servers allow is a READ of 8 MiB.
const MAX_BYTES: usize = (16 << 20) - 1;

/// Knows what answers are about.
pub(crate) trait Answers {
    /// Where the data behind the head of this answer belongs, and how much it is; none if the answer is to be kept whole.
    /// `length` is that of the message.
    fn data(&mut self, head: &[u8], length: usize) -> Option<(*mut u8, usize)>;

    /// The data whose place was asked for is there; the answer's head.
    ///
    /// # Errors
    /// If it is no answer.
    fn arrived(&mut self, head: &[u8]) -> Result<(), Garbage>;

    /// A message that was to be kept whole is there.
    ///
    /// # Errors
    /// If it is none.
    fn message(&mut self, message: &mut [u8]) -> Result<(), Garbage>;
}

/// The stream is not one of answers, or they are not as they were sent.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Garbage;

#[derive(Debug, Clone, Copy)]
enum Mode {
    /// What TCP needs in front.
    Prefix,
    /// The head of an answer.
    Head,
    Whole,
    Data(*mut u8, usize),
    /// What is behind the data.
    Rest,
}

/// Takes a stream to pieces.
pub(crate) struct Reader {
    mode: Mode,
    buffer: Vec<u8>,
    /// Bytes of the message.
    length: usize,
    /// Those that have not come yet.
    left: usize,
}

impl Reader {
    pub(crate) fn new() -> Self {
        Reader { mode: Mode::Prefix, buffer: Vec::with_capacity(512), length: 0, left: 0 }
    }

    /// Where the next bytes of the stream belong, if that is known and they need no look; and how many.
    pub(crate) fn direct(&self) -> Option<(*mut u8, usize)> {
        match self.mode {
            Mode::Data(to, left) if left > 0 => Some((to, left)),
            _ => None,
        }
    }

    /// So many bytes have been put where `direct` says.
    pub(crate) fn advance(&mut self, count: usize, answers: &mut impl Answers) -> Result<(), Garbage> {
        if let Mode::Data(to, left) = self.mode {
            self.mode = Mode::Data(to.wrapping_add(count), left - count);
            self.left -= count;
            self.look(answers)?;
        }
        Ok(())
    }

    /// Takes the next bytes of the stream.
    pub(crate) fn feed(&mut self, mut bytes: &[u8], answers: &mut impl Answers) -> Result<(), Garbage> {
        while !bytes.is_empty() {
            let taken = self.take(bytes);
            bytes = &bytes[taken..];
            self.look(answers)?;
        }
        Ok(())
    }

    /// Takes what belongs together; how much.
    fn take(&mut self, bytes: &[u8]) -> usize {
        let count = match self.mode {
            Mode::Prefix => (PREFIX - self.buffer.len()).min(bytes.len()),
            Mode::Head => (READ_HEAD.min(self.length) - self.buffer.len()).min(bytes.len()),
            Mode::Whole | Mode::Rest => self.left.min(bytes.len()),
            Mode::Data(_, left) => left.min(bytes.len()),
        };
        match &mut self.mode {
            Mode::Data(to, left) => {
                // SAFETY: `data` gave room for `left` bytes, which is the call's until it ends.
                unsafe { std::ptr::copy_nonoverlapping(bytes.as_ptr(), *to, count) };
                (*to, *left) = (to.wrapping_add(count), *left - count);
            }
            Mode::Rest => {}
            Mode::Prefix | Mode::Head | Mode::Whole => self.buffer.extend_from_slice(&bytes[..count]),
        }
        if !matches!(self.mode, Mode::Prefix) {
            self.left -= count;
        }
        count
    }

    /// Goes on to what comes next, if what was waited for is there.
    fn look(&mut self, answers: &mut impl Answers) -> Result<(), Garbage> {
        match self.mode {
            Mode::Prefix if self.buffer.len() == PREFIX => {
                let prefix: [u8; PREFIX] = self.buffer[..].try_into().map_err(|_| Garbage)?;
                self.length = u32::from_be_bytes(prefix) as usize;
                if prefix[0] != 0 || self.length < PREFIX || self.length > MAX_BYTES {
                    return Err(Garbage);
                }
                (self.left, self.mode) = (self.length, Mode::Head);
                self.buffer.clear();
            }
            Mode::Head if self.buffer.len() == READ_HEAD.min(self.length) => {
                self.mode = match answers.data(&self.buffer, self.length) {
                    Some((to, length)) => Mode::Data(to, length),
                    None => Mode::Whole,
                };
                return self.look(answers);
            }
            Mode::Whole if self.left == 0 => {
                answers.message(&mut self.buffer)?;
                self.next();
            }
            Mode::Data(_, 0) => {
                answers.arrived(&self.buffer)?;
                self.mode = Mode::Rest;
                return self.look(answers);
            }
            Mode::Rest if self.left == 0 => self.next(),
            _ => {}
        }
        Ok(())
    }

    fn next(&mut self) {
        self.buffer.clear();
        // A large answer was signed or encrypted: its room is kept for the next one.
        self.mode = Mode::Prefix;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Takes messages whose first byte is 1 for those that have data behind their head.
    #[derive(Default)]
    struct Book {
        places: Vec<Vec<u8>>,
        ended: Vec<Vec<u8>>,
    }

    impl Answers for Book {
        fn data(&mut self, head: &[u8], length: usize) -> Option<(*mut u8, usize)> {
            let wanted = head[0] == 1 && length >= READ_HEAD;
            wanted.then(|| {
                self.places.push(vec![0; (length - READ_HEAD) / 2]);
                let place = self.places.last_mut().unwrap();
                (place.as_mut_ptr(), place.len())
            })
        }

        fn arrived(&mut self, head: &[u8]) -> Result<(), Garbage> {
            self.ended.push([head, self.places.last().unwrap()].concat());
            Ok(())
        }

        fn message(&mut self, message: &mut [u8]) -> Result<(), Garbage> {
            self.ended.push(message.to_vec());
            Ok(())
        }
    }

    fn any_message() -> impl Strategy<Value = Vec<u8>> {
        (0_u8..2, proptest::collection::vec(any::<u8>(), 4..300)).prop_map(|(kind, mut bytes)| {
            bytes[0] = kind;
            bytes
        })
    }

    proptest! {
        #[test]
        fn messages_come_out_however_they_are_cut(
            messages in proptest::collection::vec(any_message(), 1..6),
            pieces in proptest::collection::vec(1_usize..90, 1..5),
        ) {
            let stream: Vec<u8> = messages.iter().flat_map(|message| {
                [&(message.len() as u32).to_be_bytes()[..], message].concat()
            }).collect();
            let (mut reader, mut book, mut at, mut turn) = (Reader::new(), Book::default(), 0, 0);
            while at < stream.len() {
                let size = pieces[turn % pieces.len()].min(stream.len() - at);
                turn += 1;
                let direct = reader.direct().filter(|_| turn % 2 == 0);
                let count = direct.map_or(size, |(_, room)| size.min(room));
                match direct {
                    Some((to, _)) => {
                        // SAFETY: the reader gave room for that many bytes.
                        unsafe { std::ptr::copy_nonoverlapping(stream[at..].as_ptr(), to, count) };
                        reader.advance(count, &mut book).unwrap();
                    }
                    None => reader.feed(&stream[at..at + count], &mut book).unwrap(),
                }
                at += count;
            }
            let wanted: Vec<Vec<u8>> = messages.iter().map(|message| {
                let direct = message[0] == 1 && message.len() >= READ_HEAD;
                let end = if direct { READ_HEAD + (message.len() - READ_HEAD) / 2 } else { message.len() };
                message[..end].to_vec()
            }).collect();
            prop_assert_eq!(book.ended, wanted);
        }
    }

    #[test]
    fn what_is_no_message_is_refused() {
        let mut book = Book::default();
        assert_eq!(Reader::new().feed(&[1, 0, 0, 80], &mut book), Err(Garbage));
        assert_eq!(Reader::new().feed(&[0, 0, 0, 1], &mut book), Err(Garbage));
    }
}
