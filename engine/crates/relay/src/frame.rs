//! Text in frames of fixed length, for streams that many processes share.
//!
//! `srun` and `mpirun` forward the output of all processes in pieces, one after the other. A piece is what one read(2)
//! of a pipe returned, at most 1024 bytes (srun) or 4096 and more (Open MPI, MPICH). A frame has 512 bytes, and one
//! write(2) holds whole frames and at most `PIPE_BUF` bytes, which are atomic (pipe(7)): so the pipe holds only whole
//! frames, each read ends at the end of one, and no frame is ever cut. This is true for pipes, not for the pseudo
//! terminal that Open MPI gives processes as standard output: frames go to standard error.

use std::io::Write;

/// Bytes of a frame, newline included; a divisor of what launchers read at once.
pub const LENGTH: usize = 512;
/// Bytes of `~`, node, number, content, length of the text, and checksum.
const HEAD_BYTES: usize = 1 + 5 + 4 + 1 + 3 + 8;
/// Bytes of text in a frame.
const TEXT_BYTES: usize = LENGTH - HEAD_BYTES - 1;
/// Frames in one write(2): `PIPE_BUF` bytes.
const FRAMES_PER_WRITE: usize = 4096 / LENGTH;

/// The content of a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Content {
    /// An event.
    Event,
    /// The host's name, the first line.
    Host,
    /// How the engines have ended, the last line.
    End,
}

impl Content {
    /// The letter in a frame with more of the line to follow, and in its last frame.
    fn letters(self) -> (char, char) {
        match self {
            Content::Event => ('e', 'E'),
            Content::Host => ('h', 'H'),
            Content::End => ('x', 'X'),
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
    /// A framer for a node, whose number has at most five hexadecimal digits.
    pub fn new(node: u32, to: W) -> Self {
        Framer { node, number: 0, to }
    }

    /// Write a line without a newline in it.
    ///
    /// # Errors
    /// If nothing reads any more.
    pub fn line(&mut self, content: Content, text: &str) -> std::io::Result<()> {
        let bytes = text.as_bytes();
        let pieces: Vec<&[u8]> = if bytes.is_empty() { vec![bytes] } else { bytes.chunks(TEXT_BYTES).collect() };
        let (more, last) = content.letters();
        let mut frames = Vec::with_capacity(pieces.len() * LENGTH);
        for (place, piece) in pieces.iter().enumerate() {
            let letter = if place + 1 == pieces.len() { last } else { more };
            frames.extend_from_slice(&frame(self.node, self.number, letter, piece));
            self.number = self.number.wrapping_add(1);
        }
        for whole in frames.chunks(LENGTH * FRAMES_PER_WRITE) {
            // More than one write(2) for a chunk would be harmless only between frames, and does not happen.
            self.to.write_all(whole)?;
        }
        self.to.flush()
    }
}

fn frame(node: u32, number: u16, letter: char, text: &[u8]) -> [u8; LENGTH] {
    let fields = format!("{node:05x}{number:04x}{letter}{:03x}", text.len());
    let mut sum = crc32fast::Hasher::new();
    sum.update(fields.as_bytes());
    sum.update(text);
    let head = format!("~{fields}{:08x}", sum.finalize());
    let mut whole = [b' '; LENGTH];
    whole[..HEAD_BYTES].copy_from_slice(head.as_bytes());
    whole[HEAD_BYTES..HEAD_BYTES + text.len()].copy_from_slice(text);
    whole[LENGTH - 1] = b'\n';
    whole
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_frame_has_its_length_whatever_it_holds() {
        for text in ["", "x", &"y".repeat(TEXT_BYTES), &"z".repeat(TEXT_BYTES + 1), &"ä".repeat(1000)] {
            let mut written = Vec::new();
            Framer::new(0xabcde, &mut written).line(Content::Event, text).unwrap();
            assert_eq!(written.len() % LENGTH, 0);
            let held: Vec<u8> = written
                .chunks(LENGTH)
                .flat_map(|frame| {
                    assert!(frame.starts_with(b"~abcde") && frame.ends_with(b"\n"));
                    let length = usize::from_str_radix(std::str::from_utf8(&frame[11..14]).unwrap(), 16).unwrap();
                    frame[HEAD_BYTES..HEAD_BYTES + length].to_vec()
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
        framer.line(Content::Host, "h3").unwrap();
        framer.line(Content::Event, &format!("{{\"said\":\"{}\"}}", "a".repeat(600))).unwrap();
        framer.line(Content::End, "{\"code\":0}").unwrap();
        let golden = include_bytes!("../../../../contract/golden/frames.txt");
        assert_eq!(written, golden);
    }
}
