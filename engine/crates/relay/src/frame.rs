//! Text in frames of one length, for streams that many processes share.
//!
//! `srun` and `mpirun` pass on what processes print in pieces, and put the pieces of all one after the other. A piece is
//! what one read(2) of a pipe gave, of at most 1024 bytes (srun) or 4096 and more (Open MPI, MPICH). A frame has 512 bytes,
//! and one write(2) holds whole frames and at most `PIPE_BUF` bytes, which are atomic (pipe(7)): so there are only whole
//! frames in the pipe, each read ends at the end of one, and no frame is ever cut. That holds for pipes, not for the
//! pseudo terminal that Open MPI gives processes as standard output: frames go to standard error.

use std::io::Write;

/// Bytes of a frame, its newline among them; divides what launchers read at once.
pub const LENGTH: usize = 512;
/// `~`, node, number, what it holds, length of the text, checksum.
const HEAD: usize = 1 + 5 + 4 + 1 + 3 + 8;
/// Bytes of text in a frame.
const ROOM: usize = LENGTH - HEAD - 1;
/// Frames in one write(2): `PIPE_BUF` bytes.
const TOGETHER: usize = 4096 / LENGTH;

/// What a line holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Holds {
    /// An event.
    Event,
    /// The host's name, first of all.
    Host,
    /// How the engines have ended, last of all.
    End,
}

impl Holds {
    /// In a frame after which the line goes on, and in its last.
    fn letters(self) -> (char, char) {
        match self {
            Holds::Event => ('e', 'E'),
            Holds::Host => ('h', 'H'),
            Holds::End => ('x', 'X'),
        }
    }
}

/// Writes lines of one node as frames.
pub struct Framer<W> {
    node: u32,
    number: u16,
    to: W,
}

impl<W: Write> Framer<W> {
    /// Frames of a node, which has at most five hexadecimal digits.
    pub fn new(node: u32, to: W) -> Self {
        Framer { node, number: 0, to }
    }

    /// Writes a line, which has no newline in it.
    ///
    /// # Errors
    /// If nobody reads any more.
    pub fn line(&mut self, holds: Holds, text: &str) -> std::io::Result<()> {
        let bytes = text.as_bytes();
        let pieces: Vec<&[u8]> = if bytes.is_empty() { vec![bytes] } else { bytes.chunks(ROOM).collect() };
        let (more, last) = holds.letters();
        let mut frames = Vec::with_capacity(pieces.len() * LENGTH);
        for (place, piece) in pieces.iter().enumerate() {
            let letter = if place + 1 == pieces.len() { last } else { more };
            frames.extend_from_slice(&frame(self.node, self.number, letter, piece));
            self.number = self.number.wrapping_add(1);
        }
        for whole in frames.chunks(LENGTH * TOGETHER) {
            // More than one write(2) of a whole chunk would do no harm but between frames, and there is no reason for it.
            self.to.write_all(whole)?;
        }
        self.to.flush()
    }
}

fn frame(node: u32, number: u16, letter: char, text: &[u8]) -> [u8; LENGTH] {
    let said = format!("{node:05x}{number:04x}{letter}{:03x}", text.len());
    let mut sum = crc32fast::Hasher::new();
    sum.update(said.as_bytes());
    sum.update(text);
    let head = format!("~{said}{:08x}", sum.finalize());
    let mut whole = [b' '; LENGTH];
    whole[..HEAD].copy_from_slice(head.as_bytes());
    whole[HEAD..HEAD + text.len()].copy_from_slice(text);
    whole[LENGTH - 1] = b'\n';
    whole
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_frame_has_its_length_whatever_it_holds() {
        for text in ["", "x", &"y".repeat(ROOM), &"z".repeat(ROOM + 1), &"ä".repeat(1000)] {
            let mut written = Vec::new();
            Framer::new(0xabcde, &mut written).line(Holds::Event, text).unwrap();
            assert_eq!(written.len() % LENGTH, 0);
            let held: Vec<u8> = written
                .chunks(LENGTH)
                .flat_map(|frame| {
                    assert!(frame.starts_with(b"~abcde") && frame.ends_with(b"\n"));
                    let length = usize::from_str_radix(std::str::from_utf8(&frame[11..14]).unwrap(), 16).unwrap();
                    frame[HEAD..HEAD + length].to_vec()
                })
                .collect();
            assert_eq!(held, text.as_bytes());
            assert_eq!(written[written.len() - LENGTH + 10], b'E', "the last frame says so");
        }
    }

    /// The workbench reads the same sample (tests/unit/launch/parallel/test_launcher_frames.py).
    #[test]
    fn the_sample_of_the_contract_is_what_is_written() {
        let mut written = Vec::new();
        let mut framer = Framer::new(3, &mut written);
        framer.line(Holds::Host, "h3").unwrap();
        framer.line(Holds::Event, &format!("{{\"said\":\"{}\"}}", "a".repeat(600))).unwrap();
        framer.line(Holds::End, "{\"code\":0}").unwrap();
        let golden = include_bytes!("../../../../contract/golden/frames.txt");
        assert_eq!(written, golden);
    }
}
